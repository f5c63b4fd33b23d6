"""Information loss of generalised keys: how much coarser are the classes, and how much larger the groups?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data.visible import visible_missing_codes
from tacita.keys.source import distinct_keys
from tacita.loss.compared import Files, compared_files
from tacita.loss.values.classes import KeyClasses, discernibility, key_classes, scaled
from tacita.measures import GENTLER, at_most, measure, own_rule
from tacita.parameters import Doc
from tacita.progress import Progress, no_progress
from tacita.repeats import mean, some, total
from tacita.result import Percent, Result, Table, percent
from tacita.scenario import Scenario


class KeyLoss(NamedTuple):
    """What one key loses, each from 0 (unchanged) to 1 (suppressed throughout)."""

    key: str
    categories: int
    """Categories of the original."""
    classes: int
    """Different released values."""
    granularity: float
    intensity: float
    entropy: float


class Figure(NamedTuple):
    """One figure of the file before and after, and as a loss from 0 to 1."""

    before: float
    after: float
    loss: float


@dataclass(frozen=True, eq=False)
class ClassLoss(Result):
    """How much coarser the keys are after protection, by the measures of ARX and pycanon."""

    keys: tuple[KeyLoss, ...]
    """By key."""
    figures_of_file: dict[str, Figure]
    """By name of the measure: before, after, and scaled so that 0 is unchanged and 1 everything alike."""
    record: Ints
    """The number of each record that both files have."""
    loss: Floats
    """By record: the mean granularity of its keys; 0 where it had no value to lose."""
    cautions: tuple[str, ...] = ()
    """What the reader should know."""

    @property
    def granularity(self) -> float:
        """The mean share of the other categories that a value can no longer be distinguished from."""
        return self.figures_of_file["granularity"].loss

    @property
    def headline(self) -> str:
        """Granularity in percent."""
        return (
            f"{check.counted(len(self.keys), 'key')} {'loses' if len(self.keys) == 1 else 'lose'} "
            f"{percent(self.granularity)} of {'its' if len(self.keys) == 1 else 'their'} detail (granularity; "
            f"0 %: every value as fine as it was; 100 %: no value of any key left)"
        )

    def tables(self) -> tuple[Table, ...]:
        """The figures of the file, and one row per key."""
        rows = tuple(
            (name, f"{each.before:,.5g}", f"{each.after:,.5g}", Percent(each.loss))
            for name, each in self.figures_of_file.items()
        )
        keys = tuple(
            (each.key, each.categories, each.classes, *map(Percent, (each.granularity, each.intensity, each.entropy)))
            for each in self.keys
        )
        return (
            Table(("measure", "before", "after", "loss"), rows),
            Table(("key", "categories", "released", "granularity", "intensity", "entropy"), keys),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What 0 and 1 mean."""
        return ("loss: 0 % unchanged, 100 % everything suppressed, all records alike",)

    def to_frame(self) -> frame.Frame:
        """One row per record: its number and the mean granularity of its keys."""
        return frame.table({"record": self.record, **self.record_columns()})

    def record_columns(self) -> dict[str, Any]:
        """The mean granularity of the keys."""
        return {"granularity": self.loss}

    def table(self) -> frame.Frame:
        """One row per key."""
        return frame.table({name: [getattr(each, name) for each in self.keys] for name in KeyLoss._fields})

    def to_dict(self) -> dict[str, Any]:
        """The figures of the file and of each key."""
        return {
            **{name.replace(" ", "_"): each._asdict() for name, each in self.figures_of_file.items()},
            "by_key": {each.key: each._asdict() for each in self.keys},
        }


