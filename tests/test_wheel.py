"""What is handed out: a wheel that holds the package and nothing else, and versions that agree."""

import re
import zipfile
from pathlib import Path

import pytest

import tacita

ROOT = Path(__file__).parents[1]


def test_versions_agree() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [tacita.__version__]
    assert f"## [{tacita.__version__}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_wheel_holds_the_package_and_what_it_reads(tmp_path: Path) -> None:
    builders = pytest.importorskip("hatchling.builders.wheel", reason="hatchling comes with the development tools")
    made = next(builders.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"]))
    with zipfile.ZipFile(made) as wheel:
        names = set(wheel.namelist())
        (about,) = (name for name in names if name.endswith("/METADATA"))
        metadata = wheel.read(about).decode("utf-8")
    package = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "tacita").rglob("*")
               if path.is_file() and "__pycache__" not in path.parts}  # fmt: skip
    assert package <= names
    assert {name for name in names - package if not name.startswith(f"tacita-{tacita.__version__}.dist-info/")} == set()
    assert f"Version: {tacita.__version__}" in metadata
    assert not re.search(r"/(work|tmp|home|root)/", metadata)
