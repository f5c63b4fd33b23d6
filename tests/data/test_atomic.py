"""Outputs are complete or not there."""

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tacita.check import TacitaError
from tacita.data import atomic


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def refusal(action) -> str:
    with pytest.raises(TacitaError) as caught:
        action()
    return str(caught.value)


def put_file(path, content="new", **options):
    with atomic.new_file(path, **options) as beside:
        beside.write_text(content)


def put_folder(path, contents=None, **options):
    with atomic.new_folder(path, **options) as beside:
        for name, content in (contents or {"public/a.csv": "new"}).items():
            (beside / name).parent.mkdir(parents=True, exist_ok=True)
            (beside / name).write_text(content)


def test_a_file_appears_only_when_complete(tmp_path):
    with atomic.new_file(tmp_path / "a.csv") as beside:
        beside.write_text("whole")
        assert beside.parent == tmp_path
        assert not (tmp_path / "a.csv").exists()
    assert names(tmp_path) == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "whole"


def test_an_existing_file_is_refused_before_any_work(tmp_path):
    (tmp_path / "a.csv").write_text("old")
    worked = []

    def action():
        with atomic.new_file(tmp_path / "a.csv"):
            worked.append(1)

    assert (
        refusal(action) == "a.csv exists already; choose another name, or overwrite=True (--overwrite) to replace it."
    )
    assert (worked, names(tmp_path), (tmp_path / "a.csv").read_text()) == ([], ["a.csv"], "old")


def test_overwrite_keeps_the_rights_of_the_old_file(tmp_path):
    (tmp_path / "a.csv").write_text("old")
    (tmp_path / "a.csv").chmod(0o600)
    put_file(tmp_path / "a.csv", overwrite=True)
    assert (tmp_path / "a.csv").read_text() == "new"
    if os.name != "nt":
        assert stat.S_IMODE((tmp_path / "a.csv").stat().st_mode) == 0o600
    put_file(tmp_path / "b.csv", overwrite=True)
    assert names(tmp_path) == ["a.csv", "b.csv"]


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    def action():
        with atomic.new_file(tmp_path / "a.csv") as beside:
            beside.write_text("new")
            (tmp_path / "a.csv").write_text("someone else's")

    assert (
        refusal(action) == "a.csv exists already; choose another name, or overwrite=True (--overwrite) to replace it."
    )
    assert (names(tmp_path), (tmp_path / "a.csv").read_text()) == (["a.csv"], "someone else's")


def test_without_hard_links(tmp_path, monkeypatch):
    def no_links(self, target):
        raise OSError(errno.EPERM, "not here")

    monkeypatch.setattr(Path, "hardlink_to", no_links)
    put_file(tmp_path / "a.csv")
    assert (names(tmp_path), (tmp_path / "a.csv").read_text()) == (["a.csv"], "new")


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt])
def test_a_fault_midway_leaves_the_old_file_and_nothing_else(tmp_path, fault):
    (tmp_path / "a.csv").write_text("old")
    with pytest.raises(fault), atomic.new_file(tmp_path / "a.csv", overwrite=True) as beside:
        beside.write_text("hal")
        raise fault
    assert (names(tmp_path), (tmp_path / "a.csv").read_text()) == (["a.csv"], "old")


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    put_file(tmp_path / "link.csv", overwrite=True)
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "new"


