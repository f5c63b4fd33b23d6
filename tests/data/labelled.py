"""Tables with labels, drawn for the formats that can carry them."""

import datetime
import string

import polars as pl
from hypothesis import strategies as st

from tacita.data import Data, Variable

LETTERS = st.characters(exclude_characters="\0\ufffe\uffff", exclude_categories=["Cs"])
EXACT = 2**53


def texts(most: int = 12):
    plain = st.one_of(
        st.text(LETTERS, max_size=most), st.sampled_from(["007", "0", "-01", "é", "日本", "=1+1", "a\nb"])
    )
    return plain.map(lambda text: text.rstrip(" "))


def values(kind: str, largest: float, first_year: int):
    """Values of a kind such as the format can carry."""
    moments = {"min_value": datetime.datetime(first_year, 1, 2), "max_value": datetime.datetime(2200, 1, 1)}
    milli = {"date": lambda moment: moment.date()}.get(
        kind, lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    )
    return {
        "whole": st.one_of(st.integers(-9, 9), st.integers(-EXACT, EXACT)),
        "number": st.one_of(
            st.floats(-largest, largest, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-70),
            st.integers(-5, 5).map(float),
        ),
        "text": texts(),
        "date": st.datetimes(**moments).map(milli),
        "datetime": st.datetimes(**moments).map(milli),
        "time": st.datetimes(**moments).map(milli).map(lambda moment: moment.time()),
    }[kind]


TYPES = {
    "whole": pl.Int64,
    "number": pl.Float64,
    "text": pl.String,
    "date": pl.Date,
    "datetime": pl.Datetime("us"),
    "time": pl.Time,
}


def labels(most: int):
    return st.text(LETTERS, min_size=1, max_size=most).map(str.strip).filter(bool)


@st.composite
def tables(draw, *, largest: float = 1e300, first_year: int = 1600, height: int | None = None):
    """Tables of every kind, with missing values; the last record has a value of every variable."""
    kinds = draw(st.lists(st.sampled_from(list(TYPES)), min_size=1, max_size=6))
    rows = draw(st.integers(0, 5)) if height is None else height - 1
    columns = []
    for at, kind in enumerate(kinds):
        some = values(kind, largest, first_year)
        drawn = draw(st.lists(st.none() | some, min_size=rows, max_size=rows))
        last = draw(some.filter(lambda value: value != ""))
        # An empty text is a missing one in all of these formats.
        made = [None if value == "" else value for value in [*drawn, last]]
        columns.append(pl.Series(f"{string.ascii_lowercase[at]}_{kind}", made, dtype=TYPES[kind]))
    return pl.DataFrame(columns)


@st.composite
def described(draw, table: pl.DataFrame, *, numeric: bool = True, text: bool = True, missing: bool = True):
    """What may be known of the variables of a table: label, value labels and missing codes of its values and others."""
    known = {}
    for name in table.columns:
        said: dict = {"label": draw(st.just("") | labels(30))}
        kind = name.partition("_")[2]
        if (kind == "whole" and numeric) or (kind == "text" and text):
            other = st.integers(-99, 99) if kind == "whole" else st.text(string.ascii_letters, min_size=1, max_size=8)
            present = [
                each for each in table[name].drop_nulls().to_list() if kind == "whole" or len(each.encode()) <= 8
            ]
            codes = st.one_of(other, st.sampled_from(present)) if present else other
            if kind == "whole":
                codes = codes.filter(lambda code: abs(code) < 2**31 - 100)
            said["value_labels"] = draw(st.dictionaries(codes, labels(20), max_size=4))
            if missing:
                said["missing"] = tuple(draw(st.lists(codes, max_size=3, unique=True)))
        variable = Variable(**said)
        if variable != Variable():
            known[name] = variable
    return Data(table, known)
