"""Small figures of the app as Vega-Lite specifications; those of results are drawn by the results themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacita.result import Table

BLUE, RED, QUIET, INK = "#3b6ea5", "#c8452e", "#8a8a8a", "#222222"
FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
CONFIG = {
    "font": FONT,
    "background": "white",
    "view": {"stroke": None},
    "axis": {
        "grid": False,
        "domainColor": QUIET,
        "tickColor": QUIET,
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
    },
    "legend": {"labelColor": INK, "titleColor": INK},
}
Spec = dict[str, Any]


def _spec(**parts: Any) -> Spec:
    return {"$schema": "https://vega.github.io/schema/vega-lite/v6.json", "config": CONFIG, **parts}


def bars(table: Table, name: str) -> Spec:
    """Shares by category; with weights the weighted ones beside them as lines."""
    weighted = len(table.columns) > 3
    rows = [
        {"value": row[0], "records": row[1], "share": row[2], **({"weighted share": row[4]} if weighted else {})}
        for row in table.rows
    ]
    y = {"field": "value", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 150}}
    x = {"field": "share", "type": "quantitative", "axis": {"format": "%"}, "title": "share of the records"}
    layers: list[Spec] = [
        {"mark": {"type": "bar", "color": BLUE, "height": {"band": 0.7}}, "encoding": {"y": y, "x": x}}
    ]
    if weighted:
        own = {"field": "weighted share", "type": "quantitative"}
        x["title"] = "share of the records (bars), weighted (lines)"
        layers.append(
            {"mark": {"type": "tick", "color": RED, "thickness": 3, "size": 18}, "encoding": {"y": y, "x": own}}
        )
    return _spec(data={"values": rows}, layer=layers, width=300, height={"step": 20}, title=None)


def heat(table: Table, rows: str, columns: str) -> Spec:
    """Counts of two variables: darker where there are more."""
    cells = [
        {rows: line[0], columns: name, "count": value}
        for line in table.rows
        for name, value in zip(table.columns[1:], line[1:], strict=True)
    ]
    axes: Spec = {
        "y": {"field": rows, "type": "nominal", "sort": None, "axis": {"labelLimit": 170}},
        "x": {"field": columns, "type": "nominal", "sort": None, "axis": {"labelAngle": -35, "labelLimit": 110}},
    }
    color = {"field": "count", "type": "quantitative", "scale": {"scheme": "blues", "type": "sqrt"}}
    return _spec(
        data={"values": cells},
        mark={"type": "rect", "stroke": QUIET, "strokeWidth": 0.4},
        encoding={**axes, "color": color},
        width={"step": max(14, min(40, 300 // max(len(table.columns) - 1, 1)))},
        height={"step": 20},
    )


def curve(rows: Sequence[Mapping[str, float]], threshold: float) -> Spec:
    """Expected re-identifications by threshold, and the threshold chosen."""
    x = {"field": "threshold", "type": "quantitative", "title": "threshold on the individual risk"}
    er = {
        "field": "expected",
        "type": "quantitative",
        "title": "expected re-identifications, at most",
        "axis": {"titleColor": BLUE},
    }
    above = {
        "field": "unsafe",
        "type": "quantitative",
        "title": "records above the threshold (dashes)",
        "axis": {"titleColor": RED},
    }
    rule = {
        "data": {"values": [{"threshold": threshold}]},
        "mark": {"type": "rule", "color": INK, "strokeDash": [5, 3]},
    }
    drawn = [
        {"mark": {"type": "line", "color": BLUE, "strokeWidth": 2.5}, "encoding": {"x": x, "y": er}},
        {"mark": {"type": "line", "color": RED, "strokeDash": [6, 3]}, "encoding": {"x": x, "y": above}},
        {**rule, "encoding": {"x": {"field": "threshold", "type": "quantitative"}}},
    ]
    return _spec(
        data={"values": list(rows)}, layer=drawn, resolve={"scale": {"y": "independent"}}, width=430, height=230
    )


def trail(rows: Sequence[Mapping[str, Any]]) -> Spec:
    """Risk and loss after each step: two lines over the steps."""
    x = {"field": "place", "type": "ordinal", "title": "after step", "axis": {"labelAngle": 0}}
    lines: list[Spec] = []
    for field, color, dash in (("external risk", RED, [1, 0]), ("loss", BLUE, [6, 3])):
        y = {"field": field, "type": "quantitative", "axis": {"format": "%"}, "title": None}
        mark = {
            "type": "line",
            "color": color,
            "strokeDash": dash,
            "point": {"color": color, "size": 60},
            "strokeWidth": 2.5,
        }
        tip = [{"field": each} for each in ("step", "external risk", "loss", "verdict")]
        lines.append({"mark": mark, "encoding": {"x": x, "y": y, "tooltip": tip}})
        last = {"filter": f"datum.place == {rows[-1]['place']}"}
        text: Spec = {"type": "text", "align": "left", "dx": 9, "color": color, "text": field, "fontSize": 12}
        lines.append({"transform": [last], "mark": text, "encoding": {"x": x, "y": y}})
    return _spec(data={"values": list(rows)}, layer=lines, width=max(260, 70 * len(rows)), height=190)


def risk_utility(rows: Sequence[Mapping[str, Any]]) -> Spec:
    """Plans as points: loss across, risk upwards; squares are safe, crosses are not."""
    x: Spec = {"field": "loss", "type": "quantitative", "axis": {"format": "%"}, "title": "what a researcher loses"}
    y = {"field": "external risk", "type": "quantitative", "axis": {"format": "%"}, "title": "what an intruder finds"}
    safe: Spec = {
        "field": "verdict",
        "type": "nominal",
        "scale": {"domain": ["SAFE", "NOT SAFE"], "range": [BLUE, RED]},
        "legend": None,
    }
    shape = {**safe, "scale": {"domain": ["SAFE", "NOT SAFE"], "range": ["square", "cross"]}}
    tip = [{"field": name} for name in ("plan", "external risk", "loss", "verdict")]
    points: Spec = {
        "mark": {"type": "point", "filled": True, "size": 130},
        "encoding": {"x": x, "y": y, "color": safe, "shape": shape, "tooltip": tip},
    }
    text: Spec = {
        "mark": {"type": "text", "align": "left", "dx": 10, "color": INK, "fontSize": 12},
        "encoding": {"x": x, "y": y, "text": {"field": "plan"}},
    }
    return _spec(data={"values": list(rows)}, layer=[points, text], width=520, height=260)
