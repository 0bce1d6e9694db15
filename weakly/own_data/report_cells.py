"""Table cells of the own-data report; texts from a file are shortened and escaped here."""

from html import escape

from weakly.errors import printable
from weakly.numbers import number
from weakly.reporting.elements import tag

CELL_LETTERS = 60


def shown(text, letters=CELL_LETTERS):
    """A text from a file, for HTML: shortened, printable, escaped."""
    text = printable(str(text))
    return escape(text if len(text) <= letters else f"{text[: letters - 1]}…")


def cell(content, sort=None, class_=None, name="td", **more):
    return tag(name, content, class_=class_, data_sort=sort, **more)


def numeric(value, content=None, decimals=3):
    """A cell with a number, which sorts by its value."""
    return cell(number(value, decimals) if content is None else content, sort=value, class_="number")


def percent(share):
    """A share with three digits, or <0.01%."""
    return "<0.01%" if 0 < share < 0.0001 else f"{100 * share:.3g}%"
