"""What to do about cells that other columns tell."""

from __future__ import annotations

from tacita.repeats import some
from tacita.risk.release.reconstruction.cells import Files, Protected
from tacita.risk.release.reconstruction.rounded_weights import DIGITS, classes_of_rounded
from tacita.risk.release.reconstruction.tallies import guesses, tally

WAYS = {
    "transition": "exchange it together with {} (Pram with together=True), or in strata of it",
    "synthesis": "name a rule for it and {} (Synthesise with rules)",
    "swapping": "swap it within groups of {}, or carry {} along",
}
"""What repairs, by how values were perturbed, that logic tells those that came out impossible."""


def column_repair(files: Files, protected: Protected, names: tuple[str, ...], tried: int, changed: bool) -> str:
    """What to do about cells that some columns tell; `changed`: some of them show a wrong value."""
    way = WAYS.get(protected.perturbed_by) if changed else None
    if way is not None:
        return f"{way.format(*2 * [' and '.join(map(repr, names))])}, or coarsen {'it' if len(names) == 1 else 'one'}"
    weight = files.weight
    rounded = _coarser_weights(files, protected, weight, tried) if weight is not None and weight in names else ""
    if names == (weight,):
        return f"{rounded}, or Remove it"
    others = [repr(name) for name in names if name != weight]
    ways = [f"Recode {others[0]}, Remove it" if len(others) == 1 else f"Recode or Remove {' or '.join(others)}"]
    ways += [rounded] if rounded else []
    return f"{', '.join(ways)}, or suppress it in the same records"


def _coarser_weights(files: Files, protected: Protected, weight: str, tried: int) -> str:
    """What to do with a weight that tells a variable, short of removing it: the finest rounding that ends that.

    Kept to their total, weights are rounded up where they are greatest, and that can tell the variable again.
    """
    values, rows = files.numbers(weight), protected.shown_rows
    if values is None:
        return f"perturb {weight!r} with WeightNoise()"
    for digits in DIGITS:
        codes = classes_of_rounded(values, digits)
        found = tally(codes[rows], protected.shown[rows], protected.codes, some(protected.repeats, rows))
        said = guesses(found, codes[protected.rows], protected, tried, whole=True)
        if not said.of(codes[protected.rows]).any():
            return f"round {weight!r} with RoundWeights(digits={digits}, keep_total=False)"
    return f"perturb {weight!r} with WeightNoise()"
