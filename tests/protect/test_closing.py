"""Closing a suppression: the rest of the file does not give suppressed cells back, or the log says what does."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.data import Variable
from tacita.progress import no_progress
from tacita.protect import closing
from tacita.risk.release.reconstruction.leak import Leak

RULES = ["one_way", "wildcard", "own_category", "partial(0.5)"]
RANKS = {"region": 3, "sex": 2, "age": 1}
WHO = tc.Scenario(keys=["region", "sex", "age"], weight="w", household="hid")
BLANKED = ("columns", "copy", "housemates")


def people(households: int = 250, seed: int = 1) -> pl.DataFrame:
    """Households of one to four in six regions, two of them rare; every weight its own."""
    draw = np.random.default_rng(seed)
    home = np.repeat(np.arange(households), draw.integers(1, 5, households))
    size = len(home)
    region = draw.choice(6, households, p=[0.4, 0.2, 0.15, 0.13, 0.08, 0.04])[home]
    return pl.DataFrame(
        {
            "hid": draw.permutation(households)[home] + 1000,
            "region": [f"r{code}" for code in region],
            "sex": [["f", "m"][code] for code in draw.integers(0, 2, size)],
            "age": draw.integers(0, 6, size) * 15,
            "w": np.round(draw.uniform(50, 150, size), 3),
        }
    )


def applied(file: Any, who: tc.Scenario, **options: Any) -> tc.Release:
    return tc.Plan([tc.Suppress(**{"k": 3, **options})]).apply(file, who)


def counts(release: tc.Release, who: tc.Scenario) -> np.ndarray:
    table = tc.key_table(release.data, who)
    return table.per_record(table.sample_count)


def left_to_blank(file: Any, release: tc.Release, who: tc.Scenario, names: tuple[str, ...]) -> list[Leak]:
    """Leaks of suppressed cells that blanking would repair, by the measure itself."""
    found = tc.risk.reconstruction(tc.Data.of(file), release, who, variables=names)
    fixed = {who.weight, who.person, *who.identifiers}
    return [leak for leak in found.leaks if leak.kind in BLANKED and not fixed & set(leak.columns) and leak.right]


def shown_by_housemates(file: pl.DataFrame, release: tc.Release, name: str) -> int:
    """Blanked cells that stand in another row of the same household."""
    blank = release.data.missing(name)
    shown = set(zip(file["hid"].to_numpy()[~blank].tolist(), file[name].to_numpy()[~blank].tolist(), strict=True))
    pairs = zip(file["hid"].to_numpy()[blank].tolist(), file[name].to_numpy()[blank].tolist(), strict=True)
    return sum(pair in shown for pair in pairs)


def test_regions_that_housemates_show_are_blanked_for_the_household() -> None:
    file = people()
    before = applied(file, WHO, importance=RANKS, closed=False)
    assert shown_by_housemates(file, before, "region") > 10
    release = applied(file, WHO, importance=RANKS)
    assert shown_by_housemates(file, release, "region") == 0
    assert counts(release, WHO).min() >= 3
    blank = release.data.missing("region")
    assert not set(file["hid"].to_numpy()[blank]) & set(file["hid"].to_numpy()[~blank])
    (change,) = release.changes
    besides = {
        name: int((release.data.missing(name) & ~before.data.missing(name)).sum()) for name in ("region", "sex", "age")
    }
    assert change.figures["closing"] == {name: count for name, count in besides.items() if count}
    assert change.figures["cells"] == {name: int(release.data.missing(name).sum()) for name in ("region", "sex", "age")}
    assert (
        f"{sum(besides.values())} more cells suppressed because other values of the file would reveal suppressed ones"
        in (str(change))
    )


def test_without_closing_everything_is_as_before() -> None:
    release = applied(people(), WHO, importance=RANKS, closed=False)
    assert release.changes[0].figures["closing"] == {}
    assert "reveal" not in str(release)
    again = applied(release, WHO, closed=True)
    assert "no record is unsafe" in str(again.changes[0]), "what another step suppressed is not this one's to close"


PLACES = [17, 100, 201]
"""Three records of a sex that nobody else has, each in another region: their regions are blanked."""


def spread(size: int = 240) -> pl.DataFrame:
    """Three regions in no order; `district` tells the region."""
    draw = np.random.default_rng(2)
    region = draw.integers(0, 3, size)
    region[PLACES] = [0, 1, 2]
    sex = draw.integers(0, 2, size)
    sex[PLACES] = 2
    return pl.DataFrame(
        {
            "region": [["north", "east", "south"][code] for code in region],
            "sex": [["f", "m", "x"][code] for code in sex],
            "district": [f"{'nes'[code]}{part}" for code, part in zip(region, draw.integers(0, 3, size), strict=True)],
            "noise": [f"n{code}" for code in draw.integers(0, 4, size)],
        }
    )


KEYS = tc.Scenario(keys=["region", "sex"])


def regions_first(file: pl.DataFrame, **options: Any) -> tc.Release:
    return applied(file, options.pop("who", KEYS), importance={"sex": 1, "region": 2}, **options)


def test_a_column_that_tells_a_key_is_blanked_beside_it() -> None:
    file = spread()
    before = regions_first(file, closed=False)
    assert before.data.missing("region").nonzero()[0].tolist() == PLACES
    assert tc.risk.reconstruction(tc.Data.of(file), before, KEYS).given_back == 3
    release = regions_first(file)
    assert release.changes[0].figures["closing"] == {"district": 3}
    assert release.data.missing("district").nonzero()[0].tolist() == PLACES
    assert "still revealed" not in str(release)
    assert tc.risk.reconstruction(tc.Data.of(file), release, KEYS).given_back == 0


def test_of_two_columns_that_tell_a_key_together_one_is_blanked() -> None:
    draw = np.random.default_rng(3)
    file = spread()
    code = file["region"].replace_strict({"north": 0, "east": 1, "south": 2}).to_numpy()
    first = draw.integers(0, 3, file.height)
    file = file.drop("district").with_columns(a=pl.Series([f"a{c}" for c in first]), b=pl.Series((code + first) % 3))
    assert tc.risk.reconstruction(tc.Data.of(file), regions_first(file, closed=False), KEYS).given_back == 3
    release = regions_first(file)
    assert release.changes[0].figures["closing"] == {"a": 3}
    assert tc.risk.reconstruction(tc.Data.of(file), release, KEYS).given_back == 0


@pytest.mark.parametrize("role", ["weight", "identifier", "stratum", "measurement", "not applicable"])
def test_what_cannot_be_blanked_stays_open_and_is_named(role: str) -> None:
    file = spread()
    code = file["region"].replace_strict({"north": 1, "east": 2, "south": 3}).to_numpy()
    own = {"weight": code * 10.0, "measurement": code * 1.5}.get(role, file["district"].to_numpy())
    file = file.drop("district").with_columns(tells=pl.Series(own))
    given: dict[str, Any] = {"weight": {"weight": "tells"}, "identifier": {"identifiers": ["tells"]}}.get(role, {})
    options: dict[str, Any] = {}
    data = tc.Data.of(file)
    if role == "stratum":
        # Records count in the whole file, and the scenario's strata stay as they are.
        given, options = {"strata": ["tells"]}, {"strata": ()}
    elif role == "not applicable":
        data = tc.Data.of(file, {"tells": Variable(not_applicable=("",))})
    who = tc.Scenario(keys=["region", "sex"], **given)
    release = regions_first(data, who=who, **options)
    (change,) = release.changes
    assert "tells" not in change.figures["closing"]
    assert not release.data.missing("tells").any()
    assert "still revealed by 'tells'" in str(change)
    assert release.assess().safe is False
    assert any("given back" in text for text in release.assess().failures)
    assert release.verdict.startswith("NOT SAFE")


def test_a_weight_that_leaks_does_not_hide_what_blanking_repairs() -> None:
    """The weight may be removed by a later step: what a column tells besides is closed all the same."""
    file = spread()
    code = file["region"].replace_strict({"north": 1, "east": 2, "south": 3}).to_numpy()
    first = np.random.default_rng(3).integers(0, 3, file.height)
    file = file.drop("district").with_columns(
        a=pl.Series([f"a{c}" for c in first]), b=pl.Series((code + first) % 3), w=pl.Series(code * 10.0)
    )
    who = tc.Scenario(keys=["region", "sex"], weight="w")
    plan = tc.Plan([tc.Suppress(k=3, importance={"sex": 1, "region": 2}), tc.Remove("w")])
    release = plan.apply(file, who)
    assert release.changes[0].figures["closing"] == {"a": 3}
    assert "still revealed by 'w'" in str(release.changes[0])
    assert tc.risk.reconstruction(tc.Data.of(file), release, KEYS).given_back == 0


def test_only_is_respected() -> None:
    file = spread()
    release = regions_first(file, only=[place + 1 for place in PLACES[:2]])
    for name in file.columns:
        assert set(release.data.missing(name).nonzero()[0].tolist()) <= set(PLACES[:2])
    assert release.changes[0].figures["closing"]["district"] == 2
    homes = people()
    some = np.arange(homes.height) % 2 == 0
    chosen = (np.flatnonzero(some) + 1).tolist()
    half = applied(homes, WHO, importance=RANKS, only=chosen)
    for name in WHO.keys:
        assert not (half.data.missing(name) & ~some).any()
    assert "still revealed by" in str(half) and "housemates" in str(half)
    assert half.changes[0].figures["left"] == (counts(half, WHO) < 3).sum()


@pytest.mark.parametrize("rule", RULES)
def test_k_holds_by_every_rule(rule: str) -> None:
    file = people(120, seed=4)
    who = tc.Scenario(keys=["region", "sex", "age"], household="hid", missing=rule)
    release = applied(file, who, importance=RANKS)
    assert counts(release, who).min() >= 3
    if "still revealed" not in str(release):
        assert shown_by_housemates(file, release, "region") == 0


def test_the_order_of_records_does_not_matter() -> None:
    data = tc.Data.of(people(150))
    plan = tc.Plan([tc.Suppress(k=3, importance=RANKS)])
    straight = plan.apply(data, WHO).data
    order = np.random.default_rng(1).permutation(len(data))
    mixed = plan.apply(data.take(order), WHO).data
    for name in WHO.keys:
        assert (straight.missing(name)[order] == mixed.missing(name)).all()


def test_progress_rises_to_one_at_most() -> None:
    seen: list[float] = []
    tc.Plan([tc.Suppress(k=3, importance=RANKS)]).apply(people(100), WHO, progress=lambda done, what: seen.append(done))
    assert seen == sorted(seen) and seen[-1] <= 1 and len([done for done in seen if 0.5 < done < 1]) > 5


def test_whoever_gives_up_says_what_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    file = people()
    for rounds in (1, 2):
        monkeypatch.setattr(closing, "MOST_ROUNDS", rounds)
        release = applied(file, WHO, importance=RANKS)
        assert counts(release, WHO).min() >= 3
        still = left_to_blank(file, release, WHO, ("region", "sex", "age"))
        assert bool(still) == ("housemates" in " ".join(release.changes[0].remarks))


def test_where_it_would_take_the_whole_file_nothing_more_is_suppressed(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a health survey in which every answer tells others 227 cells grew to 41,782, in 5 minutes."""
    file, first = spread(), regions_first(spread(), closed=False)
    monkeypatch.setattr(closing, "MOST_TIMES", 0)
    for most, cells in ((3, 3), (2, 0)):
        monkeypatch.setattr(closing, "MOST_CELLS", most)
        release = regions_first(file)
        assert sum(release.changes[0].figures["closing"].values()) == cells
        given_up = "no more cells suppressed to protect these 3: it would have taken more than 2; recode or remove the "
        assert (given_up in str(release)) == (not cells)
    assert release.data.table.equals(first.data.table)
    assert "3 suppressed cells of 'region' still revealed by" in str(release) and "'district'" in str(release)
    assert not release.safe


