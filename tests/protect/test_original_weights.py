"""The intruder's population does not change because a step changed or dropped the weight."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from test_contracts_steps import EXAMPLES, data_for
from test_contracts_steps import WHO as SURVEYED

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.protect.step import Applied, Context, Step
from tacita.protect.steps import own_steps
from tacita.release.release import Release

FIRMS = pl.DataFrame(
    {"region": ["north"] * 4 + ["south"] * 96, "size": ["large"] * 4 + ["small"] * 96, "w": [1.0] * 4 + [50.0] * 96}
)
WHO = tc.Scenario(keys=["region", "size"], weight="w")
STRICT = tc.Policy(k=3, risk=0.1, rate=0.001)
HARMLESS = [
    tc.RoundWeights(base=100),
    tc.RoundWeights(digits=1),
    tc.TrimWeights(least=30),
    tc.WeightNoise(1.5),
    tc.Recalibrate(totals={"region": {"north": 4000.0, "south": 9000.0}}),
    tc.Remove("w"),
    tc.RandomOrder(),
    tc.NewIdentifiers("id"),
]
"""Steps that touch weights, order or identifiers only: they protect nobody's keys."""


@pytest.mark.parametrize("step", HARMLESS[:6], ids=str)
def test_take_all_units_stay_at_risk(step: Step) -> None:
    """Four firms of weight 1 stand for themselves, however their weights are rounded."""
    release = tc.Plan([step]).apply(FIRMS, WHO, seed=1)
    profile = tc.assess(release, release.scenario, STRICT)
    assert not profile.safe
    assert profile.failures[0] == "4 records above a risk of 0.1"
    assert profile.expected == pytest.approx(tc.assess(FIRMS, WHO).expected, rel=1e-12)


def test_without_the_weight_the_release_looks_as_before_not_worse() -> None:
    """Dropping the weight let F fall back to f: 57 expected re-identifications became 7,269."""
    survey = tc.household_survey(500, population=20000)
    release = tc.Plan([tc.Remove("weight")]).apply(survey.data, survey.scenario)
    before, after = tc.assess(survey.data, survey.scenario), tc.assess(release, release.scenario)
    assert after.expected == before.expected
    assert after.main.table.source == "original_weights"


NO_KEY = ("weights", "reordering", "renewal")
"""Mechanisms that touch no key, whatever they are done to."""


def touches_no_key(release: Release) -> bool:
    """Whether all that was done, by what the steps themselves say, was done to other columns than keys."""
    done = [each for change in release.changes for each in change.mechanisms]
    dropped = any(change.records_removed for change in release.changes)
    return not dropped and all(
        each["kind"] in NO_KEY or not {*SURVEYED.all_keys} & {*each["variables"]} for each in done
    )


IN_FILE = ["f", "F", "risk"]


def touched(release: Release) -> set[str]:
    """The columns that steps changed or removed."""
    return {name for change in release.changes for name in (*change.cells, *change.variables_removed)}


def same_risk(
    before: tc.RiskProfile, after: tc.RiskProfile, figures: Sequence[str] = (*IN_FILE, "household_risk")
) -> None:
    """The same f, F and risk of every record, and of households where they are still told."""
    was, now = (each.to_frame().sort("record") for each in (before, after))
    for name in (column for column in now.columns if column.partition(":")[0] in figures):
        assert now[name].to_list() == pytest.approx(was[name].to_list(), rel=1e-9), name
    assert after.expected == pytest.approx(before.expected, rel=1e-9)


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_no_step_of_the_register_lowers_the_risk_unless_it_touches_keys() -> None:
    """Every example of every step: what a step says that it did decides whether it may change the risk."""
    before = {}
    kinds = set()
    for step in (each for own in own_steps() for each in EXAMPLES[own.kind()]):
        data = data_for(step)
        release = tc.Plan([step]).apply(data, SURVEYED, seed=7)
        if touches_no_key(release):
            if len(data) not in before:
                before[len(data)] = tc.assess(data, SURVEYED)
            same_risk(before[len(data)], tc.assess(release.data, release.scenario))
            kinds.add(step.kind())
    weights = {"round_weights", "trim_weights", "weight_noise", "recalibrate"}
    assert kinds >= {*weights, "new_identifiers", "random_order", "remove"}
    assert not kinds & {"suppress", "generalise"}


