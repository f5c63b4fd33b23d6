"""Tables of parameters in the pages, filled from the declarations.

Between `<!-- parameters: tc.Round -->` and `<!-- end -->` stands the table of the parameters of a step or measure, a
table more for each way that a step can be done. What all steps have stands on the page of plans only.
`python docs/examples.py` writes them, and `tests/test_docs.py` holds the pages against them.
"""

from __future__ import annotations

import re
from functools import reduce
from typing import Any

MARKED = re.compile(
    r"^(?P<margin>[ ]*)(?P<start><!-- parameters: tc\.(?P<name>[\w.]+) -->\n)(?P<table>.*?)(?P<end>[ ]*<!-- end -->)",
    re.DOTALL | re.MULTILINE,
)


def owners(text: str) -> list[str]:
    """The names whose parameters a page has, as `Round` and `risk.suda`."""
    return [found["name"] for found in MARKED.finditer(text)]


def filled(text: str) -> str:
    """The text of a page with its tables as they should be."""
    return MARKED.sub(_fresh, text)


def _fresh(found: re.Match[str]) -> str:
    """One table, with the margin of the fold that it stands behind."""
    margin = found["margin"]
    lines = [f"{margin}{line}".rstrip() for line in table(found["name"]).splitlines()]
    return "\n".join([f"{margin}{found['start']}", *lines, "", found["end"]])


def table(name: str) -> str:
    """The parameters of something that `tc` has, as Markdown."""
    import tacita
    from tacita.parameters import parameter_table, parameters_of
    from tacita.protect.step import CellStep, Step

    if name == "Step":
        return parameter_table(parameters_of(CellStep))
    owner: Any = reduce(getattr, name.split("."), tacita)
    if hasattr(owner, "measure"):
        return parameter_table(owner.measure.parameters)
    assert issubclass(owner, Step), f"{name} is neither a step nor a measure"
    shared = parameters_of(CellStep)
    own = [each for each in owner.parameters() if each not in shared and not (owner.ways and each.name == "way")]
    tables = [f"With `{way}`:\n\n{parameter_table(parameters_of(its))}" for way, its in owner.ways.items()]
    return "\n\n".join([parameter_table(own), *tables])
