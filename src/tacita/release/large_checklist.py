"""What to look at before a large release is published: what was looked at on its distinct keys, and what was not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacita import check
from tacita.random import fit_for_release
from tacita.release.checklist import DONE, NOT_APPLICABLE, NOT_DONE, Checklist, Item

if TYPE_CHECKING:
    from tacita.release.large_release import LargeRelease

UNSEEN = {
    "weights": "whether weights tell protected keys",
    "small geography": "how small areas are",
    "dates": "whether exact days are released",
    "reconstruction": "whether other columns give back what was protected",
}
"""What is looked at in memory only."""


def large_checklist(release: LargeRelease) -> Checklist:
    """The checklist of a large release."""
    unseen = [
        Item(name, NOT_DONE, f"{what} was not looked at on an engine", "look at a sample of the release in memory")
        for name, what in UNSEEN.items()
    ]
    order = Item("record order", NOT_DONE, "records stand in the order of the original", "shuffle them on the engine")
    seen = (_identifiers(release), _ids(release), order, _households(release), _verdicts(release), _seed(release))
    return Checklist((*seen, *unseen))


def _identifiers(release: LargeRelease) -> Item:
    there = [name for name in release.scenario.identifiers if name in release.columns]
    if there:
        return Item("identifiers", NOT_DONE, f"{check.quoted(there)} declared and still there", "add Remove()")
    way = "look through the codebook for names, addresses and numbers of persons"
    return Item("identifiers", NOT_DONE, "those declared are gone; other columns were not looked at", way)


def _ids(release: LargeRelease) -> Item:
    there = [name for name in (release.scenario.household, release.scenario.person) if name is not None]
    if not there:
        return Item("ids renewed", NOT_APPLICABLE, "the release has no identifier of households or persons")
    return Item("ids renewed", NOT_DONE, f"{check.quoted(there)} as in the original", "Remove() them, or number anew")


def _households(release: LargeRelease) -> Item:
    household = release.scenario.household
    if household is None:
        return Item("households", NOT_DONE, "members of a household may stand together", "shuffle the records")
    held = next((each.holds for each in release.assess().verdicts() if each.name == "household_risk"), None)
    if held:
        return Item("households", DONE, "the risk of households is within its limit")
    way = "set household_risk in the policy, or Remove() the identifier"
    return Item("households", NOT_DONE, f"{household!r} tells who lives together", way)


def _verdicts(release: LargeRelease) -> Item:
    if release.safe:
        return Item("verdicts", DONE, f"{release.verdict}: {release.policy}")
    return Item("verdicts", NOT_DONE, release.verdict, "protect the file further, or decide on another policy")


def _seed(release: LargeRelease) -> Item:
    if release.state.seed_given and not fit_for_release(release.seed):
        return Item("seed", NOT_DONE, "the seed is short enough to be guessed", "apply the plan without seed=")
    return Item("seed", DONE, "the seed of random steps is secret and long")
