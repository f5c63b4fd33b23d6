"""Recoding: times and memory of every recoding step, on one variable of as many records."""

from __future__ import annotations

from typing import Any

from benchmarks import measure

SIZES = (10_000, 100_000, 1_000_000)
TARGET = 5.0
"""Seconds for a step on a million records."""


def _file(records: int) -> Any:
    """Ages, incomes that nearly all differ, codes of an occupation, dates, places of birth with a long tail."""
    import numpy as np

    from tacita import frame
    from tacita.data import Data, Variable

    draw = np.random.default_rng(1)
    income = np.round(np.exp(draw.normal(10, 1, records)), 2)
    columns = {
        "age": draw.integers(0, 100, records),
        "income": np.where(draw.random(records) < 0.02, np.nan, income),
        "wealth": np.round(income * np.exp(draw.normal(1, 0.7, records)), 2),
        "job": draw.integers(1000, 9999, records),
        "born": (np.datetime64("1930-01-01") + draw.integers(0, 30_000, records)),
        "place": (
            1 + np.minimum(draw.geometric(0.03, records), 400).astype(np.uint32),
            [f"town {i}" for i in range(402)],
        ),
    }
    return Data(frame.table(columns), {"job": Variable(scale="nominal")})


def _steps() -> dict[str, Any]:
    import tacita as tc

    towns = [f"town {i}" for i in range(402)]
    rows = [(town, f"county {i // 20}") for i, town in enumerate(towns)]
    return {
        "breaks": tc.Recode("age", breaks=[18, 30, 45, 65]),
        "width": tc.Recode("age", width=5, top=85),
        "width, fractions": tc.Recode("income", width=500),
        "equal counts": tc.Recode("income", groups=10),
        "mapping": tc.Recode("place", mapping={town: f"county {i // 20}" for i, town in enumerate(towns)}),
        "scheme": tc.Recode("age", scheme="1:-17\n2:18-64\n3:65-"),
        "digits": tc.Recode("job", digits=2),
        "hierarchy": tc.Recode("place", hierarchy=tc.Hierarchy.rows(rows)),
        "dates": tc.Recode("born", dates="quarter"),
        "codes with labels": tc.Recode("age", width=5, as_codes=True),
        "top code": tc.TopCode("income", share=0.01, value="mean"),
        "top code, category": tc.TopCode("age", at=85, value="85+"),
        "top code together": tc.TopCode(["income", "wealth"], share=0.01, value="mean", together=True),
        "outliers": tc.CodeOutliers(["income", "wealth"]),
        "group rare": tc.GroupRare("place", least=50),
        "round, base": tc.Round("income", base=0.1),
        "round, digits": tc.Round("income", digits=2),
        "round, whole": tc.Round("job", base=10),
        "remove": tc.Remove("place"),
    }


def step(records: int, name: str) -> dict[str, Any]:
    """One step by itself, as a plan would call it."""
    import tacita as tc
    from tacita.protect.step import Context

    data, wanted = _file(records), _steps()[name]
    context = Context(tc.Scenario(keys=["age"]), tc.Policy(), tc.Draws(1), data)
    times, made = measure.timed(lambda: wanted.apply(data, context))
    return {**times, "records": len(made.data)}


def plan(records: int) -> dict[str, Any]:
    """A plan of five recodings, with its log of changes."""
    import tacita as tc

    steps = _steps()
    data = _file(records)
    wanted = tc.Plan([steps[name] for name in ("width", "digits", "dates", "group rare", "top code")])
    times, _ = measure.timed(lambda: wanted.apply(data, tc.Scenario(keys=["age", "job", "place"]), seed=1), repeats=1)
    return times


CASES = {"step": step, "plan": plan}


def report(quick: bool) -> None:
    """Print the tables."""
    sizes = SIZES[:2] if quick else SIZES
    rows = [measure.HEAD]
    for name in _steps():
        for records in sizes:
            result = measure.run_case("recoding", "step", records=records, name=name)
            rows.append(measure.row(name, records, result, target=TARGET if records == SIZES[-1] else None))
    measure.show("Recoding steps", rows, ["peak memory includes the file itself"])
    rows = [measure.HEAD]
    for records in sizes:
        rows.append(measure.row("five recodings", records, measure.run_case("recoding", "plan", records=records)))
    measure.show("A plan of five recodings, changes counted", rows)


if __name__ == "__main__":
    measure.main(CASES, report)
