"""Log-linear global risk: by hand, against 40 digits and dense fits, by simulation, and against published figures."""

import json
import math
import re
from typing import Any

import mpmath
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita import Scenario
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.formula import parse
from tacita.risk.population.loglinear_risk import cells, measures
from tacita.risk.population.loglinear_risk.formula import closed, maximal, shown
from tacita.risk.population.loglinear_risk.loglinear_risk import LogLinearRisk, loglinear_risk
from tacita.risk.population.loglinear_risk.measures import (
    match_curvature,
    match_probability,
    match_slope,
    match_variance,
    underfit,
    underfit_of_cells,
)

PUBLISHED = "~ db040 + hsize + rb090 + age + pb220a + age:rb090 + age:hsize + hsize:rb090"


def records(table: Any, names: tuple[str, ...] = ("a", "b"), weight: float = 10.0) -> pl.DataFrame:
    """A file with so many records in each cell; values are texts like `a0`."""
    table = np.asarray(table)
    cells = np.repeat(np.argwhere(np.ones(table.shape)), table.reshape(-1), axis=0)
    columns = {name: [f"{name}{level}" for level in cells[:, axis]] for axis, name in enumerate(names)}
    return pl.DataFrame(columns | {"w": np.full(len(cells), weight)})


def scenario(*keys: str, **options: Any) -> Scenario:
    return Scenario(keys=keys or ("a", "b"), **({"weight": "w"} | options))


def terms(formula: str) -> list[str]:
    return ["".join(sorted(term)) for term in parse(formula)]


class TestFormula:
    def test_operators(self) -> None:
        assert terms("~ a + b + a:b") == ["a", "b", "ab"]
        assert terms("a*b") == ["a", "b", "ab"]
        assert terms("~ a*b*c") == ["a", "b", "ab", "c", "ac", "bc", "abc"]
        assert terms("~ (a + b + c)**2") == terms("(a+b+c)^2") == ["a", "b", "c", "ab", "ac", "bc"]
        assert terms("~ (a + b):c + 1") == ["ac", "bc"]
        assert terms("~ a*b:c") == ["a", "bc", "abc"]
        assert terms("~ a + a:a + (a)") == ["a"]
        assert terms("(a + b)**9") == ["a", "b", "ab"]

    def test_odd_names(self) -> None:
        assert parse("~ `age in years` + größe + x.1 + `a:b`*_2") == [
            {"age in years"}, {"größe"}, {"x.1"}, {"a:b"}, {"_2"}, {"a:b", "_2"},
        ]  # fmt: skip

    @given(st.lists(st.lists(st.sampled_from(["a", "b.c", "d e", "+", "ü"]), min_size=1, max_size=3), min_size=1))
    def test_shown_formulas_are_read_again(self, listed: list[list[str]]) -> None:
        names = ["a", "b.c", "d e", "+", "ü"]
        model = closed(frozenset(term) for term in listed)
        assert closed(parse(shown(model, names))) == model

    def test_what_an_interaction_implies(self) -> None:
        abc = closed([frozenset("abc")])
        assert {"".join(sorted(term)) for term in abc} == {"a", "b", "c", "ab", "ac", "bc", "abc"}
        # b is a numeric variable: one column, which implies nothing without b.
        assert closed([frozenset("ab")], numeric="b") == {frozenset("ab"), frozenset("b")}
        assert maximal(abc) == [frozenset("abc")]

    @pytest.mark.parametrize(
        ("formula", "message"),
        [
            ("~ a +", "formula '~ a +' has 'its end' where a variable should be; "),
            ("~", "formula '~' has 'its end' where a variable should be; "),
            ("~ 1", "formula '~ 1' names no variable; "),
            ("~ a b", "formula '~ a b' ends too early at 'b'; "),
            ("~ (a + b", "formula '~ (a + b' has a bracket that does not close; "),
            ("~ a %in% b", "formula '~ a %in% b' cannot be read from '%in% b' on; "),
            ("~ `a", "formula '~ `a' cannot be read from '`a' on; "),
            ("~ a - b", "formula '~ a - b' takes something away; name only what the model has."),
            ("~ 0 + a", "formula '~ 0 + a' leaves out the constant; the model always has one, drop the 0."),
            ("~ a**b", "formula '~ a**b' has 'b' as a power; it must be a whole number."),
            ("~ a + 2", "formula '~ a + 2' has '2' where a variable should be; "),
            (7, "formula must be a text; got 7, "),
        ],
    )
    def test_mistakes(self, formula: Any, message: str) -> None:
        how = (
            ""
            if message.endswith(".")
            else "write it like '~ region + sex*age + region:sex', odd names in `backticks`."
        )
        with pytest.raises(TacitaError, match=f"^{re.escape(message + how)}$"):
            parse(formula)


