"""Loops compiled to machine code by Numba.

Modules that use this decorator are imported by the functions that need them, not at the top of other modules: Numba
takes a second to load, and `import tacita` must stay cheap.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function of arrays and numbers when it is first called, and keep the machine code for later runs.

    The code is kept beside the module or in the user's cache folder, for as long as neither the function nor anything
    that it calls or reads has changed; where neither can be written it is compiled anew in each session. The compiled
    loop lets other threads run.
    """
    numba: Any = importlib.import_module("numba")
    parts = importlib.import_module("tacita.compile_parts")
    cache_of = importlib.import_module("tacita.compile_cache").cache_of
    entry = numba.njit(nogil=True, no_cfunc_wrapper=True)(function)
    # Calls from other compiled functions go to a second compilation, without the code that takes arguments of Python
    # apart: that code takes up to half the time of compiling.
    bare = {"no_cpython_wrapper": True, "pipeline_class": parts.compiler_of_parts()}
    part = numba.njit(nogil=True, no_cfunc_wrapper=True, **bare)(function)
    entry.get_call_template, entry.get_overload = part.get_call_template, part.get_overload
    entry.compile, part.compile = parts.undisturbed(entry.compile), parts.undisturbed(part.compile)
    kept = cache_of(function)
    if kept is not None:
        entry._cache = kept
    return cast(F, entry)
