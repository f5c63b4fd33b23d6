"""Figures of the literature, digit for digit.

Templ (2019), Disclosure risk (lecture), on the data set eusilc; Polettini (2003), Some remarks on the individual risk
methodology. Figures that need eusilc or testdata take them from the reference pack.
"""

import math

import numpy as np
import polars as pl
import pytest

import slow
import tacita as tc
from conftest import Reference
from tacita.risk.identity.household_risk import at_least_one
from tacita.risk.identity.negative_binomial import expected_reciprocal

KEYS = ["db040", "rb090", "pl030", "age", "pb220a"]


@pytest.fixture(scope="module")
def eusilc(reference: Reference) -> tc.Data:
    return tc.Data.of(reference.data("eusilc"))


def scenario(**more: object) -> tc.Scenario:
    return tc.Scenario(**{"keys": KEYS, "weight": "rb050", "household": "db030", "missing": "wildcard", **more})  # type: ignore[arg-type]


def printed(value: float) -> str:
    """Seven significant digits, as R prints."""
    return f"{value:.7g}"


# Templ (2019): individual and household risk of eusilc.


def test_first_records(eusilc: tc.Data) -> None:
    profile = tc.assess(eusilc, scenario(), method="approximate")
    first, second = profile.records.head(2).to_dicts()
    assert [printed(first[name]) for name in ("risk", "f", "F", "household_risk")] == [
        "0.0009574837",
        "3",
        "1565.106",
        "0.00154129",
    ]
    assert [printed(second[name]) for name in ("risk", "f", "F", "household_risk")] == [
        "0.0004382825",
        "5",
        "2850.792",
        "0.00154129",
    ]


def test_expected_reidentifications(eusilc: tc.Data) -> None:
    profile = tc.assess(eusilc, scenario(), method="approximate")
    assert printed(profile.expected) == "25.01482"
    assert profile.household is not None
    assert round(profile.household.expected_persons, 2) == 81.04


def test_the_exact_risk(eusilc: tc.Data) -> None:
    """What the figures above approximate. 0.0009565982, the first as it is sometimes quoted, comes from the F printed
    with seven digits; with all of them it is 0.0009565980."""
    profile = tc.assess(eusilc, scenario())
    assert [f"{risk:.10f}" for risk in profile.individual.risk[:2]] == ["0.0009565980", "0.0004382187"]
    assert f"{expected_reciprocal(3, 3 / 1565.106):.10f}" == "0.0009565982"
    assert f"{expected_reciprocal(5, 5 / 2850.792):.10f}" == "0.0004382187"
    assert printed(profile.expected) == "25.01353"


def test_the_benchmark(eusilc: tc.Data) -> None:
    """No record has a risk of 0.1; 3,700 are at or above median + 3 MAD, MAD not rescaled, of the approximate risk.
    Of the exact risk they are 3,696: four records lie between."""
    for method, without_floor in (("approximate", 3700), ("exact", 3696)):
        assert tc.risk.benchmark(eusilc, scenario(), method=method).found == 0
        found = tc.risk.benchmark(eusilc, scenario(), rule="paper_no_floor", method=method).found
        risks = tc.risk.individual_risk(eusilc, scenario(), method=method).risk
        assert found == slow.benchmark(risks.tolist(), floor=0.0) == without_floor


# Templ (2019): counts.

PLAIN = {
    "Burgenland": (453, 16, 7),
    "Carinthia": (842, 19, 26),
    "Lower Austria": (2207, 26, 107),
    "Salzburg": (655, 25, 83),
    "Styria": (1783, 24, 73),
    "Tyrol": (928, 43, 50),
    "Upper Austria": (2056, 45, 143),
    "Vienna": (1641, 76, 221),
    "Vorarlberg": (508, 9, 41),
}
WEIGHTED = {
    "Burgenland": (215460, 7824, 3490),
    "Carinthia": (446052, 10114, 13276),
    "Lower Austria": (1229191, 14326, 57734),
    "Salzburg": (383897, 15182, 47265),
    "Styria": (920797, 12623, 36516),
    "Tyrol": (496769, 23720, 33034),
    "Upper Austria": (1051590, 23206, 72216),
    "Vienna": (1153368, 52737, 146336),
    "Vorarlberg": (265003, 4694, 20845),
}


def test_region_by_citizenship(eusilc: tc.Data) -> None:
    """Plain and weighted, as printed; both tables leave missing values out."""
    table = tc.key_table(eusilc, scenario(keys=["db040", "pb220a"], missing="own_category"))
    plain: dict[str, list[int]] = {}
    weighted: dict[str, list[int]] = {}
    assert table.values[1] == ("AT", "EU", "Other")
    for (region, citizenship), f, F in zip(table.codes, table.sample_count, table.population_count, strict=True):
        if citizenship > 0:
            plain.setdefault(table.values[0][region - 1], []).append(int(f))
            weighted.setdefault(table.values[0][region - 1], []).append(round(F))
    assert {region: tuple(counts) for region, counts in plain.items()} == PLAIN
    assert {region: tuple(counts) for region, counts in weighted.items()} == WEIGHTED


