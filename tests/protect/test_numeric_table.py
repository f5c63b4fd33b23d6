"""Several columns of numbers out of the data and back."""

import numpy as np
import polars as pl
import pytest

from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.protect.numeric_table import numeric_table, with_numbers
from tacita.protect.round import Round

STEP = Round(["x"], base=1.0)


def data() -> Data:
    table = pl.DataFrame({"x": [3, 9, None, 2**60], "y": [0.5, -1.0, 2.0, np.nan], "z": ["a", "b", "c", "d"]})
    return Data(table, variables={"x": Variable(missing=(9,))}).take(np.array([2, 0, 3, 1]))


def test_rows_are_by_record_number_and_codes_are_missing() -> None:
    found = numeric_table(STEP, ("x", "y"), data())
    assert found.record.tolist() == [1, 2, 3, 4]
    assert found.rows.tolist() == [1, 3, 0, 2]
    np.testing.assert_array_equal(found.values[:, 0], [3.0, np.nan, np.nan, 2.0**60])
    np.testing.assert_array_equal(found.values[:, 1], [0.5, -1.0, 2.0, np.nan])
    assert found.complete.tolist() == [True, False, False, False]
    assert found.whole.tolist() == [True, False]


def test_fresh_numbers_go_where_numbers_were() -> None:
    given = numeric_table(STEP, ("x", "y"), data())
    made = with_numbers(data(), given, np.where(given.record[:, None] == 4, given.values, 7.6))
    # By row of the file: record 3, 1, 4, 2. Codes and blanks stay, whole numbers are whole and exact.
    assert made.table["x"].to_list() == [None, 8, 2**60, 9]
    assert made.table["y"].to_list()[:2] == [7.6, 7.6]
    assert made.table["y"].to_list()[3] == 7.6
    assert made.table.schema["x"] == pl.Int64


@pytest.mark.parametrize("wrong", [np.inf, np.nan])
def test_no_number_becomes_infinite_or_missing(wrong: float) -> None:
    given = numeric_table(STEP, ("y",), data())
    with pytest.raises(TacitaError, match="infinite or missing"):
        with_numbers(data(), given, np.full_like(given.values, wrong))


def test_numbers_too_large_to_add_up_are_refused() -> None:
    with pytest.raises(TacitaError, match="declare such codes missing"):
        numeric_table(STEP, ("y",), Data.of(pl.DataFrame({"y": [1e200, 1.0]})))
    with pytest.raises(TacitaError, match="infinite"):
        numeric_table(STEP, ("y",), Data.of(pl.DataFrame({"y": [np.inf, 1.0]})))
