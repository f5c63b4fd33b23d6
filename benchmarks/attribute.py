"""Attribute disclosure (t-closeness, l-diversity), beside the same by a loop over groups."""

from __future__ import annotations

from typing import Any

from benchmarks import measure


def _table(records: int) -> tuple[Any, tuple[str, ...]]:
    from benchmarks import survey

    return survey.wide_survey(records), survey.MORE_KEYS[:4]


def _scenario(names: tuple[str, ...], sensitive: str) -> Any:
    import tacita as tc

    return tc.Scenario(keys=names, sensitive=[sensitive])


def closeness(records: int, scale: str) -> dict[str, Any]:
    """t-closeness of one sensitive variable."""
    import tacita as tc

    table, names = _table(records)
    sensitive = table.columns[6]
    data = tc.Data.of(table, {sensitive: tc.Variable(scale=scale)})  # type: ignore[arg-type]
    scenario = _scenario(names, sensitive)
    times, result = measure.timed(lambda: tc.risk.t_closeness(data, scenario))
    return {**times, "t": result.t[sensitive], "groups": len(result.table.codes)}


def diversity(records: int) -> dict[str, Any]:
    """l-diversity of one sensitive variable: distinct, entropy, recursive."""
    import tacita as tc

    table, names = _table(records)
    data, scenario = tc.Data.of(table), _scenario(names, table.columns[6])
    times, _ = measure.timed(lambda: tc.risk.l_diversity(data, scenario))
    return times


def loop(records: int) -> dict[str, Any]:
    """Nominal t-closeness by a loop over groups of a pandas frame."""
    table, names = _table(records)
    frame = table.to_pandas()
    sensitive = table.columns[6]

    def greatest() -> float:
        file = frame[sensitive].value_counts(normalize=True)
        t = 0.0
        for _, group in frame.groupby(list(names), observed=True)[sensitive]:
            shares = group.value_counts(normalize=True).reindex(file.index, fill_value=0.0)
            t = max(t, 0.5 * float((shares - file).abs().sum()))
        return t

    times, t = measure.timed(greatest, repeats=0)
    return {**times, "t": t}


CASES = {"closeness": closeness, "diversity": diversity, "loop": loop}


def report(quick: bool) -> None:
    """Print the table."""
    size = 20_000 if quick else 100_000
    ours = measure.run_case("attribute", "closeness", records=size, scale="nominal")
    ordered = measure.run_case("attribute", "closeness", records=size, scale="ordinal")
    naive = measure.run_case("attribute", "loop", records=size)
    target = None if quick else 0.2
    rows = [
        measure.HEAD,
        measure.row("t-closeness, nominal", size, ours, target=target),
        measure.row("t-closeness, ordered", size, ordered, target=target),
        measure.row("l-diversity, three kinds", size, measure.run_case("attribute", "diversity", records=size)),
        measure.row("loop over groups (pandas)", size, naive, tacita=ours),
    ]
    notes = []
    if "failed" not in ours and "failed" not in naive:
        same = "the same" if abs(ours["t"] - naive["t"]) < 1e-9 else "NOT the same"
        notes = [f"4 keys, {ours['groups']:,} groups; the loop gives {same} t"]
    measure.show("Attribute disclosure", rows, notes)


if __name__ == "__main__":
    measure.main(CASES, report)
