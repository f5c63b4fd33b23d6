"""SUDA: which records are unique already on a few of the keys (special uniques)?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Annotated, Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.matching import Keys
from tacita.keys.missing_rules import matching_counts
from tacita.keys.table import KeyTable, key_table
from tacita.measures import at_most, measure, rule_in_part
from tacita.parameters import AtLeast, Doc, OneOf, Share
from tacita.progress import Progress, no_progress
from tacita.result import Percent, Repair, Result, Table, number, percent
from tacita.risk.identity.suda.scores import NO_DIS, WEIGHTS, dis_scores, largest_set, sampling_fraction_of
from tacita.scenario import MissingRule, Scenario
from tacita.work import Work

PAIR_RULES = {"conservative": "one_way", "partial": "one_way", "sdcmicro": "own_category"}
"""By which rule exact pairs are counted where the scenario's own rule does not say who is one of two."""


@dataclass(frozen=True, eq=False)
class Suda(Result):
    """Special uniques: how few of the keys make each record unique, and which keys do it."""

    table: KeyTable
    """The keys."""
    unique: Bools
    """By key: whether its record is unique on the keys it shows."""
    by_key: Floats
    """By key: the SUDA score."""
    dis_by_key: Floats
    """By key: the DIS-SUDA score."""
    msus_by_key: Ints
    """By key: the number of minimal sample uniques."""
    smallest_by_key: Ints
    """By key: how many variables the smallest of them has, 0 if there is none."""
    parts: Floats
    """By key and variable: the part of the score from minimal sample uniques with the variable."""
    kind: str
    """factorial or superset."""
    largest: int
    """How many variables a minimal sample unique was allowed to have (M)."""
    pairs: int
    """Records in exact pairs (P)."""
    sampling_fraction: float
    """The share of the population that is in the file (d)."""

    @cached_property
    def score(self) -> Floats:
        """By record: the SUDA score, the sum over its minimal sample uniques."""
        return self.table.per_record(self.by_key)

    @cached_property
    def dis(self) -> Floats:
        """By record: the DIS-SUDA score; not a probability, but in order of the scores and on their scale."""
        return self.table.per_record(self.dis_by_key)

    @cached_property
    def msus(self) -> Ints:
        """By record: the number of minimal sample uniques."""
        return self.table.per_record(self.msus_by_key)

    @cached_property
    def smallest(self) -> Ints:
        """By record: how many variables its smallest minimal sample unique has, 0 if there is none."""
        return self.table.per_record(self.smallest_by_key)

    @property
    def highest_dis(self) -> float:
        """The highest DIS-SUDA score of a record."""
        return float(self.dis_by_key.max())

    @property
    def not_valid(self) -> str:
        """Why uniques of the keys say nothing; empty if they do."""
        return self.table.records_not_valid

    def repair(self, policy: Any) -> Repair | None:
        """Suppressing until nobody is unique: a record that shares what it shows is unique on no part of it either."""
        limit = policy.limit_of("suda").limit
        above = int(self.table.records[self.dis_by_key > limit].sum())
        text = (
            f"{check.counted(above, 'record')} above {limit:g}: Suppress(k=2) leaves no record unique and takes at "
            f"least {check.counted(self.uniques, 'cell')}; Recode of the keys that contribute most leaves less to "
            f"suppress"
        )
        if self.table.rule.name != "one_way":
            return Repair("suda", text.replace("takes at least", "concerns"), records=above)
        return Repair("suda", text, "suppress", {"k": 2}, above, self.uniques)

    @property
    def uniques(self) -> int:
        """Records that are unique on the keys they show."""
        return int(self.unique.sum())

    @property
    def special(self) -> int:
        """Special uniques: records that are unique on fewer keys than they show."""
        shown = (self.table.codes > 0).sum(axis=1)
        return int(((self.smallest_by_key > 0) & (self.smallest_by_key < shown)).sum())

    @property
    def unscored(self) -> int:
        """Records that are unique but have score 0, since they need more keys than a scored set has."""
        return int((self.unique & (self.by_key == 0)).sum())

    @property
    def match_probability(self) -> float | None:
        """DIS of the file: how likely a unique match of a random unit is right, U d / (U d + P (1-d))."""
        right = float((self.by_key > 0).sum()) * self.sampling_fraction
        wrong = self.pairs * (1.0 - self.sampling_fraction)
        return right / (right + wrong) if right + wrong > 0 else None

    @property
    def cautions(self) -> tuple[str, ...]:
        """What should be known before the figures are used."""
        found = list(self.table.cautions)
        if self.unscored:
            found.append(
                f"{check.counted(self.unscored, 'unique record')} score 0 and DIS 0, since only sets of up to "
                f"{self.largest} of the {len(self.table.keys)} keys are scored."
            )
        if len(self.table.keys) >= NO_DIS:
            found.append(f"there is no DIS-SUDA score for {NO_DIS} keys or more: its exponent would not be positive.")
        elif self.sampling_fraction == 1:
            found.append("the file is taken for the whole population, every unique has DIS 1; pass sampling_fraction.")
        elif self.pairs == 0 and self.uniques:
            found.append("no two records form a pair, so every unique has DIS 1, which says nothing; use the scores.")
        if self.table.rule.name == "partial" and self.table.has_missing:
            found.append("rule 'partial': whether a record is unique is decided as by 'one_way', the cautious side.")
        return tuple(found)

    @cached_property
    def record_contributions(self) -> Floats:
        """By record and key: the share of the record's score from sets with the key; 0 where the score is 0.

        A set counts for each of its keys, so that the shares of a record add up to more than 1.
        """
        score = np.where(self.by_key > 0, self.by_key, 1.0)
        return self.table.per_record(self.parts / score[:, None])

    @cached_property
    def variable_contributions(self) -> Floats:
        """By key: the share of the file's total score from sets with the key."""
        total = fsum(self.by_key)
        return np.array([fsum(part) / total if total > 0 else 0.0 for part in self.parts.T])

    @property
    def contributions(self) -> frame.Frame:
        """One row per key: the share of the total score from sets with it, and its importance for suppression."""
        importance = self.importance()
        return frame.table(
            {
                "variable": list(importance),
                "contribution": self.variable_contributions,
                "importance": list(importance.values()),
            }
        )

    @property
    def level_contributions(self) -> frame.Frame:
        """One row per value of each key: its share of what the key contributes. Holds values: not for release."""
        self._need_parts()
        names: list[str] = []
        values: list[str] = []
        shares: list[float] = []
        for place, name in enumerate(self.table.keys):
            labels = self.table.values[place]
            part = np.bincount(self.table.codes[:, place], self.parts[:, place], len(labels) + 1)[1:]
            names += [name] * len(labels)
            values += [_text(value) for value in labels]
            shares += (part / (fsum(part) or 1.0)).tolist()
        return frame.table({"variable": names, "value": values, "contribution": shares})

    def importance(self, scale: bool = False) -> dict[str, int]:
        """Importance of the keys for suppression, 1 for the key that is suppressed last, as in sdcMicro.

        The more a key contributes, the more its suppression protects, and the higher its number: the rank of its
        contribution, equal ones sharing the lower; or, with `scale`, 1 to q in proportion to the greatest.
        """
        self._need_parts()
        shares = self.variable_contributions
        if scale:
            whole = np.rint(1 + (len(shares) - 1) * shares / (shares.max() or 1.0))
        else:
            # Shares that differ by rounding only are equal.
            whole = 1 + (shares[None, :] < shares[:, None] * (1 - 1e-12)).sum(axis=1)
        return dict(zip(self.table.keys, whole.astype(int).tolist(), strict=True))

    def _need_parts(self) -> None:
        if self.parts.shape[1] == 0:
            raise TacitaError("contributions were not computed; call suda(..., contributions=True).")

    def record_columns(self) -> dict[str, Any]:
        """Score and DIS of each record."""
        return {"suda": self.score, "dis_suda": self.dis}

    def to_dict(self) -> dict[str, Any]:
        """Uniques, special uniques, pairs, DIS of the file and contributions of the keys."""
        shares = dict(zip(self.table.keys, self.variable_contributions.tolist(), strict=False))
        return {
            "uniques": self.uniques,
            "special_uniques": self.special,
            "pairs": self.pairs,
            "highest_score": float(self.by_key.max()),
            "score": self.kind,
            "largest": self.largest,
            "match_probability": self.match_probability,
            "contributions": shares,
        }

    @property
    def headline(self) -> str:
        """Records that are unique, and on how few keys."""
        share = percent(self.uniques / self.table.size)
        of = f"{self.uniques:,} of {self.table.size:,} records are unique on the keys ({share})"
        return f"{of}, {self.special:,} on fewer keys than they show (special uniques)"

    def sentences(self) -> list[str]:
        """How many keys suffice, the highest scores, and how sure a match is."""
        lines = []
        if self.special:
            sizes = np.bincount(self.smallest_by_key, minlength=2)
            found = [f"{check.counted(s, 'key')}: {n:,}" for s, n in enumerate(sizes) if s and n]
            lines.append(f"records by the smallest set that makes them unique: {', '.join(found)}")
        highest = number(float(self.by_key.max()))
        lines.append(f"highest score {highest} ({self.kind}, sets of up to {check.counted(self.largest, 'key')})")
        if self.match_probability is not None and not np.isnan(self.dis_by_key[0]):
            lines[-1] += f", highest DIS-SUDA score {self.dis_by_key.max():.3g}"
            basis = f"sampling fraction {self.sampling_fraction:.3g}"
            lines.append(f"a unique match is right with probability {self.match_probability:.3g} (DIS, {basis})")
        return lines

    def tables(self) -> tuple[Table, ...]:
        """How much each key contributes."""
        if not self.parts.shape[1] or not self.by_key.any():
            return ()
        shares = zip(self.table.keys, self.variable_contributions.tolist(), strict=True)
        rows = tuple((name, Percent(share)) for name, share in shares)
        return (Table(("key", "share of the score from sets with it"), rows),)

    @property
    def notes(self) -> tuple[str, ...]:
        """How missing values were counted."""
        return (f"missing values: {self.table.rule}",)

    def to_frame(self) -> frame.Frame:
        """One row per record: score, DIS-SUDA score, number and smallest size of its sets, contribution of each key."""
        shown: dict[str, Any] = {"score": self.score, "dis": self.dis, "msus": self.msus, "smallest": self.smallest}
        if self.parts.shape[1]:
            by_record = self.record_contributions
            shown |= {f"contribution of {name}": by_record[:, place] for place, name in enumerate(self.table.keys)}
        return frame.table(shown)


