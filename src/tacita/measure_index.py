"""Tacita's own measures by name: in which module each is, what calls for it, and what measures can need.

Each is declared beside its function; the index tells that without importing it, and tests hold the two together.
"""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple

from tacita.scenario import Scenario


class Indexed(NamedTuple):
    """What is known of a measure without importing it."""

    module: str
    called_for: tuple[str, ...] | None = None
    """As its declaration says: it is measured unasked where the scenario has all of these; None: never."""


INDEX = {
    "k_anonymity": Indexed("tacita.risk.identity.k_anonymity"),
    "individual_risk": Indexed("tacita.risk.identity.individual_risk"),
    "reidentification": Indexed("tacita.risk.identity.reidentification"),
    "risk_threshold": Indexed("tacita.risk.identity.risk_threshold"),
    "household_risk": Indexed("tacita.risk.identity.household_risk"),
    "benchmark": Indexed("tacita.risk.identity.benchmark"),
    "attackers": Indexed("tacita.risk.identity.attackers"),
    "l_diversity": Indexed("tacita.risk.attribute.l_diversity", called_for=("sensitive_categories",)),
    "t_closeness": Indexed("tacita.risk.attribute.t_closeness", called_for=("sensitive",)),
    "likeness": Indexed("tacita.risk.attribute.likeness", called_for=("sensitive_categories",)),
    "presence": Indexed("tacita.risk.identity.presence"),
    "unsafe_combinations": Indexed("tacita.risk.identity.unsafe_combinations"),
    "suda": Indexed("tacita.risk.identity.suda.suda"),
    "loglinear_risk": Indexed("tacita.risk.population.loglinear_risk.loglinear_risk"),
    "superpopulation": Indexed("tacita.risk.population.superpopulation.superpopulation"),
    "model_check": Indexed("tacita.risk.population.model_check"),
    "weight_disclosure": Indexed("tacita.risk.release.weight_disclosure"),
    "reconstruction": Indexed("tacita.risk.release.reconstruction.reconstruction", called_for=("original",)),
    "mixed_uniqueness": Indexed("tacita.risk.identity.mixed_uniqueness"),
    "dominance": Indexed("tacita.risk.attribute.dominance"),
    "confidentiality": Indexed(
        "tacita.risk.confidentiality_plot.confidentiality", called_for=("original", "numeric_keys", "neighbours")
    ),
    "confidentiality_sets": Indexed("tacita.risk.confidentiality_plot.confidentiality_sets"),
    "confidentiality_alphas": Indexed("tacita.risk.confidentiality_plot.confidentiality_alphas"),
    "categorical_confidentiality": Indexed("tacita.risk.confidentiality_plot.categorical_confidentiality"),
    "interval_confidentiality": Indexed("tacita.risk.confidentiality_plot.interval_confidentiality"),
    "cell_confidentiality": Indexed("tacita.risk.confidentiality_plot.cell_confidentiality"),
    "distance_linkage": Indexed("tacita.risk.linkage.distance_linkage"),
    "one_to_one_linkage": Indexed("tacita.risk.linkage.one_to_one_linkage"),
    "probabilistic_linkage": Indexed("tacita.risk.linkage.probabilistic_linkage"),
    "external_risk": Indexed("tacita.risk.external.external_risk", called_for=("comparison",)),
    "rank_linkage": Indexed("tacita.risk.linkage.rank_linkage"),
    "informed_linkage": Indexed("tacita.risk.external.informed_linkage"),
    "releases_together": Indexed("tacita.risk.external.releases_together"),
    "total_risk": Indexed("tacita.risk.external.total_risk", called_for=("comparison",)),
    "interval_disclosure": Indexed("tacita.risk.interval.interval_disclosure"),
    "rank_interval_disclosure": Indexed("tacita.risk.interval.rank_interval_disclosure"),
    "robust_interval_disclosure": Indexed("tacita.risk.interval.robust_interval_disclosure"),
    "value_loss": Indexed("tacita.loss.values.value_loss", called_for=("comparison",)),
    "correlation_loss": Indexed("tacita.loss.numbers.correlation_loss", called_for=("comparison",)),
    "numeric_loss": Indexed("tacita.loss.numbers.numeric_loss", called_for=("comparison",)),
    "class_loss": Indexed("tacita.loss.values.class_loss", called_for=("comparison",)),
    "variance_loss": Indexed("tacita.loss.numbers.variance_loss", called_for=("comparison",)),
    "distribution_loss": Indexed("tacita.loss.distributions.distribution_loss", called_for=("comparison",)),
    "association_loss": Indexed("tacita.loss.distributions.association_loss", called_for=("comparison",)),
    "table_loss": Indexed("tacita.loss.distributions.table_loss", called_for=("comparison",)),
    "propensity_loss": Indexed("tacita.loss.propensity.propensity_loss"),
    "estimate_loss": Indexed("tacita.loss.estimates.estimate_loss", called_for=("comparison",)),
    "statistic_loss": Indexed("tacita.loss.estimates.statistic_loss"),
    "inequality_loss": Indexed("tacita.loss.estimates.inequality_loss"),
}
"""Tacita's own measures, in the order in which they are shown."""
MEASURES = {name: each.module for name, each in INDEX.items()}
"""The module that each is in."""
NEEDED = {
    "keys": "keys=[...]",
    "sensitive": "sensitive variables (sensitive=[...])",
    "numeric_keys": "numeric keys (numeric_keys=[...])",
    "weight": "weights (weight=...)",
    "household": "the household identifier (household=...)",
    "register": "a register of the population (register=..., --register FILE)",
    "sample": "a sample: weights, population_size or sampling_fraction, and no register",
    "original": "the original file (original=..., --original FILE)",
    "shared_records": "released records that are in the original, and none is",
    "sensitive_categories": "sensitive variables with categories",
    "neighbours": "a limit on neighbours in the policy (neighbours=15)",
    "comparison": "a comparison of an original with its releases (compare)",
}
"""What a measure can need or be called for by, in words; other fields of the scenario by their name."""

NEEDS = (
    *(field.name for field in fields(Scenario)),
    "register",
    "original",
    "sample",
    "sensitive_categories",
    "neighbours",
    "comparison",
)
"""What a measure can need: fields of the scenario; a register or the original file; a sample, so that F is not known;
sensitive variables with categories; a limit on neighbours in the policy; or be called for by: a comparison."""


def needed_text(need: str) -> str:
    """What a measure needs, in words."""
    return NEEDED.get(need, f"{need}=... in the scenario")
