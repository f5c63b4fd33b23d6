"""A result as one web page that needs no connection: its sentences and tables, and figures between them."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import Any

from tacita.plots.page import NOTHING_FROM_ELSEWHERE, OPTIONS, bundle, figure_text
from tacita.result import Result

STYLE = """
body { margin: 2rem auto; max-width: 68rem; padding: 0 1rem; background: white; color: #222;
       font: 15px/1.5 Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
.note { color: #8a3324; border-left: 4px solid #c8452e; padding: .2rem .8rem; margin: 0 0 1.2rem; }
table { border-collapse: collapse; margin: 1.2rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: bold; padding: .3rem 0; }
th, td { padding: .25rem .9rem .25rem 0; text-align: right; border-bottom: 1px solid #ddd; }
th { border-bottom: 1px solid #888; font-weight: normal; color: #555; }
td:first-child, th:first-child { text-align: left; }
figure { margin: 1.5rem 0; } ul { padding-left: 1.2rem; }
@media print { body { margin: 0; max-width: none; } table, figure { break-inside: avoid; } }
"""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
<p class="note">{note}</p>
{body}
<script>{bundle}</script>
<script>{drawing}</script>
</body>
</html>
"""


def result_page(result: Result, title: str, note: str, figures: Mapping[str, Any]) -> str:
    """A page with what a result says, its tables, and figures under headings of their own, first of all.

    `note` says who may see it.
    """
    places = {f"figure-{number}": chart for number, chart in enumerate(figures.values(), start=1)}
    drawn = "".join(
        f'<h2>{html.escape(name)}</h2><figure id="{place}"></figure>'
        for name, place in zip(figures, places, strict=True)
    )
    calls = "".join(
        f'vegaEmbed("#{place}", {figure_text(chart)}, {json.dumps(OPTIONS)});' for place, chart in places.items()
    )
    said = "".join(f"<p>{html.escape(text)}</p>" for text in result.sentences())
    first, *others = (table.html() for table in result.tables())
    cautions = "".join(f"<li>{html.escape(text)}</li>" for text in result.cautions)
    listed = f"<h2>Cautions</h2><ul>{cautions}</ul>" if cautions else ""
    body = f"<p><strong>{html.escape(result.headline)}</strong></p>{said}{first}{drawn}{''.join(others)}{listed}"
    return PAGE.format(
        policy=NOTHING_FROM_ELSEWHERE,
        title=html.escape(title),
        style=STYLE,
        note=html.escape(note),
        body=body,
        bundle=bundle() if figures else "",
        drawing=calls,
    )
