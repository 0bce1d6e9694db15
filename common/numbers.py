"""Numbers as text, set the same way everywhere: a real minus sign, thousands apart, p-values alike."""

import math

NUDGE = 1e-9  # away from 0: 0.3215 rounds up, whatever binary fractions make of it


def number(value, decimals=3):
    """A number with so many decimals; what is missing is a dash."""
    if value is None or value != value:
        return "–"
    return f"{value + math.copysign(NUDGE, value):,.{decimals}f}".replace("-", "−")


def signed(value, decimals=3, unit=""):
    """A difference with its sign; what rounds to nothing has none."""
    value = value + math.copysign(NUDGE, value)
    text = f"{value:+,.{decimals}f}{unit}".replace("-", "−")
    return text if round(float(value), decimals) else text[1:]


def count(value):
    """How many, with thousands apart."""
    return f"{int(value):,}"


def p_value(value, decimals=3):
    """A p-value for a table: so many decimals, or what it is below."""
    if value is None or math.isnan(value):
        return "–"
    smallest = 10.0**-decimals
    return f"< {smallest:.{decimals}f}" if value < smallest else f"{value:.{decimals}f}"


def p_text(value):
    """A p-value for a sentence: `p = 0.154`, `p < 0.001`."""
    text = p_value(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"
