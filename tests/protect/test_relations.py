"""Relations repaired after numbers changed: against a slow twin, by hand, and in what is refused."""

import math

import numpy as np
import polars as pl
import pytest

from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.protect.relations import HELD, NEAR, ROUNDS, Relation, relations_of, repaired
from tacita.protect.round import Round

STEP = Round(["x"], base=1.0)
Record = dict[str, float]


def excess(record: Record, relation: Relation) -> float:
    return sum(c * record[name] for name, c in relation.coefficients.items()) + relation.constant


def holds(record: Record, relation: Relation, near: float = NEAR) -> bool:
    found = excess(record, relation)
    size = sum(abs(c * record[name]) for name, c in relation.coefficients.items()) + abs(relation.constant)
    if relation.sign == "=":
        return abs(found) <= near * size
    return found <= near * size if relation.sign == "<=" else found < 0


def slow_repair(was: Record, now: Record, texts: tuple[str, ...], changed: tuple[str, ...], whole: bool) -> Record:
    """One record: all relations, else the equalities, else none."""
    relations = [each for text in texts for each in relations_of(text) if holds(was, each, HELD) and each.sign != "<"]
    for chosen in (relations, [each for each in relations if each.sign == "="]):
        record = slow_rounds(now, chosen, changed, whole)
        if all(holds(record, each) for each in chosen):
            return record
    return now


def slow_rounds(now: Record, relations: list[Relation], changed: tuple[str, ...], whole: bool) -> Record:
    """Relation after relation, until nothing changes any more."""
    record = dict(now)
    for rounding in (False, True) if whole else (False,):
        if rounding:
            record = {name: value if value == now[name] else float(np.rint(value)) for name, value in record.items()}
        for _ in range(ROUNDS):
            if all(holds(record, each) for each in relations):
                break
            for each in relations:
                if not holds(record, each):
                    slow_move(record, each, changed, rounding)
    return record


def slow_move(record: Record, relation: Relation, changed: tuple[str, ...], rounding: bool) -> None:
    terms = {name: c * record[name] for name, c in relation.coefficients.items()}
    free = [name for name in terms if name in changed and not math.isnan(record[name])]
    free = [relation.left] if relation.left in free else free
    if rounding and free:
        free = [max(free, key=lambda name: abs(terms[name]))]
    too_much = excess(record, relation)
    if len(free) == 1:
        change = too_much / relation.coefficients[free[0]]
        record[free[0]] -= float(np.rint(change)) if rounding else change
        return
    size = sum(abs(terms[name]) for name in free)
    for name in free if size else ():
        record[name] -= record[name] * np.sign(terms[name]) * too_much / size


SETS = [
    (("total = home + abroad",), ("total", "home", "abroad")),
    (("total = home + abroad",), ("home", "abroad")),
    (("home + abroad = total",), ("total", "home", "abroad")),
    (("total = home + abroad", "home = near + far"), ("total", "home", "abroad", "near", "far")),
    (("home = near + far", "total = home + abroad"), ("home", "abroad", "near", "far")),
    (("abroad <= total", "near >= 0", "total = home + abroad"), ("total", "home", "abroad", "near")),
    (("0 <= 2 * near <= far + 5", "home > far"), ("near", "far", "home")),
    (("home <= near", "total = home + abroad", "home = near + far"), ("total", "home", "near")),
    (("total = home + abroad", "total = home + near"), ("total", "abroad", "near")),
    (("total = home + abroad", "total = far + abroad"), ("total", "home", "far")),
]


