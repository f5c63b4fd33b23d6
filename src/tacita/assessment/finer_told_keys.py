"""Keys that a plan recoded or removed and that another released column tells more finely: f by the released key is too
high, so nothing can be said of the file until that column is treated, too."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tacita import check
from tacita.policy import Policy
from tacita.result import Result, Verdict
from tacita.risk.release.reconstruction.finer import FinerColumns
from tacita.risk.release.reconstruction.reconstruction import Reconstruction
from tacita.scenario import Scenario


def finer_told_keys(
    keys: Collection[str], scenario: Scenario, policy: Policy, reconstruction: Result
) -> Iterator[Verdict]:
    """For each such key a verdict that it is not assessed, with the columns and the way out."""
    assert isinstance(reconstruction, Reconstruction)
    limit = policy.given_back
    for key, finer in reconstruction.finer.items():
        if key in keys and limit is not None:
            why = "; ".join(_reasons(finer, scenario.weight))
            yield Verdict("given_back", limit, None, None, f"the key {key!r} is recoded or removed, but {why}")


def _reasons(finer: FinerColumns, weight: str | None) -> Iterator[str]:
    """What each kind of column tells, and the way out: classes of the key, the weight, identifiers."""
    classes = [name for name in finer.columns if name != weight and name not in finer.identifiers]
    if classes:
        named = [name for name in classes if name in finer.least] or classes[:1]
        others = [name for name in classes if name not in named]
        besides = f" (so {'does' if len(others) == 1 else 'do'} {check.quoted(others)})" if others else ""
        one = len(classes) == 1
        yield (
            f"{check.quoted(named)} tell{'s' if len(named) == 1 else ''} it more finely{besides}; recode or remove "
            f"{'it' if one else 'them'} alike, or name {'it' if one else 'them'} among the keys"
        )
    if weight in finer.columns:
        yield f"the weight {weight!r} tells it more finely; round the weights further, perturb or remove them"
    identifiers = [name for name in finer.identifiers if name != weight]
    if identifiers:
        what, them = ("looks like an identifier and tells", "it")
        if len(identifiers) > 1:
            what, them = ("look like identifiers and tell", "them")
        yield f"{check.quoted(identifiers)} {what} it; declare {them} as identifiers or household, or remove {them}"
