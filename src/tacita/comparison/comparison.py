"""The result of a comparison: an original and its releases side by side, with verdicts, figures and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from tacita import check, frame
from tacita.assessment.profile import RiskProfile
from tacita.check import TacitaError
from tacita.comparison import tables
from tacita.comparison.changed_cells import ChangedVariable
from tacita.data import Data
from tacita.measures import find
from tacita.policy import Policy
from tacita.result import Result, Table, Verdict, all_hold, loses_too_much, summary
from tacita.rules import Broken
from tacita.scenario import Scenario

if TYPE_CHECKING:
    from tacita.comparison.before_after import BeforeAfter
    from tacita.comparison.risk_utility import RiskUtility

OF_BOTH_FILES = ("before_after_density", "before_after_bars", "before_after_boxes", "before_after_mosaic",
                 "before_after_correlations", "before_after_lorenz")  # fmt: skip
"""Figures of the two files themselves, each of one release."""
CONFIDENTIALITY = ("confidentiality", "categorical_confidentiality")
"""The confidentiality plot: of numeric keys, or of categorical ones."""


@dataclass(frozen=True, eq=False)
class ComparedRelease:
    """One release: its risk, what it lost, what was changed."""

    name: str
    profile: RiskProfile
    """The risk of the release."""
    measures: Mapping[str, Result]
    """What else was measured of the two files, of risk and of loss, by name of the measure."""
    changes: tuple[ChangedVariable, ...]
    """By variable of the original: cells changed, suppressed, removed."""
    records: int
    """Records of the release."""
    dropped: int
    """Records of the original that it lacks."""
    added: int
    """Records that are not in the original."""
    broken: tuple[Broken, ...]
    """The declared relations that it breaks."""
    rules: int
    """How many relations were declared."""
    not_measured: Mapping[str, str] = field(default_factory=dict)
    """Measures that a comparison calls for and that could not be taken here, with the reason."""

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Whether each limit of the policy is kept, those of loss included."""
        return self.profile.verdicts()

    @property
    def safe(self) -> bool:
        """Whether every limit of risk is kept."""
        return all_hold(self.verdicts)

    @property
    def loses_too_much(self) -> tuple[str, ...]:
        """The limits of loss that are not kept."""
        return loses_too_much(self.verdicts)

    @property
    def verdict(self) -> str:
        """The verdict in one sentence, with the reasons."""
        return summary(self.verdicts)

    @property
    def word(self) -> str:
        """The verdict in a word or two: SAFE, NOT SAFE, NOT ASSESSED, NO VERDICT."""
        return self.verdict.partition(":")[0].partition(";")[0].removesuffix(" under this policy")

    def result(self, name: str) -> Result | None:
        """What a measure found of this release, wherever it was measured; None if it was not."""
        return self.measures.get(name) or self.profile.further.get(name)


