"""Damaged files end in a table or in one sentence; `make fuzz` tries many more of them."""

import os
import zipfile
import zlib
from pathlib import Path

import pytest
from fuzz.files import cases, main, report
from fuzz.mutations import FORMATS, damaged, small_files

COUNT = 56
"""Of each format: about 500 in all."""


@pytest.mark.fuzz
@pytest.mark.parametrize("form", FORMATS)
def test_damaged_files_end_in_a_table_or_a_sentence(form: str) -> None:
    found = list(cases(form, 0, COUNT))
    assert [case.seed for case in found] == list(range(COUNT))
    wrong = [(case.seed, case.end, case.said) for case in found if not case.good]
    assert wrong == [], report(form, found)
    ends = {case.end for case in found}
    assert ends == {"table", "sentence"}, "some files must be damaged, and some of those must still be read"


def test_the_same_seed_damages_in_the_same_way(tmp_path: Path) -> None:
    for form in FORMATS:
        files = small_files(tmp_path, form)
        assert files == small_files(tmp_path, form), "files that are written are repeatable"
        assert [damaged(files, form, seed) for seed in range(9)] == [damaged(files, form, seed) for seed in range(9)]


def test_workbooks_are_damaged_behind_their_packing(tmp_path: Path) -> None:
    """Otherwise all that is tried is whether the archive is one."""
    files = small_files(tmp_path, "xlsx")
    whole = 0
    for seed in range(40):
        (tmp_path / "a.xlsx").write_bytes(damaged(files, "xlsx", seed))
        try:
            with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
                whole += archive.testzip() is None
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError):
            continue
    assert whole >= 5


def test_a_fault_is_found_and_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A reader that dies, hangs, raises or says a cell is noticed: the program ends with 1."""
    from fuzz import files

    faults = [("table", ""), ("death", ""), ("hang", ""), ("traceback", "Traceback"), ("cell", "it said Zanzibar")]
    told = [files.Case("csv", seed, end, said, 0.1) for seed, (end, said) in enumerate(faults)]
    monkeypatch.setattr(files, "cases", lambda *_: iter(told))
    monkeypatch.setattr("sys.argv", ["fuzz", "--count", "5", "--format", "csv"])
    assert main() == 1
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()] == ["csv:", "death", "hang", "traceback", "cell"]
    monkeypatch.setattr(files, "cases", lambda *_: iter(told[:1]))
    assert main() == 0


@pytest.mark.parametrize(
    ("code", "end"),
    [("import os; os._exit(1)", "death"), ("raise KeyError('x')", "traceback"), ("print('no')", "table")],
)
def test_how_a_case_ends_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str, end: str) -> None:
    """With a command that is broken on purpose."""
    from fuzz import files

    hook = tmp_path / "sitecustomize.py"
    hook.write_text(
        "import sys\n"
        "if '--work' in sys.argv or 'fuzz.files' in ' '.join(sys.orig_argv):\n"
        "    import tacita.cli\n"
        f"    def broken():\n        {code}\n"
        "    tacita.cli.main = broken\n"
    )
    root = Path(files.__file__).parents[1]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (tmp_path, root, root / "src"))))
    assert [case.end for case in cases("csv", 0, 1)] == [end]
