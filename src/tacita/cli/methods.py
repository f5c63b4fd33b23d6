"""`tacita steps` and `tacita measures`: what there is, and the parameters of one, as they are declared."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from tacita.check import TacitaError
from tacita.cli.terminal import say
from tacita.parameters import REQUIRED, Parameter, parameters_of

WIDTH = 100


def steps(name: Annotated[str | None, typer.Argument(help="A step, as round; none: all of them.")] = None) -> None:
    """The steps that a plan can have, those of installed packages included; of one step what it does, and how."""
    from tacita.protect.steps import find_step, step_names

    if name is None:
        _list({each: _summary(find_step, each) for each in step_names()})
        return
    step = find_step(name)
    _head(step.kind(), step)
    # The parameters of a way stand for the way.
    say(parameter_text(each for each in step.parameters() if not (step.ways and each.name == "way")))
    if step.ways:
        say("\nand what one of these ways has:")
    for way, its in step.ways.items():
        say()
        _head(f"by {way}", its)
        say(parameter_text(parameters_of(its)))


def measures(
    name: Annotated[str | None, typer.Argument(help="A measure, as suda; none: all of them.")] = None,
) -> None:
    """The measures of risk, those of installed packages included; of one what it says, what it needs, its options."""
    from tacita.measures import find, measure_names

    if name is None:
        _list({each: _summary(lambda each: find(each).function, each) for each in measure_names()})
        return
    found = find(name)
    _head(name, found.function)
    files = "a file under a scenario" if found.files == 1 else "an original and what was released of it"
    said = [f"It is a measure of {files}."]
    if found.needs:
        said.append(f"It needs: {', '.join(found.needs)}.")
    if found.limit is not None:
        direction = "at least" if found.limit.least else "at most"
        said.append(f"A policy can limit it: {found.limit.words} must be {direction} the limit.")
    say(textwrap.fill(" ".join(said), WIDTH))
    if found.parameters:
        say("\n" + parameter_text(found.parameters))


def _head(name: str, owner: Any) -> None:
    say(textwrap.fill(f"{name}: {first_paragraph(owner)}", WIDTH) + "\n")


def first_paragraph(owner: Any) -> str:
    """What something is, from its documentation."""
    return " ".join((inspect.getdoc(owner) or "").partition("\n\n")[0].split())


def parameter_text(parameters: Iterable[Parameter]) -> str:
    """Parameters for the terminal: name, what it must be, default; below it what it means."""
    return "\n".join(line for each in parameters for line in _lines(each))


def _lines(parameter: Parameter) -> Iterable[str]:
    said = [parameter.wanted.replace("`", "'")] if parameter.wanted else []
    if parameter.default is REQUIRED:
        said.append("must be given")
    elif parameter.shown_default != "none":
        said.append(f"{parameter.shown_default} unless given")
    head = f"  {parameter.name}: {'; '.join(said)}" if said else f"  {parameter.name}"
    yield from textwrap.wrap(head, WIDTH, subsequent_indent=" " * 6)
    yield from textwrap.wrap(parameter.doc, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)


def _list(summaries: dict[str, str]) -> None:
    width = max(map(len, summaries))
    for name, summary in summaries.items():
        text = f"{name.ljust(width)}  {summary}"
        say(textwrap.fill(text, WIDTH, subsequent_indent=" " * (width + 2)))


def _summary(find: Any, name: str) -> str:
    """One sentence; a package that cannot be loaded does not hide the others."""
    try:
        return first_paragraph(find(name))
    except TacitaError as error:
        return str(error)


COMMANDS = {"steps": steps, "measures": measures}
