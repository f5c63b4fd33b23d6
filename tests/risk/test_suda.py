"""SUDA: scores, DIS-SUDA scores, contributions, importance."""

from collections import Counter
from math import factorial

import numpy as np
import polars as pl
import pytest
import slow_suda
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Reference
from strategies import RULES, Rule, Survey, quietly, surveys
from tacita.check import TacitaError
from tacita.risk.identity.suda.scores import dis_scores, factorial_weights, superset_weights
from tacita.risk.identity.suda.suda import suda
from tacita.scenario import Scenario

PAPER = pl.DataFrame(
    {
        "age": ["20s"] * 7 + ["60s"],
        "gender": ["male"] * 4 + ["female"] * 3 + ["male"],
        "income": ["high"] * 2 + ["low"] * 6,
        "education": ["high"] * 4 + ["university", "high", "middle", "university"],
    }
)
"""The example of paper 001."""
KEYS = ["age", "gender", "income", "education"]
WHO = Scenario(keys=KEYS)


def test_table_of_the_paper() -> None:
    """Paper 001 prints scores 1, 0.5, 1.75, 2.25 and DIS-SUDA 0.0105, 0.0046, 0.0203, 0.0272 for d = 0.01."""
    found = suda(PAPER, WHO, score="superset", sampling_fraction=0.01)
    assert found.score.tolist() == [0, 0, 0, 0, 1, 0.5, 1.75, 2.25]
    assert found.dis.round(4).tolist() == [0, 0, 0, 0, 0.0105, 0.0046, 0.0203, 0.0272]
    assert (found.largest, found.pairs, found.uniques, found.special, found.unscored) == (3, 4, 4, 4, 0)


def test_factorial_score_of_the_paper() -> None:
    """Record 8: the age alone scores 3! = 6, (male, university) scores 2! = 2: the paper's text."""
    found = suda(PAPER, WHO, sampling_fraction=0.01)
    # Record 5: (female, university) and (20s, university); 6: (female, high); 7: middle school.
    assert found.score.tolist() == [0, 0, 0, 0, 4, 2, 6, 8]
    assert found.msus.tolist() == [0, 0, 0, 0, 2, 1, 1, 2]
    assert found.smallest.tolist() == [0, 0, 0, 0, 2, 2, 1, 1]
    assert found.record_contributions[7].tolist() == [6 / 8, 2 / 8, 0, 2 / 8]
    assert found.record_contributions[4].tolist() == [0.5, 0.5, 0, 1]
    assert found.match_probability == pytest.approx(4 * 0.01 / (4 * 0.01 + 4 * 0.99))


def test_contributions_of_keys_and_values() -> None:
    """Total 20: age 2 + 6, gender 2 + 2 + 2, income 0, education 4 + 2 + 6 + 2 = 14."""
    found = suda(PAPER, WHO, sampling_fraction=0.01)
    assert found.contributions.rows() == [
        ("age", 8 / 20, 3),
        ("gender", 6 / 20, 2),
        ("income", 0.0, 1),
        ("education", 14 / 20, 4),
    ]
    levels = {(name, value): share for name, value, share in found.level_contributions.rows()}
    assert levels["age", "60s"] == 6 / 8
    assert levels["gender", "female"] == 4 / 6
    assert levels["education", "university"] == 6 / 14
    assert levels["education", "middle"] == 6 / 14
    assert levels["income", "low"] == 0.0
    assert found.importance() == {"age": 3, "gender": 2, "income": 1, "education": 4}
    # 1 + 3 x (8/14, 6/14, 0, 1), rounded
    assert found.importance(scale=True) == {"age": 3, "gender": 2, "income": 1, "education": 4}


def test_perfectly_dependent_keys_share() -> None:
    """b relabels a: each makes the record unique alone, half of the score each. The reference gives 1 and 0."""
    twins = pl.DataFrame({"a": [1, 1, 2], "b": ["x", "x", "y"], "c": [1, 1, 1]})
    found = suda(twins, Scenario(keys=["a", "b", "c"]), sampling_fraction=0.1)
    assert found.record_contributions.tolist() == [[0, 0, 0], [0, 0, 0], [0.5, 0.5, 0]]
    assert found.importance() == {"a": 2, "b": 2, "c": 1}


