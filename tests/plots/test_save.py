"""Figures as files and notebook outputs: every kind, and nothing from elsewhere."""

import re
import struct
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tacita as tc

CONNECTING = re.compile(
    r"<(?:script|link|img|iframe)[^>]+(?:src|href)\s*=|@import|url\(\s*['\"]?https?:", re.IGNORECASE
)

SCRIPT = re.compile(r"<script>.*?</script>", re.DOTALL)
"""A script without a source of its own."""


@pytest.fixture(scope="module")
def chart() -> Any:
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0]})
    return tc.risk.confidentiality(frame, frame, tc.Scenario(numeric_keys=["x"]), delta=0.1).plot(table=True)


def test_pictures_are_what_their_suffix_says(chart: Any, tmp_path: Path) -> None:
    saved = {kind: tc.save(chart, tmp_path / f"plot.{kind}").read_bytes() for kind in ("png", "svg", "pdf")}
    assert saved["png"].startswith(b"\x89PNG\r\n")
    assert saved["pdf"].startswith(b"%PDF-")
    assert saved["svg"].startswith(b"<svg")
    width = struct.unpack(">I", saved["png"][16:20])[0]
    smaller = tc.save(chart, tmp_path / "small.png", scale=1).read_bytes()
    assert width == pytest.approx(2 * struct.unpack(">I", smaller[16:20])[0], abs=2)


def test_a_page_carries_its_scripts(chart: Any, tmp_path: Path) -> None:
    page = tc.save(chart, tmp_path / "plot.html").read_text("utf-8")
    assert not CONNECTING.search(SCRIPT.sub("<script></script>", page))
    assert "default-src 'none'" in page
    assert "jsdelivr" not in page
    assert page.count("<script>") == page.count("</script>") == 2
    assert len(page) > 500_000


def test_a_notebook_gets_a_view_without_a_connection(chart: Any) -> None:
    bundle = chart._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert not CONNECTING.search(SCRIPT.sub("<script></script>", bundle["text/html"]))
    assert "jsdelivr" not in bundle["text/html"]
    # Charts made of ours are ours.
    assert "jsdelivr" not in chart.properties(spacing=3)._repr_mimebundle_()["text/html"]


def test_an_existing_figure_is_not_replaced(chart: Any, tmp_path: Path) -> None:
    tc.save(chart, tmp_path / "plot.json")
    with pytest.raises(tc.TacitaError):
        tc.save(chart, tmp_path / "plot.json")
    tc.save(chart, tmp_path / "plot.json", overwrite=True)
    with pytest.raises(tc.TacitaError) as error:
        tc.save(chart, tmp_path / "plot.gif")
    assert str(error.value) == "figures are saved as .png, .svg, .pdf, .html, .json; got '.gif'."
