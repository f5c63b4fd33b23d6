"""Files and folders that are either complete or not there.

Everything is written beside its place under a hidden name, forced to disk, and then renamed, so that a crash never
leaves half a file under the name that others read: half a release would be published without anyone noticing.
A killed process may leave the hidden `.tacita-*.part` behind, never a damaged output, and the next run removes it.

Nobody else can read what is being written. In a folder, what lies under `internal` (or `not_for_publication`) stays
closed to others whatever the umask, and a list of all files, in `internal/files.txt`, says which of them may be
removed when the folder is replaced.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tacita import check
from tacita.check import TacitaError
from tacita.leftovers import clear_leftovers, hidden_old, hidden_part, released

INTERNAL = "internal"
"""The folder of what never leaves the office."""
NOT_FOR_PUBLICATION = "not_for_publication"
"""The folder of released data that do not keep the policy."""
FILES = f"{INTERNAL}/files.txt"
"""The list of the files of a folder, in the folder."""
OFFICE_ONLY = "for internal use only"
"""How the first line of every file begins that never leaves the office."""


@contextmanager
def new_file(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """A path to write to; it takes the place of `path` once the block ends without an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with new_file(Path(folder) / "release.csv") as beside:
    ...         _ = beside.write_text("a,b")
    ...     [each.name for each in Path(folder).iterdir()]
    ['release.csv']
    """
    name, target = _checked_target(path, "file", overwrite)
    with _plain_os_errors(name):
        beside = hidden_part(target)
        try:
            beside.touch(exist_ok=False)
            usual = stat.S_IMODE(beside.stat().st_mode)
            _set_mode(beside, 0o600)
            yield beside
            _set_mode(beside, stat.S_IMODE(target.stat().st_mode) if overwrite and target.exists() else usual)
            _to_disk(beside)
            _move_file(beside, target, name, overwrite)
            _to_disk(target.parent)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            released(beside)


@contextmanager
def new_folder(
    path: str | os.PathLike[str], *, overwrite: bool = False, inputs: Iterable[str | os.PathLike[str]] = ()
) -> Iterator[Path]:
    """A folder to write into; it takes the place of `path` once the block ends without an error.

    An existing folder is replaced as a whole, and only if all files in it are on its own list of what was written and
    none of them is one of `inputs`: anything else is not ours to delete. Between the two renames of such a replacement
    a kill leaves the old folder, complete, under a hidden name, and the next run gives it its name back.
    """
    name, target = _checked_target(path, "folder", overwrite)
    _check_replaceable(name, target, inputs)
    with _plain_os_errors(name):
        beside = hidden_part(target)
        try:
            private_folder(beside)
            usual = _usual_mode(beside)
            yield beside
            _list_files(beside)
            _restrict_access(beside)
            for folder, _, files in os.walk(beside, topdown=False):
                for file in files:
                    _to_disk(Path(folder) / file)
                _to_disk(Path(folder))
            _set_mode(beside, usual)
            _move_folder(beside, target, name, overwrite, inputs)
            _to_disk(target.parent)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
            released(beside)


def _usual_mode(folder: Path) -> int:
    """The mode that a new folder gets here: asking for the umask would change it for a moment, in every thread."""
    probe = folder / ".mode"
    probe.mkdir()
    mode = stat.S_IMODE(probe.stat().st_mode)
    probe.rmdir()
    return mode


def _set_mode(path: Path, mode: int) -> None:
    """Set the access mode of a path; on Windows, which has no such modes, the rights of the folder above hold."""
    if os.name != "nt":
        path.chmod(mode)


def private_folder(path: Path) -> Path:
    """A folder, made if need be, that only its owner can look into."""
    path.mkdir(mode=0o700, exist_ok=True)
    _set_mode(path, 0o700)
    return path


def private_file(path: Path) -> Path:
    """Close a file to everybody but its owner, such as one that says which record is which."""
    _set_mode(path, 0o600)
    return path


def _restrict_access(folder: Path) -> None:
    """Let only the owner read what lies under `internal` or `not_for_publication`."""
    for parent, _, files in os.walk(folder):
        inside = Path(parent).relative_to(folder).parts
        if {INTERNAL, NOT_FOR_PUBLICATION}.intersection(inside):
            _set_mode(Path(parent), 0o700)
            for file in files:
                _set_mode(Path(parent) / file, 0o600)


def _list_files(folder: Path) -> None:
    """Write the list of all files, which decides what a later run may remove."""
    private_folder(folder / INTERNAL)
    names = sorted({*_all_files(folder), FILES})
    note = f"# {OFFICE_ONLY}: the files that were written here; only these are removed when the folder is replaced"
    (folder / FILES).write_text("\n".join([note, *names]) + "\n", encoding="utf-8", errors="surrogateescape")


def _all_files(folder: Path) -> list[str]:
    """Everything in a folder that is not itself a folder with something in it, by its path from there."""
    found = []
    for parent, folders, files in os.walk(folder):
        here = Path(parent).relative_to(folder)
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        found += [(here / name).as_posix() for name in (*files, *links)]
        if not folders and not files and parent != str(folder):
            found.append(here.as_posix())
    return found


def _check_replaceable(name: str, target: Path, inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse to replace a folder with files in it that no run listed, or that are inputs of this one."""
    if not target.is_dir():
        return
    listed: set[str] = set()
    with suppress(OSError):
        listed = set((target / FILES).read_text(encoding="utf-8", errors="surrogateescape").splitlines())
    unlisted = sorted(set(_all_files(target)) - listed)
    if unlisted:
        raise TacitaError(
            f"{name} also holds {check.quoted(unlisted, most=3)}, which replacing it would delete and Tacita did not "
            "write; move that away, or choose another folder."
        )
    real = [Path(os.path.realpath(each)) for each in inputs]
    used = [each.relative_to(target).as_posix() for each in real if each.is_relative_to(target) and each.exists()]
    if used:
        raise TacitaError(
            f"{name} holds {check.quoted(used, most=3)}, which this run reads and replacing the folder would delete; "
            "choose another folder."
        )


