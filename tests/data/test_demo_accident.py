"""The synthetic survey of accidents: 34 names and their roles, shape, dependence, and all of it from the seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tacita.check import TacitaError
from tacita.data.demo import accident
from tacita.data.demo import accident_shares as shares
from tacita.data.demo.accident import KEYS, LABELS, NOT_CONFIDENTIAL, NUMERIC_KEYS, RANDOMISED, SCALES, SHARED
from tacita.data.demo.accident import population as make
from tacita.data.demo.accident_shares import CATEGORIES, MISSING
from tacita.data.demo.drawing import Table, take, values_of

RECORDS = 88_330


@pytest.fixture(scope="module")
def victims() -> Table:
    return make(RECORDS, seed=1)


@pytest.fixture(scope="module")
def file(victims: Table) -> Table:
    return accident.reported(victims, seed=1)


def texts(table: Table, name: str) -> NDArray[Any]:
    codes, labels = table[name]
    return np.array(["", *labels])[codes]


def same(first: Table, second: Table) -> bool:
    assert list(first) == list(second)
    return all(np.array_equal(values_of(first, name), values_of(second, name)) for name in first)


def carriers(table: Table, names: tuple[str, ...]) -> NDArray[Any]:
    """How many records carry the key of each record."""
    key = np.ravel_multi_index(
        [values_of(table, name) for name in names], [len(CATEGORIES[name]) + 1 for name in names]
    )
    _, row, count = np.unique(key, return_inverse=True, return_counts=True)
    return count[row]


def association(table: Table, first: str, second: str) -> float:
    """Cramer's V."""
    one, other = values_of(table, first), values_of(table, second)
    counts = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(counts, (one, other), 1)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    return float(np.sqrt(((counts - expected) ** 2 / expected).sum() / counts.sum() / (min(counts.shape) - 1)))


def missing(table: Table, name: str) -> NDArray[np.bool_]:
    return values_of(table, name) == 0 if name in CATEGORIES else np.isnan(values_of(table, name))


def test_the_34_names_and_their_roles(victims: Table) -> None:
    names = "WOJW LPB1 SEK PKD data_d P27_1 " + " ".join(f"P{number}" for number in (*range(1, 27), 28, 29))
    assert set(LABELS) - {"accident"} == set(names.split())
    assert len(LABELS) - 1 == 34
    assert list(victims) == list(LABELS) == list(SCALES)
    assert [len(role) for role in (KEYS, RANDOMISED, NUMERIC_KEYS, NOT_CONFIDENTIAL)] == [9, 13, 6, 6]
    assert {*KEYS, *RANDOMISED, *NUMERIC_KEYS, *NOT_CONFIDENTIAL} == set(LABELS) - {"accident"}
    assert set(accident.INVENTED) < set(accident.MEANING_INVENTED)
    # What the report says of its variables is not among the inventions.
    assert not {*KEYS, *NUMERIC_KEYS, "SEK"} & set(accident.MEANING_INVENTED)


def test_the_published_variants_find_their_variables() -> None:
    assert KEYS[:7] == ("LPB1", "P1", "P2", "P3", "P8", "P15", "P20")
    assert {"LPB1", "SEK"} <= set(SHARED)  # similarity of accidents in record swapping
    assert {"P1", "P2", "P3", "P28"} <= set(KEYS) | set(RANDOMISED)


def test_the_same_seed_gives_the_same_file() -> None:
    first, second, other = make(500, 5), make(500, 5), make(500, 6)
    assert same(first, second)
    assert not same(first, other)
    hidden = [missing(accident.reported(first, seed), "P29") for seed in (5, 5, 6)]
    assert np.array_equal(hidden[0], hidden[1])
    assert not np.array_equal(hidden[0], hidden[2])


