"""Long jobs, tracebacks and hangs that strangers found: one test for each."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.protect.recode.hierarchies import table as hierarchy_table
from tacita.work import Work, allow

Run = Callable[..., tuple[int, str, str]]
PEOPLE = pl.DataFrame({"age": [1, 2, 3, 1], "sex": ["f", "m", "f", "f"], "x": [1.0, 2.0, 3.0, 4.0]})
WHO = tc.Scenario(["age", "sex"])


def refusal(work: Callable[[], Any]) -> str:
    with pytest.raises(tc.TacitaError) as error:
        work()
    assert "\n" not in str(error.value)
    return str(error.value)


def test_scenarios_and_policies_may_be_tables_and_files(tmp_path: Path) -> None:
    """Item 17: each was an AttributeError, a TypeError or refused, though what is meant is clear."""
    expected = str(tc.assess(PEOPLE, WHO, tc.Policy(k=2)))
    path, limits = tmp_path / "scenario.toml", tmp_path / "policy.toml"
    WHO.save(path)
    tc.Policy(k=2).save(limits)
    assert str(tc.assess(PEOPLE, WHO, {"k": 2})) == expected  # type: ignore[arg-type]
    assert str(tc.assess(PEOPLE, str(path), limits)) == expected  # type: ignore[arg-type]
    assert str(tc.assess(PEOPLE, {"keys": ["age", "sex"]}, tc.Policy(k=2))) == expected  # type: ignore[arg-type]
    assert tc.Scenario(["age", "sex"]) == tc.Scenario(keys=["age", "sex"])
    for measure in (tc.risk.suda, tc.risk.k_anonymity):
        assert str(measure(data=PEOPLE, scenario=path)) == str(measure(PEOPLE, WHO))
    release = tc.Plan([tc.Round("x", base=2)]).apply(PEOPLE, path, {"k": 2}, seed=1)  # type: ignore[arg-type]
    assert release.policy.k == 2
    assert "takes data, scenario" in refusal(lambda: tc.risk.suda(PEOPLE))  # type: ignore[call-arg]
    assert "'intervals'" in refusal(lambda: tc.risk.interval_confidentiality(PEOPLE, PEOPLE, WHO))  # type: ignore[call-arg]


def test_what_is_nested_without_end_is_refused() -> None:
    """Item 48: a plan nested 5,000 deep was a RecursionError."""
    deep = "[" * 5000 + "]" * 5000
    message = "must have at most 50 lists and tables in one another; write it flatter."
    assert message in refusal(lambda: tc.Plan.from_toml(f"format = 1\n[plan]\nsteps = {deep}\n"))
    key = ".".join(["a"] * 5000)
    assert message in refusal(lambda: tc.Plan.from_toml(f"format = 1\n[plan]\n{key} = 1\n"))
    nested: Any = {}
    for _ in range(5000):
        nested = {"a": nested}
    assert message in refusal(lambda: tc.Recode("age", mapping=nested))
    assert message in refusal(lambda: tc.risk.unsafe_combinations(PEOPLE, WHO, tables=nested))


@pytest.mark.parametrize("rule", ["age < 1 = 'x'", "1 = 'x'", "abs(age) = 'x'", "age + 1 != 'x'"])
def test_a_rule_that_compares_a_text_with_a_number(rule: str) -> None:
    """Item 48: an AssertionError."""
    text = refusal(lambda: tc.Plan([tc.RandomOrder()]).apply(PEOPLE, WHO, rules=[rule]))
    assert "compares" in text


def test_columns_of_objects_and_of_huge_numbers() -> None:
    """Item 48: raw errors and panics of Polars."""
    objects = PEOPLE.with_columns(o=pl.Series([object() for _ in range(4)], dtype=pl.Object))
    assert "column 'o' holds objects" in refusal(lambda: tc.Plan([tc.Round("x", base=2)]).apply(objects, WHO))
    huge = PEOPLE.with_columns(big=pl.Series([2**100, 1, 2, 3], dtype=pl.Int128))
    assert "beyond 64 bits" in refusal(lambda: tc.Plan([tc.TopCode("big", at=2)]).apply(huge, WHO))
    wide = PEOPLE.with_columns(n=pl.Series([7, None, 2, 3], dtype=pl.Int128))
    coded = tc.Plan([tc.TopCode("n", at=3)]).apply(wide, WHO).data
    assert coded.table["n"].to_list() == [3, None, 2, 3]


def test_a_model_that_is_none_and_a_unit_that_is_in_one_file_only() -> None:
    """Found by random calls: a name that is no model was taken for Benedetti and Franconi without a word."""
    for model in ("latnet", PEOPLE["age"]):
        assert "model must be one of 'latent', 'benedetti_franconi'" in refusal(
            lambda model=model: tc.assess(PEOPLE, WHO, model=model)  # type: ignore[misc]
        )
    assert "unit of the released file not in the data: 'x'" in refusal(
        lambda: tc.risk.external_risk(PEOPLE, PEOPLE.drop("x"), WHO, unit="x")
    )


def test_messages_repeat_no_cells_and_no_lines() -> None:
    for value in (PEOPLE, PEOPLE["sex"], PEOPLE.to_pandas(), np.array(["f"]), [PEOPLE["sex"]], {"a": PEOPLE["sex"]}):
        text = refusal(lambda value=value: tc.Total(variable=value, value=1))  # type: ignore[misc]
        assert "'f'" not in text
    assert len(refusal(lambda: tc.Total(variable=["x" * 9] * 999, value=1))) < 400  # type: ignore[arg-type]
    for number in (10**400, -(10**400)):
        assert "got" in refusal(lambda number=number: tc.Policy(k=number))  # type: ignore[misc]


def test_an_end_of_line_in_the_name_of_a_file_ends_no_message(tmp_path: Path) -> None:
    """Found by random calls: `write(table, "a\\nb")` was refused in two lines."""
    with pytest.raises(tc.TacitaError, match=r"^a\\nb must end in one of"):
        tc.write(pl.DataFrame({"a": [1]}), tmp_path / "a\nb")


def test_work_is_refused_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    allow("suda", Work(1e9, "do less"), most=1e10)
    assert refusal(lambda: allow("suda", Work(7200.0, "do less"))) == (
        "suda would take about 2 hours; do less, or wait for it with TACITA_MINUTES=120."
    )
    monkeypatch.setenv("TACITA_MINUTES", "120")
    allow("suda", Work(7200.0, "do less"))
    monkeypatch.setenv("TACITA_MINUTES", "soon")
    assert "TACITA_MINUTES must be a number of minutes" in refusal(lambda: allow("suda", Work(7200.0, "do less")))


def test_all_measures_of_a_large_file_end_and_say_what_was_left_out(run: Run, tmp_path: Path) -> None:
    """Item 19: `--measure all` on 20,000 records and 7 keys, one of them with 619 values, did not end in 11 minutes."""
    draws = np.random.default_rng(1)
    size = 20_000
    columns = {"town": draws.integers(0, 619, size), **{f"k{at}": draws.integers(0, 6, size) for at in range(6)}}
    pl.DataFrame({**columns, "w": draws.uniform(2, 9, size).round(1)}).write_csv(tmp_path / "large.csv")
    keys = "town,k0,k1,k2,k3,k4,k5"
    code, out, _ = run("assess", tmp_path / "large.csv", "--keys", keys, "--weight", "w", "--measure", "all")
    assert code == 0
    assert "loglinear_risk would take about" in " ".join(out.split())
    assert "it was left out" in " ".join(out.split())
    assert "special unique" in out or "suda" in out


def test_a_size_that_would_not_end_is_refused_before_it_starts() -> None:
    draws = np.random.default_rng(2)
    wide = pl.DataFrame({f"k{at}": draws.integers(0, 2, 40) for at in range(60)} | {"w": [5.0] * 40})
    many = tc.Scenario([f"k{at}" for at in range(60)])
    assert "suda would take" in refusal(lambda: tc.risk.suda(wide, many))
    assert "unsafe_combinations would take" in refusal(lambda: tc.risk.unsafe_combinations(wide, many, largest=30))
    few = tc.Scenario([f"k{at}" for at in range(22)], weight="w")
    assert "loglinear_risk would take" in refusal(lambda: tc.risk.loglinear_risk(wide, few))
    wild = tc.Scenario([f"k{at}" for at in range(30)], missing=tc.MissingRule("wildcard"))
    assert "step 'suppress' would take" in refusal(lambda: tc.Plan([tc.Suppress()]).apply(wide, wild))
    tables = [[f"k{at}" for at in range(12)]] * 10**5
    assert "table_loss would take" in refusal(lambda: tc.loss.table_loss(wide, wide, many, tables=tables))
    assert "propensity_loss would take" in refusal(
        lambda: tc.loss.propensity_loss(wide, wide, many, two_way=True, permutations=10**6)
    )


def test_the_delimiter_of_a_hierarchy_is_found_by_its_first_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Item 49: a hierarchy file of 100,000 rows took 12 s: the delimiter was looked for in all of them, four times."""
    (tmp_path / "h.csv").write_text("".join(f"{at};{at // 10};all\n" for at in range(5000)))
    split, lines = hierarchy_table._split, []
    monkeypatch.setattr(hierarchy_table, "_split", lambda some, sign: lines.append(len(some)) or split(some, sign))
    assert tc.Hierarchy.csv(tmp_path / "h.csv").height == 2
    assert sorted(lines) == [1000] * 4 + [5000]


@pytest.mark.parametrize("suffix", ["", ".parquet"])
def test_a_name_that_no_system_can_have_is_refused_in_one_sentence(suffix: str) -> None:
    name, who = "x" * 5000 + suffix, tc.Scenario(keys=["sex"])
    for refused in (lambda: tc.Plan([]).apply(name, who), lambda: tc.assess(name, who), lambda: tc.LargeData.of(name)):
        with pytest.raises(tc.TacitaError, match=r"could not be read \(File name too long\)\.$"):
            refused()
