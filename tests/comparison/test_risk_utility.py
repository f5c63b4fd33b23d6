"""Releases by risk and loss: the frontier against a slow twin, and what is said of them."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacita.check import TacitaError
from tacita.comparison.risk_utility import RiskUtility, RiskUtilityPoint, risk_utility, undominated

NAN = math.nan
WORDS = {"risk_label": "re-identification rate", "loss_label": "0 nothing lost, 1 nothing left"}


def slow_undominated(points: list[tuple[float, float]]) -> list[bool]:
    """Nobody has at most the risk and at most the loss, and less of one of them."""
    found = []
    for risk, loss in points:
        beaten = any(
            other_risk <= risk and other_loss <= loss and (other_risk, other_loss) != (risk, loss)
            for other_risk, other_loss in points
        )
        found.append(not math.isnan(risk + loss) and not beaten)
    return found


figures = st.one_of(st.sampled_from([0.0, 0.1, 0.2, 0.3, NAN]), st.floats(0, 1))


@settings(max_examples=60)
@given(st.lists(st.tuples(figures, figures), min_size=1, max_size=9))
def test_the_frontier_is_that_of_the_definition(points: list[tuple[float, float]]) -> None:
    risk, loss = (np.array(each, dtype=np.float64) for each in zip(*points, strict=True))
    assert undominated(risk, loss).tolist() == slow_undominated(points)


def four() -> RiskUtility:
    points = [
        RiskUtilityPoint("recoded", 0.02, 0.3, True, 0.4),
        RiskUtilityPoint("rounded", 0.2, 0.1, False, 0.4),
        RiskUtilityPoint("both", 0.02, 0.5, True, 0.4),
        RiskUtilityPoint("synthetic", NAN, 0.6, None, 0.4),
    ]
    return risk_utility(points, **WORDS, risk_limit=0.25)


def test_what_is_said_of_four_releases() -> None:
    found = four()
    assert found.headline == "2 of 4 releases safe; the least loss of a safe one is 0.3 (recoded)"
    assert [each.name for each in found.frontier()] == ["rounded", "recoded"]
    assert found.risks_before == (0.4,)
    (table,) = found.tables()
    assert [row[0] for row in table.rows] == ["rounded", "recoded", "both", "synthetic"]
    assert [row[-1] for row in table.rows] == ["yes", "yes", "", ""]
    assert found.cautions == (
        "risk or loss was not measured, so that they have no place on the map: 'synthetic'.",
        "below the tolerable risk and yet not safe, by other limits: 'rounded'.",
    )
    assert found.to_frame()["frontier"].to_list() == [True, True, False, False]
    written = json.loads(found.to_json())
    assert written["releases"][3]["risk"] is None
    assert written["risk_limit"] == 0.25


def test_without_a_safe_release_none_is_named() -> None:
    found = risk_utility([RiskUtilityPoint("only", 0.1, 0.2)], **WORDS)
    assert found.headline == "0 of 1 release safe"
    assert found.risks_before == ()
    assert found.cautions == ()


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([], "a map needs at least one release; pass points=[...]."),
        ([RiskUtilityPoint("a", 0.1, 0.1)] * 2, "releases must be named once each; got 'a' more than once."),
        ([RiskUtilityPoint("a", -0.1, 0.1)], "risk of 'a' must be at least 0; got -0.1."),
        ([RiskUtilityPoint("a", 0.1, math.inf)], "loss of 'a' must be a number; got inf."),
    ],
)
def test_what_has_no_place_is_refused(points: list[RiskUtilityPoint], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        risk_utility(points, **WORDS)
    assert str(error.value) == message
