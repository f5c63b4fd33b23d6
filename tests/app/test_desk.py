"""The desk: what is worked out, in which order, once; the worker that is ended; who may talk to the app; its folder."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tacita as tc
from tacita.app import folder, tasks
from tacita.app.actions import act, every_action
from tacita.app.desk import Desk
from tacita.app.draft import Draft
from tacita.app.guard import COOKIE, Guard
from tacita.app.pages.confidentiality_card import inside
from tacita.app.shell import PAGES, fragments
from tacita.app.worker import Message, Task, Worker, sendable
from tacita.progress import Progress


class Here:
    """A worker in this process: what it is given is done when it is asked."""

    def __init__(self) -> None:
        self.task: Task | None = None
        self.done: list[str] = []
        self.cancelled = 0

    def start(self, task: Task) -> None:
        sendable((task.function, task.arguments))
        self.task = task

    def messages(self) -> list[Message]:
        task = self.task
        if task is None:
            return []
        self.task = None
        self.done.append(task.key.partition(":")[0])
        try:
            return [Message("result", task.function(*task.arguments, progress=lambda done, what: None))]
        except tc.TacitaError as error:
            return [Message("error", str(error))]

    def cancel(self) -> None:
        self.task, self.cancelled = None, self.cancelled + 1


def desk_of(people: Any, folder: Path | None = None) -> tuple[Desk, Here]:
    worker = Here()
    desk = Desk(worker, folder)  # type: ignore[arg-type]
    desk.do(
        Draft(name="people", path="people.csv", opened=tc.Data.of(people), seed=5)
        .with_role("sex", "keys")
        .with_role("age", "keys"),
        "open",
    )
    return desk, worker


def settle(desk: Desk, page: str = "protect") -> dict[str, str]:
    desk.view["page"] = page
    for _ in range(60):
        fragments(desk)
        desk.tick()
        if not desk.busy:
            break
    return fragments(desk)


PEOPLE = pl.DataFrame({"sex": ["f", "m"] * 8, "age": [20, 30, 40, 50] * 4, "income": [10.0 * at for at in range(16)]})


def test_nothing_is_worked_out_twice_whatever_is_undone() -> None:
    desk, worker = desk_of(PEOPLE)
    act(desk, "add_step", {"step": "round", "variables": ("income",), "base": "20"})
    act(desk, "add_step", {"step": "recode", "way": "width", "variables": ("age",), "width": "20"})
    settle(desk)
    assert sorted(set(worker.done)) == ["compared", "release", "state"]
    assert [worker.done.count(kind) for kind in ("state", "release", "compared")] == [3, 3, 3]
    before = len(worker.done)
    for name in ("undo", "undo", "redo", "redo"):
        act(desk, name, {})
        settle(desk)
    act(desk, "switch", {"place": 1})
    settle(desk)
    assert len(worker.done) == before
    # Another second step needs its own state, and nothing of the first.
    act(desk, "add_step", {"step": "recode", "way": "width", "variables": ("age",), "width": "5", "place": "1"})
    act(desk, "switch", {"place": 1})
    settle(desk)
    assert worker.done[before:] == ["state", "release", "compared"]


def test_figures_of_other_pages_are_drawn_ahead_once_there_is_nothing_else_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk, worker = desk_of(PEOPLE)
    settle(desk)
    known = len(worker.done)
    assert not any(kind in ("histogram", "measure", "figure") for kind in worker.done)
    monkeypatch.setattr("tacita.app.desk.IDLE", -1.0)
    for _ in range(8):
        desk.tick()
        # Nobody asked for it: no bar says that there is something to wait for.
        assert "progress" not in fragments(desk)["working"]
    assert sorted(worker.done[known:]) == ["figure", "figure", "histogram", "measure"]
    page = settle(desk, "compare")
    assert "waiting" not in page["first"] and len(worker.done) == known + 4
    # What a page asks for comes first.
    act(desk, "plot", {"kind_of": "categorical_confidentiality", "k": "2"})
    fragments(desk)
    desk.tick()
    assert "progress" in fragments(desk)["working"]


def test_a_step_that_cannot_be_done_says_why_and_hides_nothing() -> None:
    desk, _ = desk_of(PEOPLE)
    act(desk, "add_step", {"step": "noise", "variables": ("sex",), "amount": "0.1"})
    page = settle(desk)
    assert "NOT DONE" in page["standing"] and 'class="error"' in page["first"]
    act(desk, "switch", {"place": 0})
    assert "NOT DONE" not in settle(desk)["standing"]


def test_mistakes_are_shown_as_one_sentence_and_change_nothing() -> None:
    desk, _ = desk_of(PEOPLE)
    draft = desk.draft
    for name, fields in (
        ("add_step", {"step": "round", "variables": ("income",), "base": "-1"}),
        ("add_step", {"step": "round", "variables": (), "base": "1"}),
        ("policy", {"k": "7"}),
        ("declare", {"variable": "age", "ranges": "low to high"}),
        ("open", {"path": ""}),
        ("save_project", {"path": "work.txt"}),
        ("threshold", {"rate": "much"}),
        ("role", {"variable": "sex", "role": "king"}),
    ):
        act(desk, name, fields)
        assert desk.notice[0] == "error" and desk.notice[1], name
        assert desk.draft is draft, name
    assert "must have a reason" not in desk.notice[1]


def test_an_exception_needs_a_reason_and_keeps_it() -> None:
    desk, _ = desk_of(PEOPLE)
    limits = {"k": "2", "risk": "0.1", "rate": "0.001", "given_back": "0", "neighbours": "15", "perturbation": "0.15"}
    act(desk, "policy", limits)
    assert "must have a reason" in desk.notice[1]
    act(desk, "policy", {**limits, "reason": "a small survey"})
    assert (desk.draft.policy.k, desk.draft.policy.exceptions) == (2, {"k": "a small survey"})
    act(desk, "preset", {"which": "public use"})
    assert (desk.draft.policy.k, desk.draft.policy.exceptions) == (5, {})


def test_every_page_is_there_before_during_and_after_the_work(tmp_path: Path) -> None:
    empty = Desk(Here())  # type: ignore[arg-type]
    desk, _ = desk_of(PEOPLE, tmp_path)
    act(desk, "add_step", {"step": "microaggregate", "variables": ("income",), "k": "3"})
    for page in PAGES:
        empty.view["page"] = page
        assert "<section" in fragments(empty)["first"]
        desk.view["page"] = page
        assert "<section" in fragments(desk)["first"]
    for page in PAGES:
        assert "<section" in settle(desk, page)["first"], page
    # Every button of every page does something that there is.
    for page in PAGES:
        for text in settle(desk, page).values():
            for name in text.split('data-act="')[1:]:
                assert name.partition('"')[0] in every_action()


def test_values_that_look_like_tags_are_shown_as_they_are() -> None:
    wicked = "<script>alert(1)</script>"
    people = PEOPLE.with_columns(pl.Series("sex", [wicked, "m"] * 8))
    desk, _ = desk_of(people)
    desk.view["variable"] = "sex"
    for page in PAGES:
        assert wicked not in "".join(settle(desk, page).values())


def test_records_within_an_area_of_the_plot_are_counted_at_its_edges() -> None:
    class Plot:
        record = pl.Series([1, 2, 3, 4]).to_numpy()
        count = pl.Series([1.0, 2.0, 2.0, 9.0]).to_numpy()
        loss = pl.Series([0.0, 0.1, 0.5, 0.0]).to_numpy()
        unsafe = pl.Series([True, False, True, False]).to_numpy()

    every, unsafe = inside(Plot(), {"across": (1, 2), "upwards": (0, 0.1)})
    assert (every.tolist(), unsafe.tolist()) == ([1, 2], [1])
    assert inside(Plot(), {"across": (1, 2), "upwards": (0, 0.2), "top": 0.2})[0].tolist() == [1, 2, 3]


def test_what_is_kept_is_bounded_by_its_size_but_never_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four hundred results of a large file would not fit into memory."""
    desk, _ = desk_of(PEOPLE)
    act(desk, "add_step", {"step": "round", "variables": ("income",), "base": "20"})
    settle(desk)
    shown = [key for key in desk.results if key.startswith(("state:", "release:", "compared:"))]
    assert len(shown) == 6
    monkeypatch.setattr("tacita.app.desk.MOST_BYTES", 1000)
    for number in range(5):
        desk.keep(f"figure:{number}", number, 400)
    assert [desk.known(f"figure:{number}") for number in range(5)] == [None, None, None, 3, 4]
    # More than fits, and all of it of the present steps: it stays, or it would be worked out again and again.
    desk.keep(shown[0], desk.results[shown[0]], 5000)
    assert all(key in desk.results for key in shown) and desk.known("figure:4") is None
    assert desk.sizes.keys() == desk.results.keys()


