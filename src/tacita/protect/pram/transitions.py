"""Transition matrices out of a release, or out of the file that it wrote, for those who correct their tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.mechanism import Mechanism

KIND = "transition"
Category = tuple[str | None, ...]
SINGULAR = 1e-12
"""Least ratio of singular values of a matrix that can be inverted."""


class Transition(NamedTuple):
    """One matrix: of one variable or several together, in the whole file or in one stratum."""

    variables: tuple[str, ...]
    categories: tuple[Category, ...]
    """By row and column: the value of each variable, as text."""
    matrix: Floats
    keeps: str
    """What stays in expectation: counts, weighted totals, or nothing."""
    unchanged: tuple[str, ...]
    """Codes that are never exchanged."""
    stratum: Mapping[str, str | None]
    """Values of the variables that make the stratum; none: the whole file."""

    def stays(self, category: Category) -> bool:
        """Whether records of this category were never exchanged, because a value is missing or a declared code."""
        return any(value is None or value in self.unchanged for value in category)

    def inverse(self) -> Floats:
        """The inverse of the matrix; one that has none is an error."""
        values = np.linalg.svd(self.matrix, compute_uv=False)
        if len(values) and values[-1] <= SINGULAR * values[0]:
            raise TacitaError(
                f"the transition matrix of {check.quoted(self.variables)} cannot be inverted, so that tables cannot be "
                f"corrected for it; take an alpha below 1, or a greater diagonal, before the release."
            )
        return np.asarray(np.linalg.inv(self.matrix), dtype=np.float64)


Groups = dict[tuple[str, ...], list[Transition]]
"""By variables that were exchanged together: their transition, or one for each stratum."""


def transitions_of(source: Any) -> tuple[Transition, ...]:
    """All transitions of a release, of mechanisms, or of a file that a release wrote."""
    found = [each for each in _mechanisms(source) if each.get("kind") == KIND]
    made = tuple(_transition(each) for each in found)
    if not made:
        raise TacitaError(
            "there is no transition matrix here; publish it with Pram(..., publish_matrix=True), or take the internal "
            "log."
        )
    return made


def _mechanisms(source: Any) -> Iterable[Mapping[str, Any]]:
    changes = getattr(source, "changes", None)
    if changes is not None:
        return [mechanism for change in changes for mechanism in change.mechanisms]
    if isinstance(source, str | Path):
        return _of_file(Path(source))
    if check.is_list(source) and not isinstance(source, Mapping):
        listed = [each.to_dict() if isinstance(each, Mechanism) else each for each in source]
        if all(isinstance(each, Mapping) for each in listed):
            return listed
    raise TacitaError(
        f"transitions must be a release, its file of matrices, or mechanisms; got a {type(source).__name__}."
    )


def _of_file(path: Path) -> Iterable[Mapping[str, Any]]:
    """The mechanisms of `transition_matrices.json` or `log.json`."""
    wanted = f"{path.name} is no file of transition matrices; take transition_matrices.json or log.json of a release."
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise TacitaError(f"{path.name} cannot be read: {reason}; check the path of the matrices.") from None
    except ValueError:
        raise TacitaError(wanted) from None
    parts = document.get("steps", [document]) if isinstance(document, dict) else None
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise TacitaError(wanted)
    listed = [mechanism for part in parts for mechanism in part.get("mechanisms", [])]
    if not all(isinstance(each, dict) for each in listed):
        raise TacitaError(wanted)
    return listed


def _transition(given: Mapping[str, Any]) -> Transition:
    names = tuple(given.get("variables", ()))
    what = f"the transition of {check.quoted(names)}"
    parameters = given.get("parameters", {})
    if "matrix" not in parameters or "categories" not in parameters:
        raise TacitaError(f"{what} is published without its matrix; ask the office for it.")
    if parameters.get("only"):
        raise TacitaError(
            f"{what} is for some of the records only, and nobody sees which; tables cannot be corrected for it."
        )
    try:
        categories = tuple((each,) if isinstance(each, str) else tuple(each) for each in parameters["categories"])
        matrix = np.array(parameters["matrix"], dtype=np.float64).reshape(len(categories), len(categories))
    except (TypeError, ValueError):
        raise TacitaError(f"{what} has a matrix that does not fit its categories; check the file.") from None
    return Transition(
        names,
        categories,
        matrix,
        str(parameters.get("keeps", "nothing")),
        tuple(parameters.get("unchanged", ())),
        dict(parameters.get("stratum", {})),
    )


def by_variables(transitions: Sequence[Transition], names: Sequence[str]) -> Groups:
    """The transitions that concern some variables, those of one matrix or one set of strata together."""
    groups: Groups = {}
    for each in transitions:
        if set(each.variables) & set(names):
            groups.setdefault(each.variables, []).append(each)
    touched = [name for group in groups for name in group]
    changed = {name for each in transitions for name in each.variables}
    for group, listed in groups.items():
        strata = [tuple(each.stratum.items()) for each in listed]
        alike = len({tuple(each.stratum) for each in listed}) == 1
        if not alike or len(set(strata)) < len(strata) or any(touched.count(name) > 1 for name in group):
            raise TacitaError(
                f"{check.quoted(group)} was exchanged more than once; tables can be corrected for one step only."
            )
        if changed & set(listed[0].stratum):
            raise TacitaError(
                f"the strata of the transition of {check.quoted(group)} were exchanged themselves; tables cannot be "
                f"corrected for it."
            )
    return groups