def test_places_that_cannot_be(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file").write_text("old")
    assert refusal(lambda: put_file(tmp_path / "folder.csv", overwrite=True)) == (
        "folder.csv is a folder; give the path of a file."
    )
    assert refusal(lambda: put_folder(tmp_path / "file", overwrite=True)) == (
        "file is a file; give the path of a folder."
    )
    assert refusal(lambda: put_file(tmp_path / "nowhere" / "a.csv")) == (
        "a.csv cannot be written because there is no folder 'nowhere' to hold it; create that first."
    )
    assert refusal(lambda: put_folder(tmp_path / "nowhere" / "out")) == (
        "folder 'out' cannot be written because there is no folder 'nowhere' to hold it; create that first."
    )


def test_the_longest_name_is_possible(tmp_path):
    put_file(tmp_path / ("a" * 251 + ".csv"))
    assert names(tmp_path) == ["a" * 251 + ".csv"]


def test_a_longer_name_is_refused_in_our_words(tmp_path):
    long = "a" * 300
    reason = f"could not be written ({os.strerror(errno.ENAMETOOLONG)}); nothing was changed."
    assert refusal(lambda: put_file(tmp_path / long)) == f"{long} {reason}"
    assert refusal(lambda: put_folder(tmp_path / long)) == f"folder {long!r} {reason}"
    assert refusal(lambda: atomic.check_free(tmp_path / long)) == f"folder {long!r} {reason}"
    assert names(tmp_path) == []


def test_refusals_of_the_system(tmp_path, monkeypatch):
    def forbidden(self, *_, **__):
        raise PermissionError(errno.EACCES, "no")

    def full(handle):
        raise OSError(errno.ENOSPC, "secret")

    monkeypatch.setattr(Path, "touch", forbidden)
    assert refusal(lambda: put_file(tmp_path / "a.csv")) == (
        "no permission to write a.csv; check the rights of its folder and that no other program has it open."
    )
    monkeypatch.undo()
    monkeypatch.setattr(os, "fsync", full)
    assert refusal(lambda: put_file(tmp_path / "a.csv")) == (
        f"a.csv could not be written ({os.strerror(errno.ENOSPC)}); nothing was changed."
    )
    assert refusal(lambda: put_folder(tmp_path / "out")) == (
        f"folder 'out' could not be written ({os.strerror(errno.ENOSPC)}); nothing was changed."
    )
    assert names(tmp_path) == []


def test_a_folder_appears_only_when_complete(tmp_path):
    with atomic.new_folder(tmp_path / "out") as beside:
        (beside / "public").mkdir()
        (beside / "public" / "a.csv").write_text("whole")
        assert not (tmp_path / "out").exists()
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "public" / "a.csv").read_text() == "whole"


def test_an_existing_folder_is_replaced_as_a_whole_or_refused(tmp_path):
    put_folder(tmp_path / "out", {"public/a.csv": "old", "public/gone.csv": "old"})
    assert refusal(lambda: put_folder(tmp_path / "out")) == (
        "folder 'out' exists already; choose another name, or overwrite=True (--overwrite) to replace it."
    )
    assert (tmp_path / "out" / "public" / "a.csv").read_text() == "old"
    put_folder(tmp_path / "out", {"public/a.csv": "new", "internal/log": "new"}, overwrite=True)
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["internal", "public"]
    assert names(tmp_path / "out" / "public") == ["a.csv"]


def not_ours(*files: str) -> str:
    return (
        f"folder 'out' also holds {', '.join(map(repr, files))}, which replacing it would delete and Tacita did not "
        "write; move that away, or choose another folder."
    )


@pytest.mark.parametrize(
    "name", ["thesis.docx", "public/thesis.docx", "internal/thesis.docx", "public/a/b/thesis.docx"]
)
def test_a_folder_with_other_things_in_it_is_not_deleted(tmp_path, name):
    put_folder(tmp_path / "out", {"public/a.csv": "old", "internal/seed.txt": "old"})
    added = tmp_path / "out" / name
    added.parent.mkdir(parents=True, exist_ok=True)
    added.write_text("years of work")
    refused = not_ours(name)
    assert refusal(lambda: put_folder(tmp_path / "out", overwrite=True)) == refused
    assert refusal(lambda: atomic.check_free(tmp_path / "out", overwrite=True)) == refused
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "public" / "a.csv").read_text() == "old"
    assert added.read_text() == "years of work"
    added.unlink()
    if name.count("/") == 3:
        # What is left are folders without a file in them, and somebody made them.
        assert refusal(lambda: put_folder(tmp_path / "out", overwrite=True)) == not_ours("public/a/b")
        added.parent.rmdir()
        added.parent.parent.rmdir()
    put_folder(tmp_path / "out", overwrite=True)
    assert (tmp_path / "out" / "public" / "a.csv").read_text() == "new"


