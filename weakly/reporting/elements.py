"""Pieces of HTML for all pages: elements, commands to copy, folds, sortable tables, and the page in one file.

script = page_script(own_code, start_code)
page = filled_page(skeleton, script, {"title": "..."})      # replaces <!--slot title-->

Texts from files are escaped here. We tried Jinja2 with autoescape for the tables and did not keep it: the
code was about as long, with two languages in one line. A page loads nothing.
"""

import base64
import hashlib
import re
from html import escape
from pathlib import Path

from weakly.reporting.palette import method_colours

FILES = Path(__file__).parent
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


def page_script(own, start):
    """The script of a page: the theme button, `own` code, tables and folds, and `start`, which comes last."""
    theme, tables = ((FILES / name).read_text("utf-8") for name in ("theme.js", "tables.js"))
    return theme + own + tables + start


def filled_page(skeleton, script, slots, own_style=""):
    """A skeleton with `<!--slot name-->` replaced; policy, style and script are among the slots."""
    style = (FILES / "page.css").read_text("utf-8") + own_style + method_colours()
    slots = slots | {
        "policy": tag("meta", http_equiv="Content-Security-Policy", content=policy(style, script)),
        "style": style,
        "script": script,
    }
    return re.sub(r"<!--slot (\S+)-->", lambda match: slots[match.group(1)], skeleton)


def policy(style, script):
    """A Content-Security-Policy that allows only the page's own script and style."""
    own = "; ".join(
        f"{name}-src 'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
        for name, content in {"script": script, "style": style}.items()
    )
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
