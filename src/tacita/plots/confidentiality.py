"""The confidentiality plot: every record by how well it hides among its neighbours and by how much it was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from tacita import check, frame
from tacita.check import TacitaError
from tacita.plots import cloud as clouds
from tacita.plots.cloud import MOST_POINTS as MOST_POINTS
from tacita.plots.cloud import Cloud, Extent
from tacita.plots.confidentiality_layers import MARKS as MARKS
from tacita.plots.confidentiality_layers import MARKS_TEXT as MARKS_TEXT
from tacita.plots.confidentiality_layers import cloud_of as cloud_of
from tacita.plots.confidentiality_layers import drawn, key_to_marks, left_text, neighbours_text
from tacita.plots.confidentiality_layers import panel_layers as panel_layers
from tacita.plots.confidentiality_panels import panels_by_stratum
from tacita.plots.linked_table import Column, linked_table, selections, unsafe_rows
from tacita.plots.theme import themed

if TYPE_CHECKING:
    from tacita.plots.internal.values import Values


def confidentiality_points(result: Any) -> frame.Frame:
    """What is drawn one by one: neighbours, perturbation and kind of mark of each record, no values.

    In a file of more than 1,500 records only the largest units and the unsafe ones are drawn one by one; if those are
    more than 1,000, of them only the 300 with fewest neighbours whose nearest original is the true one. Of marks that
    would hide each other one is drawn.
    """
    return clouds.points(cloud_of(result))


def confidentiality_cells(result: Any) -> frame.Frame:
    """The cells of a large file: bounds, records inside of those that are not drawn one by one, and whether unsafe."""
    return clouds.cells(cloud_of(result))


def confidentiality_rows(result: Any) -> frame.Frame:
    """The rows of the table beside the plot: unsafe records, fewest neighbours first, 1,000 at the most."""
    cloud = cloud_of(result)
    return unsafe_rows(cloud, clouds.extent(cloud))


def confidentiality(
    result: Any,
    *,
    table: bool = False,
    by: str | None = None,
    values: Any = None,
    width: int | None = None,
    height: int | None = None,
) -> Any:
    """Neighbours across, perturbation upwards; the area below the policy line is unsafe.

    Squares: the nearest original is the true one. Crosses: the true one is among the neighbours. Filled square: the
    largest unit of its stratum. Hovering shows a record's number and figures, never its values: a result holds none.
    Whoever wants to see them passes the file itself, `values=original`; the title then says so.

    `table=True` puts the unsafe records beside the plot: dragging over the plot chooses among them, a click marks one.
    `by="stratum"` draws a panel for each stratum.
    """
    if by is not None:
        check.one_of("by", by, ("stratum",))
        if table or values is not None:
            raise TacitaError("a table and values go with one panel; leave out by, or table and values.")
        return panels_by_stratum(result, width=width, height=height)
    shown_values = None
    if values is not None:
        # The one way to original values: the file itself was handed over.
        from tacita.plots.internal.values import values_of

        shown_values = values_of(result, values)
    cloud = cloud_of(result, shown_values)
    shown = clouds.extent(cloud)
    chosen = selections() if table else None
    size = {"width": width or 560, "height": height or 360}
    plot = alt.layer(*panel_layers(result, cloud, shown, chosen, shown_values)).properties(**size)
    chart = alt.vconcat(plot, key_to_marks(size["width"]), spacing=10)
    title = alt.Title("Confidentiality plot", subtitle=_subtitle(result, cloud, shown, shown_values))
    if chosen is None:
        return themed(chart.properties(title=title))
    rows = drawn(unsafe_rows(cloud, shown), shown)
    listed = linked_table(rows, _columns(result, shown_values), int(cloud.unsafe.sum()), size["height"], chosen)
    return themed(alt.hconcat(chart, listed, spacing=24).properties(title=title))


def _columns(result: Any, values: Values | None) -> list[Column]:
    strata = [Column("stratum", "stratum", 90)] if result.labels != ("",) else []
    widths = [Column("wide", "width", 60)] if hasattr(result, "width") else []
    return [
        Column("record", "record", 70, ","),
        *strata,
        Column("neighbours", "neighbours", 80, ","),
        Column("moved", "perturbation", 86),
        *widths,
        Column("mark", "link", 180),
        *([] if values is None else values.columns()),
    ]


def _subtitle(result: Any, cloud: Cloud, shown: Extent, values: Values | None) -> list[str]:
    found, n = int(cloud.unsafe.sum()), len(cloud)
    zone = clouds.zone_text(result.limits)
    return [
        f"{found:,} of {n:,} records in the unsafe zone ({zone}); keys: {result.compared_on}",
        neighbours_text(result),
        *clouds.drawn_text(cloud, shown),
        *left_text(result),
        *([] if values is None else [values.warning]),
    ]