def _counts(table: KeyTable, rule: str) -> Floats:
    """How many records count for each key, by a rule that need not be the one of the table."""
    if rule == table.rule.name or not table.has_missing:
        return table.sample_count
    same = Keys(table.codes, table.records[:, None])
    return matching_counts(table.codes, same, MissingRule(rule), table.records)[:, 0]


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _work(data: Data, scenario: Scenario, options: Mapping[str, Any]) -> Work:
    """In the worst case every record is looked up on every set of keys."""
    keys = len(check.names("keys", options["keys"]) or scenario.keys)
    sets = sum(math.comb(keys, size) for size in range(1, min(keys, options["largest"] or keys) + 1))
    return Work(3e-9 * len(data) * sets, "pass largest=4, or name fewer keys")


@measure(
    by_key=True,
    work=_work,
    needs="keys",
    limit=at_most("highest_dis", "the highest DIS-SUDA score", void=1.0),
    figure="suda",
    missing=rule_in_part("A missing value never makes a record unique; those of others hide it under `wildcard` only."),
)
def suda(
    data: Any,
    scenario: Scenario,
    *,
    largest: Annotated[int | None, AtLeast(1), Doc("Sets of at most so many keys; all unless given.")] = None,
    sampling_fraction: Annotated[
        float | None, Share(zero=False), Doc("n/N of the DIS-SUDA score; the scenario's unless given.")
    ] = None,
    score: Annotated[str, OneOf(tuple(WEIGHTS)), Doc("How a set of keys scores.")] = "factorial",
    contributions: Annotated[bool, Doc("Whether to work out what each key contributes.")] = True,
    keys: Annotated[Any, Doc("Key variables; the scenario's unless given.")] = None,
    progress: Progress = no_progress,
) -> Suda:
    """Which records are unique already on a few of the keys, and how much each key has to do with it.

    A minimal sample unique (MSU) of a record is a set of keys on which it is unique while it is unique on no part of
    the set. Who is unique on two keys out of eight is more likely to be unique in the population than who needs all
    eight. The score S of a record is the sum over its MSUs of at most M = `largest` of the q keys, where s keys score

    - `"factorial"`: the product of (q - i) for i = s to min(M, q - 1), which is (q - s)! unless M < q - 1; M is q.
    - `"superset"`: sum over i = s to M of C(q - s, i - s), over C(q, s); M is q - 1, and sets of q keys score 0.

    The DIS-SUDA score is 1 / (1 + P (1-d) / (d S^Q A)) with P the number of records in exact pairs, d the
    `sampling_fraction` (from the scenario unless given), Q = 1 + (8 - q)/20 and A the sum of S^-Q where S > 0.

    A missing value never makes a record unique, and a missing value of another record does not keep it from being
    unique unless the scenario's rule is `wildcard`.

    References: Elliot, Manning, Ford (2002); Manning, Haglin, Keane (2008).

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [20, 20, 20, 60], "sex": ["m", "m", "f", "m"], "job": ["a", "b", "a", "a"]})
    >>> found = suda(people, Scenario(keys=["age", "sex", "job"]), sampling_fraction=0.1)
    >>> found.score.tolist(), found.smallest.tolist()
    ([1.0, 2.0, 2.0, 2.0], [3, 1, 1, 1])
    """
    from tacita.risk.identity.suda.minimal_uniques import minimal_uniques

    table = key_table(data, scenario, keys)
    fraction = sampling_fraction_of(data, scenario) if sampling_fraction is None else sampling_fraction
    number = len(table.keys)
    size = largest_set(number, largest, score)
    rule = "wildcard" if table.rule.name == "wildcard" else "one_way"
    unique = (_counts(table, rule) == 1) & (table.codes > 0).any(axis=1)
    found = minimal_uniques(
        table.codes,
        unique,
        WEIGHTS[score](number, size),
        wildcard=rule == "wildcard",
        parts=contributions,
        progress=lambda done: progress(done, "searching for special uniques"),
    )
    pairs = int(table.records[_counts(table, PAIR_RULES.get(table.rule.name, table.rule.name)) == 2].sum())
    return Suda(
        table=table,
        unique=unique,
        by_key=found.score,
        dis_by_key=dis_scores(found.score, pairs, fraction, number),
        msus_by_key=found.msus,
        smallest_by_key=found.smallest,
        parts=found.parts,
        kind=score,
        largest=size,
        pairs=pairs,
        sampling_fraction=fraction,
    )
