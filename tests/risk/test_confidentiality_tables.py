"""The tables of Seri and Polettini (2003), several key sets and alphas, the policy's limits, and the figures."""

import math

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.plots.alphas import alphas_cells, alphas_points
from tacita.plots.comparison_histograms import comparison_histograms_points
from tacita.plots.densities import densities_points
from tacita.plots.likelihood_ratio import likelihood_ratio_points
from tacita.plots.strata import MOST_PANELS, MOST_POINTS
from tacita.risk.confidentiality_plot.confidentiality_alphas import ConfidentialityAlphas, confidentiality_alphas
from tacita.risk.confidentiality_plot.confidentiality_sets import ConfidentialitySets

KEYS = ["turnover", "employees", "exports", "rd_expenditure"]


@pytest.fixture(scope="module")
def cases() -> ConfidentialitySets:
    survey = tc.business_survey(600, exporters=True)
    masked = tc.log_noise(survey.data, KEYS, sd=0.5)
    return tc.risk.confidentiality_sets(
        survey.data,
        masked,
        tc.Scenario(numeric_keys=["any"]),
        key_sets=[KEYS[:size] for size in (1, 2, 3, 4)],
        strata="industry",
        log=True,
    )


def test_six_tables_print_in_their_order(cases: ConfidentialitySets) -> None:
    text = str(cases)
    heads = [line for line in text.splitlines() if line.startswith("Table ")]
    assert [line.split(".")[0] for line in heads] == [f"Table {number}" for number in range(1, 7)]
    assert heads[0].startswith("Table 1. Kolmogorov-Smirnov")
    assert heads[4] == "Table 5. case 4: turnover, employees, exports, rd_expenditure"
    assert heads[5] == "Table 6. Which of the ten largest units by turnover keep their rank"
    assert text.count("depend on the units of the keys") == 1
    assert text.splitlines()[0].startswith("case 1: ")


def test_tables_as_frames(cases: ConfidentialitySets) -> None:
    first = cases.ks_table()
    assert first.columns == ["keys", "stratum", "records", "distance", "error", "log_p"]
    assert (first.height, first["keys"].unique().len()) == (32, 4)
    part = cases.parts["case 2"]
    assert first.filter(first["keys"] == "case 2")["distance"].to_list() == [
        each.distance for each in part.ratios or ()
    ]
    tables = cases.to_frame()
    assert (tables.height, tables.filter(tables["stratum"] == "all").height) == (36, 4)
    here = tables.filter(tables["keys"] == "case 2")
    strata, total = here.filter(here["stratum"] != "all"), here.filter(here["stratum"] == "all").row(0, named=True)
    for name in ("records", "true_link_inside", "likely_links", "empty", "unsafe"):
        assert strata[name].sum() == total[name]
    assert total["nearest_links"] == pytest.approx(strata["nearest_links"].sum())
    assert total["delta"] == pytest.approx(strata["delta"].mean())
    assert total["tau"] == pytest.approx(strata["tau"].mean())
    weighted = (strata["records"] * strata["expected_neighbours"]).sum() / 600
    assert total["expected_neighbours"] == pytest.approx(weighted)
    ranks = cases.rank_table()
    assert ranks.columns[:3] == ["size", "stratum", "preserved"]
    assert ranks.height == 8


def test_mean_neighbours_are_alpha_n_less_1_and_the_true_links(cases: ConfidentialitySets) -> None:
    for part in cases.parts.values():
        for row in part.rows()[:-1]:
            pairs = row.records * (row.records - 1)
            counted = row.mean_neighbours * row.records - row.true_link_inside
            assert counted == pytest.approx(int(0.05 * pairs), abs=1)
            assert row.mean_neighbours <= row.expected_neighbours + row.true_link_inside / row.records + 1e-9


def test_the_pattern_of_the_report(cases: ConfidentialitySets) -> None:
    """Delta and the true links inside grow with the keys, and the ratio finds about what the distance finds."""
    rows = [part.rows()[-1] for part in cases.parts.values()]
    assert [row.delta for row in rows] == sorted(row.delta for row in rows)
    assert [row.true_link_inside for row in rows] == sorted(row.true_link_inside for row in rows)
    for row in rows[1:]:
        assert row.likely_links == pytest.approx(row.true_link_inside, rel=0.2)


def test_ks_text_by_hand() -> None:
    original, released = pl.DataFrame({"x": [10.0, 20.0, 40.0]}), pl.DataFrame({"x": [11.0, 20.0, 30.0]})
    found = tc.risk.confidentiality(original, released, tc.Scenario(numeric_keys="x"), alpha=0.4)
    log_p = math.log(2) - 2 * (5 / 6) ** 2 * 2
    assert found.ks_text().splitlines() == ["stratum  records       D  ln p", f"all            3  0.8333  {log_p:.1f}"]


