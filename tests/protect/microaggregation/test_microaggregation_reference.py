"""Against sdcMicro: the same records where it does what it says, and a smaller loss where it does not."""

import numpy as np
import polars as pl
import pytest

import tacita as tc
from conftest import Reference
from tacita.distance.distances import standard_weight
from tacita.protect.microaggregate.along_order import equal_groups
from tacita.protect.microaggregate.averages import averages
from tacita.protect.microaggregate.axes import principal_component
from tacita.protect.microaggregate.microaggregate import lost_share

OURS: dict[str, tuple[str, int | None]] = {
    "simple": ("record_number", None),
    "single": ("first_variable", None),
    "onedims": ("individual", None),
    "pca": ("principal_component", None),
    "mcdpca": ("robust_component", None),
    "pppca": ("projection_pursuit", None),
    "influence": ("influence", 8),
    "clustpca": ("principal_component", 8),
    "clustmcdpca": ("robust_component", 8),
    "clustpppca": ("projection_pursuit", 8),
    "rmd": ("robust_distance", None),
    "mdav": ("mdav", None),
}
AVERAGES = {"mean": "mean", "median": "median", "trim": "trimmed_mean", "onestep": "one_step"}
WITHIN = {"microaggregation_microData_mcdpca_k3": 1.04, "microaggregation_Tarragona_rmd_k3": 1.01}
"""Where its random starts found a covariance that happens to lose less than ours; 13 records in the first."""


class Case:
    """One case: the numbers, what sdcMicro made of them, and our step."""

    def __init__(self, reference: Reference, name: str) -> None:
        case = reference.case(name)
        given = case["parameters"]
        made = reference.vectors(name)
        self.names, self.theirs = list(made), np.array(list(made.values())).T
        self.data = reference.data(case["dataset"]).with_columns(same=pl.lit("a"))
        self.values = self.data.select(self.names).to_numpy().astype(float)
        self.method, self.k = given.get("method", "onedims"), given["aggr"]
        self.average, self.trim = AVERAGES[given.get("measure", "mean")], given.get("trim") or 0.2
        strata = given.get("strata") or given.get("by") or ()
        self.strata = (strata,) if isinstance(strata, str) else tuple(strata)

    def released(self) -> np.ndarray:
        method, clusters = OURS[self.method]
        step = tc.Microaggregate(
            self.names,
            k=self.k,
            method=method,
            clusters=clusters,
            average=self.average,
            trim=self.trim,
            strata=self.strata,
        )
        made = tc.Plan([step]).apply(self.data, tc.Scenario(keys=["same"])).data.table
        return np.asarray(made.select(self.names).to_numpy())


def in_order(rows: np.ndarray) -> np.ndarray:
    return rows[np.lexsort(rows.T)]


def test_mdav_gives_its_groups(reference: Reference) -> None:
    """Of two equal records sdcMicro takes the later one first: the released rows are the same, in two cases two of them
    in each other's place."""
    names = [name for name in reference.names("microaggregation") if "_mdav_" in name]
    for name in names:
        case = Case(reference, name)
        ours = case.released()
        np.testing.assert_allclose(in_order(ours), in_order(case.theirs), rtol=1e-9)
        differ = ~np.isclose(ours, case.theirs, rtol=1e-9).all(axis=1)
        assert differ.sum() in (0, 2)
    assert len(names) == 7


def test_individual_ranking_gives_its_numbers(reference: Reference) -> None:
    names = [name for name in reference.names("microaggregation") if "_onedims_" in name]
    for name in names + reference.names("mafast"):
        case = Case(reference, name)
        np.testing.assert_allclose(case.released(), case.theirs, rtol=1e-9)
    assert len(names) == 6


def test_groups_along_the_principal_component_and_all_averages_give_its_numbers(reference: Reference) -> None:
    """With groups of equal size, as it forms them; it does not say in which direction it goes."""
    tried = 0
    for name in reference.names("microaggregation"):
        case = Case(reference, name)
        if case.method != "pca" or case.strata:
            continue
        scores = principal_component(case.values * standard_weight(case.values))
        made = []
        for order in (np.argsort(scores, kind="stable"), np.argsort(-scores, kind="stable")):
            groups = equal_groups(order, case.k)
            made.append(
                np.stack([averages(column, groups, case.average, case.trim) for column in case.values.T], axis=1)
            )
        assert any(np.allclose(each, case.theirs, rtol=1e-9) for each in made), name
        tried += 1
    assert tried == 7


def test_no_method_loses_more(reference: Reference) -> None:
    """Cut where the loss is least, and never across clusters."""
    names = reference.names("microaggregation")
    for name in names:
        case = Case(reference, name)
        ours = case.released()
        limit = lost_share(case.values, case.theirs) * WITHIN.get(name, 1.0)
        assert lost_share(case.values, ours) <= limit + 1e-12, name
        if case.method != "onedims" and not case.strata:
            assert np.unique(ours, axis=0, return_counts=True)[1].min() >= case.k, name
    assert len(names) == 50


def test_the_share_lost_is_its_figure(reference: Reference) -> None:
    figures = reference.case("microaggregation_Tarragona_mdav_k3")["scalars"]
    case = Case(reference, "microaggregation_Tarragona_mdav_k3")
    assert lost_share(case.values, case.theirs) == pytest.approx(figures["il_sse_ratio"], rel=1e-9)
