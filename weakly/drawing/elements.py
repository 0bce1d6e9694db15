"""Pieces of HTML for all pages: elements, commands to copy, folds, sortable tables.

Texts from files are escaped here. We tried Jinja2 with autoescape for the tables and did not keep it: the
code was about as long, with two languages in one line.
"""

from html import escape

EMPTY_ELEMENTS = ("img", "input", "meta", "link")  # which have no end tag


def tag(name, content="", /, **attributes):
    """An element. content is HTML; attributes are escaped, left out if None; _ in a name is a hyphen."""
    texts = [
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    ]
    return f"<{name}{''.join(texts)}>" + ("" if name in EMPTY_ELEMENTS else f"{content}</{name}>")


def command_line(command):
    """A command to type, with a button that copies it."""
    button = tag(
        "button", "copy", type="button", class_="copy", aria_label=f"copy {command}", data_copy=command
    )
    return tag("span", tag("code", escape(command)) + button, class_="command")


def foldable(title, content, is_open=False, **attributes):
    """Content under a title that opens and closes it; title is HTML."""
    return tag("details", tag("summary", title) + content, open="" if is_open else None, **attributes)


def sort_button(column):
    return tag("button", type="button", aria_label=f"sort by {column}")


def table(caption, head, rows, foot=(), groups=None, **attributes):
    """A table that scrolls sideways; the button in the head of a column sorts by it.

    head: (text, attributes) per column; rows and foot: complete <tr> elements; groups: (text, columns) above
    the head.
    """
    # the text is next to the button, not in it: Chromium repeats no button in the head of a printed page
    cells = "".join(
        tag("th", tag("span", escape(text)) + sort_button(text), scope="col", **more) for text, more in head
    )
    above = "".join(
        tag("th", escape(text), scope="colgroup", colspan=n) if text else tag("td", colspan=n)
        for text, n in groups or ()
    )
    above = tag("tr", above) if above else ""
    content = tag("caption", tag("span", escape(caption))) + tag("thead", above + tag("tr", cells))
    content += tag("tbody", "".join(rows)) + (tag("tfoot", "".join(foot)) if foot else "")
    attributes = {"class_": "scroll"} | attributes
    return tag("div", tag("table", content), **attributes, tabindex=0, role="group", aria_label=caption)
