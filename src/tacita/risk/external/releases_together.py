"""Two releases of one file attacked together: what one of them suppressed is read from the other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.data import Data
from tacita.distance.scenario_keys import AnyKeys, Unit, all_keys
from tacita.distance.truth import same_unit
from tacita.measures import at_most, measure, own_rule
from tacita.parameters import Doc, OneOf, Share
from tacita.progress import Progress, no_progress, part
from tacita.result import Percent, Result, Table, percent
from tacita.risk.linkage.files import two_files
from tacita.scenario import Scenario, checked, with_codes

SUPPRESSED = ("level", "any")


class Pairing(NamedTuple):
    """By record of the intruder's file: the released records that agree with it."""

    pairs: Ints
    right: Ints
    """How many of them are of the same unit."""

    @property
    def expected(self) -> Floats:
        """The probability that one of them, drawn at random, is of the same unit."""
        return self.right / np.maximum(self.pairs, 1)

    @property
    def figures(self) -> tuple[float, float, float, float]:
        """Shares of the records: paired, the true one among the pairs, all pairs right, expected right guesses."""
        size = len(self.pairs)
        certain = (self.pairs > 0) & (self.pairs == self.right)
        shares = (float(np.mean(self.pairs > 0)), float(np.mean(self.right > 0)), float(np.mean(certain)))
        return (*shares, math.fsum(self.expected) / size)


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleasesTogether(Result):
    """What an intruder finds in each release alone, and in all of them put side by side."""

    variables: tuple[str, ...]
    """The variables compared."""
    record: Ints
    """The number of each record of the intruder's file."""
    alone: tuple[Pairing, ...]
    """What agrees with it in each release."""
    together: Pairing
    """What agrees with it in all of them."""
    joined: int
    """Records that are in more than one release."""
    recoded: tuple[str, ...]
    """Variables that the intruder had to recode."""

    @property
    def share_paired(self) -> float:
        """The share of the records that pair with some released one."""
        return self.together.figures[0]

    @property
    def share_true_among(self) -> float:
        """The share that pair with the right one, whatever else they pair with."""
        return self.together.figures[1]

    @property
    def share_unique(self) -> float:
        """The share that pair with the right one and no other."""
        return self.together.figures[2]

    @property
    def share_expected(self) -> float:
        """The share that an intruder guesses right who draws one of the pairs."""
        return self.together.figures[3]

    @property
    def found_for_certain(self) -> int:
        """Records that pair with the right one and no other."""
        return int(((self.together.pairs > 0) & (self.together.pairs == self.together.right)).sum())

    @property
    def headline(self) -> str:
        """Right guesses with all releases, and with the best of them alone."""
        paired, among, unique, expected = map(percent, self.together.figures)
        best = percent(max(each.figures[3] for each in self.alone))
        beside = f"; with the most telling release alone he guesses {best} right" if len(self.alone) > 1 else ""
        return (
            f"an intruder with {check.counted(len(self.alone), 'release')} finds a matching record for {paired} of the "
            f"units, the right one among them for {among}, guesses {expected} right, {unique} beyond doubt{beside}"
        )

    @property
    def cautions(self) -> tuple[str, ...]:
        """Variables that the intruder recoded, and that records could be joined."""
        said = []
        if self.recoded:
            said.append(
                f"{check.quoted(self.recoded)}: recoded, rounded or cut off in a release; the intruder is taken to "
                f"code his own values alike."
            )
        if not self.joined and len(self.alone) > 1:
            said.append("no record is in two releases, so that none can be put side by side.")
        return tuple(said)

    def tables(self) -> tuple[Table, ...]:
        """One row per release, and one for all together."""
        names = ["the release", *(f"other release {at}" for at in range(1, len(self.alone)))]
        rows = zip([*names, "all together"], [*self.alone, self.together], strict=True)
        heads = ("attack on", "paired", "true among", "unique and correct", "expected correct")
        return (Table(heads, tuple((name, *map(Percent, found.figures)) for name, found in rows)),)

    def to_frame(self) -> frame.Frame:
        """One row per record of the intruder's file: pairs and expected right guesses, alone and together."""
        columns: dict[str, Any] = {"record": self.record}
        for at, each in enumerate(self.alone, start=1):
            columns |= {f"pairs_{at}": each.pairs, f"expected_{at}": each.expected}
        both = {"pairs": self.together.pairs, "true_among": self.together.right > 0, "expected": self.together.expected}
        return frame.table(columns | both)

    def to_dict(self) -> dict[str, Any]:
        """The four figures, alone and together."""
        names = ("paired", "true_among", "unique_correct", "expected_correct")
        alone = [dict(zip(names, each.figures, strict=True)) for each in self.alone]
        return {**dict(zip(names, self.together.figures, strict=True)), "alone": alone, "joined": self.joined}


