"""Pictures, drawn once by matplotlib: as SVG in a page with a light and a dark theme, as PNG for Markdown.

    picture, axes = figure(280, 180)                  # in CSS pixels; one axes each, so that panels stack
    axes.plot(x, y, color=COLOURS["prenet"].light)
    svg = as_svg(picture, "AUC-PR by the number of labels")
    as_png(picture, "labels.png")
    style = f":root {{ {variables()} }}"              # for the page, beside page.css

Draw in the light colours of COLOURS: in the SVG each becomes var(--name), so the page's theme decides. An
SVG has no style attributes, which the page's Content-Security-Policy forbids, and no glyphs: its texts have
the page's font. The same data give the same bytes.
"""

import hashlib
import io
import re
from html import escape
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
from matplotlib.figure import Figure

from weakly.reporting.elements import tag
from weakly.reporting.palette import KIND_LOOKS, LOOKS, Look

PAGE_STYLE = Path(__file__).with_name("page.css").read_text("utf-8")
PAGE_COLOURS = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", PAGE_STYLE)
COLOURS = {name: Look(light, dark, "o") for name, light, dark in PAGE_COLOURS} | LOOKS | KIND_LOOKS
NAMES = {look.light: f"var(--{name})" for name, look in reversed(COLOURS.items())}  # of equal ones the first
TEXT, MUTED, LINE = (COLOURS[name].light for name in ("text", "muted", "line"))
SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
ID = re.compile(r"(^|#)([a-z][0-9a-f]{10})\b")  # that matplotlib refers to

# no mathematics: a $ in a column's name is a $
matplotlib.rcParams.update({
    **dict.fromkeys(("font.size", "axes.labelsize", "legend.fontsize"), 11),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), 11),
    **dict.fromkeys(("lines.linewidth", "patch.linewidth"), 1.3),
    **dict.fromkeys((f"axes.spines.{side}" for side in ("top", "left", "right")), False),
    **dict.fromkeys((f"figure.constrained_layout.{side}_pad" for side in "hw"), 0.02),
    "svg.fonttype": "none", "svg.hashsalt": "pictures", "path.simplify_threshold": 0.3,
    "text.parse_math": False, "text.color": TEXT, "axes.labelcolor": TEXT, "axes.edgecolor": LINE,
    "xtick.color": MUTED, "ytick.color": MUTED, "xtick.bottom": False, "ytick.left": False,
    "axes.grid": True, "axes.grid.axis": "y", "axes.axisbelow": True, "grid.color": LINE,
    "legend.frameon": False,
})  # fmt: skip


def figure(width=280, height=180):
    """A Figure of this many CSS pixels, and its axes."""
    picture = Figure((width / 72, height / 72), layout="constrained")  # a unit of its SVG is a pixel
    return picture, picture.subplots()


def variables():
    """The colours that page.css does not have, as CSS variables."""
    looks = LOOKS | KIND_LOOKS
    return "; ".join(f"--{name}: light-dark({look.light}, {look.dark})" for name, look in looks.items())


def as_png(picture, path):
    """Write a picture with two dots per CSS pixel."""
    picture.savefig(path, format="png", dpi=144, facecolor="white", metadata={"Software": None})


def as_svg(picture, label):
    """A picture as an element of a page; label says what it shows."""
    file = io.StringIO()
    picture.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    text = file.getvalue()
    prefix = "s" + hashlib.sha256(f"{label}{text}".encode()).hexdigest()[:8]  # ids are unique in the page
    root = ElementTree.fromstring(text)  # noqa: S314, because it comes from matplotlib
    parts = "".join(inlined(child, prefix) for child in root)
    shape = {"stroke_linejoin": "round", "class_": "plot picture"}
    return tag("svg", parts, viewBox=root.get("viewBox"), role="img", aria_label=label, **shape)


def inlined(element, prefix):
    """An element of matplotlib's SVG for a page: without namespaces, empty groups and invisible shapes."""
    name, attributes = element.tag.removeprefix(SVG), attributes_of(element, prefix)
    if name in ("metadata", "style") or (attributes.get("fill") == "none" and "stroke" not in attributes):
        return ""
    content = escape((element.text or "").strip()) + "".join(inlined(child, prefix) for child in element)
    if name in ("g", "defs") and not (content and attributes):
        return content if name == "g" or not content else tag(name, content)
    return tag(name, content, **attributes)


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
            decimals = re.sub(
                r"-?\d+\.\d+", lambda one: f"{float(one[0]):.2f}".rstrip("0").rstrip("."), value
            )
            found[key] = " ".join(decimals.split())
    found.pop("font-family", None)
    return found