class TestMeasures:
    SIZES = (0.0, 1e-12, 1e-6, 1e-3, 0.03, 0.0999999, 0.1, 0.3, 1.0, 5.0, 39.0, 41.0, 300.0)

    @staticmethod
    def exact(derivative: int, v: float) -> mpmath.mpf:
        """The derivatives of h_2 as confluent hypergeometric functions: (-1)^d d!/(d+1)! 1F1(d+1; d+2; -v)."""
        d = derivative
        return (-1) ** d * mpmath.mpf(1) / (d + 1) * mpmath.hyp1f1(d + 1, d + 2, -mpmath.mpf(v))

    @pytest.mark.parametrize("v", SIZES)
    def test_against_40_digits(self, v: float) -> None:
        with mpmath.workdps(40):
            for derivative, kernel in enumerate((match_probability, match_slope, match_curvature)):
                expected = float(self.exact(derivative, v))
                assert kernel(np.array([v]))[0] == pytest.approx(expected, rel=1e-11), kernel.__name__

    @pytest.mark.parametrize("v", SIZES)
    def test_variance_of_the_reciprocal(self, v: float) -> None:
        with mpmath.workdps(60):
            x = mpmath.mpf(v)
            weights = [mpmath.exp(-x) * x**j / mpmath.factorial(j) for j in range(900)]
            square = mpmath.fsum(weight / (j + 1) ** 2 for j, weight in enumerate(weights))
            mean = mpmath.fsum(weight / (j + 1) for j, weight in enumerate(weights))
            expected = float(square - mean**2)
        assert match_variance(np.array([v]))[0] == pytest.approx(expected, rel=1e-8)

    def test_underfit_of_one_cell_by_hand(self) -> None:
        # f = 2, mu = 1/2, pi = 1/2: lambda = 1, v = 1/2, h_1 = e^-1/2; B_1 = lambda e^-lambda (1-pi) {(f - mu) +
        # (1-pi) [(f-mu)^2 - f] / (2 pi)} = e^-1 / 2 {3/2 + 1/2 (9/4 - 2)} = 13/16 e^-1.
        (b_1, v_1), (b_2, v_2) = underfit(np.array([2.0]), np.array([0.5]), 0.5)
        assert b_1 == pytest.approx(13 / 16 * math.exp(-1), rel=1e-13)
        # a = e^-1/2, b = e^-1/4: V_1 = a^2/2 + 2 b^2/4 = e^-2 (1/8 + 1/32).
        assert v_1 == pytest.approx(5 / 32 * math.exp(-2), rel=1e-13)
        v, tail = 0.5, math.exp(-0.5)
        slope = 0.5 * (tail / v - (1 - tail) / v**2)
        curvature = 0.25 * (2 * (1 - tail) / v**3 - 2 * tail / v**2 - tail / v)
        assert b_2 == pytest.approx(tail * (-slope * 1.5 + curvature * 0.25), rel=1e-12)
        assert v_2 == pytest.approx((tail * slope) ** 2 * 0.5 + 2 * (tail * curvature) ** 2 * 0.25, rel=1e-12)

    def test_sums_over_blocks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        generator = np.random.default_rng(1)
        mean = generator.gamma(0.3, 1.0, 500)
        mean[::7] = 0.0
        f = generator.poisson(mean).astype(float)
        index = np.flatnonzero(f)
        pi = np.where(f > 0, 0.2, 0.05)
        monkeypatch.setattr(measures, "BLOCK", 64)
        found = underfit_of_cells(mean, index, f[index], 0.05, pi[index])
        for one, (b, variance) in zip(found, underfit(f, mean, pi), strict=True):
            assert (one.b, one.variance) == (pytest.approx(b, rel=1e-10), pytest.approx(variance, rel=1e-10))

    def test_right_model_by_simulation(self) -> None:
        # With the true means, B_j has mean 0 and variance V_j.
        generator = np.random.default_rng(20)
        mean = generator.gamma(0.5, 0.4, 400)
        pi = 0.1
        drawn = [underfit(generator.poisson(mean).astype(float), mean, pi) for _ in range(3000)]
        for j in (0, 1):
            b = np.array([draw[j][0] for draw in drawn])
            variance = drawn[0][j][1]
            assert abs(b.mean()) < 4 * math.sqrt(variance / len(b))
            assert b.var() == pytest.approx(variance, rel=0.15)

    def test_no_spread_where_the_file_is_the_population(self) -> None:
        found = underfit_of_cells(np.array([1.0, 2.0]), np.array([1]), np.array([3.0]), 1.0, 1.0)
        assert [one.standardised for one in found] == [0.0, 0.0]


