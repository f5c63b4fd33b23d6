"""Tables cell by cell: against loops over all cells, by hand, the reference counts."""

import itertools
import math
import statistics
from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from conftest import Reference
from tacita.check import TacitaError
from tacita.data import Data

rows = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", None]),
        st.sampled_from(["x", "y"]),
        st.sampled_from([1, 2, 3, None]),
        st.sampled_from([1, 2, 3]),
        st.sampled_from([1.0, 2.5]),
    ),
    min_size=1,
    max_size=9,
)
NAMES = ("c", "d", "k")
SCHEMA = {"c": pl.String, "d": pl.String, "k": pl.Int64, "h": pl.Int64, "w": pl.Float64}
WHO = tc.Scenario(keys=["c", "d"], weight="w", household="h")


def slow_counts(records: list[tuple[Any, ...]], at: tuple[int, ...], households: bool, weighted: bool) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for cell in {tuple(row[place] for place in at) for row in records}:
        inside = [row for row in records if tuple(row[place] for place in at) == cell]
        if households:
            members = [[row for row in inside if row[3] == each] for each in {row[3] for row in inside}]
            found[cell] = sum(statistics.mean(row[4] if weighted else 1.0 for row in own) for own in members)
        else:
            found[cell] = sum(row[4] if weighted else 1.0 for row in inside)
    return found


def slow_loss(a: Counter[Any], b: Counter[Any]) -> dict[str, float]:
    cells = {*a, *b}
    gaps = [abs(a[cell] - b[cell]) for cell in cells]
    roots = [math.sqrt(a[cell] / sum(a.values())) - math.sqrt(b[cell] / sum(b.values())) for cell in cells]
    return {
        "hellinger": math.sqrt(sum(root**2 for root in roots) / 2),
        "cells": len(cells),
        "absolute": statistics.mean(gaps),
        "absolute_median": statistics.median(gaps),
        "absolute_greatest": max(gaps),
        "relative": statistics.mean(abs(a[cell] - b[cell]) / a[cell] for cell in a),
        "root": statistics.mean(abs(math.sqrt(a[cell]) - math.sqrt(b[cell])) for cell in cells),
        "false_zeros": sum(cell not in b for cell in a),
        "false_nonzeros": sum(cell not in a for cell in b),
    }


@given(rows, rows, st.sampled_from(["persons", "households"]), st.booleans())
def test_against_the_definitions(
    before: list[tuple[Any, ...]], after: list[tuple[Any, ...]], count: str, weighted: bool
) -> None:
    # Another length, so that nothing is taken for a recoding.
    after = [*after, *([after[0]] if len(before) == len(after) else [])]
    files = [Data.of(pl.DataFrame(records, schema=SCHEMA, orient="row")) for records in (before, after)]
    found = tc.loss.table_loss(*files, WHO, tables=[NAMES], count=count, weighted=weighted)
    assert len(found.compared) == 7
    for table in found.compared:
        at = tuple(NAMES.index(name) for name in table.variables)
        counts = [slow_counts(records, at, count == "households", weighted) for records in (before, after)]
        for name, wanted in slow_loss(*counts).items():
            assert getattr(table.loss, name) == pytest.approx(wanted, abs=1e-7), (table.variables, name)


def test_by_hand() -> None:
    before = pl.DataFrame({"sex": ["f"] * 4 + ["m"], "age": [1, 1, 1, 1, 2]})
    after = pl.DataFrame({"sex": ["f"] * 3 + ["m"] * 2, "age": [1, 1, 1, 2, 1]})
    found = tc.loss.table_loss(before, after, tc.Scenario(keys=["sex", "age"]))
    by_name = {each.variables: each.loss for each in found.compared}
    assert set(by_name) == {("sex",), ("age",), ("sex", "age")}
    both = by_name["sex", "age"]
    # Cells f1: 4 and 3, m2: 1 and 1, m1: 0 and 1.
    assert (both.cells, both.absolute, both.relative) == (3, 2 / 3, 1 / 8)
    assert (both.changed, both.false_zeros, both.false_nonzeros) == (2, 0, 1)


def test_margins_come_once() -> None:
    table = pl.DataFrame({name: ["x", "y"] for name in "abc"})
    found = tc.loss.table_loss(table, table, tc.Scenario(keys=["a"]), tables=[["a", "b"], ["b", "a"], ["b", "c"]])
    assert [each.variables for each in found.compared] == [("a",), ("b",), ("a", "b"), ("c",), ("b", "c")]
    assert found.mean == 0


def test_recoded_variables_are_tabulated_by_the_classes_of_the_release() -> None:
    before = pl.DataFrame({"age": [20, 25, 31, 38], "sex": ["f", "m", "f", "m"]})
    after = pl.DataFrame({"age": ["twenties", "twenties", "thirties", "thirties"], "sex": ["f", "m", "f", "m"]})
    found = tc.loss.table_loss(before, after, tc.Scenario(keys=["age", "sex"]))
    assert found.mean == 0
    assert "recoded, and tabulated by the classes of the release: 'age'." in found.cautions


def test_mistakes() -> None:
    table = pl.DataFrame({name: ["x", "y"] for name in "ab"})
    who = tc.Scenario(keys=["a"])
    with pytest.raises(TacitaError, match="to count households the scenario must name them"):
        tc.loss.table_loss(table, table, who, count="households")
    with pytest.raises(TacitaError, match="a table must have at most 12 variables; got 13"):
        tc.loss.table_loss(table, table, who, tables=[[str(at) for at in range(13)]])
    with pytest.raises(TacitaError, match="no table can be compared: the release lacks 'b'"):
        tc.loss.table_loss(table, table.drop("b"), who, tables=[["b"]])


def test_counts_of_the_reference(reference: Reference) -> None:
    """The cells of region by citizenship, missing citizenship a column, as cross-tabulated by R."""
    data = reference.data("eusilc")
    region, citizenship = "db040", "pb220a"
    counts = {}
    for kind in ("unweighted", "weighted"):
        table = pl.read_csv(reference.folder / "cases" / f"table_eusilc_db040_pb220a__{kind}.csv")
        counts[kind] = table.select(pl.exclude(table.columns[0])).to_numpy()
    one = data.filter(pl.int_range(pl.len()) < 1)
    for kind, wanted in counts.items():
        who = tc.Scenario(keys=[region, citizenship], weight="rb050")
        # Held against a release of one record all other cells are falsely empty.
        found = tc.loss.table_loss(data, one, who, tables=[[region, citizenship]], weighted=kind == "weighted")
        cells = next(each.loss for each in found.compared if len(each.variables) == 2)
        filled = int((wanted > 0).sum())
        assert (cells.cells, cells.false_zeros) == (filled, filled - 1)
        weight = one["rb050"][0] if kind == "weighted" else 1.0
        assert cells.absolute * filled == pytest.approx(wanted.sum() - weight, rel=1e-6)
        assert cells.absolute_greatest == pytest.approx(wanted.max(), rel=1e-6)


def test_pairs_of_keys_by_default() -> None:
    table = pl.DataFrame({name: ["x", "y"] for name in "abcd"})
    found = tc.loss.table_loss(table, table, tc.Scenario(keys=["a", "b", "c"], sensitive=["d"]))
    wanted = {("a",), ("b",), ("c",), ("d",), *itertools.combinations("abc", 2)}
    assert {each.variables for each in found.compared} == wanted
