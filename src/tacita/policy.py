"""The policy: the limits of risk within which a file counts as safe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, Self

from tacita import check
from tacita.check import TacitaError
from tacita.declared import Declared
from tacita.measures import check_measure_name, find
from tacita.parameters import Above, AtLeast, Doc, OneOf, Share, parameters_of
from tacita.result import Verdict
from tacita.scenario import Scenario

NO_LIMIT = "no limit at all"
PROBABILITIES = ("risk", "rate", "household_risk")
"""Limits of a policy on probabilities, which 1 makes void."""
OWN_FIELDS = {
    "k_anonymity": "k",
    "individual_risk": "risk",
    "reidentification": "rate",
    "household_risk": "household_risk",
    "reconstruction": "given_back",
}
"""Measures whose limit is a field of the policy."""
RATES = ("expected", "upper")
BY_FREQUENCY = ("k", "risk", "rate", "household_risk")
"""Limits on what is counted by equal keys: not valid where keys were perturbed."""


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "public use": {"k": 5, "risk": 0.05, "rate": 0.0005, "rate_at": "upper"},
    "scientific use": {},
    "secure use": {"k": 2, "risk": 0.5, "rate": None},
}
"""Policies to start from, by who will get the file: anybody, researchers under contract, researchers in a safe room."""


class Limited(NamedTuple):
    """The limit of one measure."""

    name: str
    """What the verdict is called."""
    limit: float
    options: Mapping[str, Any]
    """Options of the measure, and of the figure of it that is limited."""


@dataclass(frozen=True, kw_only=True)
class Policy(Declared):
    """What counts as safe: the limits a file must keep before it may be released.

    A limit that is None (false in a file) is not applied. The defaults are always printed. Any other measure can have
    a limit too, by its name: a number, or a table with `limit` and options of the measure.

    >>> Policy(k=5, limits={"l_diversity": 2}).limits
    {'l_diversity': 2}
    """

    section: ClassVar[str] = "policy"

    k: Annotated[int | None, AtLeast(2), Doc("Every record must share its key with at least k - 1 others.")] = 3
    risk: Annotated[
        float | None, Share(zero=False), Doc("No record may have a higher individual risk of re-identification.")
    ] = 0.1
    rate: Annotated[
        float | None,
        Share(zero=False),
        Doc("The expected re-identifications must not be a higher share of the records."),
    ] = 0.001
    rate_at: Annotated[
        str,
        OneOf(RATES),
        Doc("Which rate that is: the `expected` one, or the `upper` end of its 95 % interval."),
    ] = "expected"
    household_risk: Annotated[
        float | None,
        Share(zero=False),
        Doc("No household may have a higher risk that one of its members is re-identified."),
    ] = None
    given_back: Annotated[
        int | None,
        AtLeast(0),
        Doc("So many protected cells may be told from the rest of a release; judged where the original is there."),
    ] = 0
    neighbours: Annotated[
        int | None,
        AtLeast(1),
        Doc("The confidentiality plot's k: with so many originals that look like it a record is safe as it is."),
    ] = 15
    perturbation: Annotated[
        float | None,
        Above(0),
        Doc("The plot's r: so far moved, as a share of its size, a record is safe. None: neighbours alone decide."),
    ] = 0.15
    limits: Annotated[
        Mapping[str, Any],
        Doc("Limits of other measures by name, as {'l_diversity': 2}: a number, or a table with limit and options."),
    ] = field(default_factory=dict)
    exceptions: Annotated[
        Mapping[str, Any],
        Doc("By limit why it is another one than usual, as {'rate': 'agreed with the ministry'}: for the report."),
    ] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for parameter in parameters_of(type(self)):
            value = parameter.checked(getattr(self, parameter.name), f"policy {parameter.name}")
            object.__setattr__(self, parameter.name, value)
        object.__setattr__(self, "limits", {name: _limit(name, value) for name, value in self.limits.items()})
        object.__setattr__(self, "exceptions", {name: self._reason(name) for name in self.exceptions})

    def _reason(self, name: str) -> str:
        """Why a limit is an exception, on one line."""
        others = [each.name for each in parameters_of(type(self)) if each.name != "exceptions"]
        check.one_of("policy exceptions", name, (*others, *self.limits))
        reason = self.exceptions[name]
        if not isinstance(reason, str) or not reason.strip():
            raise TacitaError(f"policy exceptions: why {name} is one must be said in words; got {check.given(reason)}.")
        return " ".join(reason.split())

    @classmethod
    def preset(cls, name: str, **changed: Any) -> Policy:
        """A policy to start from: "public use", "scientific use" or "secure use"; other fields in place of its own.

        >>> print(Policy.preset("public use", k=10))
        k = 10, individual risk at most 0.05, re-identification rate at the upper end of its interval at most 0.05 %
        """
        check.one_of("preset", name, tuple(PRESETS))
        return cls(**{**PRESETS[name], **changed})

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The policy of a mapping; with `preset` that one, the other fields in place of its own."""
        known = dict(given)
        if "preset" not in known:
            return super().from_dict(known)
        name = check.one_of("preset", known.pop("preset"), tuple(PRESETS))
        return super().from_dict({**PRESETS[name], **known})

    def limit_of(self, measure: str) -> Limited | None:
        """The limit of a measure; None if it has none."""
        if measure in OWN_FIELDS:
            value = getattr(self, OWN_FIELDS[measure])
            return None if value is None else Limited(OWN_FIELDS[measure], value, {})
        value = self.limits.get(measure)
        if isinstance(value, Mapping):
            return Limited(measure, value["limit"], {name: each for name, each in value.items() if name != "limit"})
        return None if value is None else Limited(measure, value, {})

    def to_dict(self) -> dict[str, object]:
        """All limits, since a policy is read by people; one that is not applied is false."""
        values = {each.name: getattr(self, each.name) for each in parameters_of(type(self))}
        tables = {name: dict(values.pop(name)) for name in ("limits", "exceptions")}
        out: dict[str, object] = {name: False if value is None else value for name, value in values.items()}
        if self.rate_at == Policy.rate_at:
            del out["rate_at"]
        return out | {name: table for name, table in tables.items() if table}

    def __str__(self) -> str:
        parts = [
            None if self.k is None else f"k = {self.k}",
            None if self.risk is None else f"individual risk at most {self.risk:g}",
            None if self.rate is None else f"re-identification rate{self._rate_at} at most {100 * self.rate:g} %",
            None if self.household_risk is None else f"household risk at most {self.household_risk:g}",
            *(f"{name} {_shown(value)}" for name, value in self.limits.items()),
        ]
        listed = [part for part in parts if part]
        if not listed:
            return NO_LIMIT
        # Measured where a release is held against its original; here only if they were chosen.
        if self.given_back != Policy.given_back:
            some = "any number of" if self.given_back is None else f"at most {self.given_back:,}"
            listed.append(f"{some} protected cells given back")
        if (self.neighbours, self.perturbation) != (Policy.neighbours, Policy.perturbation):
            listed.append(f"confidentiality plot: {self._plot_limits()}")
        return ", ".join(listed)

    @property
    def _rate_at(self) -> str:
        return " at the upper end of its interval" if self.rate_at == "upper" else ""

    def _plot_limits(self) -> str:
        if self.neighbours is None:
            return "no limit"
        alone = "" if self.perturbation is None else f", r = {100 * self.perturbation:g} %"
        return f"k = {self.neighbours}{alone}"


