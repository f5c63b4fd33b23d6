"""A project file: one TOML file that says everything about a release, from the data to the folder that it goes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from tacita import check
from tacita.assessment.assess import assess
from tacita.assessment.profile import RiskProfile
from tacita.assessment.text import only_numbers, repair_lines
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.data.files import read
from tacita.data.large_data import LargeData
from tacita.data.reading import declared_scales
from tacita.data.variable_tables import tables_of, variables_of
from tacita.declared import FORMAT, toml_document, toml_text
from tacita.policy import Policy, checked_policy
from tacita.progress import Progress, no_progress, part
from tacita.release.judged import checked_reason
from tacita.release.plan import Plan
from tacita.release.release import FORMATS, Release
from tacita.result import Percent, Table, summary
from tacita.rules import Rule, rule_of
from tacita.scenario import Scenario, checked

READING = ("delimiter", "encoding", "decimal", "missing", "sheet", "catalog")
"""Options of `read` that a project can give."""
SECTIONS = ("format", "data", "variables", "scenario", "policy", "plan", "rules", "release", "app")


@dataclass(frozen=True)
class Protection:
    """What running a project gave: the release, and the risk before and after."""

    release: Release
    before: RiskProfile
    after: RiskProfile

    @property
    def safe(self) -> bool:
        """Whether the release keeps the policy."""
        return self.after.safe

    def __str__(self) -> str:
        table = _before_after(self.before, self.after)
        of_steps = self.release.cautions
        cautions = [f"caution: {each}" for each in self.after.cautions if each not in of_steps]
        numbers = [] if self.after.sets else [only_numbers(self.after)]
        figures = [table.text()] if table.rows else []
        return "\n".join([*self._verdict(), *numbers, *figures, "", str(self.release), *cautions])

    def details(self) -> str:
        """The whole assessment before and after, and the steps between them."""
        return "\n".join(
            [
                *self._verdict(),
                "",
                "Before",
                str(self.before),
                "",
                "Steps",
                str(self.release),
                "",
                "After",
                str(self.after),
            ]
        )

    def _verdict(self) -> list[str]:
        return [
            f"The release is {summary(self.after.verdicts())} ({self.release.policy})",
            *repair_lines(self.after.repairs),
        ]


def _before_after(before: RiskProfile, after: RiskProfile) -> Table:
    """The figures of risk that the policy limits, before and after; nothing for what does not hold."""
    rows = [
        (words, *(None if not each.sets or each.main.table.not_valid else figure(each) for each in (before, after)))
        for words, figure in _figures(before.policy.k).items()
    ]
    kept = tuple(row for row in rows if any(cell is not None for cell in row[1:]))
    return Table(("", "before", "after"), kept, "Risk")


def _figures(k: int | None) -> dict[str, Callable[[RiskProfile], Any]]:
    of_k = {} if k is None else {f"records below k = {k}": lambda each: each.main.k_anonymity.below(k)}
    return of_k | {
        "expected re-identifications": lambda each: each.expected,
        "re-identification rate": lambda each: Percent(each.rate),
        "highest individual risk": lambda each: each.main.individual.spread.maximum,
        "highest household risk": lambda each: None if each.household is None else float(each.household.risk.max()),
    }


@dataclass(frozen=True, kw_only=True)
class Project:
    """Everything about a release in one file: data, scenario, policy, plan, rules, and where it goes.

    Paths in the file are relative to it. The seed of the draws is secret and no part of a project; a file that the app
    saved holds it in `app`, so that the app can go on where it was, and stays in the office.

    >>> project = Project(data="survey.csv", scenario=Scenario(keys=["sex", "age"]), plan=Plan())
    >>> Project.from_toml(project.to_toml()) == project
    True
    """

    data: str
    """The survey file."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """Options of `read`: delimiter, encoding, decimal, missing, sheet, catalog."""
    variables: Mapping[str, Variable] = field(default_factory=dict)
    """What is known of the variables besides what the file says."""
    scenario: Scenario
    policy: Policy = field(default_factory=Policy)
    plan: Plan = field(default_factory=Plan)
    rules: tuple[Rule, ...] = ()
    """Relations that the release should keep."""
    folder: str = "release"
    """Where the release goes."""
    formats: tuple[str, ...] = ("parquet",)
    """What it is written as."""
    accept_unsafe: str | None = None
    """The reason for writing it as not for publication where it does not keep the policy; None: it is not written."""
    app: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What the app keeps besides, such as steps that are switched off; nothing else reads it."""
    home: Path = field(default=Path(), compare=False, repr=False)
    """The folder of the project file."""

    def run(self, *, seed: int | None = None, progress: Progress | None = None) -> Protection:
        """Read, assess, apply the plan, and assess what came out; nothing is written."""
        show = progress or no_progress
        show(0.0, "reading")
        given = {name: self.home / value if name == "catalog" else value for name, value in self.reading.items()}
        data = read(self.home / self.data, **given)
        if self.variables:
            check.columns_exist("variables", list(self.variables), data.columns)
            data = data.with_declared(self.variables).with_scales(declared_scales())
        return protect(data, self.scenario, self.policy, self.plan, rules=self.rules, seed=seed, progress=show)

    def to_dict(self) -> dict[str, Any]:
        """The sections of the file."""
        out: dict[str, Any] = {"format": FORMAT, "data": {"file": self.data, **self.reading}}
        if self.variables:
            out["variables"] = tables_of(self.variables)
        out |= {"scenario": self.scenario.to_dict(), "policy": self.policy.to_dict(), "plan": self.plan.to_dict()}
        if self.rules:
            out["rules"] = [rule.to_dict() for rule in self.rules]
        accepted = {} if self.accept_unsafe is None else {"accept_unsafe": self.accept_unsafe}
        out["release"] = {"folder": self.folder, "formats": list(self.formats), **accepted}
        if self.app:
            out["app"] = dict(self.app)
        return out

    def inputs(self) -> tuple[Path, ...]:
        """The files that running the project reads: never deleted to make room for the release."""
        return tuple(self.home / each for each in (self.data, self.reading.get("catalog")) if each)

    def to_toml(self) -> str:
        """The project as a TOML text."""
        return tomli_w.dumps(self.to_dict())

    def save(self, path: str | Path) -> Path:
        """Write the project file."""
        Path(path).write_text(self.to_toml(), encoding="utf-8")
        return Path(path)

    @classmethod
    def load(cls, path: str | Path) -> Project:
        """The project of a file."""
        path = Path(path)
        return cls.from_toml(toml_text(path, "project"), path.name, home=path.parent)

    @classmethod
    def from_toml(cls, text: str, source: str = "the text", home: Path | None = None) -> Project:
        """The project of a TOML text."""
        document = toml_document(text, source)
        unknown = [name for name in document if name not in SECTIONS]
        if unknown:
            raise TacitaError(f"{source} has a section {unknown[0]!r}; a project has {', '.join(SECTIONS[1:-1])}.")
        for name in ("data", "scenario"):
            if not isinstance(document.get(name), dict):
                raise TacitaError(f"{source} has no [{name}] table; add one.")
        for name in ("policy", "plan"):
            check.mapping(f"[{name}]", document.get(name, {}))
        file, reading = _reading(document["data"])
        rules = document.get("rules", [])
        if not isinstance(rules, list):
            raise TacitaError("rules are a list of texts, or tables each headed [[rules]].")
        return cls(
            data=file,
            reading=reading,
            variables=variables_of(document.get("variables", {})),
            scenario=Scenario.from_dict(document["scenario"]),
            policy=Policy.from_dict(document.get("policy", {})),
            plan=Plan.from_dict(document.get("plan", {})),
            rules=tuple(rule_of(each) for each in rules),
            **_release_section(document.get("release", {})),
            app=check.mapping("[app]", document.get("app", {})),
            home=home or Path(),
        )


