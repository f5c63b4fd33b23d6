"""For the reference: doctests in docstrings as code blocks, where Markdown would take `>>>` for quotations."""

from __future__ import annotations

from typing import Any

import griffe


def fenced(text: str) -> str:
    """A docstring with a fence around each doctest: from `>>>` to the next blank line."""
    out: list[str] = []
    inside = False
    for line in text.splitlines():
        if not inside and line.startswith(">>>"):
            out += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            out.append("```")
            inside = False
        out.append(line)
    return "\n".join([*out, "```"] if inside else out)


class DoctestBlocks(griffe.Extension):
    """Applied to every object that has a docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Put the fences in."""
        if obj.docstring is not None and ">>>" in obj.docstring.value:
            obj.docstring.value = fenced(obj.docstring.value)
