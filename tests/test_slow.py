"""The slow implementations themselves, checked by hand: they judge the fast code, so they must be right first."""

from math import comb, fsum, log

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

import slow

NA = None
FOUR = [(1, 1, 3), (1, 1, NA), (2, 1, 3), (NA, 1, NA)]
FOUR_WEIGHTS = [1.0, 10.0, 100.0, 1000.0]  # F then spells out which records were counted
NOTES_KEYS = [(1, 1), (1, 1), (2, 2), (NA, NA), (NA, 2)]

value = st.sampled_from([1, 2, NA])
some_keys = st.lists(st.tuples(value, value, value), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("rule", "f", "F"),
    [
        ("wildcard", [3, 3, 2, 4], [1011, 1011, 1100, 1111]),
        ("conservative", [1, 3, 1, 4], [1, 1011, 100, 1111]),
        ("one_way", [1, 2, 1, 4], [1, 11, 100, 1111]),
        ("no_match", [1, 1, 1, 1], [1, 10, 100, 1000]),
        ("own_category", [1, 1, 1, 1], [1, 10, 100, 1000]),
    ],
)
def test_four_records(rule: str, f: list[float], F: list[float]) -> None:
    assert slow.frequencies(FOUR, FOUR_WEIGHTS, rule) == (f, F)


def test_missing_twins_are_twins_only_as_own_category() -> None:
    keys, weights = [(1, NA), (1, NA), (2, 2), (2, 2)], [1.0, 10.0, 100.0, 1000.0]
    assert slow.frequencies(keys, weights, "own_category") == ([2, 2, 2, 2], [11, 11, 1100, 1100])
    assert slow.frequencies(keys, weights, "no_match") == ([1, 1, 2, 2], [1, 10, 1100, 1100])
    assert slow.frequencies(keys, weights, "one_way") == ([2, 2, 2, 2], [11, 11, 1100, 1100])


def test_partial_number() -> None:
    """Record 1 counts records 2 and 4 by 1/4 each, record 3 counts record 4; 2 and 4 count all they could match."""
    f, F = slow.frequencies(FOUR, FOUR_WEIGHTS, "partial", c=0.25)
    assert f == [1.5, 3, 1.25, 4]
    assert F == [1 + 2.5 + 250, 1011, 100 + 250, 1111]


def test_partial_categories() -> None:
    """Key 1 has two categories, key 3 one: record 2 (blank on 3) counts 1, record 4 (blank on 1 and 3) 1/2."""
    f, F = slow.frequencies(FOUR, FOUR_WEIGHTS, "partial", c="categories")
    assert f == [2.5, 3, 1.5, 4]
    assert F == [1 + 10 + 500, 1011, 100 + 500, 1111]


def test_partial_expected() -> None:
    """Record (1,1): among the others with 1 on the first key and a shown second, 1 of 2 has 1; the other way 1 of 1.

    So (1,NA) counts 1/2 and (NA,NA) 1 x 1/2. For record (1,2) no other record with 1 on the first key shows a 2: 0.
    """
    keys = [(1, 1), (1, 1), (1, 2), (1, NA), (NA, NA)]
    f, totals = slow.frequencies(keys, [1.0, 1.0, 1.0, 3.0, 6.0], "partial", c="expected")
    assert f == [3, 3, 1, 5, 5]
    assert totals == [2 + 1.5 + 3, 2 + 1.5 + 3, 1, 12, 12]


def test_sdcmicro_quirks() -> None:
    ones = [1.0] * 5
    assert slow.frequencies(NOTES_KEYS, ones, "sdcmicro", alpha=1)[0] == [2, 2, 2, 5, 3]
    assert slow.frequencies(NOTES_KEYS, ones, "wildcard")[0] == [3, 3, 3, 5, 3]
    # alpha = 0.5: (2,2) gets half of (NA,2); (NA,2) gets (2,2) in full and half of (NA,NA); (NA,NA) the whole file
    assert slow.frequencies(NOTES_KEYS, ones, "sdcmicro", alpha=0.5)[0] == [2, 2, 1.5, 5, 2.5]
    # two records with the same pattern count each other in full, alpha or not
    assert slow.frequencies([(1, NA), (1, NA), (NA, 2)], ones[:3], "sdcmicro", alpha=0)[0] == [2, 2, 1]


def test_sdcmicro_single_key() -> None:
    f, F = slow.frequencies([(1,), (1,), (2,), (NA,)], [1.0, 2.0, 4.0, 8.0], "sdcmicro", alpha=0.5)
    assert (f, F) == ([2.5, 2.5, 1.5, 4], [7, 7, 8, 15])


