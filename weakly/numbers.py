"""Numbers as text in one format: a real minus sign, thousands separators, uniform p-values."""

import math

NUDGE = 1e-9  # away from 0: 0.3215 rounds up despite its binary representation


def number(value, decimals=3):
    """A number with this many decimals; a missing value is a dash."""
    if value is None or value != value:
        return "–"
    return f"{value + math.copysign(NUDGE, value):,.{decimals}f}".replace("-", "−")


def signed(value, decimals=3, unit=""):
    """A difference with its sign; one that rounds to zero has none."""
    value = value + math.copysign(NUDGE, value)
    text = f"{value:+,.{decimals}f}{unit}".replace("-", "−")
    return text if round(float(value), decimals) else text[1:]


def count(value):
    """A count with thousands separators."""
    return f"{int(value):,}"


def count_of(n, singular, plural=None):
    """A count with its noun."""
    return f"{count(n)} {singular if n == 1 else plural or f'{singular}s'}"


def percent(share):
    """A share with three digits, or <0.01% or >99.9%; a missing one is a dash."""
    if share != share:
        return "–"
    if 0 < share < 0.0001 or 0.9995 <= share < 1:
        return "<0.01%" if share < 0.5 else ">99.9%"
    return f"{round(100 * share + NUDGE, 6):.3g}%"


def p_value(value, decimals=3):
    """A p-value for a table: this many decimals, or an upper bound."""
    if value is None or math.isnan(value):
        return "–"
    smallest = 10.0**-decimals
    return f"< {smallest:.{decimals}f}" if value < smallest else f"{value:.{decimals}f}"


def p_text(value):
    """A p-value for a sentence: `p = 0.154`, `p < 0.001`."""
    text = p_value(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"
