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
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_legendre
from scipy.stats import rankdata

from benchmarks import measure, populations
from benchmarks.populations import Sample

Floats = NDArray[np.float64]

LIMIT = 0.1
"""An individual risk above this is unsafe under the default policy; AUC is about finding such records."""
SAMPLES, QUICK_SAMPLES = 20, 3
FIRST_SEED = 1001
CHUNK = 10
"""Samples of one case in one process."""
MOST_CELLS = 200_000
"""Choosing a log-linear model takes minutes beyond this many combinations of values."""


# Models -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What a model says of one sample; None where it says nothing."""

    expected: float | None = None
    """ER."""
    interval: tuple[float, float] | None = None
    """The 95 % interval of ER."""
    risk: Floats | None = None
    """By record: E(1/F)."""
    uniques: float | None = None
    """tau_1: how many of the records are unique in the population."""


def _scenario(sample: Sample) -> Any:
    import tacita as tc

    household = {"household": "household"} if sample.households else {}
    return tc.Scenario(keys=sample.keys, weight="weight", missing="one_way", **household)


def benedetti_franconi(sample: Sample) -> Answer:
    """The individual risk from f and the weights of a key alone."""
    found = _individual(sample, "benedetti_franconi")
    keys = found[0].table
    alone = keys.sample_count == 1
    uniques = float((keys.sampling_probability * keys.records)[alone].sum())
    return _answer(*found, uniques)


def latent(sample: Sample) -> Answer:
    """The latent model: the other records say how many should have a key."""
    individual, er = _individual(sample, "latent")
    return _answer(individual, er, er.population_uniques)


def _individual(sample: Sample, model: str) -> tuple[Any, Any]:
    import tacita as tc
    from tacita.risk.identity.reidentification import Reidentification

    individual = tc.risk.individual_risk(sample.table, _scenario(sample), model=model)
    return individual, Reidentification.of(individual)


def _answer(individual: Any, er: Any, uniques: float | None) -> Answer:
    return Answer(er.expected, er.interval, individual.risk, uniques)


def loglinear(sample: Sample) -> Answer:
    """The log-linear model with the interactions that B_2 chooses, from complete records.

    The literature's tau_2 is about sample uniques. The same Poisson counts say as much of every other record, so ER is
    the sum over all of them: with v others expected, E(1/F | f) is the integral of s^(f-1) exp(-v (1-s)) over (0, 1).
    """
    from tacita.risk.population.loglinear_risk.loglinear_risk import loglinear_risk

    cells = np.prod([float(sample.table[name].drop_nulls().n_unique()) for name in sample.keys])
    if cells > MOST_CELLS:
        return Answer()
    found = loglinear_risk(sample.table, _scenario(sample), choose_by="B2")
    specification, table = found.estimate.specification, found.estimate.specification.table
    pi = specification.table.sampling_fraction
    others = found.estimate.fit.mean.reshape(-1)[table.index] * (1.0 - pi) / pi
    by_key = poisson_risk(table.count, others)
    return Answer(expected=float((by_key * table.count).sum()), uniques=found.tau_1)


def poisson_risk(f: Floats, others: Floats) -> Floats:
    """E(1/F) of keys with f records and a Poisson number of others in the population, of a mean of `others`.

    >>> poisson_risk(np.array([1.0, 2.0]), np.array([1e-12, 1e-12])).round(9).tolist()
    [1.0, 0.5]
    """
    place, weight = roots_legendre(40)
    # s = 1 - gone, with gone on a log scale: most of the integral lies where it is below 1 / (f + others).
    logarithm = np.log1p(others + f)[:, None] * (place + 1) / 2
    gone = np.expm1(logarithm) / (others + f)[:, None]
    inside = np.maximum(1.0 - gone, 0.0) ** (f - 1)[:, None] * np.exp(-others[:, None] * gone)
    slope = np.exp(logarithm) / (others + f)[:, None]
    return np.asarray((inside * slope) @ weight * np.log1p(others + f) / 2)


