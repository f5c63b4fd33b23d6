"""`import tacita` is cheap, every public name is there, and importing does nothing else."""

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tacita
from tacita.measure_index import MEASURES

HEAVY = ["scipy", "pandas", "altair", "vl_convert", "typer", "rich", "numba", "pyarrow", "matplotlib", "sklearn"]


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_import_loads_nothing_heavy() -> None:
    code = f"import sys, tacita; print([name for name in {HEAVY} if name in sys.modules])"
    assert run(code) == "[]\n"


def test_declaring_loads_nothing_heavy() -> None:
    """Data, scenario and policy need NumPy, Polars and Narwhals at most."""
    code = (
        "import sys, tacita as tc, polars as pl\n"
        "tc.Scenario(keys=['a']); tc.Policy(); tc.Data.of(pl.DataFrame({'a': [1]}))\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    assert run(code) == "[]\n"


def test_measuring_draws_no_figures() -> None:
    heavy = [name for name in HEAVY if name != "scipy"]
    code = (
        "import sys, tacita as tc, polars as pl\n"
        "print(tc.assess(pl.DataFrame({'a': [1, 1, 1]}), tc.Scenario(keys=['a'])).safe)\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    assert run(code) == "False\n[]\n"


def test_every_public_name_is_there() -> None:
    for name in tacita.__all__:
        value = getattr(tacita, name)
        assert value is getattr(tacita, name)
        if name in tacita._PACKAGES:
            assert value.__name__ == f"tacita.{name}"
        elif name != "__version__":
            assert value.__name__ == name
            assert value.__doc__, name
            assert value.__module__.startswith(tacita._HOMES[name])


def test_no_public_name_is_also_a_module() -> None:
    """Importing tacita.assess, if there were one, would put the module in the place of the function."""
    modules = {module.name for module in pkgutil.iter_modules(tacita.__path__)}
    assert modules.isdisjoint(tacita._HOMES)


def test_every_measure_is_in_its_package() -> None:
    """As `tacita.risk.suda`, for people and for type checkers."""
    for name, home in MEASURES.items():
        package = getattr(tacita, home.split(".")[1])
        assert getattr(package, name).__name__ == name
        assert name in dir(package)
        source = re.sub(r"\(\s+(.+?),?\s+\)", r"\1", Path(package.__file__).read_text("utf-8"))
        assert f"    from {home} import {name} as {name}\n" in source


def test_names_are_the_same_in_any_order() -> None:
    code = (
        "import tacita as tc\n"
        "names = [name for name in reversed(tc.__all__) if name in tc._HOMES]\n"
        "print([name for name in names if getattr(tc, name).__name__ != name])"
    )
    assert run(code) == "[]\n"


def test_dir_and_unknown_names() -> None:
    assert dir(tacita) == sorted(tacita.__all__)
    assert len(set(tacita.__all__)) == len(tacita.__all__)
    with pytest.raises(AttributeError) as error:
        tacita.asess  # type: ignore[attr-defined]  # noqa: B018
    assert str(error.value) == "module 'tacita' has no attribute 'asess'"


def test_names_for_type_checkers_are_the_same() -> None:
    """What is loaded when first used is also written out for type checkers."""
    source = re.sub(r"\(\s+(.+?),?\s+\)", r"\1", Path(tacita.__file__).read_text("utf-8"))
    for name, home in tacita._HOMES.items():
        assert f"    from {home} import {name} as {name}\n" in source


def test_types_are_shipped() -> None:
    assert (Path(tacita.__file__).parent / "py.typed").is_file()


def test_importing_everything_prints_nothing_and_starts_nothing(tmp_path: Path) -> None:
    """All modules but `__main__`, in one fresh interpreter and an empty folder."""
    names = [module.name for module in pkgutil.walk_packages(tacita.__path__, "tacita.")]
    names = [name for name in names if not name.endswith("__main__")]
    code = (
        f"import importlib, os, threading\nos.chdir({str(tmp_path)!r})\n"
        f"for name in {names}: importlib.import_module(name)\n"
        "assert threading.active_count() == 1, threading.enumerate()"
    )
    assert run(code) == ""
    assert list(tmp_path.iterdir()) == []


def test_submodules_can_be_imported_first() -> None:
    for name in ("keys.table", "scenario", "risk.identity.individual_risk", "assessment.profile"):
        assert importlib.import_module(f"tacita.{name}").__name__ == f"tacita.{name}"
        assert run(f"import tacita.{name}; import tacita; print(callable(tacita.assess))") == "True\n"
