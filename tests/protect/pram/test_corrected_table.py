"""Corrected tables: against a slow twin, by hand, unbiased and with errors that cover; files and the command line."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import slow_pram
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.mechanism import Mechanism
from tacita.protect.pram.moments import moments, randomisation_variance, sampling_variance
from tacita.protect.pram.transition_matrix import spread

N = 900
WHO = tc.Scenario(keys=["job"], weight="w")


def people() -> pl.DataFrame:
    place = np.arange(N)
    jobs = np.array(["smith", "smith", "miller", "baker", "smith", "miller"])
    return pl.DataFrame(
        {
            "job": [None if at % 25 == 0 else str(jobs[at % 6]) for at in place],
            "ill": np.array(["yes", "no", "no", "no", "no"])[place * 7 % 5],
            "side": np.array(["north", "south"])[place % 2],
            "level": place * 7 % 4,
            "w": 1.0 + place % 5,
        }
    )


def applied(*steps: tc.Step, seed: int = 1, data: Any = None) -> tc.Release:
    return tc.Plan(steps).apply(people() if data is None else data, WHO, seed=seed)


def truth(*names: str, weight: str | None = None) -> dict[tuple[str | None, ...], float]:
    found: dict[tuple[str | None, ...], float] = {}
    for row in people().iter_rows(named=True):
        cell = tuple(None if row[name] is None else str(row[name]) for name in names)
        found[cell] = found.get(cell, 0.0) + (row[weight] if weight else 1.0)
    return found


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 1), st.sampled_from([1.0, 1.0, 2.5])), min_size=1, max_size=25
    ),
    st.lists(st.floats(0.6, 1), min_size=5, max_size=5),
)
@settings(deadline=None)
def test_moments_are_those_of_the_slow_twin(records: list[tuple[int, int, float]], kept: list[float]) -> None:
    """Axis by axis, or record by record with the product of all inverses: the same."""
    inverses = (
        [np.linalg.inv(spread(np.array(part))) for part in (kept[:3], kept[3:])] if kept[3] + kept[4] > 1.01 else []
    )
    if not inverses:
        return
    sums, squares = np.zeros((3, 2)), np.zeros((3, 2))
    for one, other, weight in records:
        sums[one, other] += weight
        squares[one, other] += weight**2
    found = moments(sums, squares, inverses)
    slow = slow_pram.moments([((a, b), w) for a, b, w in records], [each.tolist() for each in inverses], (3, 2))
    for cell, wanted in slow.items():
        assert [each[cell] for each in found] == pytest.approx(wanted, rel=1e-9, abs=1e-7)
    assert found.estimate.sum() == pytest.approx(sums.sum())


def test_by_hand() -> None:
    """60 of 100 show yes; R = [[0.8, 0.2], [0.4, 0.6]], inverse [[1.5, -0.5], [-1, 2]].

    no: 40 x 1.5 - 60 = 0; yes: -20 + 120 = 100. Variance of yes: 40 x (-0.5)(-1.5) + 60 x 2 x 1 = 150, of no:
    40 x 1.5 x 0.5 + 60 x (-1)(-2) = 150. In truth all 100 are yes, of which a share of 0.6 shows it: the estimate is
    2 x shown - 0.5 (100 - shown), of variance 2.5^2 x 100 x 0.6 x 0.4 = 150.
    """
    table = pl.DataFrame({"ill": ["no"] * 40 + ["yes"] * 60})
    matrix = Mechanism("transition", ("ill",), {"categories": ["no", "yes"], "matrix": [[0.8, 0.2], [0.4, 0.6]]}, True)
    found = tc.corrected_table(table, "ill", [matrix])
    assert found.cells == (("no",), ("yes",))
    assert found.corrected == pytest.approx([0, 100], abs=1e-9)
    assert found.standard_error**2 == pytest.approx([150, 150])
    # n / (n - 1) (40 x 0.25 + 60 x 4 - 100^2 / 100) for yes.
    both = tc.corrected_table(table, "ill", [matrix], sampling=True)
    assert both.standard_error[1] ** 2 == pytest.approx(100 / 99 * (10 + 240 - 100))


STEPS: dict[str, tuple[tuple[tc.Step, ...], tuple[str, ...], str | None]] = {
    "margin": ((tc.Pram("job", pd=0.4, alpha=0.8),), ("job",), None),
    "own matrix": (
        (tc.Pram("ill", matrix={"no": {"no": 0.9, "yes": 0.1}, "yes": {"no": 0.3, "yes": 0.7}}),), ("ill",), None,
    ),
    "cross table": ((tc.Pram(["job", "ill"], pd=0.5, alpha=0.7),), ("job", "ill", "side"), None),
    "weights": ((tc.Pram(["job", "ill"], pd=0.5, alpha=0.7),), ("ill", "job"), "w"),
    "strata": ((tc.Pram("job", pd=0.4, strata=["side"]), tc.Pram("ill", diagonal={"no": 0.9, "yes": 0.6})),
               ("job", "ill"), None),
    "together": ((tc.Pram(["job", "ill"], pd=0.4, together=True),), ("job", "ill"), None),
    "one of those together": ((tc.Pram(["job", "ill", "side"], pd=0.4, together=True),), ("job",), "w"),
    "bandwidth": ((tc.Pram("level", pd=0.3, bandwidth=1),), ("level", "side"), None),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_estimates_are_unbiased_and_their_errors_are_right(name: str) -> None:
    """60 fixed seeds: the mean of each cell lies within four of its standard errors of the truth.

    Over all cells with 30 records or more and all seeds, squared errors in units of the estimated variance are 1 on
    average, within 0.35, and of intervals of 1.96 standard errors at least nine tenths hold the truth. The variance
    seen in a single cell over 60 seeds varies too much to be held against anything.
    """
    steps, names, weight = STEPS[name]
    wanted = truth(*names, weight=weight)
    runs = [tc.corrected_table(applied(*steps, seed=seed), names, weight=weight) for seed in range(60)]
    by_cell: dict[tuple[str | None, ...], list[tuple[float, float]]] = {}
    for run in runs:
        for cell, estimate, error in zip(run.cells, run.corrected, run.standard_error, strict=True):
            by_cell.setdefault(cell, []).append((estimate, error))
    assert set(wanted) <= set(by_cell)
    held, squares = [], []
    for cell, pairs in by_cell.items():
        estimates, errors = np.array(pairs).T
        right = wanted.get(cell, 0.0)
        seen = estimates.std(ddof=1)
        assert abs(estimates.mean() - right) <= 4 * seen / np.sqrt(len(pairs)) + 1e-6, cell
        if right >= 30 and seen > 1e-6:
            squares += ((estimates - right) ** 2 / errors**2).tolist()
            held += (np.abs(estimates - right) <= 1.96 * errors).tolist()
        if seen <= 1e-6:
            assert errors == pytest.approx(0, abs=1e-4)
    assert np.mean(held) >= 0.9
    assert np.mean(squares) == pytest.approx(1, abs=0.35)


def test_errors_over_the_sample_are_right_too() -> None:
    """Samples of 300 drawn with replacement from 900, weight 3, exchanged and corrected; 100 fixed seeds."""
    draw = np.random.RandomState(3)
    estimates, errors = [], []
    for seed in range(100):
        sample = people()[draw.randint(0, N, 300)].with_columns(w=pl.lit(3.0))
        release = applied(tc.Pram("ill", diagonal={"no": 0.9, "yes": 0.6}, invariant=False), seed=seed, data=sample)
        found = tc.corrected_table(release, "ill", weight="w", sampling=True)
        estimates.append(found.corrected[1])
        errors.append(found.standard_error[1])
    right = truth("ill")[("yes",)]
    assert abs(np.mean(estimates) - right) <= 4 * np.std(estimates) / np.sqrt(100)
    assert np.mean(np.square(errors)) == pytest.approx(np.var(estimates), rel=0.5)


def test_released_margins_of_an_invariant_matrix_are_unbiased_and_the_result_says_so() -> None:
    found = tc.corrected_table(applied(tc.Pram("job")), "job")
    assert found.notes[1] == (
        "released counts of 'job' alone are unbiased as they are: the matrix keeps them in expectation"
    )
    assert len(tc.corrected_table(applied(tc.Pram("job")), "job", weight="w").notes) == 1
    weighted = tc.corrected_table(applied(tc.Pram("job", weighted=True)), "job", weight="w")
    assert weighted.notes[1].startswith("released weighted totals of 'job' alone are unbiased")
    assert len(tc.corrected_table(applied(tc.Pram("job", diagonal=0.8, invariant=False)), "job").notes) == 1


def test_missing_values_and_codes_are_cells_of_their_own_without_error() -> None:
    known = {"level": Variable(not_applicable=(3,))}
    release = applied(tc.Pram(["job", "level"], pd=0.3), data=Data.of(people(), known))
    found = tc.corrected_table(release, ["job", "level"])
    errors = dict(zip(found.cells, found.standard_error, strict=True))
    assert errors[(None, "3")] == pytest.approx(0, abs=1e-9)
    assert errors[(None, "1")] > 1
    assert [cell[0] for cell in found.cells[-4:]] == [None] * 4
    assert dict(zip(found.cells, found.corrected, strict=True))[(None, "3")] == pytest.approx(
        truth("job", "level")[(None, "3")]
    )


def test_the_order_of_rows_and_of_variables_does_not_matter() -> None:
    release = applied(tc.Pram(["job", "ill"], pd=0.4, strata=["side"]))
    found = tc.corrected_table(release, ["job", "ill"], weight="w")
    turned = release.data.take(np.random.RandomState(1).permutation(N))
    again = tc.corrected_table(turned, ["job", "ill"], release, weight="w")
    assert again.corrected.tolist() == found.corrected.tolist()
    swapped = tc.corrected_table(release, ["ill", "job"], weight="w")
    assert dict(zip(swapped.cells, swapped.corrected, strict=True)) == {
        cell[::-1]: value for cell, value in zip(found.cells, found.corrected, strict=True)
    }
    sums = tc.corrected_table(release, "ill", weight="w")
    by_ill = [sum(v for c, v in zip(found.cells, found.corrected, strict=True) if c[1] == ill) for (ill,) in sums.cells]
    assert by_ill == pytest.approx(sums.corrected.tolist())


def test_what_is_shown() -> None:
    release = applied(tc.Pram("job", pd=0.4))
    found = tc.corrected_table(release, ["job", "level", "side"])
    assert found.headline.startswith("32 cells of 'job' by 'level' by 'side' corrected by up to ")
    assert "the first 30 of 32 cells" in str(found)
    assert "missing" in str(tc.corrected_table(release, "job"))
    frame = found.to_frame()
    assert frame.columns == ["job", "level", "side", "released", "corrected", "standard_error"]
    assert frame["released"].sum() == N
    assert frame["corrected"].sum() == pytest.approx(N)
    assert json.loads(found.to_json())["cells"] == 32
    odd = applied(tc.Pram("released", pd=0.4), data=people().rename({"ill": "released"}))
    assert tc.corrected_table(odd, "released").to_frame().columns == [
        "released",
        "released'",
        "corrected",
        "standard_error",
    ]


def test_negative_estimates_and_other_perturbation_are_pointed_out() -> None:
    table = pl.DataFrame({"ill": ["no"] * 99 + ["yes"], "x": ["a"] * 100})
    matrix = Mechanism("transition", ("ill",), {"categories": ["no", "yes"], "matrix": [[0.8, 0.2], [0.2, 0.8]]}, True)
    data = Data.of(table).with_perturbed(["x"])
    found = tc.corrected_table(data, ["ill", "x"], [matrix])
    assert found.cautions == (
        "'x' were changed by another step, and are taken as they are.",
        "1 estimate is below 0: too few records for a correction.",
    )


def test_one_record_has_no_error_over_samples() -> None:
    matrix = Mechanism("transition", ("x",), {"categories": ["a"], "matrix": [[1.0]]}, True)
    found = tc.corrected_table(pl.DataFrame({"x": ["a"]}), "x", [matrix], sampling=True)
    assert np.isnan(found.standard_error).all()
    assert found.corrected.tolist() == [1.0]


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_published_matrices_lie_beside_the_data_and_give_the_same_table(
    tmp_path: Path, run: Callable[..., tuple[int, str, str]]
) -> None:
    steps = (tc.Pram("job", pd=0.4, strata=["side"], publish_matrix=True), tc.Pram("ill", pd=0.3))
    folder = applied(*steps).save(tmp_path / "out", formats=["csv"], accept_unsafe="a test")
    public = folder / "not_for_publication"
    assert sorted(each.name for each in public.iterdir()) == [
        "README.txt", "codebook.csv", "codebook.xml", "data.csv", "methods.json", "report.html",
        "transition_matrices.json",
    ]  # fmt: skip
    assert "ill" not in (public / "transition_matrices.json").read_text("utf-8").replace("miller", "")
    wanted = tc.corrected_table(applied(*steps), "job")
    for file in (public / "transition_matrices.json", folder / "internal" / "log.json"):
        found = tc.corrected_table(public / "data.csv", "job", file)
        assert found.cells == wanted.cells
        assert found.corrected.tolist() == wanted.corrected.tolist()
    code, out, err = run(
        "corrected", public / "data.csv", "--variables", "job,side", "--matrix", public / "transition_matrices.json",
        "--weight", "w", "--sampling", "--out", "table.csv",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert out.startswith("8 cells of 'job' by 'side' corrected by up to ")
    assert out.endswith("written: table.csv (8 cells)\n")
    written = pl.read_csv(tmp_path / "table.csv")
    table = tc.corrected_table(applied(*steps), ["job", "side"], weight="w", sampling=True)
    assert written["standard_error"].to_list() == pytest.approx(table.standard_error.tolist())
    code, out, err = run("corrected", public / "data.csv", "--variables", "job", "--matrix", "nowhere.json")
    assert (code, out) == (2, "")
    assert err == "tacita: nowhere.json cannot be read: no such file or directory; check the path of the matrices.\n"


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_no_matrix_is_published_unless_asked_or_of_a_variable_that_is_gone(tmp_path: Path) -> None:
    public = tc.Pram("job", publish_matrix=True, strata=["side"])
    plans: list[tuple[bool, tuple[tc.Step, ...]]] = [
        (False, (tc.Pram("job"),)),
        (False, (tc.Pram("ill", publish_matrix=True), tc.Remove("ill"))),
        # It would name categories that were recoded away, of the variable or of its strata.
        (False, (public, tc.Recode("job", mapping={"baker": "other"}))),
        (False, (public, tc.Recode("side", mapping={"north": "up", "south": "down"}))),
        (True, (tc.Recode("job", mapping={"baker": "other"}), public, tc.Suppress(k=2))),
    ]
    for at, (published, steps) in enumerate(plans):
        folder = applied(*steps).save(tmp_path / str(at), formats=["csv"], accept_unsafe="a test", report=False)
        assert bool(list(folder.rglob("transition_matrices.json"))) == published


@pytest.mark.parametrize(("job", "side"), [("hangman", "south"), ("smith", "hangman")])
@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_no_matrix_is_published_that_names_what_was_suppressed_wherever_it_stood(
    tmp_path: Path, job: str, side: str
) -> None:
    people = pl.DataFrame({"job": ["smith", "miller"] * 40 + [job], "side": ["north"] * 40 + ["south"] * 40 + [side]})
    by = {} if job == "hangman" else {"strata": ["side"]}
    steps = [tc.Pram("job", diagonal=1.0, publish_matrix=True, **by), tc.Suppress(k=3)]
    release = tc.Plan(steps).apply(people, tc.Scenario(keys=["job", "side"]), seed=1)
    folder = release.save(tmp_path / "release", formats=["csv"], accept_unsafe="a test")
    written = [path.read_text("utf-8") for path in (folder / "not_for_publication").iterdir()]
    assert not any("hangman" in text for text in written)


def transition(**parameters: Any) -> list[Mechanism]:
    usual = {"categories": ["no", "yes"], "matrix": [[0.8, 0.2], [0.4, 0.6]]}
    return [Mechanism("transition", ("ill",), {**usual, **parameters}, True)]


MESSAGES: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: tc.corrected_table(people(), "ill"),
        "transitions must be named with a file; pass transitions='transition_matrices.json'.",
    ),
    (
        lambda: tc.corrected_table(people(), "ill", 5),
        "transitions must be a release, its file of matrices, or mechanisms; got a int.",
    ),
    (
        lambda: tc.corrected_table(people(), "ill", []),
        "there is no transition matrix here; publish it with Pram(..., publish_matrix=True), or take the internal log.",
    ),
    (lambda: tc.corrected_table(people(), (), transition()), "variables must name at least one variable."),
    (
        lambda: tc.corrected_table(people(), "il", transition()),
        "variables not in the data: 'il'. Did you mean 'ill'?",
    ),
    (
        lambda: tc.corrected_table(people(), "ill", transition(), weight="v"),
        "weight not in the data: 'v'. The columns are 'job', 'ill', 'side', 'level', 'w'.",
    ),
    (
        lambda: tc.corrected_table(people(), "ill", transition(only="age > 3")),
        "the transition of 'ill' is for some of the records only, and nobody sees which; tables cannot be corrected "
        "for it.",
    ),
    (
        lambda: tc.corrected_table(people(), "ill", transition(matrix=[[0.5, 0.5], [0.5, 0.5]])),
        "the transition matrix of 'ill' cannot be inverted, so that tables cannot be corrected for it; take an alpha "
        "below 1, or a greater diagonal, before the release.",
    ),
    (
        lambda: tc.corrected_table(people(), "ill", transition(categories=["no"], matrix=[[1.0]])),
        "'ill' has 1 category that the matrix does not name; was it changed after the exchange?",
    ),
    (
        lambda: tc.corrected_table(people(), "ill", transition(matrix=[[1.0]])),
        "the transition of 'ill' has a matrix that does not fit its categories; check the file.",
    ),
    (
        lambda: tc.corrected_table(people(), "ill", [Mechanism("transition", ("ill",), {}, True)]),
        "the transition of 'ill' is published without its matrix; ask the office for it.",
    ),
    (
        lambda: tc.corrected_table(people(), "ill", transition() * 2),
        "'ill' was exchanged more than once; tables can be corrected for one step only.",
    ),
    (
        lambda: tc.corrected_table(people(), "ill", transition(stratum={"side": "north"})),
        "450 records are in no stratum that has a matrix; were 'side' changed afterwards?",
    ),
    (
        lambda: tc.corrected_table(applied(tc.Pram("ill", strata=["side"]), tc.Pram("side")), "ill"),
        "the strata of the transition of 'ill' were exchanged themselves; tables cannot be corrected for it.",
    ),
    (
        lambda: tc.corrected_table(people().clear(), "ill", transition()),
        "the file has no records; there is no table of it.",
    ),
]


@pytest.mark.parametrize(("make", "message"), MESSAGES)
def test_what_is_wrong_is_said(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(TacitaError) as refused:
        make()
    assert str(refused.value) == message


@pytest.mark.parametrize("text", ["no json", "[1, 2]", '{"steps": 3}', '{"mechanisms": [1]}'])
def test_a_file_that_is_something_else_is_said(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with pytest.raises(TacitaError, match=r"x\.json is no file of transition matrices; take "):
        tc.corrected_table(people(), "ill", tmp_path / "x.json")


def test_tables_of_too_many_cells_are_refused() -> None:
    table = pl.DataFrame({"ill": ["no", "yes"] * 1000, "x": range(2000), "y": range(2000)})
    with pytest.raises(TacitaError, match=r"the table would have 8,000,000 cells, more than 1,000,000; name fewer"):
        tc.corrected_table(table, ["ill", "x", "y"], transition())


def test_variances_can_be_added_up_by_hand() -> None:
    """Two variables, one record: the contribution of each cell is the product of two cells of the inverses."""
    first, second = np.linalg.inv([[0.8, 0.2], [0.4, 0.6]]), np.linalg.inv([[0.9, 0.1], [0.2, 0.8]])
    sums = np.zeros((2, 2))
    sums[1, 0] = 1.0
    found = moments(sums, sums, [first, second])
    for i, j in itertools.product(range(2), range(2)):
        h = first[1, i] * second[0, j]
        assert found.estimate[i, j] == pytest.approx(h)
        assert randomisation_variance(found)[i, j] == pytest.approx(h * (h - 1))
    assert np.isnan(sampling_variance(found, 1)).all()
