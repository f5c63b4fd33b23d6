"""Household files and person files: one file to assess and protect, two to release.

Risk in a household survey needs the household's variables with each person: whoever recognises one member knows the
others. `join` brings them together and `split` takes them apart again, both only if nothing is lost or contradicted.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Ints
from tacita.check import TacitaError, TacitaWarning
from tacita.data.data import Data
from tacita.frame import files as frame_files
from tacita.frame.joined_rows import matching_rows


def join_households(households: Any, persons: Any, on: str | Sequence[str]) -> Data:
    """Persons with the variables of their household: one record per person, in their order and with their numbers.

    Every person must have a household and no household may occur twice. A variable that both files have must say the
    same in both. Households without persons are left out, with a warning.

    Parameters
    ----------
    households, persons
        `Data`, a path, or a pandas, Polars or Arrow table.
    on
        The identifier of the household, one variable or several, in both files.

    >>> import polars as pl
    >>> households = pl.DataFrame({"hid": [1, 2], "region": ["north", "south"]})
    >>> persons = pl.DataFrame({"hid": [2, 1, 2], "age": [34, 71, 6]})
    >>> join_households(households, persons, on="hid").table.rows()
    [(2, 34, 'south'), (1, 71, 'north'), (2, 6, 'south')]
    """
    above, below = Data.of(households), Data.of(persons)
    names = _identifier(on, {"households": above, "persons": below})
    _check_kinds(names, above, below)
    _check_once(names, above)
    rows = matching_rows(below.table, above.table, names)
    lost = int((rows < 0).sum())
    if lost:
        raise TacitaError(
            f"{check.counted(lost, 'person has', 'persons have')} no household; add it or leave them out."
        )
    shared = [name for name in above.columns if name in below.columns and name not in names]
    _check_shared(shared, above, below, rows)
    without = len(above) - len(np.unique(rows))
    if without:
        message = f"left out of the joined file: {check.counted(without, 'household')} without persons."
        warnings.warn(message, TacitaWarning, stacklevel=2)
    added = [name for name in above.columns if name not in below.columns]
    table = frame.table(
        {name: below.table[name] for name in below.columns} | {name: above.table[name][rows] for name in added}
    )
    # What the persons stood for before a step, and who is one unit, stays known.
    kept = replace(below, native=None, changed=frozenset())
    return replace(kept, table=table, variables={**above.variables, **below.variables})


def split_households(data: Any, on: str | Sequence[str], household_variables: Sequence[str]) -> tuple[Data, Data]:
    """The households, one record each in the order of their first person, and the persons without their variables.

    A household variable must be the same for all persons of a household: a value that was suppressed for one of them
    only could be read off another.

    Parameters
    ----------
    data
        `Data`, a path, or a pandas, Polars or Arrow table with one record per person.
    on
        The identifier of the household, one variable or several; both files keep it.
    household_variables
        The variables of the household file.

    >>> import polars as pl
    >>> data = pl.DataFrame({"hid": [2, 1, 2], "age": [34, 71, 6], "region": ["south", "north", "south"]})
    >>> households, persons = split_households(data, on="hid", household_variables=["region"])
    >>> households.table.rows(), persons.table.rows()
    ([(2, 'south'), (1, 'north')], [(2, 34), (1, 71), (2, 6)])
    """
    given = Data.of(data)
    names = _identifier(on, {"data": given})
    wanted = check.names("household_variables", household_variables)
    check.columns_exist("household_variables", wanted, given.columns)
    clash = [name for name in wanted if name in names]
    if clash:
        raise TacitaError(
            f"household_variables must not name the identifier {check.quoted(clash)}; both files keep it."
        )
    first = _first_rows(names, given)
    for name in wanted:
        differs = ~frame.same(given.table[name], given.table[name][first])
        count = len(np.unique(first[differs]))
        if count:
            raise TacitaError(
                f"household variable {name!r} differs within {check.counted(count, 'household')}; give all persons "
                "of a household one value, or leave it with the persons."
            )
    heads = np.unique(first)
    return _chosen(given, (*names, *wanted), heads), _chosen(given, [c for c in given.columns if c not in wanted], None)


def _identifier(on: object, files: dict[str, Data]) -> tuple[str, ...]:
    """The names of the identifier: in every file, and nowhere missing."""
    names = check.names("on", on)
    if not names:
        raise TacitaError("on must name the identifier of the household; got none.")
    for what, data in files.items():
        check.columns_exist(f"on ({what})" if len(files) > 1 else "on", names, data.columns)
        blank = int(np.logical_or.reduce([frame.missing(data.table, name) for name in names]).sum())
        if blank:
            raise TacitaError(
                f"the identifier {check.quoted(names)} is missing in {check.counted(blank, 'record')} of {what}; "
                "complete it or leave them out."
            )
    return names


def _check_kinds(names: Sequence[str], above: Data, below: Data) -> None:
    for name in names:
        kinds = [frame_files.kind(data.table, name) for data in (above, below)]
        numeric = all(kind in ("whole", "number") for kind in kinds)
        if kinds[0] != kinds[1] and not numeric:
            raise TacitaError(
                f"identifier {name!r} must be of one type in both files; it is {_word(kinds[0])} in the households and "
                f"{_word(kinds[1])} in the persons."
            )


def _word(kind: str) -> str:
    words = {"whole": "numbers", "number": "numbers", "logical": "true or false", "text": "text"}
    return words.get(kind, "dates or times")


def _check_once(names: Sequence[str], above: Data) -> None:
    twice = len(above) - len(np.unique(_first_rows(names, above)))
    if twice:
        raise TacitaError(
            f"households must occur once each; {check.counted(twice, 'record repeats', 'records repeat')} the "
            "identifier of another."
        )


def _check_shared(shared: Sequence[str], above: Data, below: Data, rows: Ints) -> None:
    for name in shared:
        kinds = {frame_files.kind(data.table, name).replace("whole", "number") for data in (above, below)}
        if len(kinds) > 1:
            raise TacitaError(f"variable {name!r} is in both files in different types; leave it out of one.")
        differs = int((~frame.same(below.table[name], above.table[name][rows])).sum())
        if differs:
            raise TacitaError(
                f"variable {name!r} is in both files and differs for {check.counted(differs, 'person')}; leave it "
                "out of one."
            )


def _first_rows(names: Sequence[str], data: Data) -> Ints:
    """For each record the first record with the same identifier."""
    groups = np.zeros(len(data), dtype=np.int64)
    for name in names:
        places, count = frame.groups(data.table, name)
        _, groups = np.unique(groups * max(count, 1) + places, return_inverse=True)
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    found: Ints = first[inverse]
    return found


def _chosen(data: Data, names: Sequence[str], rows: Ints | None) -> Data:
    """Some variables, with what is known of them, of some or all records."""
    table = frame.table({name: data.table[name] if rows is None else data.table[name][rows] for name in names})
    known = {name: variable for name, variable in data.variables.items() if name in names}
    if rows is not None:
        return Data(table, known)
    # What the persons stood for before a step, and who is one unit, stays known.
    return replace(data, table=table, variables=known, native=None, changed=frozenset())
