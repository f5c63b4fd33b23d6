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
    "LargeData": "tacita.data.large_data",
    "read": "tacita.data.files",
    "write": "tacita.data.files",
    "join_households": "tacita.data.households",
    "split_households": "tacita.data.households",
    "household_survey": "tacita.data.demo.survey",
    "business_survey": "tacita.data.demo.survey",
    "accident_survey": "tacita.data.demo.survey",
    "DemoSurvey": "tacita.data.demo.survey",
    "Scenario": "tacita.scenario",
    "KeySet": "tacita.scenario",
    "MissingRule": "tacita.scenario",
    "Policy": "tacita.policy",
    "KeyTable": "tacita.keys.table",
    "key_table": "tacita.keys.table",
    "Draws": "tacita.random",
    "assess": "tacita.assessment.assess",
    "RiskProfile": "tacita.assessment.profile",
    "compare": "tacita.comparison.compare",
    "Comparison": "tacita.comparison.comparison",
    "report": "tacita.reports.report",
    "Report": "tacita.reports.report",
    "Plan": "tacita.release.plan",
    "Release": "tacita.release.release",
    "Project": "tacita.release.project",
    "Step": "tacita.protect.step",
    "Remove": "tacita.protect.remove",
    "Recode": "tacita.protect.recode.recode",
    "TopCode": "tacita.protect.top_code",
    "BottomCode": "tacita.protect.top_code",
    "CodeOutliers": "tacita.protect.code_outliers",
    "GroupRare": "tacita.protect.group_rare",
    "Round": "tacita.protect.round",
    "Generalise": "tacita.protect.generalise.generalise",
    "Suppress": "tacita.protect.suppress.suppress",
    "SuppressKey": "tacita.protect.suppress_key",
    "Hierarchy": "tacita.protect.recode.hierarchies",
    "NewIdentifiers": "tacita.protect.new_identifiers",
    "RandomOrder": "tacita.protect.random_order",
    "RoundWeights": "tacita.protect.weights.round_weights",
    "TrimWeights": "tacita.protect.weights.trim_weights",
    "WeightNoise": "tacita.protect.weights.weight_noise",
    "Recalibrate": "tacita.protect.weights.recalibrate",
    "Noise": "tacita.protect.noise.noise",
    "Pram": "tacita.protect.pram.pram",
    "corrected_table": "tacita.protect.pram.corrected_table",
    "RankSwap": "tacita.protect.swap.rank_swap",
    "SwapRecords": "tacita.protect.swap.swap_records",
    "RandomSwap": "tacita.protect.swap.random_swap",
    "Microaggregate": "tacita.protect.microaggregate.microaggregate",
    "Shuffle": "tacita.protect.shuffle.shuffle",
    "MaskByModel": "tacita.protect.model.mask_by_model",
    "MicroaggregateMixed": "tacita.protect.microaggregate.microaggregate_mixed",
    "Synthesise": "tacita.protect.synthesise.synthesise",
    "combine_copies": "tacita.protect.synthesise.combine_copies",
    "DropRecords": "tacita.protect.drop_records",
    "Sample": "tacita.protect.sample",
    "Rules": "tacita.rules",
    "EditRule": "tacita.rules",
    "Total": "tacita.rules",
    "log_noise": "tacita.data.demo.masking",
    "intruder_file": "tacita.risk.external.intruder_file",
    "save": "tacita.plots.save",
    "show_progress": "tacita.progress",
    "TacitaError": "tacita.check",
    "TacitaWarning": "tacita.check",
}

# Measures are in packages of their own, so that completion after a dot shows one page: `tacita.risk.suda(...)`.
_PACKAGES = ("risk", "loss")