def test_rank_text_by_hand() -> None:
    """Eleven units in one stratum, two in the other: the largest two change places, the others keep theirs."""
    size = [float(value) for value in range(11, 0, -1)]
    moved = [10.5, 11.5, *size[2:]]
    original = pl.DataFrame({"g": ["a"] * 11 + ["b"] * 2, "x": [*size, 2.0, 1.0]})
    released = pl.DataFrame({"g": ["a"] * 11 + ["b"] * 2, "x": [*moved, 2.0, 1.5]})
    found = tc.risk.confidentiality(original, released, tc.Scenario(numeric_keys="x"), strata="g", ratio=False)
    assert found.rank_text().splitlines() == [
        "stratum  kept  1  2  3  4  5  6  7  8  9  10",
        "a           8  -  -  X  X  X  X  X  X  X   X",
        "b           2  X  X",
    ]
    assert found.rank_table()["preserved"].to_list() == [8, 2]


def test_equal_units_are_ranked_by_their_numbers() -> None:
    data = tc.Data(pl.DataFrame({"x": [5.0, 9.0, 9.0]}), numbers_of_records=np.array([30, 20, 10]))
    found = tc.risk.confidentiality(data, data, tc.Scenario(numeric_keys="x"), ratio=False)
    assert found.largest.tolist() == [False, False, True]
    assert found.ranks[0].tolist() == [True] * 3 + [False] * 7


def test_a_stratum_called_all() -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 5.0], "g": ["all", "all", "b", "b"]})
    found = tc.risk.confidentiality(frame, frame, tc.Scenario(numeric_keys="x"), strata="g", ratio=False)
    assert found.table()["stratum"].to_list() == ["all", "b", "all strata"]


def test_sets_of_different_sizes_and_records() -> None:
    """Two size variables have two tables of ranks; key sets that leave out other records have their own counts."""
    frame = pl.DataFrame({"a": [1.0, 2.0, 4.0, None], "b": [3.0, 1.0, 2.0, 7.0]})
    found = tc.risk.confidentiality_sets(
        frame, frame, tc.Scenario(numeric_keys=["any"]), key_sets={"one": ["a"], "two": ["b"]}, alpha=0.3
    )
    assert [line for line in str(found).splitlines() if "keep their rank" in line] == [
        "Table 4. Which of the ten largest units by a keep their rank",
        "Table 5. Which of the ten largest units by b keep their rank",
    ]
    assert found.ks_table()["records"].to_list() == [3, 4]
    assert found.ks_text().count("stratum") == 2
    assert set(found.to_dict()) == {"one", "two"}


def test_sets_without_ratio_have_no_first_table() -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0, 4.0]})
    text = str(
        tc.risk.confidentiality_sets(frame, frame, tc.Scenario(numeric_keys=["any"]), key_sets=[["a"]], ratio=False)
    )
    assert "Kolmogorov" not in text
    assert "Table 1. case 1: a" in text


def test_set_messages() -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0]})
    for sets, message in [
        ({}, "name at least one set of keys; pass key_sets={'small': [...], 'large': [...]}."),
        ("a", "key_sets must be a table of names, as in {'age': ...}; got 'a'."),
    ]:
        with pytest.raises(tc.TacitaError) as error:
            tc.risk.confidentiality_sets(frame, frame, tc.Scenario(numeric_keys=["any"]), key_sets=sets)
        assert str(error.value) == message


# Several alphas.


@pytest.fixture(scope="module")
def several() -> ConfidentialityAlphas:
    survey = tc.business_survey(400, exporters=True)
    masked = tc.log_noise(survey.data, KEYS, sd=0.5)
    return confidentiality_alphas(survey.data, masked, tc.Scenario(numeric_keys=KEYS[:2]), strata="industry", log=True)


def test_alphas_are_the_measure_at_each_alpha(several: ConfidentialityAlphas) -> None:
    survey = tc.business_survey(400, exporters=True)
    masked = tc.log_noise(survey.data, KEYS, sd=0.5)
    assert list(several.parts) == [0.01, 0.05, 0.1]
    for alpha, part in several.parts.items():
        alone = tc.risk.confidentiality(
            survey.data,
            masked,
            tc.Scenario(numeric_keys=KEYS[:2]),
            strata="industry",
            log=True,
            alpha=alpha,
            ratio=False,
        )
        assert part.to_frame().equals(alone.to_frame())
        assert part.table().equals(alone.table())
    unsafe = [int(part.unsafe.sum()) for part in several.parts.values()]
    assert unsafe == sorted(unsafe, reverse=True)