# The worker.


def sleeps(seconds: float, progress: Progress) -> str:
    progress(0.5, "sleeping")
    time.sleep(seconds)
    return "slept"


def fails(progress: Progress) -> None:
    raise ValueError("a cell: 4711")


def heard(worker: Worker, *, until: str) -> list[Message]:
    found: list[Message] = []
    end = time.monotonic() + 120
    while time.monotonic() < end and not any(each.kind == until for each in found):
        found += worker.messages()
        time.sleep(0.02)
    return found


def test_the_worker_says_how_far_it_is_and_can_be_ended() -> None:
    worker = Worker()
    try:
        worker.start(Task("a", "", sleeps, (600.0,)))
        assert heard(worker, until="progress")[0].value == (0.5, "sleeping")
        process = worker.process
        worker.cancel()
        assert not process.is_alive() and worker.task is None
        worker.start(Task("b", "", fails))
        (said,) = heard(worker, until="error")
        assert "ValueError" in said.value and "4711" not in said.value
        labelled = tc.Variable(value_labels=tc.Variable(value_labels={1: "one"}).value_labels)
        assert labelled is not None
        worker.start(Task("c", "", sleeps, (0.0,)))
        assert heard(worker, until="result")[-1].value == "slept"
    finally:
        worker.close()


def test_a_file_of_spss_comes_through_the_pipe_as_it_was(tmp_path: Path) -> None:
    survey = tc.household_survey(30, population=3000)
    tc.write(survey.data, tmp_path / "survey.sav")
    worker = Worker()
    try:
        worker.start(Task("a", "", tasks.opened, (str(tmp_path / "survey.sav"), {})))
        data = heard(worker, until="result")[-1].value
    finally:
        worker.close()
    same = tc.read(tmp_path / "survey.sav")
    assert data.table.equals(same.table) and data.variables == same.variables