def superpopulation(sample: Sample) -> Answer:
    """Population uniques by the model that the rule of Dankar et al. takes, from complete records."""
    from tacita.risk.population.superpopulation.superpopulation import superpopulation as estimated

    return Answer(uniques=estimated(sample.table, _scenario(sample)).population_uniques)


def truth(sample: Sample) -> Answer:
    """A model that knows the truth: a control of the harness itself."""
    true = 1.0 / sample.F
    f, _ = _counts(sample)
    return Answer(true.sum(), (true.sum(), true.sum()), true, float(((f == 1) & (sample.F == 1)).sum()))


MODELS: dict[str, Callable[[Sample], Answer]] = {
    "benedetti_franconi": benedetti_franconi,
    "loglinear": loglinear,
    "superpopulation": superpopulation,
    "latent": latent,
    "truth": truth,
}
SHOWN = ("benedetti_franconi", "loglinear", "superpopulation", "latent")
"""The models in the tables."""
COMPLETE_ONLY = ("loglinear", "superpopulation")
"""Models that leave records with a missing key out: they are held against the truth about the others."""


# One sample ---------------------------------------------------------------------------------------------------------


def _counts(sample: Sample) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """f by record under the rule `one_way`, and which records are complete."""
    shown = sample.table.select(sample.keys)
    complete = ~shown.select(gap=_any_null(shown))["gap"].to_numpy()
    return populations.true_count(shown, shown), complete


def _any_null(shown: Any) -> Any:
    import polars as pl

    return pl.any_horizontal(pl.col(name).is_null() for name in shown.columns)


def compared(sample: Sample, models: Sequence[str]) -> dict[str, dict[str, float | None]]:
    """The figures of each model beside the true ones."""
    f, complete = _counts(sample)
    true = 1.0 / sample.F
    certain = (f == 1) & (sample.F == 1)
    out: dict[str, dict[str, float | None]] = {}
    for name in models:
        start = time.perf_counter()
        try:
            answer, failed = MODELS[name](sample), None
        except Exception as error:  # a model that gives up on a sample must not hide what the others say
            answer, failed = Answer(), f"{type(error).__name__}: {error}"[:200]
        about = complete if name in COMPLETE_ONLY else np.ones(len(true), dtype=bool)
        out[name] = {
            "seconds": time.perf_counter() - start,
            "records": float(len(true)),
            "share of uniques": float((f == 1).mean()),
            "true": float(true[about].sum()),
            "expected": answer.expected,
            "low": None if answer.interval is None else answer.interval[0],
            "high": None if answer.interval is None else answer.interval[1],
            "true uniques": float(certain[about].sum()),
            "uniques": answer.uniques,
            "auc": None if answer.risk is None else auc(answer.risk, true > LIMIT),
            "found": None if answer.risk is None else found_share(answer.risk, true > LIMIT),
            "failed": failed,  # type: ignore[dict-item]
        }
    return out


def auc(risk: Floats, risky: NDArray[np.bool_]) -> float | None:
    """The chance that a risky record has a higher risk than another, ties counting half; None without both kinds.

    >>> auc(np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False]))
    0.875
    """
    many = int(risky.sum())
    if not 0 < many < len(risk):
        return None
    ranks = rankdata(risk)[risky].sum()
    return float((ranks - many * (many + 1) / 2) / (many * (len(risk) - many)))


def found_share(risk: Floats, risky: NDArray[np.bool_]) -> float | None:
    """The share of the risky records whose risk is above the limit."""
    return float((risk[risky] > LIMIT).mean()) if risky.any() else None


# Cases --------------------------------------------------------------------------------------------------------------


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
            populations.accident_population(self.keys) if accident else populations.real_population(self.population)
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
        names = [name for name in populations.SOURCES if (name in populations.HELD_BACK) == held]
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
    there = populations.files()
    for name in sorted({case.population for case in wanted} & {name for name, path in there.items() if path is None}):
        print(f"  {name} is left out: {populations.SOURCES[name].file} is in none of the packages that could be had")
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
