"""What was suppressed or recoded away is in no byte of what is published, whatever the format."""

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import tacita as tc
from tacita.data import Data, Variable
from tacita.protect.step import Applied, Context, Step
from tacita.release.release import FORMATS

CANARY = "Quetzalcoatlus"
LABEL = "Paraceratherium"
CODE = 73519
N = 40


@dataclass(frozen=True)
class Blank(Step):
    """Blank every cell that holds the canary, for these tests."""

    variables: tuple[str, ...]

    def apply(self, data: Data, context: Context) -> Applied:
        cells = {}
        for name in self.variables:
            codes, values = data.coded(name)
            wanted = [place + 1 for place, value in enumerate(values) if value in (CANARY, CODE)]
            cells[name] = np.isin(codes, wanted)
        return Applied(data.blanked(cells))


def survey(kind: str) -> Data:
    """A file with a text (or an ordered or plain category) and a labelled code that only record 8 has."""
    jobs = ["farmer" if place % 2 else "smith" for place in range(N)]
    jobs[7] = CANARY
    codes = [1 + place % 2 for place in range(N)]
    codes[7] = CODE
    table = pl.DataFrame({"job": jobs, "code": codes, "sex": ["f", "m"] * (N // 2)})
    known = {
        "code": Variable(label="A code", value_labels={1: "one", 2: "two", CODE: LABEL}),
        "job": Variable(scale="ordinal", order=("farmer", CANARY, "smith")) if kind == "ordered" else Variable(),
    }
    if kind == "enum":
        table = table.with_columns(pl.col("job").cast(pl.Enum(["farmer", CANARY, "smith"])))
    if kind == "categorical":
        table = table.with_columns(pl.col("job").cast(pl.Categorical))
    if kind == "pandas":
        return Data.of(table.to_pandas().astype({"job": "category"}), known)
    return Data.of(table, known)


WHO = tc.Scenario(keys=["job", "code", "sex"])


def unpacked(path: Path) -> bytes:
    """The bytes of a file, and of what is inside it if it is an archive."""
    raw = path.read_bytes()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            raw += b"".join(archive.read(name) for name in archive.namelist())
    if path.suffix == ".arrow":
        table = ipc.open_file(raw).read_all()
        chunks = [chunk for column in table.columns for chunk in column.chunks]
        chunks += [chunk.dictionary for chunk in chunks if pa.types.is_dictionary(chunk.type)]
        raw += b"".join(buffer.to_pybytes() for chunk in chunks for buffer in chunk.buffers() if buffer is not None)
    if path.suffix == ".parquet":
        texts = [field.name for field in pq.read_schema(path) if pa.types.is_large_string(field.type)]
        table = pq.read_table(path, read_dictionary=texts)
        raw += str(table.to_pydict()).encode() + str([c.chunks for c in table.columns]).encode()
        raw += str(pq.read_metadata(path).row_group(0).to_dict()).encode()
    return raw


def found(folder: Path) -> list[str]:
    """Files in which one of the marks stands, as text in any of three encodings or as a number."""
    marks = [text.encode(encoding) for text in (CANARY, LABEL, str(CODE)) for encoding in ("utf-8", "utf-16-le")]
    marks += [CODE.to_bytes(4, "little"), np.float64(CODE).tobytes(), np.float64(CODE).byteswap().tobytes()]
    return [
        each.name for each in sorted(folder.rglob("*")) if each.is_file() and any(m in unpacked(each) for m in marks)
    ]


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    """In a file that still has it the canary is found, whatever the format."""
    folder = tc.Plan().apply(survey("text"), WHO).save(tmp_path / "out", formats=list(FORMATS), accept_unsafe="a test")
    assert set(found(folder / "not_for_publication")) == {
        *(f"data.{kind}" for kind in FORMATS),
        "codebook.csv",
        "codebook.xml",
        "report.html",
    }


PLANS = {
    "blanked": tc.Plan([Blank(("job", "code"))]),
    "suppressed": tc.Plan([tc.Suppress(k=2)]),
    "recoded": tc.Plan(
        [
            tc.Recode("job", mapping={CANARY: "other"}, label="jobs"),
            tc.Recode("code", mapping={CODE: 2}, labels={2: "two or more"}, label="codes"),
        ]
    ),
    "grouped": tc.Plan([tc.GroupRare("job", least=2), tc.GroupRare("code", least=2, into=2)]),
    "removed": tc.Plan([tc.Remove(["job", "code"])]),
}


KINDS = ("text", "enum", "categorical", "ordered", "pandas")
# A group of neighbours in an order is named by its ends: that is its meaning.
PAIRS = [(kind, plan) for kind in KINDS for plan in PLANS if plan != "grouped" or kind not in ("enum", "ordered")]


@pytest.mark.parametrize(("kind", "plan"), PAIRS)
@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_no_released_format_holds_what_went(kind: str, plan: str, tmp_path: Path) -> None:
    release = PLANS[plan].apply(survey(kind), WHO)
    folder = release.save(tmp_path / "out", formats=list(FORMATS), accept_unsafe="a test")
    assert found(folder / "not_for_publication") == []
    if plan != "recoded":
        # A plan that names what it takes away is not published, and stands in internal/ only.
        assert found(folder) == []
    beside = {"README.txt", "codebook.csv", "codebook.xml", "report.html", "methods.json"}
    others = {each.name for each in (folder / "not_for_publication").iterdir() if each.stem != "data"}
    assert beside - {"methods.json"} <= others <= beside
    native = release.to_native()
    if kind == "pandas" and plan not in ("removed", "recoded"):
        assert isinstance(native, pd.DataFrame)
        assert CANARY not in native["job"].dtype.categories
        native.to_pickle(tmp_path / "native.pickle")
        assert CANARY.encode() not in (tmp_path / "native.pickle").read_bytes()


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_nor_does_the_release_in_memory() -> None:
    """Everything that hangs on the released data, down to the caller's own table."""
    release = tc.Plan([Blank(("job", "code"))]).apply(survey("pandas"), WHO)
    data = release.data
    held = [data.table.write_json(), str(data.variables), str(data.native), data.table.serialize(format="binary")]
    assert all(CANARY not in str(each) and LABEL not in str(each) for each in held)


def buffers(table: pa.Table) -> bytes:
    """Everything that a table of Arrow holds in memory."""
    chunks = [chunk for column in table.columns for chunk in column.chunks]
    return b"".join(buffer.to_pybytes() for chunk in chunks for buffer in chunk.buffers() if buffer is not None)


def test_nor_does_a_table_whose_records_were_reordered_after_blanking(tmp_path: Path) -> None:
    """A blank text of Arrow's kind still points to what was there; a table made of it then held both."""
    given = survey("text").table
    plan = tc.Plan([Blank(("job", "code")), tc.RandomOrder()])
    arrow = plan.apply(given.to_arrow(), WHO).to_native()
    assert isinstance(arrow, pa.Table)
    assert CANARY.encode() not in buffers(arrow)
    assert CODE.to_bytes(8, "little") not in buffers(arrow)
    plan.apply(given.to_pandas(), WHO).to_native().to_pickle(tmp_path / "native.pickle")
    assert CANARY.encode() not in (tmp_path / "native.pickle").read_bytes()


def test_categories_that_are_numbers_are_cut_down_too() -> None:
    """Of a column that no step touched."""
    codes = pd.Categorical([1, 2] * 10, categories=[1, 2, CODE])
    table = pd.DataFrame({"code": codes, "sex": ["f", "m"] * 10})
    native = tc.Plan().apply(table, tc.Scenario(keys=["sex"])).to_native()
    assert native["code"].dtype == "category"
    assert native["code"].cat.categories.tolist() == [1, 2]
    arrow = pa.table({"code": pa.DictionaryArray.from_arrays([0, 1] * 10, [1, 2, CODE]), "sex": ["f", "m"] * 10})
    native = tc.Plan().apply(arrow, tc.Scenario(keys=["sex"])).to_native()
    assert str(CODE) not in str([chunk for column in native.columns for chunk in column.chunks])


def test_a_released_table_of_pandas_is_no_view_of_the_original() -> None:
    table = pd.DataFrame({"income": [1.0, 2.0, float(CODE)], "age": [30.0, 40.0, 50.0], "sex": ["f", "m", "f"]})
    native = tc.Plan([tc.TopCode("income", at=2)]).apply(table, tc.Scenario(keys=["sex"])).to_native()
    assert native["age"].tolist() == [30.0, 40.0, 50.0]
    assert not np.shares_memory(native["age"].to_numpy(), table["age"].to_numpy())