class TestByHand:
    def test_two_by_two(self) -> None:
        # 1, 2; 3, 4 records with weight 10: pi = 1/10. Under independence the unique cell has mu = 3 * 4 / 10 = 1.2,
        # lambda = 12, v = 10.8.
        risk = loglinear_risk(records([[1, 2], [3, 4]]), scenario(), "~ a + b")
        assert risk.sampling_fraction == pytest.approx(0.1)
        assert risk.tau_1 == pytest.approx(math.exp(-10.8), rel=1e-12)
        assert risk.tau_2 == pytest.approx((1 - math.exp(-10.8)) / 10.8, rel=1e-12)
        assert (risk.size, risk.complete, risk.cells, risk.occupied, risk.sample_uniques) == (10, 10, 4, 4, 1)
        assert risk.unique_records.rows() == [
            (1, pytest.approx(1.2), pytest.approx(10.8), pytest.approx(math.exp(-10.8)), pytest.approx(risk.tau_2))
        ]

    def test_population_size_and_sampling_fraction(self) -> None:
        data = records([[1, 2], [3, 4]])
        by_weight = loglinear_risk(data, scenario(), "~ a + b")
        for options in ({"population_size": 100}, {"sampling_fraction": 0.1}):
            risk = loglinear_risk(data, scenario(weight=None, **options), "~ a + b")
            assert risk.tau_1 == pytest.approx(by_weight.tau_1, rel=1e-12)
            assert risk.tau_2_interval == pytest.approx(by_weight.tau_2_interval, rel=1e-9)

    @pytest.mark.parametrize("variant", ["plain", "offset", "pml", "weighted", "ipf"])
    def test_census(self, variant: str) -> None:
        risk = loglinear_risk(records([[1, 2], [3, 1]]), scenario(weight=None), variant=variant)
        assert (risk.tau_1, risk.tau_2, risk.tau_1_interval) == (2.0, 2.0, (2.0, 2.0))
        assert risk.formula == "~ a + b"
        assert str(risk).startswith(
            "2 sample uniques expected to be population unique and 2 expected correct matches among 2 sample uniques"
        )

    @pytest.mark.parametrize("variant", ["offset", "pml", "weighted", "ipf"])
    def test_equal_weights_make_all_variants_the_plain_one(self, variant: str) -> None:
        data = records([[1, 2, 0], [3, 4, 1]], weight=4.0)
        plain = loglinear_risk(data, scenario(), "~ a + b")
        other = loglinear_risk(data, scenario(), "~ a + b", variant=variant)
        assert other.tau_1 == pytest.approx(plain.tau_1, rel=1e-8)
        assert other.tau_2 == pytest.approx(plain.tau_2, rel=1e-8)
        # PML does not take the counts for Poisson, so its parameters have another variance.
        assert other.tau_2_interval == pytest.approx(plain.tau_2_interval, rel=0.1 if variant == "pml" else 1e-6)
        for one, expected in zip(other.underfit, plain.underfit, strict=True):
            assert one.standardised == pytest.approx(expected.standardised, rel=1e-6)

    def test_unequal_weights(self) -> None:
        # One variable, so every cell is fitted as it is: f = 1, 3 with weights 2 and 6.
        data = pl.DataFrame({"a": ["x", "y", "y", "y"], "w": [2.0, 6.0, 6.0, 6.0]})
        of = {v: loglinear_risk(data, scenario("a"), "~ a", variant=v) for v in ("plain", "offset", "pml")}
        pi = 4 / 20
        assert of["plain"].tau_1 == pytest.approx(math.exp(-(1 - pi) / pi), rel=1e-10)  # mu = 1
        assert of["offset"].tau_1 == pytest.approx(math.exp(-(1 - 0.5) / 0.5), rel=1e-10)  # mu = 1, z = 1/2
        assert of["pml"].tau_1 == pytest.approx(math.exp(-2 * (1 - pi)), rel=1e-10)  # lambda = 2

    def test_weight_as_covariate(self) -> None:
        # Maximum likelihood keeps the margins of the factors and the sum of the covariate, w_k / 3 - 1 in an occupied
        # cell (the mean weight of the file is 3) and 0 in an empty one.
        data = pl.DataFrame({"a": ["x", "y", "y", "z"], "b": ["p", "p", "q", "q"], "w": [1.0, 2.0, 4.0, 5.0]})
        risk = loglinear_risk(data, scenario(), "~ a + b", variant="weighted")
        mean = risk.estimate.fit.mean
        np.testing.assert_allclose(mean.sum(axis=1), [1, 2, 1], atol=1e-6)
        np.testing.assert_allclose(mean.sum(axis=0), [2, 2], atol=1e-6)
        covariate = np.array([[1, 0], [2, 4], [0, 5]]) / 3 - np.array([[1, 0], [1, 1], [0, 1]])
        assert (covariate * mean).sum() == pytest.approx(covariate.sum(), abs=1e-5)

    def test_numeric_keys(self) -> None:
        # Linear in x on two values is a factor; on three values the mean is exp(linear).
        data = records([[1, 2], [3, 4]]).with_columns(x=pl.col("a").str.slice(1).cast(pl.Int64))
        factor = loglinear_risk(data, scenario(), "~ a + b")
        linear = loglinear_risk(data, scenario("x", "b"), "~ x + b", numeric=["x"])
        assert linear.tau_1 == pytest.approx(factor.tau_1, rel=1e-8)
        three = pl.DataFrame({"x": [1, 2, 2, 3, 3, 3, 3], "w": 2.0})
        risk = loglinear_risk(three, scenario("x"), "~ x", numeric="x")
        np.testing.assert_allclose(risk.estimate.fit.mean, [1, 2, 4], rtol=1e-7)


