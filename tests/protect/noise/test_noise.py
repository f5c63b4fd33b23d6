"""The step: what is kept on request, what is said, what is refused, and where the reference program goes wrong."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.protect.noise.noise import METHODS
from tacita.release.release import Release

WHO = tc.Scenario(keys=["nace"], weight="w")
BOUNDED = [method for method in METHODS if method not in ("exact", "romm")]


def firms(n: int = 400, seed: int = 1) -> pl.DataFrame:
    """Skewed amounts; some firms export nothing, some did not answer; profits can be losses."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    home = np.exp(10 + size + 0.5 * rng.normal(size=n)).round(2)
    abroad = np.where(rng.random(n) < 0.4, 0.0, np.exp(8 + size + rng.normal(size=n))).round(2)
    return pl.DataFrame(
        {
            "nace": rng.choice(["A", "B", "C"], n),
            "home": home,
            "abroad": abroad,
            "total": home + abroad,
            "profit": np.where(np.arange(n) % 11 == 3, np.nan, rng.normal(10, 100, n)),
            "staff": np.ceil(np.exp(2 + size)).astype(int),
            "w": rng.uniform(1, 20, n),
        }
    ).with_columns(pl.col("profit").fill_nan(None))


FIRMS = firms()


def made(step: tc.Noise, data: Any = FIRMS, who: tc.Scenario = WHO, seed: int = 5) -> Release:
    return tc.Plan([step]).apply(data, who, seed=seed)


def column(release: Release, name: str) -> np.ndarray:
    return release.data.numbers(name)


@pytest.mark.parametrize("method", METHODS)
def test_zeros_missing_values_and_types_stay(method: str) -> None:
    release = made(tc.Noise(["abroad", "profit", "staff"], 0.3, method=method))
    was, now = FIRMS["abroad"].to_numpy(), column(release, "abroad")
    assert ((was == 0) == (now == 0)).all()
    changed = (was != now)[was != 0].mean()
    assert changed > (0.05 if method == "outliers" else 0.99)
    assert release.data.table["profit"].is_null().equals(FIRMS["profit"].is_null())
    assert release.data.table.schema == FIRMS.schema


def test_zeros_are_noisy_on_request() -> None:
    release = made(tc.Noise("abroad", 0.3, keep_zeros=False))
    assert (column(release, "abroad") != 0).all()


@pytest.mark.parametrize("method", BOUNDED)
def test_signs_and_bounds_are_kept(method: str) -> None:
    amount = 0.4 if method in ("two_sided", "delta") else 1.5
    bounds = {"home": 20_000_000.0, "staff": 2000}
    step = tc.Noise(
        ["home", "abroad", "profit", "staff"], amount, method=method, keep_signs=True, greatest=bounds, least=-500
    )
    release = made(step)
    for name in ("home", "abroad", "profit", "staff"):
        was, now = FIRMS[name].cast(float).to_numpy(), column(release, name)
        there = ~np.isnan(was)
        assert (np.sign(was) == np.sign(now))[there].all(), name
        assert (now[there] <= bounds.get(name, np.inf)).all()
        assert (now[there] >= -500).all()
    if method not in ("outliers", "multiplicative", "two_sided"):
        free = made(tc.Noise(["home", "abroad", "profit", "staff"], amount, method=method))
        assert (column(free, "home") < 0).any(), "without limits noise of this size leaves them"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weighted", [False, True])
def test_totals_are_kept(method: str, weighted: bool) -> None:
    release = made(tc.Noise(["home", "profit", "staff"], 0.4, method=method, keep_totals=True, weighted=weighted))
    weight = FIRMS["w"].to_numpy() if weighted else np.ones(len(FIRMS))
    for name in ("home", "profit"):
        was, now = (np.nan_to_num(each) for each in (FIRMS[name].cast(float).to_numpy(), column(release, name)))
        assert weight @ now == pytest.approx(weight @ was, rel=1e-9), name
    told = "changed by" in str(release)
    # Whole numbers under weights are rounded, and the log says how far the total is off.
    off = abs(weight @ column(release, "staff") / (weight @ FIRMS["staff"].to_numpy()) - 1)
    assert told == (off > 1e-9)
    assert off < 0.5 * weight.max() / (weight @ FIRMS["staff"].to_numpy()) + 1e-12


