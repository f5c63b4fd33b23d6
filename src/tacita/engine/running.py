"""A query that runs while its progress is shown, and that ends at once when the work is cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from tacita.check import TacitaError
from tacita.progress import Progress

T = TypeVar("T")
EVERY = 0.2
"""Seconds between two looks at the progress."""


def watched(
    query: Callable[[], T], done: Callable[[], float], stop: Callable[[], None], progress: Progress, what: str
) -> T:
    """What a query gives. If the progress callback raises, or Ctrl-C is pressed, the query is stopped first."""
    out: list[T] = []
    error: list[BaseException] = []

    def run() -> None:
        try:
            out.append(query())
        except BaseException as raised:
            error.append(raised)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(EVERY)
            progress(min(max(done(), 0.0), 1.0), what)
    except BaseException:
        stop()
        thread.join()
        raise
    if error:
        raise _plain(error[0], what) from None
    return out[0]


def _plain(error: BaseException, what: str) -> BaseException:
    """An engine's error as one sentence: its own message may quote cells."""
    if isinstance(error, TacitaError | KeyboardInterrupt | MemoryError):
        return error
    name, text = type(error).__name__, str(error).lower()
    if "out of memory" in name.lower() + text or "outofmemory" in name.lower():
        return TacitaError(
            f"{what}: the memory budget is too small for this file; give more with memory=... (--memory)."
        )
    if "no space left" in text or "max_temp_directory_size" in text:
        return TacitaError(
            f"{what}: the disk for temporary files is full; free space, or name another temporary folder."
        )
    if "csv" in text:
        return TacitaError(
            f"{what}: some line has more or fewer fields than the header, or is not in UTF-8; quote fields with "
            f"the delimiter in them, or write the file as Parquet."
        )
    if "conver" in text and "conversion" in name.lower():
        return TacitaError(
            f"{what}: a column holds values that are not of its kind; correct the file, or write Parquet."
        )
    return TacitaError(
        f"{what}: the engine could not do it ({name}); check that the file is whole and the disk not full."
    )


def no_share() -> Any:
    """The share done of a query that does not say."""
    return 0.0
