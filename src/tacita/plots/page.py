"""Figures as web pages and notebook outputs that need no connection: the scripts come with them."""

from __future__ import annotations

import html
import json
import re
import secrets
from collections.abc import Mapping
from functools import cache
from typing import Any

NOTHING_FROM_ELSEWHERE = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"
)
"""The browser itself refuses any connection; Vega compiles its expressions, hence unsafe-eval."""

OPTIONS = {"actions": {"export": True, "source": False, "compiled": False, "editor": False}, "renderer": "svg"}
"""Of Vega's menu only saving as a picture: its editor would send the figure to a web site."""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>body {{ margin: 16px; background: white; font-family: Helvetica, Arial, sans-serif; }}</style>
</head>
<body>
<div id="figure"></div>
<script>{bundle}</script>
<script>vegaEmbed("#figure", {figure}, {options}).then(found => {{ window.figure = found.view; }});</script>
</body>
</html>
"""

NOTEBOOK = """<div id="{place}"></div>
<script>
(function () {{
  if (!window.vegaEmbed) {{ (function () {{ {bundle} }})(); }}
  window.vegaEmbed("#{place}", {figure}, {options});
}})();
</script>
"""


@cache
def bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script."""
    import vl_convert

    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return re.sub("</(?=script)", r"<\\/", script, flags=re.IGNORECASE)


def figure_text(specification: Mapping[str, Any]) -> str:
    """The specification as a script may hold it: no text in it ends the script, even a category named `</script>`."""
    return json.dumps(specification, sort_keys=True).replace("<", "\\u003c")


def _title(specification: Mapping[str, Any]) -> str:
    given = specification.get("title", "Figure")
    return str(given.get("text", "Figure") if isinstance(given, dict) else given)


def page(specification: Mapping[str, Any]) -> str:
    """A whole page with the figure of a specification, its data and the scripts that draw it."""
    return PAGE.format(
        policy=NOTHING_FROM_ELSEWHERE,
        title=html.escape(_title(specification)),
        bundle=bundle(),
        figure=figure_text(specification),
        options=json.dumps(OPTIONS),
    )


def notebook(chart: Any) -> str:
    """The figure for the output of a notebook cell; one place of its own, since a figure may be shown twice."""
    return NOTEBOOK.format(
        place=f"tacita-{secrets.token_hex(6)}",
        bundle=bundle(),
        figure=figure_text(chart.to_dict()),
        options=json.dumps(OPTIONS),
    )