class TestCells:
    def test_records_with_missing_keys_are_left_out_and_counted(self) -> None:
        complete = records([[1, 2], [3, 4]])
        gone = pl.DataFrame({"a": ["a0", None, "other"], "b": [None, "b1", None], "w": 10.0})
        risk = loglinear_risk(pl.concat([complete, gone]), scenario(), "~ a + b")
        expected = loglinear_risk(complete, scenario(), "~ a + b")
        assert (risk.size, risk.complete, risk.cells) == (13, 10, 4)
        assert risk.tau_1 == expected.tau_1
        assert risk.cautions[0] == "3 records with a missing key left out."

    def test_not_applicable_is_a_category(self) -> None:
        data = records([[1, 2], [3, 4]]).with_columns(a=pl.when(pl.col("a") == "a0").then(None).otherwise(pl.col("a")))
        risk = loglinear_risk(data, scenario(not_applicable={"a": [""]}), "~ a + b")
        assert (risk.complete, risk.tau_1) == (
            10,
            loglinear_risk(records([[1, 2], [3, 4]]), scenario(), "~ a + b").tau_1,
        )

    def test_structural_zeros(self) -> None:
        table = [[0, 4, 2], [3, 0, 5], [1, 6, 0]]
        zeros = [{"a": f"a{i}", "b": f"b{i}"} for i in range(3)]
        risk = loglinear_risk(records(table), scenario(), "~ a + b", structural_zeros=zeros)
        without = loglinear_risk(records(table), scenario(), "~ a + b")
        assert (risk.cells, without.cells) == (6, 9)
        assert np.array_equal(np.diag(risk.estimate.fit.mean), np.zeros(3))
        # Quasi-independence: alpha_2 beta_0 of the unique cell, from the margins 6, 8, 7 and 4, 10, 7.
        mean = risk.estimate.fit.mean
        np.testing.assert_allclose(mean.sum(axis=0), [4, 10, 7], rtol=1e-8)
        np.testing.assert_allclose(mean.sum(axis=1), [6, 8, 7], rtol=1e-8)
        assert risk.tau_1 == pytest.approx(math.exp(-9 * mean[2, 0]), rel=1e-9)
        assert without.tau_1 == pytest.approx(math.exp(-9 * 7 * 4 / 21), rel=1e-9)

    def test_structural_zeros_of_several_values_and_fewer_keys(self) -> None:
        table = np.ones((3, 2, 2), dtype=int)
        table[:2, 0] = 0
        data = records(table, ("a", "b", "c"))
        zeros = [{"a": ["a0", "a1", "never seen"], "b": "b0"}]
        risk = loglinear_risk(data, scenario("a", "b", "c"), "~ a + b + c", structural_zeros=zeros)
        assert risk.cells == 12 - 4
        newton = loglinear_risk(
            data, scenario("a", "b", "c"), "~ a + b + c", structural_zeros=zeros, variant="weighted"
        )
        assert newton.tau_1 == pytest.approx(risk.tau_1, rel=1e-6)

    @pytest.mark.parametrize(
        ("zeros", "message"),
        [
            ([{"a": "a0"}], "3 records in the combinations declared as structural zeros; correct the file or the "
             "declaration."),
            ([{"a": "nowhere"}], "structural_zeros: 'nowhere' does not occur in 'a'; check how the key is coded."),
            ([{"c": "a0"}], "structural_zeros: keys not in the data: 'c'. The columns are 'a', 'b'."),
            ({"a": "a0"}, "structural_zeros must be a list of combinations like "
             "[{'age': '0-15', 'status': 'married'}]."),
        ],
    )  # fmt: skip
    def test_wrong_structural_zeros(self, zeros: Any, message: str) -> None:
        with pytest.raises(TacitaError, match=f"^{re.escape(message)}$"):
            loglinear_risk(records([[1, 2], [3, 4]]), scenario(), "~ a + b", structural_zeros=zeros)

    def test_too_many_cells(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cells, "MOST_CELLS", 3)
        message = (
            "the keys must have at most 3 combinations for a log-linear model; they have 4: recode the keys with many "
            "values ('b' has 2 values, 'a' has 2 values) or leave some out."
        )
        with pytest.raises(TacitaError, match=f"^{re.escape(message)}$"):
            loglinear_risk(records([[1, 2], [3, 4]]), scenario(), "~ a + b")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"formula": "~ a + c"}, "formula: keys not in the data: 'c'. The columns are 'a', 'b'."),
        ({"formula": "~ a"}, "formula must name every key of the scenario; 'b' is not in it, add it or take it out of "
         "the keys."),
        ({"numeric": ["c"]}, "numeric: keys not in the data: 'c'. The columns are 'a', 'b'."),
        ({"numeric": ["a"]}, "numeric key 'a' must hold numbers; it does not, make it a factor."),
        ({"numeric": ["a"], "variant": "ipf"}, "variant 'ipf' fits factors only; drop numeric=[...] or choose another "
         "variant."),
        ({"variant": "best"}, "variant must be one of 'plain', 'offset', 'pml', 'weighted', 'ipf'; got 'best'."),
        ({"choose_by": "BIC"}, "choose_by must be one of 'B2', 'AIC'; got 'BIC'."),
        ({"compatibility": "argus"}, "compatibility must be one of 'sdcmicro'; got 'argus'."),
        ({"choose_by": "AIC", "variant": "pml"}, "variant 'pml' has no likelihood for choose_by 'AIC'; choose by 'B2' "
         "or give a formula."),
    ],
)  # fmt: skip
def test_mistakes(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TacitaError, match=f"^{re.escape(message)}$"):
        loglinear_risk(records([[1, 2], [3, 4]]), scenario(), **options)


