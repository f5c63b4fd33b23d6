"""`tacita steps` and `tacita measures` say what there is, and the parameters of one as they are declared."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Annotated

import pytest
from typer.testing import CliRunner

from tacita.check import TacitaError
from tacita.cli import app
from tacita.data import Data
from tacita.measures import MEASURES, find
from tacita.parameters import AtLeast, Doc
from tacita.protect import steps
from tacita.protect.step import Applied, Context, Step
from tacita.protect.steps import own_steps


def said(*words: str) -> str:
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_every_step_is_listed_and_told_with_every_parameter() -> None:
    listed = said("steps")
    for step in own_steps():
        assert f"\n{step.kind()} " in f"\n{listed}"
        text = said("steps", step.kind())
        assert text.startswith(f"{step.kind()}: ")
        for each in step.parameters():
            assert f"\n  {each.name}: " in text or (step.ways and each.name == "way")


def test_every_measure_is_listed_and_told_with_every_option() -> None:
    listed = said("measures")
    for name in MEASURES:
        assert f"\n{name} " in f"\n{listed}"
        text = said("measures", name)
        assert text.startswith(f"{name}: ")
        assert all(f"\n  {each.name}" in text for each in find(name).parameters)


def test_a_step_with_several_ways_tells_each() -> None:
    text = said("steps", "recode")
    assert "\n  as_codes: true or false; False unless given\n      Whether groups become whole numbers" in text
    assert "\nand what one of these ways has:\n\nby breaks: Intervals between breaks, those at the ends open.\n" in text
    assert "\n  width: number above 0; must be given\n      The width of intervals.\n" in text
    assert "\n  closed: 'left' or 'right'; left unless given\n" in text
    assert "\n  way" not in text
    assert all(len(line) <= 100 for line in text.splitlines())


def test_what_a_measure_needs_and_limits() -> None:
    text = said("measures", "l_diversity")
    assert "It is a measure of a file under a scenario." in text
    assert "The scenario must have keys, sensitive." in " ".join(text.split()) or "sensitive" in text
    assert "must be at least the limit." in " ".join(text.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("steps", "rond"), "there is no step 'rond'. Did you mean 'round'?"),
        (("measures", "sudda"), "measures: there is no measure 'sudda'. Did you mean 'suda'?"),
    ],
)
def test_names_that_there_are_not(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        CliRunner().invoke(app, words, catch_exceptions=False)
    assert str(error.value) == message


@dataclass(frozen=True)
class MyNoise(Step):
    """Noise of another package."""

    times: Annotated[int, AtLeast(2), Doc("How often.")]

    def apply(self, data: Data, context: Context) -> Applied:
        """Nothing."""
        return Applied(data)


def test_steps_of_other_packages_are_told_too_and_a_broken_one_hides_none(monkeypatch: pytest.MonkeyPatch) -> None:
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
