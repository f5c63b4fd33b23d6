"""The benchmark of accuracy: its truth, its samples, and how it counts bias and coverage."""

import json
from itertools import product

import numpy as np
import polars as pl
import pytest
from benchmarks import accuracy, accuracy_page, model_answers, populations, real_files
from benchmarks.accuracy import Case, summary
from benchmarks.model_answers import auc, compared, found_share, poisson_risk
from benchmarks.populations import Population, Sample, simple_sample, true_count, unequal_sample
from scipy.stats import poisson

EVERYBODY = pl.DataFrame(
    {"sex": ["f", "f", "f", "m", "m", "m"], "age": [30, 30, 31, 30, 31, 40], "job": ["a", "b", "a", "a", "a", "c"]}
)
SHOWN = pl.DataFrame(
    {"sex": ["f", "m", None, "f", None], "age": [30, 40, 30, None, None], "job": ["a", "c", "a", "a", None]}
)
WORKED_OUT = [1, 1, 2, 2, 6]
"""F of SHOWN: the f of 30 in job a; the m of 40; both of 30 in job a; the two f in job a; everybody."""


def sample_of(shown, weights, F):
    return Sample(shown.with_columns(weight=pl.Series(weights)), tuple(shown.columns), np.array(F))


@pytest.fixture
def small_country(monkeypatch):
    """A smaller population behind the household demo."""
    monkeypatch.setattr(populations, "HOUSEHOLDS", 3_000)
    populations.household_population.cache_clear()
    yield
    populations.household_population.cache_clear()


def test_true_count_by_hand():
    assert true_count(SHOWN, EVERYBODY).tolist() == WORKED_OUT


def test_true_count_by_looking_at_each_person():
    draws = np.random.default_rng(3)
    everybody = pl.DataFrame(draws.integers(0, 3, (60, 3)), schema=["a", "b", "c"])
    shown = everybody[:25].with_columns(
        pl.when(pl.Series(draws.random(25) < 0.7)).then(pl.col(name)).alias(name) for name in "abc"
    )
    slowly = [
        sum(all(x is None or x == y for x, y in zip(row, person, strict=True)) for person in everybody.rows())
        for row in shown.rows()
    ]
    assert true_count(shown, everybody).tolist() == slowly


def test_truth_is_what_tacita_gives_with_the_population_as_register(small_country):
    import tacita as tc

    sample = populations.household_sample("ready", 500, True, seed=5)
    _, everybody = populations.household_population()
    scenario = tc.Scenario(keys=sample.keys, missing="one_way")
    er = tc.risk.reidentification(sample.table, scenario, register=everybody).expected
    assert sample.table["status"].null_count() > 0
    assert (1 / sample.F).sum() == pytest.approx(er, rel=1e-12)


def test_whoever_knows_the_truth_has_no_bias_and_is_always_covered():
    sample = sample_of(SHOWN, np.ones(5), WORKED_OUT)
    rows = [compared(sample, ["truth"]) for _ in range(3)]
    found = summary(rows, "truth")
    assert (found.bias, found.sd, found.covered, found.found) == (0.0, 0.0, 1.0, 1.0)
    assert rows[0]["truth"]["true"] == pytest.approx(1 + 1 + 1 / 2 + 1 / 2 + 1 / 6)
    # The first two are alone with their key in the file and in the population; the others show too little.
    assert rows[0]["truth"]["true uniques"] == found.uniques == 2.0


def test_bias_deviation_and_coverage_by_hand():
    def row(expected, low, high):
        figures = dict.fromkeys(("uniques", "auc", "found"), None) | {"seconds": 1.0}
        return {"latent": figures | {"true": 10.0, "expected": expected, "low": low, "high": high}}

    found = summary([row(11.0, 9.0, 13.0), row(9.0, 8.0, 9.5), row(13.0, 10.0, 16.0), row(8.0, 7.9, 10.0)], "latent")
    assert found.bias == pytest.approx(0.025)
    assert found.sd == pytest.approx(np.std([0.1, -0.1, 0.3, -0.2], ddof=1))
    assert found.covered == 0.75  # ends count as inside
    assert found.width == pytest.approx((4 / 11 + 1.5 / 9 + 6 / 13 + 2.1 / 8) / 4)
    assert np.isnan(found.uniques)


def test_incomplete_records_are_no_part_of_the_truth_for_models_that_leave_them_out():
    rows = compared(sample_of(SHOWN, np.full(5, 6 / 5), WORKED_OUT), ["superpopulation", "truth"])
    assert rows["superpopulation"]["true"] == 2.0
    assert rows["truth"]["true"] > 3.0


def test_a_model_that_gives_up_is_named_and_the_others_go_on(monkeypatch):
    def gives_up(sample):
        raise ValueError("too small")

    monkeypatch.setitem(model_answers.MODELS, "latent", gives_up)
    rows = compared(sample_of(SHOWN, np.ones(5), WORKED_OUT), ["latent", "truth"])
    assert rows["latent"]["failed"] == "ValueError: too small"
    assert rows["latent"]["expected"] is None and rows["truth"]["expected"] > 3.0


def test_simple_samples_have_equal_weights_that_add_up_to_the_population():
    rows, weight = simple_sample(Population(pl.DataFrame({"a": range(200)})), 0.2, seed=1)
    assert len(set(rows.tolist())) == 40
    assert weight.tolist() == [5.0] * 40
    assert rows.tolist() != simple_sample(Population(pl.DataFrame({"a": range(200)})), 0.2, seed=2)[0].tolist()


