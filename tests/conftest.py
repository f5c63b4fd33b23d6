"""Fixtures: the command line, and the reference pack, data and figures from the field's reference program, never part
of this project."""

import csv
import gc
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import settings

from parts import opened_chromium, skip_what_cannot_run
from tacita import cli
from tacita.data.large_data import LargeData
from tacita.engine import spark
from tacita.risk.population.latent import model as latent_model
from tacita.risk.population.latent.model import applies

Opener = Callable[..., LargeData]
SMALL_SPARK = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""Settings for files of a few hundred records, whose plans take longer to compile than to run."""
collect_ignore = ["plugin_package"]
"""A package of its own: its measure must not be known here."""

# The same examples every time, so that what passed passes again; `--thorough` looks for new ones.
settings.register_profile("default", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("default")
THOROUGH = 20
"""How many times as many examples as it names each property is tried on with `--thorough`."""
USUAL = 3
"""The usual run tries each property on so many times fewer examples than it names."""
FEWEST = 8
"""Properties that name no more examples than these are tried on all of them."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--thorough",
        action="store_true",
        help=f"try every property on {THOROUGH} times as many, new examples as it names, and tests on all their values",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "usual(name=count, ...): parameters of which the run without --thorough tries the first values only"
    )
    config.addinivalue_line("markers", "usual_on_spark(name=count, ...): the same, for the tests marked spark alone")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """How many examples of a property and how many values of a parameter are tried: few, or very many."""
    thorough = config.getoption("--thorough")
    _choose_examples(items, thorough)
    skip_what_cannot_run(items)
    if not thorough:
        values = _values_in_order(items)
        left_out = [item for item in items if _is_unusual(item, values)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not _is_unusual(item, values)]


def pytest_collection_finish() -> None:
    """What collecting made stays until the end: Python need not look through it for garbage again and again."""
    gc.freeze()


def _choose_examples(items: list[pytest.Item], thorough: bool) -> None:
    """Properties are tried on more or fewer examples, whatever number each names for itself."""
    chosen = "_hypothesis_internal_use_settings"
    tests = [getattr(item, "obj", None) for item in items]
    for function in {getattr(test, "__func__", test) for test in tests if hasattr(test, chosen)}:
        named = getattr(function, chosen)
        usual = min(named.max_examples, max(FEWEST, named.max_examples // USUAL))
        number = THOROUGH * named.max_examples if thorough else usual
        setattr(function, chosen, settings(named, max_examples=number, derandomize=not thorough))


def _values_in_order(items: list[pytest.Item]) -> dict[tuple[str, str], list[int]]:
    """By test and parameter its values, each by its id: pytest numbers them anew for each value of a fixture."""
    found: dict[tuple[str, str], list[int]] = {}
    for item in items:
        for name, value in item.callspec.params.items() if hasattr(item, "callspec") else ():
            known = found.setdefault((_without_values(item), name), [])
            if id(value) not in known:
                known.append(id(value))
    return found


def _is_unusual(item: pytest.Item, values: dict[tuple[str, str], list[int]]) -> bool:
    """Whether a test has a value beyond the first ones of a parameter that its mark `usual` names."""
    marks = ("usual", "usual_on_spark") if item.get_closest_marker("spark") else ("usual",)
    counts = [mark.kwargs for name in marks for mark in item.iter_markers(name)]
    given: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
    test = _without_values(item)
    return any(values[test, name].index(id(given[name])) >= count for each in counts for name, count in each.items())


def _without_values(item: pytest.Item) -> str:
    """The name of a test, whatever values its parameters have."""
    return item.nodeid.partition("[")[0]


@pytest.fixture(autouse=True, scope="session")
def _no_fits() -> Iterator[None]:
    """A latent model takes seconds to fit: where a module is not marked `latent`, every file is too small for one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(latent_model, "applies", lambda table: False)
        yield


@pytest.fixture(autouse=True, scope="module")
def _fits_where_marked(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.node.get_closest_marker("latent") is not None:
            patch.setattr(latent_model, "applies", applies)
        yield


REFERENCE = Path(os.environ.get("TACITA_REFERENCE", Path(__file__).parents[2] / "shared" / "reference"))


class Reference:
    """Data sets and golden figures of the reference pack."""

    def __init__(self, folder: Path):
        self.folder = folder

    def data(self, name: str) -> pl.DataFrame:
        schema = json.loads((self.folder / "data" / f"{name}.schema.json").read_text("utf-8"))
        frame = pl.read_csv(self.folder / "data" / f"{name}.csv", infer_schema=False)
        numeric = ("integer", "numeric")
        return frame.select(
            pl.when(pl.col(column) == "")
            .then(None)
            .otherwise(pl.col(column))
            .alias(column)
            .cast(pl.Float64 if kind["type"] in numeric else pl.String)
            for column, kind in schema["columns"].items()
        )

    def case(self, name: str) -> dict[str, Any]:
        case: dict[str, Any] = json.loads((self.folder / "cases" / f"{name}.json").read_text("utf-8"))
        return case

    def vectors(self, name: str) -> dict[str, list[float]]:
        with (self.folder / "cases" / f"{name}.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return {column: [float(row[column] or "nan") for row in rows] for column in rows[0]}

    def names(self, function: str) -> list[str]:
        return sorted(path.stem for path in (self.folder / "cases").glob(f"{function}_*.json"))


@pytest.fixture(scope="session")
def reference() -> Reference:
    if not (REFERENCE / "index.json").is_file():
        pytest.skip(f"no reference pack: set TACITA_REFERENCE to its folder (looked in {REFERENCE})")
    return Reference(REFERENCE)


@pytest.fixture
def trials(request: pytest.FixtureRequest) -> Callable[[int], range]:
    """Seeds of a test that counts over many random files: all with `--thorough`, otherwise a quarter of them."""
    thorough = request.config.getoption("--thorough")
    return lambda count: range(count if thorough else max(20, count // 4))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, for tests marked `browser`."""
    yield from opened_chromium()


@pytest.fixture(scope="session")
def small_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One Spark session for the whole run, started as Tacita starts it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark, "LOCAL", spark.LOCAL | SMALL_SPARK)
        session = spark.local_session(10**9, str(tmp_path_factory.mktemp("spark")))
    yield
    session.stop()


@pytest.fixture(params=["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def engine(request: pytest.FixtureRequest) -> str:
    """The engines for files larger than memory, one after the other."""
    if request.param == "spark":
        request.getfixturevalue("small_spark")
    return str(request.param)


@pytest.fixture
def on_engine(engine: str, tmp_path: Path) -> Iterator[Opener]:
    """A frame written to Parquet and opened on the engine."""
    opened: list[LargeData] = []

    def open_frame(frame: pl.DataFrame, **given: Any) -> LargeData:
        file = tmp_path / f"survey{len(opened)}.parquet"
        frame.write_parquet(file)
        opened.append(LargeData.of(file, engine=engine, temporary=tmp_path, **given))
        return opened[-1]

    yield open_frame
    for each in opened:
        each.close()


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    """The command line in a folder of its own: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)
    showwarning = cli.warnings.showwarning

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["tacita", *map(str, words)])
        with pytest.raises(SystemExit) as stop, cli.warnings.catch_warnings():
            cli.main()
        monkeypatch.setattr(cli.warnings, "showwarning", showwarning)
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return call