def test_more_mistakes() -> None:
    data = records([[1, 2], [3, 4]])
    with pytest.raises(
        TacitaError, match=r"^compatibility 'sdcmicro' needs weights; pass weight=\.\.\. in the scenario\.$"
    ):
        loglinear_risk(data, scenario(weight=None), compatibility="sdcmicro")
    with pytest.raises(
        TacitaError, match=r"^log-linear risk needs categorical keys; pass keys=\[\.\.\.\] in the scenario\.$"
    ):
        loglinear_risk(data, Scenario(numeric_keys=["w"]))
    with pytest.raises(TacitaError, match=r"^no record has all keys known; leave out keys with many missing values\.$"):
        loglinear_risk(pl.DataFrame({"a": ["x", None], "b": [None, "y"], "w": 1.0}), scenario())


def drawn_file(seed: int, effects: Floats, pi: float = 0.1) -> tuple[pl.DataFrame, Floats]:
    """A sample from a population whose cell counts are Poisson, and the counts in the population."""
    generator = np.random.default_rng(seed)
    population = generator.poisson(effects)
    sample = generator.binomial(population, pi)
    names = tuple("abcd"[: effects.ndim])
    return records(sample, names, weight=1 / pi), population


def independent(seed: int, shape: tuple[int, ...], total: float) -> Floats:
    generator = np.random.default_rng(seed)
    out = np.array(total)
    for length in shape:
        share = generator.gamma(0.8, 1.0, length)
        out = out[..., None] * (share / share.sum())
    return out


class TestChoice:
    SHAPE = (8, 9, 7)
    KEYS = ("a", "b", "c")

    def with_interaction(self) -> Floats:
        means = independent(3, self.SHAPE, 3000.0)
        twist = np.where(np.add.outer(np.arange(8), np.arange(9)) % 2 == 0, 1.9, 0.1)
        return means * twist[:, :, None]

    @pytest.mark.parametrize("criterion", ["B2", "AIC"])
    def test_finds_the_interaction(self, criterion: str) -> None:
        data, _ = drawn_file(4, self.with_interaction(), pi=0.3)
        risk = loglinear_risk(data, scenario(*self.KEYS), choose_by=criterion)
        assert risk.formula == "~ a + b + c + a:b"
        assert risk.path is not None
        assert risk.path["change"].to_list() == ["independence", "+ a:b"]
        assert risk.path["tau_1"].to_list()[-1] == risk.tau_1
        assert risk.path["B_2/sqrt(V_2)"][0] > 4
        assert abs(risk.path["B_2/sqrt(V_2)"][1]) < 2

    def test_stays_with_independence(self) -> None:
        data, _ = drawn_file(5, independent(6, self.SHAPE, 3000.0), pi=0.3)
        risk = loglinear_risk(data, scenario(*self.KEYS))
        assert risk.formula == "~ a + b + c"
        assert risk.path is not None
        assert len(risk.path) == 1

    def test_tells_how_far_it_is(self) -> None:
        data, _ = drawn_file(4, self.with_interaction(), pi=0.3)
        said: list[tuple[float, str]] = []
        loglinear_risk(data, scenario(*self.KEYS), progress=lambda done, what: said.append((done, what)))
        first, *others = (what for _, what in said)
        assert first == "counting combinations of the keys"
        assert others == ["fitting models with 1 interaction"] * 3
        assert all(0 <= done < 1 for done, _ in said)

    def test_neighbours(self) -> None:
        data, _ = drawn_file(4, self.with_interaction(), pi=0.3)
        risk = loglinear_risk(data, scenario(*self.KEYS), "~ a*b + c")
        table = risk.neighbours
        assert table["change"].to_list() == ["this model", "- a:b", "+ a:c", "+ b:c"]
        formulas = ["~ a*b + c", "~ a + b + c", "~ a*b + a*c", "~ a*b + b*c"]
        for formula, row in zip(formulas, table.rows(named=True), strict=True):
            other = loglinear_risk(data, scenario(*self.KEYS), formula)
            assert (row["model"], row["tau_1"], row["tau_2"]) == (other.formula, other.tau_1, other.tau_2)
            assert row["B_1"] == other.underfit[0].b
            assert row["B_2/sqrt(V_2)"] == other.underfit[1].standardised

    def test_neighbours_of_a_model_with_an_interaction_of_three(self) -> None:
        data, _ = drawn_file(4, self.with_interaction(), pi=0.3)
        table = loglinear_risk(data, scenario(*self.KEYS), "~ a:b:c").neighbours
        assert table["change"].to_list() == ["this model", "- a:b:c"]
        assert table["model"][1] == "~ a + b + c + a:b + a:c + b:c"

    def test_interaction_with_a_numeric_key_is_more_or_less_by_itself(self) -> None:
        data = drawn_file(4, self.with_interaction(), pi=0.3)[0].with_columns(a=pl.col("a").str.slice(1).cast(pl.Int64))
        table = loglinear_risk(data, scenario(*self.KEYS), "~ a + b + c + a:b", numeric=["a"]).neighbours
        assert table["change"].to_list() == ["this model", "- a:b", "+ a:c", "+ b:c"]
        assert table["model"][1] == "~ a + b + c"


