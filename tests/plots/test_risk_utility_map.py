"""The R-U map: its points and corners by hand, and names that cover neither each other nor the points."""

import math
from typing import Any

import numpy as np
import pytest

from tacita.check import TacitaError
from tacita.comparison.risk_utility import RiskUtility, RiskUtilityPoint, risk_utility
from tacita.plots.labels import MARK, placed, text_width
from tacita.plots.risk_utility_map import risk_utility_map_frontier, risk_utility_map_points

NAN = math.nan


def mapped(*points: tuple[Any, ...], limit: float | None = 0.05) -> RiskUtility:
    given = [RiskUtilityPoint(*each) for each in points]
    return risk_utility(given, risk_label="rate", loss_label="0 none, 1 all", risk_limit=limit)


FOUR = (
    ("recoded", 0.02, 0.3, True, 0.4),
    ("rounded", 0.2, 0.1, False, 0.4),
    ("both", 0.02, 0.5, None, 0.4),
    ("unknown", NAN, 0.6, None, 0.4),
)


def written(chart: Any) -> list[str]:
    """The names that a chart writes beside points."""
    sets = chart.to_dict()["datasets"].values()
    return [row["text"] for rows in sets for row in rows if "text" in row and "foot" not in row]


def subtitle(chart: Any) -> str:
    return " ".join(chart.to_dict()["title"]["subtitle"])


def test_points_and_corners_by_hand() -> None:
    found = mapped(*FOUR)
    assert risk_utility_map_points(found).rows() == [
        ("original", "original", 0.4, 0.0, False),
        ("recoded", "safe", 0.02, 0.3, True),
        ("rounded", "not safe", 0.2, 0.1, True),
        ("both", "not assessed", 0.02, 0.5, False),
    ]
    assert risk_utility_map_frontier(found).rows() == [(0.0, 0.4), (0.1, 0.2), (0.3, 0.02)]
    chart = found.plot()
    assert found.figures() == ("risk_utility_map",)
    assert sorted(written(chart)) == ["both", "original", "recoded", "rounded"]
    assert "3 releases" in subtitle(chart)
    assert "1 release without risk or loss not drawn" in subtitle(chart)


def test_a_release_without_loss_starts_the_frontier_itself() -> None:
    found = mapped(("a", 0.1, 0.0, True, 0.4), ("b", 0.1, 0.0, False, 0.4))
    assert risk_utility_map_frontier(found).rows() == [(0.0, 0.1)]
    # Two releases at one place: one label, and a point of each verdict beside the other.
    chart = found.plot()
    assert "a, b" in written(chart)
    (rows,) = [rows for rows in chart.to_dict()["datasets"].values() if "measured" in rows[0]]
    drawn = {row["name"]: row["loss"] for row in rows}
    assert drawn["a"] < 0 < drawn["b"]
    assert {row["cost"] for row in rows} == {0.0}


def test_zero_is_drawn_at_the_foot_of_a_log_scale() -> None:
    found = mapped(("a", 0.0, 0.5, True, 0.4), ("b", 0.001, 0.2, True, 0.4))
    chart = found.plot().to_dict()
    assert "0 below the dotted line" in subtitle(found.plot())
    (rows,) = [rows for rows in chart["datasets"].values() if "measured" in rows[0]]
    shown = {row["name"]: row["risk"] for row in rows}
    assert 0 < shown["a"] < shown["b"] / 5
    assert [row["measured"] for row in rows if row["name"] == "a"] == [0.0]
    # Without a zero there is no foot, and with close risks no log scale.
    assert "dotted" not in subtitle(mapped(("b", 0.001, 0.2, True, 0.4)).plot())
    assert "log" not in subtitle(mapped(("b", 0.1, 0.2, True, 0.4)).plot())


def test_nothing_to_draw_is_said() -> None:
    with pytest.raises(TacitaError, match="no release has both a risk and a loss"):
        mapped(("a", NAN, 0.2)).plot()


@pytest.mark.parametrize("releases", [1, 2, 20, 50])
def test_names_do_not_cover_each_other_or_points(releases: int) -> None:
    at = np.arange(releases)
    points = np.column_stack([40 + (at * 37) % 480, 30 + (at * 71) % 320]).astype(np.float64)
    texts = [f"release number {each}" for each in at]
    places = placed(points, texts, np.empty((0, 4)), (560, 380))
    boxes = [(p.x, p.y - 6, p.x + p.width, p.y + 6) for p in places if p is not None]
    assert len(boxes) >= (releases if releases <= 20 else 40)
    marks = [(x - MARK, y - MARK, x + MARK, y + MARK) for x, y in points.tolist()]
    for place, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0
        assert top >= -1
        assert right <= 560
        assert bottom <= 381
        for other in [*boxes[:place], *boxes[place + 1 :], *marks]:
            across = min(right, other[2]) - max(left, other[0])
            down = min(bottom, other[3]) - max(top, other[1])
            assert across <= 0 or down <= 0 or across * down < 5


def test_long_names_are_cut_and_many_at_one_place_counted() -> None:
    long = "a name much longer than any figure could ever show beside a point"
    names = written(mapped((long, 0.1, 0.2, True, 0.4)).plot())
    assert [name for name in names if name.startswith("a name")] == [long[:33] + "…"]
    same = [(f"r{each}", 0.1, 0.2, True, 0.4) for each in range(5)]
    assert "r0, r1 and 3 more" in written(mapped(*same).plot())
    assert text_width("mm", 11) > text_width("ii", 11)
