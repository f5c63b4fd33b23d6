"""A large release on its way to its folder: part by part, so that work that was stopped goes on where it was.

The parts lie beside the folder under a name of their own, `release.unfinished`, which only its owner can look into.
The folder itself appears when everything is there.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacita.check import TacitaError
from tacita.data import atomic
from tacita.data.atomic import INTERNAL, NOT_FOR_PUBLICATION, OFFICE_ONLY, new_folder, private_file, private_folder
from tacita.data.ddi import ddi_codebook
from tacita.data.files import write
from tacita.data.formats.columnar import notes_of
from tacita.data.large_data import LargeData
from tacita.engine.writing import FractionsError, ParquetFile, kinds_of
from tacita.frame import files as frame_files
from tacita.progress import Progress, part
from tacita.release.large_codebook import columns_of, large_codebook, large_description
from tacita.release.public_account import public_notes
from tacita.release.release import checked_folder
from tacita.release.seed_of import seed_of
from tacita.release.step_log import Changes, all_changes
from tacita.release.written import DDI, DDI_TITLE, NOT_PUBLIC, PUBLIC, write_internal, write_large_methods

if TYPE_CHECKING:
    from tacita.release.large_release import LargeRelease

PART = 1 << 22
"""About so many records are one file."""
UNFINISHED = ".unfinished"
NOTE = "an unfinished release: not complete, not checked; the same command goes on from here, or remove this folder"


@dataclass
class _Parts:
    """The parts of a release that are written."""

    folder: Path
    of: str
    """What the work is: another file, plan, scenario or policy is another work."""
    files: list[str] = field(default_factory=list)
    records: int = 0
    last: int | None = None
    """The number of the last record."""
    changes: list[list[dict[str, Any]]] = field(default_factory=list)
    """By part what the steps changed in it."""
    fractions: list[str] = field(default_factory=list)

    def save(self) -> None:
        """Take note of the parts; what is not noted was never written."""
        said = {name: getattr(self, name) for name in ("of", "files", "records", "last", "changes", "fractions")}
        with atomic.new_file(self.folder / "parts.json", overwrite=True) as beside:
            beside.write_text(json.dumps({"note": f"{OFFICE_ONLY}: {NOTE}", **said}), encoding="utf-8")

    def paths(self) -> list[Path]:
        """The files, in their order."""
        return [self.folder / "data" / name for name in self.files]


def save(release: LargeRelease, folder: Any, overwrite: bool, accept_unsafe: str | None, progress: Progress) -> Path:
    """Write a large release: the parts first, and then the folder."""
    target = checked_folder(folder, overwrite=overwrite, inputs=release.large.paths)
    work = target.with_name(target.name + UNFINISHED)
    release = _as_begun(release, work)
    accepted = release.accepted(accept_unsafe)
    parts = _written(release, work, part(progress, 0.1, 0.9))
    counted = all_changes([[_change(each) for each in of_part] for of_part in parts.changes])
    finished = replace(release, counted=counted)
    finished.__dict__["_profile"] = release.assess()
    _finish(finished, parts, target, overwrite, accepted, progress)
    shutil.rmtree(work, ignore_errors=True)
    progress(1.0, "done")
    return target


def _as_begun(release: LargeRelease, work: Path) -> LargeRelease:
    """The release with the seed of the parts that are there, where they are of this work and no seed was given."""
    if release.state.seed_given or not (work / "seed.txt").is_file() or _begun(release, work) is None:
        return release
    seed = seed_of(work / "seed.txt")
    if seed == release.seed:
        return release
    assert release.again is not None
    fresh: LargeRelease = release.again(seed)
    return replace(fresh, state=replace(fresh.state, seed_given=False))


def _work_of(release: LargeRelease) -> str:
    """What the work is, as a digest."""
    said = [
        json.dumps(release.large.identity),
        release.plan.to_toml(),
        release.original_scenario.to_toml(),
        release.policy.to_toml(),
        json.dumps([each.version for each in release.plan.steps]),
        str(PART),
    ]
    return hashlib.sha256("\n".join(said).encode("utf-8", "surrogatepass")).hexdigest()


def _begun(release: LargeRelease, work: Path) -> _Parts | None:
    """The parts of this work that are there; None where they are of another one, or cannot be read."""
    try:
        said = json.loads((work / "parts.json").read_text(encoding="utf-8"))
        parts = _Parts(work, *(said[name] for name in ("of", "files", "records", "last", "changes", "fractions")))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    whole = all(each.is_file() for each in parts.paths())
    return parts if whole and release.large.identity and parts.of == _work_of(release) else None


def _written(release: LargeRelease, work: Path, progress: Progress) -> _Parts:
    """All parts of the release, those that are there as they are."""
    parts = _begun(release, work)
    if parts is not None and (not (work / "seed.txt").is_file() or seed_of(work / "seed.txt") != release.seed):
        parts = None
    while True:
        if parts is None:
            parts = _empty_folder(release, work, ())
        try:
            _write_parts(release, parts, progress)
            return parts
        except FractionsError as found:
            parts = _empty_folder(release, work, sorted({*parts.fractions, *found.columns}))


def _empty_folder(release: LargeRelease, work: Path, fractions: Any) -> _Parts:
    """A folder for parts, with none in it."""
    if work.exists():
        if not (work / "parts.json").is_file() and any(work.iterdir()):
            raise TacitaError(f"{work.name} holds other files; move it away, or choose another folder.")
        shutil.rmtree(work)
    private_folder(work)
    private_folder(work / "data")
    parts = _Parts(work, _work_of(release), fractions=list(fractions))
    parts.save()
    (work / "seed.txt").write_text(f"# {OFFICE_ONLY}: of the parts here\n{release.seed:x}\n", encoding="utf-8")
    private_file(work / "seed.txt")
    return parts


def _write_parts(release: LargeRelease, parts: _Parts, progress: Progress) -> None:
    """The parts that are not there yet."""
    made, size = release.made(parts.last), max(release.size, 1)
    kinds = kinds_of(parts.paths()[0]) if parts.files else None
    while (first := next(made, None)) is not None:
        path = parts.folder / "data" / f"part-{len(parts.files) + 1:05}.parquet"
        path.unlink(missing_ok=True)
        found: list[tuple[Changes, ...]] = []
        count = 0
        with (
            atomic.new_file(path) as beside,
            ParquetFile(beside, kinds=kinds, fractions=frozenset(parts.fractions)) as file,
        ):
            for batch, done in chain((first,), made):
                progress(min((parts.records + count) / size, 1.0), "writing the release")
                file.write(frame_files.plain_arrow(batch.table), notes_of(batch))
                found.append(done)
                count += len(batch)
                parts.last = int(batch.record[-1])
                if count >= PART:
                    break
            kinds = file.kinds
        parts.files.append(path.name)
        parts.records += count
        parts.changes.append([each.to_dict() for each in all_changes(found)])
        parts.save()
    if parts.records != release.size:
        raise TacitaError(
            f"{parts.records:,} records were written and not {release.size:,}: the file was changed meanwhile, or the "
            f"numbers of its records are not one each; start again with a whole file."
        )
    progress(1.0, "writing the release")


def _change(said: dict[str, Any]) -> Changes:
    """What a step changed, of its table."""
    lists = ("variables_removed", "variables_added", "remarks", "mechanisms", "public", "renewed")
    fields: dict[str, Any] = {name: tuple(value) if name in lists else value for name, value in said.items()}
    return Changes(**fields)


def _finish(
    release: LargeRelease, parts: _Parts, target: Path, overwrite: bool, accepted: str | None, progress: Progress
) -> None:
    """The folder, from the parts and what is said of them."""
    with new_folder(target, overwrite=overwrite) as beside:
        data = beside / (PUBLIC if accepted is None else NOT_FOR_PUBLICATION)
        if accepted is None:
            data.mkdir()
        else:
            private_folder(data)
            said = f"{NOT_PUBLIC}\n{release.verdict}.\nWritten all the same, since: {accepted}\n"
            (data / "README.txt").write_text(said, encoding="utf-8")
        with LargeData.of(parts.folder / "data", memory=release.large.memory) as written:
            columns = list(columns_of(written, part(progress, 0.9, 0.95)))
        file = large_description(columns, parts.records, release.scenario.weight)
        write(large_codebook(columns), data / "codebook.csv")
        notes = public_notes(release.changes, file, release.large.size)
        (data / DDI).write_text(ddi_codebook(file, DDI_TITLE, notes=notes), encoding="utf-8")
        write_large_methods(release, parts.records, data)
        internal = private_folder(beside / INTERNAL)
        write_internal(release, internal, accepted, ())
        (internal / "risk.txt").write_text(f"{OFFICE_ONLY}: the risk of the release\n\n{release.assess()}\n", "utf-8")
        # Last, so that hardly anything can come between: until here the parts are where the next run looks for them.
        whole = data / "data.parquet" if len(parts.files) == 1 else data / "data"
        if whole.suffix:
            parts.paths()[0].replace(whole)
        else:
            whole.mkdir()
            for each in parts.paths():
                each.replace(whole / each.name)
