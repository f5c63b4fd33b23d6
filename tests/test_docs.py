"""The documentation tells the truth: its examples run, and print what the pages show."""

import importlib.util
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tacita as tc
from tacita.data.demo import survey
from tacita.measure_index import MEASURES
from tacita.measures import kind_of
from tacita.protect.steps import own_steps

pytestmark = pytest.mark.latent
ROOT = Path(__file__).parents[1]


def _loaded(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


examples = _loaded("examples")
tables = _loaded("parameter_tables")
PAGES = examples.pages()
WRITTEN = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "mkdocs.yml"]

SDCMICRO = """
freqCalc indivRisk measure_risk ldiversity suda2 modRisk dRisk dRiskRMD recordLinkage riskyCells kAnon_violations
createSdcObj calcRisks freq globalRecode groupAndRename localSuppression kAnon localSupp LocalRecProg topBotCoding
mvTopCoding pram addNoise microaggregation microaggrGower mafast argus_microaggregation rankSwap argus_rankswap
recordSwap
shuffle dataGen createNewID addGhostVars removeDirectID randomizeRecords extractManipData dUtility IL_correl
IL_variables
infoLoss summary.micro valTable plotMicro plot.localSuppression sdcApp report readMicrodata AI_
"""
"""Its functions for risk, protection, loss, figures and the rest."""


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture(scope="module", autouse=True)
def _work_once() -> Iterator[None]:
    """Many pages begin with the same survey, and several go on with the same plan: made once for all of them.

    Nothing changes a survey or a release, and the same numbers give the same ones, as tests of theirs show.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("household_survey", "business_survey", "accident_survey"):
            once = cache(getattr(tc, name))
            patch.setattr(tc, name, once)
            patch.setattr(survey, name, once)
        patch.setattr(tc.Plan, "apply", _applied_once(tc.Plan.apply))
        yield


def _applied_once(apply: Callable[..., Any]) -> Callable[..., Any]:
    """A plan with a seed, or without draws, is applied once to the same data."""
    known: list[tuple[Any, Any, Any]] = []

    def applied(plan: tc.Plan, data: Any, *given: Any, **named: Any) -> Any:
        repeats = "seed" in named or not any(step.draws for step in plan.steps)
        if not isinstance(data, tc.Data) or not repeats or "progress" in named:
            return apply(plan, data, *given, **named)
        asked = (plan.to_dict(), given, named)
        for file, before, release in known:
            if file is data and before == asked:
                return release
        known.append((data, asked, apply(plan, data, *given, **named)))
        return known[-1][-1]

    return applied


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("docs") / "demo"
    examples.make_demo(folder)
    return folder


@pytest.mark.parametrize("page", [page for page in PAGES if examples.has_examples(page)], ids=named)
def test_examples_print_what_the_page_shows(page: Path, demo: Path) -> None:
    for outcome in examples.run(page, demo):
        assert outcome.found == outcome.expected, f"{named(page)}, line {outcome.line}; python docs/examples.py updates"


def test_tables_of_parameters_are_those_of_the_declarations() -> None:
    for page in PAGES:
        text = page.read_text("utf-8")
        assert tables.filled(text) == text, f"{named(page)}; python docs/examples.py updates"
        # A comment with a misprint would never be filled.
        owned = len(tables.owners(text))
        assert text.count("<!-- parameters") == text.count("<!-- end -->") == owned, named(page)


def test_every_step_and_measure_has_its_table_on_one_page() -> None:
    for folder, names in (
        ("steps", [step.__name__ for step in own_steps()]),
        ("measures", [f"risk.{name}" for name in MEASURES if kind_of(name) == "risk"]),
        ("loss", [f"loss.{name}" for name in MEASURES if kind_of(name) == "loss"]),
    ):
        pages = (ROOT / "docs" / folder).glob("*.md")
        owners = [owner for page in pages for owner in tables.owners(page.read_text("utf-8"))]
        assert {name: owners.count(name) for name in names} == dict.fromkeys(names, 1)


def test_a_table_that_is_not_current_is_found_and_mended() -> None:
    text = "Before.\n\n<!-- parameters: tc.Round -->\nold\n<!-- end -->\n\nAfter.\n"
    fresh = tables.filled(text)
    assert tables.filled(fresh) == fresh
    assert fresh.startswith(
        "Before.\n\n<!-- parameters: tc.Round -->\n\n| parameter | what it must be | default | mean"
    )
    assert "| `base` | number above 0 | none | Round to multiples of this. |\n" in fresh
    assert "only" not in fresh
    assert fresh.endswith("|\n\n<!-- end -->\n\nAfter.\n")


def _page(tmp_path: Path, *blocks: str) -> Path:
    page = tmp_path / "page.md"
    page.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    return page


def _wrong(page: Path, demo: Path) -> list[bool]:
    return [not outcome.right for outcome in examples.run(page, demo)]


def test_wrong_missing_and_superfluous_outputs_are_found_and_mended(tmp_path: Path, demo: Path) -> None:
    page = _page(
        tmp_path,
        "```python\nnumber = 6 * 7\n```",
        "```python\nprint(number)\n```\n\n```text\n41\n```",
        "```python\nprint(number)\n```",
        "```python\nnumber += 1\n```\n\n```text\n43\n```",
    )
    outcomes = examples.run(page, demo)
    assert [not outcome.right for outcome in outcomes] == [False, True, True, True]
    page.write_text(examples.updated(page.read_text("utf-8"), outcomes), encoding="utf-8")
    assert page.read_text("utf-8").count("```text\n42\n```") == 2
    assert _wrong(page, demo) == [False, False, False, False]


def test_console_lines_are_held_against_output_and_exit_code(tmp_path: Path, demo: Path) -> None:
    version = "$ tacita --version\n"
    page = _page(
        tmp_path,
        f"```console\n{version}{version}tacita 0.0.0\n```",
        f"```console\n{version}...\n{version}# exit code 2\n```",
        "```console\n$ tacita assess absent.csv --keys a\n# exit code 2\n$ tacita assess absent.csv --keys a\n```",
    )
    assert _wrong(page, demo) == [False, True, False, True, False, True]


def test_examples_behind_a_fold_run_and_are_mended(tmp_path: Path, demo: Path) -> None:
    fold = '??? note "More"\n\n    ```python\n    for number in (6, 7):\n        print(number)\n    ```'
    page = _page(tmp_path, fold, "    ```console\n    $ tacita --version\n    tacita 0.0.0\n    ```")
    outcomes = examples.run(page, demo)
    assert [outcome.right for outcome in outcomes] == [False, False]
    page.write_text(examples.updated(page.read_text("utf-8"), outcomes), encoding="utf-8")
    assert "    ```\n\n    ```text\n    6\n    7\n    ```\n" in page.read_text("utf-8")
    assert _wrong(page, demo) == [False, False]


def test_an_example_that_warns_or_fails_is_an_error(tmp_path: Path, demo: Path) -> None:
    page = _page(tmp_path, "```python\nimport warnings\nwarnings.warn('unexpected')\n```")
    with pytest.raises(UserWarning, match="unexpected"):
        examples.run(page, demo)
    page = _page(tmp_path, "```python\nnonsense\n```")
    with pytest.raises(NameError):
        examples.run(page, demo)


def test_no_example_is_hidden_from_the_tests() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")]
    for page in PAGES:
        text = page.read_text("utf-8")
        # Fences that are not found, or differently named, would not be run.
        fences = len(re.findall(r"^[ \t]*```", text, re.MULTILINE))
        assert 2 * len(examples.FENCE.findall(text)) == fences, named(page)
        assert not re.search(r"^[ \t]*```(pycon|bash|shell|cli)\b", text, re.MULTILINE), named(page)
        # What is not run is the source itself, which is tested where it is.
        for shown in re.findall(r"^```py\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            assert any(shown in source for source in sources), named(page)
        assert not re.search(r"^[ ]*```sh\n[^`]*\btacita ", text, re.MULTILINE), named(page)


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        text = examples.FENCE.sub("", page.read_text("utf-8"))
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            assert (page.parent / target).exists(), f"{named(page)}: {target}"


def seen_at_once(text: str) -> str:
    """What a reader sees of a page: no code, no generated tables, nothing behind a fold."""
    text = re.sub(r"<!-- parameters.*?<!-- end -->", "", examples.FENCE.sub("", text), flags=re.DOTALL)
    return re.sub(r"^\?\?\? .*\n(?:[ ]*\n|    .*\n?)*", "", text, flags=re.MULTILINE)


def test_a_page_of_a_method_has_at_most_900_words_before_its_folds() -> None:
    assert seen_at_once('One.\n\n??? note "More"\n\n    Two.\n\n    Three.\n\nFour.\n') == "One.\n\nFour.\n"
    # An overview and the pages for contributors are no methods.
    pages = [page for page in PAGES if page.parent.name in ("measures", "steps", "loss")]
    pages = [page for page in pages if page.stem not in ("index", "contributing")]
    words = {named(page): len(seen_at_once(page.read_text("utf-8")).split()) for page in pages}
    assert len(words) > 50
    assert {page: count for page, count in words.items() if count > 900} == {}


def test_nothing_is_said_to_come_that_is_there() -> None:
    for page in PAGES:
        text = page.read_text("utf-8")
        assert not re.search(r"later (release|version)|comes later|come later|not yet there", text), named(page)


def test_every_function_of_sdcmicro_is_on_the_map() -> None:
    page = (ROOT / "docs" / "from-sdcmicro.md").read_text("utf-8")
    assert [name for name in SDCMICRO.split() if f"`{name}" not in page] == []


def test_every_page_is_in_the_navigation_once() -> None:
    navigation = re.findall(r"^\s+- .*: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in PAGES if page.parent != ROOT]
    assert sorted(navigation) == sorted(pages)


def test_the_site_loads_nothing_from_elsewhere() -> None:
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert re.search(r"^  font: false$", settings, re.MULTILINE)
    assert not re.search(r"https?:|//\w", settings)
    # Without a script of our own the offline plugin takes one from the web.
    (script,) = re.findall(r"^    - (\S*iframe-worker\S*)$", settings, re.MULTILINE)
    assert not re.search(r"https?:", (ROOT / "docs" / script).read_text("utf-8"))
    for page in PAGES:
        text = page.read_text("utf-8")
        assert not re.search(r"!\[[^\]]*\]\(https?:|<(script|link|img|iframe)\b", text), named(page)
    for style in (ROOT / "docs").rglob("*.css"):
        assert not re.search(r"@import|url\(", style.read_text("utf-8")), named(style)


def test_pages_name_no_place_of_one_machine() -> None:
    for page in WRITTEN:
        text = page.read_text("utf-8")
        assert not re.search(r"(?<![\w.])/(work|home|root|tmp|Users)/|[A-Z]:\\", text), named(page)
        assert "shared/" not in text.replace("`shared/reference`", ""), named(page)


def test_doctests_of_the_reference_are_fenced() -> None:
    pytest.importorskip("griffe", reason="griffe comes with the documentation tools: make docs")
    fenced = _loaded("doctest_blocks").fenced
    assert fenced("What.\n\n>>> 1 + 1\n2") == "What.\n\n\n```pycon\n>>> 1 + 1\n2\n```"
    assert fenced(">>> 1\n1\n\nMore.") == "\n```pycon\n>>> 1\n1\n```\n\nMore."
    assert fenced("No example.") == "No example."


@pytest.mark.parametrize(
    ("page", "source"),
    [
        ("steps/contributing.md", "protect/remove.py"),
        ("measures/contributing.md", "risk/identity/presence.py"),
        ("contributing-figure.md", "plots/suda.py"),
    ],
)
def test_what_contributors_are_shown_is_the_real_one(page: str, source: str) -> None:
    shown = re.findall(
        r"^```py(?:thon)?\n(.*?)^```", (ROOT / "docs" / page).read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert len(shown[0]) > 500
    assert shown[0] in (ROOT / "src" / "tacita" / source).read_text("utf-8")
