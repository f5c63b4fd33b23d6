"""How well do the models of risk do? Each is held against populations whose every member is known.

For every case many samples are drawn (one per seed). Of each sample, a model's expected re-identifications (ER), their
95 % interval, its number of population uniques among the sampled records (tau_1) and its risk of single records are
compared with what they should have been: F of every record is counted in the population.

`--keep FOLDER` writes the figures of each case to a file there, and reads them back instead of working them out again:
an interrupted run goes on. `--only TEXT` takes the cases whose names hold the text, `--models` some of the models.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import measure, populations, real_files
from benchmarks.model_answers import COMPLETE_ONLY, SHOWN, compared
from benchmarks.populations import Sample

Floats = NDArray[np.float64]

SAMPLES, QUICK_SAMPLES = 20, 3
FIRST_SEED = 1001
CHUNK = 10
"""Samples of one case in one process."""


@dataclass(frozen=True)
class Case:
    """One population, with its keys, and one way of sampling from it."""

    group: str
    population: str
    keys: str
    design: str
    size: float
    """Households, or the share of the population."""
    missing: bool = False

    @property
    def name(self) -> str:
        """What the tables call it."""
        keys = f" {self.keys}" if self.keys else ""
        size = f"{self.size:,.0f}" if self.size > 1 else f"{100 * self.size:g} %"
        design = "" if self.design in ("households", "simple") else f" {self.design}"
        return f"{self.population}{keys} {size}{design}{' missing' if self.missing else ''}"

    def sample(self, seed: int) -> Sample:
        """One of its samples."""
        if self.population == "household":
            return populations.household_sample(self.keys, int(self.size), self.missing, seed)
        accident = self.population == "accident"
        everybody = (
            populations.accident_population(self.keys) if accident else real_files.real_population(self.population)
        )
        return populations.sampled(everybody, self.design, self.size, seed)


HOUSEHOLD = "Household demo"
ACCIDENT = "Accident survey as a population"
REAL = {False: "Real files, open to choices", True: "Real files, held back"}
SIZES = (2_000, 6_000, 20_000)
SHARES = (0.05, 0.2)


def cases(quick: bool) -> Iterator[Case]:
    """All cases; a few of each kind for a quick run."""
    for missing in (False, True):
        for size in SIZES[:1] if quick else SIZES:
            for keys in populations.HOUSEHOLD_KEYS:
                group = f"{HOUSEHOLD}, {'with missing values' if missing else 'complete'}"
                yield Case(group, "household", keys, "households", size, missing)
    for share in SHARES:
        for keys in populations.ACCIDENT_KEYS:
            yield Case(ACCIDENT, "accident", keys, "simple", share)
    for held in (False, True):
        names = [name for name in real_files.SOURCES if (name in real_files.HELD_BACK) == held]
        for design in populations.DESIGNS:
            for share in SHARES:
                for name in names[:3] if quick else names:
                    yield Case(f"{REAL[held]}, {design} random samples", name, "", design, share)


def samples(about: dict[str, Any], seeds: list[int], models: list[str]) -> dict[str, Any]:
    """The figures of some samples of one case; a case of the benchmark, in a process of its own."""
    return {"rows": [compared(Case(**about).sample(seed), models) for seed in seeds]}


Rows = list[dict[str, dict[str, Any]]]


def file_name(case: Case, model: str) -> str:
    """Where the figures of a case by a model are kept."""
    return f"{case.name} {model}.json".replace(" ", "_").replace("%", "pc")


def figures(case: Case, seeds: Sequence[int], models: Sequence[str], keep: Path | None) -> Rows | str:
    """The figures of all samples of a case, one dictionary by model for each; what went wrong if anything did."""
    rows: Rows = [{} for _ in seeds]
    for name in models:
        file = None if keep is None else keep / file_name(case, name)
        kept = json.loads(file.read_text()) if file is not None and file.is_file() else {}
        wanted = [seed for seed in seeds if str(seed) not in kept]
        for start in range(0, len(wanted), CHUNK):
            some = wanted[start : start + CHUNK]
            done = measure.run_case("accuracy", "samples", about=asdict(case), seeds=some, models=[name])
            if "failed" in done:
                return str(done["failed"])
            kept |= {str(seed): row[name] for seed, row in zip(some, done["rows"], strict=True)}
            if file is not None:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(json.dumps(kept))
        for row, seed in zip(rows, seeds, strict=True):
            row[name] = kept[str(seed)]
    return rows


# Tables -------------------------------------------------------------------------------------------------------------


def column(rows: Rows, model: str, what: str) -> Floats:
    """One figure of all samples, NaN where the model says nothing."""
    return np.array([np.nan if row[model][what] is None else row[model][what] for row in rows], dtype=np.float64)


@dataclass(frozen=True)
class Summary:
    """What a model did in one case, over its samples."""

    bias: float
    """Mean of ER over the true one, less one."""
    sd: float
    """Standard deviation of that between samples."""
    covered: float
    """Share of the samples whose interval holds the true ER."""
    width: float
    """Mean width of the interval against the estimate."""
    uniques: float
    """Mean estimate of tau_1."""
    auc: float
    found: float
    seconds: float


def summary(rows: Rows, model: str) -> Summary:
    """The samples of a case summed up; NaN where the model has no such figure."""
    expected, true, low, high = (column(rows, model, what) for what in ("expected", "true", "low", "high"))
    known = np.isfinite(low)
    ratio = expected / true - 1.0
    return Summary(
        bias=_mean(ratio),
        sd=float(np.nanstd(ratio, ddof=1)) if np.isfinite(ratio).sum() > 1 else float("nan"),
        covered=float(((low <= true) & (true <= high))[known].mean()) if known.any() else float("nan"),
        width=_mean((high - low) / expected),
        uniques=_mean(column(rows, model, "uniques")),
        auc=_mean(column(rows, model, "auc")),
        found=_mean(column(rows, model, "found")),
        seconds=_mean(column(rows, model, "seconds")),
    )


def _mean(values: Floats) -> float:
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")


def _percent(value: float, digits: int = 0, sign: bool = False) -> str:
    return measure.NOTHING if np.isnan(value) else f"{100 * value:{'+' if sign else ''}.{digits}f}"


def _number(value: float, form: str = ",.0f") -> str:
    return measure.NOTHING if np.isnan(value) else format(value, form)


SHORT = {
    "benedetti_franconi": "BF",
    "loglinear": "LL",
    "superpopulation": "SP",
    "truth": "truth",
    "latent": "latent",
}


def er_row(case: Case, rows: Rows, models: Sequence[str]) -> tuple[str, ...]:
    """Records, uniques, the true ER, and for each model with an ER its bias, deviation, coverage and width."""
    first = models[0]
    cells = [
        f"{_mean(column(rows, first, 'records')):,.0f}",
        _percent(_mean(column(rows, first, "share of uniques")), 1),
        f"{_mean(column(rows, first, 'true')):,.1f}",
    ]
    for model in models:
        if model != "superpopulation":
            found = summary(rows, model)
            cells += [_percent(found.bias, 1, sign=True), _percent(found.sd, 1)]
            if model != "loglinear":
                cells += [_percent(found.covered), _percent(found.width)]
    return case.name, *cells


def er_head(models: Sequence[str]) -> tuple[str, ...]:
    """The head of those rows."""
    head = ["case", "records", "uniques %", "true ER"]
    for model in models:
        if model != "superpopulation":
            head += [f"{SHORT[model]} bias %", "sd"] + ([] if model == "loglinear" else ["covered %", "width %"])
    return tuple(head)


def record_row(case: Case, rows: Rows, models: Sequence[str]) -> tuple[str, ...]:
    """tau_1 true and estimated, AUC, risky records found, and seconds."""
    found = [summary(rows, model) for model in models]
    with_risk = [one for model, one in zip(models, found, strict=True) if model not in COMPLETE_ONLY]
    true = _mean(column(rows, models[0], "true uniques"))
    return (
        case.name,
        _number(true, ",.1f"),
        *(_number(one.uniques, ",.1f") for one in found),
        *(_number(one.auc, ".3f") for one in with_risk),
        *(_percent(one.found) for one in with_risk),
        *(_number(one.seconds, ".2g") for one in found),
    )


def record_head(models: Sequence[str]) -> tuple[str, ...]:
    """The head of those rows."""
    names, with_risk = [SHORT[model] for model in models], [SHORT[m] for m in models if m not in COMPLETE_ONLY]
    return (
        "case",
        "tau_1 true",
        *names,
        *(f"AUC {name}" for name in with_risk),
        *(f"found % {name}" for name in with_risk),
        *(f"s {name}" for name in names),
    )


def overall(done: dict[Case, Rows], models: Sequence[str]) -> list[tuple[str, ...]]:
    """For each model mean and worst absolute bias over the cases, and the share of intervals that hold the truth."""
    rows = [("model", "cases", "mean |bias| %", "worst %", "covered %", "least covered %", "cases below 85 %")]
    for model in models:
        each = [summary(found, model) for found in done.values()]
        bias = np.array([abs(one.bias) for one in each])
        covered = np.array([one.covered for one in each])
        if np.isfinite(bias).any():
            known = covered[np.isfinite(covered)]
            rows.append((
                SHORT[model], f"{len(each)}", _percent(_mean(bias), 1), _percent(float(np.nanmax(bias)), 1),
                _percent(_mean(covered), 1), _percent(known.min() if len(known) else float("nan")),
                f"{(known < 0.85).sum()}" if len(known) else measure.NOTHING,
            ))  # fmt: skip
    return rows


def report(quick: bool) -> None:
    """Print the tables, one pair for each group of cases, and what they come to."""
    given = _options()
    count = given.samples or (QUICK_SAMPLES if quick else SAMPLES)
    seeds, models = list(range(given.seed, given.seed + count)), given.models.split(",")
    wanted = [case for case in cases(quick) if given.only in f"{case.group}: {case.name}"]
    there = real_files.files()
    for name in sorted({case.population for case in wanted} & {name for name, path in there.items() if path is None}):
        print(f"  {name} is left out: {real_files.SOURCES[name].file} is in none of the packages that could be had")
    wanted = [case for case in wanted if there.get(case.population, Path()) is not None]
    for group in dict.fromkeys(case.group for case in wanted):
        done: dict[Case, Rows] = {}
        for case in wanted:
            if case.group == group:
                found = figures(case, seeds, models, given.keep)
                if isinstance(found, str):
                    print(f"  {case.name} failed: {found}")
                else:
                    done[case] = found
        _show(group, done, models, count)


def _show(group: str, done: dict[Case, Rows], models: Sequence[str], count: int) -> None:
    if not done:
        return
    title = f"{group}, {count} samples"
    measure.show(
        f"{title}: expected re-identifications", [er_head(models), *(er_row(*one, models) for one in done.items())]
    )
    measure.show(f"{title}: records", [record_head(models), *(record_row(*one, models) for one in done.items())])
    measure.show(f"{title}: all cases", overall(done, models))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Models of risk against known populations.")
    parser.add_argument("--quick", action="store_true", help="few cases and samples")
    parser.add_argument("--keep", type=Path, help="folder for the figures of each case, which are not worked out again")
    parser.add_argument("--only", default="", help="cases whose group and name hold this text")
    parser.add_argument("--models", default=",".join(SHOWN), help="models, with commas between them")
    parser.add_argument("--samples", type=int, help="samples per case")
    parser.add_argument("--seed", type=int, default=FIRST_SEED, help="seed of the first sample")
    return parser.parse_args(sys.argv[1:])


CASES = {"samples": samples}

if __name__ == "__main__":
    measure.main(CASES, report)
