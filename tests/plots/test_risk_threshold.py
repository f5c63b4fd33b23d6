"""The figure of a risk threshold: its points by hand, and what the chart says."""

import polars as pl
import pytest

import tacita as tc
from tacita.plots.risk_threshold import MOST_POINTS, risk_threshold_points

SIX = pl.DataFrame({"a": [1, 2, 2, 3, 3, 3]})
WHO = tc.Scenario(keys=["a"])


def test_points_by_hand() -> None:
    # In a census the risks are 1, 1/2 twice and 1/3 three times; B(t) = sum of min(risk, t).
    points = risk_threshold_points(tc.risk.risk_threshold(SIX, WHO, threshold=0.4))
    assert points["threshold"].to_list() == pytest.approx([1 / 3, 0.4, 1 / 2, 1.0])
    assert points["unsafe"].to_list() == [3, 3, 1, 0]
    assert points["expected"].to_list() == pytest.approx([6 / 3, 1 + 3 * 0.4, 1 + 3 / 2, 3.0])


def test_very_many_risks_are_thinned_and_the_chosen_one_stays() -> None:
    many = pl.DataFrame({"a": range(2000), "w": [2.0 + 0.01 * place for place in range(2000)]})
    found = tc.risk.risk_threshold(many, tc.Scenario(keys=["a"], weight="w"), unsafe=700)
    points = risk_threshold_points(found)
    assert MOST_POINTS <= len(points) <= MOST_POINTS + 1
    assert points.filter(pl.col("threshold") == found.risk)["unsafe"].to_list() == [700]
    assert points["unsafe"].is_sorted(descending=True)
    assert points["expected"].is_sorted()


@pytest.mark.parametrize("file", [SIX, SIX[:1], pl.DataFrame({"a": [1, 1]})])
def test_the_chart_marks_the_chosen_threshold(file: pl.DataFrame) -> None:
    found = tc.risk.risk_threshold(file, WHO, rate=0.5)
    chart = found.plot().to_dict()
    assert found.figures() == ("risk_threshold",)
    assert f"threshold {found.risk:.3g}" in chart["title"]["subtitle"][0]
    drawn = [rows for rows in chart["datasets"].values() if len(rows) == 1 and "unsafe" not in rows[0]]
    assert drawn
    assert all(rows[0]["threshold"] == pytest.approx(found.risk) for rows in drawn)
    assert len(chart["vconcat"]) == 2
