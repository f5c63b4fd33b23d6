"""Outliers over several variables: records far from the bulk are brought to its border, or made alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.covariance import mcd, squared_distance
from tacita.mechanism import Mechanism
from tacita.parameters import Doc, NotEmpty, OneOf, Share
from tacita.protect.numeric_table import numeric_table, with_numbers
from tacita.protect.step import Applied, CellStep, Context
from tacita.protect.top_code import centre, few_share
from tacita.random import Draws

VALUES = ("border", "mean", "median")
STARTS = 1
"""The seed of the starts of the robust estimate. They decide nothing that could be undone, so a plan needs no secret
here and does the same every time."""


MOST = 100_000
"""So many records are enough for a robust estimate; of a larger file they are drawn by record number."""


def middle(values: Floats, records: Ints, robust: bool, most: int = MOST) -> tuple[Floats, Floats]:
    """Mean and covariance of the rows, or the robust ones (MCD), which outliers do not reach."""
    if robust:
        draws = Draws(STARTS)
        rows = (
            np.argsort(draws.step("sample").bits(records), kind="stable")[:most] if len(records) > most else slice(None)
        )
        core = mcd(values[rows], draws, records=records[rows])
        return core.centre, core.covariance
    return values.mean(axis=0), np.atleast_2d(np.cov(values, rowvar=False))


def at_border(values: Floats, centre: Floats, squared: Floats, limit: float) -> Floats:
    """Rows moved towards the centre until their squared distance is the limit; those within it stay.

    >>> at_border(np.array([[4.0, 0.0], [1.0, 1.0]]), np.zeros(2), np.array([16.0, 2.0]), 4.0).tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """
    factor = np.where(squared > limit, np.sqrt(limit / np.where(squared > limit, squared, 1.0)), 1.0)
    # A row that stays must stay to the last bit.
    moved: Floats = np.where(factor[:, None] < 1.0, centre + (values - centre) * factor[:, None], values)
    return moved


@dataclass(frozen=True)
class CodeOutliers(CellStep):
    """Bring records that are extreme on several variables together to the border of the rest.

    A large firm with a small turnover stands out though neither number does. The distance is Mahalanobis', d^2 = (x -
    m)' S^-1 (x - m), from the robust centre and covariance of the complete records (MCD), or the plain ones; a record
    is extreme if d^2 exceeds the `quantile` of the chi-squared distribution with as many degrees of freedom as
    there are variables. It is moved towards the centre, m + (x - m) q/d with the quantile q^2, or all extreme records
    get the mean or median of all of them, which keeps totals (mean).

    Extreme are the small as well as the large. Records with a missing value are not judged and stay. Whole numbers stay
    whole, rounded. The robust estimate takes 100,000 of the records, if there are more.

    Reference: Rousseeuw and Van Driessen (1999), Technometrics 41.

    >>> import tacita as tc, polars as pl
    >>> x = [float(v) for v in range(40)]
    >>> firms = pl.DataFrame({"x": [*x, 90.0], "y": [*((v * 7) % 40 for v in x), 95.0], "nace": ["A"] * 41})
    >>> release = tc.Plan([CodeOutliers(["x", "y"])]).apply(firms, tc.Scenario(keys=["nace"]))
    >>> release.changes[0].records, release.data.table["x"][40] < 60
    (1, True)
    """

    variables: Annotated[tuple[str, ...], NotEmpty(), Doc("The variables, which must hold numbers.")]
    quantile: Annotated[
        float,
        Share(zero=False, one=False),
        Doc("The quantile of the chi-squared distribution beyond which a squared distance is extreme."),
    ] = 0.975
    robust: Annotated[bool, Doc("Whether outliers may not influence what counts as outlying.")] = True
    value: Annotated[
        str, OneOf(VALUES), Doc("What they get: 'border', or the 'mean' or 'median' of the extreme records.")
    ] = "border"
    log: Annotated[
        bool,
        Doc(
            "Whether distances are measured on the logarithms, as they should be of skewed variables; all"
            " must be above 0."
        ),
    ] = False

    def apply(self, data: Data, context: Context) -> Applied:
        """The data without records that stand out."""
        from scipy.special import chdtri

        given = numeric_table(self, self.variables, data)
        names, judged = given.names, given.complete
        values = given.values[judged]
        self._check(names, values)
        scaled = np.log(values) if self.log else values
        origin, covariance = middle(scaled, given.record[judged], self.robust)
        squared = squared_distance(scaled, origin, covariance)
        limit = float(chdtri(len(names), 1.0 - self.quantile))
        extreme = squared > limit
        count = int(extreme.sum())
        figures = {"records_judged": len(values), "records_coded": count}
        coding = self._mechanism(names, count)
        if not count:
            return Applied(data, (), figures, (coding,), (coding.with_parameters("quantile", "value"),))
        if self.value == "border":
            border = at_border(scaled, origin, squared, limit)
            moved, said = np.exp(border) if self.log else border, []
        else:
            moved, said = self._alike(values, extreme), few_share(", ".join(names), count, context.policy.k)
        fresh = given.values.copy()
        # The others must stay to the last bit.
        fresh[np.flatnonzero(judged)[extreme]] = moved[extreme]
        made = with_numbers(data, given, fresh)
        return Applied(made, tuple(said), figures, (coding,), (coding.with_parameters("quantile", "value"),))

    def _mechanism(self, names: tuple[str, ...], count: int) -> Mechanism:
        given = {
            "quantile": self.quantile,
            "robust": self.robust,
            "value": self.value,
            "log": self.log,
            "records": count,
        }
        return Mechanism("outlier coding", names, given, perturbs=count > 0)

    def _check(self, names: tuple[str, ...], values: Floats) -> None:
        if self.log and not (values > 0).all():
            wrong = check.counted(int((values <= 0).any(axis=1).sum()), "record")
            raise TacitaError(f"{wrong} of {check.quoted(names)} not above 0 have no logarithm; pass log=False.")
        if len(values) <= len(names) + 1:
            complete = check.counted(len(values), "record has", "records have")
            raise TacitaError(
                f"{complete} all of {check.quoted(names)}, too few for a covariance; leave out variables that are "
                f"often missing."
            )

    def _alike(self, values: Floats, extreme: Bools) -> Floats:
        """All extreme records get one value per variable."""
        if extreme.sum() < 2:
            raise TacitaError("one record is extreme, and its mean would be what it has; choose a lower quantile.")
        codes = [centre(values[extreme, place], self.value) for place in range(values.shape[1])]
        return np.where(extreme[:, None], np.array(codes), values)
