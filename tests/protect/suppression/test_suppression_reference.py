"""Against sdcMicro on its own terms: fewer cells under its rule, without decoys, on every public reference case."""

from typing import Any

import numpy as np
import pytest

from conftest import Reference
from tacita.data import Data
from tacita.protect.suppress.local_suppression import Suppression, suppress
from tacita.protect.suppress.problem import Request, Requirement, problem_of
from tacita.protect.suppress.recount import unsafe_units
from tacita.protect.suppress.requirements import of_sizes
from tacita.scenario import MissingRule


class Case:
    """One case: the file, what is asked, and what sdcMicro's cells cost."""

    def __init__(self, reference: Reference, name: str) -> None:
        case = reference.case(name)
        given: dict[str, Any] = case["parameters"]
        data = Data.of(reference.data(case["dataset"]))
        keys: list[str] = given["keys"]
        q = len(keys)
        self.codes = np.stack([data.coded(key).codes for key in keys], axis=1)
        self.strata = None if given["strata"] is None else data.coded(given["strata"]).codes + np.uint32(1)
        ranks = given["importance"]
        self.costs = [1.0] * q if ranks is None else [q + 1.0 - rank for rank in ranks]
        cells = case["scalars"]["suppressions"]
        self.reference_cost = sum(cost * cells[key] for key, cost in zip(keys, self.costs, strict=True))
        # sdcMicro's own rule with alpha < 1 has quirks; partial is what it means.
        self.rule = MissingRule("wildcard") if given["alpha"] == 1 else MissingRule("partial", given["alpha"])
        k = given["k"]
        if given["combs"]:
            sizes = given["combs"]
            self.needs = of_sizes(range(q), dict(zip(sizes, k if len(k) > 1 else k * len(sizes), strict=True)))
        else:
            self.needs = [Requirement((1 << q) - 1, k[0])]

    def suppressed(self) -> Suppression:
        return suppress(self.request(self.codes))

    def request(self, codes: np.ndarray) -> Request:
        return Request(codes, self.needs, self.costs, self.rule, self.strata)

    def unsafe(self, codes: np.ndarray) -> np.ndarray:
        problem = problem_of(self.request(codes))
        return unsafe_units(problem, problem.units.known)[problem.units.row]


def test_a_third_fewer_cells_than_the_reference(reference: Reference) -> None:
    ratios = {}
    for name in reference.names("localSuppression"):
        case = Case(reference, name)
        found = case.suppressed()
        assert not case.unsafe(case.codes * ~found.gone).any()
        assert not (found.touched & ~found.violated).any()
        ratios[name] = float((found.gone * case.costs).sum()) / case.reference_cost
    assert len(ratios) == 21
    assert np.mean(list(ratios.values())) <= 0.66
    assert max(ratios.values()) < 1


@pytest.mark.parametrize(
    "name",
    [
        "localSuppression_francdat_4keys_k3",
        "localSuppression_testdata_7keys_k2",
        "localSuppression_testdata_5keys_k2_by_urbrur",
        "localSuppression_eusilc_4keys_k5",
        "localSuppression_testdata_na_7keys_k3",
    ],
)
def test_every_cell_is_needed_by_its_own_record(reference: Reference, name: str) -> None:
    case = Case(reference, name)
    gone = case.suppressed().gone
    for record, key in zip(*np.nonzero(gone), strict=True):
        shown = case.codes * ~gone
        shown[record, key] = case.codes[record, key]
        assert case.unsafe(shown)[record]
