"""Total risk: the mean of its parts, and where there is none."""

import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data
from tacita.risk.external.total_risk import total_risk

WHO = tc.Scenario(keys=["job", "town"], weight="w")
PEOPLE = pl.DataFrame({"job": ["a", "a", "b", "b"], "town": [1, 2, 1, 2], "w": [10.0, 20.0, 30.0, 40.0]})


def test_it_is_the_mean_of_its_parts() -> None:
    masked = PEOPLE.with_columns(town=pl.Series([None, 2, 1, 2]))
    found = total_risk(PEOPLE, masked, WHO)
    assert found.internal == tc.risk.reidentification(masked, WHO).rate
    assert found.external == 0.75
    assert found.total == (found.internal + 0.75) / 2
    assert total_risk(PEOPLE, masked, WHO, suppressed="any").external == 1.0
    only = total_risk(PEOPLE, masked, WHO, weights=(0, 2))
    assert only.total == only.external
    assert found.to_dict()["total"] == found.total
    assert found.headline.startswith("total risk ")


def test_greater_weights_do_not_lower_it() -> None:
    """A file that was written with other weights is judged by those of the original, as an assessment judges it."""
    heavier = PEOPLE.with_columns(w=pl.col("w") * 100)
    assert total_risk(PEOPLE, heavier, WHO).internal == tc.risk.reidentification(PEOPLE, WHO).rate
    assert tc.risk.reidentification(heavier, WHO).rate < 0.1 * tc.risk.reidentification(PEOPLE, WHO).rate


def test_there_is_none_where_keys_were_perturbed() -> None:
    masked = Data.of(PEOPLE).with_perturbed(["job"])
    with pytest.warns(tc.TacitaWarning, match="the key 'job' was perturbed"):
        found = total_risk(PEOPLE, masked, WHO)
    assert found.not_valid
    assert found.headline == "no total risk: internal risk is not valid here; external risk 100 %"
    assert (found.to_dict()["total"], found.to_dict()["internal"]) == (None, None)
    (verdict,) = found.verdicts(tc.Policy(limits={"total_risk": 0.5}))
    assert verdict.holds is None


def test_weights() -> None:
    for wrong in ([1], "half", [-1, 2], [0, 0]):
        with pytest.raises(TacitaError, match="weights must"):
            total_risk(PEOPLE, PEOPLE, WHO, weights=wrong)
