"""What a column is, and its cells as numbers, truth values, categories and dates; what is refused."""

import re

import numpy as np
import pandas as pd
import pytest

from weakly.errors import DataError
from weakly.own_data.columns import as_written, choose_columns, column_kind, typed_columns
from weakly.own_data.tables import Notation

N = range(60)
HALVES = [f"{i}.5" for i in N]
HOURS = [f"2024-01-{i % 28 + 1:02} {i // 28}:00" for i in N]


def number(decimal=".", thousands="", **affix):
    return {"kind": "number", "decimal": decimal, "thousands": thousands, **affix}


def date(notation):
    return {"kind": "date", "format": notation}


def kind_of(cells, name="x", **notation):
    return column_kind(name, pd.Series(cells, dtype=object), Notation(**notation))


def typed(cells, kind, missing=(), unreadable=None):
    raw = pd.DataFrame({"x": pd.Series(cells, dtype=object)})
    return typed_columns(raw, {"x": kind}, missing, unreadable)["x"]


@pytest.mark.parametrize(
    "name, cells, kind, why",
    [
        ("amount", HALVES, "number", None),
        ("cents", [str(i * i * 971) for i in N], "number", None),  # no counter, and not named like an id
        ("customer_id", [str(i * i * 971) for i in N], None, "an id"),
        ("grade", ["1st", "2nd", "3rd"] * 20, "category", None),
        ("age", ["30", "NA", " 41 ", "-", ""] * 12, "number", None),
        ("five", ["5", "5.0", ""] * 20, "number", None),  # its gaps have a feature
        ("new", ["True", "FALSE", ""] * 20, "truth", None),
        ("day", HOURS, "date", None),
        ("rare", [f"a{i % 200}" for i in range(1_000)], None, "without a frequent value"),
    ],
)
def test_kinds_of_columns(name, cells, kind, why):
    column = kind_of(cells, name)
    assert (column if why else column["kind"]) == (why or kind)


@pytest.mark.parametrize(
    "cells, column, values",
    [
        (["€2115.46", "-€5"], number(affix="€"), [2115.46, -5]),
        (["2’115.46", "7"], number(thousands="'"), [2115.46, 7]),
        (["2\u202f115,46\xa0EUR", "\u22127\xa0EUR"], number(",", " ", affix="EUR"), [2115.46, -7]),
        (["2115.5 kg", "7kg", "8"], number(affix="kg"), [2115.5, 7, 8]),
        (["2.115,46", "7,1"], number(",", "."), [2115.46, 7.1]),
        (["2 115", "3 500"], number(thousands=" "), [2115, 3500]),
        (["0,125", "7,25e3"], number(","), [0.125, 7250]),
        (["TRUE", " false "], {"kind": "truth"}, [1, 0]),
        ([" a ", "True", "a"], {"kind": "category"}, ["a", "true", "a"]),
        (["5.3.2024", "31.3.2024"], date("%d.%m.%Y"), ["2024-03-05", "2024-03-31"]),
        (["3/5/2024 9:00 PM", "3/31/2024 9:15 AM"], date("%m/%d/%Y %I:%M %p"), ["2024-03-05 21:00",
            "2024-03-31 09:15"]),
    ],
)  # fmt: skip
def test_notations_are_recognised_and_read_alike_later(cells, column, values):
    cells = [*cells, "", "n/a"]
    assert kind_of(cells) == column
    values = pd.to_datetime(values, format="ISO8601") if column["kind"] == "date" else values
    assert typed(cells, column)[:-2].tolist() == [*values] and typed(cells, column)[-2:].isna().all()


def test_a_column_of_a_model_is_read_with_another_decimal_mark():
    column = as_written(number(thousands=",", affix="€"), ",")
    assert (
        typed(["€2.115,46"], column)[0]
        == typed(["€2,115.46"], number(thousands=",", affix="€"))[0]
        == 2115.46
    )
    for same, decimal in ((column, ""), (column, ","), (date("ISO8601"), ",")):
        assert as_written(same, decimal) == same


@pytest.mark.parametrize("cells", [["2,115", "3,500"], ["$2,115", "$3,500"]])
def test_numbers_that_may_mean_two_things_are_refused_with_the_options_that_read_them(cells):
    with pytest.raises(DataError, match="add --decimal , or --decimal ."):
        kind_of(cells)
    for notation, value in (({"decimal": ","}, 2.115), ({"decimal": "."}, 2115)):
        assert typed(cells, kind_of(cells, **notation))[0] == value


@pytest.mark.parametrize(
    "cells, message",
    [
        ([*HALVES, "abc"], "holds numbers such as '0.5', but also 'abc': .* --missing abc"),
        ([*map(str, N), "5%"], "numbers such as '0', but also '5%'"),
        ([*HOURS, "soon"], "holds dates such as '2024-01-01 0:00', but also 'soon'"),
        (["3/4/2024", "5/4/2024"], "may mean two things: write them as 2024-03-31"),
        ([f"please call number {i} back" for i in N], "'x' is free text"),
    ],
)
def test_mixtures_free_text_and_unclear_dates_are_refused(cells, message):
    with pytest.raises(DataError, match=message):
        kind_of(cells)
    if "abc" in cells:
        assert kind_of(cells, missing=("ABC",)) == number()


def test_chosen_columns_and_why_others_are_dropped(capsys):
    days = pd.date_range("2024-01-01", periods=60)
    cells = {"n": np.arange(60.0), "a": np.arange(60) / 7, "b": np.nan, "when": days[0], "c\n": 1.0}
    raw = pd.DataFrame(cells).assign(t=pd.Series(["true", "false"] * 30, dtype=object), at=days)
    columns = {"a": number(), "t": {"kind": "truth"}, "at": date("ISO8601")}
    assert choose_columns(raw, "t.csv", Notation()) == columns
    shown = "Columns: 1 number, 1 truth value, 1 date. Dropped: n (an id); b, when, c\\n (constant).\n"
    assert capsys.readouterr().out == shown
    commas = pd.Series(["1,5", "2,5"] * 30, dtype=object)
    with pytest.raises(
        DataError, match="'comma' has decimal commas, but column 'a' has points: add --decimal"
    ):
        choose_columns(raw[["a"]].assign(comma=commas), "t.csv", Notation())
    with pytest.raises(DataError, match="t.csv has no column to learn from: n .an id."):
        choose_columns(raw[["n"]], "t.csv", Notation())


@pytest.mark.parametrize(
    "cell, kind, message",
    [
        ("80,5", number(), "holds '80,5' instead of a number: see --decimal and --missing."),
        ("5 lb", number(affix="kg"), "holds '5 lb' instead of a number in kg: see"),
        (0.2, number(affix="%"), "holds '0.2' instead of a number in %: see"),
        ("maybe", {"kind": "truth"}, "holds 'maybe' instead of a truth value: see --missing."),
        ("3/31/2024", date("%d/%m/%Y"), "instead of a date written as %d/%m/%Y: see --missing."),
    ],
)
def test_a_cell_that_cannot_be_read_is_refused_or_counted(cell, kind, message):
    with pytest.raises(DataError, match=f"^Row 2: column 'x' {'.*'}{re.escape(message)}"):
        typed(["", cell], kind)
    rows = set()
    assert typed(["", cell], kind, unreadable=rows).isna().all() and rows == {2}
    assert typed(["", cell], kind, missing=(str(cell).upper(),)).isna().all()