def test_weights_by_size() -> None:
    """(q - s)! up to M = q - 1 or q; with a smaller M the product stops at M. Supersets for M = q - 1: 2^(q-s) - 1."""
    assert factorial_weights(4, 4).tolist() == [0, 6, 2, 1, 1]
    assert factorial_weights(4, 3).tolist() == [0, 6, 2, 1]
    assert factorial_weights(5, 2).tolist() == [0, 4 * 3, 3]
    assert factorial_weights(1, 1).tolist() == [0, 1]
    assert superset_weights(4, 3).tolist() == [0, 7 / 4, 3 / 6, 1 / 4]
    assert superset_weights(4, 4).tolist() == [0, 8 / 4, 4 / 6, 2 / 4, 1]
    assert superset_weights(4, 2).tolist() == [0, (1 + 3) / 4, 1 / 6]
    assert factorial_weights(12, 12).tolist() == [0, *(float(factorial(12 - s)) for s in range(1, 13))]


def test_unique_only_on_all_keys() -> None:
    """All four records need both keys, and sets of all keys are left out of the superset score."""
    cross = pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]})
    who = Scenario(keys=["a", "b"], sampling_fraction=0.5)
    found = suda(cross, who, score="superset")
    assert (found.uniques, found.special, found.unscored) == (4, 0, 4)
    assert found.dis.tolist() == [0, 0, 0, 0]
    assert found.match_probability is None
    assert "4 unique records score 0 and DIS 0, since only sets of up to 1 of the 2 keys are scored" in str(found)
    assert suda(cross, who, score="superset", largest=2).score.tolist() == [1, 1, 1, 1]
    assert suda(cross, who).score.tolist() == [1, 1, 1, 1]
    assert suda(cross, who, largest=1).unscored == 4


@pytest.mark.parametrize(("score", "alone"), [("factorial", 1), ("superset", 0)])
def test_one_record_and_one_key(score: str, alone: int) -> None:
    """The only record of a file is unique on each key it shows. A single key scores 1, or 0 as the superset score of
    sets with fewer keys than all, unless they are asked for."""
    one = suda(pl.DataFrame({"a": [1], "b": ["x"], "c": [None]}), Scenario(keys=["a", "b", "c"]), score=score)
    assert (one.msus.tolist(), one.smallest.tolist(), one.dis.tolist()) == ([2], [1], [1])
    single = suda(pl.DataFrame({"a": [1, 1, 2, None]}), Scenario(keys=["a"], sampling_fraction=0.5), score=score)
    assert single.score.tolist() == [0, 0, alone, 0]
    assert (single.special, single.unscored) == (0, 1 - alone)
    asked = suda(pl.DataFrame({"a": [1, 1, 2]}), Scenario(keys=["a"], sampling_fraction=0.5), score=score, largest=1)
    assert asked.score.tolist() == [0, 0, 1]


def test_missing_values_by_rule() -> None:
    """Record 0 shows (1, 1); record 1 is blank where it matters, and hides record 0 under wildcard only."""
    blanks = pl.DataFrame({"a": [1, 1, 2, 2, 1], "b": [1, None, 2, 2, 2]})
    for rule in ("one_way", "conservative", "no_match", "own_category", "partial(0.5)", "sdcmicro(1)"):
        found = suda(blanks, Scenario(keys=["a", "b"], missing=rule), sampling_fraction=0.5)
        assert found.smallest.tolist() == [1, 0, 0, 0, 2], rule
    hidden = suda(blanks, Scenario(keys=["a", "b"], missing="wildcard"), sampling_fraction=0.5)
    assert hidden.smallest.tolist() == [0, 0, 0, 0, 0]


def test_a_blank_record_has_no_sets() -> None:
    nothing = pl.DataFrame({"a": pl.Series([None, None], dtype=pl.Int64), "b": pl.Series([1, None], dtype=pl.Int64)})
    found = suda(nothing, Scenario(keys=["a", "b"]), sampling_fraction=0.5)
    assert found.msus.tolist() == [1, 0]


