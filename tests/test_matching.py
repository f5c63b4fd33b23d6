"""Which keys count for which, on codes: combined numbers, patterns, and every rule against the slow pairs."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slow
from strategies import RULES, Rule
from tacita.keys import matching, source
from tacita.keys.source import distinct_keys
from tacita.keys.table import Keys, matching_counts
from tacita.scenario import MissingRule

FOUR = [(1, 1, 3), (1, 1, None), (2, 1, 3), (None, 1, None)]
"""The four records of the documentation."""


def as_codes(keys: list[tuple[int | None, ...]]) -> np.ndarray:
    return np.array([[value or 0 for value in key] for key in keys], dtype=np.uint32)


def counts(keys: list[tuple[int | None, ...]], rule: str) -> list[float]:
    """f of every record by the fast way, the file taken as it comes."""
    codes = as_codes(keys)
    columns = [codes[:, j] for j in range(codes.shape[1])]
    row, distinct = distinct_keys(columns, [int(column.max(initial=0)) for column in columns])
    records = np.bincount(row, minlength=len(distinct))
    found = matching_counts(distinct, Keys(distinct, records[:, None]), MissingRule.parse(rule), records)
    return found[row, 0].tolist()


@pytest.mark.parametrize(
    ("rule", "f"),
    [
        ("wildcard", [3, 3, 2, 4]),
        ("conservative", [1, 3, 1, 4]),
        ("one_way", [1, 2, 1, 4]),
        ("own_category", [1, 1, 1, 1]),
        ("partial(0.25)", [1.5, 3, 1.25, 4]),
        ("partial(categories)", [2.5, 3, 1.5, 4]),
    ],
)
def test_the_four_records_of_the_documentation(rule: str, f: list[float]) -> None:
    assert counts(FOUR, rule) == f


def test_the_reference_programs_own_example() -> None:
    """Its notes: fk = 2, 2, 2, 5, 3 with alpha = 1, where counting wildcards fully gives 3, 3, 3, 5, 3."""
    keys = [(1, 1), (1, 1), (2, 2), (None, None), (None, 2)]
    assert counts(keys, "sdcmicro(1)") == [2, 2, 2, 5, 3]
    assert counts(keys, "wildcard") == [3, 3, 3, 5, 3]


def test_patterns() -> None:
    """One bit per variable that a key shows, the first variable lowest."""
    assert matching.patterns(as_codes(FOUR)).tolist() == [0b111, 0b011, 0b111, 0b010]


# Combined numbers.


def places(numbers: np.ndarray) -> list[int]:
    """Which rows are equal, as places of first occurrence: 5 9 5 becomes 0 1 0."""
    first: dict[int, int] = {}
    return [first.setdefault(number, len(first)) for number in numbers.tolist()]


def first_places(rows: list[tuple[int, ...]]) -> list[int]:
    first: dict[tuple[int, ...], int] = {}
    return [first.setdefault(row, len(first)) for row in rows]


huge = st.one_of(st.integers(0, 3), st.integers(0, 2**32 - 2), st.integers(2**32 - 4, 2**32 - 2))


@st.composite
def huge_rows(draw: st.DrawFn) -> list[tuple[int, ...]]:
    width = draw(st.integers(1, 62))
    pool = draw(st.lists(st.tuples(*[huge] * width), min_size=1, max_size=6))
    # Rows that differ in one place only: folding must keep them apart.
    near = [(*row[:at], row[at] ^ 1, *row[at + 1 :]) for row in pool for at in (0, width - 1)]
    near = [row for row in near if max(row) < 2**32 - 1]
    return draw(st.lists(st.sampled_from([*pool, *near]), min_size=1, max_size=20))


@given(huge_rows())
def test_combined_is_equal_exactly_where_rows_are_equal(rows: list[tuple[int, ...]]) -> None:
    """Up to 62 variables of 2^32 codes: 2^1984 combinations, where plain multiplication wraps at 2^63."""
    columns = [np.array(column, dtype=np.uint32) for column in zip(*rows, strict=True)]
    numbers = source.combined(columns, [2**32 - 1] * len(columns), len(rows))
    assert numbers.min() >= 0
    assert places(numbers) == first_places(rows)


def test_folding_is_needed_and_happens() -> None:
    """Three variables of 2^32 codes: rows that 64-bit multiplication alone would make equal stay different."""
    size = 2**32
    columns = [np.array(c, dtype=np.uint32) for c in ([0, 1], [7, 7], [9, 9])]
    wrapped = columns[0].astype(np.int64) * size * size + columns[1].astype(np.int64) * size + columns[2]
    assert wrapped[0] == wrapped[1]
    numbers = source.combined(columns, [size] * 3, 2)
    assert numbers[0] != numbers[1]


@given(huge_rows())
def test_distinct_keys_are_sorted_and_lead_back_to_the_records(rows: list[tuple[int, ...]]) -> None:
    columns = [np.array(column, dtype=np.uint32) for column in zip(*rows, strict=True)]
    row, distinct = distinct_keys(columns, [2**32 - 2] * len(columns))
    assert [tuple(key) for key in distinct[row].tolist()] == rows
    assert [tuple(key) for key in distinct.tolist()] == sorted(set(rows))


# Rules on codes so large and many that the combinations do not fit 63 bits.

wide_value = st.sampled_from([None, 1, 2, 2**31, 2**32 - 2])


@settings(max_examples=25)
@given(st.lists(st.tuples(*[wide_value] * 7), min_size=1, max_size=10), st.sampled_from(RULES))
def test_rules_with_more_than_2_to_the_63_combinations(keys: list[tuple[int | None, ...]], rule: Rule) -> None:
    """Seven variables with codes up to 2^32: 2^224 combinations."""
    if rule.name == "no_match":
        return  # keys that match nothing are set apart before they get here, see test_keys
    f, _ = slow.frequencies(keys, [1.0] * len(keys), rule.name, c=rule.c, alpha=rule.alpha)
    assert counts(keys, rule.text) == pytest.approx(f, rel=1e-12)


# Rules one by one, between two different sets of keys.

two_keys = st.lists(st.tuples(*[st.sampled_from([None, 1, 2])] * 3), min_size=1, max_size=8)
FACTORS: dict[str, Callable[[slow.Key, slow.Key], bool]] = {
    "one_way": lambda i, h: slow.shows_all_of(h, i),
    "wildcard": slow.could_match,
    "conservative": lambda i, h: i == h if slow.is_complete(i) else slow.could_match(i, h),
    "no_match": lambda i, h: slow.is_complete(i) and i == h,
    "own_category": lambda i, h: i == h,
}
MAKERS: dict[str, matching.Rule] = {
    "one_way": matching.one_way,
    "wildcard": matching.wildcard,
    "conservative": matching.conservative(0b111),
    "no_match": matching.no_match(0b111),
    "own_category": matching.equal,
}


@pytest.mark.parametrize("name", MAKERS)
@given(targets=two_keys, sources=two_keys, totals=st.lists(st.integers(0, 2**50), min_size=8, max_size=8))
def test_matched_counts_between_two_files(
    name: str, targets: list[slow.Key], sources: list[slow.Key], totals: list[int]
) -> None:
    """Every target gets exactly the whole totals of the sources that its rule lets in."""
    amounts = np.array(totals[: len(sources)], dtype=np.int64)[:, None]
    found = matching.matched_counts(
        as_codes(targets), Keys(as_codes(sources), amounts), MAKERS[name], lambda limbs: limbs.astype(np.float64)
    )
    right = [sum(t for h, t in zip(sources, totals, strict=False) if FACTORS[name](i, h)) for i in targets]
    assert found[:, 0].tolist() == right


@given(targets=two_keys, sources=two_keys)
def test_partial_multiplies_what_comes_through_blanks(targets: list[slow.Key], sources: list[slow.Key]) -> None:
    amounts = np.ones((len(sources), 1), dtype=np.int64)
    rule = matching.partial(0b111, lambda blanks, rows: np.full(len(rows), 0.5))
    codes = Keys(as_codes(sources), amounts)
    found = matching.matched_counts(as_codes(targets), codes, rule, lambda limbs: limbs.astype(np.float64))
    right = []
    for i in targets:
        factors = [
            Fraction(1, 2) if slow.is_complete(i) and not slow.is_complete(h) else Fraction(1)
            for h in sources
            if slow.could_match(i, h)
        ]
        right.append(float(sum(factors)))
    assert found[:, 0].tolist() == right


def test_many_patterns_are_compared_pair_by_pair_and_count_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nearly every key has a pattern of its own, a sort for each pair of patterns took nearly all the time."""
    draws = np.random.default_rng(5)
    codes = draws.integers(0, 4, (60, 7)).astype(np.uint32)
    given = Keys(codes, draws.integers(1, 9, (60, 1)))
    by_pairs: list[int] = []
    pairs = matching._sums_by_pairs
    monkeypatch.setattr(matching, "_sums_by_pairs", lambda *args: by_pairs.append(1) or pairs(*args))
    for rule in ("wildcard", "conservative", "partial(0.3)", "sdcmicro(1)", "one_way"):
        by_pairs.clear()
        fast = matching_counts(codes, given, MissingRule.parse(rule), np.ones(60))
        assert bool(by_pairs) == (rule != "one_way")
        with monkeypatch.context() as patched:
            patched.setattr(matching, "_better_by_pairs", lambda *_: False)
            assert fast.tolist() == matching_counts(codes, given, MissingRule.parse(rule), np.ones(60)).tolist()
