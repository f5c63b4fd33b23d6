"""Machine code kept on disk for as long as everything that it was made of is the same.

Numba's own cache goes by the file that a function is in. A loop also holds the code of the loops it calls and the
constants it reads, which may be in other files: it would go on as they were yesterday. Here the key is a digest of the
function and of all that it reaches, so that a changed comment or another function of the file recompiles nothing.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numba
from numba.core import caching

Base: Any = caching.FunctionCache
FileBase: Any = caching.IndexDataCacheFile


def cache_of(function: Callable[..., Any]) -> Any:
    """A cache of a function; None where there is no folder that could be written to.

    Nor is there one for a function that is in no file.
    """
    try:
        return Cache(function)
    except (RuntimeError, OSError):
        return None


class Cache(Base):  # type: ignore[misc]
    """Numba's cache by the digest of what a function reaches; what cannot be read or written is compiled anew."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = CacheFile(self._cache_path, self._impl.filename_base, "")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for types of arguments; None if none is kept that is still valid."""
        # Worked out now: when the function was defined, those that it calls need not have been.
        self._cache_file.stamp(self._py_func)
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            # Damaged, or written by another version: reading can raise anything.
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code, unless the disk is full or the folder closed."""
        with suppress(OSError):
            super().save_overload(sig, data)


class CacheFile(FileBase):  # type: ignore[misc]
    """An index and its files of machine code, each with the digest that it was made under.

    Numba writes the index first: if the disk is then full, it points to a file of former times.
    """

    _source_stamp: str

    def stamp(self, function: Callable[..., Any]) -> None:
        """Take note of what the function reaches, once."""
        self._source_stamp = self._source_stamp or digest(function)

    def _save_data(self, name: str, data: Any) -> None:
        super()._save_data(name, (self._source_stamp, data))

    def _load_data(self, name: str) -> Any:
        stamp, data = super()._load_data(name)
        return data if stamp == self._source_stamp else None

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:
            # A damaged index would otherwise be in the way for ever.
            return {}


def digest(function: Callable[..., Any]) -> str:
    """A digest of a function, of the compiled functions that it calls and of the constants that it reads."""
    found = hashlib.sha256(numba.__version__.encode())
    for piece in _reached(function, set()):
        found.update(piece.encode("utf-8", "surrogatepass") + b"\0")
    return found.hexdigest()


def _reached(function: Callable[..., Any], seen: set[int]) -> Iterator[str]:
    if id(function) in seen:
        return
    seen.add(id(function))
    names: dict[str, None] = {}
    yield from _words(function.__code__, names)
    yield repr(function.__defaults__)
    known = function.__globals__
    for name in names:
        if name in known:
            yield name
            yield from _words_of(known[name], names, seen)
    for cell in function.__closure__ or ():
        yield from _words_of(cell.cell_contents, names, seen)


def _words(code: types.CodeType, names: dict[str, None]) -> Iterator[str]:
    """What a function does, without the lines that it stands on; the names that it uses are noted."""
    names |= dict.fromkeys(code.co_names)
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_freevars} {code.co_flags}"
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _words(constant, names)
        else:
            yield repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)


def _words_of(value: Any, names: dict[str, None], seen: set[int]) -> Iterator[str]:
    """What a global name stands for, as far as machine code depends on it."""
    inner = getattr(value, "py_func", None)
    if inner is not None:
        yield from _reached(inner, seen)
    elif isinstance(value, types.ModuleType):
        yield value.__name__
        for name, member in vars(value).items():
            if name in names and (hasattr(member, "py_func") or isinstance(member, int | float | str | tuple)):
                yield name
                yield from _words_of(member, names, seen)
    elif isinstance(value, type):
        yield f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', ())}"
    elif hasattr(value, "tobytes"):
        yield f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    elif isinstance(value, int | float | complex | str | tuple | None):
        yield repr(value)