def test_of_many_leaks_the_first_are_listed() -> None:
    leaks = tuple(f"leak {number}" for number in range(12))
    assert closing._listed(leaks[:11]) == leaks[:11]
    assert closing._listed(leaks) == (*leaks[:10], "2 more leaks of suppressed cells")


def test_blanks_and_missing_households_are_no_trouble() -> None:
    file = people(120)
    rows = np.arange(file.height)
    file = file.with_columns(
        hid=pl.Series([None if row % 7 == 0 else hid for row, hid in zip(rows, file["hid"], strict=True)]),
        empty=pl.Series([None] * file.height, dtype=pl.String),
        region=pl.Series([None if row % 11 == 0 else text for row, text in zip(rows, file["region"], strict=True)]),
    )
    release = applied(file, WHO, importance=RANKS)
    assert counts(release, WHO).min() >= 3
    assert not left_to_blank(file, release, WHO, ("region", "sex", "age"))
    nothing = file.with_columns(sex=pl.Series([None] * file.height, dtype=pl.String))
    assert counts(applied(nothing, WHO), WHO).min() >= 3


def test_a_blank_that_tells_is_blanked_with_its_like() -> None:
    """Who has no region is of the sex x, and one of them alone hides it: the others must as well."""
    file = spread().drop("district")
    data = tc.Data.of(
        file.with_columns(sex=pl.Series(["x" if row % 5 == 0 else sex for row, sex in enumerate(file["sex"])]))
    )
    blank = {"region": np.arange(240) % 5 == 0, "sex": np.arange(240) == 5}
    scope = closing.Scope(data, KEYS, ("region", "sex"), (), np.ones(240, dtype=np.bool_))
    names, nothing = ("region", "sex"), frozenset[str]()
    found = closing.closing_cells(data.blanked(blank), scope, names, closing.PAIRS, nothing, no_progress)
    assert found.cells["sex"].nonzero()[0].tolist() == [row for row in range(0, 240, 5) if row != 5]