AIMED = [
    *HARMLESS,
    tc.RoundWeights(base=10, random=True),
    tc.TrimWeights(most=80),
    tc.Round("w", base=50),
    tc.TopCode("w", at=60),
    tc.BottomCode("w", at=30),
    tc.RandomOrder("households"),
    tc.RandomOrder("within_households"),
    tc.NewIdentifiers("hid"),
    tc.NewIdentifiers("firm"),
    tc.NewIdentifiers(),
    tc.Remove("hid"),
    tc.Remove("firm"),
    tc.Remove(["id", "hid", "firm", "w"]),
]
"""Steps, and steps for any variable aimed at the weight, that touch weights, order and identifiers only."""


NO_KEY_OF_ANYBODY = ("w", "id", "hid", "firm", "note")
OTHERWISE = {"totals", "strata", "within", "predictors", "sensitive", "condition"}
"""Fields of examples that name columns of another file."""


def aimed_steps() -> dict[str, list[Step]]:
    """Every example of every step that takes variables, aimed at the weight, identifiers and a free column."""
    found: dict[str, list[Step]] = {}
    for own in own_steps():
        for step in EXAMPLES[own.kind()]:
            if not hasattr(step, "variables"):
                continue
            for name in NO_KEY_OF_ANYBODY:
                bare = {each: () for each in OTHERWISE if isinstance(getattr(step, each, None), tuple)}
                try:
                    found.setdefault(own.kind(), []).append(replace(step, variables=(name,), **bare))
                except (TacitaError, TypeError):
                    # A label, a matrix or a hierarchy that is for another variable.
                    continue
    return found


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_no_step_aimed_at_weights_and_identifiers_lowers_the_risk() -> None:
    """Perturbing, synthesising, swapping or coding a weight or an identifier protects nobody's keys either."""
    random = np.random.default_rng(2)
    size = 120
    table = pl.DataFrame(
        {
            "id": np.arange(size),
            "hid": np.sort(random.integers(0, size // 2, size)),
            "firm": random.integers(0, size, size),
            "region": random.choice(["north", "south", "east"], size, p=[0.6, 0.35, 0.05]),
            "size": random.choice([1, 2, 8], size),
            "w": np.round(random.uniform(1, 150, size), 1),
            "note": random.choice(["a", "b", "c"], size),
        }
    )
    done = set()
    for person in (None, "firm"):
        who = tc.Scenario(keys=["region", "size"], weight="w", household="hid", person=person)
        before = tc.assess(table, who)
        for kind, steps in aimed_steps().items():
            for step in steps:
                try:
                    release = tc.Plan([step]).apply(table, who, seed=2**70)
                except TacitaError:
                    continue
                if any(change.records_removed for change in release.changes) or len(release.data) != size:
                    continue
                after = tc.assess(release.data, release.scenario)
                same_risk(before, after, [*IN_FILE, *([] if "hid" in touched(release) else ["household_risk"])])
                if after.household is not None and "hid" in touched(release):
                    # Households that were put together are found more easily, or else it is not known.
                    was, now = (each.household.risk for each in (before, after))
                    assert after.household.not_valid or (now >= was * (1 - 1e-9)).all()
                done.add(kind)
    assert done >= {
        *("noise", "microaggregate", "rank_swap", "random_swap", "shuffle", "synthesise", "pram", "round", "recode"),
        *("top_code", "bottom_code", "group_rare", "remove", "new_identifiers"),
    }, set(aimed_steps()) - done


@st.composite
def surveys(draw: st.DrawFn) -> Data:
    """A file with households, firms of several records, codes declared missing and blanks."""
    size = draw(st.integers(4, 24))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = pl.DataFrame(
        {
            "id": np.arange(size),
            "hid": np.sort(random.integers(0, size // 2, size)),
            "firm": random.integers(0, size, size),
            "region": ["north", "south", *random.choice(["north", "south"], size - 2)],
            "size": random.choice([1, 2, 8, 9, None], size).tolist(),
            "w": np.round(random.uniform(1, 150, size), 1),
        },
        schema_overrides={"size": pl.Int64},
    )
    return Data.of(table, {"size": Variable(missing=(8, 9))})


scenarios = st.builds(
    lambda household, person, rule: tc.Scenario(
        keys=["region", "size"], weight="w", household=household, person=person, missing=rule
    ),
    st.sampled_from(["hid", None]),
    st.sampled_from(["firm", None]),
    st.sampled_from(["one_way", "wildcard", "own_category", "partial(0.5)"]),
)


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
@given(data=surveys(), who=scenarios, steps=st.lists(st.sampled_from(AIMED), min_size=1, max_size=3), cut=st.integers())
def test_risk_never_falls_by_steps_that_protect_no_key(
    data: Data, who: tc.Scenario, steps: list[Step], cut: int
) -> None:
    """One step, several in a row, or a second plan applied to the release of a first."""
    cut %= len(steps) + 1
    try:
        release = tc.Plan(steps[:cut]).apply(data, who, seed=5)
        release = tc.Plan(steps[cut:]).apply(release, release.scenario, seed=6)
    except TacitaError:
        # A weight that is gone cannot be rounded.
        reject()
    before = tc.assess(data, who)
    after = tc.assess(release.data, release.scenario)
    same_risk(before, after)
    # Nor does it fall because the scenario no longer names what was there: without weights it is that of a census.
    bare = tc.assess(release.data, replace(release.scenario, weight=None, household=None, person=None))
    assert (bare.individual.risk >= after.individual.risk * (1 - 1e-9)).all()


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
@pytest.mark.parametrize("step", AIMED, ids=str)
def test_each_of_them_can_be_applied(step: Step) -> None:
    """What the property leaves out because it cannot be applied is not a whole step."""
    table = pl.DataFrame({"id": [1, 2, 3], "hid": [1, 1, 2], "firm": [1, 2, 2], "region": ["north", "south", "south"]})
    table = table.with_columns(size=1, w=pl.Series([1.5, 31.0, 90.0]))
    who = tc.Scenario(keys=["region", "size"], weight="w", household="hid", person="firm")
    release = tc.Plan([step]).apply(table, who, seed=1)
    same_risk(tc.assess(table, who), tc.assess(release.data, release.scenario))


@dataclass(frozen=True)
class Declare(Step):
    """A step of somebody else that only declares codes of `size`, as missing or as not applicable."""

    codes: tuple[int, ...] = ()
    not_applicable: bool = False
    ranged: bool = False

    def apply(self, data: Data, context: Context) -> Applied:
        known = Variable(missing=self.codes)
        if self.ranged:
            known = Variable(missing_ranges=tuple((code, code) for code in self.codes))
        if self.not_applicable:
            known = Variable(not_applicable=(*self.codes, ""))
        return Applied(replace(data, variables={**data.variables, "size": known}))


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
@given(
    data=surveys(),
    who=scenarios,
    codes=st.sets(st.sampled_from([1, 2, 8, 9])),
    kind=st.sampled_from(["missing", "range", "not applicable"]),
)
def test_risk_never_falls_because_codes_are_declared(data: Data, who: tc.Scenario, codes: set[int], kind: str) -> None:
    """Codes declared missing hid 30 unique ages; a blank declared not applicable can only be seen by more."""
    step = Declare(tuple(codes), kind == "not applicable", kind == "range")
    release = tc.Plan([step]).apply(data, who, seed=5)
    before, after = tc.assess(data, who), tc.assess(release.data, release.scenario)
    if kind != "not applicable":
        same_risk(before, after)
        return
    # Fewer look like a blank that is a category. (F of units with several records goes by the weights of those that
    # match, so it may rise where a record with a smaller weight no longer does.)
    was, now = before.to_frame(), after.to_frame()
    assert (now["f"] <= was["f"] * (1 + 1e-9)).all()
    assert who.person or (now["risk"] >= was["risk"] * (1 - 1e-9)).all()


def test_another_weight_or_a_number_of_units_is_what_the_user_wants() -> None:
    people = FIRMS.with_columns(other=pl.col("w") * 2)
    release = tc.Plan([tc.RoundWeights(base=100)]).apply(people, WHO)
    for who, source in (
        (tc.Scenario(keys=["region"], weight="other"), "weights"),
        (tc.Scenario(keys=["region"], population_size=5000), "population_size"),
        (tc.Scenario(keys=["region"], weight="w"), "original_weights"),
        (tc.Scenario(keys=["region"]), "original_weights"),
    ):
        assert tc.key_table(release, who).source == source
    # What the weights give away is read off the released ones.
    assert tc.risk.weight_disclosure(release, release.scenario).to_frame().height > 0


def test_the_weights_as_they_were_follow_the_records_and_are_in_no_file() -> None:
    release = tc.Plan([tc.RandomOrder(), tc.RoundWeights(base=100)]).apply(FIRMS, WHO, seed=3)
    was = release.data.original_weights
    assert was is not None
    assert was.values.tolist() == FIRMS["w"].to_numpy()[release.data.record - 1].tolist()
    assert Data.of(release.to_native()).original_weights is None
