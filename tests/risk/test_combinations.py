import csv
from collections import Counter
from itertools import combinations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from conftest import Reference
from tacita.risk.identity.unsafe_combinations import by_identification_level

value = st.sampled_from([1, 2, 3, None])
NAMES = ("a", "b", "c")


@given(st.lists(st.tuples(value, value, value), min_size=1, max_size=25), st.integers(0, 4))
def test_against_plain_counting(rows: list[tuple[int | None, ...]], threshold: int) -> None:
    frame = pl.DataFrame(rows, schema=dict.fromkeys(NAMES, pl.Int64), orient="row")
    found = tc.risk.unsafe_combinations(frame, tc.Scenario(keys=NAMES), threshold=threshold, largest=3)
    inside = [0] * len(rows)
    by_variable: Counter[tuple[str, int]] = Counter()
    by_category: Counter[tuple[str, int | None]] = Counter()
    for names, unsafe, records in zip(found.combinations, found.unsafe, found.records, strict=True):
        places = [NAMES.index(name) for name in names]
        cells = Counter(tuple(row[place] for place in places) for row in rows)
        bad = {cell for cell, count in cells.items() if count <= threshold}
        assert unsafe == len(bad)
        assert records == sum(cells[cell] for cell in bad)
        for i, row in enumerate(rows):
            inside[i] += tuple(row[place] for place in places) in bad
        for name in names:
            by_variable[name, len(names)] += len(bad)
            for cell in bad:
                by_category[name, cell[names.index(name)]] += 1
    assert found.per_record().tolist() == inside
    assert {key: count for key, count in found.by_variable.items() if count} == +by_variable
    for name in NAMES:
        shown = found.categories(name)
        counts = dict(zip(shown["category"], shown["unsafe_cells"], strict=True))
        labels = {"(missing)": None} | {str(number): number for number in (1, 2, 3)}
        assert counts == {label: by_category[name, labels[label]] for label in counts}


def test_one_threshold_for_each_size() -> None:
    frame = pl.DataFrame({"a": [1, 1, 1, 2], "b": [1, 1, 2, 2]})
    found = tc.risk.unsafe_combinations(frame, tc.Scenario(keys=["a", "b"]), threshold=[1, 2])
    assert dict(zip(found.combinations, found.thresholds, strict=True)) == {("a",): 1, ("b",): 1, ("a", "b"): 2}
    assert dict(zip(found.combinations, found.unsafe, strict=True)) == {("a",): 1, ("b",): 0, ("a", "b"): 3}
    assert found.records_unsafe == 4


def test_identification_levels() -> None:
    """Extremely (1) x very (2) x identifying (3): a variable also serves for any less identifying level."""
    levels = {"region": 1, "sex": 2, "age": 3, "income": 0}
    assert by_identification_level(levels) == [("region", "sex", "age")]
    assert by_identification_level({"region": 1, "town": 1, "sex": 2}) == [
        ("region", "town"),
        ("region", "sex"),
        ("town", "sex"),
    ]
    frame = pl.DataFrame({"region": [1, 1], "sex": [1, 2], "age": [1, 1]})
    scenario = tc.Scenario(keys=["region", "sex", "age"])
    found = tc.risk.unsafe_combinations(frame, scenario, levels={"region": 1, "sex": 2, "age": 0}, threshold=1)
    assert (found.combinations, found.unsafe) == ((("region", "sex"),), (2,))


def test_tables_by_name() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2], "b": [1, 2, 2], "c": [1, 1, 1]})
    found = tc.risk.unsafe_combinations(frame, tc.Scenario(keys=["a"]), tables={("a", "b"): 1, "c": 5})
    assert (found.combinations, found.thresholds, found.unsafe) == ((("a", "b"), ("c",)), (1, 5), (3, 1))


def test_messages() -> None:
    frame = pl.DataFrame({"a": [1], "b": [1]})
    scenario = tc.Scenario(keys=["a", "b"])
    for words, message in [
        ({"largest": 1, "levels": {"a": 1}}, "give one of largest, levels and tables."),
        ({"threshold": [1]}, "give one threshold, or one for each of the 2 sizes; got 1."),
        ({"threshold": -1}, "threshold must be at least 0; got -1."),
        ({"levels": {"a": 1}, "threshold": [1, 2]}, "levels take one threshold for all tables; got several."),
        ({"levels": {"z": 1}}, "levels not in the data: 'z'. The columns are 'a', 'b'."),
    ]:
        with pytest.raises(tc.TacitaError) as error:
            tc.risk.unsafe_combinations(frame, scenario, **words)  # type: ignore[arg-type]
        assert str(error.value) == message
    keys = [f"k{j}" for j in range(30)]
    wide = pl.DataFrame({key: [1] for key in keys})
    with pytest.raises(tc.TacitaError) as error:
        tc.risk.unsafe_combinations(wide, tc.Scenario(keys=keys), largest=4)
    assert str(error.value) == "that is 31,930 tables, more than 20,000; choose a smaller largest."
    assert sum(1 for size in range(1, 5) for _ in combinations(keys, size)) == 31_930


CASES = [
    "riskyCells_eusilc_5keys_dim3_t3-3-3",
    "riskyCells_francdat_4keys_dim3_t1",
    "riskyCells_testdata_7keys_dim2_t5",
    "riskyCells_testdata_7keys_dim3_t50-25-10",
    "riskyCells_testdata_na_7keys_dim2_t5",
]


@pytest.mark.parametrize("name", CASES)
def test_reference(reference: Reference, name: str) -> None:
    case = reference.case(name)
    parameters = case["parameters"]
    threshold = parameters["threshold"] if isinstance(parameters["threshold"], list) else [parameters["threshold"]]
    found = tc.risk.unsafe_combinations(
        reference.data(case["dataset"]),
        tc.Scenario(keys=parameters["keys"]),
        largest=parameters["maxDim"],
        threshold=threshold if len(threshold) > 1 else threshold[0],
    )
    with (reference.folder / "cases" / f"{name}.csv").open(encoding="utf-8") as file:
        theirs = {
            frozenset(row[f"dim{i}"] for i in (1, 2, 3) if row.get(f"dim{i}")): int(row["unsafe_cells"])
            for row in csv.DictReader(file)
        }
    assert dict(zip(map(frozenset, found.combinations), found.unsafe, strict=True)) == theirs
    assert found.total == case["scalars"]["total_unsafe"]


def test_every_reference_case_is_named(reference: Reference) -> None:
    assert reference.names("riskyCells") == CASES
