"""Two files on an engine are measured as they are in memory: counts equal exactly, all else to 1e-12."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from test_assess_on_engine import people, same, scenario

import tacita as tc
from conftest import Opener
from tacita.check import TacitaError
from tacita.keys import condensed_pair
from tacita.keys.condensed import condensed

pytestmark = pytest.mark.filterwarnings(
    "ignore::tacita.check.Caution", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)
SAFE = tc.Policy(limits={"value_loss": 0.2, "external_risk": 0.3})
IN_MEMORY = ("numeric_loss", "variance_loss", "estimate_loss", "correlation_loss")
"""What needs all records; numeric keys alone call for more of it."""


def files(n: int = 300) -> tuple[pl.DataFrame, pl.DataFrame]:
    """People, and a release of them: one key recoded, another suppressed where a third column tells it, other weights,
    an identifier removed."""
    survey = people(n).with_columns(
        name=pl.format("p{}", pl.int_range(n)), code=pl.col("sex").replace_strict({"f": 7, "m": 3})
    )
    blank = pl.int_range(n) % 7 == 0
    release = survey.drop("name").with_columns(
        age=(pl.col("age") // 3).cast(pl.String), sex=pl.when(~blank).then("sex"), w=pl.col("w").round(0) + 1
    )
    return survey, release


@pytest.fixture
def on_duckdb(tmp_path: Path) -> Iterator[Opener]:
    """A frame on DuckDB alone: what is tried there is done in memory, whatever the engine."""
    with ExitStack() as stack:

        def open_frame(frame: pl.DataFrame) -> tc.LargeData:
            file = tmp_path / f"survey{len(list(tmp_path.glob('*.parquet')))}.parquet"
            frame.write_parquet(file)
            return stack.enter_context(tc.LargeData.of(file, temporary=tmp_path))

        yield open_frame


def near(ours: Any, theirs: Any) -> None:
    """As `same`, where figures near 0 are differences of figures that agree to 1e-12."""
    if isinstance(ours, dict):
        assert set(ours) == set(theirs)
        for name in ours:
            near(ours[name], theirs[name])
    elif isinstance(ours, list):
        assert len(ours) == len(theirs)
        for pair in zip(ours, theirs, strict=True):
            near(*pair)
    elif isinstance(ours, float):
        assert theirs == pytest.approx(ours, rel=1e-12, abs=1e-12)
    else:
        assert ours == theirs


def test_a_comparison_is_that_in_memory(on_engine: Opener) -> None:
    survey, release = files()
    who, safe = (
        scenario(sensitive=["ill"], household="hid"),
        tc.Policy(limits={"value_loss": 0.2, "external_risk": 0.3}),
    )
    memory = tc.compare(survey, release, who, safe)
    large = tc.compare(on_engine(survey), on_engine(release), who, safe)
    ours, theirs = memory.releases[0], large.releases[0]
    shared = [name for name in ours.measures if name not in IN_MEMORY]
    assert set(theirs.measures) == set(shared) and set(theirs.not_measured) >= set(ours.measures) - set(shared)
    near({name: ours.measures[name].to_dict() for name in shared}, {n: theirs.measures[n].to_dict() for n in shared})
    near({name: each.to_dict() for name, each in memory.measured_before.items() if name in large.measured_before},
         {name: each.to_dict() for name, each in large.measured_before.items()})  # fmt: skip
    assert ours.changes == theirs.changes
    assert (ours.records, ours.dropped, ours.added) == (theirs.records, theirs.dropped, theirs.added)
    first, second = (each.profile.to_dict()["key_sets"] for each in (ours, theirs))
    same(first, second)
    same(memory.original.to_dict()["key_sets"], large.original.to_dict()["key_sets"])
    assert "sex as told" in str(list(second)) or theirs.profile.further["reconstruction"].given_back > 0
    verdicts = {each.name: (each.value, each.holds) for each in theirs.verdicts}
    assert verdicts == {each.name: (each.value, each.holds) for each in ours.verdicts}
    assert "NOT SAFE" in large.headline and large.figures() == ("risk_utility_map",)


CALLED = (
    *(
        ("loss", name, {})
        for name in ("value_loss", "class_loss", "distribution_loss", "association_loss", "table_loss")
    ),
    ("loss", "value_loss", {"weighted": True, "variables": ("age", "sex", "code"), "unit": "sd"}),
    ("loss", "association_loss", {"corrected": True, "weighted": True}),
    ("risk", "external_risk", {"weighted": True, "suppressed": "any"}),
    ("risk", "total_risk", {}),
    ("risk", "reconstruction", {}),
)


@pytest.mark.usual_on_spark(kind=0)
@pytest.mark.parametrize(("kind", "name", "options"), CALLED, ids=str)
@pytest.mark.parametrize("size", [1, 300])
def test_measures_called_directly(on_engine: Opener, kind: str, name: str, options: dict[str, Any], size: int) -> None:
    survey, release = files(size)
    measure, who = getattr(getattr(tc, kind), name), scenario(sensitive=["ill"])
    # Identifiers of households are no category, and are not looked at on an engine.
    survey, release = survey.drop("name", "hid"), release.drop("hid")
    near(
        measure(survey, release, who, **options).to_dict(),
        measure(on_engine(survey), on_engine(release), who, **options).to_dict(),
    )


def test_one_file_called_directly(on_duckdb: Opener) -> None:
    survey, who = people(200), scenario(sensitive=["ill"], attack="M5")
    large = on_duckdb(survey)
    for name in ("suda", "l_diversity", "individual_risk", "reidentification", "loglinear_risk"):
        measure = getattr(tc.risk, name)
        same(measure(survey.drop_nulls(), who).to_dict(), measure(on_duckdb(survey.drop_nulls()), who).to_dict())
    with pytest.raises(TacitaError, match="mixed_uniqueness needs all records in memory"):
        tc.risk.mixed_uniqueness(large, who)


def test_records_that_are_in_one_file_only(on_engine: Opener) -> None:
    """Ten people were dropped and three added: by hand, and as in memory."""
    survey, release = files(200)
    survey, release = (each.with_columns(nr=pl.int_range(200) * 3) for each in (survey, release))
    new = release[:3].with_columns(nr=pl.lit(-1) - pl.int_range(3).cast(pl.Int64))
    release = pl.concat([release[10:], new.cast(release.schema)]).sample(fraction=1.0, shuffle=True, seed=1)
    who = scenario()
    memory = tc.compare(survey, release, who, unit="nr")
    large = tc.compare(on_engine(survey), on_engine(release), who, unit="nr")
    found = large.releases[0]
    assert (found.records, found.dropped, found.added) == (193, 10, 3)
    for name in ("value_loss", "distribution_loss", "table_loss", "external_risk"):
        near(memory.releases[0].measures[name].to_dict(), found.measures[name].to_dict())
    assert "3 released records are not in the original" in found.verdict
    assert [each for each in memory.releases[0].changes if each.name != "nr"] == [
        each for each in found.changes if each.name != "nr"
    ]


def test_pairs_of_columns_give_cells_back(on_engine: Opener) -> None:
    """Neither column tells the region, both together do; 40 blanks are told, which memory says too."""
    n = 4000
    first, second = np.arange(n) % 5, np.arange(n) // 5 % 5
    survey = pl.DataFrame({"region": (first + 2 * second) % 5, "a": first, "b": second})
    release = survey.with_columns(region=pl.when(pl.int_range(n) % 101 != 0).then("region"))
    who = tc.Scenario(keys=["region"])
    found = tc.risk.reconstruction(on_engine(survey), on_engine(release), who)
    assert (found.given_back, found.leaks[0].columns, found.leaks[0].right) == (40, ("a", "b"), 40)
    assert len(found.record) < 200
    (verdict,) = found.verdicts(tc.Policy())
    assert verdict.holds is False


def test_where_no_records_can_be_drawn_not_everything_was_tried(on_engine: Opener) -> None:
    n, draws = 2000, np.random.default_rng(3)
    survey = pl.DataFrame({"region": draws.integers(0, 5, n), "id": [f"p{each}" for each in draws.permutation(n)]})
    release = survey.with_columns(region=pl.when(pl.int_range(n) % 101 != 0).then("region"))
    who, limits = tc.Scenario(keys=["region"]), tc.Policy(k=2, risk=False, rate=False, given_back=False)
    whole, by_text = ([on_engine(each, **given) for each in (survey, release)] for given in ({}, {"record": "id"}))
    (closed,), (left_open,) = (tc.risk.reconstruction(*both, who).verdicts(tc.Policy()) for both in (whole, by_text))
    assert closed.holds and left_open.holds is None and "of which no sample could be drawn" in left_open.why
    assert tc.assess(whole[1], who, limits, original=whole[0]).safe
    profile = tc.assess(by_text[1], who, limits, original=by_text[0])
    assert not profile.safe and profile.not_assessed


def test_what_has_too_many_values_or_combinations_is_left_out(
    on_duckdb: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey, release = files()
    who = scenario(numeric_keys=["hid"])
    large = on_duckdb(survey), on_duckdb(release)
    monkeypatch.setattr(condensed_pair, "MOST_VALUES", 50)
    safe = tc.Policy(limits={"external_risk": 0.9, "numeric_loss": 0.5})
    found = tc.compare(*large, who, safe).releases[0]
    said = " ".join((*found.profile.cautions, *found.profile.not_assessed))
    assert (
        "external_risk was measured without 'hid'" in said and "'name'" in said and "too many different values" in said
    )
    assert "numeric_loss was not measured: numeric_loss needs all records in memory" in said
    loss = tc.loss.value_loss(*large, who)
    assert "hid" not in loss.by_variable and "too many different values" in " ".join(loss.cautions)


def test_what_needs_all_records_says_so(tmp_path: Path) -> None:
    survey, release = files(40)
    survey.write_parquet(tmp_path / "a.parquet")
    release[:39].write_parquet(tmp_path / "b.parquet")
    release.write_parquet(tmp_path / "c.parquet")
    with (
        tc.LargeData.of(tmp_path / "a.parquet") as a,
        tc.LargeData.of(tmp_path / "b.parquet") as b,
        tc.LargeData.of(tmp_path / "c.parquet") as c,
    ):
        for call, words in (
            (lambda: tc.compare(a, b, scenario()), "39 records and the original 40"),
            (lambda: tc.compare(a, b, scenario(), unit="hid"), "unit 'hid' must identify the records"),
            (lambda: tc.compare(a, c, scenario(), rules=["w >= 0"]), "rules=... need all records"),
            (lambda: tc.compare(a, c, scenario(missing="no_match")), "under rule 'no_match'"),
            (lambda: tc.compare(a, release, scenario()), "large data must be a path"),
            (lambda: tc.loss.numeric_loss(a, c, scenario()), "value_loss, distribution_loss, table_loss do not"),
            (lambda: tc.risk.external_risk(a, release, scenario()), "both files must be large"),
            (lambda: tc.risk.reconstruction(a, c, scenario(), other=survey), "other=..., rules=... and learner=..."),
            (lambda: tc.compare(a, c, scenario()).plot("confidentiality"), "figure must be"),
            (lambda: tc.compare(a, c, scenario()).before_after(), "distributions before and after need"),
        ):
            with pytest.raises(TacitaError) as error:
                call()
            assert words in str(error.value)


def test_squares_of_weights_are_exact(on_engine: Opener) -> None:
    """n sum V^2 - (sum V)^2 in whole numbers: in any order, and for weights that hardly differ."""
    draw = np.random.Generator(np.random.Philox(3))
    weights = np.concatenate([draw.lognormal(2, 2, 500), 1e6 + draw.uniform(0, 1e-3, 100), [2.0**40]])
    group = np.concatenate([draw.integers(0, 5, 500), np.full(100, 5), [6]])
    greatest = float(weights.max())
    found = condensed(on_engine(pl.DataFrame({"g": group, "w": weights})), ["g"], "w")
    assert found.condensed is not None and found.condensed.squares is not None
    unit = 2.0 ** (np.frexp(greatest)[1] - 52)
    for at in range(7):
        own = [int(each / unit) for each in weights[group == at]]
        exact = (len(own) * sum(each * each for each in own) - sum(own) ** 2) / len(own) * unit**2
        assert found.condensed.squares[at] == pytest.approx(exact, rel=1e-15)


def test_rows_in_another_order_are_not_compared(on_duckdb: Opener) -> None:
    survey, _ = files()
    other = survey.sample(fraction=1.0, shuffle=True, seed=3)
    found = tc.risk.reconstruction(on_duckdb(survey), on_duckdb(other), scenario())
    assert found.other_order == tc.risk.reconstruction(survey, other, scenario()).other_order != ""


def test_mean_weights_of_rows_are_no_column(on_duckdb: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """With more weights than an engine groups by, none is looked at; F and losses rest on their sums as ever."""
    monkeypatch.setattr(condensed_pair, "MOST_VALUES", 50)
    survey, release = (each.drop("hid", "name", strict=False) for each in files())
    who, large = scenario(sensitive=["ill"]), (on_duckdb(survey), on_duckdb(release))
    for name in ("distribution_loss", "association_loss"):
        measure = getattr(tc.loss, name)
        near(measure(survey, release, who).to_dict(), measure(*large, who).to_dict())
    found = tc.risk.reconstruction(*large, who)
    assert "w" not in [each.name for each in found.variables] and "w" not in str([e.columns for e in found.leaks])


def test_the_command_compares_files_larger_than_its_memory(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacita.engine.memory.PER_BYTE", {".parquet": 1e7})
    survey, release = files(60)
    survey.write_parquet(tmp_path / "a.parquet")
    release.write_parquet(tmp_path / "b.parquet")
    words = ("--keys", "Region,age,sex", "--weight", "w", "--memory", "1GB", "--out", "out", "--figures")
    code, out, err = run("compare", "a.parquet", "b.parquet", *words)
    assert code == 0, err
    assert "NOT SAFE" in out and "information loss in values" in out
    assert (tmp_path / "out" / "internal" / "comparison.html").exists()
    code, out, err = run("compare", "a.parquet", "b.parquet", "--keys", "Region", "--memory", "much")
    assert code == 2 and "memory must be a size like '4GB'" in err


def small_budget(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """So many variables of both files, one with the other, have combinations that fit the memory."""
    monkeypatch.setattr(condensed_pair, "fits", lambda rows, columns, memory: columns <= most)


def test_columns_are_looked_at_apart_where_all_do_not_fit(on_duckdb: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two columns tell the region together, a third tells another key alone: as many cells as with all in one table."""
    n = 3000
    first, second = np.arange(n) % 5, np.arange(n) // 5 % 5
    survey = pl.DataFrame({"region": (first + 2 * second) % 5, "sex": first % 2, "a": first, "b": second})
    survey = survey.with_columns(code=pl.col("sex") + 7)
    release = survey.with_columns(
        region=pl.when(pl.int_range(n) % 101 != 0).then("region"), sex=pl.when(pl.int_range(n) % 97 != 0).then("sex")
    )
    who, large = tc.Scenario(keys=["region", "sex"]), (on_duckdb(survey), on_duckdb(release))
    whole = tc.risk.reconstruction(*large, who)
    for most in (8, 6):
        small_budget(monkeypatch, most)
        found = tc.risk.reconstruction(*large, who)
        assert found.given_back == whole.given_back == 30 + 31
        assert {"code"} in [set(each.columns) for each in found.leaks]
        assert {"a", "b"} in [set(each.columns) for each in found.leaks]
        assert found.guessed_cells().height == 0 and found.to_dict()["given_back"] == 61
    loss = tc.loss.value_loss(*large, who)
    assert set(loss.by_variable) == {"region", "sex"} and "'a', 'b'" in loss.cautions[-1]
    small_budget(monkeypatch, 2)
    with pytest.raises(TacitaError, match="more different combinations in both files than fit"):
        tc.loss.value_loss(*large, who)


