"""Imports point down only, checked in the source.

From the bottom: what needs nothing; frames and engines; what is declared and read; demo surveys; keys; linkage; risk;
protection; the whole picture; plans and searches; figures; reports; the command line and the app.
"""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import tacita

ROOT = Path(tacita.__file__).parent

LAYERS = [
    {
        "apart",
        "check",
        "arrays",
        "declared",
        "formula",
        "html_view",
        "leftovers",
        "mechanism",
        "parameters",
        "limit",
        "progress",
        "random",
        "repeats",
        "compile_cache",
        "compile_parts",
        "compiled",
        "stopping",
        "small_counts",
        "threads",
        "work",
    },
    {"frame"},
    {"frame.files", "engine"},
    {"data", "measure_arguments", "measure_index", "measures", "policy", "scenario", "result", "rules"},
    {"data.demo"},
    {"keys", "trees"},
    {"distance", "distance.splink_model"},
    {"risk", "loss"},
    {"protect"},
    {"assessment", "comparison", "plain_words"},
    {"release"},
    {"search"},
    {"plots"},
    {"reports"},
    {"testing"},
    {"cli", "app", "__main__"},
]
COMING = {"search"}
"""Layers that may still be empty."""
LEVEL = {unit: level for level, units in enumerate(LAYERS) for unit in units}

ONLY_THERE = {
    "polars": {"frame", "frame.files"},
    "narwhals": {"frame"},
    "pyarrow": {"frame", "frame.files", "engine"},
    "altair": {"plots"},
    "vl_convert": {"plots"},
    "typer": {"cli"},
    "rich": {"cli"},
    "numba": {"compiled", "compile_cache", "compile_parts", "stopping", "work"},
    "jinja2": {"reports"},
    "shiny": {"app"},
    "duckdb": {"engine", "distance.splink_model"},
    "ibis": {"engine"},
    "pyspark": {"engine"},
    "optuna": {"search"},
    "pandas": set(),
}
"""Libraries that only some modules may import."""

BY_NAME = {
    "": "the public names, loaded when first used",
    "measures": "measures by name, and what makes distinct keys of large files",
    "protect.steps": "steps by name",
    "result": "a result's figure",
    "compiled": "Numba, and its cache",
    "release.written": "the report of a release",
}
"""Modules that may import by a name worked out at run time, and what."""

FIGURES_SEE = {"check", "arrays", "frame", "result", "data.atomic"}
"""What figures may import besides each other: no data, no keys, no distances, no measures. They draw results."""
INTERNAL_FIGURES_SEE = FIGURES_SEE | {"data", "distance", "risk"}
"""Figures that show original values are handed the files themselves, and compare them as the measures do."""
HANDED_A_FILE = ("plots.confidentiality", "plots.internal.values")
"""The one figure of a result that shows original values if it is handed the file: only then it loads how."""

BACK = {("data.data", "data.files")}
"""`Data.of` reads a path, and files are read as `Data`: the one circle, inside a function."""

MOST_LINES = 400
MOST_LINES_OF_A_BODY = 40
"""Of a function, without its signature and docstring."""


class Import(NamedTuple):
    module: str
    target: str
    line: int
    at_import: bool
    """Whether it runs when the module is imported, not inside a function."""


