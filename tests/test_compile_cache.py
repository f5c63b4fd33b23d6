"""Machine code that is kept between runs: right when something else changed, and never in the way."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tacita
from tacita.compile_cache import digest

SOURCE = str(Path(tacita.__file__).parent.parent)
HELPER = """
from tacita.compiled import compiled
STEP = {step}

@compiled
def inner(x):
    return x + STEP
"""
LOOP = """
from tacita.compiled import compiled
from helper import inner
from constants import FACTOR

@compiled
def outer(x):
    return FACTOR * inner(x)
"""
RUN = """
from loop import outer
print(outer(1), sum(outer.stats.cache_hits.values()))
"""


def run(folder: Path, code: str = RUN, cache: str | None = None) -> list[str]:
    places = {"NUMBA_CACHE_DIR": cache} if cache else {}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, **places, "PYTHONPATH": f"{SOURCE}{os.pathsep}{folder}", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "loop.py").write_text(LOOP)
    (tmp_path / "helper.py").write_text(HELPER.format(step=10))
    (tmp_path / "constants.py").write_text("FACTOR = 2\n")
    return tmp_path


def test_a_changed_helper_in_another_module_is_noticed(project: Path) -> None:
    """Whoever measured after an edit measured yesterday's code."""
    assert run(project) == ["22", "0"]
    assert run(project) == ["22", "1"]
    (project / "helper.py").write_text(HELPER.format(step=20))
    assert run(project) == ["42", "0"]


def functions(loop: str = LOOP, helper: str = HELPER.format(step=10), factor: str = "2") -> str:
    """The digest of the outer loop, of modules with these texts."""
    spaces: dict[str, dict[str, object]] = {"constants": {"FACTOR": eval(factor)}, "helper": {}, "loop": {}}  # noqa: S307
    for name, text in (("helper", helper), ("loop", loop)):
        for module, names in spaces.items():
            text = re.sub(rf"from {module} import .*", "", text)
            spaces[name].update({each: value for each, value in names.items() if each != "__builtins__"})
        exec(text, spaces[name])  # noqa: S102
    return digest(spaces["loop"]["outer"].py_func)  # type: ignore[attr-defined]


def test_the_digest_changes_with_what_a_function_reaches_and_with_nothing_else() -> None:
    usual = functions()
    assert functions(LOOP + "\n# A remark.\n\ndef another(x):\n    return x\n") == usual
    assert functions(helper="\n\n" + HELPER.format(step=10) + "\ndef unused():\n    return 5\n") == usual
    changed = {
        functions(LOOP.replace("FACTOR * ", "FACTOR + ")),
        functions(helper=HELPER.format(step=11)),
        functions(helper=HELPER.format(step=10).replace("x +", "x -")),
        functions(factor="2.0"),
        functions(factor="__import__('numpy').arange(3)"),
        functions(factor="__import__('numpy').arange(4)"),
    }
    assert len(changed - {usual}) == 6


def test_a_damaged_cache_is_made_anew(project: Path) -> None:
    run(project)
    for file in [*project.rglob("*.nbi"), *project.rglob("*.nbc")]:
        file.write_bytes(file.read_bytes()[:-20])
    assert run(project) == ["22", "0"]
    assert run(project) == ["22", "1"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is needed")
def test_a_full_disk_is_no_error(project: Path) -> None:
    full = (
        "import numba.core.caching as caching, builtins\n"
        "caching.open = lambda path, mode='r': builtins.open('/dev/full' if 'w' in mode else path, mode)\n"
    )
    assert run(project, full + RUN) == ["22", "0"]
    assert not list(project.rglob("*.tmp.*"))


def test_where_nothing_can_be_written(project: Path) -> None:
    """A cache folder that is a file: there is nowhere to keep anything."""
    (project / "closed").write_text("")
    assert run(project, cache=str(project / "closed" / "cache")) == ["22", "0"]