@dataclass(frozen=True, eq=False)
class Comparison(Result):
    """An original and its releases: `print` it for one table, `tables()` for all, `plot()` for the map of risk and
    utility."""

    figure: ClassVar[str | None] = "risk_utility_map"
    other_figures: ClassVar[tuple[str, ...]] = ("confidentiality", *OF_BOTH_FILES)

    scenario: Scenario
    """Who knows what."""
    policy: Policy
    """What counts as safe."""
    original: RiskProfile
    """The risk of the original."""
    releases: tuple[ComparedRelease, ...]
    """The releases, in the order given."""
    original_data: Data = field(repr=False)
    """The original file: for figures of distributions; in nothing that is printed or written."""
    released_data: Mapping[str, Data] = field(repr=False)
    """By name: the released files."""
    measured_before: Mapping[str, Result] = field(default_factory=dict)
    """What measures of risk find of the original, if it were published itself, by name of the measure."""

    def __getitem__(self, name: str) -> ComparedRelease:
        """The release of a name."""
        check.one_of("release", name, [each.name for each in self.releases])
        return next(each for each in self.releases if each.name == name)

    @property
    def safe(self) -> bool:
        """Whether every release keeps every limit of risk."""
        return all(each.safe for each in self.releases)

    @property
    def headline(self) -> str:
        """The verdict on each release, in a word."""
        listed = ", ".join(f"{each.name} {each.word}" for each in self.releases)
        return (
            f"{check.counted(len(self.releases), 'release')} of {check.counted(self.original.size, 'record')}: {listed}"
        )

    def sentences(self) -> list[str]:
        """The verdict on each release with its reasons, relations that are broken, what the brackets mean."""
        said = [f"{each.name}: {each.verdict}" for each in self.releases]
        said += [f"{each.name}: {broken}" for each in self.releases for broken in each.broken]
        said += [self.brackets] if self.brackets else []
        return said

    @property
    def brackets(self) -> str:
        """What figures in brackets are; empty where there are none."""
        if not any(tables.counts_do_not_hold(each.profile) for each in self.releases):
            return ""
        return (
            "Figures in brackets count equal keys although keys or weights were perturbed: they do not measure risk; "
            "see what an intruder links."
        )

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the reader should know, of the original and of each release; said once."""
        of_original = set(self.original.cautions)
        found = [*self.original.cautions]
        for each in self.releases:
            own = [*each.profile.cautions, *(text for result in each.measures.values() for text in result.cautions)]
            own += [f"{name} was not measured: {why}" for name, why in each.not_measured.items()]
            found += [f"{each.name}: {text}" for text in dict.fromkeys(own) if text not in of_original]
        return tuple(found)

    def first_screen(self) -> tuple[Table, ...]:
        """What an intruder gains, what a researcher loses and what was changed: a column for each release."""
        return tables.first_screen(self)

    def blocks(self) -> list[list[tables.Block]]:
        """The lines of the first screen with what they mean: a list of blocks for each few releases."""
        size = tables.MOST_COLUMNS
        parts = [self.releases[start : start + size] for start in range(0, len(self.releases), size)]
        return [tables.blocks(self, shown) for shown in parts]

    def tables_behind(self) -> tuple[Table, ...]:
        """The tables behind the first screen."""
        return tables.behind(self)

    @property
    def usual_risk(self) -> str:
        """The risk that the map shows: external risk where it was measured, otherwise the re-identification rate."""
        from tacita.comparison.points import usual_risk

        return usual_risk(self)

    def risk_tables(self) -> tuple[Table, ...]:
        """Records below each k, the spread of the individual risk, global risk: a column or two for each release."""
        return tables.of_risk(self)

    def tables(self) -> tuple[Table, ...]:
        """The first screen, then the tables behind it: records below k, risk, loss, changes."""
        return (*self.first_screen(), *self.tables_behind())

    def __str__(self) -> str:
        first = [self.headline, *self.sentences(), *(table.text() for table in self.first_screen())]
        count = len(self.cautions)
        return "\n".join([*first, *([f"\n{check.counted(count, 'caution')}: see details()"] if count else [])])

    def details(self) -> str:
        """All tables and cautions, as text."""
        first = [self.headline, *self.sentences(), *(table.text() for table in self.tables())]
        return "\n".join([*first, "", *(f"caution: {text}" for text in self.cautions)])

    def to_frame(self) -> frame.Frame:
        """One row per release, the original first: every figure of the first screen."""
        return tables.as_frame(self)

    def frames(self) -> dict[str, frame.Frame]:
        """The tables behind the first screen as frames, by their titles."""
        return {table.title: tables.frame_of(table) for table in tables.behind(self)}

    def to_dict(self) -> dict[str, Any]:
        """All figures, no values of the data."""
        return {
            "scenario": self.scenario.to_dict(),
            "policy": self.policy.to_dict(),
            "original": self.original.to_dict(),
            "releases": {each.name: _figures(each) for each in self.releases},
        }

    def risk_utility(self, risk: str | None = None, loss: str | None = None) -> RiskUtility:
        """Each release as a point: what an intruder gains across from what a researcher loses.

        `risk` and `loss` are measures that were compared, shown by their first key figure; risk is external risk where
        it was measured, otherwise the re-identification rate; loss is that of values where it was measured, which needs
        a variable that holds the same kind of values in both files, otherwise the first that was.
        """
        from tacita.comparison.points import points_of

        return points_of(self, risk, loss)

    def before_after(self, release: str | None = None, **options: Any) -> BeforeAfter:
        """Distributions of both files, for figures: of one release, the first unless named."""
        from tacita.comparison.before_after import before_after

        name = self._name_of(release)
        return before_after(self.original_data, self.released_data[name], self.scenario, **options)

    def _name_of(self, release: str | None) -> str:
        return self.releases[0].name if release is None else self[release].name

    def plot(self, figure: str | None = None, *, release: str | None = None, **options: Any) -> Any:
        """A figure: the map of risk and utility, or one of a single release, the first unless named."""
        name = self.figures()[0] if figure is None else check.one_of("figure", figure, self.figures())
        if name == "risk_utility_map":
            chosen = {key: options.pop(key) for key in ("risk", "loss") if key in options}
            return self.risk_utility(**chosen).plot(**options)
        if name in OF_BOTH_FILES:
            return self.before_after(release).plot(name, **options)
        return self.confidentiality(release).plot(**options)

    def confidentiality(self, release: str | None = None) -> Result:
        """The confidentiality plot of a release: the one that was measured, or that of its categorical keys."""
        compared = self[self._name_of(release)]
        measured = [result for key in CONFIDENTIALITY if (result := compared.result(key)) is not None]
        if measured:
            return measured[0]
        who = compared.profile.scenario
        if not who.keys:
            raise TacitaError("there is no confidentiality plot to draw: the scenario names no keys.")
        files = self.original_data, self.released_data[compared.name]
        return find("categorical_confidentiality").function(*files, who, policy=self.policy)


def _figures(release: ComparedRelease) -> dict[str, Any]:
    return {
        "verdict": release.verdict,
        "safe": release.safe,
        "risk": release.profile.to_dict(),
        "measures": {name: result.to_dict() for name, result in release.measures.items()},
        "records": release.records,
        "dropped": release.dropped,
        "added": release.added,
        "changes": {
            each.name: {"cells": each.cells, "changed": each.changed, "suppressed": each.suppressed}
            for each in release.changes
        },
        "broken_rules": [each.to_dict() for each in release.broken],
    }