@measure(
    files=2,
    called_for="comparison",
    kind="loss",
    needs="keys",
    by_key=True,
    limit=at_most("granularity", "the granularity lost", moved_by=GENTLER),
    missing=own_rule("A released blank stands for all categories; where the original has none, nothing can be lost."),
)
def class_loss(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    keys: Annotated[tuple[str, ...] | None, Doc("Categorical keys; the scenario's.")] = None,
    progress: Progress = no_progress,
) -> ClassLoss:
    """How much coarser the keys are: granularity, intensity, entropy, ambiguity, discernibility, average class size.

    With m_b of the m categories of a key behind a released value, as the two files show it: granularity (m_b - 1) /
    (m - 1); intensity level/height, the level of a class being one above the classes inside it and suppression the top;
    entropy -log2 of the share of the original value among the records with a value of the class, over what suppression
    leaves open. Ambiguity: the mean over records of the product of m_b, over that of m. Discernibility: the sum over
    records of the size of their group, the file for a suppressed record. Average class size: records / groups. Each is
    given raw, and as a loss from 0, unchanged, to 1, everything suppressed.

    References: Iyengar (2002) for granularity; Sweeney (2002) for intensity (1 - precision); Gionis and Tassa (2009)
    for entropy; Nergiz and Clifton (2007) for ambiguity; Bayardo and Agrawal (2005) for discernibility; LeFevre, DeWitt
    and Ramakrishnan (2006) for the average class size.

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["a", "b", "c", "d"], "sex": ["f", "f", "m", "m"]})
    >>> coarse = pl.DataFrame({"region": ["a-b", "a-b", "c-d", "c-d"], "sex": ["f", "f", "m", None]})
    >>> found = class_loss(people, coarse, Scenario(keys=["region", "sex"]))
    >>> [round(each.granularity, 3) for each in found.keys], round(found.granularity, 3)
    ([0.333, 0.25], 0.292)
    """
    files = compared_files(original, released, scenario, weighted=False)
    names = files.scenario.keys if keys is None else check.names("keys", keys)
    if not names:
        raise TacitaError("class_loss needs categorical keys; pass keys=[...] in the scenario, or keys=[...].")
    check.columns_exist("keys of the original file", names, files.original.columns)
    check.columns_exist("keys of the released file", names, files.released.columns)
    codes = []
    for at, name in enumerate(names):
        progress(0.5 * at / len(names), "reading keys")
        codes.append(_codes(files, name))
    progress(0.5, "comparing classes")
    repeats = files.original.repeats
    parts = [key_classes(x, y, repeats) for x, y in codes]
    perturbed = [name for name in names if name in files.released.perturbed]
    said = f"{check.quoted(perturbed)} was perturbed: a released value stands for all values that it replaced."
    return ClassLoss(
        keys=tuple(_of_key(name, *pair, part, repeats) for name, pair, part in zip(names, codes, parts, strict=True)),
        figures_of_file=_figures(codes, parts, repeats),
        record=files.as_given(files.original.record),
        loss=files.as_given(np.mean([np.nan_to_num(each.granularity, nan=0.0) for each in parts], axis=0)),
        cautions=(*files.cautions, *((said,) if perturbed else ())),
    )


def _codes(files: Files, name: str) -> tuple[Ints, Ints]:
    """A key of both files as codes of what a reader sees, each file its own."""
    applied = (*files.original.variable(name).not_applicable, *files.released.variable(name).not_applicable)
    x, y = (
        data.coded(name, (*applied, *visible_missing_codes(data, name))).codes.astype(np.int64)
        for data in (files.original, files.released)
    )
    return x, y


def _of_key(name: str, x: Ints, y: Ints, part: KeyClasses, repeats: Ints | None) -> KeyLoss:
    bits, most = (total(np.nan_to_num(each), repeats) for each in (part.entropy, part.most_entropy))
    return KeyLoss(
        name,
        len(np.unique(x[x > 0])),
        len(np.unique(y[y > 0])),
        _mean(part.granularity, repeats),
        _mean(part.intensity, repeats),
        bits / most if most > 0 else 0.0,
    )


def _mean(values: Floats, repeats: Ints | None) -> float:
    known = ~np.isnan(values)
    return mean(values[known], some(repeats, known)) if known.any() else 0.0


def _figures(codes: list[tuple[Ints, Ints]], parts: list[KeyClasses], repeats: Ints | None) -> dict[str, Figure]:
    """Every measure of the file before and after."""
    n = len(codes[0][0]) if repeats is None else int(repeats.sum())
    every = None if repeats is None else np.tile(repeats, len(codes))
    cells = {kind: np.concatenate([getattr(each, kind) for each in parts]) for kind in ("granularity", "intensity")}
    shares = {kind: _mean(values, every) for kind, values in cells.items()}
    bits, most = (
        sum(total(np.nan_to_num(getattr(each, kind)), repeats) for each in parts)
        for kind in ("entropy", "most_entropy")
    )
    ambiguity = mean(np.prod([each.size for each in parts], axis=0), repeats)
    widest = float(np.prod([max(len(np.unique(x[x > 0])), 1) for x, _ in codes], dtype=np.float64))
    groups = [distinct_keys([side.astype(np.uint32) for side in each], [int(side.max()) for side in each])[0]
              for each in zip(*codes, strict=True)]  # fmt: skip
    gone = np.all([y == 0 for _, y in codes], axis=0) & np.any([x > 0 for x, _ in codes], axis=0)
    alike = [discernibility(groups[0], np.zeros_like(gone), repeats), discernibility(groups[1], gone, repeats)]
    sizes = [n / (int(group.max()) + 1) for group in groups]
    return {
        **{kind: Figure(0.0, share, share) for kind, share in shares.items()},
        "entropy": Figure(0.0, bits / n, bits / most if most > 0 else 0.0),
        "ambiguity": Figure(1.0, ambiguity, scaled(1.0, ambiguity, widest)),
        "discernibility": _figure(alike, float(n) ** 2),
        "average class size": _figure(sizes, float(n)),
    }


def _figure(both: list[float], most: float) -> Figure:
    before, after = both
    return Figure(before, after, scaled(before, after, most))
