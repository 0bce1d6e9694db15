"""What a column is, and its cells as numbers, truth values, categories and dates; what is refused."""

import re

import numpy as np
import pandas as pd
import pytest
from event_tables import events

from weakly.errors import DataError
from weakly.own_data.columns import (
    as_written,
    choose_columns,
    column_kind,
    is_missing,
    to_numbers,
    typed_columns,
)
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
        ("n", [str(i) for i in N], None, "an id"),
        ("postcode", [f"{1234 + i} {chr(65 + i % 20)}B" for i in N], None, "an id"),
        ("address", [f"10.0.{i % 9}.1" for i in N], "category", None),
        ("grade", ["1st", "2nd", "3rd"] * 20, "category", None),
        ("age", ["30", "NA", " 41 ", "-", ""] * 12, "number", None),
        ("five", ["5", "5.0"] * 30, None, "constant"),
        ("five", ["5", "5.0", ""] * 20, "number", None),  # its gaps have a feature
        ("new", ["True", "FALSE", ""] * 20, "truth", None),
        ("mark", ["true", ""] * 30, "category", None),  # a gap says something here
        ("day", HOURS, "date", None),
        ("rare", [f"a{i % 200}" for i in range(1_000)], None, "without a frequent value"),
        ("nothing", [""] * 60, None, "constant"),
    ],
)
def test_kinds_of_columns(name, cells, kind, why):
    column, reason = kind_of(cells, name)
    assert ((column or {}).get("kind"), reason) == (kind, why)


@pytest.mark.parametrize(
    "cells, column, values",
    [
        (["21.15%", "3 %"], number(affix="%"), [21.15, 3]),
        (["€2115.46", "-€5"], number(affix="€"), [2115.46, -5]),
        (["US$2,115.50", "US$-7"], number(thousands=",", affix="US$"), [2115.5, -7]),
        (["2’115.46", "7"], number(thousands="'"), [2115.46, 7]),
        (["2\u202f115,46\xa0EUR", "\u22127\xa0EUR"], number(",", " ", affix="EUR"), [2115.46, -7]),
        (["2115.5 kg", "7kg", "8"], number(affix="kg"), [2115.5, 7, 8]),
        (["5,951.00", "909.00"], number(thousands=","), [5951, 909]),
        (["2.115,46", "7,1"], number(",", "."), [2115.46, 7.1]),
        (["1.234.567", "7"], number(",", "."), [1234567, 7]),
        (["2 115", "3 500"], number(thousands=" "), [2115, 3500]),
        (["0,125", "7,25e3"], number(","), [0.125, 7250]),
        (["\xa01.5", "1e-3"], number(), [1.5, 0.001]),
        (["2024-01-05", "2024-01-05T10:00:00+02:00"], date("ISO8601"), ["2024-01-05", "2024-01-05 08:00"]),
        (["5.3.2024", "31.3.2024"], date("%d.%m.%Y"), ["2024-03-05", "2024-03-31"]),
        (["05/03/24", "31/03/24"], date("%d/%m/%y"), ["2024-03-05", "2024-03-31"]),
        (["3/5/2024 9:00 PM", "3/31/2024 9:15 AM"], date("%m/%d/%Y %I:%M %p"), ["2024-03-05 21:00",
            "2024-03-31 09:15"]),
        (["05 Mar 2024", "6 Mar 2024"], date("%d %b %Y"), ["2024-03-05", "2024-03-06"]),
        (["3/3/2024", "4/4/2024"], date("%d/%m/%Y"), ["2024-03-03", "2024-04-04"]),  # equal in any order
    ],
)  # fmt: skip
def test_notations_are_recognised_and_read_alike_later(cells, column, values):
    cells = [*cells, "", "n/a"]
    assert kind_of(cells) == (column, None)
    values = pd.to_datetime(values, format="ISO8601") if column["kind"] == "date" else values
    assert typed(cells, column)[:-2].tolist() == [*values] and typed(cells, column)[-2:].isna().all()


@pytest.mark.parametrize("cells", [["2,115", "3,500"], ["$2,115", "$3,500"]])
def test_numbers_that_may_mean_two_things_are_refused_with_the_options_that_read_them(cells):
    with pytest.raises(DataError, match="add --decimal , or --thousands , to choose one"):
        kind_of(cells)
    for notation, value in (({"decimal": ","}, 2.115), ({"decimal": "."}, 2115), ({"thousands": ","}, 2115)):
        assert typed(cells, kind_of(cells, **notation)[0])[0] == value


@pytest.mark.parametrize("cells", [["1.5", "2.5"], ["2.115,46", "7,1"], ["2,115.46", "7"], ["1,5", "2"]])
def test_options_that_do_not_fit_a_column_do_not_stop_it(cells):
    for given in ({"decimal": ","}, {"decimal": "."}, {"thousands": ","}, {"thousands": "."}):
        assert typed(cells, kind_of(cells, **given)[0]).equals(typed(cells, kind_of(cells)[0]))


