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
    "categorical_confidentiality": "tacita.risk.categorical_confidentiality",
    "cell_confidentiality": "tacita.risk.interval_confidentiality",
    "confidentiality": "tacita.risk.confidentiality",
    "confidentiality_sets": "tacita.risk.confidentiality",
    "confidentiality_alphas": "tacita.risk.confidentiality",
    "interval_confidentiality": "tacita.risk.interval_confidentiality",
    "distance_linkage": "tacita.risk.linkage",
    "one_to_one_linkage": "tacita.risk.linkage",
    "probabilistic_linkage": "tacita.risk.probabilistic_linkage",
    "interval_disclosure": "tacita.risk.interval",
    "rank_interval_disclosure": "tacita.risk.rank_interval",
    "robust_interval_disclosure": "tacita.risk.robust_interval",
    "Plan": "tacita.plan",
    "Release": "tacita.release",
    "Project": "tacita.project",
    "Step": "tacita.protect.step",
    "Remove": "tacita.protect.remove",
    "Recode": "tacita.protect.recode",
    "TopCode": "tacita.protect.top_code",
    "BottomCode": "tacita.protect.top_code",
    "CodeOutliers": "tacita.protect.code_outliers",
    "GroupRare": "tacita.protect.group_rare",
    "Round": "tacita.protect.round",
    "Generalise": "tacita.protect.generalise",
    "Suppress": "tacita.protect.suppress",
    "Hierarchy": "tacita.protect.hierarchies",
    "NewIdentifiers": "tacita.protect.new_identifiers",
    "RandomOrder": "tacita.protect.random_order",
    "RoundWeights": "tacita.protect.round_weights",
    "TrimWeights": "tacita.protect.trim_weights",
    "WeightNoise": "tacita.protect.weight_noise",
    "Recalibrate": "tacita.protect.recalibrate",
    "Rules": "tacita.rules",
    "EditRule": "tacita.rules",
    "Total": "tacita.rules",
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
    from tacita.project import Project as Project
    from tacita.protect.code_outliers import CodeOutliers as CodeOutliers
    from tacita.protect.generalise import Generalise as Generalise
    from tacita.protect.group_rare import GroupRare as GroupRare
    from tacita.protect.hierarchies import Hierarchy as Hierarchy
    from tacita.protect.new_identifiers import NewIdentifiers as NewIdentifiers
    from tacita.protect.random_order import RandomOrder as RandomOrder
    from tacita.protect.recalibrate import Recalibrate as Recalibrate
    from tacita.protect.recode import Recode as Recode
    from tacita.protect.remove import Remove as Remove
    from tacita.protect.round import Round as Round
    from tacita.protect.round_weights import RoundWeights as RoundWeights
    from tacita.protect.step import Step as Step
    from tacita.protect.suppress import Suppress as Suppress
    from tacita.protect.top_code import BottomCode as BottomCode
    from tacita.protect.top_code import TopCode as TopCode
    from tacita.protect.trim_weights import TrimWeights as TrimWeights
    from tacita.protect.weight_noise import WeightNoise as WeightNoise
    from tacita.random import Draws as Draws
    from tacita.release import Release as Release
    from tacita.risk.anonymity import k_anonymity as k_anonymity
    from tacita.risk.attackers import attackers as attackers
    from tacita.risk.benchmark import benchmark as benchmark
    from tacita.risk.categorical_confidentiality import categorical_confidentiality as categorical_confidentiality
    from tacita.risk.closeness import t_closeness as t_closeness
    from tacita.risk.combinations import unsafe_combinations as unsafe_combinations
    from tacita.risk.confidentiality import confidentiality as confidentiality
    from tacita.risk.confidentiality import confidentiality_alphas as confidentiality_alphas
    from tacita.risk.confidentiality import confidentiality_sets as confidentiality_sets
    from tacita.risk.diversity import l_diversity as l_diversity
    from tacita.risk.dominance import dominance as dominance
    from tacita.risk.household import household_risk as household_risk
    from tacita.risk.individual import individual_risk as individual_risk
    from tacita.risk.interval import interval_disclosure as interval_disclosure
    from tacita.risk.interval_confidentiality import cell_confidentiality as cell_confidentiality
    from tacita.risk.interval_confidentiality import interval_confidentiality as interval_confidentiality
    from tacita.risk.likeness import likeness as likeness
    from tacita.risk.linkage import distance_linkage as distance_linkage
    from tacita.risk.linkage import one_to_one_linkage as one_to_one_linkage
    from tacita.risk.loglinear import loglinear_risk as loglinear_risk
    from tacita.risk.mixed import mixed_uniqueness as mixed_uniqueness
    from tacita.risk.model_check import model_check as model_check
    from tacita.risk.presence import presence as presence
    from tacita.risk.probabilistic_linkage import probabilistic_linkage as probabilistic_linkage
    from tacita.risk.rank_interval import rank_interval_disclosure as rank_interval_disclosure
    from tacita.risk.reidentification import reidentification as reidentification
    from tacita.risk.robust_interval import robust_interval_disclosure as robust_interval_disclosure
    from tacita.risk.suda import suda as suda
    from tacita.risk.superpopulation import superpopulation as superpopulation
    from tacita.risk.threshold import risk_threshold as risk_threshold
    from tacita.risk.weights import weight_disclosure as weight_disclosure
    from tacita.rules import EditRule as EditRule
    from tacita.rules import Rules as Rules
    from tacita.rules import Total as Total
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
