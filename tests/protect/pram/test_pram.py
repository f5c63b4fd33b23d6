"""The step: expected counts, matrices in the log, what never changes, and what is refused."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import hypothesis
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import strategies as st

import tacita as tc
from conftest import Reference
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.protect.pram.categories import categories_of, distinct_codes

N = 1200
JOBS = ["smith"] * 700 + ["miller"] * 300 + ["baker"] * 150 + ["falconer"] * 50
WHO = tc.Scenario(keys=["job"], weight="w")


def people() -> pl.DataFrame:
    place = np.arange(N)
    return pl.DataFrame(
        {
            "job": JOBS,
            "side": np.array(["north", "south", "west"])[place % 3],
            "level": place * 7 % 11,
            "town": [f"{side}{place % 2}" for side, place in zip("nsw" * (N // 3), range(N), strict=True)],
            "w": 1.0 + place % 5,
        }
    )


def applied(step: tc.Step, seed: int = 1, data: Any = None, who: tc.Scenario = WHO) -> tc.Release:
    return tc.Plan([step]).apply(people() if data is None else data, who, seed=seed)


def mechanisms(release: tc.Release) -> list[dict[str, Any]]:
    return [dict(each["parameters"]) for each in release.changes[0].mechanisms]


def counts(table: pl.DataFrame, name: str) -> dict[Any, int]:
    return dict(table[name].value_counts().iter_rows())


def test_the_matrix_of_the_log_is_invariant_and_by_stratum_too() -> None:
    for strata in ((), ("side",)):
        for step in (
            tc.Pram("job", strata=strata),
            tc.Pram("job", pd=0.1, alpha=1.0, strata=strata),
            tc.Pram("level", pd=0.4, bandwidth=2, strata=strata),
            tc.Pram("level", diagonal=0.7, strata=strata),
        ):
            for given in mechanisms(applied(step)):
                rows = people()
                for name, value in given.get("stratum", {}).items():
                    rows = rows.filter(pl.col(name) == value)
                found = {str(value): count for value, count in counts(rows, step.variables[0]).items()}
                shares = np.array([found[text] for text in given["categories"]]) / len(rows)
                assert np.abs(shares @ np.array(given["matrix"]) - shares).max() <= 1e-14
                assert given["keeps"] == "counts"


def test_every_stratum_keeps_its_matrix() -> None:
    """The reference program returns that of the last stratum only, so that estimates cannot be corrected."""
    given = mechanisms(applied(tc.Pram("job", strata=["side"], publish_matrix=True)))
    assert [each["stratum"] for each in given] == [{"side": side} for side in ("north", "south", "west")]
    assert len({str(each["matrix"]) for each in given}) == 3
    public = applied(tc.Pram("job", strata=["side"], publish_matrix=True)).changes[0].public
    assert [dict(each["parameters"]) for each in public] == given


def test_the_matrix_is_public_only_by_choice() -> None:
    (told,) = applied(tc.Pram("job")).changes[0].public
    assert told == {"kind": "transition", "variables": ["job"], "parameters": {}, "perturbs": True}


def test_weighted_totals_can_be_kept_in_place_of_counts() -> None:
    (given,) = mechanisms(applied(tc.Pram("job", weighted=True)))
    assert given["keeps"] == "weighted totals"
    totals = dict(people().group_by("job").agg(pl.col("w").sum()).iter_rows())
    shares = np.array([totals[text] for text in given["categories"]]) / people()["w"].sum()
    assert np.abs(shares @ np.array(given["matrix"]) - shares).max() <= 1e-14


@pytest.mark.parametrize(
    "step",
    [
        tc.Pram("job", pd=0.5, alpha=0.9),
        tc.Pram("job", diagonal={"smith": 0.9, "miller": 0.8, "baker": 0.7, "falconer": 0.6}),
    ],
)
def test_counts_stay_on_average(step: tc.Pram) -> None:
    """Over 100 fixed seeds: within four standard errors of the counts before, whose variance the matrix gives."""
    before = counts(people(), "job")
    made = [applied(step, seed) for seed in range(100)]
    variance = np.zeros(4)
    for release in made:
        (given,) = mechanisms(release)
        matrix, names = np.array(given["matrix"]), given["categories"]
        variance += np.array([before[name] for name in names]) @ (matrix * (1 - matrix))
    means = np.array([np.mean([counts(each.data.table, "job").get(name, 0) for each in made]) for name in names])
    wanted = np.array([before[name] for name in names])
    assert (np.abs(means - wanted) <= 4 * np.sqrt(variance) / 100).all()
    changed = np.mean([each.changes[0].records for each in made])
    expected = np.mean([each.changes[0].figures["job"]["expected_change"] for each in made]) * N
    assert changed == pytest.approx(expected, abs=4 * np.sqrt(expected / 100))


def test_transitions_happen_as_often_as_the_matrix_says() -> None:
    """60 fixed seeds; every cell within four standard errors."""
    rows = {"smith": {"smith": 0.5, "miller": 0.5}, "miller": {"miller": 1.0}, "baker": {"smith": 0.2, "baker": 0.8},
            "falconer": {"falconer": 0.3, "baker": 0.7}}  # fmt: skip
    found: dict[tuple[str, str], int] = {}
    for seed in range(60):
        now = applied(tc.Pram("job", matrix=rows), seed).data.table["job"].to_list()
        for pair in zip(JOBS, now, strict=True):
            found[pair] = found.get(pair, 0) + 1
    before = counts(people(), "job")
    for one in rows:
        for other in rows:
            share, tries = rows[one].get(other, 0.0), 60 * before[one]
            error = 4 * np.sqrt(tries * share * (1 - share))
            assert abs(found.get((one, other), 0) - tries * share) <= error, (one, other)


def test_an_own_matrix_is_used_as_it_is() -> None:
    release = applied(tc.Pram("side", matrix=[[0, 1, 0], [0, 0, 1], [1, 0, 0]], categories=["north", "south", "west"]))
    assert release.data.table["side"].to_list() == ["south", "west", "north"] * (N // 3)
    (given,) = mechanisms(release)
    assert given["keeps"] == "counts"
    (skewed,) = mechanisms(
        applied(tc.Pram("job", matrix={**{job: {job: 1.0} for job in set(JOBS)}, "baker": {"smith": 1}}))
    )
    assert skewed["keeps"] == "nothing"


def test_numbers_are_named_by_number_or_text_and_stay_numbers() -> None:
    rows = {1: {1: 0.5, 2: 0.5}, 2: {2: 1.0}}
    step = tc.Pram("x", matrix=rows)
    assert step == tc.Pram("x", matrix=[[0.5, 0.5], [0, 1]], categories=[1.0, "2"])
    for column in (pl.Series([1, 2, None] * 50, dtype=pl.Int8), pl.Series([1.0, 2.0, None] * 50)):
        made = applied(step, data=pl.DataFrame({"x": column}), who=tc.Scenario(keys=["x"])).data.table["x"]
        assert made.dtype == column.dtype
        assert set(made.drop_nulls().to_list()) == {1, 2}
        assert made.null_count() == 50


def test_a_matrix_may_lead_to_categories_that_no_record_has() -> None:
    away = {"smith": {"smith": 0.5, "owner": 0.5}, "owner": {"owner": 1.0}}
    table = pl.DataFrame({"job": ["smith"] * 40})
    made = applied(tc.Pram("job", matrix=away), data=table, who=tc.Scenario(keys=["job"])).data.table["job"]
    assert set(made.to_list()) == {"smith", "owner"}
    number = pl.DataFrame({"job": pl.Series([1] * 40, dtype=pl.Int16)})
    step = tc.Pram("job", matrix=[[0.5, 0.5], [0, 1]], categories=[1, 7])
    made = applied(step, data=number, who=tc.Scenario(keys=["job"])).data.table["job"]
    assert (made.dtype, set(made.to_list())) == (pl.Int16, {1, 7})
    with pytest.raises(TacitaError, match="do not fit the type of column 'job'; leave them out of it"):
        applied(
            tc.Pram("job", matrix=[[0, 1], [0, 1]], categories=["1", "x"]), data=number, who=tc.Scenario(keys=["job"])
        )


def test_nothing_moves_beyond_the_bandwidth() -> None:
    for step in (
        tc.Pram("level", pd=0.0, alpha=1.0, bandwidth=2),
        tc.Pram("level", diagonal=0.2, bandwidth=2),
        tc.Pram("level", diagonal=0.2, bandwidth=2, invariant=False),
    ):
        for seed in range(3):
            moved = np.abs(applied(step, seed).data.table["level"].to_numpy() - people()["level"].to_numpy())
            assert moved.max() == 2
            assert moved.min() == 0


def test_places_are_those_of_the_declared_order() -> None:
    order = ("low", "middle", "high")
    table = pl.DataFrame({"class": list(order) * 100})
    data = Data.of(table, {"class": Variable(scale="ordinal", order=order)})
    who = tc.Scenario(keys=["class"])
    made = applied(tc.Pram("class", diagonal=0.3, bandwidth=1, invariant=False), data=data, who=who).data
    pairs = set(zip(table["class"], made.table["class"], strict=True))
    assert pairs == {(one, other) for one in order for other in order} - {("low", "high"), ("high", "low")}
    assert made.variable("class").order == order
    with pytest.raises(TacitaError, match="bandwidth needs categories in an order; declare 'class' ordinal, or leave"):
        applied(tc.Pram("class", bandwidth=1), data=table, who=who)


def test_together_only_combinations_come_out_that_occur() -> None:
    before = set(people().select("side", "town").iter_rows())
    apart = applied(tc.Pram(["side", "town"], pd=0.2, alpha=1.0)).data.table
    assert not set(apart.select("side", "town").iter_rows()) <= before
    for seed in range(5):
        release = applied(tc.Pram(["side", "town"], pd=0.2, alpha=1.0, together=True), seed)
        assert release.changes[0].records > 300
        assert set(release.data.table.select("side", "town").iter_rows()) <= before
    (given,) = mechanisms(release)
    assert given["categories"] == [list(pair) for pair in sorted(before)]


def test_together_who_lacks_a_value_stays() -> None:
    table = people().with_columns(side=pl.when(pl.arange(0, N) % 10 == 0).then(None).otherwise(pl.col("side")))
    release = applied(tc.Pram(["side", "town"], pd=0.1, together=True), data=table)
    lacks = table["side"].is_null()
    assert release.data.table.filter(lacks).equals(table.filter(lacks))
    assert "not exchanged: 120 records without one of 'side', 'town'" in release.changes[0].remarks


def test_types_labels_missing_values_and_codes_stay() -> None:
    jobs = [None if place % 9 == 0 else job for place, job in enumerate(JOBS)]
    known = {"code": Variable(value_labels={1: "one", 99: "none"}, missing=(98,), not_applicable=(99,))}
    table = pl.DataFrame(
        {
            "enum": pl.Series(jobs, dtype=pl.Enum(["smith", "baker", "miller", "falconer"])),
            "category": pl.Series(jobs, dtype=pl.Categorical),
            "flag": [place % 3 == 0 for place in range(N)],
            "day": pl.Series([place % 4 for place in range(N)]).cast(pl.Date),
            "code": [(1, 2, 3, 98, 99)[place % 5] for place in range(N)],
        }
    )
    release = applied(tc.Pram(table.columns, pd=0.1), data=Data.of(table, known), who=tc.Scenario(keys=["flag"]))
    for name in table.columns:
        was, now = table[name], release.data.table[name]
        assert now.dtype == was.dtype or name == "category", name
        assert now.is_null().to_list() == was.is_null().to_list()
        assert name in release.changes[0].cells
    for code in (98, 99):
        assert (release.data.table["code"] == code).to_list() == (table["code"] == code).to_list()
    assert mechanisms(release)[4]["unchanged"] == ["98", "99"]
    assert release.data.variable("code").value_labels[99] == "none"


def test_pandas_categories_stay_categories() -> None:
    table = pd.DataFrame({"job": pd.Categorical(JOBS)})
    made = applied(tc.Pram("job", pd=0.1), data=table, who=tc.Scenario(keys=["job"])).to_native()
    assert isinstance(made["job"].dtype, pd.CategoricalDtype)


@pytest.mark.parametrize("values", [["a"], ["a"] * 20, [None] * 5])
def test_fewer_than_two_categories_stay(values: list[str | None]) -> None:
    table = pl.DataFrame({"x": pl.Series(values, dtype=pl.String), "y": ["b"] * len(values)})
    for step in (tc.Pram("x"), tc.Pram("x", diagonal=0.5), tc.Pram(["x", "y"], together=True)):
        release = applied(step, data=table, who=tc.Scenario(keys=["y"]))
        assert release.data.table.equals(table)
        assert release.changes[0].remarks[-1].endswith("has fewer than two categories and stays as it is")


def test_a_fixed_diagonal_gives_the_same_matrix_for_every_seed() -> None:
    """The reference program draws it, so that two runs differ in the matrix itself."""
    drawn_ones = [mechanisms(applied(tc.Pram("job"), seed))[0]["matrix"] for seed in (1, 2)]
    fixed_ones = [mechanisms(applied(tc.Pram("job", fixed=True), seed))[0]["matrix"] for seed in (1, 2)]
    assert drawn_ones[0] != drawn_ones[1]
    assert fixed_ones[0] == fixed_ones[1]
    (plain,) = mechanisms(applied(tc.Pram("job", pd=0.7, alpha=0.5, fixed=True, invariant=False)))
    assert plain["matrix"][0] == pytest.approx([0.85, 0.05, 0.05, 0.05])


def test_rare_categories_that_are_hardly_ever_kept_are_pointed_out(reference: Reference) -> None:
    """relat, pd = 0.5, alpha = 1: in the reference program the smallest diagonal is 0.0057, without a word."""
    data = reference.data("testdata").select("relat")
    who = tc.Scenario(keys=["relat"])
    release = applied(tc.Pram("relat", pd=0.5, alpha=1.0), data=data, who=who)
    assert release.changes[0].figures["relat"]["least_kept"] < 0.1
    assert any(
        remark.startswith("caution: ") and "of 9 categories of 'relat'" in remark
        for remark in release.changes[0].remarks
    )
    # With an exact diagonal the same rare categories are kept as often as wanted. More than half of the file has one
    # category, which can change only as much as all others together.
    with pytest.raises(TacitaError, match="more would leave the most frequent category than all others can give back"):
        applied(tc.Pram("relat", diagonal=0.8), data=data, who=who)
    wanted = {str(code): 0.9 if code == 3 else 0.8 for code in range(1, 10)}
    (given,) = mechanisms(applied(tc.Pram("relat", diagonal=wanted), data=data, who=who))
    assert np.abs(np.diagonal(np.array(given["matrix"])) - list(wanted.values())).max() <= 1e-12


def test_what_protects_next_to_nothing_is_pointed_out() -> None:
    remarks = applied(tc.Pram("job", pd=0.99)).changes[0].remarks
    assert "caution: 'job' changes so seldom that next to nothing is protected" in remarks


def test_the_step_is_kept_to_some_records_and_says_so() -> None:
    release = applied(tc.Pram("job", pd=0.1, alpha=1.0, only="w > 3"))
    outside = people()["w"] <= 3
    assert release.data.table.filter(outside).equals(people().filter(outside))
    assert mechanisms(release)[0]["only"]


def test_the_keys_count_as_perturbed() -> None:
    assert applied(tc.Pram("job")).data.perturbed == {"job"}


MESSAGES: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: tc.Pram("x", pd=0.5, diagonal=0.9),
        "pram takes pd with alpha and fixed, or diagonal, or matrix; give one of them.",
    ),
    (
        lambda: tc.Pram("x", matrix={"a": {"a": 0.9}}),
        "rows of matrix must add up to 1; those of 'a' do not.",
    ),
    (
        lambda: tc.Pram("x", matrix={"a": {"a": 0.9, "b": 0.1}}),
        "matrix must have a row for each category it leads to; it has none for 'b'.",
    ),
    (
        lambda: tc.Pram("x", matrix=[[1.0]]),
        "categories must name the 1 row of the matrix in their order; got 0.",
    ),
    (lambda: tc.Pram("x", matrix=[[1.0, 0.0]]), "matrix must have as many columns as rows; got 1 rows."),
    (lambda: tc.Pram("x", matrix={"a": {"a": 2}}), "matrix of 'a' must be in [0, 1]; got 2."),
    (lambda: tc.Pram("x", categories=["a"]), "categories go with a matrix that is a list of rows; leave them out."),
    (
        lambda: tc.Pram("x", matrix={"a": {"a": 1}}, categories=["a"]),
        "categories go with a matrix that is a list of rows; leave them out, the table names them.",
    ),
    (
        lambda: tc.Pram("x", matrix={"a": {"a": 1}}, bandwidth=1),
        "a matrix is used as it is; leave bandwidth, invariant and weighted out.",
    ),
    (
        lambda: tc.Pram(["x", "y"], diagonal={"a": 1}),
        "a matrix, and a diagonal by category, are for one variable; give each variable a step.",
    ),
    (lambda: tc.Pram("x", together=True), "together is for several variables; name at least two."),
    (
        lambda: tc.Pram(["x", "y"], together=True, bandwidth=1),
        "combinations of variables have no order; leave bandwidth or together out.",
    ),
    (
        lambda: tc.Pram("x", weighted=True, invariant=False),
        "weighted says which totals an invariant matrix keeps; leave it or invariant=False out.",
    ),
    (
        lambda: applied(tc.Pram("job", matrix={"smith": {"smith": 1}})),
        "column 'job' has 3 categories without a row in the matrix; add them there.",
    ),
    (
        lambda: applied(tc.Pram("job", diagonal={"smith": 1})),
        "column 'job' has 3 categories not named in diagonal; add them there.",
    ),
    (
        # 700 (1 - 0.5) = 350 would leave, and (300 + 150 + 50) (1 - 0.5) = 250 come back: 250 of 700 can.
        lambda: applied(tc.Pram("job", diagonal=0.5)),
        "no invariant matrix has this diagonal for 'job': more would leave the most frequent category than all "
        "others can give back; keep it with a probability of at least 0.6429, in a table by category, or pass "
        "invariant=False.",
    ),
    (
        lambda: applied(tc.Pram("job", diagonal={"smith": 0.9, "miller": 1, "baker": 0.5, "falconer": 1})),
        "no invariant matrix has this diagonal for 'job': more would leave 'baker' than all others can give back; keep "
        "it with a probability of at least 0.5333, in a table by category, or pass invariant=False.",
    ),
    (
        # Every step is between an odd and an even level: 2 x 0.5 x 5 x 109 of 1,200, of the odd levels with 109 each.
        lambda: applied(tc.Pram("level", diagonal=0.5, bandwidth=1)),
        "no invariant matrix has this diagonal for 'level' within bandwidth = 1: 45.4 % can change, not 50 %; widen "
        "it, take pd in place of diagonal, or pass invariant=False.",
    ),
    (
        lambda: applied(tc.Pram("job", weighted=True), who=tc.Scenario(keys=["job"])),
        "weighted totals need a weight; name it in the scenario, or pass weighted=False.",
    ),
    (
        lambda: applied(tc.Pram("id"), data=pl.DataFrame({"id": range(1001)}), who=tc.Scenario(keys=["id"])),
        "'id' has 1,001 categories, more than 1,000; recode first.",
    ),
]


@pytest.mark.parametrize(("make", "message"), MESSAGES)
def test_what_is_wrong_is_said(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(TacitaError) as refused:
        make()
    assert str(refused.value) == message


def test_no_record_gets_a_code_for_missing_by_an_own_matrix() -> None:
    data = Data.of(pl.DataFrame({"x": [1, 2, 99, -5] * 5}), {"x": Variable(missing=(99,), missing_ranges=((-9, -1),))})
    who = tc.Scenario(keys=["x"])
    for code in ("99", "-5", "-7"):
        rows = {"1": {"1": 0.5, code: 0.5}, "2": {"2": 1}, code: {code: 1}}
        with pytest.raises(TacitaError, match="must not lead to codes declared missing or not applicable; it leads to"):
            applied(tc.Pram("x", matrix=rows), data=data, who=who)


@hypothesis.given(
    st.lists(st.tuples(*[st.sampled_from(["a", "b", None, "c"])] * 2, st.sampled_from([1, 2, 99, None])), min_size=1)
)
@hypothesis.settings(deadline=None)
def test_combinations_are_those_of_plain_python(rows: list[tuple[Any, ...]]) -> None:
    """Complete ones only, in ascending order; 99 is declared missing."""
    table = pl.DataFrame(rows, schema={"x": pl.String, "y": pl.String, "z": pl.Int64}, orient="row")
    found = categories_of(Data.of(table, {"z": Variable(missing=(99,))}), ("x", "y", "z"))
    wanted = [None if None in row or 99 in row else tuple(map(str, row)) for row in rows]
    ascending = sorted({each for each in wanted if each is not None})
    assert list(found.texts) == ascending
    assert found.codes.tolist() == [-1 if each is None else ascending.index(each) for each in wanted]
    assert all(wanted[row] == text for row, text in zip(found.rows.tolist(), ascending, strict=True))
    weights = np.arange(1.0, len(rows) + 1)
    sums = [sum(weights[at] for at, each in enumerate(wanted) if each == text) for text in ascending]
    assert found.totals(weights, np.arange(len(rows))).tolist() == sums


@hypothesis.given(st.lists(st.integers(0, 9) | st.sampled_from([1 << 20, (1 << 20) - 1, 1 << 40])))
def test_codes_are_compacted_as_by_sorting(codes: list[int]) -> None:
    made = distinct_codes(np.array(codes, dtype=np.int64))
    different = sorted(set(codes))
    assert made[0].tolist() == different
    assert made[1].tolist() == [different.index(code) for code in codes]


def test_a_record_has_the_same_draw_whatever_else_is_in_the_file() -> None:
    rows = [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]]
    step = tc.Pram("side", matrix=rows, categories=["north", "south", "west"], label="draw")
    data = Data.of(people())
    some = applied(step, data=data.take(np.arange(100, 300))).data.table["side"]
    assert some.equals(applied(step, data=data).data.table["side"][100:300])
    assert some.equals(applied(replace(step, strata=("town",)), data=data).data.table["side"][100:300])
