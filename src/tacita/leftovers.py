"""Hidden names under which outputs are written, and what killed processes left under them.

A hidden name says which process it belongs to, so that the next run can tell what is still being written from what
nobody will ever finish: `.tacita-HOST-PROCESS-TOKEN.part`. Where a folder is being replaced, the old one waits under
`.tacita-HOST-PROCESS-TOKEN-TARGET.old` until the new one has its name.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import shutil
import sys
from contextlib import suppress
from pathlib import Path

NAME = re.compile(
    r"\.tacita-(?P<host>[0-9a-f]{8})-(?P<process>\d+)-[0-9a-f]{16}(?:-(?P<target>[0-9a-f]{8})\.old|\.part)"
)

_names_in_use: dict[str, Path] = {}
"""Hidden names that this process is using, with their targets: another may have had the same number before."""


def hidden_part(target: Path) -> Path:
    """A new hidden name beside a target, for what will become it."""
    # Not built from the target's own name, which may already be as long as names can be.
    return _reserved(target, ".part")


def hidden_old(target: Path) -> Path:
    """A new hidden name for what the target was."""
    return _reserved(target, f"-{_short(target.name)}.old")


def _reserved(target: Path, ending: str) -> Path:
    name = f".tacita-{_host()}-{os.getpid()}-{secrets.token_hex(8)}{ending}"
    _names_in_use[name] = target
    return target.parent / name


def released(path: Path) -> None:
    """Say that a hidden name is no longer in use."""
    _names_in_use.pop(path.name, None)


def clear_leftovers(target: Path) -> None:
    """Remove hidden parts beside a target that belong to no living process of this machine.

    An old folder whose replacement never came is given its name back: it is complete, and perhaps the only copy.
    """
    try:
        with os.scandir(target.parent) as entries:
            names = [entry.name for entry in entries if entry.name.startswith(".tacita-")]
    except OSError:
        return
    for name in names:
        found = NAME.fullmatch(name)
        if found is None or found["host"] != _host() or _in_use(name, int(found["process"])):
            continue
        path = target.parent / name
        if found["target"] is None:
            _removed(path)
        elif found["target"] == _short(target.name):
            if target.exists():
                _removed(path)
            else:
                with suppress(OSError):
                    path.rename(target)


def clear_own() -> None:
    """Remove what this process was writing when it was stopped.

    A signal that comes between opening a file and the block that writes it keeps that block from clearing up.
    """
    targets = set(_names_in_use.values())
    _names_in_use.clear()
    for target in targets:
        clear_leftovers(target)


def _removed(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _in_use(name: str, process: int) -> bool:
    return name in _names_in_use if process == os.getpid() else _is_alive(process)


def _is_alive(process: int) -> bool:
    """Whether a process of this number runs; yes where the system does not say."""
    if sys.platform == "win32":
        # os.kill would end it there, whatever the signal.
        import ctypes

        handle = ctypes.windll.kernel32.OpenProcess(0x100000, False, process)
        if not handle:
            return False
        waiting = ctypes.windll.kernel32.WaitForSingleObject(handle, 0)
        ctypes.windll.kernel32.CloseHandle(handle)
        return bool(waiting == 258)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _host() -> str:
    """This machine, or container: the numbers of processes mean something there only."""
    space = ""
    with suppress(OSError):
        space = str(Path("/proc/self/ns/pid").stat().st_ino)
    return _short(f"{platform.node()} {space}")


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
