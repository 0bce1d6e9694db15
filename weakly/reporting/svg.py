"""Plots of the pages as plain SVG: scales, axes, lines with bands, markers, intervals.

We draw them here and not with a library in the page: Plotly's script alone is 3 to 5 MB, and these plots are
only lines, dots and bars. So the page needs no script to show them, and both themes colour them. Nothing has
a style attribute, because the page's Content-Security-Policy forbids it: colours are classes in page.css. A
plot is as wide as its column, and the columns in page.css are never narrower than WIDTH, so text never
shrinks.
"""

import math

import numpy as np

from weakly.reporting.elements import tag
from weakly.reporting.palette import outline

WIDTH, HEIGHT = 250, 170  # of a panel, in CSS pixels
LEFT, RIGHT, TOP, BOTTOM = 36, 10, 8, 32  # its margins


def text(content, x, y, anchor="start", **attributes):
    return tag("text", content, x=rounded(x), y=rounded(y), text_anchor=anchor, **attributes)


def path(d, class_, **attributes):
    return tag("path", d=d, class_=class_, **attributes)


def rounded(value):
    """A coordinate with one decimal, or none if it is whole."""
    value = round(float(value), 1)
    return int(value) if value == int(value) else value


def polyline(points):
    """The path of a line through points (x, y), in pixels."""
    return "M" + "L".join(f"{rounded(x)} {rounded(y)}" for x, y in points)


def nice_ticks(bounds, most=5):
    """At most this many round numbers between two bounds."""
    low, high = bounds
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    ticks = [round(number * step, 10) for number in range(first, math.floor(high / step + 1e-9) + 1)]
    return ticks or [low]


def tick_text(value):
    return f"{value:g}".replace("-", "−")


class Scale:
    """The position of a value in pixels, on a linear or logarithmic scale."""

    def __init__(self, values, pixels, log=False):
        self._log = math.log10 if log else float
        self._low, self._high = map(self._log, values)
        self.start, self.end = pixels

    def __call__(self, value):
        share = (self._log(value) - self._low) / ((self._high - self._low) or 1.0)
        return self.start + share * (self.end - self.start)


class Panel:
    """One panel with axes. Ticks are numbers, or {number: text}."""

    def __init__(self, x, y, x_ticks=None, y_ticks=None, x_name="", y_name="", log_x=False, log_y=False):
        self.x = Scale(x, (LEFT + 12 * bool(y_name), WIDTH - RIGHT), log_x)
        self.y = Scale(y, (HEIGHT - BOTTOM, TOP), log_y)
        self._drawn = []
        self._axes(
            x_ticks if x_ticks is not None else nice_ticks(x),
            y_ticks if y_ticks is not None else nice_ticks(y, 4),
        )
        middle = (self.x.start + self.x.end) / 2
        self.add(text(x_name, middle, HEIGHT - 3, "middle", class_="axis") if x_name else "")
        upright = f"translate(10 {rounded((self.y.start + self.y.end) / 2)})rotate(-90)"
        named = {"transform": upright, "text_anchor": "middle", "class_": "axis"}
        self.add(tag("text", y_name, **named) if y_name else "")

    def _axes(self, x_ticks, y_ticks):
        as_texts = lambda ticks: ticks if isinstance(ticks, dict) else {t: tick_text(t) for t in ticks}  # noqa: E731
        lines = ""
        for value, label in as_texts(y_ticks).items():
            at = rounded(self.y(value))
            lines += f"M{rounded(self.x.start)} {at}H{rounded(self.x.end)}"
            self.add(text(label, self.x.start - 5, at + 3.5, "end"))
        for value, label in as_texts(x_ticks).items():
            at = rounded(self.x(value))
            lines += f"M{at} {rounded(self.y.start)}v4"
            self.add(text(label, at, self.y.start + 15, "middle"))
        self._drawn.insert(0, path(lines, "grid"))

    def add(self, *elements):
        self._drawn += elements

    def points(self, xs, ys):
        """Data as pixels, without missing values."""
        return [(self.x(x), self.y(y)) for x, y in zip(xs, ys) if np.isfinite(x) and np.isfinite(y)]

    def line(self, xs, ys, class_, **attributes):
        points = self.points(xs, ys)
        if len(points) > 1:
            self.add(path(polyline(points), f"line {class_}", **attributes))

    def band(self, xs, low, high, class_, **attributes):
        there = [(x, a, b) for x, a, b in zip(xs, low, high) if np.isfinite(a) and np.isfinite(b)]
        if len(there) > 1:
            upper = [(self.x(x), self.y(b)) for x, _, b in there]
            lower = [(self.x(x), self.y(a)) for x, a, _ in reversed(there)]
            self.add(path(polyline(upper + lower) + "z", f"band {class_}", **attributes))

    def curve(self, method, xs, means, spreads, low=-np.inf, high=np.inf):
        """A method's mean with a band of its spread and its markers."""
        xs, means, spreads = (np.asarray(values, float) for values in (xs, means, spreads))
        order = np.argsort(xs, kind="stable")
        xs, means, spreads = xs[order], means[order], np.nan_to_num(spreads[order])
        bounds = np.clip([means - spreads, means + spreads], low, high)
        named = {"data_method": method}
        self.band(xs, bounds[0], bounds[1], f"m-{method}", **named)
        self.line(xs, means, f"m-{method}" + " main" * (method == "prenet"), **named)
        self.add(*(marker(method, x, y, **named) for x, y in self.points(xs, means)))

    def vertical(self, value, class_="diagonal"):
        self.add(path(f"M{rounded(self.x(value))} {rounded(self.y.start)}V{rounded(self.y.end)}", class_))

    def svg(self, label):
        """The panel as an element; label says what it shows."""
        return drawing("".join(self._drawn), label, WIDTH, HEIGHT)


def drawing(content, label, width, height, class_="plot"):
    box = f"0 0 {rounded(width)} {rounded(height)}"
    return tag("svg", content, viewBox=box, role="img", aria_label=label, class_=class_)


def marker(method, x, y, hollow=False, small=True, **attributes):
    """A method's marker at a place in pixels."""
    size = "scale(.75)" if small else ""
    place = f"translate({rounded(x)} {rounded(y)}){size}"
    class_ = f"point m-{method}" + " hollow" * hollow
    return tag("path", d=outline(method), transform=place, class_=class_, **attributes)


def swatch(method):
    """The colour and marker of a method, for a legend."""
    mark = tag("path", d=outline(method), class_=f"point m-{method}")
    return tag("svg", mark, viewBox="-6 -6 12 12", width=14, height=14, aria_hidden="true")


def grid(panels, class_="panels"):
    """Panels side by side, as many as fit."""
    return tag("div", "".join(panels), class_=class_)


def named_panel(title, picture, status="exact", **attributes):
    """A panel with its title, which names the status of data that is not exactly the paper's."""
    note = tag("span", status, class_="tag") if status != "exact" else ""
    return tag("figure", tag("figcaption", f"{title} {note}") + picture, data_status=status, **attributes)
