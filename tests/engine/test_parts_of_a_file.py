"""What an engine would read otherwise than it stands there: parts of other kinds, folders with names, texts."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.engine.parts import parts_of
from tacita.engine.spark import check_kinds
from tacita.engine.writing import ParquetFile

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
PEOPLE = pl.DataFrame({"region": ["n", "s", None, "s", "n", "s"], "age": [3, 1, 4, 1, 5, 9]})


def records(source: Any, engine: str = "duckdb") -> pl.DataFrame:
    """The records of a file on an engine, in the order of their numbers, which are from 1."""
    with tc.LargeData.of(source, engine=engine) as large:
        read = pl.from_arrow(large.database.collect(large.table))
    assert isinstance(read, pl.DataFrame)
    read = read.sort("tacita_record")
    assert read["tacita_record"].to_list() == list(range(1, read.height + 1))
    return read.drop("tacita_record")


def in_parts(folder: Path, *parts: pl.DataFrame) -> Path:
    folder.mkdir(parents=True)
    for at, each in enumerate(parts):
        each.write_parquet(folder / f"part-{at}.parquet")
    return folder


def test_columns_in_another_order_empty_parts_and_numbers_of_other_widths(engine: str, tmp_path: Path) -> None:
    parts = (
        PEOPLE[:2].with_columns(pl.col("age").cast(pl.Int8)),
        PEOPLE.clear(),
        PEOPLE[2:3].with_columns(pl.lit(None).alias("region")),
        PEOPLE[3:].with_columns(pl.col("age") + 1000).select("age", "region"),
    )
    found = records(in_parts(tmp_path / "file", *parts), engine)
    assert found.select("region", "age").rows() == [
        (region, age + 1000 * (at > 2)) for at, (region, age) in enumerate(PEOPLE.rows())
    ]


def test_batches_come_in_the_order_of_the_files(tmp_path: Path) -> None:
    """With an empty part DuckDB put a union of the others into another order, in which a release was written."""
    long = pl.DataFrame({"region": ["n", "s"] * 100, "number": range(200)})
    folder = in_parts(tmp_path / "file", long[:90], long.clear(), long[90:150], long[150:])
    with tc.LargeData.of(folder) as large:
        tc.Plan([tc.Remove("region")]).apply(
            large, tc.Scenario(keys=["number"]), tc.Policy(k=None, risk=None, rate=None, given_back=None)
        ).write(tmp_path / "release.parquet")
    assert pl.read_parquet(tmp_path / "release.parquet")["number"].to_list() == list(range(200))


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (PEOPLE.with_columns(pl.col("age") + 0.5), "column 'age' holds int64 in part-0.parquet and double in part-1"),
        (PEOPLE.with_columns(pl.col("age").cast(pl.String)), "int64 in part-0.parquet and string in part-1.parquet"),
        (PEOPLE.rename({"age": "years"}), "have other columns: 'age', 'years' not in both"),
        (PEOPLE.drop("age"), "have other columns: 'age' not in both"),
        (PEOPLE.with_columns(tacita_sum_0=1), "have other columns: 'tacita_sum_0' not in both"),
    ],
)
def test_parts_that_are_not_one_table(tmp_path: Path, second: pl.DataFrame, words: str) -> None:
    with pytest.raises(TacitaError) as error:
        records(in_parts(tmp_path / "file", PEOPLE, second))
    assert words in str(error.value)


def test_the_name_of_a_folder_is_no_column(engine: str, tmp_path: Path) -> None:
    """DuckDB read region=n as a column, in place of the one in the file: every record was of one region."""
    folder = in_parts(tmp_path / "region=n" / "country=x", PEOPLE)
    assert records(folder / "part-0.parquet", engine).rows() == PEOPLE.rows()
    assert records(folder, engine).rows() == PEOPLE.rows()


@pytest.mark.parametrize("name", ["AGE", "tacita_record", "Tacita_x", "file_row_number"])
def test_names_that_an_engine_takes_for_others(tmp_path: Path, name: str) -> None:
    PEOPLE.with_columns(pl.lit(1).alias(name)).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(TacitaError, match="rename"):
        parts_of([tmp_path / "a.parquet"])


def test_kinds_that_spark_does_not_read() -> None:
    pa = pytest.importorskip("pyarrow")
    for kind in (pa.time64("us"), pa.timestamp("ns")):
        with pytest.raises(TacitaError, match="which Spark does not read"):
            check_kinds({"at": kind}, "a.parquet")
    check_kinds({"at": pa.timestamp("us"), "day": pa.date32()}, "a.parquet")


def test_a_damaged_part(tmp_path: Path) -> None:
    folder = in_parts(tmp_path / "file", PEOPLE)
    (folder / "part-1.parquet").write_bytes(b"PAR1" + b"n" * 40)
    with pytest.raises(TacitaError, match=r"part-1.parquet is damaged or is no Parquet file"):
        records(folder)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([1, 2, 2, 3, 4, 5], "the same for several"),
        ([1, 2, None, 3, 4, 5], "missing for some"),
        (["a", "b", "c", "d", "e", "f"], "must hold whole numbers"),
    ],
)
def test_numbers_that_are_not_one_for_each_record(tmp_path: Path, numbers: list[Any], words: str) -> None:
    PEOPLE.with_columns(id=pl.Series(numbers)).write_parquet(tmp_path / "a.parquet")
    everything = tc.Policy(k=None, risk=None, rate=None, given_back=None)
    with tc.LargeData.of(tmp_path / "a.parquet", record="id") as large:
        release = tc.Plan([tc.Remove("region")]).apply(large, tc.Scenario(keys=["age"]), everything)
        with pytest.raises(TacitaError) as error:
            release.write(tmp_path / "release.parquet")
    assert words in str(error.value)
    assert not (tmp_path / "release.parquet").exists()


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([1, 2, 2, 3, 4, 5], "the same for several"),
        ([1, 2, None, 3, 4, 5], "missing for some"),
        (["a", "b", "c", "d", "e", "f"], "must hold whole numbers"),
    ],
)
def test_numbers_of_records_that_are_rows_of_their_own(tmp_path: Path, numbers: list[Any], words: str) -> None:
    """Suppression for whole households ended in an error of the library where two records had one number."""
    households = pl.DataFrame(
        {"id": numbers, "home": [1, 1, 1, 2, 2, 2], "region": ["n"] * 6, "age": [1, 5, 5, 2, 3, 4]}
    )
    households.write_parquet(tmp_path / "a.parquet")
    who = tc.Scenario(keys=["age", "region"], household="home", household_variables=["region"])
    with (
        tc.LargeData.of(tmp_path / "a.parquet", record="id") as large,
        pytest.raises(TacitaError, match=words),
    ):
        tc.Plan([tc.Suppress(k=2, closed=False)]).apply(large, who)


def test_a_full_disk_leaves_the_verdict_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The records that are held against the original are made in a temporary file first."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    PEOPLE.write_parquet(tmp_path / "a.parquet")
    everything = tc.Policy(k=None, risk=None, rate=None)
    with tc.LargeData.of(tmp_path / "a.parquet") as large:
        release = tc.Plan([tc.Remove("region")]).apply(large, tc.Scenario(keys=["age"]), everything)
        monkeypatch.setattr(ParquetFile, "write", full)
        (verdict,) = [each for each in release.assess().verdicts() if each.name == "given_back"]
    assert verdict.holds is None and "the disk for temporary files is full" in verdict.why


HEADER = "region,age\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEADER + "n,1\ns,2\nn,3,4,5\n", "more or fewer fields than the header"),
        (HEADER + "n,1\ns\n", "more or fewer fields than the header"),
        ("region,region\nn,1\n", "several columns of one name: 'region'"),
        ("region,\nn,1\n", "has no name for column 2"),
        ("region,Region\nn,1\n", "do not tell capitals from small letters"),
        ('region,"age\nn,1\n', "a quote that does not end"),
        (HEADER + "n,1\0\n", "not a text in UTF-8"),
        (b"region,age\n\xe9,1\n", "is not in UTF-8"),
        ((HEADER + "n,1\n").encode("utf-16"), "not a text in UTF-8"),
    ],
)
def test_texts_that_are_refused(tmp_path: Path, text: str | bytes, words: str) -> None:
    """A longer last line was taken for the header, and all other records were left out without a word."""
    file = tmp_path / "a.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TacitaError) as error:
        records(file)
    assert words in str(error.value)
    assert "Original Line" not in str(error.value)


@pytest.mark.parametrize(
    "ages",
    [
        ["123456789012345678" + str(digit) for digit in range(6)],
        ["1234567890123456789" + str(digit) for digit in range(6)],
        ["9007199254740993", "9007199254740992", "5", "6", "7", ""],
        ["01", "1", "2", "3", "4", "5"],
        ["-0", "1.0", "1e0", ".5", "5.", "NA"],
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_texts_are_typed_as_in_memory(tmp_path: Path, ages: list[str], end: str) -> None:
    """Identifiers of 20 digits were numbers, and several of them the same one."""
    file = tmp_path / "a.csv"
    file.write_bytes(end.join([" region ,age", *(f"{at % 2},{age}" for at, age in enumerate(ages)), ""]).encode())
    ours = tc.read(file).table
    found = records(file)
    assert (found.columns, found.dtypes, found.rows()) == (ours.columns, ours.dtypes, ours.rows())
