"""`tacita steps` and `tacita measures` say what there is, and the parameters of one as they are declared."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Annotated

import pytest

from tacita.data import Data
from tacita.measure_index import MEASURES
from tacita.measures import find
from tacita.parameters import AtLeast, Doc, parameters_of
from tacita.protect import steps
from tacita.protect.step import Applied, Context, Step
from tacita.protect.steps import own_steps

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def said(run: Run) -> Callable[..., str]:
    """What a command prints that ends well."""

    def of(*words: str) -> str:
        code, out, err = run(*words)
        assert (code, err) == (0, "")
        return out

    return of


def heads(text: str) -> set[str]:
    """The names of the parameters that are told."""
    return set(re.findall(r"^  (\w+)(?::|$)", text, re.MULTILINE))


def test_every_step_is_listed_and_told_with_every_parameter(said: Callable[..., str]) -> None:
    listed = said("steps")
    for step in own_steps():
        assert f"\n{step.kind()} " in f"\n{listed}"
        text = said("steps", step.kind())
        assert text.startswith(f"{step.kind()}: ")
        ways = [each.name for way in step.ways.values() for each in parameters_of(way)]
        assert heads(text) == {each.name for each in step.parameters()} - ({"way"} if ways else set()) | set(ways)


def test_every_measure_is_listed_and_told_with_every_option(said: Callable[..., str]) -> None:
    listed = said("measures")
    for name in MEASURES:
        assert f"\n{name} " in f"\n{listed}"
        text = said("measures", name)
        assert text.startswith(f"{name}: ")
        assert heads(text) == {each.name for each in find(name).parameters}


def test_a_step_with_several_ways_tells_each(said: Callable[..., str]) -> None:
    text = said("steps", "recode")
    assert "\n  as_codes: true or false; False unless given\n      Whether groups become whole numbers" in text
    assert "\nand what one of these ways has:\n\nby breaks: Intervals between breaks, those at the ends open.\n" in text
    assert "\n  width: number above 0; must be given\n      The width of intervals.\n" in text
    assert "\n  closed: 'left' or 'right'; left unless given\n" in text
    assert "\n  way" not in text
    assert all(len(line) <= 100 for line in text.splitlines())


def test_what_a_measure_needs_and_limits(said: Callable[..., str]) -> None:
    text = " ".join(said("measures", "l_diversity").split())
    assert "It is a measure of a file under a scenario. It needs: keys, sensitive." in text
    assert "must be at least the limit." in text
    assert "It is a measure of an original and what was released of it." in said("measures", "distance_linkage")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("steps", "rond"), "there is no step 'rond'. Did you mean 'round'?"),
        (("measures", "sudda"), "measures: there is no measure 'sudda'. Did you mean 'suda'?"),
    ],
)
def test_names_that_there_are_not(run: Run, words: tuple[str, ...], message: str) -> None:
    assert run(*words) == (2, "", f"tacita: {message}\n")


@dataclass(frozen=True)
class MyNoise(Step):
    """Noise of another package."""

    times: Annotated[int, AtLeast(2), Doc("How often.")]

    def apply(self, data: Data, context: Context) -> Applied:
        """Nothing."""
        return Applied(data)


def test_steps_of_other_packages_are_told_too_and_a_broken_one_hides_none(
    said: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    points = [
        EntryPoint("my_noise", "test_method_commands:MyNoise", steps.GROUP),
        EntryPoint("broken", "no_such_package:Broken", steps.GROUP),
    ]
    monkeypatch.setattr(steps, "entry_points", lambda group: points)
    listed = " ".join(said("steps").split())
    assert "my_noise Noise of another package. broken the step 'broken' of an installed package cannot be" in listed
    assert "\n  times: whole number at least 2; must be given\n      How often.\n  label: text\n" in said(
        "steps", "my_noise"
    )
