"""Special missing values of SAS transport files: every letter is seen, and written as it was."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.data.formats import special, transport

A, Z, UNDERSCORE = (special.code_of(letter) for letter in "az_")


def by_hand(raw: bytes, records: int, widths: list[int]) -> list[list[bytes]]:
    """The cells of a file, record by record: what stands behind the last header, cut into pieces."""
    start = raw.rindex(b"HEADER RECORD*******OBS") + 80
    rows = []
    for record in range(records):
        at, cells = start + record * sum(widths), []
        for width in widths:
            cells.append(raw[at : at + width])
            at += width
        rows.append(cells)
    return rows


@pytest.mark.parametrize("version", [5, 8])
def test_letters_of_both_versions_of_the_format(version: int, tmp_path: Path) -> None:
    """A file as SAS writes it: the bytes are put in by hand, where pyreadstat writes plain missing values."""
    path = tmp_path / "a.xpt"
    table = pl.DataFrame({"name": ["A", "bcd", "E"], "x": [1.5, None, None], "y": [None, 2.0, None]})
    labels = {"x": "A label that is longer than the forty signs of version 5 of the format"}
    pyreadstat.write_xport(table, path, file_format_version=version, column_labels=labels if version == 8 else None)
    raw = path.read_bytes()
    cells = [cell for row in by_hand(raw, 3, [3, 8, 8]) for cell in row]
    plain = b"." + bytes(7)
    assert [at for at, cell in enumerate(cells) if cell == plain] == [2, 4, 7, 8]
    cells[4], cells[7], cells[8] = b"A" + bytes(7), b"Z" + bytes(7), b"_" + bytes(7)
    start = raw.rindex(b"HEADER RECORD*******OBS") + 80
    path.write_bytes(raw[:start] + b"".join(cells) + raw[start + 57 :])
    data = tc.read(path)
    assert data.table["name"].to_list() == ["A", "bcd", "E"]
    assert data.table["x"].to_list() == [1.5, A, Z]
    assert data.table["y"].to_list() == [None, 2.0, UNDERSCORE]
    assert set(data.variable("x").missing) == {A, Z}
    assert data.variable("x").value_labels == {A: ".a", Z: ".z"}


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(
        st.none() | st.integers(-5, 5) | st.sampled_from([special.code_of(letter) for letter in special.LETTERS]),
        min_size=1,
        max_size=8,
    ),
    half=st.booleans(),
    texts=st.integers(0, 9),
)
def test_there_and_back(values: list[Any], half: bool, texts: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("xpt") / "a.xpt"
    if half:
        values = [value if value is None or value < -9 else value + 0.5 for value in values]
    column = pl.Series(values, dtype=pl.Float64 if half else pl.Int64)
    codes = tuple(sorted({value for value in values if value is not None and value < -9}))
    table = pl.DataFrame({"text": ["A" * texts] * len(values), "x": column, "more": column})
    tc.write(Data(table, {"x": Variable(missing=codes), "more": Variable(missing=codes)}), path)
    found = tc.read(path)
    for name in ("x", "more"):
        assert found.table[name].to_list() == values
        assert sorted(found.variable(name).missing) == list(codes)
    # Nothing but the letters was written into the file.
    cells = by_hand(path.read_bytes(), len(values), [max(texts, 1), 8, 8])
    shown = [special.letter_of(value) if value is not None else None for value in values]
    for row, letter, value in zip(cells, shown, values, strict=True):
        if letter is not None:
            assert row[1] == row[2] == letter.upper().encode() + bytes(7)
        elif value is None:
            assert row[1] == b"." + bytes(7)


def test_a_letter_among_dates_is_plain_missing_with_a_remark(tmp_path: Path) -> None:
    path = tmp_path / "a.xpt"
    pyreadstat.write_xport(pl.DataFrame({"x": [5.0, None]}), path, variable_format={"x": "DATE9"})
    transport.write_marks(path, {0: np.array([0, ord("A")], dtype=np.uint8)})
    with pytest.warns(tc.TacitaWarning, match="plain missing now"):
        assert tc.read(path).table["x"].null_count() == 1


def test_a_file_in_blocks_of_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tacita.data.formats import statistical

    table = pl.DataFrame({"a": [1, A], "b": [Z, 2], "c": [3, 4]})
    path = tc.write(Data(table, {"a": Variable(missing=(A,)), "b": Variable(missing=(Z,))}), tmp_path / "a.xpt")
    monkeypatch.setattr(statistical, "CELLS", 2)
    assert tc.read(path).table.to_dict(as_series=False) == table.to_dict(as_series=False)


def test_a_file_without_variables_or_records_is_damaged(tmp_path: Path) -> None:
    path = tc.write(pl.DataFrame({"a": [1.0, None]}), tmp_path / "a.xpt")
    raw = path.read_bytes()
    for broken in (raw.replace(b"NAMSTV8", b"NAMSTV?"), raw.replace(b"OBSV8", b"OBSV?"), raw[:640]):
        path.write_bytes(broken)
        with pytest.raises(TacitaError, match=r"^a\.xpt is (damaged|cut off)"):
            transport.read_marks(path, [0], 2)


def test_one_record_of_letters_makes_no_one_safe(tmp_path: Path) -> None:
    """Read as blanks, the two letters would match everybody."""
    table = pl.DataFrame({"job": [1, 1, 1, A, Z]})
    path = tc.write(Data(table, {"job": Variable(missing=(A, Z))}), tmp_path / "a.xpt")
    found = tc.assess(path, tc.Scenario(keys=["job"]), tc.Policy(k=2, risk=None, rate=None))
    assert found.failures == ("2 records below k = 2",)
