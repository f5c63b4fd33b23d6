"""What every result can do: print its headline, give its rows, draw its figure."""

from __future__ import annotations

import html
import importlib
from collections.abc import Sequence
from typing import Any, ClassVar


class Result:
    """What a measure found. `print` gives the headline that a data custodian understands."""

    figure: ClassVar[str | None] = None
    """Name of the result's figure: a module and function of `tacita.plots`."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # Before @dataclass makes one that shows every field: fields can hold cells of the data.
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        first, *_ = str(self).splitlines()
        return f"<{type(self).__name__}: {first.strip()}>"

    def _repr_html_(self) -> str:
        return f'<pre style="line-height:1.3">{html.escape(str(self))}</pre>'

    def record_columns(self) -> dict[str, Any]:
        """What the result says of each record, by column name, for the table of all records; nothing by default."""
        return {}

    def figures(self) -> dict[str, Any]:
        """The figures of the file as plain numbers and texts, no values of the data; nothing by default."""
        return {}

    def plot(self, **options: Any) -> Any:
        """The figure of this result, an Altair chart."""
        if self.figure is None:
            raise AttributeError(f"{type(self).__name__} has no figure")
        # The one call upwards: a result finds its figure by name.
        drawing = importlib.import_module(f"tacita.plots.{self.figure}")
        return getattr(drawing, self.figure)(self, **options)


def number(value: float) -> str:
    """A count or an expected count: whole numbers in full, others with three significant digits and more if large."""
    if value == round(value):
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.3g}"


def percent(share: float) -> str:
    """A share in percent, with three significant digits."""
    return f"{100 * share:.3g} %"


def columns(rows: Sequence[Sequence[str]], indent: str = "  ") -> str:
    """Rows of text under each other: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        first, *others = row
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)
