"""Measures of disclosure risk: `tacita.risk.k_anonymity(...)`, each in the file of its name, loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacita.measures import find, measure_names

if TYPE_CHECKING:
    from tacita.risk.attribute.dominance import dominance as dominance
    from tacita.risk.attribute.l_diversity import l_diversity as l_diversity
    from tacita.risk.attribute.likeness import likeness as likeness
    from tacita.risk.attribute.t_closeness import t_closeness as t_closeness
    from tacita.risk.confidentiality_plot.categorical_confidentiality import (
        categorical_confidentiality as categorical_confidentiality,
    )
    from tacita.risk.confidentiality_plot.cell_confidentiality import cell_confidentiality as cell_confidentiality
    from tacita.risk.confidentiality_plot.confidentiality import confidentiality as confidentiality
    from tacita.risk.confidentiality_plot.confidentiality_alphas import confidentiality_alphas as confidentiality_alphas
    from tacita.risk.confidentiality_plot.confidentiality_sets import confidentiality_sets as confidentiality_sets
    from tacita.risk.confidentiality_plot.interval_confidentiality import (
        interval_confidentiality as interval_confidentiality,
    )
    from tacita.risk.external.external_risk import external_risk as external_risk
    from tacita.risk.external.informed_linkage import informed_linkage as informed_linkage
    from tacita.risk.external.releases_together import releases_together as releases_together
    from tacita.risk.external.total_risk import total_risk as total_risk
    from tacita.risk.identity.attackers import attackers as attackers
    from tacita.risk.identity.benchmark import benchmark as benchmark
    from tacita.risk.identity.household_risk import household_risk as household_risk
    from tacita.risk.identity.individual_risk import individual_risk as individual_risk
    from tacita.risk.identity.k_anonymity import k_anonymity as k_anonymity
    from tacita.risk.identity.mixed_uniqueness import mixed_uniqueness as mixed_uniqueness
    from tacita.risk.identity.presence import presence as presence
    from tacita.risk.identity.reidentification import reidentification as reidentification
    from tacita.risk.identity.risk_threshold import risk_threshold as risk_threshold
    from tacita.risk.identity.suda.suda import suda as suda
    from tacita.risk.identity.unsafe_combinations import unsafe_combinations as unsafe_combinations
    from tacita.risk.interval.interval_disclosure import interval_disclosure as interval_disclosure
    from tacita.risk.interval.rank_interval_disclosure import rank_interval_disclosure as rank_interval_disclosure
    from tacita.risk.interval.robust_interval_disclosure import robust_interval_disclosure as robust_interval_disclosure
    from tacita.risk.linkage.distance_linkage import distance_linkage as distance_linkage
    from tacita.risk.linkage.one_to_one_linkage import one_to_one_linkage as one_to_one_linkage
    from tacita.risk.linkage.probabilistic_linkage import probabilistic_linkage as probabilistic_linkage
    from tacita.risk.linkage.rank_linkage import rank_linkage as rank_linkage
    from tacita.risk.population.loglinear_risk.loglinear_risk import loglinear_risk as loglinear_risk
    from tacita.risk.population.model_check import model_check as model_check
    from tacita.risk.population.superpopulation.superpopulation import superpopulation as superpopulation
    from tacita.risk.release.reconstruction.reconstruction import reconstruction as reconstruction
    from tacita.risk.release.weight_disclosure import weight_disclosure as weight_disclosure


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in measure_names("risk"):
        raise AttributeError(f"module 'tacita.risk' has no measure {name!r}")
    return find(name).function


def __dir__() -> list[str]:
    return sorted(measure_names("risk"))
