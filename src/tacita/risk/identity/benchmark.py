"""Benchmark: which records stand out from the main part of the file by their risk?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import frame
from tacita.arrays import Floats, Ints
from tacita.measures import measure
from tacita.parameters import Doc, OneOf
from tacita.result import Result
from tacita.risk.identity.individual_risk import IndividualRisk, individual_risk, quantiles
from tacita.risk.identity.options import Keys, Method, Model, Quantile, Register
from tacita.scenario import Scenario


class BenchmarkRule(NamedTuple):
    """A record stands out when its risk reaches the floor and median + factor x MAD."""

    floor: float
    factor: float
    strict: bool


NORMAL = 1.4826
"""Makes the MAD of normal data its standard deviation; the reference program multiplies by it."""

RULES = {
    "paper": BenchmarkRule(0.1, 3.0, strict=False),
    "sdcmicro_2": BenchmarkRule(0.1, 2.0 * NORMAL, strict=True),
    "sdcmicro_3": BenchmarkRule(0.1, 3.0 * NORMAL, strict=True),
    "paper_no_floor": BenchmarkRule(0.0, 3.0, strict=False),
    "sdcmicro_2_no_floor": BenchmarkRule(0.0, 2.0 * NORMAL, strict=True),
}
"""`paper`: Templ's lecture; `sdcmicro_2` and `sdcmicro_3`: that program's two printed rules."""


def count_above_benchmark(risk: Floats, counts: Ints, rule: BenchmarkRule) -> tuple[int, float]:
    """How many records have a risk above the benchmark, and its limit median + factor x MAD."""
    (middle,) = quantiles(risk, (0.5,), counts)
    (deviation,) = quantiles(np.abs(risk - middle), (0.5,), counts)
    limit = middle + rule.factor * deviation
    above = (risk > rule.floor) & (risk > limit) if rule.strict else (risk >= rule.floor) & (risk >= limit)
    return int(counts[above].sum()), limit


@dataclass(frozen=True, eq=False)
class Benchmark(Result):
    """How many records have a risk far above the main part of the file."""

    size: int
    """Number of records."""
    found: int
    """Records that stand out."""
    limit: float
    """median + factor x MAD of the risks."""
    rule: str
    """Name of the rule."""

    @classmethod
    def of(cls, risk: IndividualRisk, rule: str = "paper") -> Benchmark:
        """The records that stand out among individual risks."""
        found, limit = count_above_benchmark(risk.base, risk.table.records, RULES[rule])
        return cls(risk.table.size, found, limit, rule)

    @property
    def headline(self) -> str:
        """Records that stand out."""
        rule = RULES[self.rule]
        least = max(rule.floor, self.limit)
        if least > 1:
            return f"no record can stand out by its risk: median + factor x MAD is {least:.3g}, above every risk"
        words = "above" if rule.strict else "at least"
        return f"{self.found:,} of {self.size:,} records stand out by their risk ({words} {least:.3g})"

    def to_dict(self) -> dict[str, Any]:
        """Records that stand out, the limit and the rule."""
        return {"found": self.found, "limit": self.limit, "rule": self.rule}

    def to_frame(self) -> frame.Frame:
        """One row: records that stand out and the limit."""
        return frame.table({"found": [self.found], "limit": [self.limit], "rule": [self.rule]})


@measure(by_key=True, needs="keys")
def benchmark(
    data: Any,
    scenario: Scenario,
    *,
    rule: Annotated[
        str, OneOf(tuple(RULES)), Doc("Which floor and limit, and whether they must be exceeded.")
    ] = "paper",
    model: Model = None,
    method: Method = "exact",
    quantile: Quantile = None,
    keys: Keys = None,
    register: Register = None,
) -> Benchmark:
    """How many records have a risk of at least 0.1 and at least median + 3 MAD (not rescaled) of all risks.

    Reference: Templ (2019), Disclosure risk, equation 2.

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["north"] * 9 + ["south"], "w": [2.0] * 10})
    >>> benchmark(people, Scenario(keys=["region"], weight="w")).found
    1
    """
    risk = individual_risk(data, scenario, model=model, method=method, quantile=quantile, keys=keys, register=register)
    return Benchmark.of(risk, rule)
