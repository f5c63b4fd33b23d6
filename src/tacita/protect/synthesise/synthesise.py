"""Synthesis: values drawn from models of the file in place of the true ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from tacita import check, frame
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.keys.table import survey_weights
from tacita.mechanism import Mechanism
from tacita.parameters import AtLeast, AtMost, Doc, OneOf, Shape
from tacita.protect.only import chosen_records
from tacita.protect.parts import in_parts, strata_of
from tacita.protect.step import Applied, CellStep, Context, present
from tacita.protect.synthesise.account import copy_figures, copy_remarks
from tacita.protect.synthesise.columns import column_of
from tacita.protect.synthesise.drawing import File, Models, Options, drawn_copy, file_of, models_as_lists, models_of
from tacita.rules import EditRule
from tacita.trees.tree import Growth


def _usual_order(data: Data, names: Sequence[str]) -> tuple[str, ...]:
    """Categories, those with few before those with many, then numbers.

    What splits the records into many small parts leaves little to see to the trees after it.
    """
    categories = [name for name in names if data.scale(name) != "numeric"]
    ascending = sorted(categories, key=lambda name: frame.distinct(data.table, name))
    return (*ascending, *(name for name in names if name not in categories))


def _conditions(what: str, given: Any) -> tuple[str, ...]:
    """Texts of conditions, each of which can be read."""
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list | tuple) or not all(isinstance(each, str) for each in listed):
        raise TacitaError(f"{what} must be conditions such as 'age >= 15'; got {check.given(given)}.")
    return tuple(EditRule(each).rule for each in listed)


@dataclass(frozen=True)
class Synthesise(CellStep):
    """Draw values from a model of the file in place of the true ones.

    What an intruder finds in a drawn variable is what a model of all records made, not what one of them said. Variables
    that are not drawn stay as they are (partial synthesis), and so do, with `only`, the other records.

    - `trees`: the first variable is drawn from its distribution, each next one from the leaf of a regression or
      classification tree on those before it (Reiter 2005; the method of synthpop, Nowok, Raab and Dibben 2016).
    - `copula`: each variable is a normal one, stretched or cut to its distribution; they are correlated. It keeps
      distributions and correlations, but nothing that is not a matter of more or less.

    Missing values and codes are drawn too: as categories, and of numbers first whether there is one, then which.
    Zeros that are more than 5 % of the numbers are drawn apart as well.

    Reference: Drechsler (2011), Synthetic datasets for statistical disclosure control. Springer.

    >>> import tacita as tc
    >>> survey = tc.household_survey(200, population=4000)
    >>> plan = tc.Plan([tc.Synthesise(["sex", "age", "income"])])
    >>> release = plan.apply(survey.data, survey.scenario, seed=1)
    >>> len(release.data) == len(survey.data), release.data.table["age"].dtype == survey.data.table["age"].dtype
    (True, True)
    """

    selects_itself: ClassVar[bool] = True
    version: ClassVar[int] = 2

    variables: Annotated[
        tuple[str, ...],
        Doc(
            "What is drawn, in this order; none: all but identifiers and the household, categories first, those with "
            "few before those with many, then numbers."
        ),
    ] = ()
    method: Annotated[str, OneOf(("trees", "copula")), Doc("What values are drawn from.")] = "trees"
    given: Annotated[
        tuple[str, ...] | None,
        Doc(
            "Variables that stay as they are, and that the others are drawn given; none: the keys and sensitive "
            "variables of the scenario that are not drawn."
        ),
    ] = None
    order: Annotated[tuple[str, ...], Doc("Variables that are drawn first, in this order; the others follow.")] = ()
    least_leaf: Annotated[int, AtLeast(2), Doc("Records that a leaf holds at least: a value is one of theirs.")] = 5
    least_distinct: Annotated[
        int,
        AtLeast(1),
        Doc("Different numbers that a leaf of numbers holds at least; 2: none tells a number for certain."),
    ] = 1
    smooth: Annotated[
        bool, Doc("Whether numbers that fewer than `least_leaf` records have are drawn from a smooth density.")
    ] = False
    weighted: Annotated[
        bool, Doc("Whether records are drawn by the scenario's weight, so that the file stands for the population.")
    ] = False
    proper: Annotated[bool, Doc("Whether models are fitted to a bootstrap sample, as combining copies may need.")] = (
        False
    )
    rules: Annotated[
        tuple[str, ...],
        Shape("conditions, as 'age >= 15'", _conditions),
        Doc("Conditions; a record that breaks one is drawn again."),
    ] = ()
    tries: Annotated[int, AtLeast(0), AtMost(1000), Doc("How often at most it is drawn again.")] = 20
    copies: Annotated[
        int, AtLeast(1), AtMost(100), Doc("Synthetic copies; more than one are put under each other.")
    ] = 1
    copy_name: Annotated[str, Doc("The variable that numbers the copies.")] = "copy"

    def __post_init__(self) -> None:
        both = [name for name in self.given or () if name in self.variables]
        if both:
            raise TacitaError(f"a variable is drawn or given, not both; got {check.quoted(both)} in both.")
        unknown = [name for name in self.order if self.variables and name not in self.variables]
        if unknown:
            raise TacitaError(f"order must name variables that are drawn; got {check.quoted(unknown)}.")
        if not self.copy_name:
            raise TacitaError("copy_name must be the name of a variable; got an empty text.")

    @property
    def draws(self) -> bool:
        """Everything is drawn."""
        return True

    @property
    def adds_missing(self) -> bool:
        """Who has no value is drawn as well."""
        return True

    @property
    def draws_codes(self) -> bool:
        """And who has a code."""
        return True

    @property
    def adds_records(self) -> bool:
        """The further copies."""
        return self.copies > 1

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with drawn values, and its further copies under it."""
        if self.copies > 1 and self.copy_name in data.columns:
            raise TacitaError(f"the data have a variable {self.copy_name!r} already; pass another copy_name.")
        if self.only is None and not self.strata:
            made = self._copies(data, context)
            return self._stacked(made, data, context)._replace(fitted=made[0].fitted)
        chosen = chosen_records(self.only, data, context.scenario, context.policy, context.original)
        parts = strata_of(self, data, chosen)
        by_part: list[list[Applied]] = []

        def first_copy(rows: Any) -> Applied:
            by_part.append(self._copies(data.take(rows), context))
            return by_part[-1][0]

        made = [in_parts(self, data, parts, first_copy)]
        for number in range(1, self.copies):
            following = iter(each[number] for each in by_part)
            made.append(in_parts(self, data, parts, lambda rows: next(following)))  # noqa: B023
        fitted = tuple(model for each in by_part for model in each[0].fitted)
        return self._stacked(made, data, context)._replace(fitted=fitted)

    def _copies(self, data: Data, context: Context) -> list[Applied]:
        """All copies of some records, which are the whole file to the models."""
        if len(data) < self.least_leaf:
            raise TacitaError(
                f"synthesis draws a value from at least {self.least_leaf} records, and there are fewer; choose more "
                f"records, coarser strata, or a smaller least_leaf."
            )
        names, given = self._drawn_variables(data, context), self._given(data, context)
        weight = self._weights(data, context)
        file = file_of(data, [name for name in given if name not in names], names, weight)
        options = Options(self.method, Growth(self.least_leaf, self.least_distinct), self.smooth, self.proper)
        made: list[Applied] = []
        models: Models | None = None
        for number in range(1, self.copies + 1):
            draws = context.draws if number == 1 else context.draws.step(f"copy {number}")
            if models is None or self.proper:
                models = models_of(file, options, draws, lambda done: context.progress(done, "synthesising"))
            made.append(self._applied(file, models, options, draws, context))
        return made

    def _applied(self, file: File, models: Models, options: Options, draws: Any, context: Context) -> Applied:
        copy = drawn_copy(file, models, options, draws, self.rules, self.tries)
        keys = [name for name in context.scenario.all_keys if name in file.data.columns]
        figures = copy_figures(file, models, copy, [column_of(file.data, name, file.rows) for name in keys])
        household = context.scenario.household
        said = copy_remarks(file, figures, household if household in file.data.columns else None, self.weighted)
        names = tuple(column.name for column in file.columns)
        parameters = {
            "method": self.method,
            "given": [column.name for column in file.given],
            "least_leaf": self.least_leaf,
            "least_distinct": self.least_distinct,
            "smooth": self.smooth,
            "weighted": self.weighted,
            "proper": self.proper,
            "copies": self.copies,
            "records": len(file.rows),
            **figures,
        }
        synthesis = Mechanism("synthesis", names, parameters, perturbs=True)
        public = synthesis.with_parameters("method", "given", "smooth", "weighted", "proper", "copies")
        kept = (models_as_lists(file, models),)
        return Applied(copy.data, said, figures, (synthesis,), (public,), fitted=kept)

    def _drawn_variables(self, data: Data, context: Context) -> tuple[str, ...]:
        """The variables to be drawn, in their order."""
        scenario = context.scenario
        apart = {*scenario.identifiers, scenario.household, scenario.person, *(self.given or ()), *self.strata}
        every = [name for name in data.columns if name not in apart]
        names = present(self, self.variables, data) or _usual_order(data, every)
        first = present(self, self.order, data)
        unknown = [name for name in first if name not in names]
        if unknown:
            raise TacitaError(f"order must name variables that are drawn; got {check.quoted(unknown)}.")
        drawn = (*first, *(name for name in names if name not in first))
        if not drawn:
            raise TacitaError("there is nothing to draw; name variables of the file.")
        within = [name for name in drawn if name in self.strata]
        if within:
            raise TacitaError(f"strata stay as they are; leave {check.quoted(within)} out of what is drawn.")
        return drawn

    def _given(self, data: Data, context: Context) -> tuple[str, ...]:
        if self.given is not None:
            return present(self, self.given, data)
        if not self.variables:
            return ()
        scenario = context.scenario
        known = (*scenario.all_keys, *scenario.numeric_keys, *scenario.sensitive)
        apart = {*self.variables, *self.strata}
        return tuple(dict.fromkeys(name for name in known if name in data.columns and name not in apart))

    def _weights(self, data: Data, context: Context) -> Any:
        if not self.weighted:
            return None
        weights = survey_weights(data, context.scenario)
        if weights is None:
            raise TacitaError("weighted synthesis needs a weight; name it in the scenario, or pass weighted=False.")
        return weights

    def _stacked(self, made: Sequence[Applied], data: Data, context: Context) -> Applied:
        """The copies under each other; records of the second and further ones have numbers that nobody has."""
        if len(made) == 1:
            return made[0]
        rank = np.argsort(np.argsort(data.record, kind="stable"))
        beyond = int(max(context.original.record.max(initial=0), data.record.max(initial=0))) + 1
        numbers = [data.record, *(beyond + place * len(data) + rank for place in range(len(made) - 1))]
        tables = [
            each.data.with_columns({self.copy_name: np.full(len(data), number)}).table
            for number, each in enumerate(made, start=1)
        ]
        table = frame.stacked(tables)
        label = {self.copy_name: Variable(label="Number of the synthetic copy", scale="nominal")}
        stacked = Data(
            table,
            {**made[0].data.variables, **label},
            native=frame.of_kind(table, data.native),
            changed=frozenset(table.columns),
            numbers_of_records=np.concatenate(numbers),
        )
        figures = {"copies": len(made), "by_copy": [dict(each.figures) for each in made]}
        added = f"{len(made)} copies, numbered by {self.copy_name!r}; what follows is of the first"
        return made[0]._replace(data=stacked, remarks=(added, *made[0].remarks), figures=figures)
