"""Files and folders that are either complete or not there.

Everything is written beside its place under a hidden name, forced to disk, and then renamed, so that a crash never
leaves half a file under the name that others read: half a release would be published without anyone noticing.
A killed process may leave the hidden `.tacita-*.part` behind, never a damaged output.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tacita import check
from tacita.check import TacitaError


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
    name, target = _place(path, "file", overwrite)
    with _said_of(name):
        beside = _beside(target)
        try:
            beside.touch(exist_ok=False)
            yield beside
            if overwrite and target.exists():
                beside.chmod(stat.S_IMODE(target.stat().st_mode))
            _to_disk(beside)
            _move_file(beside, target, name, overwrite)
            _to_disk(target.parent)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)


@contextmanager
def new_folder(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """A folder to write into; it takes the place of `path` once the block ends without an error.

    An existing folder is replaced as a whole, and only if everything at its top level is written anew: a folder with
    other things in it is not ours to delete. Between the two renames of such a replacement a kill leaves the old
    folder, complete, under its hidden name.
    """
    name, target = _place(path, "folder", overwrite)
    with _said_of(name):
        beside = _beside(target)
        try:
            beside.mkdir()
            yield beside
            for folder, _, files in os.walk(beside, topdown=False):
                for file in files:
                    _to_disk(Path(folder) / file)
                _to_disk(Path(folder))
            _move_folder(beside, target, name, overwrite)
            _to_disk(target.parent)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


@contextmanager
def _said_of(name: str) -> Iterator[None]:
    """The system's refusals in our words."""
    try:
        yield
    except PermissionError:
        raise TacitaError(
            f"no permission to write {name}; check the rights of its folder and that no other program has it open."
        ) from None
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the system refused"
        raise TacitaError(f"{name} could not be written ({reason}); nothing was changed.") from None


def _place(path: str | os.PathLike[str], kind: str, overwrite: bool) -> tuple[str, Path]:
    """What messages call the output, and its place: what a link points to is replaced, not the link."""
    target = Path(os.path.realpath(path))
    given = Path(path).name or target.name
    name = given if kind == "file" else f"folder {given!r}"
    with _said_of(name):
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


def check_free(path: str | os.PathLike[str], *, overwrite: bool = False, kind: str = "folder") -> None:
    """Refuse a folder (or a file, by `kind`) that could not be written, before the work whose results it is to hold."""
    _place(path, kind, overwrite)


def _beside(target: Path) -> Path:
    # Not built from the target's name, which may already be as long as names can be.
    return target.parent / f".tacita-{secrets.token_hex(8)}.part"


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


def _move_folder(beside: Path, target: Path, name: str, overwrite: bool) -> None:
    if not target.exists():
        beside.rename(target)
        return
    if not overwrite:
        raise _exists(name)
    foreign = sorted({each.name for each in target.iterdir()} - {each.name for each in beside.iterdir()})
    if foreign:
        raise TacitaError(
            f"{name} also holds {check.quoted(foreign, most=3)}, which replacing it would delete; "
            "choose another folder."
        )
    old = _beside(target)
    target.rename(old)
    try:
        beside.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