def test_alphas_as_frame_and_text(several: ConfidentialityAlphas) -> None:
    table = several.to_frame()
    assert table.columns[:2] == ["alpha", "stratum"]
    assert table.height == 27
    total = table.filter(table["stratum"] == "all")
    lines = str(several).splitlines()
    assert lines[1].split()[0] == "alpha"
    assert [line.split()[0] for line in lines[2:5]] == ["0.01", "0.05", "0.1"]
    assert [line.split()[1] for line in lines[2:5]] == [f"{100 * delta:.3g}" for delta in total["delta"]]


@pytest.mark.parametrize("alphas", [(), "0.1", 0.1])
def test_alphas_must_be_a_list(alphas: object) -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0]})
    with pytest.raises(tc.TacitaError) as error:
        confidentiality_alphas(frame, frame, tc.Scenario(numeric_keys="a"), alphas=alphas)
    assert str(error.value) == f"alphas must be a list of shares, as in (0.01, 0.05, 0.1); got {alphas!r}."


# The policy's limits.


def test_limits_are_those_of_the_policy_unless_told() -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 40.0]})

    def limits(**words: object) -> tuple[float, ...]:
        return tuple(tc.risk.confidentiality(frame, frame, tc.Scenario(numeric_keys="x"), ratio=False, **words).limits)  # type: ignore[arg-type]

    assert limits() == (15, 0.15, 1.0, False)
    strict = tc.Policy(neighbours=30, perturbation=0.4)
    assert limits(policy=strict) == (30, 0.4, 1.0, False)
    assert limits(policy=strict, k=5, g=2.0) == (5, 0.4, 2.0, False)
    assert limits(policy=strict, r=0.2) == (30, 0.2, 1.0, False)
    alone = tc.Policy(perturbation=None)
    assert limits(policy=alone)[3] is True
    assert limits(policy=alone, r=0.2) == (15, 0.2, 1.0, False)
    with pytest.raises(tc.TacitaError) as error:
        limits(policy=tc.Policy(neighbours=None))
    assert str(error.value) == "the policy has no limit on neighbours, so nothing is unsafe; pass k=."
    assert limits(policy=tc.Policy(neighbours=None), k=4)[0] == 4
    several = confidentiality_alphas(frame, frame, tc.Scenario(numeric_keys="x"), alphas=(0.3,), policy=strict)
    assert several.parts[0.3].limits[:2] == (30, 0.4)


# Figures.


def test_densities_of_the_figure(cases: ConfidentialitySets) -> None:
    part = cases.parts["case 1"]
    points = densities_points(part)
    assert points.height <= MOST_POINTS
    assert points["stratum"].unique().len() == 8
    for (_, _), here in points.group_by(["stratum", "pairs"]):
        here = here.sort("z")
        area = np.trapezoid(here["density"].to_numpy(), np.log(here["z"].to_numpy()))
        assert area == pytest.approx(1.0, abs=0.02)
    chart = part.plot("densities").to_dict()
    assert len(chart["concat"]) == 8
    # A line at delta in each panel.
    rule = chart["concat"][0]["layer"][1]
    (drawn,) = chart["datasets"][rule["data"]["name"]]
    assert drawn["z"] == pytest.approx(part.delta[0])


def test_histograms_of_the_figures(cases: ConfidentialitySets) -> None:
    part = cases.parts["case 3"]
    assert part.ratios is not None
    for points, figure in (
        (comparison_histograms_points(part), "comparison_histograms"),
        (likelihood_ratio_points(part), "likelihood_ratio"),
    ):
        assert points.height == 8 * 40
        assert (points["high"] > points["low"]).all()
        for place, label in enumerate(part.labels):
            here = points.filter(points["stratum"] == label)
            histogram = part.ratios[place].z if figure == "comparison_histograms" else part.ratios[place].t
            values = part.distance if figure == "comparison_histograms" else None
            assert here["true_links"].sum() + histogram.true_beyond == part.records[place]
            assert here["true_share"].sum() == pytest.approx(1 - histogram.true_beyond / part.records[place])
            if values is not None:
                own = values[part.stratum == place]
                assert here["true_links"].to_list() == np.histogram(own, histogram.edges)[0].tolist()
        assert len(part.plot(figure).to_dict()["concat"]) == 8


def test_distances_of_skewed_numbers_are_drawn_on_a_log_scale() -> None:
    """On an even scale all true links were in the first bar."""
    survey = tc.business_survey(100)
    masked = tc.log_noise(survey.data, ["turnover"], sd=0.05)
    found = tc.risk.confidentiality(survey.data, masked, tc.Scenario(numeric_keys="turnover"), ratio=True)
    assert found.ratios is not None
    histogram = found.ratios[0].z
    assert histogram.true.max() < 0.5 * histogram.true.sum()
    assert histogram.true.sum() + histogram.true_beyond == found.records[0]
    chart = found.plot("comparison_histograms").to_dict()
    assert chart["layer"][0]["encoding"]["x"]["scale"]["type"] == "log"
    assert "on a log scale" in chart["title"]["subtitle"][0]
    assert all(row["low"] > 0 for rows in chart["datasets"].values() for row in rows)


