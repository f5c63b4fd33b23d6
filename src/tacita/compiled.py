"""Compiled loops: one decorator around Numba.

A module that uses it costs a second to import and its kernels a few to compile, once per machine: import such modules
where they are needed, not at the top.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a loop over arrays; the machine code is kept on disk, where something is writable."""
    try:
        return cast(Function, numba.njit(nogil=True, cache=True)(function))
    except RuntimeError:
        # Nothing writable beside the module or in the user's cache: compile in every process.
        return cast(Function, numba.njit(nogil=True)(function))
