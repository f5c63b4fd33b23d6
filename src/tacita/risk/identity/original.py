"""What measures of risk take from the original of a release: its weights, and whether its rows are the same records."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacita import check, frame
from tacita.arrays import Ints
from tacita.data import Data
from tacita.data.stands_for import OriginalWeights
from tacita.keys.source import WEIGHT_BITS, as_float
from tacita.risk.identity.original_groups import rows_of, with_original_groups
from tacita.scenario import Scenario


def as_drawn(data: Data, original: Data, scenario: Scenario, unit: str | None = None) -> Data:
    """A released file with the weights that its records were drawn with, also where rows stand for many records.

    Its records are those of the units of the original, too.
    """
    if data.condensed is not None:
        return with_original_sums(data, original, scenario, unit)
    if scenario.weight is scenario.person is scenario.household is None:
        return data
    rows = _rows_of_original(data, original, scenario)
    return with_original_groups(with_original_weights(data, original, scenario, rows), original, scenario, rows)


def with_original_weights(data: Data, original: Data, scenario: Scenario, rows: Ints | None) -> Data:
    """A released file with the weights of the original, by record, where they are not the same there.

    The population does not grow because weights were rounded, went to other records, or stand under another name.
    `rows` says by released record which row of the original it is, -1 for none; None: nobody knows.
    """
    name = scenario.weight
    if name is None or data.original_weights is not None:
        return data
    if name not in original.columns:
        return data.with_perturbed([name])
    check.columns_exist("weight of the released file", [name], data.columns)
    released, weights = data.numbers(name), original.numbers(name)
    if rows is None:
        from tacita.risk.identity.weight_pairing import same_weights

        unchanged = np.array_equal(np.sort(released), np.sort(weights), equal_nan=True)
        # Which weight was whose may not be told: a weight of 1 rounded up to 100 must not be judged by 100.
        return data if unchanged and same_weights(data, original, scenario) else data.with_perturbed([name])
    before = np.where(rows >= 0, weights[rows], released)
    if np.array_equal(before, released, equal_nan=True):
        return data
    return replace(data, original_weights=OriginalWeights(name, before))


def _rows_of_original(data: Data, original: Data, scenario: Scenario) -> Ints | None:
    """By released record which row of the original it is, -1 for none; None where that cannot be told."""
    if data.numbers_of_records is None:
        from tacita.risk.identity.weight_pairing import same_rows

        matched = _in_the_same_order(data, original, scenario.weight) and same_rows(data, original, scenario)
        return np.arange(len(data)) if matched else None
    return rows_of(data, original)


def with_original_sums(data: Data, original: Data, scenario: Scenario, unit: str | None = None) -> Data:
    """The same for rows of two files that stand for the same records: the sums of weights are those of the original.

    Rows that were not put together by a unit belong together only if their keys do.
    """
    name = scenario.weight
    own, before = data.condensed, original.condensed
    if name is None or own is None or before is None or own.weights is None:
        return data
    if before.weights is None:
        return data.with_perturbed([name])
    assert own.squares is not None and before.squares is not None
    from tacita.risk.identity.weight_pairing import same_rows

    if unit is None and not same_rows(data, original, scenario):
        return data.with_perturbed([name])
    from tacita.distance.truth import same_unit  # loads Numba

    place = same_unit(original, data, None)
    known = place >= 0
    weights, squares = own.weights.copy(), own.squares.copy()
    weights[known], squares[known] = before.weights[place[known]], before.squares[place[known]]
    if np.array_equal(weights, own.weights):
        return data
    as_they_were = before._replace(records=own.records, weights=weights, squares=squares)
    means = as_float(weights, WEIGHT_BITS) / own.records
    return replace(data, original_weights=OriginalWeights(name, means, condensed=as_they_were))


def _in_the_same_order(data: Data, original: Data, weight: str | None) -> bool:
    """Whether some column that differs between records is the same in both files, row by row."""
    if len(data) != len(original) or len(data) == 1:
        return len(data) == len(original)
    shared = [name for name in data.columns if name in original.columns and name != weight]
    return any(
        frame.distinct(data.table, name) > 1 and not frame.different(original.table[name], data.table[name]).any()
        for name in shared
    )


def rows_do_not_match(data: Data, original: Data, scenario: Scenario) -> str:
    """Why the rows of two files without record numbers are not the same records, by their numbers; empty if they are.

    Row by row every record would then seem to be moved far, and no link to it to be right.
    """
    names = scenario.numeric_keys
    numbered = any(each.numbers_of_records is not None for each in (data, original))
    if numbered or not names or len(data) != len(original) or _in_the_same_order(data, original, scenario.weight):
        return ""
    from tacita.risk.confidentiality_plot.pairing_checks import alike_by_chance

    x, y = (np.column_stack([each.numbers(name) for name in names]) for each in (original, data))
    complete = ~(np.isnan(x) | np.isnan(y)).any(axis=1)
    if not alike_by_chance(x[complete], y[complete]):
        return ""
    return (
        "the numeric keys of each row are no more like those of the same row of the original than chance would have "
        "it; bring both files into the same order"
    )
