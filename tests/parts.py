"""Parts of the suite that need more than Python: which of their programs are here, and why tests are skipped."""

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Where Chromium is, under any of its names."""
    return next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)


def browser_missing() -> str | None:
    """Why tests marked `browser` cannot run here; None where they can."""
    if find_spec("playwright") is None:
        return "playwright is not installed: pip install playwright"
    return None if find_chromium() else "no Chromium here: apt-get install chromium"


def spark_missing() -> str | None:
    """Why tests marked `spark` cannot run here; None where they can."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed: pip install pyspark"
    java_home = os.environ.get("JAVA_HOME", "")
    return None if java_home or shutil.which("java") else "no Java here: apt-get install default-jre-headless"


def skip_what_cannot_run(items: list[pytest.Item]) -> None:
    """Skip the tests of each part that lacks its program, with the reason."""
    for mark, missing in (("browser", browser_missing), ("spark", spark_missing)):
        marked = [item for item in items if item.get_closest_marker(mark)]
        reason = missing() if marked else None
        for item in marked if reason else []:
            item.add_marker(pytest.mark.skip(reason=reason))


def opened_chromium() -> Iterator[Any]:
    """Chromium without a window, closed at the end."""
    from playwright.sync_api import sync_playwright

    # Chromium's own sandbox refuses to run as root.
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as started:
        chromium = started.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox"] if root else [], timeout=60_000
        )
        yield chromium
        chromium.close()
