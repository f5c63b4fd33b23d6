"""How Numba compiles the functions that only other compiled functions call, in less time."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import Any

import numba
from numba.core import codegen, compiler
from numba.core.compiler_lock import global_compiler_lock

Compiler: Any = compiler.Compiler
Library: Any = codegen.JITCodeLibrary
TRIED = (0, 68)
"""The last version of Numba whose libraries of code are known to wait for their callers."""


class Part(Compiler):  # type: ignore[misc]
    """Numba's compiler, which leaves the code of a part to be optimised where it is called.

    Each caller has a copy of the code of what it calls, and optimises both together: what was done to the part alone
    would be done twice, and nobody would run it.
    """

    def define_pipelines(self) -> Any:
        """The usual steps, whose result goes to a library of a part."""
        self.state.library = PartLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


class PartLibrary(Library):  # type: ignore[misc]
    """Code that waits for its callers: neither optimised nor made machine code of."""

    @property
    def codegen(self) -> Any:
        """Where Numba leaves what a function that Python calls needs to know: not needed here."""
        return NoEnvironment()

    def get_pointer_to_function(self, name: str) -> int:
        """No address: Python does not call it."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


def compiler_of_parts(version: tuple[int, int] = numba.version_info[:2]) -> Any:
    """What compiles the functions that only compiled ones call: Numba's own compiler in versions nobody has tried.

    >>> compiler_of_parts((0, 68)) is Part, compiler_of_parts((0, 99)) is Part
    (True, False)
    """
    return Part if version <= TRIED else Compiler


class NoEnvironment:
    """Takes the environment of a function and forgets it."""

    def set_env(self, name: str, env: Any) -> None:
        """Do nothing."""


def undisturbed(compile_: Callable[..., Any]) -> Callable[..., Any]:
    """A compilation in which Python looks for no garbage.

    Compiling makes a great many objects that stay to the end; looking at all of them again and again takes a tenth of
    its time.
    """

    @wraps(compile_)
    def work(*arguments: Any) -> Any:
        # Only one function is compiled at a time, so that no thread switches on what another one switched off.
        with global_compiler_lock:
            on = gc.isenabled()
            gc.disable()
            try:
                return compile_(*arguments)
            finally:
                if on:
                    gc.enable()

    return work
