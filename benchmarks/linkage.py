"""Numeric keys: critical distance, neighbours and nearest links of every record, beside the matrix of all pairs."""

from __future__ import annotations

from typing import Any

from benchmarks import measure

ALPHA = 0.05
PAIRS = 20_000
"""So many records have all their pairs compared by the naive way, in more than 6 GB; more would not fit."""
TARGETS = {(100_000, 2): 3.0, (100_000, 4): 15.0, (1_000_000, 2): 60.0}
"""Seconds on two cores, by records and keys."""


def _files(records: int, keys: int, kind: str) -> tuple[Any, Any]:
    """Released and original records: skewed sizes that grow together, on the log scale; noise of 15 %."""
    import numpy as np

    draw = np.random.default_rng(1)
    size = draw.normal(size=(records, 1))
    x = 8.0 + 1.5 * size + 0.8 * draw.normal(size=(records, keys))
    y = x + np.log1p(0.15 * np.abs(draw.normal(size=x.shape)))
    if kind == "whole":  # whole numbers with many ties
        x, y = np.round(10.0 * x), np.round(10.0 * y)
    elif kind == "zeros":  # half of the records have zeros only
        zero = draw.random(records) < 0.5
        x[zero], y[zero] = 0.0, 0.0
    return y, x


def links(records: int, keys: int, kind: str = "noise", repeats: int = 1) -> dict[str, Any]:
    """Everything that the confidentiality plot needs, exactly."""
    from tacita.distance.critical import critical_distance
    from tacita.distance.neighbours import nearest

    y, x = _files(records, keys, kind)
    times, (critical, near) = measure.timed(lambda: (critical_distance(y, x, ALPHA), nearest(y, x)), repeats=repeats)
    return {**times, "delta": critical.delta[0], "neighbours": float(critical.neighbours.mean()),
            "correct": float(near.correct.mean())}  # fmt: skip


def likelihood(records: int, keys: int) -> dict[str, Any]:
    """Densities of z over true links and other pairs, and the neighbours by their ratio."""
    from tacita.distance.densities import densities, likely_neighbours
    from tacita.distance.sweep import pairs

    y, x = _files(records, keys, "noise")

    def run() -> tuple[Any, Any]:
        given = pairs(y, x)
        found = densities(given, ALPHA)
        return found, likely_neighbours(given, found.region)

    times, (found, (count, inside)) = measure.timed(run, repeats=1)
    reached = float(count.sum() - inside.sum()) / (records * (records - 1))
    return {**times, "tau": found.tau, "width": found.width, "reached": reached}


def all_pairs(records: int, keys: int) -> dict[str, Any]:
    """The definition, by NumPy: the matrix of all z, its quantile, counts and minima; checked against Tacita."""
    import numpy as np

    from tacita.distance.critical import critical_distance, most_counted
    from tacita.distance.neighbours import nearest

    y, x = _files(records, keys, "noise")
    norm = np.sqrt(np.sum([column * column for column in y.T], axis=0))

    def run() -> tuple[float, Any, Any]:
        z, first, tied = np.empty((records, records)), np.empty(records, np.int64), np.empty(records, np.int64)
        for begin in range(0, records, 1000):
            rows = slice(begin, begin + 1000)
            total = np.zeros((len(y[rows]), records))
            for j in range(keys):
                total += (y[rows, j, None] - x[:, j]) ** 2
            first[rows], tied[rows] = total.argmin(axis=1), (total == total.min(axis=1, keepdims=True)).sum(axis=1)
            np.divide(np.sqrt(total), norm[rows, None], out=z[rows])
        true = z.diagonal().copy()
        np.fill_diagonal(z, np.inf)  # so that the own originals come last
        wanted = most_counted(ALPHA, records * (records - 1))
        others = np.partition(z, (wanted - 1, wanted), axis=None)[[wanted - 1, wanted]]
        delta = others[0] + (others[1] - others[0]) / 2
        return float(delta), (z < delta).sum(axis=1) + (true < delta), (first, tied)

    times, (delta, count, (first, tied)) = measure.timed(run, repeats=0)
    critical, near = critical_distance(y, x, ALPHA), nearest(y, x)
    same = delta == critical.delta[0] and np.array_equal(count, critical.neighbours)
    return {**times, "same": bool(same and np.array_equal(first, near.row[:, 0]) and np.array_equal(tied, near.ties))}


CASES = {"links": links, "likelihood": likelihood, "all_pairs": all_pairs}


def report(quick: bool) -> None:
    """Print the tables."""
    large, pairs = (100_000, 5_000) if quick else (1_000_000, PAIRS)
    sizes = [(pairs, 2), (100_000, 1), (100_000, 2), (100_000, 4), (large, 1), (large, 2)]
    results = {
        case: measure.run_case("linkage", "links", records=case[0], keys=case[1]) for case in dict.fromkeys(sizes)
    }
    rows = [measure.HEAD]
    rows += [
        measure.row(_name(keys), records, result, target=TARGETS.get((records, keys)))
        for (records, keys), result in results.items()
    ]
    for kind, name in (("whole", "2 keys, whole numbers"), ("zeros", "2 keys, half of the records all zero")):
        rows.append(measure.row(name, large, measure.run_case("linkage", "links", records=large, keys=2, kind=kind)))
    naive = measure.run_case("linkage", "all_pairs", records=pairs, keys=2)
    rows.append(measure.row("  all pairs, 2 keys", pairs, naive, tacita=results[pairs, 2]))
    notes = [f"same figures from all pairs of {pairs:,} records: {'yes' if naive.get('same') else 'NO'}"]
    notes += [_growth(keys, results) for keys in (2, 4)]
    measure.show("Critical distance, neighbours, nearest links: all exact", rows, notes)
    _show_likelihood(quick)


def _name(keys: int) -> str:
    return f"{keys} key{'s' if keys > 1 else ''}"


def _growth(keys: int, known: dict[tuple[int, int], dict[str, Any]]) -> str:
    times = {100_000: known[100_000, keys]}
    for other in (25_000, 50_000, 200_000):
        times[other] = measure.run_case("linkage", "links", records=other, keys=keys)
    found = {n: result["processor"] for n, result in times.items() if "processor" in result}
    return f"{_name(keys)}: " + measure.growth(found)


def _show_likelihood(quick: bool) -> None:
    rows, notes = [measure.HEAD], []
    for records in (2_000, 20_000) if quick else (2_000, 20_000, 100_000):
        result = measure.run_case("linkage", "likelihood", records=records, keys=2)
        rows.append(measure.row(_name(2), records, result))
        if "failed" not in result:
            notes.append(
                f"{records:,} records: bins {result['width']:g} wide on the log scale, "
                f"t > tau for {100 * result['reached']:.4f} % of the pairs of different records"
            )
    measure.show("Likelihood ratio: densities of z, tau, and the neighbours by it", rows, notes)


if __name__ == "__main__":
    measure.main(CASES, report)
