"""A scheme of mu-ARGUS: ranges of old codes, each with its new one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tacita import check
from tacita.check import TacitaError
from tacita.parameters import Doc, Shape
from tacita.protect.recode.argus_scheme import Range, load_scheme, parse_scheme, scheme_places, whole_codes
from tacita.protect.recode.hierarchies.table import as_text
from tacita.protect.recode.regroup import is_number
from tacita.protect.recode.ways.new_values import Labels, Unmatched, targeted, unknown_values
from tacita.protect.recode.ways.way import Grouping, Source, Way, absent


def scheme_text(what: str, given: Any) -> str:
    """The text of a scheme that stands for itself."""
    if not isinstance(given, str):
        raise TacitaError(f"{what} must be the text of a scheme or the path of one; got {check.given(given)}.")
    codelist = parse_scheme(given).codelist
    if codelist is not None:
        raise TacitaError(
            f"line {codelist[0]} of the scheme names a code list, which is looked for beside a file; pass the path "
            f"of the scheme, or labels in place of the line."
        )
    return given


@dataclass(frozen=True)
class ArgusScheme(Way):
    """A scheme of mu-ARGUS, as text or the path of a .grc file, which is read at once.

    >>> ArgusScheme("1: -17").named_codes
    frozenset()
    """

    scheme: Annotated[
        Any,
        Shape("text of a scheme, or the path of one (.grc)", scheme_text),
        Doc("A scheme of mu-ARGUS: on each line a new code, a colon, old codes or ranges."),
    ]
    unmatched: Unmatched = "keep"
    labels: Labels = ()

    def __post_init__(self) -> None:
        given = self.scheme
        named = isinstance(given, str) and given.lower().endswith(".grc") and "\n" not in given
        if named or isinstance(given, os.PathLike):
            text, labels = load_scheme(Path(str(given)))
            # A plan holds what it does, not where that once lay.
            self._set(scheme=text, labels=labels if absent(self.labels) else self.labels)
        super().__post_init__()

    @property
    def named_codes(self) -> frozenset[str]:
        """The old codes that stand by themselves, not in a range."""
        ranges = parse_scheme(self.scheme).ranges
        return frozenset(each.low for each in ranges if each.low == each.high and each.low)

    def grouping(self, source: Source) -> Grouping:
        """The code that the scheme gives every value."""
        scheme, numeric = parse_scheme(self.scheme), source.numeric
        _check_not_declared(source, scheme.ranges)
        codes = [code for code in source.code_list if not numeric or is_number(code)]
        places = scheme_places(
            scheme, codes if numeric else [as_text(code) for code in codes], source.name, numeric=numeric
        )
        new = list(dict.fromkeys([*(each.target for each in scheme.ranges), *scheme.missing]))
        whole = whole_codes(new) if numeric else None
        fresh: dict[str, Any] = dict(zip(new, whole or new, strict=True))
        targets = {code: None if at is None else fresh[at.target] for code, at in zip(codes, places, strict=True)}
        found = targeted(source, targets, self.labels, self.unmatched, "scheme")
        single = dict.fromkeys(each.low for each in scheme.ranges if each.low == each.high)
        found = found.with_remark(unknown_values(source, single, "scheme"))
        if found.groups is None or not scheme.missing:
            return found
        declared = _new_missing(source, [fresh[code] for code in scheme.missing])
        return found._replace(groups=found.groups._replace(declared=declared))


def _check_not_declared(source: Source, ranges: Iterable[Range]) -> None:
    """No line makes a value of a missing one."""
    declared = {as_text(code) for code in source.declared}
    for each in ranges:
        if each.low is not None and each.low == each.high and each.low in declared:
            raise TacitaError(
                f"line {each.line} of the scheme recodes a code of {source.name!r} that is declared missing; take it "
                f"out."
            )


def _new_missing(source: Source, codes: list[Any]) -> dict[Any, Any]:
    """The first code declared missing becomes the first new one, the second the second, all others the last."""
    old = [code for code in source.declared if code not in source.known.not_applicable]
    return {code: codes[min(at, len(codes) - 1)] for at, code in enumerate(old)}
