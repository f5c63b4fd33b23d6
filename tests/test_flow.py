"""Reading a file, assessing it and printing what was found can be followed by a reader: it goes through few modules.

A module counts if any of its functions runs, methods and compiled loops included, in whatever thread; what runs when
modules are imported does not count. The file is small, with four keys and a weight; an unsafe one is told how it would
be made safe. The usual model of F is the latent one, kept from the assessment before, as it is where a file is assessed
again; that of Benedetti and Franconi needs no fit; a latent model fitted anew goes through its own package as well.
"""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.risk.population.latent.model import forget

pytestmark = pytest.mark.latent

ROOT = Path(tc.__file__).parent
BENEDETTI_FRANCONI, LATENT, FITTED = 21, 22, 39
"""Modules by how F is estimated: by a kept latent model, and by one fitted anew."""
KEYS = ("region", "sex", "age", "work")


def modules_run(work: Callable[[], object]) -> set[str]:
    """The modules of Tacita in which any function runs; what runs only once, such as imports, has run before."""
    work()
    seen: set[str] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and frame.f_code.co_name != "<module>" and path.is_relative_to(ROOT):
            seen.add(str(path.relative_to(ROOT)))

    before = sys.getprofile(), threading.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before[0])
        threading.setprofile(before[1])
    return seen


def survey(path: Path, values: int, weight: float) -> Path:
    """A file of 2,000 records without missing values, on four keys of so many values each."""
    draws = np.random.default_rng(1)
    columns = {name: draws.integers(0, values, 2000) for name in KEYS}
    pl.DataFrame({**columns, "w": draws.uniform(weight, 2 * weight, 2000).round(2)}).write_csv(path)
    return path


@pytest.mark.parametrize(("values", "weight", "safe"), [(2, 500.0, True), (9, 20.0, False)])
def test_read_assess_print(tmp_path: Path, values: int, weight: float, safe: bool) -> None:
    file, scenario = survey(tmp_path / "survey.csv", values, weight), tc.Scenario(keys=KEYS, weight="w")
    profile = tc.assess(file, scenario)
    assert profile.safe is safe
    assert profile.individual.model is not None

    def fitted_anew() -> str:
        forget()
        return str(tc.assess(tc.read(file), scenario))

    found = modules_run(lambda: str(tc.assess(tc.read(file), scenario, model="benedetti_franconi")))
    assert len(found) <= BENEDETTI_FRANCONI, sorted(found)
    found = modules_run(lambda: str(tc.assess(tc.read(file), scenario)))
    assert len(found) <= LATENT, sorted(found)
    assert len(found := modules_run(fitted_anew)) <= FITTED, sorted(found)
