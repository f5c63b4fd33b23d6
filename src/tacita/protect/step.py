"""A step: one thing that is done to the data, declared by name and parameters.

Steps are frozen and are data: they print, compare, and go to TOML and back. A step never changes what it is given; it
returns new `Data` with the same record numbers, and says in names and counts, never in values, what it did.
"""

from __future__ import annotations

import functools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, NamedTuple

from tacita import check
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.declared import Declared, check_fields
from tacita.keys.table import survey_weights
from tacita.mechanism import Mechanism
from tacita.parameters import Doc, Parameter, Shape, parameters_of
from tacita.policy import Policy
from tacita.progress import Progress, no_progress
from tacita.protect.only import checked_only, shown_only
from tacita.random import Draws
from tacita.scenario import Scenario
from tacita.work import Work


class Context(NamedTuple):
    """What a step may use besides the data."""

    scenario: Scenario
    """Who the intruder is: keys, weight, household, the missing-value rule. It names columns that are in the data."""
    policy: Policy
    """What counts as safe: a step that needs k takes it from here unless told otherwise."""
    draws: Draws
    """Random draws of this step, by record number."""
    original: Data
    """The data before the first step of the plan."""
    progress: Progress = no_progress
    """To be called now and then by work that takes over two seconds."""
    whole: Mapping[str, Any] | None = None
    """What the step must know of the whole file, by name, where the data are some of its records."""


class Applied(NamedTuple):
    """What a step made."""

    data: Data
    remarks: tuple[str, ...] = ()
    """What the log should say besides the cells changed: names and counts, no values of the data."""
    figures: Mapping[str, Any] = MappingProxyType({})
    """The same as numbers and texts, for the log as a file."""
    mechanisms: tuple[Mechanism, ...] = ()
    """What happened to values, for attacks and analysts."""
    public: tuple[Mechanism, ...] = ()
    """What of it may be told to the public: mechanisms with the parameters that do not help to undo them."""
    renewed: tuple[str, ...] = ()
    """Identifiers that were renewed: the values that the office knew are gone."""
    fitted: tuple[Mapping[str, Any], ...] = ()
    """Models that values were drawn from, as plain lists and numbers: for a file of the office, in no log."""

    @property
    def perturbed(self) -> frozenset[str]:
        """Variables whose values were exchanged for wrong ones."""
        return frozenset(name for each in self.mechanisms if each.perturbs for name in each.variables)


@dataclass(frozen=True)
class Step(Declared, ABC):
    """One thing that is done to the data."""

    section: ClassVar[str] = "step"
    version: ClassVar[int] = 1
    """Another number from the day on that the same seed would give other data; the log has it."""

    ways: ClassVar[Mapping[str, type[Any]]] = MappingProxyType({})
    """The ways in which it can be done, where each has parameters of its own: by its first parameter, its class."""

    label: Annotated[
        str,
        Doc("What the log and the draws call the step; a plan gives it one. Two steps of a plan never have the same."),
    ] = field(default="", kw_only=True)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.section = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        own = cls.__dict__.get("__post_init__")
        if own is not None:
            # Whatever a step checks itself, its parameters are made plain first.
            cls.__post_init__ = functools.partialmethod(_plain_first, own)  # type: ignore[method-assign,assignment]

    def __post_init__(self) -> None:
        """Parameters are checked."""
        self.check_parameters()

    def check_parameters(self) -> None:
        """Parameters are plain values, as they are declared: NumPy's become Python's, and a column of data is none."""
        check_fields(self, self.kind())

    def work(self, data: Data, context: Context) -> Work | None:
        """How long the step takes on some data, about, where that can be long; None: not long."""
        return None

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Its parameters: its own, then those that all steps have."""
        every, shared = parameters_of(cls), parameters_of(CellStep)
        own = tuple(each for each in every if each not in shared)
        return (*own, *(each for each in every if each in shared))

    @classmethod
    def kind(cls) -> str:
        """The name of the step in a plan file: `top_code` for TopCode."""
        return cls.section

    @property
    def usual_label(self) -> str:
        """The label unless one is given: the kind of step and the variables that it names."""
        named = [getattr(self, name, None) or () for name in ("variable", "variables")]
        names = [name for given in named for name in ((given,) if isinstance(given, str) else given)]
        return " ".join([self.kind(), ", ".join(map(str, names))]).strip()

    @property
    def draws(self) -> bool:
        """Whether it draws at random: another seed then gives other data."""
        return False

    @property
    def adds_missing(self) -> bool:
        """Whether it may blank cells, or fill those that are missing."""
        return False

    @property
    def draws_codes(self) -> bool:
        """Whether it draws anew who has a code for not applicable, as synthesis does."""
        return False

    @property
    def keeps_records(self) -> bool:
        """Whether every record is still there afterwards, in the order in which it was."""
        return True

    @property
    def adds_records(self) -> bool:
        """Whether it may add records; it numbers them from beyond all numbers of `context.original` and the data."""
        return False

    @abstractmethod
    def apply(self, data: Data, context: Context) -> Applied:
        """The data with this done to it; a plan gives it codes for not applicable of the scenario as declared ones."""

    def __str__(self) -> str:
        given = ", ".join(f"{name} = {value!r}" for name, value in self.shown().items())
        return f"{self.kind()}({given})"

    def shown(self) -> dict[str, Any]:
        """The parameters as people read them."""
        return {name: value for name, value in self.to_dict().items() if name != "label"}


def _selection(_: str, given: Any) -> Any:
    return checked_only(given)


@dataclass(frozen=True)
class CellStep(Step):
    """A step that changes cells: of all records, of some, or of each stratum apart."""

    selects_itself: ClassVar[bool] = False
    """Whether the step sees to `only` and `strata` itself, as where it counts all records but changes some."""

    only: Annotated[
        Any,
        Shape("condition, measure, column or record numbers", _selection),
        Doc(
            "Who may be changed: a condition, as 'income > 1000'; {'unsafe': 'k_anonymity'}, who is unsafe by a "
            "measure when the step runs; a column that is true for them; or record numbers. None: everybody."
        ),
    ] = field(default=None, kw_only=True)
    strata: Annotated[
        tuple[str, ...], Doc("Variables: the step is applied to each group of records that agree in them apart.")
    ] = field(default=(), kw_only=True)

    def shown(self) -> dict[str, Any]:
        """The parameters as people read them: record numbers are counted."""
        given = super().shown()
        return given | {"only": shown_only(given["only"])} if "only" in given else given


def _plain_first(step: Step, own: Callable[[Step], None]) -> None:
    step.check_parameters()
    own(step)


def needed_weights(needs: str, data: Data, context: Context) -> Floats:
    """The survey weights, by row; an error begins with what needs them, as 'weighted means need', if there are none."""
    weights = survey_weights(data, context.scenario)
    if weights is None:
        raise TacitaError(f"{needs} a weight; name it in the scenario, or pass weighted=False.")
    return weights


def present(step: Step, names: tuple[str, ...], data: Data) -> tuple[str, ...]:
    """Names of variables that a step needs; an error names the step and those that are not there."""
    check.columns_exist(f"variables of {step.label or step.usual_label!r}", names, data.columns)
    return names
