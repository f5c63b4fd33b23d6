"""What a large release gives away beside its original: made for that, and removed with the engine's files."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacita.assessment.assess import assess_on_engine
from tacita.assessment.on_engine import LargeProfile
from tacita.check import TacitaError
from tacita.data.formats.columnar import notes_of
from tacita.data.large_data import LargeData, described
from tacita.engine.expressions import RECORD
from tacita.engine.writing import FractionsError, ParquetFile
from tacita.frame import files as frame_files
from tacita.progress import Progress, part

if TYPE_CHECKING:
    from tacita.release.large_release import LargeRelease


def assessed_beside(release: LargeRelease, measures: Any, progress: Progress) -> LargeProfile:
    """The risk profile of a release, its records made and held against those of the original."""
    released = _made(release, part(progress, 0.0, 0.4))
    return assess_on_engine(
        released,
        release.scenario,
        release.policy,
        original=release.large,
        measures=measures,
        memory=release.large.memory,
        progress=part(progress, 0.4, 1.0),
    )


def _made(release: LargeRelease, progress: Progress) -> LargeData:
    """The released records with their numbers, in a file in the private folder of the engine."""
    large = release.large
    path = Path(tempfile.mkdtemp(dir=large.database.folder)) / "release.parquet"
    try:
        write_batches(release, path, numbered=True, progress=progress)
    except OSError:
        raise TacitaError(
            "making the release: the disk for temporary files is full; free space, or name another temporary folder."
        ) from None
    like, known = described([path])
    table = large.database.stored(path)
    if large.numbered != RECORD and large.numbered in release.columns:
        return LargeData("the release", large.database, table.drop(RECORD), large.memory, large.record, known, like)
    return LargeData("the release", large.database, table, large.memory, RECORD, known, like)


def write_batches(release: LargeRelease, path: Path, *, numbered: bool, progress: Progress) -> None:
    """Write the released records to a Parquet file, `numbered` with the numbers that they have in the original."""
    fractions: frozenset[str] = frozenset()
    while True:
        try:
            with ParquetFile(path, fractions=fractions) as file:
                _batches(release, file, numbered, progress)
            return
        except FractionsError as found:
            fractions |= found.columns


def _batches(release: LargeRelease, file: ParquetFile, numbered: bool, progress: Progress) -> None:
    done, size = 0, max(release.large.size, 1)
    for batch, _ in release.made():
        progress(done / size, "writing the release" if not numbered else "making the release")
        table = frame_files.plain_arrow(batch.table)
        if numbered:
            table = table.append_column(RECORD, [batch.record])
        file.write(table, notes_of(batch))
        done += len(batch)
