"""Slow second implementations, straight from the definitions: what the fast code must equal.

Every record is compared with every record, sums are exact (fractions) or correctly rounded (fsum), and nothing is
shared with the package. Meant for files of up to about 200 records. Keys are a list of tuples, None is missing.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import fsum, prod
from statistics import median

import mpmath

Key = tuple[object, ...]
Keys = Sequence[Key]
Factor = Callable[[int, int], Fraction | int]


# Frequencies. A rule is a function factor(i, h): how much record h counts for record i.


def is_complete(key: Key) -> bool:
    return None not in key


def could_match(a: Key, b: Key) -> bool:
    """Wildcard in both directions: on every key equal, or missing in at least one of the two."""
    return all(x == y or x is None or y is None for x, y in zip(a, b, strict=True))


def shows_all_of(h: Key, i: Key) -> bool:
    """h shows the same value on every key that i shows."""
    return all(y == x for x, y in zip(i, h, strict=True) if x is not None)


def share_by_categories(keys: Keys, i: int, h: int) -> Fraction:
    """Product of 1/number of observed categories, over the keys that i shows and h does not."""
    result = Fraction(1)
    for j, value in enumerate(keys[i]):
        if value is not None and keys[h][j] is None:
            result /= len({key[j] for key in keys if key[j] is not None})
    return result


def share_expected(keys: Keys, i: int, h: int) -> Fraction:
    """Product of the shares with i's value, over the keys that i shows and h does not.

    The share on key j is taken among the *other* records that show j and agree with i on all other keys i shows, 0 if
    there are none: a record must not vouch for its own value.
    """
    result = Fraction(1)
    for j, value in enumerate(keys[i]):
        if value is None or keys[h][j] is not None:
            continue
        others = [m for m, other in enumerate(keys[i]) if m != j and other is not None]
        rest = [key for other, key in enumerate(keys) if other != i]
        shown = [key[j] for key in rest if key[j] is not None and all(key[m] == keys[i][m] for m in others)]
        result *= Fraction(shown.count(value), len(shown)) if shown else 0
    return result


def partial_factor(keys: Keys, c: float | str) -> Factor:
    def factor(i: int, h: int) -> Fraction | int:
        if not could_match(keys[i], keys[h]):
            return 0
        if not is_complete(keys[i]) or is_complete(keys[h]):
            return 1
        if c == "categories":
            return share_by_categories(keys, i, h)
        if c == "expected":
            return share_expected(keys, i, h)
        return Fraction(str(c))

    return factor


def sdcmicro_factor(keys: Keys, alpha: float) -> Factor:
    """The reference program's rule, with its quirks for records missing on all keys and for one single key."""

    def factor(i: int, h: int) -> Fraction | int:
        a, b = keys[i], keys[h]
        if a == b or not any(value is not None for value in a):
            return 1  # the same pattern counts in full; a record missing on all keys counts the whole file
        if not could_match(a, b):
            return 0
        if is_complete(b):
            return 1  # complete b, so a has a missing value: alpha is not applied in this direction
        if is_complete(a) and len(a) > 1 and all(value is None for value in b):
            return 0  # missing on all of several keys: adds nothing to complete records
        return Fraction(alpha)

    return factor


def rule_factor(keys: Keys, rule: str, c: float | str | None, alpha: float | None) -> Factor:
    if rule == "wildcard":
        return lambda i, h: int(could_match(keys[i], keys[h]))
    if rule == "conservative":
        return lambda i, h: int(keys[i] == keys[h] if is_complete(keys[i]) else could_match(keys[i], keys[h]))
    if rule == "partial" and c is not None:
        return partial_factor(keys, c)
    if rule == "no_match":
        return lambda i, h: int(keys[i] == keys[h] if is_complete(keys[i]) else i == h)
    if rule == "own_category":
        return lambda i, h: int(keys[i] == keys[h])
    if rule == "one_way":
        return lambda i, h: int(shows_all_of(keys[h], keys[i]))
    if rule == "sdcmicro" and alpha is not None:
        return sdcmicro_factor(keys, alpha)
    raise ValueError(f"no such rule, or its c or alpha is not given: {rule}")


def frequencies(
    keys: Keys, weights: Sequence[float], rule: str, c: float | str | None = None, alpha: float | None = None
) -> tuple[list[float], list[float]]:
    """Sample frequency f and sum of weights F of every record; weights get the same factor as counts."""
    factor = rule_factor(keys, rule, c, alpha)
    f, F = [], []
    for i in range(len(keys)):
        counting = [(a, w) for h, w in enumerate(weights) if (a := factor(i, h))]
        f.append(float(sum(a for a, _ in counting)))
        whole = all(a == 1 for a, _ in counting)
        F.append(fsum(w for _, w in counting) if whole else float(sum(a * Fraction(w) for a, w in counting)))
    return f, F


def frequencies_of_units(
    keys: Keys,
    units: Sequence[object],
    weights: Sequence[float],
    rule: str,
    c: float | str | None = None,
    alpha: float | None = None,
) -> tuple[list[float], list[float]]:
    """f and F of every record counted in units: each unit with a record that counts, once, by the one that counts most
    and with the mean weight of those that count. A record without a unit (None) is a unit of its own."""
    factor = rule_factor(keys, rule, c, alpha)
    unit = [("alone", h) if each is None else ("unit", each) for h, each in enumerate(units)]
    f, F = [], []
    for i in range(len(keys)):
        counts: dict[object, list[tuple[Fraction, Fraction]]] = {}
        for h, w in enumerate(weights):
            if (a := factor(i, h)) > 0:
                counts.setdefault(unit[h], []).append((Fraction(a), Fraction(w)))
        most = {each: max(a for a, _ in found) for each, found in counts.items()}
        f.append(float(sum(most.values())))
        F.append(float(sum(most[each] * sum(w for _, w in found) / len(found) for each, found in counts.items())))
    return f, F


