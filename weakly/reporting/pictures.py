"""Pictures, drawn once by matplotlib: as SVG in a page with a light and a dark theme, as PNG for Markdown.

    panel = Panel(partial(draw_curves, ...), "donors", "AUC-PR by the number of labels")
    svg = Album(old_page).svg(panel)                  # panels stack on a phone: each has its own SVG
    save(poster([panel, ...], "Labels"), folder / "labels_seen")
    style = f":root {{ {variables()} }}"              # for the page, beside page.css

    picture, axes = figure(280, 180)                  # or without panels, in CSS pixels
    svg = as_svg(picture, "AUC-PR by the number of labels")

Draw in the light colours of COLOURS: in the SVG each becomes var(--name), so the page's theme decides. An
SVG has no style attributes, which the page's Content-Security-Policy forbids, and no glyphs: its texts have
the page's font. The same data give the same bytes. matplotlib is imported when something is drawn.
"""

import functools
import hashlib
import io
import re
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pandas as pd
from markupsafe import Markup

from weakly.reporting.palette import KIND_LOOKS, LOOKS, OTHERS, Look
from weakly.writing import written_whole

PAGE_STYLE = Path(__file__).with_name("page.css").read_text("utf-8")
PAGE_COLOURS = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", PAGE_STYLE)
METHOD_COLOURS = LOOKS | KIND_LOOKS | {f"other{place}": look for place, look in enumerate(OTHERS)}
COLOURS = {name: Look(light, dark, "o") for name, light, dark in PAGE_COLOURS} | METHOD_COLOURS
NAMES = {look.light: f"var(--{name})" for name, look in reversed(COLOURS.items())}  # of equal ones the first
TEXT, MUTED, LINE, CARD = (COLOURS[name].light for name in ("text", "muted", "line", "card"))
SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
ID = re.compile(r"(^|#)([a-z][0-9a-f]{10})\b")  # that matplotlib refers to
DEFAULTS = {"font-size": "11px", "fill": "var(--muted)"}  # of a .picture in page.css
ON_PAPER = 1.5  # dots per CSS pixel of a PNG
STYLE = {
    **dict.fromkeys(("font.size", "axes.labelsize", "axes.titlesize", "legend.fontsize"), 11),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), 11),
    **dict.fromkeys(("lines.linewidth", "patch.linewidth"), 1.3),
    **dict.fromkeys((f"axes.spines.{side}" for side in ("top", "left", "right")), False),
    **dict.fromkeys((f"figure.constrained_layout.{side}_pad" for side in "hw"), 0.02),
    "svg.fonttype": "none", "svg.hashsalt": "pictures", "path.simplify_threshold": 0.3,
    "text.parse_math": False,  # a $ in a column's name is a $
    "text.color": TEXT, "axes.labelcolor": TEXT, "axes.edgecolor": LINE,
    "xtick.color": MUTED, "ytick.color": MUTED, "xtick.bottom": False, "ytick.left": False,
    "axes.grid": True, "axes.grid.axis": "y", "axes.axisbelow": True, "grid.color": LINE,
    "legend.frameon": False,
}  # fmt: skip


@functools.cache
def figure_class():
    """matplotlib's Figure in our style, whatever the user's own matplotlibrc says."""
    import matplotlib
    from matplotlib.figure import Figure  # not pyplot, which may need a display

    matplotlib.rcdefaults()
    matplotlib.rcParams.update(STYLE)
    return Figure


def figure(width=280, height=180):
    """A Figure of this many CSS pixels, and its axes."""
    picture = figure_class()((width / 72, height / 72), layout="constrained")  # a unit of its SVG is a pixel
    return picture, picture.subplots()


def variables():
    """The colours that page.css does not have, as CSS variables."""
    return "; ".join(f"--{name}: light-dark({one.light}, {one.dark})" for name, one in METHOD_COLOURS.items())


# ---------------------------------------------------------------------------- panels


class Panel(NamedTuple):
    """One small multiple: a page shows it as an SVG, Markdown in a poster of several."""

    draw: functools.partial  # of a function of some data and, last, of the axes
    title: str = ""
    label: str = ""  # what it shows, in words
    status: str = "exact"
    attributes: dict = {}
    size: tuple = (250, 170)  # in CSS pixels
    margins: tuple = (38, 12, 8, 34)  # left, right, top, bottom

    def picture(self):
        (width, height), (left, right, top, bottom) = self.size, self.margins
        picture = figure_class()((width / 72, height / 72))
        place = left / width, bottom / height, 1 - (left + right) / width, 1 - (top + bottom) / height
        self.draw(picture.add_axes(place))
        return picture

    def key(self):
        """What decides the picture, as a hash: the data, the label, and the code that draws."""
        draw = self.draw
        data = [text_of(one) for one in (*draw.args, *sorted(draw.keywords.items()), *self[2:])]
        code = [Path(draw.func.__code__.co_filename).read_text("utf-8"), draw.func.__name__, drawing_code()]
        return hashlib.sha256("\0".join(code + data).encode()).hexdigest()[:12]


def text_of(data):
    """Data as text, numbers with nine digits: the last ones differ between processors."""
    if isinstance(data, (pd.DataFrame, pd.Series)):
        return data.to_csv(float_format="%.9g")
    return re.sub(r"-?\d+\.\d+(e-?\d+)?", lambda one: f"{float(one[0]):.9g}", repr(data))