def test_225_keys(eusilc: tc.Data) -> None:
    """Region, household size, citizenship, missing as a category of its own; with the rows that are printed."""
    table = tc.key_table(eusilc, scenario(keys=["db040", "hsize", "pb220a"], missing="own_category"))
    assert len(table.codes) == 225
    values = [(None, *names) for names in table.values]
    counts = {
        tuple(values[j][code] for j, code in enumerate(key)): int(f)
        for key, f in zip(table.codes, table.sample_count, strict=True)
    }
    printed_rows = {
        ("Tyrol", "3", "AT"): 179,
        ("Tyrol", "3", "Other"): 4,
        ("Tyrol", "3", None): 43,
        ("Tyrol", "4", "AT"): 247,
        ("Tyrol", "4", None): 140,
        ("Tyrol", "7", None): 3,
    }
    assert {key: counts[key] for key in printed_rows} == printed_rows


def test_five_ways_to_count_missing_values() -> None:
    """The lecture's four records with two missing values, by each of its ways and by ours."""
    frame = pl.DataFrame({"a": [1, 1, 2, None], "b": [1, 1, 1, 1], "c": [3, None, 3, None]})
    for rule, f in [
        ("wildcard", [3, 3, 2, 4]),
        ("conservative", [1, 3, 1, 4]),
        ("no_match", [1, 1, 1, 1]),
        ("own_category", [1, 1, 1, 1]),
        ("one_way", [1, 2, 1, 4]),
    ]:
        table = tc.key_table(frame, tc.Scenario(keys=["a", "b", "c"], missing=rule))  # type: ignore[arg-type]
        assert table.per_record(table.sample_count).tolist() == f, rule


def test_household_of_three() -> None:
    """1 - (1 - 0.1)(1 - 0.05)(1 - 0.01) = 0.15355."""
    assert at_least_one(np.array([0.1, 0.05, 0.01]), np.zeros(3, dtype=np.int64), 1)[0] == pytest.approx(
        0.15355, abs=1e-15
    )


# Polettini (2003).


def test_risk_of_one_and_of_two() -> None:
    """Its closed forms: f = 1: p ln(1/p) / (1-p); f = 2: p/(1-p) - (p/(1-p))^2 ln(1/p)."""
    for p in (0.001, 0.05, 0.3, 0.7):
        q = p / (1 - p)
        assert expected_reciprocal(1, p) == pytest.approx(q * math.log(1 / p), rel=1e-13)
        assert expected_reciprocal(2, p) == pytest.approx(q - q**2 * math.log(1 / p), rel=1e-11)


def test_expected_reidentifications_run_over_records(reference: Reference) -> None:
    """With missing values the paper's sum of f_k r_k over keys counts a record for every key it could have: 50.2 on
    testdata with blanks, where the sum over the records is 9.14."""
    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    given = tc.Scenario(keys=keys, weight="household_weights", missing="sdcmicro(1)")  # type: ignore[arg-type]
    risk = tc.risk.individual_risk(reference.data("testdata_na"), given, method="approximate")
    total = tc.risk.reidentification(reference.data("testdata_na"), given, method="approximate")
    assert round(total.expected, 2) == 9.14
    assert total.expected == pytest.approx(math.fsum(risk.risk), rel=1e-12)
    slip = math.fsum(risk.table.sample_count * risk.base)
    assert round(slip, 1) == 50.2


def test_under_every_rule_the_total_is_that_of_the_records(reference: Reference) -> None:
    data = tc.Data.of(reference.data("testdata_na"))
    for rule in ("one_way", "wildcard", "conservative", "partial(0.5)", "no_match", "own_category"):
        given = tc.Scenario(keys=["roof", "water", "relat"], weight="household_weights", missing=rule)  # type: ignore[arg-type]
        risk = tc.risk.individual_risk(data, given)
        assert tc.risk.reidentification(data, given).expected == pytest.approx(math.fsum(risk.risk), rel=1e-12), rule


def test_attack_models_on_the_same_file(eusilc: tc.Data) -> None:
    """ER_1 = ER_3 / n, ER_4 = p ER_3, and ER_5 >= ER_2."""
    er = {
        attack: tc.risk.reidentification(
            eusilc, scenario(attack=attack, attack_probability=0.25 if attack == "M4" else None)
        ).expected
        for attack in ("M1", "M2", "M3", "M4", "M5")
    }
    assert er["M1"] == pytest.approx(er["M3"] / len(eusilc), rel=1e-12)
    assert er["M4"] == pytest.approx(er["M3"] / 4, rel=1e-12)
    assert er["M5"] >= er["M2"] > 0