@contextmanager
def _plain_os_errors(name: str) -> Iterator[None]:
    """Turn errors of the operating system into one plain sentence."""
    try:
        yield
    except PermissionError:
        raise TacitaError(
            f"no permission to write {name}; check the rights of its folder and that no other program has it open."
        ) from None
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the system refused"
        raise TacitaError(f"{name} could not be written ({reason}); nothing was changed.") from None


def _checked_target(path: str | os.PathLike[str], kind: str, overwrite: bool) -> tuple[str, Path]:
    """What messages call the output, and the path to write to: the target of a link, not the link."""
    target = Path(os.path.realpath(path))
    given = Path(path).name or target.name
    name = given if kind == "file" else f"folder {given!r}"
    with _plain_os_errors(name):
        clear_leftovers(target)
        if not target.parent.is_dir():
            raise TacitaError(
                f"{name} cannot be written because there is no folder {target.parent.name!r} to hold it; create that "
                "first."
            )
        if target.is_dir() and kind == "file":
            raise TacitaError(f"{name} is a folder; give the path of a file.")
        if target.exists() and not target.is_dir() and kind == "folder":
            raise TacitaError(f"{given} is a file; give the path of a folder.")
        if target.exists() and not overwrite:
            raise _exists(name)
    return name, target


def _exists(name: str) -> TacitaError:
    return TacitaError(f"{name} exists already; choose another name, or overwrite=True (--overwrite) to replace it.")


def check_free(
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    kind: str = "folder",
    inputs: Iterable[str | os.PathLike[str] | None] = (),
) -> None:
    """Refuse a folder (or a file, by `kind`) that could not be written, before the work whose results it is to hold.

    `inputs` are files that the work reads, None where there is none: they are never deleted.
    """
    name, target = _checked_target(path, kind, overwrite)
    if kind == "folder":
        _check_replaceable(name, target, [each for each in inputs if each is not None])


def _to_disk(path: Path) -> None:
    if path.is_symlink() or (path.is_dir() and os.name == "nt"):
        # Windows has no handle for a folder; its renames are journalled.
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _move_file(beside: Path, target: Path, name: str, overwrite: bool) -> None:
    if overwrite:
        beside.replace(target)
        return
    try:
        # The file may have appeared while we were writing. On Windows a rename refuses to replace it, elsewhere only
        # a link does, and not every file system has links.
        if os.name == "nt":
            beside.rename(target)
        else:
            target.hardlink_to(beside)
    except OSError:
        if target.exists():
            raise _exists(name) from None
        beside.replace(target)


def _move_folder(
    beside: Path, target: Path, name: str, overwrite: bool, inputs: Iterable[str | os.PathLike[str]]
) -> None:
    if not target.exists():
        beside.rename(target)
        return
    if not overwrite:
        raise _exists(name)
    # Somebody may have put a file there while we were writing.
    _check_replaceable(name, target, inputs)
    old = hidden_old(target)
    try:
        target.rename(old)
        beside.rename(target)
    except BaseException:
        # Refused, or stopped between the two.
        if old.exists() and not target.exists():
            old.rename(target)
        raise
    finally:
        released(old)
    shutil.rmtree(old, ignore_errors=True)
