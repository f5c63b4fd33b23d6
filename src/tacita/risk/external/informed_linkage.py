"""Record linkage by an intruder who knows the methods: how much better does he do for that?

Statistical offices publish how they protect a file, and what is not published can be guessed. Whoever knows that one
job in ten was exchanged, or that turnover got noise of 20 %, can say for each released record how likely it is to have
come from a unit that he knows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.scenario_keys import AnyKeys, Unit, all_keys
from tacita.distance.truth import new_records_caution
from tacita.measures import at_most, measure, own_rule
from tacita.parameters import Doc
from tacita.progress import Progress, no_progress, part
from tacita.result import Percent, Result, Table, number, percent
from tacita.risk.linkage.files import two_files
from tacita.scenario import Scenario


@dataclass(frozen=True, eq=False, kw_only=True)
class InformedLinkage(Result):
    """Right links of an intruder who knows the methods, beside those of one who does not."""

    variables: tuple[str, ...]
    """The variables linked on."""
    methods: dict[str, str]
    """By variable how the intruder takes its values to have been changed."""
    record: Ints
    """The number of each record of the intruder's file."""
    released: int
    """How many released records there are."""
    partners: Ints
    """By record: how many released records are of the same unit."""
    candidates: Ints
    """By record: how many released records are most likely, by what the methods say; 0: none is possible."""
    correct: Floats
    """By record: the probability that one of those, drawn at random, is the right one."""
    plain_candidates: Ints
    """By record: how many released records are nearest, for an intruder who knows no method."""
    plain_correct: Floats
    """By record: the probability that one of those is the right one."""
    new: int
    """Released records that are not in the original file."""
    knowledge_cautions: tuple[str, ...]
    """What could not be taken into account."""

    @property
    def units(self) -> int:
        """Records of the intruder's file that are in the release."""
        return int((self.partners > 0).sum())

    @property
    def expected_correct(self) -> float:
        """Right links of an intruder who knows the methods."""
        return math.fsum(self.correct)

    @property
    def expected_plain(self) -> float:
        """Right links of an intruder who does not, and takes the nearest record."""
        return math.fsum(self.plain_correct)

    @property
    def share_correct(self) -> float:
        """Right links with knowledge of the methods as a share of the records that are in the release."""
        return self.expected_correct / max(self.units, 1)

    @property
    def share_plain(self) -> float:
        """The same without that knowledge."""
        return self.expected_plain / max(self.units, 1)

    @property
    def gain(self) -> float:
        """How many more links are right for knowing the methods."""
        return self.expected_correct - self.expected_plain

    @property
    def guessed(self) -> float:
        """Right links of an intruder who draws a released record for each of his."""
        return math.fsum(self.partners / self.released)

    @property
    def found_for_certain(self) -> int:
        """Records with one candidate, which is the right one."""
        return _clear(self.candidates, self.correct)[1]

    @property
    def headline(self) -> str:
        """What knowledge of the methods is worth."""
        return (
            f"an intruder who knows the methods links {number(self.expected_correct)} of {self.units:,} records "
            f"rightly ({percent(self.share_correct)}); one who does not, {number(self.expected_plain)} "
            f"({percent(self.share_plain)}); {number(self.guessed)} by guessing"
        )

    @property
    def cautions(self) -> tuple[str, ...]:
        """What could not be taken into account, and released records without an original."""
        return (*self.knowledge_cautions, *new_records_caution(self.new))

    def tables(self) -> tuple[Table, ...]:
        """Both attacks, and what is known of each variable."""
        attacks = (
            ("knows the methods", self.candidates, self.correct),
            ("nearest record", self.plain_candidates, self.plain_correct),
        )
        rows = tuple(
            (name, math.fsum(right), Percent(math.fsum(right) / max(self.units, 1)), *_clear(candidates, right))
            for name, candidates, right in attacks
        )
        heads = ("intruder", "right links", "share", "one candidate", "of these right", "no candidate")
        known = tuple(self.methods.items())
        return Table(heads, rows), Table(("variable", "what he goes by"), known)

    def to_frame(self) -> frame.Frame:
        """One row per record of the intruder's file."""
        return frame.table(
            {
                "record": self.record,
                "candidates": self.candidates,
                "correct": self.correct,
                "plain_candidates": self.plain_candidates,
                "plain_correct": self.plain_correct,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Right links with and without knowledge of the methods."""
        return {
            "units": self.units,
            "expected_correct": self.expected_correct,
            "expected_plain": self.expected_plain,
            "gain": self.gain,
            "guessed": self.guessed,
            "share_correct": self.share_correct,
            "share_plain": self.share_plain,
            "methods": dict(self.methods),
        }


def _clear(candidates: Ints, correct: Floats) -> tuple[int, int, int]:
    """Records with one candidate, how many of these links are right, and records without any."""
    one = candidates == 1
    return int(one.sum()), int(correct[one].sum()), int((candidates == 0).sum())


@measure(
    files=2,
    limit=at_most(
        "share_correct",
        "the share of records linked rightly by who knows the methods",
        void=1.0,
        moved_by="more perturbation (Noise, Pram, RankSwap, SwapRecords), or coarser variables (Recode)",
    ),
    for_perturbed=True,
    missing=own_rule("A missing value of the intruder's says nothing; a suppressed cell could be any released value."),
)
def informed_linkage(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    keys: AnyKeys = None,
    mechanisms: Annotated[
        Any, Doc("What was done: a release, its log.json, or mechanisms; what the released data carry.")
    ] = None,
    unit: Unit = None,
    progress: Progress = no_progress,
) -> InformedLinkage:
    """Link every record of the intruder's file to the released record that is most likely his, given the methods.

    The intruder knows the keys of everybody, and what the steps of the plan say of themselves: the matrix of PRAM, the
    covariance of noise, the window of a rank swap. He takes the released record y whose total log likelihood given his
    x is greatest; of several he draws one: 1/ties. By variable the likelihood is R[x, y] of the matrix; the normal
    density of the errors of noise or microaggregation; 1 inside the window of ranks, else 0; and, where values were
    coded or stayed, 1 for what x becomes, else 0. Beside it stand the links of an intruder who knows no method and
    takes the record that differs least (Gower's distance). The difference is what the knowledge is worth.

    A release knows what its steps did. For a file without that knowledge, and for methods that report no
    probabilities, how many values were changed or how far is measured on the two files.

    References: Fienberg, Makov and Sanil (1997), A Bayesian approach to data disclosure: optimal intruder behavior for
    continuous data. Journal of Official Statistics 13; Reiter (2005), Estimating risks of identification disclosure in
    microdata. Journal of the American Statistical Association 100.

    >>> import polars as pl, tacita as tc
    >>> people = pl.DataFrame({"job": ["smith"] * 6 + ["miller"] * 4, "town": [1, 2, 3, 4, 5, 6, 1, 2, 3, 4]})
    >>> who = Scenario(keys=["job", "town"])
    >>> turned = tc.Pram("job", matrix={"smith": {"miller": 1}, "miller": {"smith": 1}})
    >>> release = tc.Plan([turned]).apply(people, who, seed=1)
    >>> found = informed_linkage(people, release, who)
    >>> found.expected_correct, found.expected_plain
    (10.0, 0.4)
    """
    from tacita.risk.external.attack import informed, plain
    from tacita.risk.external.knowledge import knowledge_of
    from tacita.risk.external.known_mechanisms import mechanisms_of

    names = all_keys("informed_linkage", scenario, keys)
    opened = Data.of(released)
    told = mechanisms_of(mechanisms, opened)
    for what, data in (("original", Data.of(original)), ("released", opened)):
        for name in names:
            check.columns_exist(f"keys of the {what} file", (name,), data.columns)
    files = two_files(original, opened, names, scenario, unit, external=False)
    if not len(files.own_pairs()[0]):
        raise TacitaError(
            "no released record is in the original, so there is nothing to link; check the record numbers or name "
            "another column with unit=...."
        )
    progress(0.0, "working out what the methods tell")
    knowledge = knowledge_of(files, told)
    best = informed(files, knowledge, part(progress, 0.1, 0.6))
    nearest = plain(files, knowledge.coded, part(progress, 0.6, 1.0))
    order = np.argsort(files.x_order, kind="stable")
    partners = np.bincount(files.own_pairs()[1], minlength=len(files.original))
    return InformedLinkage(
        variables=names,
        methods={name: each.method for each in knowledge.variables for name in each.names},
        record=files.original.record,
        released=len(opened),
        partners=partners[order],
        candidates=best.candidates[order],
        correct=best.correct[order],
        plain_candidates=nearest.candidates[order],
        plain_correct=nearest.correct[order],
        new=int((files.own_positions < 0).sum()),
        knowledge_cautions=(*knowledge.cautions, *_impossible(len(best.impossible))),
    )


def _impossible(count: int) -> tuple[str, ...]:
    """That the methods do not explain what was released of some units."""
    if not count:
        return ()
    return (
        f"by the methods as reported no released record is possible for {check.counted(count, 'record')}: another step "
        f"changed the file besides.",
    )
