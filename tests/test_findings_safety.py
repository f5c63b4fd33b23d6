"""Files that were called SAFE and were not: one test for each way in which it happened."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.data import Data, Variable
from tacita.data.files import read

Run = Callable[..., tuple[int, str, str]]
K = tc.Policy(k=3, risk=None, rate=None)


def households(number: int = 300) -> pl.DataFrame:
    """Households of one to four members, each with its region and a weight that few others have."""
    draws = np.random.default_rng(3)
    rows = []
    for household in range(1, number + 1):
        region = str(draws.choice(["n", "s", "e", "w", "x"], p=[0.4, 0.3, 0.2, 0.08, 0.02]))
        weight, members = float(draws.integers(20, 400)), int(draws.integers(1, 5))
        rows += [
            (household, region, str(draws.choice(["f", "m"])), int(draws.integers(0, 18)) * 5, members, weight)
            for _ in range(members)
        ]
    names = ["hid", "region", "sex", "age", "size", "w"]
    return pl.DataFrame(rows, schema=names, orient="row")


WHO = tc.Scenario(keys=["region", "sex", "age", "size"], weight="w", household="hid")


def test_a_blank_not_applicable_and_a_missing_code_are_two_values_for_diversity_too() -> None:
    """Both became one category: l was right for neither keys nor sensitive variables."""
    data = Data.of(pl.DataFrame({"status": [None, 8, 1, 1], "ill": list("abcd")}), {"status": Variable(missing=(8,))})
    who = tc.Scenario(keys=["status"], not_applicable={"status": [""]}, sensitive=["ill"])
    assert tc.risk.l_diversity(data, who).to_frame()["ill:distinct"].to_list() == [1, 1, 2, 2]
    assert tc.assess(data, who, tc.Policy(k=2, risk=None, rate=None)).failures == ("2 records below k = 2",)


def test_a_file_that_undoes_its_own_protection_is_not_safe() -> None:
    """Recoded, top-coded and suppressed it was SAFE, though members, weight and a derived column told it all again."""
    survey = households().with_columns(logarithm=pl.col("age").add(1).log())
    plan = tc.Plan([tc.Recode("age", width=20), tc.TopCode("size", at=3), tc.Suppress(closed=False)])
    release = plan.apply(survey, WHO, K)
    assert not release.safe and release.verdict.startswith("NOT SAFE")
    found = release.assess().further["reconstruction"]
    given_back = {each.name: each.given_back for each in found.variables}
    top_coded = int((survey["size"] > 3).sum())
    assert given_back["size"] == top_coded > 0
    assert given_back["age"] == len(survey)
    said = " ".join(release.assess().cautions)
    assert "the rows stand in the order of the original" in said
    assert "identifiers are those of the original ('hid'" in said
    assert release.checklist()["reconstruction"].state == "not done"


@pytest.mark.parametrize("order", [[], [tc.RandomOrder("households")], [tc.RandomOrder("within_households")]])
def test_households_that_stand_together_are_counted_without_their_identifier(order: list[Any]) -> None:
    """Without the identifier the release was SAFE, though runs of one weight gave back every top-coded size."""
    survey, who = households(), tc.Scenario(keys=["size"], weight="w", household="hid")
    steps = [tc.TopCode("size", at=3), *order, tc.Remove("hid")]
    release = tc.Plan(steps).apply(survey, who, K, seed=1)
    # Households next to each other that have the same weight and size by chance look like one larger one.
    assert release.assess().further["reconstruction"].given_back >= 0.95 * (survey["size"] > 3).sum()
    assert not release.safe
    shuffled = tc.Plan([*steps, tc.RandomOrder(), tc.Remove("w")]).apply(survey, who, K, seed=1)
    assert shuffled.safe


def test_an_assessment_of_a_release_holds_it_against_its_original() -> None:
    """The verdict of a release said NOT SAFE, and assess of the same release SAFE: it was not held against anything."""
    release = tc.Plan([tc.TopCode("size", at=2)]).apply(households(), tc.Scenario(keys=["size"], household="hid"), K)
    assert tc.assess(release, release.scenario, K).failures == release.assess().failures != ()


def test_a_second_plan_does_not_forget_what_the_first_one_protected() -> None:
    """A plan without steps, applied to a release, made its leaks and its original weights unknown, and it was SAFE."""
    release = tc.Plan([tc.TopCode("size", at=2)]).apply(households(), tc.Scenario(keys=["size"], household="hid"), K)
    again = tc.Plan([]).apply(release, release.scenario, K)
    assert not release.safe
    assert again.verdict == release.verdict
    firms = pl.DataFrame({"region": ["n"] * 4 + ["s"] * 96, "w": [1.0] * 4 + [50.0] * 96})
    limits = tc.Policy(k=3, risk=0.1, rate=None)
    rounded = tc.Plan([tc.RoundWeights(base=100)]).apply(firms, tc.Scenario(keys=["region"], weight="w"), limits)
    for given in (rounded, rounded.data):
        twice = tc.Plan([tc.RoundWeights(base=200)]).apply(given, rounded.scenario, limits)
        assert twice.verdict == "NOT SAFE under this policy: 4 records above a risk of 0.1"


def test_rounded_weights_of_a_written_file_are_those_of_its_original(run: Run, tmp_path: Path) -> None:
    """Held against its original, a file with rounded weights was SAFE: the population had grown."""
    firms = pl.DataFrame({"region": ["n"] * 4 + ["s"] * 96, "w": [1.0] * 4 + [50.0] * 96})
    who, limits = tc.Scenario(keys=["region"], weight="w"), tc.Policy(k=3, risk=0.1, rate=None)
    release = tc.Plan([tc.RoundWeights(base=100, keep_total=False)]).apply(firms, who, limits)
    tc.write(firms.with_columns(w=100.0), tmp_path / "public.csv")
    tc.write(firms, tmp_path / "survey.csv")
    assert release.assess().failures == ("4 records above a risk of 0.1",)
    assert tc.assess(read(tmp_path / "public.csv"), who, limits, original=firms).failures == release.assess().failures
    words = ["assess", tmp_path / "public.csv", "--original", tmp_path / "survey.csv", "--keys", "region"]
    code, out, _ = run(*words, "--weight", "w", "--fail-if-unsafe")
    assert code == 1 and "4 records above a risk of 0.1" in out
    # In another order, weights that nobody changed are right as they are.
    shuffled = tc.assess(firms.reverse(), who, limits, original=firms)
    assert shuffled.main.table.source == "weights"


def test_persons_and_households_apart_keep_original_weights_and_units() -> None:
    """Split into two files, a release forgot what its records stood for and which of them are one person."""
    people = households(20).with_columns(person=pl.int_range(pl.len()) // 2)
    who = tc.Scenario(keys=["sex"], weight="w", person="person")
    release = tc.Plan([tc.Remove(["w", "person"])]).apply(people, who, K)
    above, below = tc.split_households(release, "hid", ["region"])
    joined = tc.join_households(above, below, "hid")
    expected = tc.risk.individual_risk(release, release.scenario).risk.tolist()
    for file in (below, joined):
        assert tc.risk.individual_risk(file, release.scenario).risk.tolist() == expected
    assert max(expected) < 0.5


def test_three_records_of_thirteen_keys_lose_no_more_than_they_must() -> None:
    """Beyond twelve keys whole records were blanked: 39 cells where two that agree could keep what they share."""
    for seed in range(20):
        rows = np.random.default_rng(seed).integers(0, 4, (3, 13))
        agree = {(a, b): rows[a] == rows[b] for a in range(3) for b in range(3)}
        # Two keep what they have in common, the third one what it shares with both.
        best = min(
            39 - 2 * int(agree[a, b].sum()) - int((agree[a, b] & agree[a, 3 - a - b]).sum())
            for a, b in ((0, 1), (0, 2), (1, 2))
        )
        table = pl.DataFrame(rows, schema=[f"k{place}" for place in range(13)])
        release = tc.Plan([tc.Suppress(k=2, closed=False)]).apply(table, tc.Scenario(keys=table.columns))
        assert sum(release.changes[0].suppressed.values()) <= best < 39


def test_no_region_is_read_off_a_housemate(run: Run, tmp_path: Path) -> None:
    """Of 61 regions that the command line blanked, 37 stood in another row of the same household."""
    people = households().drop("size")
    tc.write(people, tmp_path / "hh.csv")
    (tmp_path / "plan.toml").write_text("[[plan.steps]]\nstep = 'suppress'\n")
    words = ["protect", tmp_path / "hh.csv", "--plan", tmp_path / "plan.toml", "--keys", "region,sex,age"]
    words += ["--weight", "w", "--household", "hid", "--formats", "csv", "--out", tmp_path / "out"]
    code, _, _ = run(*words, "--accept-unsafe", "to look at it")
    assert code == 0
    (folder,) = [each for each in (tmp_path / "out").iterdir() if each.name != "internal"]
    released = pl.read_csv(folder / "data.csv")
    blanked = released.filter(pl.col("region").is_null())
    shown = released.filter(pl.col("region").is_not_null())
    assert blanked.height > 0
    assert blanked.join(shown, on="hid").height == 0


@pytest.mark.parametrize("kind", ["parquet", "arrow", "xlsx", "sav", "dta"])
def test_codes_that_were_suppressed_stand_in_no_file(kind: str, tmp_path: Path) -> None:
    """Codes declared missing or not applicable that nobody had any more were written as metadata all the same."""
    table = pl.DataFrame({"job": [1, 2] * 30 + [98765], "place": ["a"] * 60 + ["secret"], "n": [1] * 61})
    known = {"job": Variable(missing=(98765,)), "place": Variable(not_applicable=("secret",))}
    release = tc.Plan([tc.Suppress()]).apply(Data.of(table, known), tc.Scenario(keys=["job", "place"]), K)
    assert release.data.table["job"].null_count() == release.data.table["place"].null_count() == 1
    file = read(tc.write(release.data, tmp_path / f"public.{kind}"))
    assert "98765" not in repr(file.variables) and "secret" not in repr(file.variables)
    assert all(word not in (tmp_path / f"public.{kind}").read_bytes() for word in (b"98765", b"secret"))


def test_four_missing_codes_of_one_record_each_are_four_unique_records(tmp_path: Path) -> None:
    """Codes that the file shows counted as blanks, which look like everybody; the written file told another story."""
    data = Data.of(pl.DataFrame({"job": [1] * 10 + [6, 7, 8, 9]}), {"job": Variable(missing=(6, 7, 8, 9))})
    who: Any = tc.Scenario(keys=["job"])
    release = tc.Plan([]).apply(data, who, K)
    assert release.verdict == "NOT SAFE under this policy: 4 records below k = 3"
    file = read(tc.write(release.data, tmp_path / "public.csv"))
    assert tc.assess(file, who, K).failures == ("4 records below k = 3",)


def below_k(people: pl.DataFrame, keys: list[str]) -> int:
    """Records that fewer than three share their keys with, themselves included: what an intruder finds."""
    return people.select(pl.len().over(keys).alias("f")).filter(pl.col("f") < 3).height


def said_to_be_told(key: str, name: str) -> str:
    return f"the key {key!r} is recoded or removed, but {name!r} tells it more finely; recode or remove it alike"


def test_a_removed_key_is_not_hidden_while_a_finer_code_of_it_stays() -> None:
    """Region was removed, the municipality code kept: SAFE, with a caution only, where two people share a region."""
    places = [at % 15 for at in range(300)] + [15, 15]
    people = pl.DataFrame(
        {
            "region": [f"r{place // 5}" for place in places],
            "municipality": [f"m{place * 7 % 16:02d}" for place in places],
            "sex": ["f", "m", "m"] * 100 + ["f", "m"],
            "w": [300.0] * 302,
        }
    )
    policy, who = tc.Policy(k=3, risk=0.1, rate=0.05), tc.Scenario(keys=["region", "sex"], weight="w")
    mapping = {"r0": "south", "r1": "south", "r2": "north", "r3": "north"}
    for step in (tc.Remove("region"), tc.Recode("region", mapping=mapping)):
        for file, few in ((people, 2), (people[:300], 0)):
            release = tc.Plan([step, tc.RandomOrder()]).apply(file, who, policy, seed=1)
            told = release.assess().sets[1]
            assert told.name == "keys with other columns"
            assert told.unsafe_by_k == below_k(file, ["region", "sex"]) == few
            assert release.safe == (few == 0)
            assert any(said_to_be_told("region", "municipality") in each for each in release.assess().cautions)
        alone = tc.Plan([step, tc.Remove("municipality"), tc.RandomOrder()]).apply(people, who, policy, seed=1)
        assert alone.safe and len(alone.assess().sets) == 1


def people_of_regions(number: int = 600) -> pl.DataFrame:
    """People of eight regions with an income, and an answer that has nothing to do with either."""
    draws = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "region": [f"r{code}" for code in draws.integers(0, 8, number)],
            "age": draws.integers(0, 90, number),
            "sex": draws.choice(["f", "m"], number),
            "answer": draws.integers(0, 5, number),
            "income": draws.lognormal(8, 1, number).round(2),
        }
    )


REGION = pl.col("region").str.slice(1).cast(pl.Int64)
HALVES = tc.Recode("region", mapping={f"r{code}": "north" if code < 4 else "south" for code in range(8)})
SOME = tc.Recode("region", mapping={f"r{code}": "north" if code < 4 else f"r{code}" for code in range(8)})


@pytest.mark.parametrize(
    ("key", "column", "steps"),
    [
        ("age", (pl.col("age") // 5 * 3 + 7).alias("agegrp5"), [tc.Recode("age", width=10)]),
        ("region", ("M" + (REGION // 2).cast(pl.String)).alias("macro"), [HALVES]),
        ("region", ("M" + (REGION // 2).cast(pl.String)).alias("macro"), [SOME]),
        ("region", ("M" + (REGION // 2).cast(pl.String)).alias("macro"), [tc.Remove("region")]),
        # A blank is a value too, where it is one of all records of a region.
        ("region", pl.when(REGION == 2).then(1).alias("flag"), [HALVES]),
    ],
)
def test_a_finer_class_beside_a_recoded_key_is_counted(key: str, column: pl.Expr, steps: list[Any]) -> None:
    """Five-year groups beside ages in tens, four macro-regions beside two: SAFE, with f by the coarser class."""
    who, name = tc.Scenario(keys=[key, "sex"]), column.meta.output_name()
    found = []
    for number in (600, 200, 60, 40, 30):
        people = people_of_regions(number).with_columns(column)
        release = tc.Plan(steps).apply(people, who, K)
        profile = release.assess()
        if len(profile.sets) == 1:  # By chance, a few records might say as much.
            continue
        assert said_to_be_told(key, name) in " ".join(profile.cautions)
        # The column is a function of the key here: what it tells is itself.
        kept = [each for each in (key, "sex") if each in release.data.columns]
        told = Data.of(release.data).table.select(kept).with_columns(people[name])
        assert profile.sets[1].unsafe_by_k == below_k(told, told.columns)
        found.append(release.safe)
        assert "more finely" not in str(tc.Plan([*steps, tc.Remove(name)]).apply(people, who, K).assess())
        counted = tc.Scenario(keys=[key, "sex", name])
        assert "more finely" not in str(tc.Plan(steps).apply(people, counted, K).assess())
    assert set(found) == {True, False}


def test_limits_on_other_measures_of_keys_told_more_finely_are_not_assessed() -> None:
    """l by the released keys is too high, too; nobody may be told that it holds."""
    people = people_of_regions().with_columns(("M" + (REGION // 2).cast(pl.String)).alias("macro"))
    who, policy = tc.Scenario(keys=["region", "sex"], sensitive=["answer"]), replace(K, limits={"l_diversity": 2})
    release = tc.Plan([HALVES]).apply(people, who, policy)
    assert release.verdict.startswith(
        "NOT ASSESSED under this policy: l_diversity goes by the keys as released: the key"
    )
    assert tc.Plan([HALVES, tc.Remove("macro")]).apply(people, who, policy).safe


def test_classes_that_say_no_more_than_the_recoded_key_are_safe() -> None:
    halves = people_of_regions().with_columns((REGION // 4).alias("half"), (REGION // 8).alias("country"))
    assert tc.Plan([HALVES]).apply(halves, tc.Scenario(keys=["region", "sex"]), K).safe


def test_dummies_together_tell_a_key() -> None:
    """Dummies of a removed region: none determines it, all of them do."""
    dummies = [pl.col("region").eq(f"r{code}").cast(pl.Int64).alias(f"reg_{code}") for code in range(8)]
    people, who = people_of_regions().with_columns(dummies).filter(REGION < 4), tc.Scenario(keys=["region", "sex"])
    names = [f"reg_{code}" for code in range(8)]
    removed = tc.Plan([tc.Remove("region")]).apply(people, who, K)
    assert removed.assess().further["reconstruction"].finer["region"].least == ("reg_0", "reg_1", "reg_2")
    assert "but 'reg_0', 'reg_1', 'reg_2' tell it more finely (so does 'reg_3'); recode" in str(
        removed.assess().cautions
    )
    pairs = tc.Recode("region", mapping={"r0": "a", "r1": "a", "r2": "b", "r3": "b"})
    assert "but 'reg_0', 'reg_2' tell it more finely (so do" in str(
        tc.Plan([pairs]).apply(people, who, K).assess().cautions
    )
    assert tc.Plan([tc.Remove(["region", *names])]).apply(people, who, K).safe


def test_an_undeclared_household_number_is_called_an_identifier() -> None:
    """It was said to determine the region, with the advice to name it among the keys."""
    plan, who = tc.Plan([tc.Remove("region")]), tc.Scenario(keys=["region", "sex"], weight="w")
    verdict = plan.apply(households(), who, K).verdict
    assert (
        "'hid' looks like an identifier and tells it; declare it as identifiers or household, or remove it" in verdict
    )
    assert plan.apply(households(), tc.Scenario(keys=["region", "sex"], weight="w", household="hid"), K).safe
    assert tc.Plan([tc.Remove(["region", "hid"])]).apply(households(), who, K).safe


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_weights_of_strata_tell_a_recoded_region_until_they_are_treated() -> None:
    """The weight that determines a recoded region was a caution; any change of weights was done on the checklist."""
    people = people_of_regions().with_columns(w=1000 + REGION.cast(pl.Float64) * 37.5)
    who = tc.Scenario(keys=["region", "sex"], weight="w")
    for steps in ([HALVES], [HALVES, tc.RoundWeights(digits=2)], [HALVES, tc.RoundWeights(base=50)]):
        release = tc.Plan(steps).apply(people, who, K)
        told = release.assess()
        assert any("the weight 'w' tells it more finely; round the weights further" in each for each in told.cautions)
        assert told.sets[1].unsafe_by_k == below_k(people, ["region", "sex"])
        item = release.checklist()["weights"]
        assert (item.state, item.found) == ("not done", "'w' tells the protected key 'region'")
    treated: list[list[Any]] = [[tc.RoundWeights(base=1000)], [tc.WeightNoise(sd=0.2)]]
    for steps in treated:
        release = tc.Plan([HALVES, *steps]).apply(people, who, K, seed=1)
        assert release.verdict == "SAFE under this policy"
        assert release.checklist()["weights"].state == "done"
    gone = tc.Plan([HALVES, tc.Remove("w")]).apply(people, who, K)
    assert gone.safe and gone.checklist()["weights"].state == "not applicable"


def test_rows_too_few_for_two_households_are_one() -> None:
    """Without identifier and weight, runs of one region were right for too few sizes on the whole, and it was SAFE."""
    survey, who = households(), tc.Scenario(keys=["size"], weight="w", household="hid")
    steps = [tc.TopCode("size", at=3), tc.Remove(["hid", "w"])]
    release = tc.Plan(steps).apply(survey, who, K)
    (leak,) = release.assess().further["reconstruction"].leaks
    assert leak.columns == ("(order of the rows)", "region")
    # A run of four or five is one household of so many; runs of six and more may be two.
    sizes = survey.with_columns(coded=pl.col("size").clip(upper_bound=3))
    run = sizes.select(pl.struct("region", "coded").rle_id()).to_series()
    length = run.to_frame("run").select(pl.len().over("run")).to_series()
    assert leak.right == int(((survey["size"] > 3) & (length < 6)).sum()) > 100
    assert leak.wrong == 0 and not release.safe
    assert tc.Plan([*steps, tc.RandomOrder()]).apply(survey, who, K, seed=1).safe


def test_nobody_hides_behind_copies_of_records() -> None:
    draw = np.random.default_rng(3)
    people = pl.DataFrame({"age": draw.integers(0, 400, 600), "income": draw.lognormal(9, 1, 600), "w": [50.0] * 600})
    who = tc.Scenario(keys=["age"], weight="w")
    release = tc.Plan([tc.Synthesise(["income"], copies=5)]).apply(people, who, seed=2**90)
    assert len(release.data) == 5 * len(people)
    assert not release.safe
    assert "not in the original" in str(release.verdict)


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv", "xlsx", "sav", "dta", "xpt"])
def test_a_saved_release_knows_that_its_weights_are_not_those_of_the_survey(kind: str, tmp_path: Path) -> None:
    """Read again without the original, rounded weights were the truth: NOT SAFE became SAFE by saving the file."""
    firms = pl.DataFrame({"region": ["n"] * 4 + ["s"] * 96, "w": [1.0] * 4 + [50.0] * 96})
    who, limits = tc.Scenario(keys=["region"], weight="w"), tc.Policy(k=3, risk=0.1, rate=None)
    release = tc.Plan([tc.RoundWeights(base=100, keep_total=False)]).apply(firms, who, limits)
    assert not release.safe
    release.save(tmp_path / "out", formats=[kind], accept_unsafe="to read it again", report=False)
    file = tmp_path / "out" / "not_for_publication" / f"data.{kind}"
    found = tc.assess(file, who, limits)
    assert not found.safe and "the weight 'w' was perturbed" in found.not_assessed[0]
    assert any("lies beside the codebook of a release" in each for each in found.cautions)
    # Beside the original it is known what the weights were.
    beside = tc.assess(file, who, limits, original=firms)
    assert not beside.safe and not any("codebook of a release" in each for each in beside.cautions)
    # Weights that nobody touched say what they said.
    plain = tc.Plan([tc.Suppress()]).apply(firms.filter(pl.col("region") == "s"), who, limits)
    plain.save(tmp_path / "plain", formats=[kind], report=False)
    assert tc.assess(tmp_path / "plain" / "public" / f"data.{kind}", who, limits).safe


def districts() -> pl.DataFrame:
    """Eight regions in four districts; of three regions one person each is there, two of them in one district."""
    regions = np.repeat(np.arange(8), [60, 60, 60, 60, 57, 1, 1, 1])
    sex = np.random.default_rng(1).choice(["f", "m"], len(regions))
    return pl.DataFrame({"region": [f"r{x}" for x in regions], "district": [f"d{x // 2}" for x in regions], "sex": sex})


def test_a_blank_that_a_district_narrows_does_not_count_as_any_region() -> None:
    """Two regions of one district were blanked: the only two blanks there, and SAFE since a blank could be anyone."""
    who = tc.Scenario(keys=["region", "sex"])
    release = tc.Plan([tc.Suppress(), tc.RandomOrder()]).apply(districts(), who, K, seed=1)
    said = "NOT SAFE under this policy: 2 records below k = 3 on the key set 'keys with other columns'"
    assert release.verdict == said
    assert any(
        each.startswith("the key 'region' is suppressed in some records, but 'district' tells which values it can have")
        for each in release.assess().cautions
    )
    # An intruder leaves out who is of another district: by plain counting, f of the three blanks.
    rows = release.data.table.to_dicts()
    alike = [
        sum(
            other["sex"] == row["sex"] and other["district"] == row["district"]
            and (row["region"] is None or other["region"] == row["region"])
            for other in rows
        )
        for row in rows
    ]  # fmt: skip
    assert sum(each < 3 for each in alike) == 2
    for steps in ([tc.Remove("district"), tc.Suppress()], [tc.Suppress()]):
        keys = ["region", "sex"] if len(steps) == 2 else ["region", "sex", "district"]
        assert tc.Plan([*steps, tc.RandomOrder()]).apply(districts(), tc.Scenario(keys=keys), K, seed=1).safe


def test_two_columns_that_only_together_tell_a_removed_key() -> None:
    """Municipalities numbered anew in each province: neither tells the removed region, and it was SAFE."""
    draw = np.random.default_rng(4)
    region = np.append(draw.integers(0, 9, 900), [9, 9])
    people = pl.DataFrame(
        {
            "region": [f"r{each}" for each in region],
            "one": (first := draw.integers(0, 10, len(region))),
            "two": (region + first) % 10,
            "sex": draw.choice(["f", "m"], len(region)),
        }
    )
    who = tc.Scenario(keys=["region", "sex"])
    release = tc.Plan([tc.Remove("region"), tc.RandomOrder()]).apply(people, who, K, seed=1)
    assert said_to_be_told("region", "one").split(" but ")[0] in " ".join(release.assess().cautions)
    assert "but 'one', 'two' tell it more finely" in " ".join(release.assess().cautions)
    assert release.assess().sets[1].unsafe_by_k == below_k(people, ["region", "sex"]) == 2
    assert not release.safe
    assert tc.Plan([tc.Remove(["region", "one"]), tc.RandomOrder()]).apply(people, who, K, seed=1).safe


def test_k_counts_what_is_told_whatever_may_be_given_back() -> None:
    """With given_back=None nobody looked whether another column told a recoded key, and k was too high."""
    people = people_of_regions(60).with_columns(("M" + (REGION // 2).cast(pl.String)).alias("macro"))
    plan, who = tc.Plan([HALVES]), tc.Scenario(keys=["region", "sex"])
    strict, lenient = (plan.apply(people, who, replace(K, k=6, given_back=most)) for most in (0, None))
    assert not strict.safe and not lenient.safe
    assert lenient.assess().failures == strict.assess().failures[:1] != ()
    assert lenient.assess().failures[0].endswith("on the key set 'keys with other columns'")


@pytest.mark.parametrize("order", [[], [tc.RandomOrder("households")]])
def test_sizes_coded_at_two_are_counted_where_housemates_stand_together(order: list[Any]) -> None:
    """With "two or more" no larger size is shown, from which housemates are known to be neighbours: it was SAFE."""
    survey, who = households(), tc.Scenario(keys=["size"], weight="w", household="hid")
    steps = [tc.TopCode("size", at=2), *order, tc.Remove(["hid", "w"])]
    release = tc.Plan(steps).apply(survey, who, K, seed=1)
    (leak,) = release.assess().further["reconstruction"].leaks
    assert leak.columns == ("(order of the rows)", "region")
    # Three that agree are one household; four may be two.
    there = survey[np.searchsorted(Data.of(survey).record, release.data.record)]
    run = there.select(pl.struct("region", pl.col("size").clip(upper_bound=2)).rle_id()).to_series()
    length = run.to_frame("run").select(pl.len().over("run")).to_series()
    assert leak.right == int(((there["size"] == 3) & (length == 3)).sum()) > 100
    assert not release.safe
    assert tc.Plan([*steps, tc.RandomOrder()]).apply(survey, who, K, seed=1).safe


@pytest.mark.parametrize("age", [20, 30])
def test_members_who_are_missing_do_not_hide_how_large_a_household_is_at_least(age: int) -> None:
    """Without its children a household has fewer records than members, no count was trusted, and it was SAFE."""
    survey, who = households(), tc.Scenario(keys=["size"], weight="w", household="hid")
    release = tc.Plan([tc.TopCode("size", at=2), tc.DropRecords(f"age < {age}"), tc.RandomOrder()]).apply(
        survey, who, K, seed=1
    )
    (leak,) = release.assess().further["reconstruction"].leaks
    assert leak.columns == ("hid",) and leak.how.endswith("as the least that it can be")
    left = survey.filter(pl.col("age") >= age)
    assert (leak.right, leak.wrong) == (int((left.select(pl.len().over("hid")).to_series() > 2).sum()), 0)
    assert not release.safe


def test_counts_that_have_nothing_to_do_with_a_size_tell_nothing_of_it() -> None:
    """Groups of interviewers are no households: how many records they have bounds no size."""
    survey = households().with_columns(interviewer=np.random.default_rng(2).permutation(len(households())) // 3)
    who = tc.Scenario(keys=["size"], identifiers=["interviewer"])
    plan = tc.Plan([tc.Remove(["hid", "w"]), tc.TopCode("size", at=2), tc.DropRecords("age < 20"), tc.RandomOrder()])
    found = plan.apply(survey, who, K, seed=1).assess().further["reconstruction"]
    assert not [each for each in found.leaks if each.variable == "size"]


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%dT00:00:00"])
@pytest.mark.parametrize("step", [tc.Recode("age", breaks=[30, 60]), tc.Remove("age")])
def test_a_date_of_birth_that_is_text_tells_the_age(form: str, step: Any) -> None:
    """Dates were read, texts of dates were not, and the file with everybody's birthday was SAFE."""
    draw = np.random.default_rng(7)
    age = draw.integers(0, 90, 600)
    born = [date(2026 - int(each), 1 + at % 12, 1 + at % 28).strftime(form) for at, each in enumerate(age)]
    people = pl.DataFrame({"age": age, "sex": draw.choice(["f", "m"], 600), "born": born})
    release = tc.Plan([step, tc.RandomOrder()]).apply(people, tc.Scenario(keys=["age", "sex"]), K, seed=1)
    assert not release.safe
    (variable,) = [each for each in release.assess().further["reconstruction"].variables if each.name == "age"]
    assert variable.given_back > 0.9 * variable.protected
    assert tc.Plan([step, tc.Remove("born")]).apply(people, tc.Scenario(keys=["age", "sex"]), K).safe