def protect(
    data: Any,
    scenario: Scenario,
    policy: Policy | None,
    plan: Plan,
    *,
    rules: tuple[Rule, ...] = (),
    seed: int | None = None,
    progress: Progress | None = None,
) -> Protection:
    """Assess a file, apply a plan, and assess what came out."""
    show = progress or no_progress
    data, scenario, policy = Data.of(data), checked(scenario), checked_policy(policy)
    before = assess(data, scenario, policy, progress=part(show, 0.2, 0.4))
    release = plan.apply(data, scenario, policy, rules=rules, seed=seed, progress=part(show, 0.4, 0.8))
    after = release.assess(progress=part(show, 0.8, 1.0))
    return Protection(release, before, after)


def protect_large(
    large: LargeData,
    scenario: Scenario,
    policy: Policy | None,
    plan: Plan,
    *,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Protection:
    """Assess a file on an engine, work out what a plan makes of it, and assess that; nothing is written yet."""
    show = progress or no_progress
    scenario, policy = checked(scenario), checked_policy(policy)
    before = assess(large, scenario, policy, progress=part(show, 0.0, 0.1))
    release = plan.apply(large, scenario, policy, seed=seed, progress=part(show, 0.1, 0.2))
    after = release.assess(progress=part(show, 0.2, 0.3))
    return Protection(release, before, after)


def _release_section(given: Any) -> dict[str, Any]:
    """Where the release goes, as what, and why though it is not safe."""
    release = check.mapping("[release]", given)
    wrong = [name for name in release if name not in ("folder", "formats", "accept_unsafe")]
    if wrong:
        raise TacitaError(f"[release] has folder, formats and accept_unsafe; got {check.given(wrong[0])}.")
    folder = release.get("folder", "release")
    if not isinstance(folder, str) or not folder:
        raise TacitaError(f"folder in [release] must be the path of a folder; got {check.given(folder)}.")
    formats = check.names("formats", release.get("formats", ("parquet",)))
    if not formats:
        raise TacitaError("formats in [release] must name at least one, as formats = ['parquet'].")
    for kind in formats:
        check.one_of("formats", kind, FORMATS)
    found = {"folder": folder, "formats": formats}
    if "accept_unsafe" in release:
        found["accept_unsafe"] = checked_reason(release["accept_unsafe"])
    return found


def _reading(section: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The file of [data], and how it is read."""
    reading = dict(section)
    file = reading.pop("file", None)
    wrong = [name for name in reading if name not in READING]
    if not isinstance(reading.get("catalog", ""), str):
        raise TacitaError(f"catalog in [data] must be the path of a file; got {check.given(reading['catalog'])}.")
    if not isinstance(file, str) or not file or wrong:
        raise TacitaError(f"[data] names the file, and if need be {', '.join(READING)}; got {sorted(section)}.")
    return file, reading
