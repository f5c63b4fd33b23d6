"""What compiled loops do without: it takes Numba longer to compile than all the rest of a loop."""

import ast
from collections.abc import Iterator
from pathlib import Path

import tacita

SOURCE = Path(tacita.__file__).parent
SLOW = {
    "max",
    "min",
    "sum",
    "sort",
    "argsort",
    "argmin",
    "argmax",
    "searchsorted",
    "cumsum",
    "unique",
    "array",
    "any",
    "all",
}
"""Functions and methods of NumPy of which each is compiled for up to two seconds where it is first used."""


def loops(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for each in ast.walk(tree):
        if isinstance(each, ast.FunctionDef) and "compiled" in map(ast.unparse, each.decorator_list):
            yield each


def slow(loop: ast.FunctionDef) -> Iterator[str]:
    """Calls that compile slowly, and arrays put into a part of another one, which may be of different lengths."""
    for each in ast.walk(loop):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in SLOW:
            yield ast.unparse(each)
        if isinstance(each, ast.Assign | ast.AugAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            number = isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant)
            parts = [one for one in targets if isinstance(one, ast.Subscript)]
            if any(isinstance(part, ast.Slice) for one in parts for part in ast.walk(one.slice)) and not number:
                yield ast.unparse(each)


def test_compiled_loops_use_nothing_that_compiles_slowly() -> None:
    found = [
        f"{path.relative_to(SOURCE)}: {loop.name}: {what}"
        for path in sorted(SOURCE.rglob("*.py"))
        for loop in loops(ast.parse(path.read_text(encoding="utf-8")))
        for what in slow(loop)
    ]
    assert found == []


def test_what_compiles_slowly_is_noticed() -> None:
    statements = ("x[1:] /= 2", "x[:3] = y[1:]", "x[:] = 0.0", "return np.argsort(x), y.sum(), len(x)")
    (function,) = loops(ast.parse("\n    ".join(["@compiled\ndef f(x, y):", *statements])))
    assert sorted(slow(function)) == ["np.argsort(x)", "x[1:] /= 2", "x[:3] = y[1:]", "y.sum()"]
