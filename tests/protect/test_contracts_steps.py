"""What every step promises, checked on every step.

A new step must be added to `EXAMPLES`, or the first test fails.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, dataclass, replace

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita import frame
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import REQUIRED, parameters_of
from tacita.protect.recode.regroup import text_of
from tacita.protect.step import Applied, Context, Step
from tacita.protect.steps import OWN, own_steps
from tacita.testing import check_step
from tacita.testing.refusals import unless_refused

SURVEY = tc.household_survey(300, population=9000, seed=3)


def with_blanks() -> Data:
    """A household survey with missing values in keys and incomes, names, dates and texts."""
    data, n = SURVEY.data, len(SURVEY.data)
    place = np.arange(n)
    names = [f"Quetzalcoatl {i:04d}" for i in range(n)]
    days = pl.Series([None if i % 17 == 0 else i * 11 for i in range(n)], dtype=pl.Int32).cast(pl.Date)
    nace = [f"{10 + i % 7}.{i % 5}" for i in range(n)]
    more = data.with_columns({"name": names, "born": days, "nace": nace})
    return more.blanked({"age": place % 13 == 0, "citizenship": place % 29 == 1, "income": place % 31 == 2})


DATA = with_blanks()
FEW = DATA.take(np.arange(150)).without(["person", "size", "status", "education"])
"""For suppression, which attacks its own result by every column, alone and with others, until nothing is given back:
that shows on few records and the columns that its examples name as on more."""
WHO = tc.Scenario(
    keys=["region", "sex", "age", "citizenship"],
    weight=SURVEY.scenario.weight,
    household=SURVEY.scenario.household,
    sensitive=["income"],
    identifiers=["name"],
    key_sets={"outside": ["region", "marital"]},
)
WEIGHT = SURVEY.scenario.weight

EXAMPLES: dict[str, tuple[Step, ...]] = {
    "remove": (tc.Remove(), tc.Remove(["name", "born"])),
    "round": (
        tc.Round("income", base=100),
        tc.Round(["income", "age"], digits=1),
        tc.Round("income", base=50, only="age > 40", strata=["sex"]),
    ),
    "recode": (
        tc.Recode("age", breaks=[18, 40, 65]),
        tc.Recode("age", width=5, top=80),
        tc.Recode(["age", "income"], groups=4, as_codes=True),
        tc.Recode(["age", "income"], quantiles=4),
        tc.Recode("income", quantiles=[0.6, 0.9], closed="left", into=["low", "middle", "high"]),
        tc.Recode("income", log_groups=4),
        tc.Recode("income", log_groups=2, closed="right", into=["low", "high"]),
        tc.Recode("citizenship", mapping={"EU": "other", "other": "x"}),
        tc.Recode("age", scheme="1:-17\n2:18-64\n3:65-"),
        tc.Recode("nace", digits=2),
        tc.Recode("born", dates="quarter"),
        tc.Recode("born", dates="year"),
        tc.Recode("income", width=250.5, closed="right"),
        tc.Recode("age", hierarchy=tc.Hierarchy.intervals([5, 10]), level=2),
        tc.Recode("age", breaks=[30, 60], into=["young", "middle", "old"], only="income > 100", strata=["sex"]),
        tc.Recode("age", width=10, start=5, bottom=15, top=75),
        tc.Recode("age", digits=1, length=3, labels={"0": "below a hundred"}),
        tc.Recode("sex", mapping={"female": 1, "male": 2}, labels={1: "women", 2: "men"}, unmatched="error"),
    ),
    "top_code": (
        tc.TopCode("income", share=0.05, value="mean"),
        tc.TopCode("age", at=60, value="60+"),
        tc.TopCode(["age", "income"], at={"age": 60, "income": 5000}, value="median", together=True),
        tc.TopCode("age", at=70),
        tc.TopCode("income", share=0.1, least=5, value="mean", only="age > 20", strata=["sex"]),
    ),
    "bottom_code": (
        tc.BottomCode("income", share=0.05),
        tc.BottomCode("age", at=15, value="young"),
        tc.BottomCode(["age", "income"], share=0.1, least=5, together=True, value="median"),
        tc.BottomCode("income", share=0.1, only="age > 20", strata=["sex"]),
    ),
    "code_outliers": (
        tc.CodeOutliers(["age", "income"]),
        tc.CodeOutliers(["age", "income"], robust=False, value="mean"),
        tc.CodeOutliers(["age", "income"], quantile=0.9, log=True, only="income > 0 and age > 0", strata=["sex"]),
    ),
    "group_rare": (
        tc.GroupRare("citizenship", least=30),
        tc.GroupRare("nace", least_share=0.1),
        tc.GroupRare(["nace", "citizenship"], least=20, into="rest", only="age > 20", strata=["sex"]),
    ),
    "generalise": (
        tc.Generalise(
            {"age": tc.Hierarchy.intervals([5, 10, 20, 40], top=80), "citizenship": tc.Hierarchy.redaction()}
        ),
        tc.Generalise({"age": tc.Hierarchy.intervals([5, 10, 20, 40])}, recoding="local", k=5, loss="entropy"),
        tc.Generalise({"age": tc.Hierarchy.intervals([10, 40])}, limit=0.2, recoding="outliers", suppress="remove"),
        tc.Generalise(
            {"age": tc.Hierarchy.intervals([20]), "region": tc.Hierarchy.redaction()}, distinct_l=3, t=0.4, k=2
        ),
        tc.Generalise(
            {"age": tc.Hierarchy.intervals([5, 10, 20, 40]), "region": tc.Hierarchy.redaction()},
            weights={"age": 2},
            levels={"age": (1, 4)},
            sensitive=["marital"],
            limit=0.4,
            entropy_l=1.1,
            recursive_l=2,
            c=3.0,
            checks=500,
            seconds=60,
            k=2,
        ),
        tc.Generalise({"age": tc.Hierarchy.intervals([20, 40])}, k=2, limit=0.5, strata=["sex"]),
        tc.Generalise({"marital": tc.Hierarchy.redaction()}, k=2, limit=0.5, key_set="outside"),
    ),
    "suppress": (
        tc.Suppress(),
        tc.Suppress(k=2, importance={"age": 4, "region": 1}, ghosts={"age": ["born"]}, only=range(1, 200)),
        tc.Suppress(combs={2: 4, 3: 2}, household_variables=["region"], as_told=True),
        tc.Suppress(key_sets=["outside"], closed=False),
        tc.Suppress(k=2, rate=0.05, closed=False),
        tc.Suppress(risk=0.05, household_risk=0.15, strata=["sex"], importance="suda"),
    ),
    "suppress_key": (
        tc.SuppressKey("age"),
        tc.SuppressKey("region", risk=0.05, only="income > 100"),
    ),
    "new_identifiers": (
        tc.NewIdentifiers(),
        tc.NewIdentifiers(["name", SURVEY.scenario.household or ""], within_households=True),
    ),
    "drop_records": (
        tc.DropRecords("age > 70"),
        tc.DropRecords({"unsafe": "k_anonymity"}, larger_than=4, whole_households=True),
        tc.DropRecords(larger_than=3),
        tc.DropRecords([3, 5, 1000000], whole_households=True),
    ),
    "sample": (
        tc.Sample(0.3),
        tc.Sample(size=60, strata=["region"], allocation="equal", keep_totals=True, weight=WEIGHT),
        tc.Sample(0.5, strata=["sex", "citizenship"], households=False, new_weight="adjusted"),
    ),
    "random_order": tuple(tc.RandomOrder(how) for how in ("simple", "households", "within_households")),
    "round_weights": (
        tc.RoundWeights(),
        tc.RoundWeights(digits=1, within=["region"]),
        tc.RoundWeights(base=0.5, random=True),
        tc.RoundWeights(base=10, random=True, keep_total=False),
        tc.RoundWeights(base=5, random=True, weight=WEIGHT, only="age > 20", strata=["sex"]),
    ),
    "trim_weights": (
        tc.TrimWeights(least=20, most=40),
        tc.TrimWeights(share=0.2, least=5.0),
        tc.TrimWeights(most=60, within=["region"], weight=WEIGHT, only="age > 20", strata=["sex"]),
    ),
    "weight_noise": (
        tc.WeightNoise(0.3),
        tc.WeightNoise(0.1, least=2, within=["region"]),
        tc.WeightNoise(0.2, weight=WEIGHT, only="age > 20", strata=["sex"]),
    ),
    "recalibrate": (
        tc.Recalibrate(["region", "sex"], method="linear", bounds=(0.2, 5.0)),
        tc.Recalibrate(totals={"sex": {"female": 5000, "male": 4000}}),
        tc.Recalibrate(["region"], tolerance=1e-6, weight=WEIGHT, only=f"{SURVEY.scenario.household} > 40"),
    ),
    "noise": (
        tc.Noise(["income", "age"], 0.2),
        tc.Noise(["income", "age"], 0.3, method="correlated", least={"age": 0}, keep_signs=True),
        tc.Noise(["income", "age"], 0.3, method="restricted", weighted=True, keep_totals=True),
        tc.Noise(["income", "age"], 0.75, method="delta", keep_zeros=False, greatest=1e9),
        tc.Noise(["income", "age"], 0.5, method="exact", weighted=True),
        tc.Noise(["income", "age"], 0.5, method="romm", only="age > 20", strata=["sex"]),
        tc.Noise(["income", "age"], 0.5, method="outliers", relations=["income >= age"]),
        tc.Noise("income", 0.1, method="multiplicative", least=0, strata=["sex"]),
        tc.Noise("income", 0.1, method="two_sided", only="age > 20"),
    ),
    "pram": (
        tc.Pram(["region", "nace"]),
        tc.Pram(["age", "citizenship"], pd=0.3, alpha=1.0, fixed=True, publish_matrix=True),
        tc.Pram("nace", diagonal=0.5, weighted=True),
        tc.Pram("age", diagonal=0.4, bandwidth=2, invariant=False),
        tc.Pram("age", pd=0.2, alpha=0.9, bandwidth=3, only="income > 100", strata=["sex"]),
        tc.Pram("sex", matrix=[[0.7, 0.3], [0.0, 1.0]], categories=["female", "male"]),
        tc.Pram("sex", matrix={"female": {"female": 0.7, "male": 0.3}, "male": {"male": 0.6, "female": 0.4}}),
        tc.Pram(["region", "citizenship"], pd=0.5, together=True, strata=["sex"]),
    ),
    "rank_swap": (
        tc.RankSwap("income", window=0.05),
        tc.RankSwap(["age", "income"], correlation=0.9, only="age > 20", strata=["sex"]),
        tc.RankSwap(["age", "income"], subset_means=0.5, top=0.05, bottom=0.1, tails="keep"),
        tc.RankSwap("income", window=0.2, top=0.1),
    ),
    "swap_records": (
        tc.SwapRecords("region", rate=0.3),
        tc.SwapRecords("region", similar=[["size"], []], risk_variables=["sex", "age"], k=2, same_size=False),
        tc.SwapRecords("region", risk=WEIGHT, threshold=40.0, carry_along="weight", only="age > 20"),
        tc.SwapRecords(["region", "nace"], within="sex", household="name", carry_along="born", strata=["marital"]),
    ),
    "random_swap": (
        tc.RandomSwap("citizenship", rate=0.3),
        tc.RandomSwap(["region", "age", "born"], rate=0.5, within=["sex"], strata=["marital"]),
        tc.RandomSwap(["nace", "income"], rate=1.0, together=False, only="age > 20"),
    ),
    "microaggregate": (
        tc.Microaggregate(["income", "age"]),
        tc.Microaggregate(["age", "income"], k=4, method="variable_mdav", gamma=1.1, log=True, only="income > 0"),
        tc.Microaggregate(["income", "age"], k=5, method="principal_component", clusters=3, average="median"),
        tc.Microaggregate(["income", "age"], k=10, method="robust_distance", average="trimmed_mean", trim=0.1),
        tc.Microaggregate(["income", "age"], weighted=True, sensitive="marital", l=3, strata=["sex"]),
        tc.Microaggregate(["income", "age"], k=4, method="influence", clusters=4, average="one_step"),
        tc.Microaggregate(["income", "age"], k=3, method="projection_pursuit"),
        tc.Microaggregate(["income", "age"], k=3, method="robust_component"),
        tc.Microaggregate(["income", "age"], k=3, method="individual"),
        tc.Microaggregate("income", k=6, method="optimal"),
    ),
    "shuffle": (
        tc.Shuffle("income"),
        tc.Shuffle(["income", "age"], by=["region", "sex", "size", WEIGHT]),
        tc.Shuffle(["age", "income"], by="marital", only="age > 20", strata=["sex"]),
        tc.Shuffle(["income", "age"], by=["citizenship"], method="normal"),
        tc.Shuffle(["income", "age"], by=["nace"], relations=["income >= age"]),
    ),
    "mask_by_model": (
        tc.MaskByModel(["income", "age"], by=["region", "marital"]),
        tc.MaskByModel(["income", "age"], by="citizenship", factor=2.0, tail=0.3, weighted=True),
        tc.MaskByModel("income", by=["region", "nace"], log=False, only="age > 20", strata=["sex"]),
        tc.MaskByModel(["age", "income"], relations=["income >= age"], only={"unsafe": "k_anonymity"}),
    ),
    "microaggregate_mixed": (
        tc.MicroaggregateMixed(["income", "age", "region", "marital"]),
        tc.MicroaggregateMixed(["region", "marital", "income"], ["age", "sex"], k=4, nominal="drawn", strata=["sex"]),
        tc.MicroaggregateMixed(["marital", "income"], weights={"income": 3.0}, nominal="medoid", average="median"),
        tc.MicroaggregateMixed(
            ["region", "marital", "age"],
            ["income", "age", "region"],
            semicontinuous={"income": 0.0},
            keep_combinations=True,
            gamma=1.1,
            random_ties=True,
            only="age > 20",
        ),
        tc.MicroaggregateMixed(["income", "region"], k=5, weighted=True, nominal="medoid"),
    ),
    "synthesise": (
        tc.Synthesise(),
        tc.Synthesise(["sex", "age", "income"], smooth=True, least_leaf=10, least_distinct=3, order=["income"]),
        tc.Synthesise(["age", "born", "nace"], given=["sex", "marital"], rules=["age >= 15"], tries=3, proper=True),
        tc.Synthesise(["age", "citizenship", "income"], method="copula", weighted=True, smooth=True),
        tc.Synthesise(["age", "income"], copies=3, copy_name="m", only="age > 20", strata=["sex"]),
        tc.Synthesise(["income", "marital"], method="copula", copies=2, proper=True, given=()),
    ),
}
"""Every step, as it would be used."""

STEPS = [step for examples in EXAMPLES.values() for step in examples]


def named(step: Step) -> str:
    return f"{step.kind()}-{STEPS.index(step)}"


def data_for(step: Step) -> Data:
    return FEW if isinstance(step, tc.Suppress) else DATA


def released(step: Step, data: Data) -> tc.Release:
    return tc.Plan([step]).apply(data, WHO, seed=7)


def applied(step: Step, data: Data) -> Data:
    return released(step, data).data


def test_every_step_is_here_and_public() -> None:
    assert set(EXAMPLES) == {step.kind() for step in own_steps()}
    assert all(isinstance(step, own) for own in own_steps() for step in EXAMPLES[own.kind()])
    assert all(getattr(tc, own.__name__) is own for own in own_steps())
    assert list(OWN) == [own.kind() for own in own_steps()]
    assert list(OWN.values()) == [f"{own.__module__}:{own.__name__}" for own in own_steps()]


@pytest.mark.parametrize("step", STEPS, ids=named)
def test_steps_keep_the_public_contract(step: Step) -> None:
    check_step(step, data_for(step), WHO)


@dataclass(frozen=True)
class Careless(Step):
    """A step that breaks its contract, in one of several ways."""

    how: str = ""

    @property
    def draws(self) -> bool:
        """Said, but not done."""
        return self.how == "no draws"

    def apply(self, data: Data, context: Context) -> Applied:
        if self.how == "reversed":
            order = (Mechanism("order", ()),)
            return Applied(data.take(np.argsort(-data.record, kind="stable")), mechanisms=order)
        if self.how == "codes":
            noise = (Mechanism("noise", ("income",)),)
            return Applied(data.with_columns({"income": data.table["income"] * 2}), mechanisms=noise)
        if self.how == "draws":
            return Applied(
                data.with_columns({"income": context.draws.uniform(data.record)}),
                mechanisms=(Mechanism("noise", ("income",)),),
            )
        place = np.arange(len(data), dtype=np.float64)
        if self.how == "silent":
            return Applied(data.with_columns({"income": data.numbers("income") + 1}))
        values = place if self.how == "order" else np.where(np.isnan(data.numbers("income")), 0.0, 1.0)
        return Applied(data.with_columns({"income": values}), mechanisms=(Mechanism("noise", ("income",)),))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("silent", "the step changes data and reports no mechanism"),
        ("order", "the step depends on the order of the records"),
        ("missing", "the step gives or takes missing values of 'income'"),
        ("codes", "the step changes codes of 'income'"),
        ("draws", "the step gives other data for another seed, but does not declare that it draws"),
        ("no draws", "the step draws, but another seed gives the same data"),
        ("reversed", "the step drops or reorders records without declaring it"),
    ],
)
def test_a_step_that_breaks_the_contract_is_found(how: str, message: str) -> None:
    with pytest.raises(AssertionError) as found:
        check_step(Careless(how), DATA, WHO)
    assert str(found.value) == message


def test_steps_are_frozen() -> None:
    for step in STEPS:
        with pytest.raises(FrozenInstanceError):
            step.label = "other"  # type: ignore[misc]


@pytest.mark.parametrize("kind", EXAMPLES)
def test_steps_go_to_toml_and_back(kind: str) -> None:
    for step in EXAMPLES[kind]:
        plan = tc.Plan([step])
        back = tc.Plan.from_toml(plan.to_toml())
        # The text tells a number from a whole number, which count as equal.
        assert (back, repr(back), back.to_toml()) == (plan, repr(plan), plan.to_toml())
        assert tomllib.loads(plan.to_toml())["plan"]["steps"][0]["step"] == kind


@pytest.mark.parametrize("kind", EXAMPLES)
def test_every_parameter_of_every_step_is_tried(kind: str) -> None:
    """Each at another value than its default, `only` and `strata` included, unless the step refuses to be for some."""
    usual = {each.name: each.default for each in parameters_of(type(EXAMPLES[kind][0]))}
    tried = {
        name
        for step in EXAMPLES[kind]
        for name, default in usual.items()
        if default is REQUIRED or getattr(step, name) != default
    }
    # Some steps are for whole files: they refuse to be for some records, and say why.
    parts = {"only": "age > 20", "strata": ("sex",)}
    for name in (each for each in parts if each in usual):
        chosen = {name: parts[name]}
        if unless_refused(kind, lambda: replace(EXAMPLES[kind][0], **chosen)) is None:  # noqa: B023
            tried.add(name)
    assert tried == set(usual) - {"label"}


def by_record(data: Data) -> Iterator[tuple[int, tuple[object, ...]]]:
    return zip(data.record.tolist(), data.table.rows(), strict=True)


def log_counts_what_differs(release: tc.Release, data: Data) -> None:
    (change,) = release.changes
    before = dict(by_record(data.without(change.variables_removed)))
    made = dict(by_record(release.data.without(change.variables_added)))
    after = {record: row for record, row in made.items() if record in before}
    columns = [name for name in data.columns if name not in change.variables_removed]
    counted = dict.fromkeys(columns, 0)
    touched = 0
    for record, row in after.items():
        differs = [one != other for one, other in zip(before[record], row, strict=True)]
        touched += any(differs)
        for name, differ in zip(columns, differs, strict=True):
            counted[name] += differ
    assert dict(change.cells) == {name: count for name, count in counted.items() if count}
    assert change.records == touched
    assert change.records_removed == len(before) - len(after)
    assert change.records_added == len(made) - len(after)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_log_counts_what_differs_and_quotes_no_value(kind: str) -> None:
    """And what a step declares happens in some example: blanks and lost records need data that call for them.

    That it draws is checked of every example, both ways.
    """
    data = data_for(EXAMPLES[kind][0])
    there = sum(int(data.missing(name).sum()) for name in data.columns)
    gained, lost = [], []
    for step in EXAMPLES[kind]:
        release = released(step, data)
        log_counts_what_differs(release, data)
        assert "Quetzalcoatl" not in str(release) + repr(release) + str(release.to_dict())
        if step.adds_missing:
            gained.append(sum(int(release.data.missing(name).sum()) for name in release.data.columns) > there)
        if not step.keeps_records:
            lost.append(release.data.record.tolist() != data.record.tolist())
    assert any(gained) == bool(gained)
    assert any(lost) == bool(lost)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_variables_of_the_step_that_are_not_there_are_an_error(kind: str) -> None:
    for step in EXAMPLES[kind]:
        named_variables = [getattr(step, name, None) for name in ("variable", "variables")]
        names = [name for given in named_variables if given for name in ((given,) if isinstance(given, str) else given)]
        for name in names:
            left = DATA.without([name])
            who = tc.Scenario(keys=[key for key in WHO.keys if key != name])
            with pytest.raises(TacitaError, match=f"not in the data: '{name}'"):
                tc.Plan([step]).apply(left, who)


NOT_APPLICABLE = {"age": 999, "income": -5.0, "citizenship": "none", "nace": "00.0"}


def with_not_applicable(data: Data) -> tuple[Data, dict[str, np.ndarray]]:
    """The survey with a code for not applicable in some records of each of these, and where."""
    where = {name: np.arange(len(data)) % 3 == place % 3 for place, name in enumerate(NOT_APPLICABLE)}
    columns = {
        name: [code if here else value for here, value in zip(where[name], data.table[name], strict=True)]
        for name, code in NOT_APPLICABLE.items()
    }
    plain = {name: tc.Variable(label=data.variable(name).label, scale=data.scale(name)) for name in columns}
    return data.with_columns(columns, plain), where


@pytest.mark.parametrize("step", STEPS, ids=named)
def test_codes_for_not_applicable_are_kept_whoever_declares_them(step: Step) -> None:
    """With the data or in the scenario: a category of its own, in no band, not rounded and not cut off."""
    data, where = with_not_applicable(data_for(step))
    who = replace(WHO, not_applicable={name: (code,) for name, code in NOT_APPLICABLE.items()})
    told = {name: replace(data.variable(name), not_applicable=(code,)) for name, code in NOT_APPLICABLE.items()}
    known = replace(data, variables={**data.variables, **told})
    release = tc.Plan([step]).apply(data, who, seed=7)
    declared = tc.Plan([step]).apply(known, WHO, seed=7)
    assert release.data.table.equals(declared.data.table)
    for name, code in NOT_APPLICABLE.items():
        if step.draws_codes:
            continue
        values, here = release.data.table[name], where[name][release.data.record - 1]
        shown, others = ({text_of(value) for value in values.filter(rows).drop_nulls()} for rows in (here, ~here))
        # The top of a hierarchy holds everything.
        assert shown <= {text_of(code), "*"}, name
        assert text_of(code) not in others, name
        if not step.adds_missing:
            assert values.filter(here).null_count() == 0, name


@pytest.mark.parametrize("step", STEPS, ids=named)
def test_steps_do_to_pandas_what_they_do_to_polars(step: Step) -> None:
    data = data_for(step)
    given = data.table.to_pandas()
    # pandas has no dates and no missing whole numbers: what it made of them is what both get.
    ours, theirs = (applied(step, Data.of(each, data.variables)) for each in (pl.from_pandas(given), given))
    for name in ours.columns:
        assert not frame.different(ours.table[name], theirs.table[name]).any(), name
    assert list(theirs.to_native().columns) == list(ours.columns)


def test_labels_name_the_variables() -> None:
    assert tc.Plan([tc.Round(["a", "b"], base=1)]).labels == ("round a, b",)