@pytest.mark.parametrize(("texts", "changed"), SETS)
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.usual(seed=1)
@pytest.mark.parametrize("seed", range(3))
def test_repair_equals_its_slow_twin(texts: tuple[str, ...], changed: tuple[str, ...], whole: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 60
    parts = {name: rng.integers(0, 50, n).astype(float) for name in ("near", "far", "abroad")}
    was = {**parts, "home": parts["near"] + parts["far"]}
    was["total"] = was["home"] + was["abroad"]
    was["total"][::11] += 3  # does not add up already
    now = {name: values * (rng.uniform(0.5, 1.6, n) if name in changed else 1.0) for name, values in was.items()}
    now = {name: np.rint(values) if whole else values for name, values in now.items()}
    kind = pl.Int64 if whole else pl.Float64
    before, after = (Data.of(pl.DataFrame(each).cast(kind)) for each in (was, now))
    found = repaired(STEP, texts, before, after, changed)
    wanted = [
        slow_repair({k: v[i] for k, v in was.items()}, {k: v[i] for k, v in now.items()}, texts, changed, whole)
        for i in range(n)
    ]
    for name in was:
        values = found.data.table[name].to_list()
        assert values == pytest.approx([row[name] for row in wanted], rel=1e-9, abs=1e-9), name
        if name not in changed:
            assert values == was[name].tolist()
    for text in texts:
        broken = sum(
            any(
                holds({k: v[i] for k, v in was.items()}, each) and not holds(wanted[i], each)
                for each in relations_of(text)
            )
            for i in range(n)
        )
        assert found.broken[text] == broken


def frames(**columns: list[float | None]) -> Data:
    return Data.of(pl.DataFrame(columns))


def test_a_total_is_worked_out_from_its_parts() -> None:
    before = frames(total=[10, 10, 11, None], home=[4, 4, 4, 4], abroad=[6, 6, 6, 6])
    after = frames(total=[13, 13, 13, None], home=[5, 4, 5, 5], abroad=[6, 6, 6, 6])
    found = repaired(STEP, ("total = home + abroad",), before, after, ("total", "home", "abroad"))
    # The third did not add up before, the fourth has no total: they are left alone.
    assert found.data.table["total"].to_list() == [11, 10, 13, None]
    # In the second the parts are as they were, and so is the total.
    assert found.remarks == ("'total = home + abroad' gives 1 record back all of its numbers as they were",)


def test_parts_are_scaled_to_a_total_that_stays() -> None:
    before = frames(total=[10.0, 10.0], home=[4.0, 10.0], abroad=[6.0, 0.0])
    after = frames(total=[10.0, 10.0], home=[8.0, 7.0], abroad=[12.0, 0.0])
    found = repaired(STEP, ("total = home + abroad",), before, after, ("home", "abroad"))
    assert found.data.table["home"].to_list() == pytest.approx([4.0, 10.0])
    assert found.data.table["abroad"].to_list() == pytest.approx([6.0, 0.0])


def test_numbers_that_a_zero_and_a_total_give_back_are_counted() -> None:
    """A firm that sells nothing abroad had its sales at home back without a word, since zeros and the total stay."""
    before = frames(total=[10.0, 10.0, 8.0], home=[4.0, 10.0, 8.0], abroad=[6.0, 0.0, 0.0])
    after = frames(total=[10.0, 10.0, 8.0], home=[8.0, 7.0, 8.0], abroad=[5.0, 0.0, 0.0])
    found = repaired(STEP, ("total = home + abroad",), before, after, ("home", "abroad"))
    assert found.remarks == ("'total = home + abroad' gives 1 record back all of its numbers as they were",)


def test_whole_parts_stay_whole_and_add_up() -> None:
    before = frames(total=[10], a=[3], b=[3], c=[4])
    after = frames(total=[10], a=[5], b=[5], c=[5])
    found = repaired(STEP, ("total = a + b + c",), before, after, ("a", "b", "c"))
    assert found.data.table.row(0) == (10, 4, 3, 3)


def test_an_inequality_is_met_with_equality_and_a_strict_one_counted() -> None:
    before = frames(part=[1.0, 1.0, 9.0], total=[5.0, 5.0, 5.0])
    after = frames(part=[7.0, 2.0, 8.0], total=[5.0, 5.0, 5.0])
    loose = repaired(STEP, ("part <= total",), before, after, ("part",))
    assert loose.data.table["part"].to_list() == [5.0, 2.0, 8.0]
    strict = repaired(STEP, ("part < total",), before, after, ("part",))
    assert strict.data.table["part"].to_list() == [7.0, 2.0, 8.0]
    assert strict.remarks == ("'part < total' no longer holds in 1 record",)


@pytest.mark.parametrize(
    ("texts", "changed", "name"),
    [
        (("total = home + abroad",), ("home",), "home"),
        (("total = home + abroad",), ("total",), "total"),
        (("a = b + c", "b = c + d"), ("b", "c"), "b"),
    ],
)
def test_a_relation_that_would_undo_the_step_is_refused(
    texts: tuple[str, ...], changed: tuple[str, ...], name: str
) -> None:
    data = frames(total=[0], home=[0], abroad=[0], a=[0], b=[0], c=[0], d=[0])
    with pytest.raises(TacitaError, match=f"give '{name}' back from variables that the step does not change"):
        repaired(STEP, texts, data, data, changed)


def test_what_cannot_be_repaired_is_counted() -> None:
    before, after = frames(a=[1.0, 2.0], b=[1.0, 2.0]), frames(a=[1.0, 2.0], b=[1.5, 2.0])
    found = repaired(STEP, ("a = b",), before, after, ("c",))
    assert found.broken == {"a = b": 1}
    assert found.data.table.equals(after.table)


def test_relations_that_contradict_each_other_move_nothing_far() -> None:
    """After the step home is negative: abroad cannot be at most the total then."""
    before = frames(total=[10.0], home=[4.0], abroad=[6.0])
    after = frames(total=[9.0], home=[-1.0], abroad=[6.0])
    texts = ("total = home + abroad", "abroad <= total")
    found = repaired(STEP, texts, before, after, ("total", "home", "abroad"))
    assert found.data.table.row(0) == (5.0, -1.0, 6.0)
    assert found.broken == {"total = home + abroad": 0, "abroad <= total": 1}
    after = frames(total=[10.0], home=[0.0], abroad=[0.0])
    zeros = repaired(STEP, ("total = home + abroad",), before, after, ("home", "abroad"))
    assert zeros.data.table.row(0) == (10.0, 0.0, 0.0)
    assert zeros.broken == {"total = home + abroad": 1}


def test_codes_are_no_numbers() -> None:
    known = {"a": Variable(missing=(-9,))}
    before, after = (Data(pl.DataFrame({"a": [-9, 3], "b": [-9, each]}), variables=known) for each in (3, 4))
    found = repaired(STEP, ("a = b",), before, after, ("a", "b"))
    assert found.data.table["a"].to_list() == [-9, 4]


def test_names_in_backquotes_constants_and_brackets() -> None:
    (found,) = relations_of("`net income` >= 2 * (a - -b) / 4 - 7")
    assert found.coefficients == {"a": 0.5, "b": 0.5, "net income": -1.0}
    assert (found.constant, found.sign, found.left) == (-7.0, "<=", "net income")


@pytest.mark.parametrize(
    "text",
    ["a != b", "a > 0 implies b > 0", "a = b * c", "a = 1 / b", "a = abs(b)", "1 = 1", "a - a = 0", "a in (1, 2)"],
)
def test_what_is_no_relation_is_refused(text: str) -> None:
    with pytest.raises(TacitaError) as refused:
        relations_of(text)
    assert str(refused.value) == (
        f"a relation must compare sums of variables, as 'total = home + abroad'; got {text!r}, which is a rule for the "
        "plan rather than a relation to repair."
    )
