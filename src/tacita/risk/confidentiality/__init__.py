"""The confidentiality plot: how well does each released record hide, and how far was it moved?

For numbers every record is unique, so risk is a matter of likeness: how many originals look like the released record,
and how much was it changed. Each record is a point with those two coordinates.
"""

from tacita.risk.confidentiality.alphas import ConfidentialityAlphas, confidentiality_alphas
from tacita.risk.confidentiality.files import ZEROS, aligned
from tacita.risk.confidentiality.limits import NEIGHBOURS, PERTURBATION, Limits
from tacita.risk.confidentiality.measure import confidentiality
from tacita.risk.confidentiality.pairs import LikelihoodRatio
from tacita.risk.confidentiality.result import Confidentiality
from tacita.risk.confidentiality.scale import METRICS
from tacita.risk.confidentiality.sets import ConfidentialitySets, confidentiality_sets

__all__ = [
    "METRICS",
    "NEIGHBOURS",
    "PERTURBATION",
    "ZEROS",
    "Confidentiality",
    "ConfidentialityAlphas",
    "ConfidentialitySets",
    "LikelihoodRatio",
    "Limits",
    "aligned",
    "confidentiality",
    "confidentiality_alphas",
    "confidentiality_sets",
]