@given(some_keys)
def test_rules_are_ordered(keys: list[slow.Key]) -> None:
    """c = 1 is wildcard, c = 0 conservative, the named c lie between; no rule counts more than wildcard."""
    weights = [1.5 + i for i in range(len(keys))]
    wildcard, conservative = (slow.frequencies(keys, weights, rule) for rule in ("wildcard", "conservative"))
    assert slow.frequencies(keys, weights, "partial", c=1) == wildcard
    assert slow.frequencies(keys, weights, "partial", c=0) == conservative
    for c in ("categories", "expected", 0.5):
        between = slow.frequencies(keys, weights, "partial", c=c)
        for low, x, high in zip(conservative, between, wildcard, strict=True):
            assert all(a <= b <= d for a, b, d in zip(low, x, high, strict=True))
    for rule in ("own_category", "one_way", "no_match", "sdcmicro"):
        f = slow.frequencies(keys, weights, rule, alpha=1)[0]
        assert all(1 <= a <= b for a, b in zip(f, wildcard[0], strict=True))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12))
def test_all_rules_agree_without_missing_values(keys: list[slow.Key]) -> None:
    expected = [float(keys.count(key)) for key in keys]
    rules = ["wildcard", "conservative", "partial", "no_match", "own_category", "one_way", "sdcmicro"]
    assert all(slow.frequencies(keys, expected, rule, c=0.3, alpha=0.3)[0] == expected for rule in rules)


def test_unknown_rule_is_refused() -> None:
    for rule in ("partial", "sdcmicro", "other"):  # the first two need c and alpha
        with pytest.raises(ValueError, match=rule):
            slow.frequencies(FOUR, FOUR_WEIGHTS, rule)


@pytest.mark.parametrize("f", [1, 2, 3, 7])
def test_exact_risk_is_the_mean_of_one_over_F(f: int) -> None:
    """Against the sum over the negative binomial distribution: P(F = N) = C(N-1, f-1) p^f (1-p)^(N-f)."""
    p = 0.25
    direct = fsum(comb(N - 1, f - 1) * p**f * (1 - p) ** (N - f) / N for N in range(f, 400))
    assert slow.individual_risk([f], [f / p], "exact") == pytest.approx([direct], rel=1e-13)


@pytest.mark.parametrize(("f", "F"), [(1.5, 20.0), (4.0, 4.5), (12.25, 9000.0), (150.0, 2e5)])
def test_exact_risk_is_the_integral(f: float, F: float) -> None:
    p = mpmath.mpf(f) / F
    with mpmath.workdps(30):
        points = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 1]
        integral = mpmath.quad(lambda t: p**f * t ** (f - 1) * (1 - (1 - p) * t) ** -f, points)
    assert slow.individual_risk([f], [F], "exact") == pytest.approx([float(integral)], rel=1e-12)


def test_risk_closed_forms() -> None:
    assert slow.individual_risk([1], [10], "exact") == pytest.approx([0.1 * log(10) / 0.9], rel=1e-15)
    assert slow.individual_risk([4, 4, 2], [4, 3, 2], "exact") == [0.25, 0.25, 0.5]  # p = 1, also where F < f
    f, F = [1, 1.5, 2, 3], [10, 15, 20, 30]
    exact, approximate = (slow.individual_risk(f, F, method) for method in ("exact", "approximate"))
    assert approximate[:3] == exact[:3]
    assert approximate[3] == pytest.approx(0.1 / (3 - 0.9), rel=1e-15)
    assert 1 < approximate[3] / exact[3] < 1.041


def test_published_first_risks() -> None:
    """Paper 001, eusilc: first two records by the approximation; the exact values from the methods page."""
    f, F = [3, 5], [1565.106, 2850.792]
    assert slow.individual_risk(f, F, "approximate") == pytest.approx([0.0009574837, 0.0004382825], rel=1e-6)
    assert slow.individual_risk(f, F, "exact") == pytest.approx([0.0009565982, 0.0004382187], rel=1e-6)


weighted_keys = st.lists(st.tuples(st.integers(0, 2), st.floats(1, 100)), min_size=1, max_size=10)


def all_expected(keys: slow.Keys, weights: list[float], p: float = 0.3) -> list[float]:
    f, F = slow.frequencies(keys, weights, "one_way")
    risks = slow.individual_risk(f, F, "approximate")
    attacks = [slow.attack_probability(f"M{m}", f, F, weights, len(keys), p) for m in (1, 2, 3, 4, 5)]
    return [slow.expected_reidentifications(risks, attack) for attack in attacks]