@measure(
    files=2,
    limit=at_most(
        "share_expected",
        "the share of right guesses with all releases",
        void=1.0,
        moved_by="protect the same cells in the same way in all releases, or take classes of one release that hold "
        "those of the others",
    ),
    for_perturbed=True,
    missing=own_rule("A cell suppressed in one release is read from another; suppressed in all, it is a level."),
)
def releases_together(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    other: Annotated[Any, Doc("The other release of the file, or a list of them; none: the release alone.")] = None,
    keys: AnyKeys = None,
    tolerance: Annotated[float, Share(one=False), Doc("Numbers agree up to this share of the released one.")] = 0.05,
    suppressed: Annotated[
        str, OneOf(SUPPRESSED), Doc("A cell suppressed everywhere: a level of its own, or any value.")
    ] = "level",
    unit: Unit = None,
    progress: Progress = no_progress,
) -> ReleasesTogether:
    """What an intruder finds who has two or more releases of one file, and puts their records side by side.

    In the worst case he knows which records are the same: by record number, or by the column `unit`. A record pairs
    with one of his own if it agrees with it in every release, on every variable; what one release suppressed is read
    from another. Categories agree if equal, numbers x and released y if |x - y| <= d* |y|; a number suppressed
    everywhere is replaced by the nearest released one. The four figures are those of external risk, for each release
    and for all.

    Two versions that are each safe need not be safe together: each shows what the other hides.

    >>> import polars as pl
    >>> people = pl.DataFrame({"job": ["smith", "smith", "miller"], "town": [1, 2, 1]})
    >>> first, second = people.with_columns(town=None), people.with_columns(job=None)
    >>> who = Scenario(keys=["job", "town"])
    >>> found = releases_together(people, first, who, other=second, suppressed="any")
    >>> [each.expected.tolist() for each in found.alone], found.together.expected.tolist()
    ([[0.5, 0.5, 1.0], [0.5, 1.0, 0.5]], [1.0, 1.0, 1.0])
    """
    from tacita.risk.external.pairing import alone, releases_of, together

    releases = [with_codes(Data.of(each), scenario) for each in (released, *_listed(other))]
    names = _names(scenario, keys)
    held = [tuple(name for name in names if name in data.columns) for data in releases]
    for name in names:
        check.columns_exist("keys of the original file", (name,), Data.of(original).columns)
        if not any(name in each for each in held):
            check.columns_exist("keys of the released files", (name,), releases[0].columns)
    files = [two_files(original, *pair, scenario, unit, external=False) for pair in zip(releases, held, strict=True)]
    progress(0.0, "comparing values")
    given = releases_of(files, tolerance, suppressed == "any", _rows_together(releases, unit))
    steps = len(files) + 1
    found = [alone(given, at, part(progress, at / steps, (at + 1) / steps)) for at in range(len(files))]
    found.append(together(given, part(progress, len(files) / steps, 1.0)))
    order = np.argsort(files[0].x_order, kind="stable")
    in_order = [Pairing(each.pairs[order], each.right[order]) for each in found]
    return ReleasesTogether(
        variables=names,
        record=files[0].original.record,
        alone=tuple(in_order[:-1]),
        together=in_order[-1],
        joined=int(((given.rows >= 0).sum(axis=0) > 1).sum()),
        recoded=tuple(name for name in names if name in given.recoded),
    )


def _listed(other: Any) -> list[Any]:
    if other is None:
        return []
    return list(other) if isinstance(other, list | tuple) else [other]


def _names(scenario: Any, keys: Any) -> tuple[str, ...]:
    """The variables given, otherwise all keys of the scenario and its key sets."""
    if keys is None and checked(scenario).key_sets:
        more = [name for each in scenario.key_sets.values() for name in each.keys]
        return tuple(dict.fromkeys([*scenario.keys, *more, *scenario.numeric_keys]))
    return all_keys("releases_together", scenario, keys)


def _rows_together(releases: list[Data], unit: str | None) -> Ints:
    """By release and record of all releases together its row in that release, -1 where it is in none."""
    rows = np.full((len(releases), 0), -1)
    for at, data in enumerate(releases):
        place = np.full(len(data), -1)
        for before in range(at):
            own = same_unit(releases[before], data, unit)
            found = (own >= 0) & (place < 0)
            by_row = np.full(len(releases[before]), -1)
            there = np.flatnonzero(rows[before] >= 0)
            by_row[rows[before, there]] = there
            place[found] = by_row[own[found]]
        new = np.flatnonzero(place < 0)
        place[new] = rows.shape[1] + np.arange(len(new))
        rows = np.concatenate([rows, np.full((len(releases), len(new)), -1)], axis=1)
        rows[at, place] = np.arange(len(data))
    return rows
