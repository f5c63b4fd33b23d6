"""Benchmark: records whose risk stands out from the main part of the file."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slow
from strategies import RULES as MISSING_RULES
from strategies import Rule, Survey, quietly, surveys
from tacita.check import TacitaError
from tacita.risk.identity.benchmark import NORMAL, RULES, Benchmark, benchmark, count_above_benchmark
from tacita.risk.identity.individual_risk import individual_risk
from tacita.scenario import Scenario

SLOW = {
    "paper": {"floor": 0.1, "factor": 3, "scale": 1.0, "strict": False},
    "sdcmicro_2": {"floor": 0.1, "factor": 2, "scale": 1.4826, "strict": True},
    "sdcmicro_3": {"floor": 0.1, "factor": 3, "scale": 1.4826, "strict": True},
    "paper_no_floor": {"floor": 0.0, "factor": 3, "scale": 1.0, "strict": False},
    "sdcmicro_2_no_floor": {"floor": 0.0, "factor": 2, "scale": 1.4826, "strict": True},
}


def test_every_rule_is_compared() -> None:
    assert set(SLOW) == set(RULES)


def test_by_hand() -> None:
    """Risks 0.1, 0.2, 0.3, 0.4 and 0.9: median 0.3, MAD 0.1, limit 0.6; one record above."""
    risks, once = np.array([0.1, 0.2, 0.3, 0.4, 0.9]), np.ones(5, dtype=np.int64)
    found, limit = count_above_benchmark(risks, once, RULES["paper"])
    assert (found, limit) == (1, pytest.approx(0.6))
    found, limit = count_above_benchmark(risks, once, RULES["sdcmicro_2"])
    assert (found, limit) == (1, pytest.approx(0.3 + 2 * NORMAL * 0.1))


def test_at_the_limit_is_standing_out_for_the_paper_only() -> None:
    """All risks alike: MAD 0, everybody is at the limit. The reference program's > leaves them out."""
    risks, once = np.full(4, 0.25), np.ones(4, dtype=np.int64)
    assert count_above_benchmark(risks, once, RULES["paper"])[0] == 4
    assert count_above_benchmark(risks, once, RULES["sdcmicro_3"])[0] == 0
    assert count_above_benchmark(np.full(4, 0.1), once, RULES["paper"])[0] == 4


def test_printed() -> None:
    frame = pl.DataFrame({"region": ["north"] * 9 + ["south"], "w": [2.0] * 10})
    found = benchmark(frame, Scenario(keys=["region"], weight="w"))
    assert (found.size, found.found, found.rule) == (10, 1, "paper")
    assert str(found) == "1 of 10 records stand out by their risk (at least 0.1)"
    assert found.to_frame().to_dicts() == [{"found": 1, "limit": found.limit, "rule": "paper"}]


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=25)
@given(survey=surveys(), missing=st.sampled_from(MISSING_RULES))
def test_equals_the_slow_one(name: str, survey: Survey, missing: Rule) -> None:
    """On the same risks, so that ties at the limit are the same ties."""
    with quietly():
        risk = individual_risk(survey.frame, survey.scenario(missing.text))
    found = Benchmark.of(risk, name)
    per_record = risk.table.per_record(risk.base).tolist()
    assert found.found == slow.benchmark(per_record, **SLOW[name])  # type: ignore[arg-type]
    assert per_record == pytest.approx(survey.risks(missing), rel=1e-12)


def test_bad_rule() -> None:
    with pytest.raises(TacitaError) as error:
        benchmark(pl.DataFrame({"a": [1]}), Scenario(keys=["a"]), rule="mad")
    assert str(error.value) == (
        "rule must be one of 'paper', 'sdcmicro_2', 'sdcmicro_3', 'paper_no_floor', 'sdcmicro_2_no_floor'; got 'mad'."
    )


def test_a_limit_that_no_risk_can_reach_is_not_printed_as_one() -> None:
    """A risk is a probability: a limit above 1 is said to be out of reach."""
    assert str(Benchmark(10, 0, 1.73, "paper")) == (
        "no record can stand out by its risk: median + factor x MAD is 1.73, above every risk"
    )
    assert str(Benchmark(10, 2, 0.05, "paper")) == "2 of 10 records stand out by their risk (at least 0.1)"
    assert str(Benchmark(10, 2, 0.2, "sdcmicro_2")) == "2 of 10 records stand out by their risk (above 0.2)"
