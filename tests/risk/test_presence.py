from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc

code = st.sampled_from(["a", "b", "c"])


@given(st.lists(st.tuples(code, code), min_size=1, max_size=20), st.lists(st.tuples(code, code), max_size=20))
def test_with_a_register(sample: list[tuple[str, str]], others: list[tuple[str, str]]) -> None:
    """Register = file plus others: F by counting, presence f/F, 0 where the register has a key that the file lacks."""
    population = sample + others
    f, F = Counter(sample), Counter(population)
    schema = {"p": pl.String, "q": pl.String}
    frames = [pl.DataFrame(rows, schema=schema, orient="row") for rows in (sample, population)]
    found = tc.risk.presence(frames[0], tc.Scenario(keys=["p", "q"]), register=frames[1])
    assert found.k_map == min(F[key] for key in f)
    assert found.delta == (min(f[key] / F[key] for key in F), max(f[key] / F[key] for key in F))
    assert found.to_frame()["presence"].to_list() == [f[key] / F[key] for key in sample]
    assert found.absent == len(set(F) - set(f))


def test_estimated_from_weights() -> None:
    frame = pl.DataFrame({"region": ["north", "north", "south"], "w": [4.0, 6.0, 5.0]})
    found = tc.risk.presence(frame, tc.Scenario(keys=["region"], weight="w"))
    assert (found.k_map, found.delta, found.absent) == (5.0, (0.2, 0.2), None)
    assert str(found) == (
        "k-map: every key is shared by 5 or more units of the population (estimated); "
        "delta-presence: who has a key is in the file with probability 20 % to 20 %"
    )


def test_without_anything_the_file_is_the_population() -> None:
    found = tc.risk.presence(pl.DataFrame({"a": [1, 1, 2]}), tc.Scenario(keys=["a"]))
    assert (found.k_map, found.delta) == (1.0, (1.0, 1.0))


def test_weights_below_one_never_give_more_than_certainty() -> None:
    frame = pl.DataFrame({"a": [1, 1], "w": [0.5, 0.5]})
    with pytest.warns(tc.TacitaWarning, match="below 1"):
        found = tc.risk.presence(frame, tc.Scenario(keys=["a"], weight="w"))
    assert found.delta == (1.0, 1.0)
