"""Remove variables: direct identifiers first of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import Doc
from tacita.protect.step import Applied, Context, Step, present


@dataclass(frozen=True)
class Remove(Step):
    """Remove variables from the file; without names, the scenario's direct identifiers.

    A name or a number that is in no register but the office's own still identifies a person to whoever meets it
    elsewhere: direct identifiers are never released.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"name": ["Ann", "Bo"], "sex": ["f", "m"]})
    >>> release = tc.Plan([Remove()]).apply(people, tc.Scenario(keys=["sex"], identifiers=["name"]))
    >>> release.data.columns
    ('sex',)
    """

    variables: Annotated[tuple[str, ...], Doc("The variables; none: the scenario's identifiers.")] = ()

    def apply(self, data: Data, context: Context) -> Applied:
        """The data without the variables."""
        names = present(self, self.variables or context.scenario.identifiers, data)
        if not names:
            raise TacitaError("the scenario names no identifiers to remove; pass Remove(['name', ...]).")
        if len(names) == len(data.columns):
            raise TacitaError("removing these variables would leave none; keep at least one.")
        removal = (Mechanism("removal", names),)
        return Applied(data.without(names), mechanisms=removal, public=removal)
