"""What the reader of an external risk should know: how the figures came about, and cautions."""

from __future__ import annotations

from tacita import check
from tacita.result import percent
from tacita.risk.external.figures import Average, Figures
from tacita.risk.external.variables import Prepared

RULES = {
    "level": "a missing released category agrees with a missing one only",
    "any": "a missing released value stands for anything",
}


def notes_of(
    tolerance: float, suppressed: str, weighted: bool, other: Figures | None, averaged: Average | None
) -> tuple[str, ...]:
    """How numbers and missing values were compared, and what stands beside the four figures."""
    lines = [f"numbers agree within {percent(tolerance)} of the released one; {RULES[suppressed]}"]
    if other is not None:
        beside = RULES["any" if suppressed == "level" else "level"]
        lines.append(f"in the column beside the shares {beside}")
    if averaged is not None:
        how = "all" if averaged.draws is None else f"{averaged.draws:,} draws of"
        lines.append(
            f"variables that he knows with some probability count as known; the average is over {how} "
            f"{check.counted(averaged.sets, 'set')} of variables that he may know"
        )
    if weighted:
        lines.append("guesses are among as many people as the weights of the pairs add up to")
    return tuple(lines)


def cautions_of(ready: list[Prepared], nothing_learned: bool) -> tuple[str, ...]:
    """Variables that the release recoded or seems to have exchanged."""
    lines = []
    recoded = [each.compared.name for each in ready if each.recoded]
    if recoded:
        lines.append(
            f"{check.quoted(recoded)}: the release holds other values than the original (classes, top codes, "
            f"rounding?); the intruder is taken to recode what he knows in the same way."
        )
    exchanged = [each.compared.name for each in ready if each.exchanged]
    if exchanged:
        lines.append(
            f"{check.quoted(exchanged)}: values look exchanged, as by noise or swapping, and are compared as they are; "
            f"if they were recoded, the risk is higher."
        )
    if nothing_learned:
        lines.append(
            "nobody knows which records of original and release are the same: a variable that was recoded reads as "
            "protected."
        )
    return tuple(lines)
