"""Figures to files: PNG, SVG, PDF, and HTML that needs no connection."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tacita import check
from tacita.check import TacitaError
from tacita.data.atomic import check_free, new_file
from tacita.plots.page import page

KINDS = (".png", ".svg", ".pdf", ".html", ".json")


def save(chart: Any, path: str | Path, *, scale: float = 2.0, overwrite: bool = False) -> Path:
    """Write a figure; the suffix chooses the kind. The HTML carries its scripts with it and loads nothing."""
    import vl_convert

    if not hasattr(chart, "to_json") or not isinstance(path, str | os.PathLike):
        raise TacitaError("save takes a figure, as of result.plot(), and the path of a file; got neither.")
    scale = check.number("scale", scale)
    path = Path(path)
    kind = _kind(path)
    specification = chart.to_dict()
    if kind == ".png":
        content = vl_convert.vegalite_to_png(specification, scale=scale)
    elif kind == ".svg":
        content = vl_convert.vegalite_to_svg(specification).encode("utf-8")
    elif kind == ".pdf":
        content = vl_convert.vegalite_to_pdf(specification)
    elif kind == ".html":
        content = page(specification).encode("utf-8")
    else:
        content = json.dumps(specification, indent=2, sort_keys=True).encode("utf-8")
    with new_file(path, overwrite=overwrite) as beside:
        beside.write_bytes(content)
    return path


def check_figure(path: str | Path, *, overwrite: bool = False) -> None:
    """Refuse a file that `save` could not write, before the work that the figure is to show."""
    _kind(Path(path))
    check_free(path, overwrite=overwrite, kind="file")


def _kind(path: Path) -> str:
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise TacitaError(f"figures are saved as {', '.join(KINDS)}; got {check.given(kind or 'no suffix')}.")
    return kind
