"""Reports: what stands in them, where they are written, and that they need nothing from elsewhere."""

import html
import re
import stat
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.measures import find, measure_names
from tacita.plain_words import in_words
from tacita.reports.parts import Row, cells, first_upper, title_of
from tacita.result import Percent, Result, Table

Run = Callable[..., tuple[int, str, str]]
PLAN = tc.Plan(
    [
        tc.Recode("age", width=20),
        tc.GroupRare(["citizenship"], least=30),
        tc.GroupRare(["status"], least_share=0.1),
        tc.NewIdentifiers(),
        tc.RandomOrder("households"),
        tc.RoundWeights(digits=1),
        tc.Suppress(k=3),
    ]
)


@pytest.fixture(scope="module")
def survey() -> tc.DemoSurvey:
    return tc.household_survey(300, population=8000)


@pytest.fixture(scope="module")
def release(survey: tc.DemoSurvey) -> tc.Release:
    return PLAN.apply(survey.data, survey.scenario, seed=5)


@pytest.fixture(scope="module")
def page(release: tc.Release) -> str:
    return tc.report(release).html


class Reader(HTMLParser):
    """Headings, identifiers, links, and whether every tag that was opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.places: list[str] = []
        self.links: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.headings: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "link", "img", "br", "hr", "input"):
            self.open.append(tag)
        given = {name: value or "" for name, value in attrs}
        self.attributes += given.items()
        self.places += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("h1", "h2", "h3"):
            self.headings.append(data)


def test_the_chapters_of_a_release(page: str) -> None:
    read = Reader(page)
    assert read.open == []
    assert len(read.places) == len(set(read.places))
    assert {link.removeprefix("#") for link in read.links} <= set(read.places)
    chapters = ["Verdict", "Checklist before publication", "Scenario and assumptions", "Risk before and after",
                "What the release gives back", "Riskiest keys", "Threshold on the risk of the original",
                "Special uniques in the original (SUDA)", "Confidentiality plot", "What was changed",
                "What a researcher loses", "Plan and versions", "Codebook", "Cautions"]  # fmt: skip
    assert [heading for heading in read.headings if heading in chapters] == chapters


def test_the_verdict_stands_first_and_in_words(release: tc.Release, page: str) -> None:
    word = release.verdict.partition(":")[0].removesuffix(" under this policy")
    assert page.index(f"<strong>{word}</strong>") < page.index("<h2>")
    for verdict in release.assess().verdicts():
        assert verdict.why in page.replace("&#39;", "'")
    # Each limit says what it means, as the policy declares it.
    assert "Every record must share its key with at least k - 1 others." in page


def test_every_result_says_what_it_means(release: tc.Release, page: str) -> None:
    compared = release.compare().releases[0]
    results = [*compared.measures.values(), *compared.profile.further.values()]
    assert len(results) > 8
    plain = page.replace("&#39;", "'").replace("&#34;", '"')
    for result in results:
        assert f"<h3>{title_of(result)}</h3>" in page
        assert f"<b>What does this mean?</b> {result.meaning}" in plain
    for item in release.checklist():
        assert first_upper(in_words(item.found)) in plain


def test_a_committee_reads_no_words_of_python(survey: tc.DemoSurvey) -> None:
    """The checklist told it to `Remove()` the identifier and to set `household_risk`."""
    page = html.unescape(tc.report(tc.Plan([]).apply(survey.data, survey.scenario)).html)
    first = page[page.index('id="checklist-before-publication"') : page.index('id="scenario-and-assumptions"')]
    assert "add random order" in first.lower() or "random order" in first
    assert not re.search(r"\w\(|household_risk|given_back|\btc\.", first)


def test_a_safe_verdict_says_under_which_policy() -> None:
    frame = pl.DataFrame({"sex": ["f", "m"] * 30})
    page = tc.report(tc.assess(frame, tc.Scenario(keys=["sex"]), tc.Policy(k=3, risk=None, rate=None))).html
    assert "<strong>SAFE</strong><p>Under the policy: k = 3." in page


def test_figures_are_those_of_the_results(release: tc.Release, page: str, survey: tc.DemoSurvey) -> None:
    before, after = tc.assess(survey.data, survey.scenario), release.assess()
    assert before.reidentification.headline in page
    assert after.reidentification.headline in page
    assert page.count("<figure>") == page.count("<svg") >= 8
    for row in after.riskiest_keys(10).rows:
        assert f"<td>{row[0]}</td>" in page


def test_nothing_is_loaded_and_nothing_runs(page: str, release: tc.Release) -> None:
    for text in (page, tc.report(release, edition="public").html):
        assert "default-src 'none'" in html.unescape(text)
        assert "<script" not in text
        outside = re.findall(r"""(?:src|href|url\()\s*=?\s*["']?(?!#|data:)(https?:|//|file:)""", text)
        assert outside == []
        names = {name for name, _ in Reader(text).attributes}
        assert not any(name.startswith("on") for name in names)


def test_texts_of_the_file_are_no_markup() -> None:
    """Names, labels and categories that look like tags, in tables and in figures."""
    evil = '<img src=x onerror="alert(1)">'
    people = pl.DataFrame({evil: ["</svg><script>a", "b"] * 20, "sex": ["f", "m", "m", "f"] * 10})
    data = tc.Data.of(people, {"sex": tc.Variable(label="</title><script>alert(2)</script>")})
    release = tc.Plan().apply(data, tc.Scenario(keys=[evil, "sex"]))
    for text in (tc.report(release, title="<b>&").html, tc.report(release, edition="public").html):
        assert "<script" not in text
        assert "<img" not in text
        assert Reader(text).open == []


def test_a_report_of_a_profile_and_of_a_comparison(release: tc.Release, survey: tc.DemoSurvey) -> None:
    profile = tc.assess(survey.data, survey.scenario, measures=["suda", "benchmark"])
    text = tc.report(profile, title="Wave 3").html
    assert "<h1>Wave 3</h1>" in text
    assert profile.further["suda"].headline in text
    assert profile.further["benchmark"].headline in text
    light = tc.Plan([tc.Recode("age", width=10)]).apply(survey.data, survey.scenario)
    compared = tc.compare(survey.data, {"strict": release, "light": light}, survey.scenario)
    text = tc.report(compared).html
    assert [name in text for name in ("<h3>strict</h3>", "<h3>light</h3>", "Risk and loss of the releases")] == [
        True
    ] * 3
    both = tc.report(release, compared, profile.further["suda"]).html
    assert both.index("Several releases side by side") < both.index("Plan and versions")
    assert "<h2>Further results</h2>" in both


def test_a_policy_without_k_and_records_that_are_certain() -> None:
    """Without k there is no unsafe zone to draw; where every record is unique in a census all risks are 1."""
    people = pl.DataFrame({"sex": ["f", "m"] * 10, "age": list(range(20)), "income": [10.0, 20.0] * 10})
    alone = tc.Plan([tc.Round("income", base=20)]).apply(
        people, tc.Scenario(keys=["sex", "age"]), tc.Policy(k=None, risk=0.9)
    )
    text = tc.report(alone).html
    assert "Not drawn: " in text
    assert "highest risk 1; 20 above 0.9" in text


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_counts_of_perturbed_keys_are_no_risk(survey: tc.DemoSurvey) -> None:
    """Neither figure nor histogram of a release whose keys were exchanged stands there as its risk."""
    release = tc.Plan([tc.Pram(["region"], pd=0.7)]).apply(survey.data, survey.scenario, seed=1)
    text = html.unescape(tc.report(release).html)
    after = release.assess()
    assert after.k_anonymity.headline not in text
    assert after.reidentification.headline not in text
    assert after.main.attackers.headline not in text
    assert text.count("<b>After:</b> <span>not assessed: the key 'region' was perturbed") == 5
    assert "<figcaption>After</figcaption>" not in text
    assert "Figures in brackets count equal keys" in text


def test_numeric_keys() -> None:
    firms = tc.business_survey(300)
    who = tc.Scenario(numeric_keys=["turnover"])
    release = tc.Plan([tc.Microaggregate(["turnover"], k=5)]).apply(firms.data, who)
    text = tc.report(release).html
    assert Reader(text).open == []
    assert "Riskiest keys" not in text
    assert release.compare().confidentiality().headline in text


class OddResult(Result):
    """A thing that nobody measured before, without a measure of its own.

    Worked out by counting.
    """

    @property
    def headline(self) -> str:
        return "seven of nine"


def test_a_result_of_another_kind_appears_by_itself(release: tc.Release) -> None:
    text = tc.report(release.assess(), OddResult()).html
    assert "<h3>Odd result</h3>" in text
    assert "Seven of nine" in text
    assert "A thing that nobody measured before, without a measure of its own." in text
    assert "Worked out by counting." in text


@pytest.mark.parametrize("name", measure_names())
def test_every_measure_says_in_one_sentence_what_it_means(name: str) -> None:
    """The line under its figures is the first of its own text."""
    said = (find(name).function.__doc__ or "").split("\n\n")[0].strip()
    assert said.endswith((".", "?"))
    assert len(said) < 200


def test_an_exception_from_the_policy_stands_there_with_its_reason(survey: tc.DemoSurvey) -> None:
    policy = tc.Policy(rate=0.01, exceptions={"rate": "agreed <with> the board"})
    release = tc.Plan([tc.Recode("age", width=20)]).apply(survey.data, survey.scenario, policy, seed=1)
    assert "agreed &lt;with&gt; the board" in tc.report(release).html
    assert "Exceptions, and why" not in tc.report(tc.assess(survey.data, survey.scenario)).html
    assert "the board" not in tc.report(release, edition="public").html


def test_saved_where_and_how(release: tc.Release, tmp_path: Path) -> None:
    made = tc.report(release)
    path = made.save(tmp_path / "a.html")
    assert path.read_text("utf-8") == made.html
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(TacitaError, match="exists already"):
        made.save(path)
    with pytest.raises(TacitaError, match=r"saved as \.html; got '\.pdf'"):
        made.save(tmp_path / "a.pdf")
    assert "<iframe srcdoc=" in made._repr_html_()
    assert "sandbox" in made._repr_html_()


def test_part_of_a_saved_release(release: tc.Release, tmp_path: Path) -> None:
    folder = release.save(tmp_path / "out", accept_unsafe=None if release.safe else "a test")
    data = "public" if release.safe else "not_for_publication"
    assert {"report.html", "codebook.xml", "codebook.csv"} <= {each.name for each in (folder / data).iterdir()}
    office = (folder / "internal" / "report.html").read_text("utf-8")
    assert "for internal use only" in office
    assert len(office) < 5_000_000
    told = (folder / data / "report.html").read_text("utf-8")
    assert ("not for publication" in told) is not release.safe
    without = release.save(tmp_path / "bare", report=False, accept_unsafe="a test")
    assert not list(without.rglob("report.html"))


def test_what_a_report_is_of() -> None:
    with pytest.raises(TacitaError, match="a report is of a release, a risk profile or a comparison; got int"):
        tc.report(3)
    profile = tc.assess(pl.DataFrame({"a": [1, 2] * 9}), tc.Scenario(keys=["a"]))
    with pytest.raises(TacitaError, match="the public edition is of one release alone"):
        tc.report(profile, edition="public")
    with pytest.raises(TacitaError, match="edition must be one of"):
        tc.report(profile, edition="secret")
    with pytest.raises(TacitaError, match="results of measures; got str"):
        tc.report(profile, "suda")  # type: ignore[arg-type]


def test_the_command(run: Run, release: tc.Release, survey: tc.DemoSurvey, tmp_path: Path) -> None:
    tc.write(survey.data, tmp_path / "survey.parquet")
    survey.scenario.save(tmp_path / "scenario.toml")
    folder = release.save(tmp_path / "out", report=False, accept_unsafe="a test")
    files = tmp_path / "survey.parquet", folder
    code, out, err = run("report", *files, "--out", tmp_path / "a.html", "--title", "Our survey")
    assert (code, err) == (0, "")
    assert "to stay in the office" in out
    text = (tmp_path / "a.html").read_text("utf-8")
    assert "<h1>Our survey</h1>" in text
    assert release.assess().reidentification.headline in text
    assert run("report", *files, "--edition", "public", "--out", tmp_path / "b.html")[0] == 0
    assert (tmp_path / "b.html").read_text("utf-8") == tc.report(release, edition="public").html
    scenario = ("--scenario", tmp_path / "scenario.toml", "--out", tmp_path / "c.html")
    assert run("report", files[0], *scenario, "--measure", "suda")[0] == 0
    assert "<h3>Suda</h3>" in (tmp_path / "c.html").read_text("utf-8")
    code, _, err = run("report", files[0], *scenario, "--edition", "public", "--overwrite")
    assert (code, "of one release alone" in err) == (2, True)


def test_tables_for_the_page() -> None:
    table = Table(("what", "a", "b"), (("x", 1234, "SAFE"), ("y", Percent(0.5), None), ("z", None, 3.0)))
    shown = cells(table)
    assert shown.rows == (("x", "1,234", "SAFE"), ("y", "50 %", ""), ("z", "", "3"))
    assert shown.numeric == (False, True, True)
    assert cells(Table(("a",), ())).rows == ()
    assert Row("good", "a", "b").meaning == ""


def test_measured_once(release: tc.Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report that is asked for twice, or in both editions, does not compare the files again."""
    calls: list[Any] = []
    from tacita.release import release as module

    compare = module.compare
    monkeypatch.setattr(module, "compare", lambda *a, **k: calls.append(1) or compare(*a, **k))
    fresh = PLAN.apply(release.original, release.original_scenario, seed=6)
    tc.report(fresh)
    tc.report(fresh, edition="public")
    assert len(calls) == 1
