"""Write the tables of `docs/accuracy.md` from the figures that `benchmarks.accuracy --keep FOLDER` left behind.

`python -m benchmarks.accuracy_page FOLDER` puts each table between its marks on the page. A case is shown with all
samples of it that both the usual and the latent model were tried on; how many these are is said in the first table.
What the folder does not hold stays as it stands on the page: other cases, other models, groups it has a part of.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from benchmarks import accuracy, measure
from benchmarks.accuracy import Case, Rows, Summary, column, summary
from benchmarks.model_answers import SHOWN
from benchmarks.real_files import HELD_BACK, SOURCES, real_population

PAGE = measure.ROOT / "docs" / "accuracy.md"
BOTH = ("benedetti_franconi", "latent")
USUAL, LATENT = BOTH

Done = dict[Case, Rows]
Table = list[tuple[str, ...]]


def kept(folder: Path) -> Done:
    """All cases with figures, and the rows of the samples that both models were tried on."""
    done: Done = {}
    for case in accuracy.cases(False):
        by_model = {
            name: json.loads(path.read_text()) for name in SHOWN if (path := _file(folder, case, name)).is_file()
        }
        if all(name in by_model for name in BOTH):
            seeds = sorted(set(by_model[USUAL]) & set(by_model[LATENT]), key=int)
            rows = [{name: found[seed] for name, found in by_model.items() if seed in found} for seed in seeds]
            if rows:
                done[case] = rows
    return done


def _file(folder: Path, case: Case, model: str) -> Path:
    return folder / accuracy.file_name(case, model)


def of_model(rows: Rows, model: str) -> Summary | None:
    """What a model did in the samples that it was tried on; None if in none."""
    tried = [row for row in rows if model in row]
    return summary(tried, model) if tried else None


def percent(value: float, *, sign: bool = False, digits: int = 1) -> str:
    """A share as a percentage, with a real minus sign."""
    return "" if np.isnan(value) else f"{100 * value:{'+' if sign else ''}.{digits}f}".replace("-", "−")


def bias(found: Summary | None) -> str:
    """The bias of a model, nothing where it has none."""
    return "" if found is None else percent(found.bias, sign=True)


def number(value: float) -> str:
    """A count without digits, with one where it is small."""
    return "" if np.isnan(value) else f"{value:,.0f}" if value >= 20 else f"{value:.1f}"


def mean(rows: Rows, model: str, what: str) -> float:
    """The mean of a figure over the samples."""
    values = column([row for row in rows if model in row], model, what)
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")


def short_group(case: Case) -> str:
    """The group of a case in the first table: real files by fraction too."""
    return f"{case.group}, {100 * case.size:g} %" if case.population not in ("household",) else case.group


def all_groups(done: Done) -> Table:
    """For each group of cases: samples, mean and worst absolute bias of both models, and coverage."""
    rows = [
        (
            "populations",
            "cases",
            "samples of each",
            "BF: mean off",
            "worst",
            "covered",
            "latent: mean off",
            "worst",
            "covered",
            "least in a case",
        )
    ]
    for group in dict.fromkeys(short_group(case) for case in done):
        some = [found for case, found in done.items() if short_group(case) == group]
        cells = [group, f"{len(some)}", _range(len(found) for found in some)]
        for model in BOTH:
            each = [summary(found, model) for found in some]
            off = np.array([abs(one.bias) for one in each])
            # Coverage over samples, not over cases: cases with few samples count for less.
            inside = np.concatenate([_inside(found, model) for found in some])
            cells += [percent(off.mean()), percent(off.max()), percent(inside.mean(), digits=0)]
        cells.append(percent(min(summary(found, LATENT).covered for found in some), digits=0))
        rows.append(tuple(cells))
    return rows


def _inside(rows: Rows, model: str) -> np.ndarray:
    true, low, high = (column(rows, model, what) for what in ("true", "low", "high"))
    return (low <= true) & (true <= high)


def _range(values: Iterable[int]) -> str:
    different = sorted(set(values))
    return f"{different[0]}" if len(different) == 1 else f"{different[0]} to {different[-1]}"


ER = ("uniques %", "true ER", "BF", "LL", "latent (sd)", "covered", "width %")


def er_cells(rows: Rows) -> tuple[str, ...]:
    """Uniques, the true ER, the bias of each model, and coverage and width of the latent model's interval."""
    found = summary(rows, LATENT)
    return (
        percent(mean(rows, LATENT, "share of uniques")),
        number(mean(rows, LATENT, "true")),
        bias(summary(rows, USUAL)),
        bias(of_model(rows, "loglinear")),
        bias(found) if np.isnan(found.sd) else f"{bias(found)} ({percent(found.sd)})",
        f"{_inside(rows, LATENT).sum()} of {len(rows)}",
        percent(found.width, digits=0),
    )