@st.composite
def small_files(draw: st.DrawFn) -> tuple[pl.DataFrame, tc.Scenario]:
    seed = draw(st.integers(0, 10**6))
    file = people(draw(st.integers(5, 60)), seed)
    chance = np.random.default_rng(seed)
    if draw(st.booleans()):
        file = file.with_columns(ghost=pl.col("region").str.replace("r5", "r4"))
    if draw(st.booleans()):
        blank = pl.Series(chance.random(file.height) < 0.1)
        file = file.with_columns(sex=pl.when(blank).then(None).otherwise(pl.col("sex")))
    shared = ["region"] if draw(st.booleans()) else []
    return file, tc.Scenario(
        keys=["region", "sex", "age"],
        household="hid",
        household_variables=shared,
        missing=draw(st.sampled_from(RULES[:2])),
    )


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(small_files(), st.integers(2, 4))
def test_nothing_that_blanking_repairs_is_left(drawn: tuple[pl.DataFrame, tc.Scenario], k: int) -> None:
    file, who = drawn
    if file.height < k:
        return
    release = applied(file, who, k=k, importance=RANKS)
    assert counts(release, who).min() >= k
    (change,) = release.changes
    names = tuple(name for name, count in change.suppressed.items() if count)
    for leak in left_to_blank(file, release, who, names):
        assert f"still revealed by {leak.how}" in str(change)
        assert set(leak.columns) <= {"hid", "w"}


