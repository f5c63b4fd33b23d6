"""Reading a file, assessing it and printing what was found can be followed by a reader: it goes through few modules."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.risk.population.latent.lately import forget

ROOT = Path(tc.__file__).parent
MOST_MODULES = 22
"""Of a safe file, by the model of Benedetti and Franconi."""
REPAIRS = 1
"""What says how an unsafe file is made safe."""
OF_THE_LATENT_MODEL = 3
"""Of a latent model that was fitted before."""
TO_FIT_IT = 15
"""The model itself, and what it draws and counts with."""
KEYS = ("region", "sex", "age", "work")


def modules_run(work: Callable[[], object]) -> set[str]:
    """The modules of Tacita in which any function runs; what runs only once, such as imports, has run before."""
    work()
    seen: set[str] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and frame.f_code.co_name != "<module>" and path.is_relative_to(ROOT):
            seen.add(str(path.relative_to(ROOT)))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return seen


def survey(path: Path, values: int, weight: float) -> Path:
    """A file of 2,000 records without missing values, on four keys of so many values each."""
    draws = np.random.default_rng(1)
    columns = {name: draws.integers(0, values, 2000) for name in KEYS}
    pl.DataFrame({**columns, "w": draws.uniform(weight, 2 * weight, 2000).round(2)}).write_csv(path)
    return path


@pytest.mark.parametrize(("values", "weight", "safe"), [(2, 500.0, True), (9, 20.0, False)])
def test_read_assess_print(tmp_path: Path, values: int, weight: float, safe: bool) -> None:
    file = survey(tmp_path / "survey.csv", values, weight)
    assert tc.assess(file, tc.Scenario(keys=KEYS, weight="w")).safe is safe
    scenario, most = tc.Scenario(keys=KEYS, weight="w"), MOST_MODULES + (not safe) * REPAIRS
    found = modules_run(lambda: str(tc.assess(tc.read(file), scenario, model="benedetti_franconi")))
    assert len(found) <= most, sorted(found)
    found = modules_run(lambda: str(tc.assess(tc.read(file), scenario)))
    assert len(found) <= most + OF_THE_LATENT_MODEL, sorted(found)

    def fitted_anew() -> str:
        forget()
        return str(tc.assess(tc.read(file), scenario))

    assert len(found := modules_run(fitted_anew)) <= most + OF_THE_LATENT_MODEL + TO_FIT_IT, sorted(found)