def by_case(title: str, wanted: Callable[[Case], bool]) -> Callable[[Done], Table]:
    """A table of expected re-identifications with one row for each wanted case."""

    def table(done: Done) -> Table:
        return [(title, *ER), *((case.name, *er_cells(rows)) for case, rows in done.items() if wanted(case))]

    return table


def record_figures(done: Done) -> Table:
    """tau_1 true and by each model, AUC and risky records found, for the invented populations and the open files."""
    head = ("case", "τ₁ true", "BF", "LL", "SP", "latent", "AUC BF", "AUC latent", "found % BF", "found % latent")
    rows: Table = [head]
    for case, found in done.items():
        if case.missing or case.design == "unequal":
            continue
        models = ("benedetti_franconi", "loglinear", "superpopulation", "latent")
        rows.append((
            case.name,
            number(mean(found, LATENT, "true uniques")),
            *(number(mean(found, model, "uniques")) for model in models),
            *(f"{mean(found, model, 'auc'):.3f}".replace("nan", "") for model in BOTH),
            *(percent(mean(found, model, "found"), digits=0) for model in BOTH),
        ))  # fmt: skip
    return rows


def real_files(done: Done) -> Table:
    """What the real files are: records, keys, and whether they were held back."""
    rows: Table = [("name", "what is in it", "records", "keys", "held back")]
    for name, source in SOURCES.items():
        if any(case.population == name for case in done):
            size = len(real_population(name).records)
            held = "yes" if name in HELD_BACK else ""
            rows.append((name, source.what, f"{size:,}", ", ".join(source.keys), held))
    return rows


def _real(held: bool, design: str) -> Callable[[Case], bool]:
    names = [name for name in SOURCES if (name in HELD_BACK) == held]
    return lambda case: case.population in names and case.design == design


TABLES: dict[str, Callable[[Done], Table]] = {
    "all": all_groups,
    "household": by_case("household demo", lambda case: case.population == "household"),
    "accident": by_case("accident survey", lambda case: case.population == "accident"),
    "files": real_files,
    "open": by_case("open to choices", _real(False, "simple")),
    "held back": by_case("held back", _real(True, "simple")),
    "unequal": by_case("unequal weights", lambda case: case.design == "unequal"),
    "records": record_figures,
}


def markdown(rows: Table) -> str:
    """A table in Markdown: the first column to the left, the others to the right."""
    rule = "| --- |" + " ---: |" * (len(rows[0]) - 1)
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], rule, *lines[1:]])


def standing(text: str) -> Table:
    """A table in Markdown read again.

    >>> standing(markdown([("case", "BF", "LL"), ("a", "1", "")]))
    [('case', 'BF', 'LL'), ('a', '1', '')]
    """
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    return [tuple(cell.strip() for cell in line.strip()[1:-1].split("|")) for line in lines]


def merged(fresh: Table, old: Table) -> Table:
    """Fresh rows in place of old ones of the same name, with what only the old ones have.

    A fresh row about fewer cases than the old one, such as a group that was begun, gives way to it.

    >>> merged([("case", "BF", "LL"), ("a", "2", "")], [("case", "BF", "LL"), ("a", "1", "7"), ("b", "3", "")])
    [('case', 'BF', 'LL'), ('a', '2', '7'), ('b', '3', '')]
    """
    if not old or old[0] != fresh[0]:
        return fresh
    by_name = {row[0]: row for row in fresh}
    counted = "cases" in fresh[0]

    def one(row: tuple[str, ...]) -> tuple[str, ...]:
        new = by_name.pop(row[0], row)
        if counted and row is not old[0] and int(new[1]) < int(row[1]):
            return row
        return tuple(here or before for here, before in zip(new, row, strict=True))

    return [*map(one, old), *by_name.values()]


def main() -> None:
    """Write the tables into the page."""
    done = kept(Path(sys.argv[1]))
    text = PAGE.read_text(encoding="utf-8")
    for name, table in TABLES.items():
        mark = re.compile(rf"(<!-- accuracy: {name} -->\n)(.*?)(\n<!-- end of table -->)", re.DOTALL)
        there = mark.search(text)
        rows = merged(table(done), standing(there[2] if there else ""))
        text, found = mark.subn(lambda match, rows=rows: f"{match[1]}\n{markdown(rows)}\n{match[3]}", text)
        print(f"{name}: {len(rows) - 1} rows" if found else f"{name}: no such mark on the page")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
