"""What a notebook shows of each object, run as a kernel runs cells; progress, and interrupts."""

import ast
import io
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import tacita as tc
from tacita import progress as progress_module

CELLS = """
import tacita as tc
survey = tc.household_survey(120, population=4000, seed=3)
survey.scenario
---
tc.Policy(k=5, risk=None, limits={"l_diversity": 2})
---
plan = tc.Plan([tc.Recode("age", breaks=[15, 30, 50, 65]), tc.Suppress(k=2)])
plan
---
release = plan.apply(survey.data, survey.scenario, seed=2**100 + 1)
release
---
risk = release.assess()
risk
---
release
---
risk.plot()
"""


def shown(cells: str) -> list[str]:
    """What a kernel would show below each cell: the richest view of its last expression."""
    names: dict[str, Any] = {}
    views = []
    for cell in cells.split("---\n"):
        *before, last = ast.parse(cell).body
        exec(compile(ast.Module(before, []), "cell", "exec"), names)  # noqa: S102 - our own cells
        assert isinstance(last, ast.Expr)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
        bundle = (
            value._repr_mimebundle_() if hasattr(value, "_repr_mimebundle_") else {"text/html": value._repr_html_()}
        )
        views.append(bundle["text/html"])
    return views


def test_every_object_has_a_view_that_needs_no_connection() -> None:
    scenario, policy, plan, release, risk, known, figure = shown(CELLS)
    assert "Scenario" in scenario
    assert "region, sex, age" in scenario
    assert "<td" in policy
    assert "no limit" in policy
    assert "l_diversity: 2" in policy
    assert "Plan of 2 steps" in plan
    assert "recode age" in plan
    assert "Release: " in release
    assert "cells of" in release
    # A look does not assess; once it was asked for, the verdict is there.
    assert "The release is" not in release
    assert "The release is" in known
    assert "under this policy" in risk
    assert "<script>" in figure
    for view in (scenario, policy, plan, release, risk, known):
        assert not re.search(r"https?:|<script|src=", view)
        assert str(2**100 + 1) not in view
        # Jupyter's own style is used: no preformatted text, whose type would not be even.
        assert "<pre" not in view


def test_texts_of_a_file_are_no_markup() -> None:
    assert "<b>" not in tc.Scenario(keys=["<b>x</b>"])._repr_html_()
    assert "<b>" not in tc.Plan([tc.Remove("<b>x</b>")])._repr_html_()
    assert tc.Plan()._repr_html_() == "<div><p><strong>Plan of 0 steps</strong></p></div>"


def test_progress_appears_after_two_seconds_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, written = [0.0], io.StringIO()
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(sys, "stderr", written)
    show = tc.show_progress()
    for at, done in [(0.0, 0.0), (1.9, 0.2), (2.1, 0.3), (2.2, 0.35), (3.0, 0.5), (3.5, 1.0)]:
        clock[0] = at
        show(done, "counting keys")
    assert (
        written.getvalue() == "\r 30 % counting keys\r 50 % counting keys\r" + " " * len(" 30 % counting keys") + "\r"
    )


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    survey = tc.household_survey(120, population=4000, seed=3)
    plan = tc.Plan([tc.Recode("age", width=10), tc.Suppress(k=2)])

    def interrupted(done: float, what: str) -> None:
        if done > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plan.apply(survey.data, survey.scenario, seed=5, progress=interrupted)
    again = plan.apply(survey.data, survey.scenario, seed=5)
    assert again.data.table.equals(plan.apply(survey.data, survey.scenario, seed=5).data.table)
    assert list(tmp_path.iterdir()) == []
