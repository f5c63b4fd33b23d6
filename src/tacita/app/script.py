"""What was done in the app as a Python script that does the same: the same data, byte for byte."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from tacita.app.draft import Draft, Entry
from tacita.data import Variable
from tacita.declared import Declared
from tacita.protect.step import Step
from tacita.protect.steps import OWN

HEAD = '''"""What was done to {name}: made by the Tacita app, does the same as it did.

FOR THE OFFICE ONLY: it holds the seed of the random steps, and whoever knows that can undo the protection.
"""

import tacita as tc
'''


def script(draft: Draft, out: str = "released.csv") -> str:
    """The script of a draft; running it writes the released data as CSV."""
    lines = [HEAD.format(name=draft.name)]
    outside = sorted(
        {(type(each.step).__module__, type(each.step).__name__) for each in draft.entries if not _own(each.step)}
    )
    lines += [f"from {module} import {name}" for module, name in outside]
    lines += ["", f"data = {_reading(draft)}"]
    if draft.variables:
        said = ",\n".join(f"    {name!r}: {_variable(each)}" for name, each in draft.variables.items())
        lines.append(f"data = data.with_declared({{\n{said},\n}})")
    lines.append(f"scenario = tc.Scenario.from_dict({_table(_given(draft.scenario))})")
    lines.append(f"policy = tc.Policy.from_dict({_table(draft.policy.to_dict())})")
    lines += ["plan = tc.Plan(", "    [", *(_line(each) for each in draft.entries), "    ]", ")", ""]
    rules = f"rules={list(draft.rules)!r}, " if draft.rules else ""
    lines += [
        f"release = plan.apply(data, scenario, policy, {rules}seed=0x{draft.seed:x})",
        "print(release)",
        "print(release.verdict)",
        f"tc.write(release.data, {out!r})",
    ]
    return "\n".join(lines) + "\n"


def _reading(draft: Draft) -> str:
    if draft.path.startswith("demo:"):
        # The same surveys as the app's.
        surveys = {
            "household": "household_survey(1000, population=100_000, seed=1)",
            "business": "business_survey(300, seed=1)",
        }
        return f"tc.{surveys[draft.path.removeprefix('demo:')]}.data"
    options = "".join(f", {name}={value!r}" for name, value in draft.reading.items())
    return f"tc.read({draft.source!r}{options})"


def _own(step: Step) -> bool:
    return f"{type(step).__module__}:{type(step).__name__}" in OWN.values()


def _line(entry: Entry) -> str:
    step = entry.step
    given = step.to_dict()
    if step.label == step.usual_label:
        del given["label"]
    words = ", ".join(f"{name}={value!r}" for name, value in given.items())
    name = f"tc.{type(step).__name__}" if _own(step) else type(step).__name__
    return f"        {'' if entry.on else '# off: '}{name}({words}),"


def _given(scenario: Declared | None) -> dict[str, Any]:
    return {} if scenario is None else scenario.to_dict()


def _table(given: dict[str, Any]) -> str:
    lines = "".join(f"    {name!r}: {value!r},\n" for name, value in given.items())
    return f"{{\n{lines}}}"


def _variable(variable: Variable) -> str:
    usual = Variable()
    said = {each.name: getattr(variable, each.name) for each in fields(variable)}
    words = ", ".join(f"{name}={value!r}" for name, value in said.items() if value != getattr(usual, name))
    return f"tc.Variable({words})"