@given(weighted_keys)
def test_expected_reidentifications_identities(records: list[tuple[int, float]]) -> None:
    keys, weights = [(key,) for key, _ in records], [weight for _, weight in records]
    er1, er2, er3, er4, er5 = all_expected(keys, weights)
    assert er1 == pytest.approx(er3 / len(keys), rel=1e-12)
    assert er4 == pytest.approx(0.3 * er3, rel=1e-12)
    assert er5 >= er2 * (1 - 1e-12)
    constant = [2.0 + key[0] for key in keys]
    _, er2, _, _, er5 = all_expected(keys, constant)
    assert er5 == pytest.approx(er2, rel=1e-12)


def test_er5_exceeds_er2_when_weights_differ_inside_a_key() -> None:
    """One key, weights 1 and 3: f/F = 1/2 twice against 1/1 and 1/3."""
    _, er2, _, _, er5 = all_expected([(1,), (1,)], [1.0, 3.0])
    assert er5 / er2 == pytest.approx((4 / 3) / 1)


def test_key_errors() -> None:
    lower, upper = slow.key_error_bounds([0.5, 0.2], [1.0, 0.5], [0.1, 0.5])
    assert upper == pytest.approx([0.5, 0.1])
    assert lower == pytest.approx([0.225, 0.045])


def test_threshold() -> None:
    """Risks 1/8, 1/4, 1/2, 1: B = 4/8, 1/8 + 3/4 = 7/8, 1/8 + 1/4 + 1 = 11/8, ER = 15/8."""
    risks, ones = [0.5, 0.125, 1.0, 0.25], [1.0] * 4
    bounds = [slow.bound_after_protection(risks, ones, r) for r in (0.125, 0.25, 0.5, 1.0)]
    assert bounds == [0.5, 0.875, 1.375, 1.875]
    cases = [(2, None), (1.875, None), (1.8, 0.5), (1.375, 0.5), (1.3, 0.25), (0.5, 0.125), (0.4, 0.1)]
    for tolerated, threshold in cases:
        assert slow.threshold_for_total(risks, ones, tolerated) == threshold
    # P(L) = 1/2 halves every B; below the smallest one the threshold is 0.2 / (4/2)
    assert slow.threshold_for_total(risks, [0.5] * 4, 0.6875) == 0.5
    assert slow.threshold_for_total(risks, [0.5] * 4, 0.2) == pytest.approx(0.1)


def test_household() -> None:
    risks, households = [0.1, 0.05, 0.01, 0.2, 0.3], ["a", "a", "a", NA, NA]
    per_record, persons, expected = slow.household_risk(risks, households)
    assert per_record == pytest.approx([0.15355, 0.15355, 0.15355, 0.2, 0.3], rel=1e-14)
    assert persons == pytest.approx(3 * 0.15355 + 0.5, rel=1e-14)
    assert expected == pytest.approx(0.15355 + 0.5, rel=1e-14)


def test_benchmark() -> None:
    """Median 1/4, deviations 1/8, 0, 0, 1/8, 3/4, so MAD 1/8 and the bound 1/4 + 3/8 = 5/8."""
    risks = [0.125, 0.25, 0.25, 0.375, 1.0]
    assert slow.benchmark(risks) == 1
    assert slow.benchmark([*risks[:4], 0.625]) == 1
    assert slow.benchmark([*risks[:4], 0.625], strict=True) == 0
    assert slow.benchmark(risks, factor=1) == 2
    assert slow.benchmark(risks, factor=1, scale=1.4826) == 1
    assert slow.benchmark(risks, floor=1.5) == 0
    assert slow.benchmark([0.01] * 5) == 0
    assert slow.benchmark([0.01] * 5, floor=0) == 5  # MAD 0: every record is at the bound


def test_attackers_and_violations() -> None:
    """Keys a, a, b with weights 2, 6, 4: 2 keys of 3 records; marketer (2/8 + 1/4)/3."""
    f, F = slow.frequencies([("a",), ("a",), ("b",)], [2.0, 6.0, 4.0], "one_way")
    assert slow.attackers(f, F, threshold=0.5) == pytest.approx(
        {
            "prosecutor_maximum": 1,
            "prosecutor_mean": 2 / 3,
            "prosecutor_share_above": 1 / 3,
            "journalist_maximum": 1 / 4,
            "journalist_mean": 1 / 6,
            "marketer": 1 / 6,
        }
    )
    assert [slow.k_anonymity_violations(f, k) for k in (1, 2, 3)] == [0, 1, 3]