if TYPE_CHECKING:
    from tacita import loss as loss
    from tacita import risk as risk
    from tacita.assessment.assess import assess as assess
    from tacita.assessment.profile import RiskProfile as RiskProfile
    from tacita.check import TacitaError as TacitaError
    from tacita.check import TacitaWarning as TacitaWarning
    from tacita.comparison.compare import compare as compare
    from tacita.comparison.comparison import Comparison as Comparison
    from tacita.data import Data as Data
    from tacita.data import Variable as Variable
    from tacita.data.demo.masking import log_noise as log_noise
    from tacita.data.demo.survey import DemoSurvey as DemoSurvey
    from tacita.data.demo.survey import accident_survey as accident_survey
    from tacita.data.demo.survey import business_survey as business_survey
    from tacita.data.demo.survey import household_survey as household_survey
    from tacita.data.files import read as read
    from tacita.data.files import write as write
    from tacita.data.households import join_households as join_households
    from tacita.data.households import split_households as split_households
    from tacita.data.large_data import LargeData as LargeData
    from tacita.keys.table import KeyTable as KeyTable
    from tacita.keys.table import key_table as key_table
    from tacita.plots.save import save as save
    from tacita.policy import Policy as Policy
    from tacita.progress import show_progress as show_progress
    from tacita.protect.code_outliers import CodeOutliers as CodeOutliers
    from tacita.protect.drop_records import DropRecords as DropRecords
    from tacita.protect.generalise.generalise import Generalise as Generalise
    from tacita.protect.group_rare import GroupRare as GroupRare
    from tacita.protect.microaggregate.microaggregate import Microaggregate as Microaggregate
    from tacita.protect.microaggregate.microaggregate_mixed import MicroaggregateMixed as MicroaggregateMixed
    from tacita.protect.model.mask_by_model import MaskByModel as MaskByModel
    from tacita.protect.new_identifiers import NewIdentifiers as NewIdentifiers
    from tacita.protect.noise.noise import Noise as Noise
    from tacita.protect.pram.corrected_table import corrected_table as corrected_table
    from tacita.protect.pram.pram import Pram as Pram
    from tacita.protect.random_order import RandomOrder as RandomOrder
    from tacita.protect.recode.hierarchies import Hierarchy as Hierarchy
    from tacita.protect.recode.recode import Recode as Recode
    from tacita.protect.remove import Remove as Remove
    from tacita.protect.round import Round as Round
    from tacita.protect.sample import Sample as Sample
    from tacita.protect.shuffle.shuffle import Shuffle as Shuffle
    from tacita.protect.step import Step as Step
    from tacita.protect.suppress.suppress import Suppress as Suppress
    from tacita.protect.suppress_key import SuppressKey as SuppressKey
    from tacita.protect.swap.random_swap import RandomSwap as RandomSwap
    from tacita.protect.swap.rank_swap import RankSwap as RankSwap
    from tacita.protect.swap.swap_records import SwapRecords as SwapRecords
    from tacita.protect.synthesise.combine_copies import combine_copies as combine_copies
    from tacita.protect.synthesise.synthesise import Synthesise as Synthesise
    from tacita.protect.top_code import BottomCode as BottomCode
    from tacita.protect.top_code import TopCode as TopCode
    from tacita.protect.weights.recalibrate import Recalibrate as Recalibrate
    from tacita.protect.weights.round_weights import RoundWeights as RoundWeights
    from tacita.protect.weights.trim_weights import TrimWeights as TrimWeights
    from tacita.protect.weights.weight_noise import WeightNoise as WeightNoise
    from tacita.random import Draws as Draws
    from tacita.release.plan import Plan as Plan
    from tacita.release.project import Project as Project
    from tacita.release.release import Release as Release
    from tacita.reports.report import Report as Report
    from tacita.reports.report import report as report
    from tacita.risk.external.intruder_file import intruder_file as intruder_file
    from tacita.rules import EditRule as EditRule
    from tacita.rules import Rules as Rules
    from tacita.rules import Total as Total
    from tacita.scenario import KeySet as KeySet
    from tacita.scenario import MissingRule as MissingRule
    from tacita.scenario import Scenario as Scenario

__all__ = ["__version__", *_PACKAGES, *_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"tacita.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'tacita' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