def test_ratios_are_drawn_in_equal_multiples_and_no_true_link_is_off_the_chart(cases: ConfidentialitySets) -> None:
    """On an even scale up to 2.5 tau most true links were beyond the figure."""
    part = cases.parts["case 3"]
    assert part.ratios is not None
    points = likelihood_ratio_points(part)
    for place, (label, ratio) in enumerate(zip(part.labels, part.ratios, strict=True)):
        t, tau = ratio.t, ratio.densities.tau
        assert t.edges[0] == 0 and np.ptp(np.diff(np.log(t.edges[1:]))) < 1e-9
        assert t.edges[1] < tau < t.edges[-1]
        # True links beyond are those more than a thousand times as likely.
        own = ratio.densities.ratio(part.distance[part.stratum == place])
        assert t.true_beyond == (own > max(t.edges[-1], 999 * tau)).sum()
        assert points.filter(points["stratum"] == label)["low"][0] == 0
    chart = part.plot("likelihood_ratio").to_dict()
    assert chart["concat"][0]["layer"][0]["encoding"]["x"]["scale"]["type"] == "log"
    assert all(row["low"] > 0 for rows in chart["datasets"].values() for row in rows)


def test_the_share_right_of_tau_is_alpha(cases: ConfidentialitySets) -> None:
    part = cases.parts["case 4"]
    assert part.ratios is not None
    assert len(part.ratios) == len(part.labels)
    for ratio in part.ratios:
        t = ratio.t
        right = t.others[t.edges[:-1] >= ratio.densities.tau].sum() + t.others_beyond
        bar = t.others[(t.edges[:-1] < ratio.densities.tau) & (t.edges[1:] > ratio.densities.tau)].sum()
        pairs = t.others.sum() + t.others_beyond
        assert right <= 0.05 * pairs + 1
        assert right + bar >= 0.05 * pairs - 1


def test_one_stratum_is_one_panel() -> None:
    survey = tc.business_survey(100)
    found = tc.risk.confidentiality(
        survey.data, tc.log_noise(survey.data, ["turnover"]), tc.Scenario(numeric_keys="turnover")
    )
    for figure in ("densities", "comparison_histograms", "likelihood_ratio"):
        assert "layer" in found.plot(figure).to_dict()
    with pytest.raises(tc.TacitaError) as error:
        found.plot("pie")
    assert str(error.value).startswith("figure must be one of 'confidentiality', 'densities'")


def test_many_strata_are_counted_and_the_largest_drawn() -> None:
    n = 200
    draw = np.random.default_rng(1)
    stratum = np.append(np.repeat(np.arange(20), 9), np.repeat(np.arange(20), 1))
    frame = pl.DataFrame({"x": draw.lognormal(3, 1, n), "g": np.append(stratum[: n - 5], [19] * 5)})
    found = tc.risk.confidentiality(frame, tc.log_noise(frame, ["x"]), tc.Scenario(numeric_keys="x"), strata="g")
    points = densities_points(found)
    assert points["stratum"].unique().len() == MOST_PANELS
    assert "19" in points["stratum"]
    assert "8 strata not drawn, none with more records" in str(found.plot("densities").to_dict()["title"])
    alone = pl.DataFrame({"x": [1.0, 2.0], "g": ["a", "b"]})
    with pytest.raises(tc.TacitaError) as error:
        tc.risk.confidentiality(alone, alone, tc.Scenario(numeric_keys="x"), strata="g").plot("densities")
    assert str(error.value) == "no stratum has two records to compare; there is nothing to draw."


def test_panels_of_alphas(several: ConfidentialityAlphas) -> None:
    points = alphas_points(several)
    assert points.height == 1200
    for alpha, part in several.parts.items():
        here = points.filter(points["alpha"] == alpha)
        assert here["neighbours"].to_list() == part.neighbours.tolist()
        assert here["unsafe"].to_list() == part.unsafe.tolist()
    assert len(several.plot().to_dict()["concat"]) == 3


def test_panels_of_alphas_of_a_large_file() -> None:
    frame = pl.DataFrame({"x": np.random.default_rng(3).lognormal(5, 1, 6000)})
    found = confidentiality_alphas(
        frame, tc.log_noise(frame, ["x"]), tc.Scenario(numeric_keys="x"), alphas=(0.001, 0.005)
    )
    points, cells = alphas_points(found), alphas_cells(found)
    assert points.height + cells.height <= MOST_POINTS
    assert points.height + int(cells["records"].sum()) == 12_000


def test_figures_show_no_values(cases: ConfidentialitySets) -> None:
    for points in (densities_points(cases.parts["case 1"]), likelihood_ratio_points(cases.parts["case 1"])):
        assert not set(points.columns) & set(KEYS)