PAIRS = pl.DataFrame({"a": [1, 1, 2, 2, 3, 4], "b": [1, 1, None, None, 3, None]})


@pytest.mark.parametrize(
    ("rule", "pairs"),
    [
        ("one_way", 4),
        ("conservative", 4),
        ("partial(0.5)", 4),
        ("no_match", 2),
        ("own_category", 4),
        ("sdcmicro(0)", 4),
    ],
)
def test_pairs_by_rule(rule: str, pairs: int) -> None:
    """Two records with the same blank are a pair, but where a blank matches nothing."""
    assert suda(PAIRS, Scenario(keys=["a", "b"], missing=rule), sampling_fraction=0.5).pairs == pairs


def test_a_pair_of_one_side() -> None:
    """(1, blank) could be itself or record 0: one of two. Record 0 is no pair but unique."""
    open_pair = pl.DataFrame({"a": [1, 1, 2], "b": [1, None, 2]})
    found = suda(open_pair, Scenario(keys=["a", "b"]), sampling_fraction=0.5)
    assert (found.pairs, found.uniques) == (1, 2)
    category = suda(open_pair, Scenario(keys=["a", "b"], missing="own_category"), sampling_fraction=0.5)
    assert category.pairs == 0


def test_sampling_fraction_comes_from_the_scenario() -> None:
    data = PAPER.with_columns(w=pl.lit(50.0))
    assert suda(data, Scenario(keys=KEYS, weight="w")).sampling_fraction == 0.02
    assert suda(data, Scenario(keys=KEYS, population_size=80)).sampling_fraction == 0.1
    assert suda(data, Scenario(keys=KEYS, sampling_fraction=0.3)).sampling_fraction == 0.3
    assert suda(data, Scenario(keys=KEYS, weight="w"), sampling_fraction=0.5).sampling_fraction == 0.5
    census = suda(data, WHO)
    assert census.sampling_fraction == 1
    assert census.dis.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert "the file is taken for the whole population" in str(census)


def test_without_pairs_every_unique_has_one() -> None:
    found = suda(PAPER[4:], WHO, sampling_fraction=0.01)
    assert (found.pairs, found.dis.tolist(), found.match_probability) == (0, [1, 1, 1, 1], 1)
    assert "no two records form a pair" in str(found)


def test_too_many_keys_for_dis() -> None:
    """The exponent is 0 at 28 keys."""
    assert np.isnan(dis_scores(np.array([1.0, 0.0]), 2, 0.1, 28)).all()
    assert dis_scores(np.array([1.0, 0.0]), 2, 0.1, 27).tolist() == pytest.approx([0.1 / (0.1 + 2 * 0.9), 0])
    wide = pl.DataFrame({f"k{j:02}": [1, 1, j % 3] for j in range(28)})
    found = suda(wide, Scenario(keys=wide.columns), largest=2, sampling_fraction=0.1)
    assert np.isnan(found.dis).all()
    assert "no DIS-SUDA score for 28 keys or more" in str(found)
    assert found.to_frame()["dis"].null_count() == 3


def test_print() -> None:
    found = suda(PAPER, WHO, sampling_fraction=0.01)
    assert str(found) == (
        "4 of 8 records are unique on the keys (50 %), 4 on fewer keys than they show (special uniques)\n"
        "records by the smallest set that makes them unique: 1 key: 2, 2 keys: 2\n"
        "highest score 8 (factorial, sets of up to 4 keys), highest DIS-SUDA score 0.0246\n"
        "a unique match is right with probability 0.01 (DIS, sampling fraction 0.01)\n"
        "  key        share of the score from sets with it\n"
        "  age                                        40 %\n"
        "  gender                                     30 %\n"
        "  income                                      0 %\n"
        "  education                                  70 %\n"
        "missing values: one_way"
    )
    for value in ("20s", "60s", "female", "university"):
        assert value not in str(found) + repr(found.contributions)