@cache
def _default_policy() -> Policy:
    return Policy()


def checked_policy(policy: Any) -> Policy:
    """The policy itself, that of a table or a TOML file or a preset, the default one for None; else an error."""
    if policy is None:
        return _default_policy()
    if isinstance(policy, str) and policy in PRESETS:
        return Policy.preset(policy)
    opened = policy if isinstance(policy, Policy) else Policy.opened(policy)
    if opened is None:
        raise TacitaError(f"policy must be a Policy, as Policy(k=3); got {type(policy).__name__}.")
    return opened


def _limit(name: str, value: Any) -> Any:
    if name in OWN_FIELDS:
        raise TacitaError(f"the limit of {name} is the field {OWN_FIELDS[name]} of the policy; set it there.")
    check_measure_name("policy limits", name)
    if find(name).limit is None:
        raise TacitaError(f"policy limits: {name} has no figure that a policy can limit; take it out of the policy.")
    if not isinstance(value, Mapping):
        return _number(name, check.python_number(value))
    if "limit" not in value:
        raise TacitaError(
            f"the limit of {name} must be a number or a table with limit = ...; got {check.given(dict(value))}."
        )
    return {option: check.python_number(each) for option, each in value.items()} | {
        "limit": _number(name, check.python_number(value["limit"]))
    }


def _number(name: str, value: Any) -> Any:
    check.number(f"policy limit of {name}", value)
    return value


def _shown(value: Any) -> str:
    if not isinstance(value, Mapping):
        return f"{value:g}"
    options = ", ".join(f"{name} = {each}" for name, each in value.items() if name != "limit")
    return f"{value['limit']:g}" + (f" ({options})" if options else "")


# Limits that every file keeps: they say nothing, and make nothing safe.


def is_void(verdict: Verdict, policy: Policy, records: int) -> bool:
    """Whether a limit is kept, and is one that every file of so many records keeps."""
    if verdict.holds is not True:
        return False
    name = verdict.name.split(":")[0]
    if name == "confidentiality" and policy.neighbours == 1:
        # Every original looks like itself.
        return True
    return _is_void(name, verdict.limit, records)


def void_limits(policy: Policy, scenario: Scenario, records: int) -> Iterator[str]:
    """A caution for each limit of a policy that is none."""
    named = {name: getattr(policy, name) for name in PROBABILITIES}
    named |= {f"risk of the key set {name!r}": own.risk for name, own in scenario.key_sets.items()}
    named |= {name: limited.limit for name in policy.limits if (limited := policy.limit_of(name)) is not None}
    for name, limit in named.items():
        if limit is not None and _is_void(name.split(" ")[0], limit, records):
            yield _void_text(f"{name} = {limit:g}")
    if policy.neighbours == 1 and scenario.numeric_keys:
        yield _void_text("neighbours = 1")


def _is_void(name: str, limit: float, records: int) -> bool:
    if name in OWN_FIELDS.values():
        return name in PROBABILITIES and limit >= 1.0
    declared = find(name).limit
    return declared is not None and declared.is_void(limit, records)


def _void_text(limit: str) -> str:
    return f"{limit} is no limit, since every file keeps it: it makes nothing safe."
