"""The two published variants of the study of accidents at work, as projects that come with Tacita."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import tacita as tc
from tacita.cli import app
from tacita.cli.demo_project import PROJECTS, project_survey, project_text
from tacita.data.demo import accident
from tacita.release.project import Project

SEVEN = ("LPB1", "P1", "P2", "P3", "P8", "P15", "P20")


@pytest.mark.parametrize("name", PROJECTS)
def test_what_both_variants_share_is_as_published(name: str) -> None:
    project = Project.from_toml(project_text(name))
    assert project.scenario.sets["keys"].keys == SEVEN
    assert project.scenario.sets["all nine"].keys == accident.KEYS
    assert project.plan.steps[:4] == tc.Plan(
        [
            tc.SwapRecords(
                ["division", "PKD"], similar=["LPB1", "SEK"], risk_variables=["P1", "P2", "P3", "P28"], k=3, rate=0.05
            ),
            tc.Remove("division"),
            tc.Pram(accident.RANDOMISED, pd=0.7, alpha=0.3),
            tc.Noise(accident.NUMERIC_KEYS, 0.75, method="delta"),
        ]
    ).steps  # fmt: skip


def test_what_the_variants_end_with_is_as_published() -> None:
    first, second = (Project.from_toml(project_text(name)).plan.steps[4] for name in PROJECTS)
    assert isinstance(first, tc.Suppress)
    assert (first.k, tuple(first.combs), dict(first.ghosts)) == (3, (3, 4, 5, 6, 7), {"P15": ("WOJW",)})
    assert dict(first.importance) == dict(zip(SEVEN, (4, 1, 4, 2, 7, 1, 6), strict=True))
    assert isinstance(second, tc.MicroaggregateMixed)
    assert (second.variables, second.distance) == (("LPB1", "P1", "P2", "P3", "P8", "P20"), ("P1", "P2", "P3"))
    assert (second.k, second.strata, second.nominal) == (4, ("P15",), "mode")


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
@pytest.mark.parametrize("name", PROJECTS)
def test_the_risk_is_printed_though_it_has_no_verdict(name: str, tmp_path: Path) -> None:
    """After perturbation the table of internal risk is still there, and no verdict; linkage is the way."""
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["demo", "--project", name, "--records", "700", "--out", str(out)])
    assert done.exit_code == 0, done.output
    after = done.output[done.output.index("\nAfter\n") :]
    text = " ".join(after.split())
    # Once for each key set, and for some a second time as other columns tell the keys.
    assert text.count("records with fewer than k = 2 k = 3 k = 5") >= 2
    assert "individual risk" in text
    assert "not assessed: the key" in text
    assert "use record linkage against the original (distance_linkage, probabilistic_linkage)" in text
    assert (out / "release" / "not_for_publication").is_dir()
    assert not (out / "release" / "public").exists()
    assert Project.load(out / "project.toml").plan.labels == Project.from_toml(project_text(name)).plan.labels


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_what_each_variant_does_to_the_keys() -> None:
    """Suppression leaves nobody below k on the seven keys; microaggregation leaves no verdict on them."""
    data = project_survey(700, 1)
    projects = [Project.from_toml(project_text(name)) for name in PROJECTS]
    first, second = (each.plan.apply(data, each.scenario, each.policy, seed=123) for each in projects)
    assert first.data.columns == tuple(name for name in data.columns if name != "division")
    assert tc.key_table(first, first.scenario, SEVEN).sample_count.min() >= 3
    blank, province = (first.data.missing(name) & ~data.missing(name) for name in ("P15", "WOJW"))
    assert (~blank | province).all()
    verdicts = tc.assess(second, second.scenario).verdicts()
    assert any(each.holds is None for each in verdicts)
    assert not tc.assess(second, second.scenario).safe


def test_an_unknown_project_is_one_sentence(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["demo", "--project", "nothing", "--out", str(tmp_path / "out")])
    assert done.exit_code != 0
    assert not (tmp_path / "out").exists()
