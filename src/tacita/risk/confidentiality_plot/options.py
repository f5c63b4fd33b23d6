"""Options that the measures of the confidentiality plot share, declared once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from tacita.check import TacitaError
from tacita.parameters import Above, AtLeast, Doc, OneOf, Share, checked_options
from tacita.policy import Policy
from tacita.risk.confidentiality_plot.scale import METRICS, ZEROS

Alpha = Annotated[float, Share(zero=False, one=False), Doc("Share of wrong pairs that count as neighbours.")]
Delta = Annotated[float | None, Above(0), Doc("Critical distance, in place of the one that alpha gives.")]
MetricName = Annotated[str, OneOf(METRICS), Doc("How unlike two records are.")]
Ratio = Annotated[bool | None, Doc("Neighbours by the likelihood ratio too; unless the file is large.")]
PolicyLimits = Annotated[Policy | None, Doc("Policy with the limits; the usual one unless given.")]
Neighbours = Annotated[int | None, AtLeast(1), Doc("Neighbours that make a record safe; the policy's.")]
Perturbation = Annotated[float | None, Above(0), Doc("Perturbation that makes a record safe; the policy's.")]
Bend = Annotated[float, Above(0), Doc("Bend of the line between safe and unsafe: 1 straight, above 1 stronger.")]
Vertical = Annotated[
    bool | None, Doc("Whether neighbours alone decide; where sensitive variables are named they do, unless r is given.")
]
Log = Annotated[bool | str, Doc("Compare on the log scale; 'unit_free' for one without units.")]
Zeros = Annotated[str, OneOf(ZEROS), Doc("On the log scale: shift zeros, or exclude their records.")]
Size = Annotated[str | None, Doc("Variable that says which unit is the largest; the first key.")]
Weighted = Annotated[bool, Doc("Count neighbours by their sampling weight: people, not records.")]
Archive = Annotated[Any, Doc("Count neighbours among the records of this file, in place of the originals.")]


def shared_options(measure: str, of: Callable[..., Any], options: Mapping[str, Any], instead: str) -> dict[str, Any]:
    """The options that a measure passes on to another, checked; it has something else in place of `keys`."""
    if "keys" in options:
        raise TacitaError(f"{measure} has no option 'keys'; pass {instead}.")
    return checked_options(of, options)