def test_golden_values_stay() -> None:
    # A change here changes every documented figure of the demonstration survey.
    table = make(5, seed=2024)
    first = {
        name: (texts(table, name) if name in CATEGORIES else table[name]).tolist() for name in (*KEYS, *NUMERIC_KEYS)
    }
    assert first == {
        "LPB1": ["2: 50 to 249", "3: 250 or more", "3: 250 or more", "1: up to 49", "2: 50 to 249"],
        "P1": ["male", "male", "male", "male", "female"],
        "P2": ["55 or more", "40 to 54", "16 to 24", "55 or more", "40 to 54"],
        "P3": ["national"] * 5,
        "P8": ["open wound", *["sprain or strain"] * 4],
        "P15": ["Pine, city", "Willow", "Linden", "Oak, city", "Linden"],
        "P20": ["industrial site", "area of services", "industrial site", "area of services", "area of services"],
        "PKD": ["C13.1", "P85.1", "C10.1", "O84.1", "N78.1"],
        "WOJW": ["Pine", "Willow", "Linden", "Oak", "Linden"],
        "P6": [456, 325, 0, 272, 158],
        "P7": [1, 7, 4, 2, 0],
        "P13": [0] * 5,
        "P14": [0] * 5,
        "P17": [7.5, 12.75, 18 + 1 / 3, 9, 8 + 11 / 12],
        "data_d": [215, 214, 212, 215, 214],
    }
    assert values_of(table, "P27_1").tolist() == [3, 6, 4, 6, 8]
    hidden = accident.reported(make(400, seed=2024), 1)
    assert (np.flatnonzero(missing(hidden, "P13")) + 1).tolist() == [22, 38, 234, 341, 361, 370]


def test_a_longer_file_begins_with_the_shorter_one(monkeypatch: pytest.MonkeyPatch) -> None:
    large = make(700, 3)
    monkeypatch.setattr(accident, "BLOCK", 64)
    assert same(large, make(700, 3))
    for records in (1, 63, 64, 65, 300):
        assert same(take(large, np.arange(records)), make(records, 3))


@given(st.integers(1, 300), st.integers(0, 9))
@settings(max_examples=25, deadline=None)
def test_any_number_of_records(records: int, seed: int) -> None:
    true = make(records, seed)
    for table in (true, accident.reported(true, seed)):
        assert {len(values_of(table, name)) for name in table} == {records}
    assert (np.diff(true["accident"]) >= 0).all()


def test_codes_labels_and_types(victims: Table, file: Table) -> None:
    assert set(CATEGORIES) == set(LABELS) - {*NUMERIC_KEYS, "accident"}
    for name, labels in CATEGORIES.items():
        codes, found = victims[name]
        assert (found, codes.dtype, len(set(labels))) == (labels, np.int32, len(labels))
        assert (codes.min() >= 1, codes.max() <= len(labels)) == (True, True)
        if name != "PKD":  # some groups are too rare to occur
            assert np.unique(codes).tolist() == list(range(1, len(labels) + 1))
        if SCALES[name] == "ordinal":
            assert list(labels) == sorted(labels)
    assert values_of(victims, "PKD").max() <= 268
    assert len(np.unique(values_of(victims, "PKD"))) > 200
    assert list(file) == list(victims)


