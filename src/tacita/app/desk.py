"""The desk: one history of drafts, the results that are known for them, and the worker that computes the others.

Everything that is wanted has a name (a key of the draft and the steps), so that undoing a step finds what is known and
nothing is worked out twice. What is most wanted is begun first; what is no longer wanted is given up.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tacita.app import tasks
from tacita.app.draft import Draft
from tacita.app.history import History
from tacita.app.standing import Standing, standing
from tacita.app.worker import Task, Worker
from tacita.protect.step import Step
from tacita.release.advance import State
from tacita.release.release import Release

MOST_KEPT, MOST_BYTES = 400, 2_000_000_000
"""Results that are kept, and what they take together; those that were not looked at for longest go first."""
GIVEN_UP = "cancelled"
PATIENCE = 3.0
"""Seconds before work that is of no use any more is ended: ending it costs a new process."""
IDLE = 1.0
"""Seconds without work or change before what other pages show first is drawn ahead."""


class Desk:
    """What the app works on. One person sits at it, in one or more windows."""

    def __init__(self, worker: Worker | None = None, folder: Path | None = None) -> None:
        self.folder = folder or Path()
        """Where releases are written before they are taken away."""
        self.history = History()
        self.view: dict[str, Any] = {"page": "data"}
        self.results: OrderedDict[str, Any] = OrderedDict()
        self.sizes: dict[str, int] = {}
        """By key the bytes that a result takes, where it takes many."""
        self.failures: dict[str, str] = {}
        """By key why there is no result."""
        self.wishes: list[Task] = []
        """What the page that is shown would like to have."""
        self.ahead: list[Task] = []
        """What other pages would show first: done when there is nothing else to do."""
        self.rested = 0.0
        """Since when there was nothing to do, and nothing changed."""
        self.worker = worker or Worker()
        self.progress = (0.0, "")
        self.began = 0.0
        self.notice = ("", "")
        """The last message: its kind and its words."""
        self.version = 0
        """Grows with every change, so that windows know when to draw again."""

    @property
    def draft(self) -> Draft:
        """The present draft."""
        return self.history.draft

    def do(self, draft: Draft, words: str) -> None:
        """Change the draft; what was done can be undone."""
        self.history = self.history.do(draft, words)
        self.changed()

    def changed(self) -> None:
        """Have every window drawn again."""
        self.version += 1
        self.rested = time.monotonic()

    def say(self, words: str, kind: str = "good") -> None:
        """Show a message."""
        self.notice = (kind, words)
        self.changed()

    def also(self) -> list[tuple[Step, ...]]:
        """Steps of plans that were set aside, while they are looked at."""
        if self.view.get("page") != "compare":
            return []
        return [tuple(each.step for each in entries if each.on) for entries in self.draft.saved.values()]

    # What is known.

    def get(self, task: Task) -> Any:
        """The result of a task; None where it is not known yet: it is then worked out."""
        if task.key in self.results:
            self.results.move_to_end(task.key)
            return self.results[task.key]
        if task.key not in self.failures and all(each.key != task.key for each in self.wishes):
            self.wishes.append(task)
        return None

    def known(self, key: str) -> Any:
        """What is known under a key; None: nothing."""
        return self.results.get(key)

    def release(self, steps: tuple[Step, ...] | None = None) -> Release | None:
        """The release after some steps, all unless given: compared with its original where that is done."""
        if not self.draft.ready:
            return None
        key = self.draft.key(self.draft.steps if steps is None else steps)
        found: Release | None = self.known("compared:" + key) or self.known("release:" + key)
        return found

    def compared(self, steps: tuple[Step, ...] | None = None) -> Release | None:
        """The release, once it was compared with its original."""
        if not self.draft.ready:
            return None
        found: Release | None = self.known("compared:" + self.draft.key(self.draft.steps if steps is None else steps))
        return found

    def standing(self, steps: tuple[Step, ...]) -> Standing | None:
        """Where the file stands after some steps; None: not known yet."""
        if not self.draft.ready:
            return None
        key = self.draft.key(steps)
        for kind in ("compared", "release"):
            if kind + ":" + key in self.results:
                name = f"standing {kind}:" + key
                if name not in self.results:
                    self.keep(name, standing(self.results[kind + ":" + key], compared=kind == "compared"))
                found: Standing = self.results[name]
                return found
        return None

    def failure(self, steps: tuple[Step, ...]) -> str:
        """Why the last of some steps could not be done; empty if it could, or was not tried."""
        if not self.draft.ready:
            return ""
        key = self.draft.key(steps)
        return next((self.failures[kind + key] for kind in ("state:", "release:") if kind + key in self.failures), "")

    def once(self, name: str, data: Any, work: Callable[[Any], Any]) -> Any:
        """Something quick that is worked out of a file, once."""
        key = f"{name}:{id(data)}"
        if key not in self.results:
            # The data themselves are kept beside it, so that no other file can get their number.
            self.keep(key, (data, work(data)))
        return self.results[key][1]

    def keep(self, key: str, result: Any, size: int = 0) -> None:
        """Keep a result; older ones go where there are too many, but never those of the present steps."""
        self.results[key], self.sizes[key] = result, size
        if not self._too_much:
            return
        shown = self._shown()
        for old in [each for each in self.results if each != key and not any(part in each for part in shown)]:
            if self._too_much:
                del self.results[old], self.sizes[old]

    @property
    def _too_much(self) -> bool:
        return len(self.results) > MOST_KEPT or sum(self.sizes.values()) > MOST_BYTES

    def _shown(self) -> list[str]:
        """Keys of what the header, the trail and the pages show of the present draft."""
        draft = self.draft
        if not draft.ready:
            return []
        counts = range(len(draft.steps) + 1)
        return [draft.key(draft.steps[:count]) for count in counts] + [draft.key(steps) for steps in self.also()]

    # What is wanted.

    def wanted(self) -> Iterator[Task]:
        """What is not known and wanted, the most wanted first."""
        draft = self.draft
        if draft.ready:
            yield from self._of_steps(draft, ())
            yield from self._of_steps(draft, draft.steps)
        yield from (task for task in self.wishes if task.key not in self.results and task.key not in self.failures)
        if draft.ready:
            steps = draft.steps
            for also in self.also():
                yield from self._of_steps(draft, also, further=True)
            for count in dict.fromkeys([len(steps), 0, *range(len(steps) - 1, 0, -1)]):
                yield from self._of_steps(draft, steps[:count], further=True)

    def _of_steps(self, draft: Draft, steps: tuple[Step, ...], *, further: bool = False) -> Iterator[Task]:
        """The next thing to do to know the release after some steps; with its comparison if it is to go further."""
        key = draft.key(steps)
        kinds = ("state:", "release:", "compared:") if further else ("state:", "release:")
        for kind in kinds:
            if kind + key in self.failures or (kind == "state:" and self.failures_before(draft, steps)):
                return
            if kind + key not in self.results:
                yield from self._task(draft, kind, key, steps)
                return

    def failures_before(self, draft: Draft, steps: tuple[Step, ...]) -> bool:
        """Whether one of the steps before the last cannot be done."""
        return any("state:" + draft.key(steps[:count]) in self.failures for count in range(len(steps)))

    def _task(self, draft: Draft, kind: str, key: str, steps: tuple[Step, ...]) -> Iterator[Task]:
        if kind == "state:" and not steps:
            given = (draft.data, draft.scenario, draft.policy, draft.seed)
            yield Task(kind + key, "starting", tasks.started, given)
        elif kind == "state:":
            before: State | None = self.known("state:" + draft.key(steps[:-1]))
            if before is None:
                yield from self._of_steps(draft, steps[:-1])
            else:
                yield Task(kind + key, f"step: {steps[-1].label}", tasks.advanced, (before, steps[-1]))
        elif kind == "release:":
            yield Task(kind + key, "measuring risk", tasks.judged, (self.results["state:" + key], draft.rules))
        else:
            yield Task(kind + key, "comparing with the original", tasks.compared, (self.results["release:" + key],))

    # The worker.

    def tick(self) -> None:
        """Take in what the worker said, and give it the next task."""
        running = self.worker.task
        for message in self.worker.messages():
            assert running is not None
            if message.kind == "progress":
                self.progress = message.value
                continue
            if message.kind == "result":
                self.keep(running.key, message.value, message.size)
                if running.key.startswith("compared:"):
                    # It is the release itself, with more measured: a file is not kept twice.
                    self.keep("release:" + running.key.removeprefix("compared:"), message.value)
            else:
                self.failures[running.key] = message.value
            self.changed()
        if self.worker.task is not None and self._in_vain(self.worker.task):
            self.worker.cancel()
        if self.worker.task is None:
            self._next()

    def _next(self) -> None:
        task = next(self.wanted(), None)
        if task is None and time.monotonic() - self.rested > IDLE:
            task = next(self._open_ahead(), None)
        if task is not None:
            self.progress = (0.0, task.words)
            self.began = time.monotonic()
            self.worker.start(task)
            self.changed()

    def _in_vain(self, running: Task) -> bool:
        """Whether a task has run for a while and is of no use any more: its draft was changed, its page left."""
        if time.monotonic() - self.began <= PATIENCE:
            return False
        wanted = [task.key for task in self.wanted()] or [task.key for task in self._open_ahead()]
        return running.key not in wanted

    def _open_ahead(self) -> Iterator[Task]:
        return (task for task in self.ahead if task.key not in self.results and task.key not in self.failures)

    @property
    def unasked(self) -> bool:
        """Whether the running task is for a page that is not open."""
        running = self.worker.task
        return running is not None and all(task.key != running.key for task in self.wanted())

    @property
    def busy(self) -> bool:
        """Whether something is being worked out."""
        return self.worker.task is not None

    def cancel(self) -> None:
        """End what is being worked out; it is not begun again until it is asked for."""
        if self.worker.task is not None:
            self.failures[self.worker.task.key] = GIVEN_UP
            self.worker.cancel()
            self.say("Cancelled. Nothing was changed.", "open")

    def retry_all(self, part: str) -> None:
        """Try again what was cancelled or failed, if its key has this in it."""
        self.failures = {key: why for key, why in self.failures.items() if part not in key}
        self.changed()

    def close(self) -> None:
        """Leave nothing running."""
        self.worker.close()
