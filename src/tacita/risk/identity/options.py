"""Options that measures of re-identification share, declared once."""

from __future__ import annotations

from typing import Annotated, Any

from tacita.parameters import Doc, OneOf, Share
from tacita.scenario import MODELS

METHODS = ("exact", "approximate")
"""How the expectation of Benedetti and Franconi is worked out."""

Method = Annotated[str, OneOf(METHODS), Doc("`exact`, or `approximate` as in sdcMicro.")]
Quantile = Annotated[
    float | None, Share(zero=False, one=False), Doc("The risk at this quantile of F instead of its mean.")
]
Model = Annotated[
    str | None,
    OneOf(MODELS),
    Doc("How F is estimated: `latent` or `benedetti_franconi`; as the scenario says unless given."),
]
Keys = Annotated[Any, Doc("Key variables; the scenario's unless given.")]
Register = Annotated[Any, Doc("A file of the population with the same keys: F is then known.")]