def test_a_folder_that_no_run_listed_is_not_deleted(tmp_path):
    (tmp_path / "out").mkdir()
    put_folder(tmp_path / "out", {"public/a.csv": "new"}, overwrite=True)
    (tmp_path / "out" / "internal" / "files.txt").unlink()
    assert refusal(lambda: put_folder(tmp_path / "out", overwrite=True)) == not_ours("internal", "public/a.csv")


def test_a_file_that_appears_in_the_folder_meanwhile_is_kept(tmp_path):
    put_folder(tmp_path / "out", {"public/a.csv": "old"})

    def action():
        with atomic.new_folder(tmp_path / "out", overwrite=True) as beside:
            (beside / "b.csv").write_text("new")
            (tmp_path / "out" / "public" / "theirs.csv").write_text("theirs")

    assert refusal(action) == not_ours("public/theirs.csv")
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out" / "public") == ["a.csv", "theirs.csv"]


def test_an_input_is_not_deleted(tmp_path):
    put_folder(tmp_path / "out", {"public/a.csv": "old", "internal/seed.txt": "old"})
    inputs = [tmp_path / "out" / "internal" / "seed.txt", tmp_path / "elsewhere.csv", None]
    refused = (
        "folder 'out' holds 'internal/seed.txt', which this run reads and replacing the folder would delete; choose "
        "another folder."
    )
    assert refusal(lambda: atomic.check_free(tmp_path / "out", overwrite=True, inputs=inputs)) == refused
    assert refusal(lambda: put_folder(tmp_path / "out", overwrite=True, inputs=inputs[:2])) == refused
    assert (tmp_path / "out" / "internal" / "seed.txt").read_text() == "old"
    atomic.check_free(tmp_path / "other", overwrite=True, inputs=inputs)


def mode(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


@pytest.mark.skipif(os.name == "nt", reason="no modes on Windows")
@pytest.mark.parametrize("umask", [0o000, 0o007, 0o022, 0o077])
def test_what_is_internal_is_closed_to_others_whatever_the_umask(tmp_path, umask):
    contents = {"public/a.csv": "", "internal/seed.txt": "", "risk/internal/deep/records.csv": "", "note.txt": ""}
    before = os.umask(umask)
    try:
        with atomic.new_folder(tmp_path / "out") as beside:
            assert mode(beside) == "0o700"
            with atomic.new_file(tmp_path / "a.csv") as part:
                assert mode(part) == "0o600"
            for name in contents:
                (beside / name).parent.mkdir(parents=True, exist_ok=True)
                (beside / name).parent.chmod(0o777)
                (beside / name).write_text("secret")
                (beside / name).chmod(0o644)
    finally:
        os.umask(before)
    out = tmp_path / "out"
    for folder in ("internal", "risk/internal", "risk/internal/deep"):
        assert mode(out / folder) == "0o700"
    for file in ("internal/seed.txt", "internal/files.txt", "risk/internal/deep/records.csv"):
        assert mode(out / file) == "0o600"
    assert mode(out) == oct(0o777 & ~umask)
    assert mode(tmp_path / "a.csv") == oct(0o666 & ~umask)
    assert mode(out / "public" / "a.csv") == mode(out / "note.txt") == "0o644"


def test_a_folder_that_appears_meanwhile_is_kept(tmp_path):
    def action():
        with atomic.new_folder(tmp_path / "out"):
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "theirs").write_text("theirs")

    assert (
        refusal(action)
        == "folder 'out' exists already; choose another name, or overwrite=True (--overwrite) to replace it."
    )
    assert (names(tmp_path), names(tmp_path / "out")) == (["out"], ["theirs"])


