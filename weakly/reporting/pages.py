"""What all pages share: HTML templates that escape everything, one style, one script, and the policy.

A page is one file that loads nothing. Its templates import macros.html; its look is page.css.
"""

import base64
import hashlib
from pathlib import Path

import jinja2
from markupsafe import Markup

from weakly.reporting.pictures import PAGE_STYLE, variables

FILES = Path(__file__).parent
STYLE = f"{PAGE_STYLE}:root {{ {variables()} }}\n"


def template(name, **known):
    """A template here or of own data; known are the functions and constants that it and its macros use."""
    loader = jinja2.FileSystemLoader([FILES, FILES.parent / "own_data"])
    environment = jinja2.Environment(
        loader=loader, autoescape=jinja2.select_autoescape(), undefined=jinja2.StrictUndefined
    )
    environment.globals |= known
    return environment.get_template(name)


def head_and_script(own_script, start, style=STYLE):
    """{policy, style, script} for a template: the theme button, own code, tables and folds, `start` last."""
    theme, tables = ((FILES / name).read_text("utf-8") for name in ("theme.js", "tables.js"))
    script = theme + own_script + tables + start
    inert = {"style": Markup(style), "script": Markup(script)}  # noqa: S704 - our own files
    return inert | {"policy": policy(style, script)}


def policy(style, script):
    """A Content-Security-Policy that allows only the page's own script and style."""
    own = "; ".join(
        f"{name}-src 'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
        for name, content in {"script": script, "style": style}.items()
    )
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
