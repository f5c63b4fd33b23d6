"""What is asked of an engine, as expressions of Ibis: the same for DuckDB and Spark.

Records are grouped by their values as they stand in the file, a missing value being one more; what values mean is
decided in memory, on the groups. They are joined back by `is not distinct from`, for which missing equals missing:
with `=` every record with a missing value would be lost. Nothing but whole numbers is ever added up, so that no sum
depends on the order of the records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

PART = float(1 << 26)
"""A weight is a whole number, 26 bits behind the point and 26 bits more: all sums of these fit 63 bits."""
RECORDS = "tacita_records"
SUMS = ("tacita_sum_0", "tacita_sum_1", "tacita_sum_2")
SQUARES = ("tacita_square_0", "tacita_square_1", "tacita_square_2", "tacita_square_3", "tacita_part_0", "tacita_part_1")
ALL_SUMS = (*SUMS, *SQUARES)
GROUP = "tacita_group"
RECORD = "tacita_record"
STEP = 2_654_435_769
"""2^32 over the golden ratio: its multiples, modulo 2^32, are spread evenly."""
LARGEST_WHOLE = 2.0**53
"""Up to here doubles tell whole numbers apart."""
LEAST_WHOLE = 2.0**52
"""From here on doubles are whole numbers: adding and subtracting it rounds as IEEE 754 says, half to even."""


def is_nan(column: Any) -> Any:
    """Where a number is NaN, never missing.

    DuckDB takes `isnan` of a Parquet column for false by the column's greatest value, in which NaN has no part: x - x
    is asked instead, which is 0 for every number.
    """
    return ((column - column) != 0.0).fill_null(False) & ~is_infinite(column)


def is_infinite(column: Any) -> Any:
    """Where a number is infinite, never missing."""
    return column.isin([float("inf"), float("-inf")]).fill_null(False)


def plain(table: Any, names: Sequence[str]) -> Any:
    """The table with NaN missing in some columns."""
    import ibis

    fresh = {
        name: ibis.ifelse(is_nan(table[name]), ibis.null(table[name].type()), table[name])
        for name in names
        if table[name].type().is_floating()
    }
    return table.mutate(**fresh) if fresh else table


def number(table: Any, name: str) -> Any:
    """A column as floating-point numbers."""
    return table[name].cast("float64")


def weight_parts(weight: Any) -> tuple[Any, Any, Any]:
    """A weight as three whole numbers: its whole part, 26 bits of the rest, and 26 more, rounded."""
    whole = weight.floor().cast("int64")
    rest = (weight - whole.cast("float64")) * PART
    high = rest.floor().cast("int64")
    low = (rest - high.cast("float64")) * PART
    return whole, high, ((low + LEAST_WHOLE) - LEAST_WHOLE).cast("int64")


def square_parts(weight: Any, greatest: float) -> tuple[Any, ...]:
    """A weight as a whole number V of 52 bits, and its square, in whole numbers whose sums fit 63 bits.

    In units of 2^-52 of the power of two from `greatest` on: four digits of V^2 of 26 bits each, the highest first, and
    two of V.
    """
    scaled = weight * 2.0 ** (26 - math.frexp(greatest)[1])
    high = scaled.floor().cast("int64")
    low = ((scaled - high.cast("float64")) * PART).floor().cast("int64")
    below = (1 << 26) - 1
    first, middle, last = high * high, high * low, low * low
    return (
        first >> 26,
        (first & below) + 2 * (middle >> 26),
        2 * (middle & below) + (last >> 26),
        last & below,
        high,
        low,
    )


def weight_checks(table: Any, name: str, least: float) -> Any:
    """One row: how many weights are not as they must be, the greatest, the sum, and how many are below 1."""
    import ibis

    given = number(table, name)
    odd = is_nan(given) | is_infinite(given)
    weight = ibis.ifelse(given.isnull() | odd | (given > 2.0**60) | (given < 0), 0.0, given)
    return table.aggregate(
        missing=(given.isnull() | is_nan(given)).sum(),
        infinite=is_infinite(given).sum(),
        negative=((given < 0) & ~odd).sum(),
        zero=((given == 0) & ~odd).sum(),
        next_to_zero=((given > 0) & (given < least) & ~odd).sum(),
        greatest=weight.max(),
        total=weight.floor().cast("int64").sum().cast("float64"),
        below_one=((given > 0) & (given < 1) & ~odd).sum(),
    )


def sums_of_weights(weight: Any, greatest: float) -> dict[str, Any]:
    """What is added up of weights, by name: whole numbers for their sum and for the sum of their squares."""
    parts = (*weight_parts(weight), *square_parts(weight, greatest))
    return dict(zip((*SUMS, *SQUARES), parts, strict=True))


def groups(table: Any, names: Sequence[str], weight: str | None, greatest: float = 1.0) -> Any:
    """One row per combination of values: how many records have it, and the sums of their weights and their squares.

    `greatest` is the greatest weight.
    """
    given = plain(table, names)
    sums = {} if weight is None else sums_of_weights(number(given, weight), greatest)
    totals = {name: part.sum().cast("int64") for name, part in sums.items()}
    return given.group_by(list(names)).aggregate(**{RECORDS: given.count()}, **totals)


def joined(table: Any, names: Sequence[str], found: Any, columns: Sequence[str], kept: Sequence[str]) -> Any:
    """Every record with some columns of its own and some of its group."""
    left = plain(table, names)
    same = [left[name].identical_to(found[name]) for name in names]
    own = {name: left[name] for name in kept}
    return left.join(found, same, how="inner").select(**own, **{name: found[name] for name in columns})


class Side(NamedTuple):
    """One of two files whose records are laid side by side."""

    table: Any
    names: Sequence[str]
    """The variables that count."""
    weight: str | None
    record: str
    """The column that says which records are the same."""
    greatest: float = 1.0
    """The greatest weight."""


def aliases(side: Side, letter: str) -> dict[str, str]:
    """The columns of one of two files that count, by the names that they have where both are laid side by side."""
    weight = {} if side.weight is None else {f"{letter}_weight": side.weight}
    return {f"{letter}{at}": name for at, name in enumerate(side.names)} | weight


def laid_by_record(first: Side, second: Side) -> Any:
    """The records of two files side by side; one that is in one of them only has no `a_record`, or no `b_record`."""
    one, other = (
        side.table.select(
            **{f"{letter}_record": side.table[side.record]},
            **{alias: side.table[name] for alias, name in aliases(side, letter).items()},
        )
        for side, letter in ((first, "a"), (second, "b"))
    )
    return one.outer_join(other, one["a_record"].identical_to(other["b_record"]))


def pairs(laid: Any, first: Side, second: Side) -> Any:
    """One row per combination of values of two files side by side: how many records, and the sums of their weights.

    The variables of the first file are a0, a1, ..., the sums of its weights `a_` and their names, and `a` says whether
    the records are in it; those of the second are b0, b1, ... Files without records are laid side by side row by row.
    """
    import ibis

    sides = {"a": first, "b": second}
    values = [f"{letter}{at}" for letter, side in sides.items() for at in range(len(side.names))]
    both = plain(laid, values)
    fresh: dict[str, Any] = {}
    for letter, side in sides.items():
        numbered = f"{letter}_record" in laid.columns
        fresh[letter] = both[f"{letter}_record"].notnull() if numbered else ibis.literal(True)
        if side.weight is not None:
            parts = sums_of_weights(number(both, f"{letter}_weight"), side.greatest)
            fresh |= {f"{letter}_{name}": part for name, part in parts.items()}
    both = both.mutate(**fresh)
    sums = [f"{letter}_{name}" for letter, side in sides.items() if side.weight for name in ALL_SUMS]
    totals = {name: ibis.coalesce(both[name].sum().cast("int64"), 0) for name in sums}
    return both.group_by([*values, "a", "b"]).aggregate(**{RECORDS: both.count()}, **totals)


def changes(first: Side, second: Side, names: Sequence[str], shared: Sequence[str], missing: Mapping[str, Any]) -> Any:
    """One row: of some variables of the first file, how many cells of the records of both hold a value there, and of
    those that the second file has too, how many hold another value or none.
    """
    import ibis

    def prepared(side: Side, columns: Sequence[str], letter: str) -> Any:
        given = plain(side.table, columns)
        values = {f"{letter}{names.index(name)}": without_codes(given[name], missing.get(name, ())) for name in columns}
        return given.select(**{f"{letter}_record": given[side.record]}, **values)

    one, other = prepared(first, names, "a"), prepared(second, shared, "b")
    both = one.join(other, one["a_record"].identical_to(other["b_record"]))
    found = {}
    for at, name in enumerate(names):
        was = both[f"a{at}"]
        found[f"cells_{at}"] = was.count()
        if name in shared:
            now = both[f"b{at}"]
            alike = was.type().is_numeric() == now.type().is_numeric()
            differs = ~was.identical_to(now) if alike else ibis.literal(True)
            found[f"changed_{at}"] = (was.notnull() & (differs | now.isnull())).sum()
            found[f"gone_{at}"] = (was.notnull() & now.isnull()).sum()
    return both.aggregate(**found)


def without_codes(column: Any, codes: Sequence[Any]) -> Any:
    """A column with some codes missing."""
    import ibis

    return ibis.ifelse(column.isin(list(codes)), ibis.null(column.type()), column) if codes else column


def identified(table: Any, record: str) -> Any:
    """One row: how many records have a value of a column, how many values there are, how many records have none."""
    given = table[record]
    return table.aggregate(there=given.count(), values=given.nunique(), none=given.isnull().sum())


def looked_at(table: Any, names: Sequence[str]) -> Any:
    """One row: how many records have a value of each column; of numbers, how many there are from the smallest to the
    largest, and how many are no whole ones.
    """
    given, found = plain(table, names), {}
    for at, name in enumerate(names):
        column = given[name]
        found[f"known_{at}"] = column.count()
        if column.type().is_integer() or column.type().is_floating():
            value = column.cast("float64")
            found[f"span_{at}"] = value.max() - value.min() + 1.0
            found[f"fractions_{at}"] = ((value != value.floor()) | (value.abs() > LARGEST_WHOLE)).sum()
    return given.aggregate(**found)


def spread_out(table: Any, names: Sequence[str], record: str | None, size: int) -> Any:
    """Some records from all over a table, or its first ones where they have no numbers."""
    some = table
    if record is not None and table[record].type().is_integer():
        step = (table.count() // size).as_scalar()
        some = table.filter((step <= 1) | (table[record] % step == 0))
    return some.select(*names).limit(size)


def drawn(table: Any, names: Sequence[str], record: str, limits: Any) -> Any:
    """The records of a stratified sample: the numbers of a record are dealt out evenly, and those below a limit stay.

    `limits` has a row for each combination of values of some columns, or none of them: up to which share of 2^32.
    """
    given = plain(table, names)
    given = given.mutate(tacita_place=(given[record].cast("int64") % (1 << 31)) * STEP % (1 << 32))
    if not names:
        return given.filter(given["tacita_place"] < limits).drop("tacita_place")
    same = [given[name].identical_to(limits[f"tacita_by_{at}"]) for at, name in enumerate(names)]
    both = given.join(limits, same, how="inner")
    return both.filter(both["tacita_place"] < both["tacita_limit"]).select(*table.columns)


def changed_by_block(laid: Any, columns: Sequence[tuple[str, str | None]], size: int) -> Any:
    """By run of so many records, of two files side by side, how many cells have another value in the second one.

    `columns` names each variable as it is called of the first file and of the second; None: it is not there.
    """
    both = laid.filter(laid["a_record"].notnull() & laid["b_record"].notnull())
    both = plain(both, [name for pair in columns for name in pair if name is not None])
    changed = {
        f"changed_{at}": (
            both[first].notnull()
            if second is None
            else both[first].notnull() & ~both[first].cast("string").identical_to(both[second].cast("string"))
        )
        for at, (first, second) in enumerate(columns)
    }
    numbered = both.mutate(block=(both["a_record"] // size).cast("int64"), **changed)
    return numbered.group_by("block").aggregate(**{name: numbered[name].sum().cast("int64") for name in changed})


def combinations(table: Any, names: Sequence[str]) -> Any:
    """One row: about how many combinations of values some columns have."""
    import ibis

    texts = [ibis.coalesce(table[name].cast("string"), "\x00") for name in names]
    together = table.mutate(tacita_together=ibis.literal("\x1f").join(texts))
    return together.aggregate(n=together["tacita_together"].approx_nunique())


def household_place(table: Any, name: str, codes: Sequence[Any]) -> Any:
    """The identifier of a household, missing where it is a code for no household."""
    import ibis

    given = table[name]
    none = is_nan(given) if given.type().is_floating() else ibis.literal(False)
    if codes:
        none = none | given.isin(list(codes))
    return ibis.ifelse(none.fill_null(False), ibis.null(given.type()), given)


def households(records: Any, household: str, sums: Sequence[str], certain: str) -> Any:
    """One row per household: its members, the sums of whole numbers over them, and how many are certain to be found."""
    totals = {name: records[name].sum().cast("int64") for name in (*sums, certain)}
    there = records.filter(records[household].notnull())
    return there.group_by(household).aggregate(**{RECORDS: there.count()}, **totals)


def in_groups(table: Any, group: str, names: Sequence[str]) -> Any:
    """One row: how many groups and records in groups there are, the squares of sizes, and how many values each column
    takes within groups, added up."""
    there = table.filter(table[group].notnull())
    each = there.group_by(group).aggregate(
        size=there.count(), **{f"v{at}": there[n].nunique() for at, n in enumerate(names)}
    )
    totals = {f"v{at}": each[f"v{at}"].sum() for at in range(len(names))}
    return each.aggregate(groups=each.count(), records=each["size"].sum(), squares=(each["size"] ** 2).sum(), **totals)


def counted(table: Any, names: Sequence[str], amount: str) -> Any:
    """One row per combination of values: how many rows have it."""
    return table.group_by(list(names)).aggregate(**{amount: table.count()})


def alone(table: Any, amount: str) -> Any:
    """The rows with a column of ones."""
    import ibis

    return table.mutate(**{amount: ibis.literal(1, "int64")})


def with_rest(table: Any, name: str, kept: Sequence[Any], rest: Any) -> Any:
    """The table with one value for all of a column that are neither missing nor among some values."""
    import ibis

    column = table[name]
    stays = column.isnull() | (column.isin(list(kept)) if kept else ibis.literal(False))
    other = ibis.null(column.type()) if rest is None else ibis.literal(rest).cast(column.type())
    return table.mutate(**{name: ibis.ifelse(stays, column, other)})


def differing(table: Any, household: str, names: Sequence[str]) -> Any:
    """One row: by variable in how many households it is not the same for all members."""
    there = table.filter(table[household].notnull())
    found: Mapping[str, Any] = {
        name: (
            (there[name].max() != there[name].min())
            | ~there[name].count().isin([0]) & (there[name].count() != there.count())
        )
        for name in names
    }
    by_household = there.group_by(household).aggregate(**found)
    return by_household.aggregate(**{name: by_household[name].fill_null(False).sum() for name in names})


def with_household(records: Any, households: Any, household: str, names: Sequence[str]) -> Any:
    """Every record with the sums of its household in place of its own; without a household its own are all."""
    import ibis

    joined = records.left_join(households, [records[household] == households[household]], rname="{name}_of_household")
    sums = {name: ibis.coalesce(joined[f"{name}_of_household"], joined[name]) for name in names}
    return joined.mutate(**sums)


def household_risk(records: Any, sums: Sequence[str], certain: str, bits: int) -> Any:
    """1 - prod(1 - r) of the sums of -log(1 - r) in two whole numbers, the second `bits` below the first."""
    import ibis

    scale = 2.0**-80
    high, low = (records[name].cast("float64") for name in sums)
    total = high * (2.0**bits * scale) + low * scale
    return ibis.ifelse(records[certain] > 0, 1.0, complement_of_product(total))


def at_least(records: Any, sums: Sequence[str], certain: str, bits: int, high: int, low: int) -> Any:
    """Whether a sum in two whole numbers is at least another one, or certain."""
    import ibis

    first, second = (records[name] for name in sums)
    carried = first + (second >> bits)
    rest = second & ((1 << bits) - 1)
    greater = (carried > high) | ((carried == ibis.literal(high, "int64")) & (rest >= low))
    return greater | (records[certain] > 0)


def complement_of_product(logarithm: Any) -> Any:
    """1 - exp(-x) without cancellation, of the sum x of -log(1 - r): as exact as `expm1`, which engines lack."""
    import ibis

    power = (-logarithm).exp()
    # Kahan: (u - 1) / log(u) is exact where u - 1 is not.
    exact = (1.0 - power) * logarithm / ibis.ifelse(power < 1.0, -(power.ln()), 1.0)
    return ibis.ifelse(power < 1.0, ibis.ifelse(power > 0.5, exact, 1.0 - power), logarithm)