def test_totals_within_bounds() -> None:
    release = made(tc.Noise("home", 2.0, keep_totals=True, least=0, greatest=1e6))
    now = column(release, "home")
    assert now.sum() == pytest.approx(FIRMS["home"].sum(), rel=1e-9)
    assert (now >= 0).all()
    assert (now <= 1e6).all()


@pytest.mark.parametrize("method", METHODS)
def test_relations_hold_afterwards(method: str) -> None:
    step = tc.Noise(["home", "abroad", "total"], 0.3, method=method, relations=["total = home + abroad"])
    rules = tc.Rules(["total = home + abroad"])
    release = made(step)
    (rule,) = rules
    assert not rule.broken(release.data).any()
    assert "no longer holds" not in str(release)
    without = made(tc.Noise(["home", "abroad", "total"], 0.3, method=method))
    if method in ("additive", "multiplicative", "two_sided", "outliers"):
        assert rule.broken(without.data).any()


def test_relations_come_before_bounds_and_that_is_said() -> None:
    relations = ["total = home + abroad", "home < total"]
    release = made(tc.Noise(["home", "abroad", "total"], 3.0, least={"total": 0}, relations=relations), seed=2)
    over = int((column(release, "total") < 0).sum())
    assert over
    assert f"{over} numbers of 'total' outside its bounds because of relations" in str(release)
    assert "'home < total' no longer holds in" in str(release)


def test_noise_avoids_codes_for_missing() -> None:
    table = pl.DataFrame({"nace": ["A", "B"] * 200, "age": list(range(20, 60)) * 10})
    table = table.with_columns(age=pl.when(pl.col("age") == 37).then(99).otherwise(pl.col("age")))
    data = Data(table, variables={"age": Variable(missing=(99, 37, 38, 39))})
    who = tc.Scenario(keys=["nace"])
    for method in METHODS:
        now = made(tc.Noise("age", 0.3, method=method), data, who).data.table["age"].to_numpy()
        was = table["age"].to_numpy()
        coded = np.isin(was, [99, 37, 38, 39])
        assert (now[coded] == was[coded]).all()
        assert not np.isin(now[~coded], [99, 37, 38, 39]).any(), method


def test_every_stratum_keeps_its_own_mean_and_tells_its_own_covariance() -> None:
    release = made(tc.Noise(["home", "staff"], 0.8, method="exact", strata=["nace"]))
    (change,) = release.changes
    assert len(change.mechanisms) == 3
    assert len({str(each["parameters"]["covariance"]) for each in change.mechanisms}) == 3
    for industry in "ABC":
        chosen = FIRMS["nace"].to_numpy() == industry
        assert column(release, "home")[chosen].mean() == pytest.approx(FIRMS["home"].to_numpy()[chosen].mean())
        assert column(release, "home")[chosen].std() == pytest.approx(FIRMS["home"].to_numpy()[chosen].std())


def test_weighted_means_and_covariances() -> None:
    """With weights the weighted ones are kept, and not the plain ones."""
    release = made(tc.Noise(["home", "total"], 0.8, method="exact", weighted=True))
    weight = FIRMS["w"].to_numpy()
    was, now = FIRMS["home"].to_numpy(), column(release, "home")
    assert np.average(now, weights=weight) == pytest.approx(np.average(was, weights=weight), rel=1e-10)
    assert abs(now.mean() / was.mean() - 1) > 1e-6
    both = [np.cov(x, FIRMS["total"] if x is was else column(release, "total"), aweights=weight) for x in (was, now)]
    np.testing.assert_allclose(both[1], both[0], rtol=1e-9)
    equal = FIRMS.with_columns(w=pl.lit(3.0))
    for method in METHODS:
        plain, same = (made(tc.Noise("home", 0.3, method=method, weighted=each), equal) for each in (False, True))
        np.testing.assert_allclose(column(plain, "home"), column(same, "home"), rtol=1e-9)


