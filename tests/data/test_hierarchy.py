"""Household and person files: joined by hand, taken apart again, and what must be refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from tacita.check import TacitaError, TacitaWarning
from tacita.data import Data, Variable
from tacita.data.files import write
from tacita.data.households import join_households, split_households

HOUSEHOLDS = pl.DataFrame({"hid": [1, 2, 3], "region": ["north", "south", None], "rooms": [4, 2, 7]})
PERSONS = pl.DataFrame({"pid": [1, 2, 3, 4], "hid": [2, 1, 2, 3], "age": [34, 71, 6, None]})


def refusal(action) -> str:
    with pytest.raises(TacitaError) as caught:
        action()
    return str(caught.value)


def test_joined_by_hand():
    joined = join_households(HOUSEHOLDS, PERSONS, on="hid")
    assert joined.columns == ("pid", "hid", "age", "region", "rooms")
    assert joined.table.rows() == [
        (1, 2, 34, "south", 2),
        (2, 1, 71, "north", 4),
        (3, 2, 6, "south", 2),
        (4, 3, None, None, 7),
    ]


def test_split_by_hand():
    joined = join_households(HOUSEHOLDS, PERSONS, on="hid")
    households, persons = split_households(joined, on="hid", household_variables=["region", "rooms"])
    assert households.table.rows() == [(2, "south", 2), (1, "north", 4), (3, None, 7)]
    assert_frame_equal(persons.table, PERSONS)


def test_what_is_known_goes_along():
    above = Data.of(HOUSEHOLDS, {"region": Variable(label="Region", missing=("x",)), "hid": Variable(label="House")})
    below = Data.of(PERSONS, {"age": Variable(label="Age", missing_ranges=((-9, -1),)), "hid": Variable(label="Id")})
    joined = join_households(above, below, on="hid")
    assert joined.variables == {
        "region": above.variable("region"),
        "age": below.variable("age"),
        "hid": Variable(label="Id"),
    }
    households, persons = split_households(joined, on="hid", household_variables=["region", "rooms"])
    assert households.variables == {"hid": Variable(label="Id"), "region": above.variable("region")}
    assert persons.variables == {"hid": Variable(label="Id"), "age": below.variable("age")}


def test_persons_keep_their_record_numbers():
    below = Data(PERSONS, numbers_of_records=np.array([9, 7, 5, 3]))
    joined = join_households(HOUSEHOLDS, below, on="hid")
    assert joined.record.tolist() == [9, 7, 5, 3]
    households, persons = split_households(joined, on="hid", household_variables=["region"])
    assert persons.record.tolist() == [9, 7, 5, 3]
    assert households.record.tolist() == [1, 2, 3]


def test_any_table_and_paths(tmp_path):
    file = write(HOUSEHOLDS, tmp_path / "households.sav")
    for above, below in ((HOUSEHOLDS.to_pandas(), PERSONS.to_arrow()), (file, PERSONS)):
        found = join_households(above, below, on="hid").table
        assert found["rooms"].to_list() == [2, 4, 2, 7]


def test_inputs_stay_as_they_are():
    above, below = HOUSEHOLDS.to_pandas(), PERSONS.to_pandas()
    kept = above.copy(), below.copy()
    split_households(join_households(above, below, on="hid"), on="hid", household_variables=["region"])
    pd.testing.assert_frame_equal(above, kept[0])
    pd.testing.assert_frame_equal(below, kept[1])


def test_persons_without_household():
    below = PERSONS.with_columns(hid=pl.Series([2, 1, 8, 9]))
    assert refusal(lambda: join_households(HOUSEHOLDS, below, on="hid")) == (
        "2 persons have no household; add it or leave them out."
    )
    below = PERSONS.with_columns(hid=pl.Series([2, 1, 3, 9]))
    assert (
        refusal(lambda: join_households(HOUSEHOLDS, below, on="hid"))
        == "1 person has no household; add it or leave them out."
    )


def test_households_without_persons_are_left_out_with_a_warning():
    with pytest.warns(TacitaWarning) as caught:
        joined = join_households(HOUSEHOLDS, PERSONS.head(1), on="hid")
    assert [str(each.message) for each in caught] == ["left out of the joined file: 2 households without persons."]
    assert caught[0].filename == __file__
    assert joined.table["region"].to_list() == ["south"]


def test_households_twice():
    above = pl.concat([HOUSEHOLDS, HOUSEHOLDS.head(2)])
    assert refusal(lambda: join_households(above, PERSONS, on="hid")) == (
        "households must occur once each; 2 records repeat the identifier of another."
    )


def test_missing_identifiers():
    above = HOUSEHOLDS.with_columns(hid=pl.Series([1, 2, None]))
    below = PERSONS.with_columns(hid=pl.Series([1, None, None, 2]))
    assert refusal(lambda: join_households(above, PERSONS, on="hid")) == (
        "the identifier 'hid' is missing in 1 record of households; complete it or leave them out."
    )
    assert refusal(lambda: join_households(HOUSEHOLDS, below, on="hid")) == (
        "the identifier 'hid' is missing in 2 records of persons; complete it or leave them out."
    )
    assert refusal(lambda: split_households(below, on="hid", household_variables=["age"])) == (
        "the identifier 'hid' is missing in 2 records of data; complete it or leave them out."
    )


def test_identifiers_of_different_kinds():
    below = PERSONS.with_columns(pl.col("hid").cast(pl.String))
    assert refusal(lambda: join_households(HOUSEHOLDS, below, on="hid")) == (
        "identifier 'hid' must be of one type in both files; it is numbers in the households and text in the persons."
    )


@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt64, pl.Float64, pl.Float32])
def test_numbers_of_any_width_are_one_kind(kind):
    below = PERSONS.with_columns(pl.col("hid").cast(kind))
    assert join_households(HOUSEHOLDS, below, on="hid").table["rooms"].to_list() == [2, 4, 2, 7]


def test_leading_zeros_tell_households_apart():
    above = pl.DataFrame({"hid": ["01", "1"], "rooms": [1, 2]})
    below = pl.DataFrame({"hid": pl.Series(["1", "01", "1"], dtype=pl.Categorical)})
    assert join_households(above, below, on="hid").table["rooms"].to_list() == [2, 1, 2]


def test_identifier_of_several_variables():
    above = pl.DataFrame({"psu": ["a", "a", "b"], "no": [1, 2, 1], "rooms": [3, 4, 5]})
    below = pl.DataFrame({"no": [1, 1, 2, 2], "psu": ["b", "a", "a", "a"], "age": [1, 2, 3, 4]})
    joined = join_households(above, below, on=["psu", "no"])
    assert joined.table["rooms"].to_list() == [5, 3, 4, 4]
    households, persons = split_households(joined, on=("psu", "no"), household_variables="rooms")
    assert households.table.rows() == [("b", 1, 5), ("a", 1, 3), ("a", 2, 4)]
    assert_frame_equal(persons.table, below)


def test_a_variable_in_both_files():
    same = PERSONS.with_columns(rooms=pl.Series([2.0, 4.0, 2.0, 7.0]))
    assert join_households(HOUSEHOLDS, same, on="hid").table["rooms"].to_list() == [2.0, 4.0, 2.0, 7.0]
    other = PERSONS.with_columns(rooms=pl.Series([2, 4, None, 8]))
    assert refusal(lambda: join_households(HOUSEHOLDS, other, on="hid")) == (
        "variable 'rooms' is in both files and differs for 2 persons; leave it out of one."
    )
    text = PERSONS.with_columns(rooms=pl.Series(["2", "4", "2", "7"]))
    assert refusal(lambda: join_households(HOUSEHOLDS, text, on="hid")) == (
        "variable 'rooms' is in both files in different types; leave it out of one."
    )


def test_household_variables_must_be_constant():
    joined = join_households(HOUSEHOLDS, PERSONS, on="hid")
    one = joined.with_columns({"region": ["south", "north", None, None]})
    assert refusal(lambda: split_households(one, on="hid", household_variables=["rooms", "region"])) == (
        "household variable 'region' differs within 1 household; give all persons of a household one value, "
        "or leave it with the persons."
    )


def test_names_that_are_not_there():
    assert refusal(lambda: join_households(HOUSEHOLDS, PERSONS, on="hidd")) == (
        "on (households) not in the data: 'hidd'. Did you mean 'hid'?"
    )
    assert refusal(lambda: join_households(HOUSEHOLDS, PERSONS, on=[])) == (
        "on must name the identifier of the household; got none."
    )
    assert refusal(lambda: split_households(PERSONS, on="hid", household_variables=["agee"])) == (
        "household_variables not in the data: 'agee'. Did you mean 'age'?"
    )
    assert refusal(lambda: split_households(PERSONS, on="hid", household_variables=["hid", "age"])) == (
        "household_variables must not name the identifier 'hid'; both files keep it."
    )


@given(
    members=st.lists(st.integers(1, 4), min_size=1, max_size=12),
    seed=st.integers(0, 2**32 - 1),
    text=st.booleans(),
)
def test_there_and_back(members, seed, text):
    shuffled = np.random.default_rng(seed)
    ids = shuffled.permutation(np.arange(1000, 1000 + len(members)))
    households = pl.DataFrame({"hid": ids, "rooms": shuffled.integers(0, 3, len(members))})
    persons = pl.DataFrame({"hid": shuffled.permutation(np.repeat(ids, members))})
    persons = persons.with_columns(age=pl.Series(shuffled.integers(0, 99, len(persons))))
    if text:
        households, persons = (each.with_columns(pl.col("hid").cast(pl.String)) for each in (households, persons))
    joined = join_households(households, persons, on="hid")
    # Brute force: look every household up.
    rooms = dict(households.iter_rows())
    assert joined.table["rooms"].to_list() == [rooms[each] for each in persons["hid"]]
    back, below = split_households(joined, on="hid", household_variables=["rooms"])
    assert_frame_equal(below.table, persons)
    assert_frame_equal(back.table.sort("hid"), households.sort("hid"))
    assert back.table["hid"].to_list() == persons["hid"].unique(maintain_order=True).to_list()