def test_unequal_weights_are_those_of_the_chances_to_be_drawn():
    """Over many samples the weighted count of each group is its size, although small groups are sampled more."""
    sizes = np.array([3000, 600, 60])
    population = Population(pl.DataFrame({"group": np.repeat([1, 2, 3], sizes)}))
    group = population.records["group"].to_numpy()
    estimates, shares = [], []
    for seed in range(60):
        rows, weight = unequal_sample(population, 0.1, seed)
        assert weight.sum() == pytest.approx(3660, rel=0.01)
        estimates.append(np.bincount(group[rows], weights=weight, minlength=4)[1:])
        shares.append(np.bincount(group[rows], minlength=4)[1:] / sizes)
    spread = np.std(estimates, axis=0) / np.sqrt(60)
    assert (np.abs(np.mean(estimates, axis=0) - sizes) < 4 * spread + 1).all()
    first, _, last = np.mean(shares, axis=0)
    assert 2 < last / first < 7


def test_household_samples_keep_households_together_and_lose_nothing_when_complete(small_country):
    sample = populations.household_sample("coarse", 300, False, seed=2)
    assert sample.households and sample.table["household"].n_unique() == 300
    assert sum(sample.table.select(sample.keys).null_count().row(0)) == 0
    assert sample.F.min() >= 1


@pytest.mark.parametrize(("f", "mean"), list(product((1.0, 2.0, 7.0, 300.0), (1e-9, 0.3, 8.0, 4000.0))))
def test_poisson_risk_by_summing_over_all_counts(f, mean):
    others = np.arange(0, 20_000)
    slowly = (poisson.pmf(others, mean) / (f + others)).sum()
    assert poisson_risk(np.array([f]), np.array([mean]))[0] == pytest.approx(slowly, rel=1e-9)


def test_auc_and_found_share_by_hand():
    risk, risky = np.array([0.3, 0.05, 0.2, 0.05, 0.01]), np.array([True, True, False, False, False])
    # 0.3 is above all three others; 0.05 is above one of them and equal to one.
    assert auc(risk, risky) == pytest.approx((3 + 1.5) / 6)
    assert found_share(risk, risky) == 0.5
    assert auc(risk, np.zeros(5, dtype=bool)) is None


def test_half_of_the_real_populations_are_held_back_by_lot():
    held = set(real_files.HELD_BACK)
    assert held < set(real_files.SOURCES) and len(held) == len(real_files.SOURCES) // 2
    groups = {case.population: case.group for case in accuracy.cases(False) if case.population in real_files.SOURCES}
    assert all(("held back" in group) == (name in held) for name, group in groups.items())


def test_kept_figures_are_not_worked_out_again(tmp_path, monkeypatch):
    case, calls = Case("group", "household", "ready", "households", 100), []

    def run_case(benchmark, name, about, seeds, models):
        calls.append(seeds)
        assert Case(**about) == case
        return {"rows": [{models[0]: {"expected": float(seed)}} for seed in seeds]}

    monkeypatch.setattr(accuracy.measure, "run_case", run_case)
    accuracy.figures(case, [1, 2], ["truth"], tmp_path)
    rows = accuracy.figures(case, [1, 2, 3], ["truth"], tmp_path)
    assert calls == [[1, 2], [3]]
    assert [row["truth"]["expected"] for row in rows] == [1.0, 2.0, 3.0]
    assert len(list(tmp_path.iterdir())) == 1 and json.loads(next(tmp_path.iterdir()).read_text())


def test_every_case_has_a_name_of_its_own():
    names = [case.name for case in accuracy.cases(False)]
    assert len(set(names)) == len(names)
    assert {case.name for case in accuracy.cases(True)} <= set(names)


def test_tables_of_the_page_are_those_of_the_kept_figures(tmp_path, monkeypatch):
    def figures(expected, low, high):
        known = {"records": 90.0, "share of uniques": 0.5, "true": 10.0, "true uniques": 3.0, "uniques": 2.0}
        return known | {"expected": expected, "low": low, "high": high, "auc": 0.75, "found": 0.5, "seconds": 1.0}

    case = Case(f"{accuracy.HOUSEHOLD}, complete", "household", "ready", "households", 2_000)
    for model, rows in {
        "benedetti_franconi": {"1": figures(5.0, 4.0, 6.0), "2": figures(7.0, 4.0, 11.0), "3": figures(1.0, 1.0, 1.0)},
        "latent": {"1": figures(11.0, 9.0, 13.0), "2": figures(12.0, 9.5, 15.0)},
    }.items():
        (tmp_path / accuracy.file_name(case, model)).write_text(json.dumps(rows))
    page = tmp_path / "page.md"
    page.write_text("Before.\n\n<!-- accuracy: household -->\n\nold\n\n<!-- end of table -->\n\nAfter.\n")
    monkeypatch.setattr(accuracy_page, "PAGE", page)
    monkeypatch.setattr("sys.argv", ["accuracy_page", str(tmp_path)])
    accuracy_page.main()
    once = page.read_text()
    accuracy_page.main()
    assert page.read_text() == once
    # The third sample, which only one model was tried on, is left out.
    assert once == (
        "Before.\n\n<!-- accuracy: household -->\n\n"
        "| household demo | uniques % | true ER | BF | LL | latent (sd) | covered | width % |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| household ready 2,000 | 50.0 | 10.0 | −40.0 |  | +15.0 (7.1) | 2 of 2 | 41 |\n\n"
        "<!-- end of table -->\n\nAfter.\n"
    )
    overall = accuracy_page.all_groups(accuracy_page.kept(tmp_path))[1]
    assert overall == (case.group, "1", "2", "40.0", "40.0", "50", "15.0", "15.0", "100", "100")