def name_of(path: Path) -> str:
    """`data.files` for data/files.py, `data` for data/__init__.py, empty for the package itself."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}


@cache
def sources() -> dict[str, str]:
    return {module: path.read_text("utf-8") for module, path in MODULES.items()}


@cache
def trees() -> dict[str, ast.Module]:
    return {module: ast.parse(source) for module, source in sources().items()}


def unit_of(module: str) -> str:
    """The unit of `LAYERS` that a module belongs to: the longest that its name starts with."""
    parts = module.split(".")
    names = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((name for name in names if name in LEVEL), "")


def only_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def walk(node: ast.AST, at_import: bool = True) -> Iterator[tuple[ast.AST, bool]]:
    """All nodes that run, with whether they run at import."""
    for child in ast.iter_child_nodes(node):
        if only_for_types(child):
            continue
        inside = at_import and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield child, inside
        yield from walk(child, inside)


def imports(module: str) -> Iterator[Import]:
    for node, at_import in walk(trees()[module]):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module, alias.name, node.lineno, at_import)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno} imports relatively"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                # `from tacita.data import text` names a module, `from tacita.data import Data` what is in one.
                is_module = whole.removeprefix("tacita.") in MODULES and whole.startswith("tacita.")
                yield Import(module, whole if is_module else node.module or "", node.lineno, at_import)


@cache
def every_import() -> tuple[list[Import], list[Import]]:
    """Imports of what is ours and of what is not; found when first asked for, not when the tests are collected."""
    found = [each for module in MODULES for each in imports(module)]
    ours = [each for each in found if each.target.split(".")[0] == "tacita"]
    return ours, [each for each in found if each.target.split(".")[0] != "tacita"]


def ours() -> list[Import]:
    return every_import()[0]


def theirs() -> list[Import]:
    return every_import()[1]


def test_every_module_has_its_layer() -> None:
    assert [module for module in MODULES if module and not unit_of(module)] == []
    used = {unit_of(module) for module in MODULES if module}
    assert used | COMING == set(LEVEL)


def test_imports_point_down() -> None:
    upward = [
        f"{each.module}:{each.line} imports {each.target}"
        for each in ours()
        if each.module
        and each.target != "tacita"
        and LEVEL[unit_of(each.target.removeprefix("tacita."))] > LEVEL[unit_of(each.module)]
    ]
    assert upward == []


def test_risk_and_loss_do_not_know_each_other() -> None:
    """What several measures share lies a layer below."""
    sides = {"risk", "loss"}
    between = [
        f"{each.module}:{each.line} imports {each.target}"
        for each in ours()
        if {unit_of(each.module), unit_of(each.target.removeprefix("tacita."))} == sides
    ]
    assert between == []


def test_the_package_itself_is_imported_for_its_version_and_names_only() -> None:
    """`from tacita import __version__`."""
    assert {(each.module, each.at_import) for each in ours() if each.target == "tacita"} <= {
        ("assessment.profile", True),
        ("cli", True),
        ("data.ddi", True),
        ("reports.internal", True),
        ("reports.report", True),
    }


def seen_by_figures(each: Import, seen: set[str]) -> bool:
    target = each.target.removeprefix("tacita.")
    parts = target.split(".")
    names = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
    return parts[0] == "plots" or bool(names & seen)


def test_figures_see_results_only() -> None:
    """Never data: only figures in `plots.internal` are handed files."""
    wrong = [
        f"{each.module}:{each.line} imports {each.target}"
        for each in ours()
        if unit_of(each.module) == "plots"
        and not seen_by_figures(each, INTERNAL_FIGURES_SEE if each.module.startswith("plots.internal") else FIGURES_SEE)
    ]
    assert wrong == []


def test_figures_of_results_do_not_load_what_shows_original_values() -> None:
    found = {
        (each.module, each.target.removeprefix("tacita."), each.at_import)
        for each in ours()
        if unit_of(each.module) == "plots"
        and each.target.startswith("tacita.plots.internal")
        and not each.module.startswith("plots.internal")
    }
    assert found == {(*HANDED_A_FILE, False)}


def graph(edges: list[tuple[str, str]]) -> TopologicalSorter[str]:
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for module, target in edges:
        sorter.add(module, target)
    return sorter


def circle(edges: list[tuple[str, str]]) -> list[str]:
    """Modules that import each other in a circle, none if there is none."""
    try:
        graph(edges).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_a_circle_is_found() -> None:
    assert set(circle([("a", "b"), ("b", "c"), ("c", "a")])) == {"a", "b", "c"}


def test_units_of_one_layer_do_not_import_each_other_in_a_circle() -> None:
    pairs = [(unit_of(each.module), unit_of(each.target.removeprefix("tacita."))) for each in ours() if each.module]
    assert not circle([(unit, target) for unit, target in pairs if target and unit != target])


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    pairs = [(each.module, each.target.removeprefix("tacita.")) for each in ours() if each.module]
    edges = [pair for pair in pairs if pair[1] in MODULES and pair not in BACK and pair[1] != "tacita"]
    # A package is imported by its own modules without being needed by them.
    assert not circle([(module, target) for module, target in edges if not module.startswith(f"{target}.")])


def test_the_exceptions_are_needed() -> None:
    found = {(each.module, each.target.removeprefix("tacita.")) for each in ours()}
    assert found >= BACK
    assert all(not each.at_import for each in ours() if (each.module, each.target.removeprefix("tacita.")) in BACK)


SEE_DATA = "plots.internal"
"""Figures that show values of the data; never part of what is made public."""


def test_public_figures_see_results_and_no_data() -> None:
    """Besides results they know how a file is written whole, and nothing else of data, risk and protection."""
    below = ("risk", "protect", "assessment", "release", "distance", "keys", "data")
    found = {
        each.target
        for each in ours()
        if unit_of(each.module) == "plots" and not each.module.startswith(SEE_DATA)
        if each.target.removeprefix("tacita.").split(".")[0] in below
    }
    assert {target for target in found if not target.startswith("tacita.data.atomic")} == set()


REPORTS_SEE = {
    "check",
    "result",
    "measures",
    "parameters",
    "progress",
    "plain_words",
    "plots.svg",
    "data.atomic",
    "reports",
}


def test_reports_see_results_and_no_data() -> None:
    """They are handed results; of files they know how one is written whole."""
    wrong = [
        f"{each.module}:{each.line} imports {each.target}"
        for each in ours()
        if unit_of(each.module) == "reports" and each.target != "tacita"
        if not any(
            each.target.removeprefix("tacita.") == seen or each.target.startswith(f"tacita.{seen}.")
            for seen in REPORTS_SEE
        )
    ]
    assert wrong == []


@pytest.mark.parametrize("library", ONLY_THERE)
def test_libraries_are_known_to_few(library: str) -> None:
    found = {
        f"{each.module}:{each.line}"
        for each in theirs()
        if each.target.split(".")[0] == library and unit_of(each.module) not in ONLY_THERE[library]
    }
    assert found == set()


def test_the_calls_upwards_are_by_name() -> None:
    """`Result.plot` finds its figure by name, a release its report; nobody else reaches up, whatever the spelling."""
    found = set()
    for module, tree in trees().items():
        for node, _ in walk(tree):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called.split(".")[-1] in ("import_module", "__import__", "exec", "eval"):
                found.add(module)
    assert found == set(BY_NAME)


def test_modules_are_short() -> None:
    lengths = {module: len(source.splitlines()) for module, source in sources().items()}
    assert {module: length for module, length in lengths.items() if length > MOST_LINES} == {}


def bodies(module: str) -> Iterator[tuple[str, int]]:
    """All functions of a module with the lines of their bodies."""
    for node in ast.walk(trees()[module]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
            if body:
                yield node.name, (body[-1].end_lineno or 0) - body[0].lineno + 1


def test_functions_are_short() -> None:
    lengths = [(module, *body) for module in MODULES for body in bodies(module)]
    assert [each for each in lengths if each[-1] > MOST_LINES_OF_A_BODY] == []


# What may stand at the top of a module: nothing that works, prints or draws.

AT_THE_TOP = (
    ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign,
)  # fmt: skip


def may_stand_at_the_top(module: str, node: ast.stmt) -> bool:
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    started = module == "__main__" and isinstance(node, ast.If | ast.Expr)
    return isinstance(node, AT_THE_TOP) or docstring or only_for_types(node) or started


def test_no_work_at_import() -> None:
    tops = [(module, node) for module, tree in trees().items() for node in tree.body]
    assert [f"{module}:{node.lineno}" for module, node in tops if not may_stand_at_the_top(module, node)] == []


def test_no_generator_of_random_numbers_at_the_top() -> None:
    """And none of NumPy's own anywhere but in `random`: every draw is a function of seed, label, record and draw."""
    generators = ("np.random.", "random.random", "random.seed")
    wrong = []
    for module, tree in trees().items():
        for node, at_import in walk(tree):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            of_numpy = "default_rng" in called or (called.startswith(generators) and module != "random")
            if of_numpy or (at_import and "secrets" in called):
                wrong.append(f"{module}:{node.lineno} {called}")
    assert wrong == []
