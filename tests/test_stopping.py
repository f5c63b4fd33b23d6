"""The program is stopped, or its reader goes away: one sentence, nothing half-written, nothing lost."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tacita
from tacita import leftovers, stopping, threads
from tacita.cli.terminal import shown
from tacita.data import atomic
from tacita.risk.population.latent import classes

Run = Callable[..., tuple[int, str, str]]
WORDS = "tacita: stopped; nothing half-written is left.\n"
WHILE_LOADING = """
import importlib.abc, os, sys, time
class Stop(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "MODULE":
            os.kill(os.getpid(), NUMBER)
            time.sleep(20)
sys.meta_path.insert(0, Stop())
import runpy
sys.argv = ["tacita", "WORD"]
runpy.run_module("tacita", run_name="__main__")
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without asking")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("module", "word"), [("typer", "--version"), ("tacita.protect.steps", "steps")])
def test_stopped_while_loading(module: str, word: str, number: signal.Signals) -> None:
    """Ctrl-C while the program was starting showed a traceback, and while a command ran its sentence twice."""
    code = WHILE_LOADING.replace("NUMBER", str(int(number))).replace("MODULE", module).replace("WORD", word)
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (128 + number, WORDS)


STOPPED_IN = """
import os, sys
from tacita.cli import files, terminal
def stop(*words, **more):
    os.kill(os.getpid(), NUMBER)
    raise AssertionError("went on")
files.say = stop
sys.argv = ["tacita", "describe", "a.csv"]
from tacita.__main__ import main
main()
"""
AT_THE_END = """
import atexit, os, sys
atexit.register(lambda: os.kill(os.getpid(), NUMBER))
sys.argv = ["tacita", "--version"]
from tacita.__main__ import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without asking")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_at_work_or_at_the_end(number: signal.Signals, tmp_path: Path) -> None:
    """At work the sentence was said twice; at the end, with the work done, the program died without a word."""
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    ends = []
    for code in (STOPPED_IN, AT_THE_END):
        words = [sys.executable, "-c", code.replace("NUMBER", str(int(number)))]
        done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=60, cwd=tmp_path)
        ends.append((done.returncode, done.stderr))
    assert ends == [(128 + number, WORDS), (0, "")]


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without asking")
def test_a_stop_that_foreign_code_swallows_is_heard_at_the_next_step() -> None:
    """What frees memory or is called back swallows what is raised in it: the program went on, deaf to Ctrl-C."""
    code = (
        "import os, signal; from tacita.cli.terminal import progress_bar; from tacita.stopping import run_stoppable\n"
        "class Freed:\n"
        "    def __del__(self): os.kill(os.getpid(), signal.SIGINT)\n"
        "def work():\n"
        "    with progress_bar() as progress:\n"
        "        Freed(); progress(0.5, 'counting'); print('went on')\n"
        "run_stoppable(work)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.splitlines()[-1]) == (130, "", WORDS.strip())


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without asking")
def test_a_wait_for_another_process_hears_a_signal_that_the_system_goes_on_after(tmp_path: Path) -> None:
    """Polars has the system go on with what waits after Ctrl-C; so here, by `siginterrupt`."""
    code = (
        "import os, signal, threading, time; from tacita.stopping import interruptible, run_stoppable\n"
        "read, _ = os.pipe()\n"
        "def work():\n"
        "    signal.siginterrupt(signal.SIGINT, False)\n"
        "    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "    interruptible(lambda: os.read(read, 1))\n"
        "run_stoppable(work)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, WORDS)


def test_the_program_starts_where_it_can_be_stopped() -> None:
    text = (Path(tacita.__file__).parent.parent.parent / "pyproject.toml").read_text("utf-8")
    assert 'tacita = "tacita.__main__:main"' in text


@pytest.mark.skipif(os.name == "nt", reason="pipes are closed otherwise there")
def test_a_reader_that_goes_away_loses_no_file(tmp_path: Path) -> None:
    """`tacita convert ... | head -1`: what was said before the file was written ended the work."""
    (tmp_path / "in.csv").write_text("a,b\n1,2\n")
    code = (
        "import sys; sys.argv[0] = 'tacita'; from tacita.cli import terminal; from tacita import cli\n"
        "terminal.say('x' * 100_000)\n"
        "cli.main()\n"
    )
    words = [sys.executable, "-c", code, "convert", str(tmp_path / "in.csv"), str(tmp_path / "out.csv")]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(words, check=False, stdout=write, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out.csv").read_text() == "a,b\n1,2\n"


def test_nothing_from_a_file_controls_the_terminal(run: Run, tmp_path: Path) -> None:
    """Labels of steps and names of columns reached the terminal as they were."""
    assert shown("a\nb\tc\x1b[31m\x07\x9b\u202e\r") == "a\nb\tc\\x1b[31m\\x07\\x9b\\u202e\\r"
    (tmp_path / "in.csv").write_text("a\x1b]0;title\x07,b\n" + "1,2\n" * 50)
    (tmp_path / "plan.toml").write_text(
        'format = 1\n[[plan.steps]]\nstep = "round"\nvariables = ["b"]\nbase = 5\nlabel = "\\u001b[31mred[/]"\n'
    )
    told = [
        run("describe", tmp_path / "in.csv"),
        run("protect", tmp_path / "in.csv", "--plan", tmp_path / "plan.toml", "--keys", "b", "--out", tmp_path / "out"),
        run("assess", tmp_path / "in.csv", "--keys", "\x1b[31m"),
    ]
    for _, out, err in told:
        assert "\x1b" not in out + err
        assert "\x07" not in out + err
    assert "\\x1b[31mred[/]" in told[1][1] + told[1][2]


def test_what_nobody_waits_for_any_more_does_not_go_on() -> None:
    """After Ctrl-C all folds of the latent classes were fitted to their end before the program stopped."""
    began, ended = threading.Event(), []

    def task(number: int) -> None:
        if number == 0:
            began.wait()
            raise KeyboardInterrupt
        began.set()
        while True:
            threads.halt_if_asked()

    def waited() -> None:
        with pytest.raises(KeyboardInterrupt):
            threads.in_threads(task, range(40))
        ended.append(True)

    waiting = threading.Thread(target=waited, daemon=True)
    waiting.start()
    waiting.join(20)
    assert ended, "it waits for tasks that never end"
    threads.halt_if_asked()


def test_a_fit_ends_where_it_is_halted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The latent classes look at each iteration whether anybody still waits for them."""
    layout = classes.Layout.of(np.array([2, 2]), np.array([False, False]))

    def halt() -> None:
        raise threads.Halted

    monkeypatch.setattr(classes, "halt_if_asked", halt)
    with pytest.raises(threads.Halted):
        classes.fitted(classes.one_class(layout), np.zeros((1, 2), dtype=np.int32), np.ones(1))


def test_a_stop_between_opening_and_writing_leaves_nothing_hidden(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A signal as a file was opened came before the block that removes it: the hidden file was left behind."""
    opened, old = [atomic.new_file(tmp_path / "out.csv"), atomic.new_folder(tmp_path / "out")], tmp_path / "replaced"

    def run() -> None:
        for each in opened:
            each.__enter__()
        old.mkdir()
        (old / "file").touch()
        old.rename(leftovers.hidden_old(old))
        raise stopping.Stopped(signal.SIGTERM)

    with pytest.raises(SystemExit):
        stopping.run_stoppable(run)
    assert capsys.readouterr().err == WORDS
    assert [each.name for each in tmp_path.iterdir()] == ["replaced"] and (old / "file").exists()
