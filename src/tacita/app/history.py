"""Undo and redo without limit: every earlier draft is kept, and what was worked out for it is still known."""

from __future__ import annotations

from dataclasses import dataclass, field

from tacita.app.draft import Draft


@dataclass(frozen=True)
class Moment:
    """A draft, and what was done to come to it."""

    draft: Draft
    words: str


@dataclass(frozen=True)
class History:
    """The present draft, those before it and those that were undone."""

    now: Moment = field(default_factory=lambda: Moment(Draft(), ""))
    past: tuple[Moment, ...] = ()
    """Earlier ones, the oldest first."""
    future: tuple[Moment, ...] = ()
    """Undone ones, the latest last."""

    @property
    def draft(self) -> Draft:
        """The present draft."""
        return self.now.draft

    def do(self, draft: Draft, words: str) -> History:
        """The history with a new present; what was undone is gone."""
        return self if draft is self.draft else History(Moment(draft, words), (*self.past, self.now))

    def undo(self) -> History:
        """The history one step back; itself at its beginning."""
        return History(self.past[-1], self.past[:-1], (*self.future, self.now)) if self.past else self

    def redo(self) -> History:
        """The history one step forward again; itself at its end."""
        return History(self.future[-1], (*self.past, self.now), self.future[:-1]) if self.future else self
