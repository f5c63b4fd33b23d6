"""Arguments and options that several commands have: what they are called and what their help says.

An option that takes several values may be repeated and its values separated by commas, on every command, and all of
them count. Any other option that is given twice is an error: the last one would count without a word.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from tacita.check import TacitaError
from tacita.cli.reading import reading_as, reading_options, start_reading_of

ARGUMENT = re.compile(
    r"\b[a-z_]+=\[[^\]]*\] \((?P<listed>--[^)]*)\)"
    r"|(?<!=)'[^']*'"
    r"|(?<!\w\()\b(?P<name>[a-z_0-9]+)=(?!\[[^.])(?P<value>'[^']*'|\[\.\.\.\]|\.\.\.|\w+)?"
    r"(?: \((?P<option>--[a-z-]+[^)]*)\)|, (?P<further>--[a-z-]+(?: FILE)?))?(?: in the scenario)?"
)
"""Something in quotes, which stays as it is; or an argument of Python, perhaps with the option that stands for it."""


def in_command_line_words(text: str, command: Any) -> str:
    """A message with arguments of Python, such as `overwrite=True`, as options of a command: `--overwrite`.

    An argument that is no option of the command stays as it is: it belongs into a file, such as that of the plan.
    """
    options: dict[str, str] = {
        each.name: max(each.opts, key=len) for each in command.params if each.param_type_name == "option"
    }

    def reworded(found: re.Match[str]) -> str:
        named = found["listed"] or found["option"] or found["further"]
        if named:
            return named
        value = (found["value"] or "...").strip("'") if found["name"] else "False"
        if found["name"] not in options or value == "False":
            return found[0]
        return options[found["name"]] + ("" if value in ("True", "...", "[...]") else f" {value}")

    return ARGUMENT.sub(reworded, text)


class Command(TyperCommand):
    """A command that refuses an option of one value that is given twice, and has the options of reading files."""

    reads = True

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        if self.reads:
            self.params += [each for each in reading_options() if each.name not in {own.name for own in self.params}]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Count the options, then read them as usual."""
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for option, times in Counter(order).items():
            if times > 1 and option.param_type_name == "option" and not option.multiple and not option.is_eager:
                longest = max(option.opts, key=len)
                raise TacitaError(f"{longest} takes one value and is given {times} times; give it once.")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; errors and warnings name its options, not arguments of Python."""
        shown = warnings.showwarning

        def show(message: Any, category: Any, *place: Any, **more: Any) -> None:
            shown(category(in_command_line_words(str(message), self)), category, *place, **more)

        warnings.showwarning = show
        said = {str(each.name): ctx.params.pop(each.name) for each in reading_options() if each in self.params}
        start_reading_of(ctx.params.values())
        try:
            with reading_as(said, anywhere=self.name == "join"):
                return super().invoke(ctx)
        except TacitaError as error:
            raise TacitaError(in_command_line_words(str(error), self)) from error.__cause__
        finally:
            warnings.showwarning = shown


class CommandWithoutFiles(Command):
    """A command that reads no files of data."""

    reads = False


# The two files of a comparison, and how they are compared.
Original = Annotated[Path, typer.Argument(help="The original file.")]
Released = Annotated[Path, typer.Argument(help="The released file: the same records in the same order.")]
NumericKeys = Annotated[list[str], typer.Option(help="Numeric key variables, separated by commas.")]
OptionalNumericKeys = Annotated[list[str] | None, typer.Option(help="Numeric key variables, separated by commas.")]
Strata = Annotated[list[str] | None, typer.Option(help="Variables that split the file, separated by commas.")]
Alpha = Annotated[float, typer.Option(help="Share of wrong pairs that count as neighbours.")]
Delta = Annotated[float | None, typer.Option(help="Critical distance, in place of alpha.")]
Metric = Annotated[str, typer.Option(help="How unlike records are, e.g. standardised or gower.")]
Ratio = Annotated[bool | None, typer.Option(help="Neighbours by the likelihood ratio too; unless the file is large.")]
Neighbours = Annotated[int | None, typer.Option(help="Neighbours that make a record safe, if not the policy's.")]
Perturbation = Annotated[float | None, typer.Option(help="Perturbation that makes it safe, if not the policy's.")]
Bend = Annotated[float, typer.Option(help="Bend of the policy line: 1 straight.")]
Vertical = Annotated[bool | None, typer.Option(help="Neighbours alone decide, or the line does.")]
Log = Annotated[bool, typer.Option(help="Compare on the log scale.")]
UnitFree = Annotated[bool, typer.Option(help="Compare on a log scale without units.")]
Zeros = Annotated[str, typer.Option(help="On the log scale: shift zeros, or exclude their records.")]
Size = Annotated[str | None, typer.Option(help="Variable that says which unit is the largest.")]

# The scenario and the policy.
Weight = Annotated[str | None, typer.Option(help="Sampling weight.")]
Household = Annotated[str | None, typer.Option(help="Household identifier.")]
Person = Annotated[str | None, typer.Option(help="Identifier of the unit, where units have several records.")]
Identifiers = Annotated[list[str] | None, typer.Option(help="Direct identifiers, separated by commas.")]
Missing = Annotated[str | None, typer.Option(help="Rule for missing key values, e.g. wildcard.")]
SafeK = Annotated[int | None, typer.Option(help="k that counts as safe (policy).")]
Sensitive = Annotated[list[str] | None, typer.Option(help="Sensitive variables, separated by commas.")]
PopulationSize = Annotated[float | None, typer.Option(help="Units in the population, without weights.")]
SamplingFraction = Annotated[float | None, typer.Option(help="n/N, without weights.")]
SafeRisk = Annotated[float | None, typer.Option(help="Individual risk that counts as safe (policy).")]
SafeRate = Annotated[float | None, typer.Option(help="Re-identification rate that counts as safe (policy).")]
SafeHouseholdRisk = Annotated[float | None, typer.Option(help="Household risk that counts as safe (policy).")]
ScenarioFile = Annotated[Path | None, typer.Option(help="Scenario file (TOML).")]
PolicyFile = Annotated[Path | None, typer.Option(help="Policy file (TOML), or a preset, as 'public use'.")]
PlotPolicy = Annotated[Path | None, typer.Option(help="Policy file (TOML) with neighbours and perturbation.")]
Register = Annotated[Path | None, typer.Option(help="File of the population with the same keys.")]

# What is written.
Table = Annotated[bool, typer.Option(help="Unsafe records beside the figure.")]
Figure = Annotated[Path, typer.Option(help="File of the figure: .png, .svg, .pdf, .html.")]
PerhapsFigure = Annotated[Path | None, typer.Option(help="File of the figure: .png, .svg, .pdf, .html.")]
Overwrite = Annotated[bool, typer.Option(help="Replace an existing file.")]
OverwriteFolder = Annotated[bool, typer.Option(help="Replace an existing folder.")]
