"""A page in one file: its skeleton with filled slots, its style and its script; it loads nothing.

script = page_script(own_code, start_code)
page = filled_page(skeleton, script, {"title": "..."})      # replaces <!--slot title-->
"""

import base64
import hashlib
import re
from pathlib import Path

from weakly.drawing.elements import tag
from weakly.drawing.palette import method_colours

FILES = Path(__file__).parent


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
