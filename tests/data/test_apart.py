"""Files of formats that foreign code parses are read in a process of their own, which may die of them."""

import ctypes
import datetime
import io
import os
import signal
import subprocess
import sys
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

import tacita as tc
from tacita import apart
from tacita.check import TacitaError, TacitaWarning
from tacita.data.formats import foreign
from tacita.data.formats.windows_job import ExtendedLimits

Run = Callable[..., tuple[int, str, str]]
SUFFIXES = (".parquet", ".arrow", ".xlsx", ".sav", ".zsav", ".dta", ".xpt")
TABLE = pl.DataFrame(
    {
        "work": [1, 2, 9, None],
        "name": ["a", None, "é", "b"],
        "income": [1.5, None, -9.0, 2.0],
        "day": [datetime.date(2020, 1, 31), None, datetime.date(1999, 12, 1), None],
    }
)
KNOWN = {
    "work": tc.Variable(label="Work", value_labels={1: "yes"}, missing=(9,), scale="nominal"),
    "income": tc.Variable(missing_ranges=((-99, -1),)),
}


@pytest.fixture(autouse=True)
def _none_waits() -> Iterator[None]:
    """Every test starts its own process, and leaves none."""
    apart._end_waiting()
    yield
    apart._end_waiting()


def written(folder: Path, suffix: str) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TacitaWarning)
        return tc.write(tc.Data.of(TABLE, KNOWN), folder / f"a{suffix}", overwrite=True)


def refusal(file: Path) -> str:
    with pytest.raises(TacitaError) as error:
        tc.read(file, apart=True)
    return str(error.value)


@pytest.fixture
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let the process do something else before it serves: `r` is its module."""
    start = apart.START

    def instead(code: str) -> None:
        (tmp_path / "hook.txt").write_text(code)
        hook = f"exec(open({str(tmp_path / 'hook.txt')!r}).read(), globals())"
        before, _, _ = start.rpartition("serve()")
        monkeypatch.setattr(apart, "START", f"{before}import tacita.data.formats.reader_process as r; {hook}; serve()")

    return instead


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_read_apart_is_what_is_read_here(tmp_path: Path, suffix: str) -> None:
    file = written(tmp_path, suffix)
    here, there = tc.read(file), tc.read(file, apart=True)
    assert there.table.schema == here.table.schema
    assert there.table.equals(here.table)
    assert dict(there.variables) == dict(here.variables)


def test_types_that_only_polars_has_come_back(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "ordered": pl.Series(["low", "high"], dtype=pl.Enum(["low", "high", "none"])),
            "large": pl.Series([2**63, 1], dtype=pl.UInt64),
            "time": [datetime.time(1, 2, 3), None],
            "list": [[1, 2], None],
        }
    )
    table.write_parquet(tmp_path / "a.parquet")
    found = tc.read(tmp_path / "a.parquet", apart=True).table
    assert found.schema == table.schema
    assert found.equals(table)


def test_a_large_table_comes_in_parts(tmp_path: Path, serving: Callable[[str], None]) -> None:
    table = pl.DataFrame({f"v{place}": range(1000) for place in range(20)})
    serving("r.streams.PART = 9000")
    table.write_parquet(tmp_path / "a.parquet")
    assert tc.read(tmp_path / "a.parquet", apart=True).table.equals(table)


def test_errors_and_options_pass_through(tmp_path: Path) -> None:
    written(tmp_path, ".xlsx")
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    assert refusal(tmp_path / "b.parquet") == "b.parquet is cut off; check that it was saved or copied completely."
    with pytest.raises(TacitaError, match=r"a\.xlsx has no sheet 'no'; its sheets are 'data', 'variables'\."):
        tc.read(tmp_path / "a.xlsx", sheet="no", apart=True)
    assert tc.read(tmp_path / "a.xlsx", sheet="variables", apart=True).columns[0] == "variable"


def test_the_command_line_parses_no_such_file_itself(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("read in this process")

    monkeypatch.setattr(foreign, "load", never)
    for suffix in SUFFIXES:
        written(tmp_path, suffix)
        assert run("describe", f"a{suffix}")[0] == 0
    assert run("assess", "a.parquet", "--keys", "name", "--original", "a.sav", "--register", "a.dta")[0] == 0


def test_text_and_wrong_paths_need_no_process(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "Reader", None)
    Path("a.csv").write_text("age\n1\n2\n")
    assert run("describe", "a.csv")[0] == 0
    assert run("describe", "no.sav")[2] == "tacita: no.sav does not exist; check the path.\n"


DIES = """
import ctypes, os
load = r.foreign.load
def dies(file, *words, **options):
    if file.stem == "bad":
        {end}
    return load(file, *words, **options)