def test_frame_has_a_row_per_record() -> None:
    table = suda(PAPER, WHO, sampling_fraction=0.01).to_frame()
    assert table.columns == ["score", "dis", "msus", "smallest", *(f"contribution of {name}" for name in KEYS)]
    assert table.row(7)[:1] + table.row(7)[2:] == (8, 2, 1, 0.75, 0.25, 0, 0.25)


def test_without_contributions() -> None:
    found = suda(PAPER, WHO, sampling_fraction=0.01, contributions=False)
    assert found.to_frame().columns == ["score", "dis", "msus", "smallest"]
    assert "share of the score" not in str(found)
    for ask in (lambda: found.contributions, lambda: found.level_contributions, found.importance):
        with pytest.raises(TacitaError) as caught:
            ask()
        assert str(caught.value) == "contributions were not computed; call suda(..., contributions=True)."


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"largest": 5}, "largest must be at most the number of keys, 4; got 5."),
        ({"largest": 0}, "largest must be at least 1; got 0."),
        ({"largest": 1.5}, "largest must be a whole number of at least 1; got 1.5."),
        ({"score": "elliot"}, "score must be one of 'factorial', 'superset'; got 'elliot'."),
        ({"sampling_fraction": 0}, "sampling_fraction must be in (0, 1]; got 0."),
        ({"sampling_fraction": 1.2}, "sampling_fraction must be in (0, 1]; got 1.2."),
    ],
)
def test_messages(asked: dict[str, object], message: str) -> None:
    with pytest.raises(TacitaError) as caught:
        suda(PAPER, WHO, **asked)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_too_many_sets() -> None:
    wide = pl.DataFrame({f"k{j:02}": [1, 2] for j in range(40)})
    with pytest.raises(TacitaError) as caught:
        suda(wide, Scenario(keys=wide.columns))
    text = "suda would take about 2 hours; pass largest=4, or name fewer keys, or wait for it with TACITA_MINUTES=110."
    assert str(caught.value) == text
    assert suda(wide, Scenario(keys=wide.columns), largest=3).msus.tolist() == [40, 40]


def test_progress_says_what_it_does() -> None:
    seen: list[tuple[float, str]] = []
    suda(PAPER, WHO, progress=lambda done, what: seen.append((done, what)))
    assert seen[-1] == (1.0, "searching for special uniques")


@pytest.mark.parametrize("kind", ["factorial", "superset"])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.text)
@settings(max_examples=15)
@given(survey=surveys(most=14, variables=5), data=st.data())
def test_equals_the_definition(kind: str, rule: Rule, survey: Survey, data: st.DataObject) -> None:
    q = len(survey.columns)
    largest = data.draw(st.one_of(st.none(), st.integers(1, q)))
    with quietly():
        found = suda(survey.frame, survey.scenario(rule.text), score=kind, largest=largest, sampling_fraction=0.2)
    M = found.largest
    assert (largest if largest else q if kind == "factorial" else q - 1) == M
    wildcard = rule.name == "wildcard"
    sets = [slow_suda.minimal_uniques(survey.keys, i, M, wildcard) for i in range(len(survey.keys))]
    scores = [float(slow_suda.score(one, q, M, kind)) for one in sets]
    assert found.score.tolist() == pytest.approx(scores, rel=1e-14)
    assert found.msus.tolist() == [len(one) for one in sets]
    shares = [[float(share) for share in slow_suda.contributions(one, q, M, kind)] for one in sets]
    np.testing.assert_allclose(found.record_contributions, shares, rtol=1e-14)
    np.testing.assert_allclose(found.dis, slow_suda.dis(scores, found.pairs, 0.2, q), rtol=1e-12)
    full = [slow_suda.minimal_uniques(survey.keys, i, q, wildcard) for i in range(len(survey.keys))]
    assert found.uniques == sum(map(bool, full))


@settings(max_examples=40)
@given(survey=surveys(missing=False))
def test_pairs_are_keys_of_two(survey: Survey) -> None:
    with quietly():
        found = suda(survey.frame, survey.scenario())
    assert found.pairs == sum(2 for count in Counter(survey.keys).values() if count == 2)


