"""Whether the weight of a release tells a protected key: asked of few columns, to try how far it must be rounded."""

from __future__ import annotations

from tacita.data import Data
from tacita.risk.release.reconstruction.attacks import files_of
from tacita.risk.release.reconstruction.cells import protected_variables
from tacita.risk.release.reconstruction.finer import beside_another_key, finer_columns, narrowing_columns
from tacita.scenario import Scenario


def weight_tells(original: Data, released: Data, scenario: Scenario) -> bool:
    """Whether the weight of a release tells some key more finely than the release does.

    >>> import polars as pl
    >>> people = Data.of(pl.DataFrame({"town": ["a", "b", "c", "d"] * 9, "w": [11.0, 12.0, 13.0, 14.0] * 9}))
    >>> halves = people.with_columns({"town": pl.Series(["ab", "ab", "cd", "cd"] * 9)})
    >>> who = Scenario(keys=["town"], weight="w")
    >>> weight_tells(people, halves, who), weight_tells(people, halves.with_columns({"w": [10.0] * 36}), who)
    (True, False)
    """
    files = files_of(original, released, scenario, None, ())
    keys = scenario.all_keys
    chosen = tuple(protected_variables(files, keys))
    finer = finer_columns(files, chosen, keys)
    if any(scenario.weight in each.columns for each in finer.values()):
        return True
    besides = (narrowing_columns(files, chosen, keys), beside_another_key(files, chosen, keys, (), finer))
    return any(scenario.weight in each.columns for found in besides for each in found.values())