r.foreign.load = dies
"""


@pytest.mark.parametrize("end", ["os.abort()", "os._exit(3)", "ctypes.string_at(1)"])
def test_a_process_that_dies_is_one_sentence_and_the_next_file_is_read(
    run: Run, tmp_path: Path, serving: Callable[[str], None], end: str
) -> None:
    serving(DIES.format(end=end))
    written(tmp_path, ".sav").rename(tmp_path / "bad.sav")
    written(tmp_path, ".sav")
    code, out, err = run("describe", "bad.sav")
    assert (code, out) == (2, "")
    assert err.startswith("tacita: bad.sav is damaged, or cannot be read within ")
    assert err.endswith(" GB and 5 seconds; export it again, or as text.\n")
    assert len(err.splitlines()) == 1
    assert run("describe", "a.sav")[0] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="limits on the memory of data are Linux's")
@pytest.mark.parametrize("take", ["bytearray(3 * 2**30)", "__import__('numpy').ones(2**29)"])
def test_a_process_has_a_limit_on_memory(tmp_path: Path, serving: Callable[[str], None], take: str) -> None:
    serving(f"r.foreign.load = lambda *_, **__: {take}")
    written(tmp_path, ".sav")
    assert refusal(tmp_path / "a.sav") == "a.sav is damaged, or holds something that cannot be read; export it again."


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit for a process")
def test_a_process_has_a_limit_on_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serving: Callable[[str], None]
) -> None:
    monkeypatch.setattr(apart, "LEAST_SECONDS", 0)
    serving("import itertools; r.foreign.load = lambda *_, **__: all(itertools.repeat(1))")
    written(tmp_path, ".sav")
    assert "cannot be read within" in refusal(tmp_path / "a.sav")


def test_limits_grow_with_the_file_and_end_at_the_machine() -> None:
    assert apart.limits(0, memory=8 * apart.GIGABYTE) == (2 * apart.GIGABYTE, 5)
    assert apart.limits(10**9, memory=8 * apart.GIGABYTE).memory == 8 * apart.GIGABYTE * 4 // 5
    assert apart.limits(10**6, memory=8 * apart.GIGABYTE).seconds == 105
    assert apart.machine_memory() > 2**28


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_stop_ends_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]) -> None:
    """The answer to this question must not be taken for that to the next."""
    file = written(tmp_path, ".sav")
    seen: list[apart.Reader] = []

    def interrupted(self: apart.Reader, _: object) -> None:
        seen.append(self)
        raise stop

    with monkeypatch.context() as patch:
        patch.setattr(apart.Reader, "ask", interrupted)
        with pytest.raises(stop):
            tc.read(file, apart=True)
    assert seen[0].process.poll() is not None
    assert apart._waiting == []
    assert len(tc.read(file, apart=True)) == len(TABLE)


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
@pytest.mark.parametrize("delay", [0, 0.5])
def test_ctrl_c_while_a_file_is_read_is_one_sentence_and_leaves_no_process(tmp_path: Path, delay: float) -> None:
    file = written(tmp_path, ".sav")
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import tacita.apart as a, tacita.cli\n"
        "start = a.START.replace(' serve()', ' import time; print(1, flush=True); time.sleep(60)')\n"
        f"a.START = start; sys.argv = ['tacita', 'describe', {str(file)!r}]\n"
        "ask = a.Reader.ask\n"
        "a.Reader.ask = lambda self, q: (print(self.process.pid, flush=True), ask(self, q))[1]\n"
        "tacita.cli.main()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        reader = int(process.stdout.readline())
        # At any moment from here on: a signal just before the wait, or one after which Polars had the system go on
        # waiting, was heard only when the wait ended.
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err == b"tacita: stopped; nothing half-written is left.\n"
    with pytest.raises(ProcessLookupError):
        os.kill(reader, 0)


def test_a_process_waits_for_the_next_file(tmp_path: Path) -> None:
    file = written(tmp_path, ".sav")
    tc.read(file, apart=True)
    first = apart._waiting[0].process
    tc.read(file, apart=True)
    assert apart._waiting[0].process is first
    first.kill()
    first.wait()
    assert len(tc.read(file, apart=True)) == len(TABLE), "it died while it waited"


def test_a_folder_of_the_user_is_no_place_for_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, ".parquet")
    (tmp_path / "polars.py").write_text("raise SystemExit('run from the folder of the data')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert len(tc.read(file, apart=True)) == len(TABLE)


def test_what_foreign_code_prints_is_no_answer(tmp_path: Path, serving: Callable[[str], None]) -> None:
    serving(
        "import os; load = r.foreign.load; "
        "r.foreign.load = lambda *words, **more: (os.write(1, b'secret'), load(*words, **more))[1]"
    )
    assert len(tc.read(written(tmp_path, ".sav"), apart=True)) == len(TABLE)


# --- declared sizes, a first look ---


def workbook(folder: Path, change: Callable[[bytes], bytes], name: str = "xl/worksheets/sheet1.xml") -> Path:
    raw = written(folder, ".xlsx").read_bytes()
    content = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as new:
        for each in old.namelist():
            new.writestr(each, change(old.read(each)) if each == name else old.read(each))
    (folder / "b.xlsx").write_bytes(content.getvalue())
    return folder / "b.xlsx"


def far(sheet: bytes) -> bytes:
    return sheet.replace(b"</sheetData>", b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>')


def test_a_cell_in_the_last_corner_of_a_sheet(tmp_path: Path) -> None:
    """1.4 kB that asked for 512 GiB and ended the process; Python reads such a file apart without being asked."""
    file = workbook(tmp_path, far)
    assert refusal(file).startswith("b.xlsx is damaged, or cannot be read within ")
    declared = workbook(tmp_path, lambda sheet: far(sheet).replace(b'ref="A1:D5"', b'ref="A1:XFD1048576"'))
    with pytest.raises(TacitaError) as error:
        tc.read(declared)
    assert str(error.value) == (
        "b.xlsx says that it holds 1,048,576 records of 16,384 variables, more than a file of its size "
        "can; export it again, without what stands far from the data."
    )


def test_a_workbook_that_unpacks_to_very_much(tmp_path: Path) -> None:
    file = workbook(tmp_path, lambda sheet: sheet + b" " * (1 << 26))
    assert foreign.looks_odd(file, "excel")
    # It is blank: nothing keeps it from being read, in a process that has a limit.
    assert len(tc.read(file)) == len(TABLE)
    assert apart._waiting != []


def test_a_first_look_at_honest_files_finds_nothing(tmp_path: Path) -> None:
    kinds = {".parquet": "parquet", ".arrow": "arrow", ".xlsx": "excel"}
    for suffix in SUFFIXES:
        assert not foreign.looks_odd(written(tmp_path, suffix), kinds.get(suffix, "statistical"))


@pytest.mark.parametrize(("suffix", "at"), [(".sav", 80), (".sav", 68), (".parquet", -8), (".arrow", -10)])
def test_a_first_look_at_sizes_that_cannot_be(tmp_path: Path, suffix: str, at: int) -> None:
    file = written(tmp_path, suffix)
    raw = bytearray(file.read_bytes())
    raw[at : at + 4] = (0x7FFFFFFF).to_bytes(4, "little")
    file.write_bytes(raw)
    assert foreign.looks_odd(file, {".sav": "statistical"}.get(suffix, suffix[1:]))
    with suppress(TacitaError):
        tc.read(file)
    assert len(apart._waiting) == 1, "it was read apart without being asked for"


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="the sizes are those of 64 bits")
def test_the_limits_of_windows_have_their_size() -> None:
    assert ctypes.sizeof(ExtendedLimits) == 144
    assert ExtendedLimits.process_memory.offset == 112