def test_the_mechanism_is_for_attacks_and_the_public_hears_method_and_amount_only() -> None:
    release = made(tc.Noise(["home", "profit"], 0.3, method="correlated"))
    (change,) = release.changes
    (told,) = change.mechanisms
    parameters = told["parameters"]
    assert (told["kind"], told["variables"], told["perturbs"]) == ("noise", ["home", "profit"], True)
    assert (parameters["method"], parameters["amount"], parameters["kept"]) == ("correlated", 0.3, 1.0)
    assert np.array(parameters["covariance"]).shape == (2, 2)
    sd = FIRMS["home"].std()
    assert parameters["covariance"][0][0] == pytest.approx((0.3 * sd) ** 2, rel=0.1)  # type: ignore[operator]
    (public,) = change.public
    assert public["parameters"] == {"method": "correlated", "amount": 0.3}


def test_remarks() -> None:
    assert "protects next to nothing" in str(made(tc.Noise("home", 0.01)))
    assert "protects" not in str(made(tc.Noise("home", 0.1)))
    alone = str(made(tc.Noise("home", 0.2, method="outliers")))
    assert "outlying records of 400 got noise" in alone
    assert "percentiles only" not in alone
    sums = tc.Noise(["home", "abroad", "total"], 0.2, method="outliers")
    assert "outlying by percentiles only: these variables have no robust covariance" in str(made(sums))
    assert "kept up to rounding" in str(made(tc.Noise("staff", 0.2, method="romm")))
    few = FIRMS.with_columns(home=pl.when(pl.int_range(400) < 5).then(None).otherwise(pl.col("home")))
    said = str(made(tc.Noise(["home", "total"], 0.2, method="restricted"), few))
    assert "5 records with too few others alike in what is missing or zero took the covariance of all" in said
    assert "on average only" not in said
    assert "on average only" in str(made(tc.Noise(["home", "total"], 0.2, method="exact"), few))
    narrow = made(tc.Noise("home", 5.0, least=0, greatest=float(FIRMS["home"].max()), only=range(1, 300)))  # type: ignore[arg-type]
    assert (column(narrow, "home") >= 0).all()


def test_constant_columns_stay_and_that_is_said() -> None:
    table = FIRMS.with_columns(fixed=pl.lit(0.1), nothing=pl.lit(0.0), empty=pl.lit(None, dtype=pl.Float64))
    for method in [each for each in METHODS if each not in ("multiplicative", "two_sided")]:
        release = made(tc.Noise(["home", "fixed", "nothing", "empty"], 0.3, method=method), table)
        for name in ("fixed", "nothing", "empty"):
            assert release.data.table[name].equals(table[name])
        assert "no noise on 'fixed', whose numbers are all the same" in str(release)
        assert "'nothing'" not in str(release.changes[0].remarks)
    assert (column(made(tc.Noise("fixed", 0.3, method="multiplicative"), table), "fixed") != 0.1).all()


def test_one_record() -> None:
    one = FIRMS.head(1)
    assert column(made(tc.Noise("home", 0.3, method="multiplicative"), one), "home")[0] != one["home"][0]
    for method in [each for each in METHODS if each not in ("multiplicative", "two_sided")]:
        with pytest.raises(TacitaError) as refused:
            made(tc.Noise("home", 0.3, method=method), one)
        assert str(refused.value) == (
            "'home' has one number only, whose standard deviation is 0; use method='multiplicative', or choose more "
            "records."
        )


BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: tc.Noise("home", 0), "amount must be above 0; got 0."),
    (lambda: tc.Noise("home", 20), "amount must be at most 10; got 20."),
    (lambda: tc.Noise([], 0.1), "variables must name at least one variable."),
    (lambda: tc.Noise("home", 1.5, method="delta"), "amount must be at most 1 with method='delta'; got 1.5."),
    (
        lambda: tc.Noise("home", 0.5, method="two_sided"),
        "amount must be below 0.5 with method='two_sided', or numbers would change their sign; got 0.5.",
    ),
    (
        lambda: tc.Noise("home", 0.5, method="romm", least=0),
        "method='romm' keeps mean and covariance exactly and no bounds or signs besides; use method='restricted', or "
        "leave out least, greatest and keep_signs.",
    ),
    (
        lambda: tc.Noise("home", 0.5, least={"staff": 0}),
        "least must be for variables of the step; got it for 'staff'.",
    ),
    (
        lambda: made(tc.Noise("home", 0.5, least=5e4)),
        "{} numbers of 'home' are outside least and greatest before any noise; widen them, or use TopCode or "
        "BottomCode first.",
    ),
    (
        lambda: made(tc.Noise("home", 0.5, weighted=True), who=tc.Scenario(keys=["nace"])),
        "weighted noise needs a weight; name it in the scenario, or pass weighted=False.",
    ),
    (
        lambda: tc.Noise("home", 0.5, relations=3),  # type: ignore[arg-type]
        "relations must be texts such as 'total = home + abroad'; got 3.",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_what_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TacitaError) as refused:
        call()
    assert str(refused.value) == message.format(int((FIRMS["home"] < 5e4).sum()))


# What the reference program does wrong, done right.


def test_restricted_noise_is_noise_and_keeps_the_means() -> None:
    """There, two seeds give the same file, and the mean of one variable goes into another."""
    runs = [made(tc.Noise(["home", "total"], 0.5, method="restricted"), seed=seed) for seed in range(30)]
    assert (column(runs[0], "home") != column(runs[1], "home")).all()
    for name in ("home", "total"):
        sd = float(FIRMS[name].std())  # type: ignore[arg-type]
        average = np.mean([column(run, name).mean() for run in runs])
        assert abs(average - float(FIRMS[name].mean())) < 0.02 * sd  # type: ignore[arg-type]
        assert np.mean([column(run, name).std() for run in runs]) == pytest.approx(sd, rel=0.03)


def test_delta_keeps_correlations() -> None:
    """There, noise is independent by variable and correlations shrink by 1 - delta^2."""
    before = np.corrcoef(FIRMS["home"], FIRMS["staff"])[0, 1]
    runs = [made(tc.Noise(["home", "staff"], 0.75, method="delta"), seed=seed) for seed in range(30)]
    after = np.mean([np.corrcoef(column(run, "home"), column(run, "staff"))[0, 1] for run in runs])
    assert after == pytest.approx(before, abs=0.02)
    assert abs(before * (1 - 0.75**2) - before) > 0.3


def test_romm_is_centred() -> None:
    """There, moving all data by a million changes means and standard deviations."""
    far = FIRMS.with_columns(pl.col("home") + 1e6, pl.col("total") + 1e6)
    step = tc.Noise(["home", "total"], 0.1, method="romm")
    near, shifted = made(step), made(step, far)
    np.testing.assert_allclose(column(shifted, "home") - 1e6, column(near, "home"), atol=1e-3)
    assert column(shifted, "home").mean() == pytest.approx(float(far["home"].mean()), rel=1e-12)  # type: ignore[arg-type]
    assert column(shifted, "home").std() == pytest.approx(float(far["home"].std(ddof=0)), rel=1e-10)  # type: ignore[arg-type]


def test_outliers_get_noise_of_the_standard_deviation() -> None:
    """There, it is divided by the square root of the number of records: 1.4 % of the standard deviation for 20 %."""
    many = firms(5000)
    release = made(tc.Noise("profit", 0.2, method="outliers"), many)
    was, now = many["profit"].to_numpy(), column(release, "profit")
    moved = (now - was)[(now != was) & ~np.isnan(was)]
    assert 0.02 * 5000 < len(moved) < 0.1 * 5000
    assert moved.std() == pytest.approx(0.2 * np.nanstd(was), rel=0.1)


@pytest.mark.parametrize("method", ["additive", "correlated"])
def test_the_amount_is_a_share_of_the_standard_deviation_whatever_the_method(method: str) -> None:
    """There, 20 means 20 % of the standard deviation for one and of the variance for the other."""
    many = firms(5000)
    moved = column(made(tc.Noise("home", 0.2, method=method), many), "home") - many["home"].to_numpy()
    assert moved.std() == pytest.approx(0.2 * many["home"].std(), rel=0.03)  # type: ignore[operator]