def test_shares_fit_the_categories() -> None:
    of = {
        "PKD": "GROUP", "P15": "LOCATION", "SEK": "SECTOR", "LPB1": "EMPLOYED", "P12": "PATTERN", "P19": "DAY",
        "P20": "PLACE", "P5": "OCCUPATION", "P2": "AGE", "P3": "CITIZENSHIP", "P4": "EMPLOYMENT", "P28": "DISABILITY",
        "P8": "INJURY", "P9": "BODY", "P10": "OUTCOME", "P11": "DAYS", "P18": "PROCESS", "P21": "ACTIVITY",
        "P22": "AGENT", "P23": "DEVIATION", "P24": "DEVIATING", "P25": "CONTACT", "P27_1": "CAUSE", "P29": "EQUIPMENT",
    }  # fmt: skip
    for name, table in of.items():
        assert getattr(shares, table).shape[1] == len(CATEGORIES[name]), name
    kinds = (shares.SECTOR, shares.EMPLOYED, shares.LOCATION_ROW, shares.MIGRANTS, shares.PLACE, shares.PATTERN)
    assert {len(table) for table in (*kinds, shares.OCCUPATION, shares.PROCESS)} == {11}
    assert {len(table) for table in (shares.BODY, shares.OUTCOME, shares.GRAVE, shares.CONTACT)} == {
        len(CATEGORIES["P8"])
    }
    assert {len(table) for table in (shares.AGE, shares.INJURY, shares.ACTIVITY, shares.EQUIPMENT)} == {7}
    assert {len(table) for table in (shares.AGENT, shares.DEVIATION)} == {len(CATEGORIES["P21"])}
    assert {len(table) for table in (shares.DEVIATING, shares.CAUSE)} == {len(CATEGORIES["P23"])}
    assert {len(table) for table in (shares.EMPLOYMENT, shares.DISABILITY)} == {len(CATEGORIES["P2"])}
    assert len(shares.FEMALE) == len(shares.WORK) == len(CATEGORIES["P5"])
    assert len(shares.BORDER) == len(shares.PROVINCE) == len(CATEGORIES["P15"])


def test_victims_share_accidents(victims: Table, file: Table) -> None:
    _, first, row, count = np.unique(victims["accident"], return_index=True, return_inverse=True, return_counts=True)
    assert (count.min(), count.max()) == (1, 7)
    assert 0.97 < np.mean(count == 1) < 0.995
    for table in (victims, file):
        for name in SHARED:
            values = values_of(table, name)
            np.testing.assert_array_equal(values, values[first][row])
    for name in set(LABELS) - set(SHARED) - {"accident"}:
        assert not np.array_equal(values_of(victims, name), values_of(victims, name)[first][row])


def test_the_province_follows_the_location_and_activities_have_two_levels(victims: Table) -> None:
    np.testing.assert_array_equal([accident.PROVINCE[text] for text in texts(victims, "P15")], texts(victims, "WOJW"))
    assert len(set(accident.PROVINCE.values())) == len(CATEGORIES["WOJW"]) == 16
    assert len(CATEGORIES["P15"]) == 18
    assert len(accident.DIVISION) == 268
    assert len(set(accident.DIVISION.values())) == sum(len(divisions) for divisions in shares.DIVISIONS.values()) == 85


def test_as_identifying_as_the_published_file(victims: Table) -> None:
    # Published: 3.61, 6.88 and 12.85 per cent; 62.28 per cent; quartiles of the risk 0.25, 0.5 and 1.
    seven, nine = carriers(victims, KEYS[:7]), carriers(victims, KEYS)
    for below, published in ((2, 0.0361), (3, 0.0688), (5, 0.1285)):
        assert np.mean(seven < below) == pytest.approx(published, rel=0.3)
    assert np.mean(1 / nine) == pytest.approx(0.6228, abs=0.02)
    assert np.quantile(1 / nine, [0.25, 0.5, 0.75]).tolist() == [0.25, 0.5, 1.0]


def test_variables_depend_on_each_other(victims: Table) -> None:
    for first, second, least in (
        ("P5", "P8", 0.13), ("P5", "P1", 0.6), ("P8", "P9", 0.3), ("P8", "P10", 0.15), ("P8", "P25", 0.35),
        ("P21", "P22", 0.4), ("P22", "P24", 0.5), ("P24", "P26", 0.5), ("PKD", "P20", 0.6), ("PKD", "SEK", 0.6),
        ("PKD", "LPB1", 0.25), ("P2", "P4", 0.2), ("P23", "P27_1", 0.15),
    ):  # fmt: skip
        assert association(victims, first, second) > least, (first, second)
    assert association(victims, "P19", "P8") < 0.02
    occupation, injury = texts(victims, "P5"), texts(victims, "P8")
    assert np.mean(injury[occupation == "metal trade"] == "open wound") > 5 * np.mean(
        injury[occupation == "teacher"] == "open wound"
    )
    mining = np.char.startswith(texts(victims, "PKD"), "B")
    assert np.mean(texts(victims, "WOJW")[mining] == "Pine") > 0.7
    assert set(texts(victims, "PKD")[texts(victims, "P20") == "underground"]) >= {"B05.1"}