# Who may talk to the app.


def answer(guard: Guard, *, query: str = "", kind: str = "http", **headers: str) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "path": "/", "query_string": query.encode(), "headers": named}
    asyncio.run(guard(scope, receive, send))
    return sent


@pytest.mark.parametrize(
    ("query", "headers", "allowed"),
    [
        ("token=secret", {}, True),
        ("", {"cookie": f"{COOKIE}=secret"}, True),
        ("", {"cookie": f"other=1; {COOKIE}=secret", "origin": "http://127.0.0.1:99"}, True),
        ("", {}, False),
        ("token=", {}, False),
        ("token=secre", {}, False),
        ("token=wrong", {"cookie": f"{COOKIE}=also-wrong"}, False),
        ("token=secret", {"host": "elsewhere.example:99"}, False),
        ("token=secret", {"host": "127.0.0.1:98"}, False),
        ("token=secret", {"origin": "http://elsewhere.example"}, False),
        ("token=secret", {"origin": "null"}, False),
    ],
)
def test_only_who_has_the_token_and_comes_from_here_is_let_through(
    query: str, headers: dict[str, str], allowed: bool
) -> None:
    async def inner(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    guard = Guard(inner, "secret", 99)
    (first, *_) = answer(guard, query=query, **{"host": "127.0.0.1:99", **headers})
    assert first["status"] == (200 if allowed else 403)
    (socket, *_) = answer(guard, query=query, kind="websocket", **{"host": "127.0.0.1:99", **headers})
    assert socket["type"] == ("http.response.start" if allowed else "websocket.close")


def test_the_folder_is_for_its_owner_and_what_a_killed_app_left_goes(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = tmp_path / f"{folder.PREFIX}{gone.pid}-x"
    left.mkdir()
    (left / "upload.csv").write_text("secret", encoding="utf-8")
    foreign = tmp_path / "other-folder"
    foreign.mkdir()
    mine = folder.own_folder(tmp_path)
    assert not left.exists() and foreign.exists()
    if os.name != "nt":
        assert mine.stat().st_mode & 0o777 == 0o700
    another = folder.own_folder(tmp_path)
    assert mine.exists() and another != mine
    folder.remove(mine)
    assert not mine.exists()