def firms(n: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    draw = np.random.Generator(np.random.Philox(5))
    survey = pl.DataFrame(
        {"sales": draw.lognormal(3, 1, n), "staff": draw.lognormal(2, 1, n), "kind": draw.choice(["a", "b", "c"], n)}
    )
    return survey, survey.with_columns(pl.col("sales", "staff") * pl.Series(draw.uniform(0.8, 1.2, n)))


def test_the_confidentiality_plot_of_a_file_that_is_small_enough_is_that_in_memory(on_engine: Opener) -> None:
    survey, release = firms(120)
    who = tc.Scenario(numeric_keys=["sales", "staff"], strata=["kind"])
    memory = tc.risk.confidentiality(survey, release, who, ratio=False)
    large = tc.risk.confidentiality(on_engine(survey), on_engine(release), who)
    np.testing.assert_array_equal(large.neighbours, memory.neighbours)
    np.testing.assert_array_equal(large.delta, memory.delta)
    np.testing.assert_array_equal(large.record, memory.record)
    assert large.sampled is None and large.verdicts(tc.Policy()) == memory.verdicts(tc.Policy())


def test_the_confidentiality_plot_is_of_a_sample(on_engine: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 6,000 firms 400 of each kind: delta and neighbours are those of all firms within the stated bounds."""
    monkeypatch.setattr("tacita.keys.sampled_pair.SAMPLE", 400)
    survey, release = firms(6000)
    who = tc.Scenario(numeric_keys=["sales", "staff"], strata=["kind"])
    whole = tc.risk.confidentiality(survey, release, who, ratio=False)
    found = tc.risk.confidentiality(on_engine(survey), on_engine(release), who)
    bounds = found.sampled
    assert bounds is not None and bounds.records == 6000
    assert all(340 <= count <= 460 for count in found.records) and found.labels == whole.labels
    np.testing.assert_array_equal(found.perturbation, whole.perturbation[found.record - 1])
    near = whole.neighbours[found.record - 1] / whole.records[found.stratum]
    # Within the bound on one record, and that on delta, which moves all of them.
    off = np.abs(found.neighbours / whole.records[found.stratum] - near)
    assert (off <= bounds.error_of_neighbours).mean() >= 0.95 and np.corrcoef(near, found.neighbours)[0, 1] > 0.9
    alphas = [tc.risk.confidentiality(survey, release, who, ratio=False, alpha=a).delta
              for a in (0.05 - min(bounds.error_of_alpha, 0.049), 0.05 + bounds.error_of_alpha)]  # fmt: skip
    assert (alphas[0] <= found.delta).all() and (found.delta <= alphas[1]).all()
    (verdict,) = found.verdicts(tc.Policy())
    assert verdict.holds is None and "of 6,000 records" in verdict.why
    subtitle = " ".join(found.plot().to_dict()["title"]["subtitle"])
    assert "left out: likelihood ratio, Kolmogorov-Smirnov distances, ranks" in subtitle
    with pytest.raises(TacitaError, match="ratio, weighted and archive need all records"):
        tc.risk.confidentiality(on_engine(survey), on_engine(release), who, ratio=True)
