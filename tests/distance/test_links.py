"""The nearest and second nearest records with all ties, against the matrix of all distances."""

import numpy as np
import pytest
import slow_linkage as slow
from hypothesis import given
from hypothesis import strategies as st

from tacita.distance.distances import Metric, euclidean, gower, manhattan
from tacita.distance.equal_rows import coincident, numbered, row_groups, shared_links
from tacita.distance.links import EQUAL, nearest_two, own_distances

METRICS = {
    "euclidean": euclidean(np.array([1.0, 0.3])),
    "manhattan": manhattan(np.array([1.0, 0.3])),
    "gower": gower(np.array([4.0, 3.0]), np.array([False, True])),
    "nothing counts": euclidean(np.zeros(2)),
}
every_metric = pytest.mark.parametrize("name", METRICS)
value = st.sampled_from([0.0, 0.1, 0.3, 1.0, 2.0, 4.0, -0.0])
rows = st.lists(st.tuples(value, value), min_size=1, max_size=40)


def assert_same_as_all_pairs(y: np.ndarray, x: np.ndarray, metric: Metric) -> None:
    found = nearest_two(y, x, metric)
    for i, away in enumerate(slow.distances(y, x, metric)):
        near = away <= away.min() * (1 + EQUAL)
        assert found.distance[i] == away.min()
        assert found.row[i] == np.flatnonzero(near)[0]
        assert found.ties[i] == near.sum()
        others = away[~near]
        if not len(others):
            assert (found.second_distance[i], found.second_ties[i]) == (np.inf, 0)
            continue
        assert found.second_distance[i] == others.min()
        assert found.second_ties[i] == (others <= others.min() * (1 + EQUAL)).sum()


@every_metric
@given(rows, rows)
def test_against_all_pairs(name: str, first: list[tuple[float, float]], second: list[tuple[float, float]]) -> None:
    assert_same_as_all_pairs(np.array(first), np.array(second), METRICS[name])


@every_metric
@pytest.mark.parametrize("kind", ["any", "ties", "zeros", "constant"])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 2), (500, 500), (100, 400)])
def test_larger_files(name: str, kind: str, n: int, m: int) -> None:
    draw = np.random.default_rng(5)
    y, x = draw.normal(size=(n, 2)), draw.normal(size=(m, 2))
    if kind == "ties":
        y, x = np.round(2 * y), np.round(2 * x)
    if kind == "zeros":
        y[draw.random(n) < 0.6], x[draw.random(m) < 0.6] = 0.0, 0.0
    if kind == "constant":
        y[:, 0] = x[:, 0] = 3.0
    assert_same_as_all_pairs(y, x, METRICS[name])


@every_metric
def test_own_distances_are_those_of_the_matrix(name: str) -> None:
    draw = np.random.default_rng(6)
    y, x = draw.normal(size=(50, 2)), draw.normal(size=(50, 2))
    assert own_distances(y, x, METRICS[name]).tolist() == slow.distances(y, x, METRICS[name]).diagonal().tolist()


# Equal rows.


@given(rows, rows)
def test_groups_of_equal_rows(first: list[tuple[float, float]], second: list[tuple[float, float]]) -> None:
    x, y = np.array(first), np.array(second)
    of_x, of_y = row_groups(x, y)
    both, groups = [*first, *second], [*of_x.tolist(), *of_y.tolist()]
    for i, one in enumerate(both):
        assert [group == groups[i] for group in groups] == [other == one for other in both]
    place = numbered(of_x)
    assert [place[i] for i in range(len(first))] == [first[:i].count(first[i]) for i in range(len(first))]


@given(rows, rows)
def test_as_many_equal_rows_as_there_are_become_partners(
    first: list[tuple[float, float]], second: list[tuple[float, float]]
) -> None:
    partner = coincident(np.array(first), np.array(second))
    linked = [(i, j) for i, j in enumerate(partner.tolist()) if j >= 0]
    assert all(first[i] == second[j] for i, j in linked)
    assert len({j for _, j in linked}) == len(linked)
    assert len(linked) == sum(min(first.count(each), second.count(each)) for each in set(first))


@given(st.data(), st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=1, max_size=7))
def test_shared_links_are_means_over_orders(data: st.DataObject, values: list[float]) -> None:
    """Over all ways to tell equal rows apart, each as likely: by drawing them."""
    other = data.draw(st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=len(values), max_size=len(values)))
    x, y = np.array(values)[:, None], np.array(other)[:, None]
    n = len(values)
    partner = np.array(data.draw(st.permutations(range(n))))
    own = np.array(data.draw(st.permutations(range(n))))
    known = np.flatnonzero(own >= 0)
    candidates, alone, probability = shared_links(x, y, partner, (known, own[known]))
    for i in range(n):
        equal = [h for h in range(n) if other[h] == other[i]]
        groups = {values[partner[h]] for h in equal}
        assert candidates[i] == sum(values.count(group) for group in groups)
        assert alone[i] == (len(equal) == 1)
        # A row of the group of i at random has the link of i; a row of the linked group at random is the one linked.
        hits = sum(values[partner[h]] == values[own[i]] for h in equal)
        assert probability[i] == pytest.approx(hits / len(equal) / values.count(values[own[i]]))