def test_rules_that_hold_for_every_record(victims: Table) -> None:
    outcome, days = texts(victims, "P10"), texts(victims, "P11")
    np.testing.assert_array_equal(outcome == "no incapacity", days == "0: none")
    np.testing.assert_array_equal(outcome == "fatal", days == "not applicable")
    oldest = np.array([24, 39, 54, 70])[values_of(victims, "P2") - 1]
    assert (victims["P6"] <= 12 * (oldest - 16)).all()
    assert (texts(victims, "P2")[texts(victims, "P4") == "apprentice"] < "40").all()
    for name in NUMERIC_KEYS:
        assert victims[name].min() >= 0
    for name in ("P6", "P7", "P13", "P14", "data_d"):
        np.testing.assert_array_equal(victims[name], np.rint(victims[name]))
    assert (victims["P17"].max() < 24, victims["P7"].max() <= 16) == (True, True)
    np.testing.assert_allclose(12 * victims["P17"], np.rint(12 * victims["P17"]), atol=1e-9)
    assert np.unique(victims["data_d"]).tolist() == list(range(204, 216))


def test_shape_of_the_numbers(victims: Table) -> None:
    seniority = [np.median(victims["P6"][values_of(victims, "P2") == code]) for code in range(1, 5)]
    assert seniority == sorted(seniority)
    assert seniority[3] > 10 * seniority[0]
    assert np.mean(victims["P13"] == 0) == pytest.approx(0.8, abs=0.01)
    assert np.mean(victims["P14"] == 0) == pytest.approx(0.93, abs=0.01)
    losses = victims["P14"][victims["P14"] > 0]
    assert losses.mean() > 2 * np.median(losses)
    correlation = np.corrcoef([victims[name] for name in NUMERIC_KEYS])
    place = {name: row for row, name in enumerate(NUMERIC_KEYS)}
    assert correlation[place["P7"], place["P17"]] > 0.2
    assert correlation[place["P13"], place["P14"]] > 0.1
    assert np.linalg.cond(correlation) < 10


def test_some_answers_are_missing_and_the_others_true(victims: Table, file: Table) -> None:
    for name in LABELS:
        gone = missing(file, name)
        assert gone.any() == (name in MISSING)
        np.testing.assert_array_equal(values_of(file, name)[~gone], values_of(victims, name)[~gone])
    for name, rate in MISSING.items():
        assert missing(file, name).mean() == pytest.approx(rate / 100_000, rel=0.25)
    assert not any(missing(victims, name).any() for name in LABELS)


def test_the_true_file_is_left_as_it_was() -> None:
    table = make(300, 4)
    before = {name: values_of(table, name).copy() for name in table}
    for name in table:
        values_of(table, name).flags.writeable = False
    accident.reported(table, 4)
    for name, values in before.items():
        np.testing.assert_array_equal(values_of(table, name), values)


def test_mistakes_are_refused() -> None:
    with pytest.raises(TacitaError, match=r"^records must be at least 1; got 0\.$"):
        make(0, 1)
    with pytest.raises(TacitaError, match=r"^records must be a whole number of at least 1; got 2\.5\.$"):
        make(2.5, 1)  # type: ignore[arg-type]
    with pytest.raises(TacitaError, match=r"^seed must be a whole number of at least 0; fresh_seed\(\) gives one\.$"):
        make(1, -1)
    with pytest.raises(TacitaError, match=r"^population columns not in the data: 'accident', "):
        accident.reported({"P1": np.arange(3)}, 1)