@functools.cache
def drawing_code():
    files = [Path(__file__), Path(__file__).with_name("palette.py")]
    return "".join([PAGE_STYLE, version("matplotlib"), *(file.read_text("utf-8") for file in files)])


class Album:
    """The SVGs of a page. What an earlier page shows is not drawn again: matplotlib takes its time."""

    def __init__(self, earlier_page=""):
        svgs = re.finditer(r'(?s)<svg data-key="(\w+)".*?</svg>', earlier_page)
        self._svgs = {one[1]: one[0] for one in reversed(list(svgs))}
        self._uses = Counter()

    def svg(self, panel):
        """A panel as an element; ids are unique in the page even if it shows a panel twice."""
        key = panel.key()
        if key not in self._svgs:
            self._svgs[key] = as_svg(panel.picture(), panel.label, key)
        self._uses[key] += 1
        again = f"s{key}x{self._uses[key]}" if self._uses[key] > 1 else f"s{key}"
        return Markup(self._svgs[key].replace(f"s{key}", again))  # noqa: S704 - as_svg escapes


def panel_grid(n_panels, title, columns=4, size=(250, 170), **options):
    """A figure with n_panels axes in rows, and the axes."""
    columns = min(columns, n_panels)
    rows = -(-n_panels // columns)
    shape = max(columns * size[0], 500) / 72, (rows * size[1] + 80) / 72
    picture = figure_class()(shape, layout="constrained")
    panels = picture.subplots(rows, columns, squeeze=False, **options).ravel()
    for unused in panels[n_panels:]:
        unused.remove()
    picture.get_layout_engine().set(w_pad=8 / 72, h_pad=5 / 72)
    picture.suptitle(title)
    return picture, panels[:n_panels]


def poster(panels, title, entries=(), **shape):
    """All panels in one figure, for Markdown; a grey name marks data that is not the paper's."""
    picture, places = panel_grid(len(panels), title, **shape)
    for panel, axes in zip(panels, places):
        panel.draw(axes)
        note, color = ("", TEXT) if panel.status == "exact" else (f" ({panel.status})", MUTED)
        axes.set_title(panel.title + note, color=color, loc="left", fontweight="bold")
    if entries:
        picture.legend(handles=entries, loc="outside lower center", ncols=min(len(entries), 6))
    return picture


# ---------------------------------------------------------------------------- files and elements


def save(picture, path):
    """Write a picture as PNG and SVG without dates or versions: a file changes only when the picture does."""
    png, svg = (path.with_name(f"{path.name}.{kind}") for kind in ("png", "svg"))
    with written_whole(png) as file:
        paper = {"dpi": 72 * ON_PAPER, "facecolor": "white", "metadata": {"Software": None}}
        picture.savefig(file, format="png", **paper)
    with written_whole(svg) as file:
        picture.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return [png, svg]


def as_svg(picture, label, key=None):
    """A picture as an element of a page; label says what it shows, and without one it is decoration.

    Its ids begin with s and the key, without a key with a hash.
    """
    file = io.StringIO()
    picture.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    text = file.getvalue()
    prefix = "s" + (key or hashlib.sha256(f"{label}{text}".encode()).hexdigest()[:8])
    root = ElementTree.fromstring(text)  # noqa: S314, because it comes from matplotlib
    words = {"role": "img", "aria-label": label} if label else {"aria-hidden": "true"}
    look = {"viewBox": root.get("viewBox"), "stroke-linejoin": "round", "class": "plot picture"}
    svg = ElementTree.Element("svg", ({"data-key": key} if key else {}) | look | words)
    svg.extend(part for child in root for part in inlined(child, prefix))
    return Markup(ElementTree.tostring(svg, "unicode"))  # noqa: S704 - ElementTree escapes


def inlined(element, prefix):
    """What an element of matplotlib's SVG is in a page: no namespaces, empty groups or invisible shapes."""
    name, attributes = element.tag.removeprefix(SVG), attributes_of(element, prefix)
    invisible = attributes.get("fill") == "none" and "stroke" not in attributes
    is_point = name == "path" and not re.search("[LCQ]", attributes["d"])
    if name in ("metadata", "style") or invisible or is_point:
        return []
    parts = [part for child in element for part in inlined(child, prefix)]
    if name in ("g", "defs") and not (parts and (attributes or name == "defs")):
        return parts
    made = ElementTree.Element(name, attributes)
    made.text = (element.text or "").strip()
    made.extend(parts)
    return [made]


def attributes_of(element, prefix):
    """{name: value}, with styles as attributes; a gid such as data-method=prenet becomes one too."""
    found = {}
    for key, value in element.attrib.items():
        if key == "style":
            found |= {name: NAMES.get(to, to) for name, to in re.findall(r"([\w-]+): ([^;]+)", value)}
        elif key in ("id", "clip-path", LINK):
            owned = re.fullmatch(r"(data-[\w-]+)=(.*)", value)
            if owned or ID.search(value):
                name, value = owned.groups() if owned else (key, ID.sub(rf"\1{prefix}\2", value))
                found[name.replace(LINK, "href")] = value
        elif not value.startswith("rotate(-0 "):
            value = re.sub(r"-?\d+\.\d+", lambda one: f"{float(one[0]):.1f}".removesuffix(".0"), value)
            value = " ".join(value.split())
            found[key] = re.sub(r" ?([A-Za-z]) ?", r"\1", value) if key == "d" else value
    return {key: value for key, value in found.items() if key != "font-family" and DEFAULTS.get(key) != value}