def expected_units(risks: Sequence[float], attack: Sequence[float], units: Sequence[object]) -> float:
    """Expected re-identifications of units: each with the greatest P(L) r of its records."""
    unit = [("alone", h) if each is None else ("unit", each) for h, each in enumerate(units)]
    most: dict[object, float] = {}
    for each, r, p in zip(unit, risks, attack, strict=True):
        most[each] = max(most.get(each, 0.0), r * p)
    return fsum(most.values())


def k_anonymity_violations(f: Sequence[float], k: float) -> int:
    return sum(frequency < k for frequency in f)


# Individual risk, attacks, threshold.


def individual_risk(f: Sequence[float], F: Sequence[float], method: str) -> list[float]:
    """E[1/F | f] = (p^f / f) 2F1(f, f; f+1; 1-p), p = min(1, f/F); approximate: p / (f - (1-p)) where f > 2."""
    if method not in ("exact", "approximate"):
        raise ValueError(f"no such method: {method}")
    risks = []
    with mpmath.workdps(40):
        for count, total in zip(f, F, strict=True):
            m = mpmath.mpf(count)
            p = min(mpmath.mpf(1), m / mpmath.mpf(total))
            if p == 1:
                risk = 1 / m
            elif method == "approximate" and count > 2:
                risk = p / (m - (1 - p))
            else:
                risk = p**m / m * mpmath.hyp2f1(m, m, m + 1, 1 - p)
            risks.append(float(risk))
    return risks


def attack_probability(
    model: str, f: Sequence[float], F: Sequence[float], w: Sequence[float], n: int, p: float | None = None
) -> list[float]:
    """P(L_i) of every record, at most 1 (where F < f or a weight is below 1)."""
    if model == "M1":
        return [1 / n] * len(f)
    if model == "M2":
        return [min(1.0, count / total) for count, total in zip(f, F, strict=True)]
    if model == "M3":
        return [1.0] * len(f)
    if model == "M4" and p is not None:
        return [p] * len(f)
    if model == "M5":
        return [min(1.0, 1 / weight) for weight in w]
    raise ValueError(f"no such attack model, or its p is not given: {model}")


def expected_reidentifications(risks: Sequence[float], attack: Sequence[float]) -> float:
    """ER = sum over records (never over keys) of P(L_i) r_i."""
    return fsum(a * r for a, r in zip(attack, risks, strict=True))


def key_error_bounds(
    risks: Sequence[float], attack: Sequence[float], error_rates: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Lower and upper risk of every record: P(L_i) prod_j(1 - error_j) r_i and P(L_i) r_i."""
    no_error = prod(1 - rate for rate in error_rates)
    upper = [a * r for a, r in zip(attack, risks, strict=True)]
    return [no_error * r for r in upper], upper


def bound_after_protection(risks: Sequence[float], attack: Sequence[float], threshold: float) -> float:
    """B(r^t) = sum of P(L_i) min(r_i, r^t)."""
    return fsum(a * min(r, threshold) for a, r in zip(attack, risks, strict=True))


def threshold_for_total(risks: Sequence[float], attack: Sequence[float], tolerated: float) -> float | None:
    """Greatest observed risk with B within the tolerated total; None if ER is within it: nothing is at risk."""
    if expected_reidentifications(risks, attack) <= tolerated:
        return None
    within = [r for r in risks if bound_after_protection(risks, attack, r) <= tolerated]
    return max(within) if within else tolerated / fsum(attack)


# Households, benchmark, attackers.


def household_risk(risks: Sequence[float], households: Sequence[object]) -> tuple[list[float], float, float]:
    """Risk of every record's household, expected persons in re-identified households, expected such households."""
    members: dict[object, list[int]] = {}
    for i, household in enumerate(households):
        members.setdefault(("alone", i) if household is None else ("household", household), []).append(i)
    per_record, per_household = [0.0] * len(risks), []
    for records in members.values():
        risk = float(1 - prod((1 - Fraction(risks[i]) for i in records), start=Fraction(1)))
        per_household.append(risk)
        for i in records:
            per_record[i] = risk
    return per_record, fsum(per_record), fsum(per_household)


def benchmark(
    risks: Sequence[float], floor: float = 0.1, factor: float = 3, scale: float = 1.0, strict: bool = False
) -> int:
    """Number of records at or above (strict: above) both the floor and median + factor x scale x MAD."""
    middle = median(risks)
    bound = middle + factor * scale * median(abs(r - middle) for r in risks)
    if strict:
        return sum(r > floor and r > bound for r in risks)
    return sum(r >= floor and r >= bound for r in risks)


def attackers(f: Sequence[float], F: Sequence[float], threshold: float) -> dict[str, float]:
    """Prosecutor (1/f), journalist (1/F) and marketer (mean over records of 1/F); above a threshold is strict."""
    n = len(f)
    prosecutor, journalist = [1 / count for count in f], [1 / total for total in F]
    return {
        "prosecutor_maximum": max(prosecutor),
        "prosecutor_mean": fsum(prosecutor) / n,
        "prosecutor_share_above": sum(risk > threshold for risk in prosecutor) / n,
        "journalist_maximum": max(journalist),
        "journalist_mean": fsum(journalist) / n,
        "marketer": fsum(1 / total for total in F) / n,
    }
