"""Columns that look like direct identifiers though nobody declared them: names, numbers, addresses, free text.

Only the names of columns and what they look like are told, never a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tacita import frame
from tacita.data.check_digits import LEAST, check_digit_scheme
from tacita.data.data import Data

if TYPE_CHECKING:
    from tacita.scenario import Scenario

SAMPLE_SIZE = 500
"""So many values of a column are looked at, from all over the file."""
FEW_VALUES = 20
"""Up to so many different values are categories, whatever the column is called."""
MAJORITY = 0.5
"""The share of values that must look like something."""
NEARLY_UNIQUE = 0.9
"""The share of records with a text of their own from which a column counts as identifying."""
SHOWN = 20
"""So many columns are named: whoever is to declare them must know which they are."""
ENOUGH = 10
"""Records needed to say that nearly all differ."""

NAME_PATTERNS = {
    "names": r"(first|last|middle|maiden|family|given|full|sur|fore|person|respondent|patient|client|employee|"
    r"customer|firm|company|enterprise|vor|nach)? ?names?|vorname|nachname|nom|prenom|apellidos?|nombre|cognome",
    "e-mail addresses": r".*\be ?mail\b.*|mail",
    "telephone numbers": r".*\b(tele)?phone( (number|no|nr))?|(tele)?phone.*|(mobile|tel|fax)( (number|no|nr))?",
    "addresses": r".*\baddress( line)?( \d)?|street( name)?|adresse|anschrift|strasse|house number|"
    r"post ?code full|latitude|longitude|lat|lon|lng|gps|coordinates",
    "personal numbers": r".*\b(ssn|nin|nhs|passport|iban|bic|vat|tin)\b.*|social security.*|national id.*|"
    r"(tax|person|personal|patient|insurance|licence|license|account|card|register|registration|record|case) ?"
    r"(id|no|nr|num|number)|(.* )?id|(p|hh|pat|case|subj|resp)?id ?(num|no|nr|number)|seqn|"
    r"(seq|sequence|serial) ?(no|nr|num|number)|uid|uuid|pid|pin|guid|identifier|hh ?id|hid|.*(nr|nummer|numero)",
    "network addresses": r"ip|ip ?address|mac|mac ?address|url|username|user name|login",
}
"""What a column is called that holds direct identifiers, in small letters with blanks between words."""
LABEL = r".*\b(identifier|identification (number|no|code)|id (number|no)|(serial|sequence) (number|no)|unique id)\b.*"
"""What the label of a column says that holds numbers of persons."""
PLACES = r"latitude|longitude|lat|lon|lng|gps.*"
"""Addresses that have a fraction."""
NUMERIC_IDENTIFIERS = ("telephone numbers", "personal numbers", "addresses")
"""Those that can be numbers."""

VALUE_PATTERNS = {
    "e-mail addresses": r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}",
    "telephone numbers": r"(\+|00)[\d\s()./-]{7,20}|\(?0\d{1,5}\)?[\s/-]\d[\d\s/-]{3,14}\d",
    "network addresses": r"(\d{1,3}\.){3}\d{1,3}|https?://\S+|www\.\S+|([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}",
    "unique identifiers": r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}",
}
"""What direct identifiers look like."""


class Suspect(NamedTuple):
    """A column that looks like a direct identifier."""

    column: str
    looks_like: str
    """What it looks like, in a few words."""


def words_of(name: str) -> str:
    """The name of a column in small letters with blanks between its words.

    >>> words_of("PatientID"), words_of("e-mail"), words_of("home_phone_no")
    ('patient id', 'e mail', 'home phone no')
    """
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return " ".join(re.split(r"[\W_]+", apart)).strip().lower()


class Column(NamedTuple):
    """What is looked at of a column."""

    name: str
    """What it is called."""
    label: str
    text: bool
    whole: bool
    """Whether it holds whole numbers."""
    texts: list[str]
    """Some of its values, as texts."""
    known: int
    """Records that have a value."""
    counted: Callable[[], bool]
    """Whether its values are whole numbers, whatever kind of number they are."""
    different: Callable[[], int]
    """How many different values there are."""
    span: Callable[[], int]
    """Of whole numbers: how many there are from the smallest to the largest."""


def suspects(data: Data, declared: Collection[str] = ()) -> tuple[Suspect, ...]:
    """The columns that look like direct identifiers, but for those that are declared as something.

    >>> import polars as pl
    >>> people = pl.DataFrame({"ssn": [f"{10_000_000 + 7 * at}" for at in range(30)], "sex": ["f", "m"] * 15})
    >>> suspects(Data.of(people))
    (Suspect(column='ssn', looks_like='personal numbers'),)
    """
    found = []
    for name in data.columns:
        if name not in declared and (look := _moments(data, name) or looks_like(_column(data, name))):
            found.append(Suspect(name, look))
    return tuple(found)


def _moments(data: Data, name: str) -> str:
    """Whether a column of days with the time of day tells records apart."""
    if not frame.is_moment(data.table, name):
        return ""
    known, different = len(data) - int(frame.missing(data.table, name).sum()), frame.distinct(data.table, name)
    own = known >= ENOUGH and different >= NEARLY_UNIQUE * known
    return f"{'every' if different == known else 'nearly every'} record has a moment of its own" if own else ""


def _column(data: Data, name: str) -> Column:
    table = data.table
    text, whole = frame.is_text(table, name), frame.is_whole(table, name)
    return Column(
        name,
        data.variable(name).label or "",
        text,
        whole,
        frame.some_texts(table, name, SAMPLE_SIZE) if text or whole or frame.is_float(table, name) else [],
        len(data) - int(frame.missing(table, name).sum()),
        lambda: whole or frame.all_whole(table, name),
        lambda: frame.distinct(table, name),
        lambda: frame.span(table, name),
    )


def undeclared_identifiers(data: Data, scenario: Scenario, renewed: Collection[str] = ()) -> Iterator[str]:
    """A caution about columns that look like direct identifiers and have no role in the scenario."""
    yield from caution(suspects(data, {*scenario.roles, *renewed}))


def caution(found: Sequence[Suspect]) -> Iterator[str]:
    """A caution about columns that look like direct identifiers; none where there are none."""
    if found:
        listed = ", ".join(f"{each.column!r} ({each.looks_like})" for each in found[:SHOWN])
        more = f" and {len(found) - SHOWN:,} more" if len(found) > SHOWN else ""
        yield (
            f"columns that look like direct identifiers are not declared: {listed}{more}; name them in identifiers of "
            f"the scenario and take them out with Remove()."
        )


def looks_like(column: Column) -> str:
    """Which direct identifiers a column looks like; empty for none."""
    name, label, text, whole, texts, known = column[:6]
    called = next((what for what, pattern in NAME_PATTERNS.items() if re.fullmatch(pattern, words_of(name))), "")
    called = called or ("personal numbers" if re.fullmatch(LABEL, words_of(label)) else "")
    if not text and not whole and re.fullmatch(PLACES, words_of(name)):
        return called if known and column.different() >= MAJORITY * known else ""
    if not text and not whole:
        # SPSS, Stata and SAS keep whole numbers as floats; a measurement has a fraction somewhere.
        texts = [each for each in texts if each != "nan"]
        if not texts or not all(each.endswith(".0") for each in texts):
            return ""
        texts = [each.removesuffix(".0") for each in texts]
    in_a_row = column.counted() and column.span() == known > FEW_VALUES
    if not text and not (in_a_row or called in NUMERIC_IDENTIFIERS or len(max(texts, key=len, default="")) >= LEAST):
        # Most columns end here, before their values are counted.
        return ""
    different = column.different()
    if different < max(4, known / FEW_VALUES) or (different <= FEW_VALUES and different < MAJORITY * known):
        return ""
    if text:
        return identifier_in_texts(texts, called, different, known)
    return identifier_in_numbers(
        texts, called if different >= MAJORITY * known else "", in_a_row and different == known
    )


def identifier_in_texts(texts: Sequence[str], called: str, different: int, known: int) -> str:
    """What texts look like: `called` is what the column is called, of `known` values so many are different."""
    if called:
        return called
    for what, shape in VALUE_PATTERNS.items():
        if sum(bool(re.fullmatch(shape, text.strip())) for text in texts) >= MAJORITY * len(texts):
            return what
    scheme = check_digit_scheme(texts)
    if scheme:
        return f"numbers with check digits, {scheme}"
    long = sum(len(text) >= 25 and len(text.split()) >= 4 for text in texts)
    if long >= MAJORITY * len(texts) and different >= MAJORITY * known:
        return "free text"
    if known >= ENOUGH and different >= NEARLY_UNIQUE * known and not _measured(texts):
        return f"{'every' if different == known else 'nearly every'} record has a text of its own"
    return ""


def identifier_in_numbers(texts: Sequence[str], called: str, in_a_row: bool) -> str:
    """What whole numbers look like; `in_a_row`: whether they are all those from the smallest to the largest."""
    if called in NUMERIC_IDENTIFIERS:
        return called
    scheme = check_digit_scheme(texts)
    if scheme:
        return f"numbers with check digits, {scheme}"
    return "numbers the records" if in_a_row else ""


def _measured(texts: Sequence[str]) -> bool:
    """Whether texts are numbers with a fraction: measurements that were read as text."""
    return all(re.fullmatch(r"[+-]?\d*[.,]\d+(e[+-]?\d+)?", text.strip(), re.IGNORECASE) for text in texts)