@settings(max_examples=40)
@given(survey=surveys(), seed=st.integers(0, 1000))
def test_order_of_records_does_not_matter(survey: Survey, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(survey.keys))
    frame = survey.frame
    before = frame.clone()
    with quietly():
        one, other = suda(frame, survey.scenario()), suda(frame[order], survey.scenario())
    assert frame.equals(before)
    np.testing.assert_array_equal(one.score[order], other.score)
    np.testing.assert_array_equal(one.dis[order], other.dis)
    assert one.contributions.equals(other.contributions)
    assert one.level_contributions.equals(other.level_contributions)


def test_superset_scores_of_the_paper() -> None:
    assert suda(PAPER, WHO, sampling_fraction=0.01, score="superset").score.tolist() == [0, 0, 0, 0, 1, 0.5, 1.75, 2.25]


def test_superset_scores_of_one_key_are_0() -> None:
    """A set of one key has no superset of at most Q - 1 = 0 keys; with largest=1 it has itself."""
    people = pl.DataFrame({"town": ["a", "a", "b", "b", "c"]})
    for_one = Scenario(keys=["town"])
    assert suda(people, for_one, sampling_fraction=0.01, score="superset").score.tolist() == [0, 0, 0, 0, 0]
    found = suda(people, for_one, sampling_fraction=0.01, score="superset", largest=1)
    assert found.score.tolist() == [0, 0, 0, 0, 1]
    assert suda(people, for_one, sampling_fraction=0.01).score.tolist() == [0, 0, 0, 0, 1]


REFERENCE_CASES = [
    "suda2_eusilc_4keys_d01_orig",
    "suda2_eusilc_4keys_d1_ihsn",
    "suda2_eusilc_4keys_d1_orig",
    "suda2_francdat_4keys_d01_ihsn",
    "suda2_francdat_4keys_d01_orig",
    "suda2_testdata_4keys_d01_ihsn",
    "suda2_testdata_4keys_d01_orig",
    "suda2_testdata_4keys_d1_orig",
    "suda2_testdata_5keys_d01_ihsn",
    "suda2_testdata_5keys_d01_orig",
    "suda2_testdata_6keys_d1_orig",
    "suda2_testdata_7keys_d01_ihsn",
    "suda2_testdata_7keys_d01_orig",
    "suda2_testdata_7keys_d1_orig",
    "suda2_testdata_na_7keys_d1_orig",
]


def test_every_reference_case_is_listed(reference: Reference) -> None:
    assert reference.names("suda2") == REFERENCE_CASES


@pytest.mark.parametrize("case", REFERENCE_CASES)
def test_reference(reference: Reference, case: str) -> None:
    """Scores and contributions exactly, DIS-SUDA within the reference's single precision."""
    given = reference.case(case)["parameters"]
    expected = reference.vectors(case)
    found = suda(
        reference.data(reference.case(case)["dataset"]),
        Scenario(keys=given["keys"], missing="own_category"),
        score="factorial" if given["original_scores"] else "superset",
        sampling_fraction=given["DisFraction"],
    )
    np.testing.assert_allclose(found.score, expected["score"], rtol=1e-14)
    np.testing.assert_allclose(found.dis, expected["disScore"], atol=1e-6)
    shares = np.column_stack([expected[f"{name}_contribution"] for name in given["keys"]])
    np.testing.assert_allclose(found.record_contributions, shares, rtol=1e-12, atol=1e-15)
    variables = _rows(reference, f"{case}__variables")
    for name, share, _ in found.contributions.rows():
        assert 100 * share == pytest.approx(variables[name], abs=1e-9)
    levels = _rows(reference, f"{case}__levels")
    ours = {f"{name}={value}": share for name, value, share in found.level_contributions.rows()}
    assert ours.keys() == levels.keys()
    for level, share in ours.items():
        # The reference divides by 0 where a variable contributes nothing.
        assert 100 * share == pytest.approx(0 if np.isnan(levels[level]) else levels[level], abs=1e-9)


def _rows(reference: Reference, name: str) -> dict[str, float]:
    table = pl.read_csv(reference.folder / "cases" / f"{name}.csv", infer_schema=False)
    return {"=".join(row[:-1]): float(row[-1]) for row in table.rows()}
