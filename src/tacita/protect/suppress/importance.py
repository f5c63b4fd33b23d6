"""What a blank costs: the importance of the variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacita import check
from tacita.check import TacitaError


def costs_of(keys: Sequence[str], importance: Mapping[str, int] | None) -> list[float]:
    """What a blank of each key costs: q + 1 - rank, rank 1 the most important; 1 each without importance.

    Keys without a rank are among the least important. Ties are allowed.

    >>> costs_of(["region", "sex", "age"], {"region": 1, "sex": 3, "age": 3})
    [3.0, 1.0, 1.0]
    """
    if not importance:
        return [1.0] * len(keys)
    check.columns_exist("importance", list(importance), keys)
    ranks = {name: check.whole(f"importance of {name!r}", rank, 1) for name, rank in importance.items()}
    high = [name for name, rank in ranks.items() if rank > len(keys)]
    if high:
        raise TacitaError(f"importance must be ranks from 1 to the {len(keys)} keys; got {ranks[high[0]]}.")
    return [float(len(keys) + 1 - ranks.get(name, len(keys))) for name in keys]


def importance_from_suda(contributions: Mapping[str, float]) -> dict[str, int]:
    """Ranks of importance from how much each variable contributes to the SUDA scores.

    What makes records special is suppressed first: the variable with the highest contribution gets the last rank. Equal
    contributions get the same rank. `Suda.importance` gives the same for a SUDA result.

    >>> importance_from_suda({"region": 10.0, "sex": 5.0, "age": 85.0})
    {'region': 2, 'sex': 1, 'age': 3}
    """
    given = check.mapping("contributions", contributions)
    shares = {name: check.number(f"contribution of {name!r}", share) for name, share in given.items()}
    return {name: 1 + sum(other < share for other in shares.values()) for name, share in shares.items()}
