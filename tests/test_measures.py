"""The register of measures is complete and true."""

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.measure_index import INDEX, MEASURES, NEEDED
from tacita.measures import find, measure_names
from tacita.parameters import parameters_of
from tacita.result import Result

PACKAGE = Path(tc.__file__).parent


def declared() -> dict[str, str]:
    """By name of the measure the module in which a function is decorated with @measure."""
    found = {}
    for path in (path for kind in ("risk", "loss") for path in (PACKAGE / kind).rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                decorators = [ast.unparse(each).partition("(")[0] for each in node.decorator_list]
                if "measure" in decorators:
                    parts = path.relative_to(PACKAGE).with_suffix("").parts
                    found[node.name] = ".".join(("tacita", *parts))
    return found


def test_the_index_is_what_is_declared() -> None:
    assert declared() == MEASURES


def test_a_measure_lives_in_the_file_of_its_name() -> None:
    for name, home in MEASURES.items():
        assert home.rpartition(".")[2] == name
        measure = find(name)
        assert measure.name == name
        assert home.split(".")[1] == measure.kind
        assert getattr(getattr(tc, measure.kind), name) is measure.function
        assert getattr(importlib.import_module(home), name) is measure.function


def result_of(name: str) -> type[Result]:
    """The class of result of a measure."""
    found: type[Result] = get_type_hints(inspect.unwrap(find(name).function))["return"]
    return found


def test_what_a_measure_says_of_itself() -> None:
    for name in MEASURES:
        measure, result = find(name), result_of(name)
        assert INDEX[name].called_for == measure.called_for
        assert set(measure.all_needs) | set(measure.called_for or ()) <= set(NEEDED)
        assert issubclass(result, Result)
        if measure.limit is not None:
            assert hasattr(result, measure.limit.figure) or measure.limit.figure in result.__annotations__
        assert f"# {name}" in measure.page()


def test_text_and_page_are_written_by_the_base_class() -> None:
    """From headline, sentences, tables, cautions and notes, which a result says."""
    for name in MEASURES:
        kind = result_of(name)
        assert (kind.__str__, kind._repr_html_, kind.to_json) == (Result.__str__, Result._repr_html_, Result.to_json)
        assert kind.headline is not Result.headline, name


def test_figures_are_found() -> None:
    for name in MEASURES:
        figure = result_of(name).figure
        if isinstance(figure, str):
            assert callable(getattr(importlib.import_module(f"tacita.plots.{figure}"), figure))


def test_a_measure_that_is_not_there() -> None:
    with pytest.raises(TacitaError) as error:
        find("sudo")
    assert str(error.value) == "measures: there is no measure 'sudo'. Did you mean 'suda'?"
    with pytest.raises(AttributeError, match="no measure 'sudo'"):
        tc.risk.sudo  # noqa: B018
    assert set(dir(tc.risk)) | set(dir(tc.loss)) == set(measure_names())


def test_options_that_are_not_there() -> None:
    with pytest.raises(TacitaError) as error:
        tc.risk.k_anonymity(5, tc.Scenario(keys=["a"]), kk=3)
    assert str(error.value) == "k_anonymity has no option 'kk'; it has k, keys, register."


def test_options_are_documented() -> None:
    parameters = {each.name: each for each in parameters_of(find("risk_threshold").function)}
    assert parameters["rate"].doc == "Or the re-identification rate that is tolerated."
    assert parameters["unsafe"].wanted == "whole number at least 0"


def test_nothing_unused_is_imported() -> None:
    """read, assess and print load no measure that is not called for."""
    code = (
        "import sys, tacita as tc, polars as pl\n"
        "print(tc.assess(pl.DataFrame({'a': [1, 1, 1]}), tc.Scenario(keys=['a'])))\n"
        "print([name for name in sys.modules if 'suda' in name or 'l_diversity' in name or 'linkage' in name])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"