class TestAgainstKnownPopulations:
    def test_estimates_and_intervals(self) -> None:
        # 120 populations of the model's own kind: tau_1 and tau_2 are right on average, and 95 % intervals hold.
        means = independent(1, (12, 10, 6), 6000.0)
        differences, inside = [], []
        for seed in range(120):
            data, population = drawn_file(seed, means, pi=0.15)
            risk = loglinear_risk(data, scenario("a", "b", "c"), "~ a + b + c")
            places = [data[name].str.slice(1).cast(pl.Int64).to_numpy() for name in "abc"]
            F = population[tuple(column[risk.unique_records["record"].to_numpy() - 1] for column in places)]
            true = int((F == 1).sum()), float((1 / F).sum())
            differences.append((risk.tau_1 - true[0], risk.tau_2 - true[1]))
            inside.append([
                ends[0] <= one <= ends[1]
                for ends, one in zip((risk.tau_1_interval, risk.tau_2_interval), true, strict=True)
                if ends is not None
            ])  # fmt: skip
        errors = np.array(differences)
        standard_error = errors.std(axis=0) / math.sqrt(len(errors))
        assert (np.abs(errors.mean(axis=0)) < 4 * standard_error).all()
        held = np.array(inside).mean(axis=0)
        assert (held >= 0.9).all()
        assert (held <= 0.999).any()

    def test_underfit_is_about_zero_under_a_right_model(self) -> None:
        means = independent(1, (12, 10, 6), 6000.0)
        tests = []
        for seed in range(80):
            data, _ = drawn_file(seed, means, pi=0.15)
            risk = loglinear_risk(data, scenario("a", "b", "c"), "~ a + b + c")
            tests.append([test.standardised for test in risk.underfit])
        mean, spread = np.mean(tests, axis=0), np.std(tests, axis=0)
        assert (np.abs(mean) < 0.4).all()
        assert (spread < 1.2).all()


@pytest.fixture(scope="module")
def risk() -> LogLinearRisk:
    data, _ = drawn_file(4, independent(3, (8, 9, 7), 3000.0), pi=0.3)
    return loglinear_risk(data, scenario("a", "b", "c"), "~ a*b + c")


