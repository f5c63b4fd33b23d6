"""Blur: multiply numbers by factors near 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import Doc, NotEmpty, Share
from tacita.protect.numeric_column import numbers_of, written
from tacita.protect.step import Applied, CellStep, Context, present


@dataclass(frozen=True)
class Blur(CellStep):
    """Multiply numbers by a factor drawn between 1 - `share` and 1 + `share`.

    >>> import tacita as tc, polars as pl
    >>> firms = pl.DataFrame({"town": ["here", "there"], "turnover": [100.0, 200.0]})
    >>> release = tc.Plan([Blur("turnover", share=0.1)]).apply(firms, tc.Scenario(keys=["town"]))
    >>> bool(release.data.table["turnover"].is_between(90, 220).all())
    True
    """

    variables: Annotated[tuple[str, ...], NotEmpty(), Doc("The numbers to blur.")]
    share: Annotated[float, Share(zero=False, one=False), Doc("The greatest relative change.")] = 0.05

    @property
    def draws(self) -> bool:
        """The factors are drawn."""
        return True

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with every number blurred on its own."""
        names = present(self, self.variables, data)
        blurred = {}
        for name in names:
            factor = 1 + self.share * (2 * context.draws.step(name).uniform(data.record) - 1)
            given = numbers_of(data, name)
            # Codes for missing and not applicable are no measurements, and stay.
            blurred[name] = written(data, name, given, given.values * factor)
        noise = Mechanism("noise", names, {"share": self.share}, perturbs=True)
        return Applied(
            data.with_columns(blurred), mechanisms=(noise,), public=(Mechanism("noise", names, perturbs=True),)
        )
