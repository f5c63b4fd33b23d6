"""Random calls of everything public end in a result, in one sentence, or in a warning: `python -m fuzz.calls`."""

import sys
from pathlib import Path

import pytest

import tacita as tc
from tacita.protect.steps import own_steps

sys.path.append(str(Path(__file__).parent.parent))
from fuzz import calls

COUNT = 1000


@pytest.mark.fuzz
def test_random_calls(tmp_path: Path) -> None:
    """Of 7,700 such calls two in a hundred ended in a traceback, some in a hang."""
    assert [f"{found.number}: {found.what} ({found.where})" for found in calls.findings(COUNT, seed=1)] == []


def test_everything_public_is_called() -> None:
    steps = {step.__name__ for step in own_steps()}
    called = {*calls.public_functions(), *steps, *calls.NOT_CALLED, "__version__", "risk", "loss"}
    assert set(tc.__all__) <= called


def test_what_is_found_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind of bad end is a finding: another exception, a message with a cell, a hang."""
    ends = {
        "KeyError": KeyError("x"),
        "not one sentence: a zq-canary b.": tc.TacitaError("a zq-canary b."),
        "takes over": calls.HangError(),
    }
    for what, error in ends.items():

        def bad_end(self: object, error: BaseException = error) -> None:
            raise error

        monkeypatch.setattr(calls.Caller, "run", bad_end)
        found = calls.finding(1, 1)
        assert found is not None
        assert found.what.startswith(what)
