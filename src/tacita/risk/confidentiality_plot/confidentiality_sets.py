"""Several key sets in one call: all tables of Seri and Polettini (2003)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from tacita import check, frame
from tacita.check import TacitaError
from tacita.distance.scenario_keys import numeric_keys
from tacita.measures import measure, own_rule
from tacita.parameters import Doc
from tacita.progress import Progress, no_progress
from tacita.progress import part as part_of
from tacita.result import Result, Table
from tacita.risk.confidentiality_plot.confidentiality import confidentiality
from tacita.risk.confidentiality_plot.options import shared_options
from tacita.risk.confidentiality_plot.result import Confidentiality
from tacita.risk.confidentiality_plot.tables import ks_text, rank_text
from tacita.scenario import Scenario


@dataclass(frozen=True, eq=False)
class ConfidentialitySets(Result):
    """The confidentiality of one file under several key sets. `print` shows the tables of the reference."""

    figure: ClassVar[str | None] = "confidentiality_panels"

    parts: Mapping[str, Confidentiality]
    """By name of the key set."""

    def _headlines(self) -> list[str]:
        return [f"{name}: {part.headline}" for name, part in self.parts.items()]

    @property
    def headline(self) -> str:
        """Records in the unsafe zone on the first key set."""
        return self._headlines()[0]

    def sentences(self) -> list[str]:
        """The same on the other key sets."""
        return self._headlines()[1:]

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the reader should know, by key set."""
        return tuple(sorted({f"{name}: {text}" for name, part in self.parts.items() for text in part.cautions}))

    @property
    def notes(self) -> tuple[str, ...]:
        """How the figures came about."""
        return tuple(dict.fromkeys(note for part in self.parts.values() for note in part.notes))

    def tables(self) -> tuple[Table, ...]:
        """The tables of Seri and Polettini (2003)."""
        found: list[list[Table]] = []
        if any(part.ratios is not None for part in self.parts.values()):
            title = "Kolmogorov-Smirnov distance D of z over true links and over other pairs, with nominal ln p"
            found.append(self._ks_tables(title))
        found += [[part.printed_table(f"{name}: {', '.join(part.keys)}")] for name, part in self.parts.items()]
        for size, part in self._by_size().items():
            head, *rows = rank_text(part.labels, part.ranked, part.ranks)
            title = f"Which of the ten largest units by {size} keep their rank"
            found.append([Table(head, tuple(rows), title, indent="")])
        numbered = [
            (replace(first, title=f"Table {number}. {first.title}"), *others)
            for number, (first, *others) in enumerate(found, start=1)
        ]
        return tuple(table for group in numbered for table in group)

    def ks_text(self) -> str:
        """Table 1 for print."""
        return "\n".join(table.text() for table in self._ks_tables(""))

    def _ks_tables(self, title: str) -> list[Table]:
        """Key sets that leave out different records have a table each."""
        groups: dict[tuple[Any, ...], dict[str, Confidentiality]] = {}
        for name, part in self.parts.items():
            groups.setdefault((part.labels, tuple(part.records.tolist())), {})[name] = part
        tables: list[Table] = []
        for group in groups.values():
            first, *_ = group.values()
            head, *rows = ks_text(first.labels, first.records, {name: part.ratios for name, part in group.items()})
            tables.append(Table(head, tuple(rows), "" if tables else title, indent=""))
        return tables

    def ks_table(self) -> frame.Frame:
        """Table 1: one row per key set and stratum, with D and ln p."""
        return self._stacked({name: part.ks_table() for name, part in self.parts.items()})

    def rank_table(self) -> frame.Frame:
        """Table 6: one row per stratum and size variable, with the ranks that are kept."""
        return self._stacked({size: part.rank_table() for size, part in self._by_size().items()}, "size")

    def _by_size(self) -> dict[str, Confidentiality]:
        """The first key set of each size variable."""
        found: dict[str, Confidentiality] = {}
        for part in self.parts.values():
            found.setdefault(part.size, part)
        return found

    def to_frame(self) -> frame.Frame:
        """Tables 2 to 5: one row per key set and stratum."""
        return self._stacked({name: part.table() for name, part in self.parts.items()})

    def to_dict(self) -> dict[str, Any]:
        """The figures of the file by key set."""
        return {name: part.to_dict() for name, part in self.parts.items()}

    @staticmethod
    def _stacked(tables: Mapping[str, frame.Frame], what: str = "keys") -> frame.Frame:
        named = [frame.beside(frame.table({what: [name] * each.height}), each) for name, each in tables.items()]
        return frame.stacked(named)


@measure(
    files=2,
    needs="numeric_keys",
    figure="confidentiality_panels",
    missing=own_rule("Records with a missing numeric key in either file are left out and counted."),
)
def confidentiality_sets(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    key_sets: Annotated[Any, Doc("Lists of numeric keys, by name or one after the other; the scenario's.")] = None,
    progress: Progress = no_progress,
    **options: Any,
) -> ConfidentialitySets:
    """`confidentiality` for several key sets at once: the tables of Seri and Polettini (2003) in one call.

    `key_sets` are lists of numeric keys by name, or just lists, which are then called case 1, case 2, and so on;
    without them there is one set, the numeric keys of the scenario. Options are those of `confidentiality`.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"turnover": [10.0, 11.0, 300.0], "employees": [3.0, 4.0, 90.0]})
    >>> scenario = Scenario(numeric_keys=["turnover", "employees"])
    >>> sets = {"one": ["turnover"], "two": ["turnover", "employees"]}
    >>> found = confidentiality_sets(firms, firms, scenario, key_sets=sets, delta=0.2)
    >>> [part.neighbours.tolist() for part in found.parts.values()]
    [[2, 2, 1], [2, 2, 1]]
    """
    given = shared_options("confidentiality_sets", confidentiality, options, "key_sets={'small': [...]}")
    if key_sets is None:
        key_sets = {"numeric keys": numeric_keys("confidentiality_sets", scenario, None)}
    if isinstance(key_sets, Sequence) and not isinstance(key_sets, str):
        key_sets = {f"case {number}": keys for number, keys in enumerate(key_sets, start=1)}
    sets = check.mapping("key_sets", key_sets)
    if not sets:
        raise TacitaError("name at least one set of keys; pass key_sets={'small': [...], 'large': [...]}.")
    found = {}
    for index, (name, keys) in enumerate(sets.items()):
        share = part_of(progress, index / len(sets), (index + 1) / len(sets))
        keys = numeric_keys("confidentiality_sets", scenario, check.names(f"keys of {name!r}", keys))
        found[name] = confidentiality(original, released, scenario, keys=keys, progress=share, **given)
    return ConfidentialitySets(found)
