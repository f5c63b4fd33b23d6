"""Tacita: statistical disclosure control for microdata.

Measure how likely the people and firms in a survey file are to be recognised, protect the file, and measure what the
protection cost.

>>> import tacita as tc
>>> survey = tc.household_survey(200, population=4000)
>>> risk = tc.assess(survey.data, survey.scenario)
>>> risk.safe
False
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# What the package offers, and the module each name lives in; loaded when first used (PEP 562).
_HOMES = {
    "Data": "tacita.data",
    "Variable": "tacita.data",
    "read": "tacita.data.files",
    "write": "tacita.data.files",
    "join_households": "tacita.data.hierarchy",
    "split_households": "tacita.data.hierarchy",
    "household_survey": "tacita.data.demo.survey",
    "business_survey": "tacita.data.demo.survey",
    "accident_survey": "tacita.data.demo.survey",
    "DemoSurvey": "tacita.data.demo.survey",
    "Scenario": "tacita.scenario",
    "KeySet": "tacita.scenario",
    "MissingRule": "tacita.scenario",
    "Policy": "tacita.policy",
    "KeyTable": "tacita.keys",
    "key_table": "tacita.keys",
    "Draws": "tacita.random",
    "assess": "tacita.assessment",
    "RiskProfile": "tacita.profile",
    "k_anonymity": "tacita.risk.anonymity",
    "individual_risk": "tacita.risk.individual",
    "reidentification": "tacita.risk.reidentification",
    "risk_threshold": "tacita.risk.threshold",
    "household_risk": "tacita.risk.household",
    "benchmark": "tacita.risk.benchmark",
    "attackers": "tacita.risk.attackers",
    "l_diversity": "tacita.risk.diversity",
    "t_closeness": "tacita.risk.closeness",
    "likeness": "tacita.risk.likeness",
    "presence": "tacita.risk.presence",
    "dominance": "tacita.risk.dominance",
    "unsafe_combinations": "tacita.risk.combinations",
    "weight_disclosure": "tacita.risk.weights",
    "mixed_uniqueness": "tacita.risk.mixed",
    "suda": "tacita.risk.suda",
    "loglinear_risk": "tacita.risk.loglinear",
    "superpopulation": "tacita.risk.superpopulation",
    "model_check": "tacita.risk.model_check",
    "confidentiality": "tacita.risk.confidentiality",
    "confidentiality_sets": "tacita.risk.confidentiality",
    "Plan": "tacita.plan",
    "Release": "tacita.release",
    "Step": "tacita.protect.step",
    "Remove": "tacita.protect.remove",
    "Round": "tacita.protect.round",
    "log_noise": "tacita.data.demo.masking",
    "save": "tacita.plots.save",
    "TacitaError": "tacita.check",
    "TacitaWarning": "tacita.check",
}

if TYPE_CHECKING:
    from tacita.assessment import assess as assess
    from tacita.check import TacitaError as TacitaError
    from tacita.check import TacitaWarning as TacitaWarning
    from tacita.data import Data as Data
    from tacita.data import Variable as Variable
    from tacita.data.demo.masking import log_noise as log_noise
    from tacita.data.demo.survey import DemoSurvey as DemoSurvey
    from tacita.data.demo.survey import accident_survey as accident_survey
    from tacita.data.demo.survey import business_survey as business_survey
    from tacita.data.demo.survey import household_survey as household_survey
    from tacita.data.files import read as read
    from tacita.data.files import write as write
    from tacita.data.hierarchy import join_households as join_households
    from tacita.data.hierarchy import split_households as split_households
    from tacita.keys import KeyTable as KeyTable
    from tacita.keys import key_table as key_table
    from tacita.plan import Plan as Plan
    from tacita.plots.save import save as save
    from tacita.policy import Policy as Policy
    from tacita.profile import RiskProfile as RiskProfile
    from tacita.protect.remove import Remove as Remove
    from tacita.protect.round import Round as Round
    from tacita.protect.step import Step as Step
    from tacita.random import Draws as Draws
    from tacita.release import Release as Release
    from tacita.risk.anonymity import k_anonymity as k_anonymity
    from tacita.risk.attackers import attackers as attackers
    from tacita.risk.benchmark import benchmark as benchmark
    from tacita.risk.closeness import t_closeness as t_closeness
    from tacita.risk.combinations import unsafe_combinations as unsafe_combinations
    from tacita.risk.confidentiality import confidentiality as confidentiality
    from tacita.risk.confidentiality import confidentiality_sets as confidentiality_sets
    from tacita.risk.diversity import l_diversity as l_diversity
    from tacita.risk.dominance import dominance as dominance
    from tacita.risk.household import household_risk as household_risk
    from tacita.risk.individual import individual_risk as individual_risk
    from tacita.risk.likeness import likeness as likeness
    from tacita.risk.loglinear import loglinear_risk as loglinear_risk
    from tacita.risk.mixed import mixed_uniqueness as mixed_uniqueness
    from tacita.risk.model_check import model_check as model_check
    from tacita.risk.presence import presence as presence
    from tacita.risk.reidentification import reidentification as reidentification
    from tacita.risk.suda import suda as suda
    from tacita.risk.superpopulation import superpopulation as superpopulation
    from tacita.risk.threshold import risk_threshold as risk_threshold
    from tacita.risk.weights import weight_disclosure as weight_disclosure
    from tacita.scenario import KeySet as KeySet
    from tacita.scenario import MissingRule as MissingRule
    from tacita.scenario import Scenario as Scenario

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tacita' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