class TestResult:
    def test_print(self, risk: LogLinearRisk) -> None:
        lines = str(risk).splitlines()
        number = r"[\d.,]+"
        assert re.fullmatch(
            rf"{number} sample uniques expected to be population unique \(95 % interval {number} to {number}\) and "
            rf"{number} expected correct matches \(95 % interval {number} to {number}\) among {risk.sample_uniques} "
            rf"sample uniques of {risk.complete} complete records",
            lines[0],
        )
        assert lines[1] == (
            f"model ~ a + b + c + a:b (plain): {risk.cells} cells, {risk.estimate.fit.parameters} parameters"
        )
        assert [line.split()[:2] for line in lines[-4:]] == [
            ["this", "model"],
            ["-", "a:b"],
            ["+", "a:c"],
            ["+", "b:c"],
        ]

    def test_print_of_many_cells_fits_no_neighbours(self, risk: LogLinearRisk, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tacita.risk.population.loglinear_risk.loglinear_risk.SHOWN_UP_TO", 1)
        again = LogLinearRisk(risk.estimate)
        assert "more or less" not in str(again)
        assert len(again.neighbours) == 4
        assert "more or less" in str(again)

    def test_frames(self, risk: LogLinearRisk) -> None:
        rows = risk.to_frame().rows(named=True)
        assert [row["measure"] for row in rows] == ["tau_1", "tau_2"]
        assert rows[0]["low"] < rows[0]["expected"] == risk.tau_1 < rows[0]["high"] <= risk.sample_uniques
        assert rows[1]["B"] == risk.underfit[1].b
        uniques = risk.unique_records
        assert len(uniques) == risk.sample_uniques
        assert uniques["population_unique"].sum() == pytest.approx(risk.tau_1)
        assert uniques["correct_match"].sum() == pytest.approx(risk.tau_2)

    def test_figures_as_json(self, risk: LogLinearRisk) -> None:
        figures = json.loads(json.dumps(risk.to_dict(), allow_nan=False))
        assert (figures["tau_1"], figures["formula"]) == (risk.tau_1, "~ a + b + c + a:b")

    def test_no_values_in_print_or_repr(self) -> None:
        data = records([[1, 2], [3, 4]]).with_columns(a=pl.col("a").str.replace("a0", "canary"))
        risk = loglinear_risk(data, scenario())
        assert "canary" not in repr(risk) + str(risk) + json.dumps(risk.to_dict())

    def test_order_of_the_records_does_not_matter(self) -> None:
        data, _ = drawn_file(4, independent(3, (8, 9, 7), 3000.0), pi=0.3)
        data = data.with_columns(w=np.random.default_rng(1).uniform(1, 9, len(data)))
        order = np.random.default_rng(2).permutation(len(data))
        for variant in ("plain", "offset", "pml", "weighted"):
            one = loglinear_risk(data, scenario("a", "b", "c"), "~ a*b + c", variant=variant)
            other = loglinear_risk(data[order], scenario("a", "b", "c"), "~ a*b + c", variant=variant)
            assert (one.to_frame()).equals(other.to_frame())
            numbers = order[other.unique_records["record"].to_numpy() - 1] + 1
            assert numbers.tolist() == one.unique_records["record"].to_list()

    def test_pandas_and_odd_names(self) -> None:
        data = records([[1, 2], [3, 4]], ("age in years", "b"))
        given = Scenario(keys=["age in years", "b"], weight="w")
        risk = loglinear_risk(data.to_pandas(), given, "~ `age in years` + b")
        assert risk.formula == "~ `age in years` + b"
        assert risk.tau_1 == pytest.approx(math.exp(-10.8), rel=1e-12)

    def test_no_uniques(self) -> None:
        risk = loglinear_risk(records([[2, 2], [3, 4]]), scenario(), "~ a + b")
        assert (risk.tau_1, risk.tau_2, risk.tau_1_interval) == (0.0, 0.0, (0.0, 0.0))

    def test_fit_on_the_boundary(self) -> None:
        # IPF creeps here; Newton steps take over, and the deviance is 0.
        data = records([[[0, 4], [3, 1]], [[6, 2], [7, 0]]], ("a", "b", "c"))
        risk = loglinear_risk(data, scenario("a", "b", "c"), "~ (a + b + c)**2")
        assert risk.estimate.fit.converged
        assert risk.estimate.fit.deviance == pytest.approx(0.0, abs=1e-6)
        slow = loglinear_risk(data, scenario("a", "b", "c"), "~ (a + b + c)**2", variant="ipf")
        assert slow.cautions[0] == "the fit did not converge in 500 steps; leave out an interaction."
        assert slow.tau_2 == pytest.approx(risk.tau_2, rel=0.01)


VARIANT_OF = {"default": "plain", "CE": "offset", "PML": "pml", "weightedLLM": "weighted", "IPF": "ipf"}
CASES = [
    *(f"eusilc_num_{which}_{method}" for which in ("inter", "main") for method in VARIANT_OF if method != "IPF"),
    *(f"eusilc_fac_inter_complete_{method}" for method in VARIANT_OF if method != "IPF"),
    *(f"eusilc_fac_main_complete_{method}" for method in VARIANT_OF),
    *(f"testdata_inter_{method}" for method in VARIANT_OF if method != "IPF"),
    *(f"testdata_main_{method}" for method in VARIANT_OF),
]


def survey_of(reference: Any, case: str) -> pl.DataFrame:
    """The data of a case; codes and classes as the reference program had them."""
    if case.startswith("testdata"):
        table: pl.DataFrame = reference.data("testdata")
        return table
    table = reference.data("eusilc").with_columns(pl.col("hsize").cast(pl.Int64), pl.col("age").cast(pl.Int64))
    if "fac" in case:
        table = table.filter(pl.col("pb220a").is_not_null())
        bounds = (15, 30, 45, 60, 75)
        classes = sum((pl.col("age") > bound).cast(pl.Int64) for bound in bounds)
        table = table.with_columns(classes.alias("age_cl"), pl.min_horizontal("hsize", 6).alias("hs"))
    return table


@pytest.fixture(scope="module")
def eusilc(reference: Any) -> pl.DataFrame:
    return survey_of(reference, "eusilc")


class TestReference:
    SCENARIO = Scenario(keys=("db040", "hsize", "rb090", "age", "pb220a"), weight="rb050")

    @pytest.mark.parametrize("case", CASES)
    def test_figures_of_the_reference_program(self, reference: Any, case: str) -> None:
        given = reference.case(f"modRisk_{case}")
        parameters, expected = given["parameters"], given["scalars"]
        kinds = parameters["variable_types"]
        risk = loglinear_risk(
            survey_of(reference, case),
            Scenario(keys=tuple(kinds), weight=parameters["weight"]),
            parameters["formula"],
            numeric=[name for name, kind in kinds.items() if kind == "integer"],
            variant=VARIANT_OF[parameters["method"]],
            compatibility="sdcmicro",
        )
        # On testdata the program gives NaN: it multiplies 0 by an overflow in cells that are no sample uniques. The
        # sums over sample uniques, which it means, are in the pack too.
        exception = case.startswith("testdata")
        assert (expected["gr1"] == "NaN") is exception
        suffix = "_uniques_only" if exception else ""
        assert risk.tau_1 == pytest.approx(expected[f"gr1{suffix}"], abs=1e-6)
        assert risk.tau_2 == pytest.approx(expected[f"gr2{suffix}"], abs=1e-6)
        assert (risk.occupied, risk.sample_uniques) == (expected["n_nonempty_cells"], expected["n_sample_uniques"])
        assert risk.estimate.fit.mean.sum() == pytest.approx(expected["sum_fitted"], abs=1e-3)
        # For IPF the program counts a class of age that does not occur.
        assert risk.cells == (1620 if "fac" in case else expected["n_cells_fitted"])
        assert risk.tau_1_interval is None

    def test_all_cases_are_named(self, reference: Any) -> None:
        assert sorted(f"modRisk_{case}" for case in CASES) == reference.names("modRisk")

    def test_means_by_cell(self, reference: Any, eusilc: pl.DataFrame) -> None:
        path = reference.folder / "cases" / "modRisk_eusilc_num_inter_default.csv"
        cells = pl.read_csv(path)
        risk = loglinear_risk(
            eusilc, self.SCENARIO, PUBLISHED, numeric=["age", "hsize"], compatibility="sdcmicro"
        ).unique_records
        rows = eusilc[risk["record"].to_numpy() - 1].select(self.SCENARIO.keys)
        mine = pl.concat([rows, risk], how="horizontal").join(cells, on=list(self.SCENARIO.keys), how="inner")
        assert len(mine) == len(cells) == 1763
        for column, other in (("mean", "mu"), ("population_unique", "r1"), ("correct_match", "r2")):
            np.testing.assert_allclose(mine[column], mine[other], rtol=1e-6)

    def test_published_figures(self, eusilc: pl.DataFrame) -> None:
        # Templ (2019): 26.123 % and 31.765 %.
        risk = loglinear_risk(eusilc, self.SCENARIO, PUBLISHED, numeric=["age", "hsize"], compatibility="sdcmicro")
        assert (round(risk.tau_1, 5), round(risk.tau_2, 5)) == (0.26123, 0.31765)
        assert str(risk).startswith(
            "sdcMicro's risk measures 0.26123 and 0.31765 per occupied key, among 1,763 sample "
        )

    def test_right_figures(self, eusilc: pl.DataFrame) -> None:
        factors = loglinear_risk(eusilc, self.SCENARIO, PUBLISHED)
        assert (f"{factors.tau_1:.2f}", f"{factors.tau_2:.1f}") == ("2.24", "29.4")
        linear = loglinear_risk(eusilc, self.SCENARIO, PUBLISHED, numeric=["age", "hsize"])
        assert (f"{linear.tau_1:.3f}", f"{linear.tau_2:.1f}") == ("0.707", "29.8")
        assert (factors.sample_uniques, factors.complete, factors.size) == (1763, 12107, 14827)
        assert str(factors).startswith(
            "2.24 sample uniques expected to be population unique (95 % interval 0.253 to 6.35)"
        )

    def test_newton_agrees_with_ipf(self, eusilc: pl.DataFrame) -> None:
        estimate = loglinear_risk(eusilc, self.SCENARIO, PUBLISHED).estimate
        newton = estimate.specification.fit_by_newton(estimate.model)
        assert newton.parameters == estimate.fit.parameters
        np.testing.assert_allclose(newton.mean, estimate.fit.mean, atol=1e-6)