def test_a_model_of_columns_in_two_notations_reads_them_alike(folder, run, capsys):
    prices = [f"{i % 50},{i % 9}5" for i in range(600)]
    events().assign(price=prices).to_csv("events.csv", index=False)
    for options in ("", "--decimal ,"):
        learn = "--label fraud --method logistic-converged --model m"
        assert run(f"fit events.csv {options} {learn}") == run("score events.csv --model m --strict") == 0
        assert "Columns: 3 numbers" in (shown := capsys.readouterr().out) and "DRIFT" not in shown
    columns = {"x": number(), "c": {"kind": "category"}}
    assert as_written(columns, Notation(decimal=",")) == columns | {"x": number(",")}


@pytest.mark.parametrize(
    "cells, message",
    [
        ([*HALVES, "abc"], "holds numbers such as '0.5', but also 'abc': .* --missing abc"),
        ([*HALVES, "1.234,5"], "but also '1.234,5'"),
        ([*map(str, N), "5%"], "numbers such as '0', but also '5%'"),
        ([f"{i} {'k' * (i % 2)}g" for i in N], "holds numbers such as '0 g', but also '1 kg'"),
        ([*HOURS, "soon"], "holds dates such as '2024-01-01 0:00', but also 'soon'"),
        (["9999-12-31", "2024-01-01"], "such as '2024-01-01', but also '9999-12-31'"),
        (["5/31/2024", "31.5.2024"], "such as '31.5.2024', but also '5/31/2024'.*--drop x"),
        (["3/4/2024", "5/4/2024"], "day and month cannot be told apart"),
        ([f"please call number {i} back" for i in N], "'x' is free text"),
    ],
)
def test_mixtures_free_text_and_unclear_dates_are_refused(cells, message):
    with pytest.raises(DataError, match=message):
        kind_of(cells)
    if "abc" in cells:
        assert kind_of(cells, missing=("ABC",))[0] == number()


def test_chosen_columns_and_why_others_are_dropped(capsys):
    days = pd.date_range("2024-01-01", periods=60)
    cells = {"n": np.arange(60.0), "a": np.arange(60) / 7, "b": np.nan, "when": days[0], "c\n": 1.0}
    raw = pd.DataFrame(cells).assign(t=pd.Series(["true", "false"] * 30, dtype=object), at=days)
    columns = {"a": number(), "t": {"kind": "truth"}, "at": date("ISO8601")}
    assert choose_columns(raw, "t.csv", Notation()) == columns
    shown = "Columns: 1 number, 1 truth value, 1 date. Dropped: n (an id); b, when, c\\n (constant).\n"
    assert capsys.readouterr().out == shown
    with pytest.raises(DataError, match="t.csv has no column to learn from: n .an id."):
        choose_columns(raw[["n"]], "t.csv", Notation())


def test_typed_columns():
    for kind, cells, values in (
        (number(), ["1.5", "NA", "-"], [1.5, "?", "?"]),
        (number(), [1.0, np.nan, 2.5], [1, "?", 2.5]),
        ({"kind": "truth"}, ["TRUE", "0", " "], [1, 0, "?"]),
        ({"kind": "category"}, [" a ", "True", "unknown"], ["a", "true", "?"]),
        ({"kind": "category"}, [7.0, np.nan, 1.5], ["7", "?", "1.5"]),
    ):
        column = typed_columns(pd.DataFrame({"x": cells}), {"x": kind})["x"]
        assert column.fillna("?").tolist() == values
        assert column.dtype == (object if kind["kind"] == "category" else float)


@pytest.mark.parametrize(
    "cell, kind, message",
    [
        ("80,5", number(), "holds '80,5' instead of a number: see --decimal, --thousands and --missing."),
        ("5 lb", number(affix="kg"), "holds '5 lb' instead of a number in kg: see"),
        ("0.2", number(affix="%"), "holds '0.2' instead of a number in %: see"),
        (0.2, number(affix="%"), "holds '0.2' instead of a number in %: see"),
        (0.2, date("ISO8601"), "holds '0.2' instead of a date"),
        ("1e400", number(), "holds '1e400' instead of a number"),
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


def test_to_numbers_and_what_is_missing():
    texts = pd.Series(["1", "-1e3", ".5", *"1,5 1_0 ٣ 0x1 1e400 +-5 inf nan True".split(), "9" * 400, ""])
    np.testing.assert_array_equal(to_numbers(texts), [1, -1000, 0.5, *[np.nan] * 11])
    texts = pd.Series(["1,234.5", "12,34", "0,123", "1234.5", "1,2345"])
    np.testing.assert_array_equal(to_numbers(texts, ".", ","), [1234.5, np.nan, np.nan, 1234.5, np.nan])
    cells = pd.Series(["nA", " - ", "x", np.nan, "Y"], dtype=object)
    assert is_missing(cells, ("y",)).tolist() == [True, True, False, True, True]