def test_records_in_random_order_are_not_told_by_their_neighbours() -> None:
    file = spread().drop("district").sort("region")
    steps = tc.RandomOrder(), tc.Suppress(k=3, importance={"sex": 1, "region": 2})
    as_it_is = tc.Plan(steps[1:]).apply(file, KEYS)
    assert "still revealed by the rows before and after it" in str(as_it_is)
    assert "still revealed" not in str(tc.Plan(steps).apply(file, KEYS, seed=3))


def test_keys_that_another_column_tells_are_suppressed_until_they_are_safe_as_told() -> None:
    """Nobody under 16 has a status: suppressed to k by age groups alone, children were too few, and nothing could be
    done but to give the status up."""
    draw = np.random.default_rng(3)
    age = draw.integers(0, 80, 900)
    file = pl.DataFrame(
        {
            "age": age,
            "sex": draw.choice(["f", "m"], 900),
            "region": draw.choice(
                [f"r{at}" for at in range(9)], 900, p=[0.3, 0.2, 0.15, 0.1, 0.1, 0.06, 0.05, 0.03, 0.01]
            ),
            "status": np.where(age < 16, "none", draw.choice(["works", "other"], 900)),
        }
    )
    who, policy = tc.Scenario(keys=["age", "sex", "region"]), tc.Policy(k=3, risk=None, rate=None)

    def released(**options: Any) -> tc.Release:
        steps = [tc.Recode("age", width=20), tc.RandomOrder(), tc.Suppress(k=3, **options)]
        return tc.Plan(steps).apply(file, who, policy, seed=4)

    plain, told = released(), released(as_told=True)
    assert "below k = 3 on the key set 'keys with other columns'" in plain.verdict
    assert told.safe
    # By plain counting: whoever knows that somebody is a child leaves out whoever has a status.
    rows = [row | {"child": row["status"] == "none"} for row in told.data.table.to_dicts()]
    for row in rows:
        shown = [name for name in who.keys if row[name] is not None]
        alike = [r for r in rows if all(r[name] == row[name] for name in shown)]
        if row["age"] in ("[0, 20)", None):
            alike = [r for r in alike if r["child"] == row["child"]]
        assert len(alike) >= 3
    more = told.changes[-1].figures["as_told"]
    assert sum(more.values()) > 0
    assert f"{sum(more.values())} more cells suppressed because other columns tell keys more finely" in str(told)
    assert sum(told.changes[-1].suppressed.values()) >= sum(plain.changes[-1].suppressed.values())


def test_a_class_of_too_few_stays_unsafe_whatever_is_suppressed_and_is_named() -> None:
    age = np.array([1, 1, *range(4, 20)] + [*range(4, 20)] * 7)
    file = pl.DataFrame({"age": age, "sex": ["f", "m"] * (len(age) // 2), "grade": age // 4 * 7 % 5})
    release = tc.Plan([tc.Recode("age", width=20), tc.RandomOrder(), tc.Suppress(k=3, as_told=True)]).apply(
        file, tc.Scenario(keys=["age", "sex"]), tc.Policy(k=3, risk=None, rate=None), seed=4
    )
    assert "2 records unsafe with what other columns show of the keys, whatever keys are suppressed" in str(release)
    assert not release.safe