def test_a_fault_midway_leaves_the_old_folder_and_nothing_else(tmp_path):
    put_folder(tmp_path / "out", {"public/a.csv": "old"})
    with pytest.raises(RuntimeError), atomic.new_folder(tmp_path / "out", overwrite=True) as beside:
        (beside / "public").mkdir()
        raise RuntimeError
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "public" / "a.csv").read_text() == "old"


def test_a_failed_rename_puts_the_old_folder_back(tmp_path, monkeypatch):
    put_folder(tmp_path / "out", {"public/a.csv": "old"})
    rename, calls = Path.rename, []

    def second_fails(self, target):
        calls.append(target)
        if len(calls) == 2:
            raise OSError(errno.EIO, "no")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", second_fails)
    assert refusal(lambda: put_folder(tmp_path / "out", overwrite=True)) == (
        f"folder 'out' could not be written ({os.strerror(errno.EIO)}); nothing was changed."
    )
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "public" / "a.csv").read_text() == "old"


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL on Windows")
def test_a_killed_process_leaves_the_old_file(tmp_path):
    (tmp_path / "a.csv").write_text("old")
    program = (
        "import os, signal, sys\n"
        "from tacita.data import atomic\n"
        "with atomic.new_file(sys.argv[1], overwrite=True) as beside:\n"
        "    beside.write_text('hal')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "a.csv")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "a.csv").read_text() == "old"
    left = [name for name in names(tmp_path) if name != "a.csv"]
    assert len(left) == 1
    assert left[0].startswith(".tacita-")
    assert mode(tmp_path / left[0]) == "0o600"
    # Whatever is written next to it: what belongs to no living process goes.
    put_file(tmp_path / "b.csv")
    assert names(tmp_path) == ["a.csv", "b.csv"]


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL on Windows")
def test_what_others_are_writing_is_left_alone(tmp_path):
    program = (
        "import sys\n"
        "from tacita.data import atomic\n"
        "with atomic.new_folder(sys.argv[1]) as beside:\n"
        "    (beside / 'a.csv').write_text('hal')\n"
        "    print('writing', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    words = [sys.executable, "-c", program, str(tmp_path / "out")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"writing\n"
        # Of another machine, and of an earlier version: nobody here can tell whether somebody writes it.
        for name in (".tacita-00000000-1-0123456789abcdef.part", ".tacita-0123456789abcdef.part", ".tacita-notes"):
            (tmp_path / name).touch()
        put_file(tmp_path / "a.csv")
        assert len(names(tmp_path)) == 5
        other.communicate(b"")
    assert other.returncode == 0
    assert (tmp_path / "out" / "a.csv").read_text() == "hal"
    assert len(names(tmp_path)) == 5


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL on Windows")
@pytest.mark.parametrize("renames", [1, 2])
def test_a_kill_between_two_renames_loses_no_folder(tmp_path, renames):
    put_folder(tmp_path / "out", {"public/a.csv": "old"})
    program = (
        "import os, signal, shutil, sys\n"
        "from pathlib import Path\n"
        "from tacita.data import atomic\n"
        "rename, calls = Path.rename, []\n"
        "def killed(self, target):\n"
        "    done = rename(self, target)\n"
        "    calls.append(target)\n"
        "    if len(calls) == int(sys.argv[2]):\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return done\n"
        "Path.rename = killed\n"
        "with atomic.new_folder(sys.argv[1], overwrite=True) as beside:\n"
        "    (beside / 'public').mkdir()\n"
        "    (beside / 'public' / 'a.csv').write_text('new')\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "out"), str(renames)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert names(tmp_path) != ["out"]
    assert "exists already" in refusal(lambda: atomic.check_free(tmp_path / "out"))
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "public" / "a.csv").read_text() == ("old" if renames == 1 else "new")
