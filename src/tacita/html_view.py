"""What notebooks show of declarations, plans and releases: a heading, sentences and tables, nothing from elsewhere."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def html_table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "", *, left: bool = False) -> str:
    """A table for a web page; `left` where all cells are texts.

    >>> html_table(["a"], [["1 < 2"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>1 &lt; 2</td></tr></tbody></table>'
    """
    caption = f"<caption>{html.escape(title)}</caption>" if title else ""
    # Notebooks put the cells of tables to the right.
    side = ' style="text-align: left"' if left else ""
    head = "".join(f"<th{side}>{html.escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td{side}>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_view(heading: str, sentences: Iterable[str] = (), tables: str = "", cautions: Iterable[str] = ()) -> str:
    """A heading in bold, sentences, tables, and a list of cautions."""
    said = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
    items = "".join(f"<li>{html.escape(caution)}</li>" for caution in cautions)
    listed = f"<ul>{items}</ul>" if items else ""
    return f"<div><p><strong>{html.escape(heading)}</strong></p>{said}{tables}{listed}</div>"
