"""Delimited text: from bytes to typed columns and back.

The shape of the whole file is checked before a field is read: a record with a field too many shifts every later value
under another variable's name, and risk measured on shifted columns is risk of nothing.
Nothing in a message is taken from the records; lines and counts stand for them.
"""

from __future__ import annotations

import codecs
import shlex
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita import check, frame
from tacita.check import TacitaError, TacitaWarning
from tacita.data.formats import plain_text
from tacita.data.formats.loaded import Loaded, remarks_on_missing
from tacita.frame import Frame
from tacita.frame import files as frame_files
from tacita.frame.columns import Words
from tacita.frame.texts import WORDS, with_formulas, without_formulas, without_texts

DELIMITERS = (",", ";", "\t", "|")
ROW = "row"
"""What a first column without a name is called."""
R = "NA"
"""How R writes a missing value."""

BLOCK = 1 << 24
SAMPLE = 1 << 20
BYTE_ORDER_MARKS = {
    b"\xef\xbb\xbf": "utf-8",
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
COMMON = "windows-1252"

Places = NDArray[np.int64]


def parse(
    raw: bytes,
    name: str,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    missing: str | Iterable[str] | None = None,
) -> Frame:
    """The bytes of a delimited text as typed columns; `name` is what messages call the file.

    >>> parse(b"sex;age;w\\nf;31;1,5\\nm;;0,5\\n", "survey.csv").rows()
    [('f', 31, 1.5), ('m', None, 0.5)]
    """
    loaded = load(raw, name, delimiter=delimiter, encoding=encoding, decimal=decimal, missing=missing)
    for remark in loaded.remarks:
        warnings.warn(remark, TacitaWarning, stacklevel=2)
    return loaded.table


def load(
    raw: bytes,
    name: str,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    missing: str | Iterable[str] | None = None,
) -> Loaded:
    """The bytes of a delimited text as typed columns, and what was made of them."""
    missing_texts = missing_texts_of(missing)
    if delimiter is not None:
        check_delimiter(delimiter)
    if decimal is not None:
        check.one_of("decimal", decimal, (".", ","))
    text, remarks = _as_utf8(raw, name, encoding)
    if b"\n" not in text:
        text = text.replace(b"\r", b"\n")
    # One end of line after every record, none after the last: blank lines at the end are no records.
    if not text.endswith(b"\n") or text[-2:-1] in (b"\r", b"\n", b""):
        text = text.rstrip(b"\r\n") + b"\n"
    if text.isspace():
        raise TacitaError(f"{name} is empty; check that it was saved or exported completely.")
    delimiter = delimiter or _delimiter(text, name)
    quoted = _has_quoted_fields(text, delimiter)
    if quoted:
        _check_quotes(text, delimiter, name)
    signs = (".", ",") if delimiter != "," or quoted else (".",)
    decimals = (decimal,) if decimal else signs
    if not quoted and missing is None and len(text) >= plain_text.LEAST:
        names, unnamed = _names(text[: text.index(b"\n")], delimiter, quoted, name)
        found = plain_text.plain(text, delimiter, names, decimals)
        if found is not None:
            return Loaded(with_formulas(found) if b"'" in text else found, {}, (*unnamed, *remarks), {})
    ends, fields = records(text, delimiter, quoted)
    _check_shape(text, ends, fields, name)
    names, unnamed = _names(text[: ends[0]], delimiter, quoted, name)
    if len(ends) == 1:
        raise TacitaError(f"{name} has a header but no records; check that it was saved or exported completely.")
    body = text[ends[0] + 1 :]
    table = frame.read_text(body, delimiter=delimiter, columns=names, quote='"' if quoted else None)
    if table.height != len(ends) - 1:
        raise TacitaError(f"{name} could not be split into its {len(ends) - 1:,} records; write it as Parquet instead.")
    how: dict[str, Any] = {
        "decimals": decimals,
        "words": WORDS,
        "grouped": decimal is None and delimiter == ",",
    }
    loaded = _typed(table, text, name, None if missing is None else missing_texts, how)
    return loaded._replace(remarks=(*unnamed, *remarks, *loaded.remarks))


def _typed(table: Frame, text: bytes, name: str, missing: tuple[str, ...] | None, how: Mapping[str, Any]) -> Loaded:
    """A table of texts as columns of numbers and texts; `missing` is None where it was not said what is."""
    typed, kept, gone = frame.typed(table, missing=missing or (), **how)
    remarks: tuple[str, ...] = ()
    if missing is None and _is_of_r(text, typed, kept, gone):
        remarks = (_remark_on_r(name, kept),)
        typed, kept, gone = frame.typed(table, missing=(R,), **how)
    if kept and missing is None:
        remarks = (*remarks, _remark_on_words(kept, name))
    if missing:
        # -9.0 is the number -9 too.
        typed, more = without_texts(typed, missing)
        for column, counts in more.items():
            gone[column] = dict(Counter(gone.get(column, {})) + Counter(counts))
    whole = with_formulas(typed) if b"'" in text else typed
    return Loaded(whole, {}, remarks, remarks_on_missing(gone) if gone else {})


def _is_of_r(text: bytes, typed: Frame, kept: Words, gone: Words) -> bool:
    """Whether NA among texts is missing, as in a file that R wrote: it is in columns of numbers, or texts are in quotes
    and it is not. In quotes it is a value, such as the country code of Namibia."""
    among_texts = [column for column, counts in kept.items() if R in counts]
    if not among_texts or b'"NA"' in text:
        return False
    if any(R in counts for counts in gone.values()):
        return True
    texts = [column for column in typed.columns if frame_files.kind(typed, column) == "text"]
    filled = sum(typed.height - typed[column].null_count() for column in texts)
    words = sum(sum(counts.values()) for counts in kept.values())
    return text.startswith(b'"') and text.count(b'"') // 2 >= filled - words + len(typed.columns)


def write(
    table: Frame, path: Path, name: str, *, delimiter: str, encoding: str, decimal: str, formulas: bool
) -> tuple[str, ...]:
    """Write a table as delimited text: missing as nothing, an empty text as `""`, which reads as missing too.

    Texts that a spreadsheet would run get an apostrophe in front, unless `formulas`; what was done is returned.
    """
    table, counts = (table, dict[str, int]()) if formulas else without_formulas(table)
    held = [column for column in table.columns if "\0" in column or frame_files.holds_nul(table, column)]
    if held:
        raise TacitaError(f"column {held[0]!r} holds NUL characters, which a text file cannot carry; write Parquet.")
    frame_files.write_text(table, path, delimiter=delimiter, decimal=decimal)
    try:
        if codecs.lookup(encoding).name != "utf-8":
            path.write_bytes(path.read_bytes().decode().encode(encoding))
    except UnicodeError:
        raise TacitaError(
            f"{name} cannot be written as {encoding!r}, which lacks some of its characters; use encoding='utf-8'."
        ) from None
    if not counts:
        return ()
    return (
        f"{name}: {check.counted(sum(counts.values()), 'text')} of {check.quoted(counts)} that a spreadsheet would run "
        "as a formula got an apostrophe in front, which reading takes away; formulas=True writes them as they are.",
    )


def check_delimiter(delimiter: object) -> None:
    """One character that a field does not need for itself."""
    single = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()
    if not single or delimiter in ('"', "\n", "\r", "\0"):
        raise TacitaError(
            f"delimiter must be one ASCII character other than a quote or an end of line; got {check.given(delimiter)}."
        )


def check_encoding(encoding: object) -> None:
    """The name of an encoding that Python knows."""
    try:
        if isinstance(encoding, str) and "a".encode(encoding):
            return
    except (LookupError, ValueError):
        pass
    raise TacitaError(
        f"encoding must be the name of a text encoding such as 'utf-8' or 'windows-1252'; got {check.given(encoding)}."
    )


def missing_texts_of(missing: object) -> tuple[str, ...]:
    """The texts that are declared missing."""
    if missing is None:
        return ()
    given = (missing,) if isinstance(missing, str) or not isinstance(missing, Iterable) else tuple(missing)
    wrong = [text for text in given if not isinstance(text, str)]
    if wrong:
        raise TacitaError(f"missing must be one text or several, such as 'NA' or '-9'; got {check.given(wrong[0])}.")
    return tuple(text.strip() for text in given)


def _as_utf8(raw: bytes, name: str, encoding: str | None) -> tuple[bytes, tuple[str, ...]]:
    """The text in UTF-8 without a byte order mark, and a remark where its encoding was guessed."""
    if encoding is not None:
        check_encoding(encoding)
    marked = next((known for mark, known in BYTE_ORDER_MARKS.items() if raw.startswith(mark)), None)
    remarks: tuple[str, ...] = ()
    if encoding is None and marked is None:
        encoding, remarks = _guess(raw, name)
    encoding = encoding or marked or COMMON
    try:
        text = raw if raw.isascii() and encoding == "utf-8" else raw.decode(encoding).encode()
    except UnicodeError as error:
        line = _line_of(raw, error, encoding)
        raise TacitaError(f"{name} is not {encoding!r}{line}; pass encoding=... with the right one.") from None
    if b"\0" in text:
        raise TacitaError(f"{name} is not a text file in {encoding!r}; pass encoding=... with the right one.")
    return text.removeprefix(b"\xef\xbb\xbf"), remarks


def _guess(raw: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    if raw.isascii() and b"\0" not in raw:
        return "utf-8", ()
    if b"\0" in raw:
        raise TacitaError(f"{name} is not a text file; if it is UTF-16 pass encoding='utf-16-le' or 'utf-16-be'.")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = _line_of(raw, error, "utf-8")
        try:
            raw.decode(COMMON)
        except UnicodeDecodeError:
            raise TacitaError(
                f"{name} is neither UTF-8{line} nor {COMMON}; pass encoding=... with the right one."
            ) from None
        message = f"{name} is not UTF-8{line} and was read as {COMMON}; pass encoding=... to say what it is."
        return COMMON, (message,)
    return "utf-8", ()


def _line_of(raw: bytes, error: UnicodeError, encoding: str) -> str:
    if not isinstance(error, UnicodeDecodeError):
        return ""
    before = raw[: error.start].decode(encoding, "ignore")
    return f" (line {before.count(chr(10)) + 1:,})"


def _delimiter(text: bytes, name: str) -> str:
    """The sign that cuts the first records into as many fields as the header, the more the better."""
    tab_first = Path(name).suffix.lower() in (".tsv", ".tab")
    order = sorted(DELIMITERS, key=lambda sign: sign != "\t") if tab_first else DELIMITERS
    sample = text[:SAMPLE]
    found: list[tuple[float, int, str]] = []
    for sign in order:
        fields = records(sample, sign, _has_quoted_fields(sample, sign))[1][:100]
        if not len(fields):
            # A quote that is never closed swallows every record; the first line still shows the sign.
            fields = records(sample.partition(b"\n")[0] + b"\n", sign, False)[1]
        if fields[0] > 1:
            found.append((float(np.mean(fields == fields[0])), int(fields[0]), sign))
    return max(found, key=lambda each: each[:2])[2] if found else order[0]


def _has_quoted_fields(text: bytes, delimiter: str) -> bool:
    """Whether a field starts with a quote; if none does, quotes are characters like others, as in 5\" or 6'2\"."""
    sign = delimiter.encode()
    return b'"' in text and (text.startswith(b'"') or b'\n"' in text or sign + b'"' in text)


def records(text: bytes, delimiter: str, quoted: bool) -> tuple[Places, Places]:
    """Where each record ends, the header first, and how many fields it has."""
    data = np.frombuffer(text, dtype=np.uint8)
    ends, counts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    inside, pending = False, 0
    for start in range(0, len(data), BLOCK):
        block = data[start : start + BLOCK]
        places, inside = _separators(block, delimiter, quoted, inside)
        last = np.flatnonzero(block[places] == ord("\n"))
        # Fields of a record: the separators from the end of the record before to its own end.
        fields = np.diff(last, prepend=-1)
        if len(last):
            fields[0] += pending
            pending = -int(last[-1]) - 1
        pending += len(places)
        ends.append(places[last] + start)
        counts.append(fields)
    return np.concatenate(ends), np.concatenate(counts)


def _separators(block: NDArray[np.uint8], delimiter: str, quoted: bool, inside: bool) -> tuple[Places, bool]:
    """Delimiters and ends of line outside quotes, and whether the block ends inside a quoted field."""
    marks = (block == ord(delimiter)) | (block == ord("\n"))
    if quoted:
        # The running count of quotes may overflow: only whether it is odd matters.
        within = (np.cumsum(block == ord('"'), dtype=np.uint8) & 1).astype(np.bool_) ^ inside
        marks &= ~within
        inside = bool(within[-1])
    return np.flatnonzero(marks), inside


def _check_quotes(text: bytes, delimiter: str, name: str) -> None:
    """Quotes open at the start of a field, close at its end, and are doubled inside."""
    data = np.frombuffer(text, dtype=np.uint8)
    seen, opened = 0, 0
    for start in range(0, len(data), BLOCK):
        places = np.flatnonzero(data[start : start + BLOCK] == ord('"')) + start
        opening, closing = places[seen % 2 :: 2], places[1 - seen % 2 :: 2]
        # Before the first byte numpy finds the last, which is an end of line as it should be.
        before = data[opening - 1]
        fresh = (before == ord(delimiter)) | (before == ord("\n"))
        after = data[closing + 1]
        after = np.where((after == ord("\r")) & (data[np.minimum(closing + 2, len(data) - 1)] == ord("\n")), 10, after)
        stray = opening[~fresh & (before != ord('"'))]
        loose = closing[(after != ord(delimiter)) & (after != ord("\n")) & (after != ord('"'))]
        firsts = opening[fresh]
        if len(loose) and not (len(stray) and stray[0] < loose[0]):
            earlier = firsts[firsts < loose[0]]
            at = int(earlier[-1]) if len(earlier) else opened
            raise _misquoted(text, name, at, "goes on after its closing quote")
        if len(stray):
            raise TacitaError(
                f"{name} has a quote inside an unquoted field in line {_line(text, int(stray[0])):,}; "
                "quote the whole field and double the quotes inside it."
            )
        seen, opened = seen + len(places), int(firsts[-1]) if len(firsts) else opened
    if seen % 2:
        raise _misquoted(text, name, opened, "is never closed")


def _misquoted(text: bytes, name: str, at: int, fault: str) -> TacitaError:
    return TacitaError(
        f"{name} has a quoted field that opens in line {_line(text, at):,} and {fault}; "
        "close it at its end and double the quotes inside it."
    )


def _line(text: bytes, at: int) -> int:
    return text.count(b"\n", 0, at) + 1


def _check_shape(text: bytes, ends: Places, fields: Places, name: str) -> None:
    ragged = np.flatnonzero(fields != fields[0])
    if len(ragged):
        record = int(ragged[0])
        line = _line(text, int(ends[record - 1]) + 1)
        raise TacitaError(
            f"{name} is ragged: record {record:,} (line {line:,}) has {check.counted(int(fields[record]), 'field')} "
            f"where the header has {int(fields[0]):,} ({check.counted(len(ragged), 'such record')}); "
            "quote fields that contain the delimiter, or pass delimiter=... with the right one."
        )


def _names(header: bytes, delimiter: str, quoted: bool, name: str) -> tuple[list[str], tuple[str, ...]]:
    """The names of the columns, and a remark where the first has none: so R and pandas write names of rows."""
    header = header.removesuffix(b"\r")
    cuts, _ = _separators(np.frombuffer(header, dtype=np.uint8), delimiter, quoted, False)
    pieces = [header[a:b] for a, b in zip([0, *(cuts + 1)], [*cuts, len(header)], strict=True)]
    bare = [each[1:-1].replace(b'""', b'"') if quoted and each.startswith(b'"') else each for each in pieces]
    names = [each.decode().strip() for each in bare]
    remarks: tuple[str, ...] = ()
    if len(names) > 1 and names[0] == "" and names.count("") == 1 and ROW not in names:
        names[0] = ROW
        remarks = (
            f"{name} has no name for column 1, as R and pandas write the names of rows; it is called {ROW!r} here, and "
            "should be removed before a release.",
        )
    if "" in names:
        raise TacitaError(f"{name} has no name for column {names.index('') + 1:,}; name every column in the header.")
    check.unique_in_header(name, names)
    return names, remarks


def _remark_on_r(name: str, kept: Words) -> str:
    cells = sum(counts[R] for counts in kept.values() if R in counts)
    columns = check.quoted(column for column, counts in kept.items() if R in counts)
    return (
        f"{name}: {R!r} is missing, as in files of R: {check.counted(cells, 'text')} of {columns}; pass missing=[] "
        "(--na '') if it is a value."
    )


def _remark_on_words(kept: Words, name: str) -> str:
    words = [word for word in WORDS if any(word in counts for counts in kept.values())]
    times = sum(sum(counts.values()) for counts in kept.values())
    return (
        f"{name} has {check.quoted(words)} among the texts of {check.quoted(kept)} ({check.counted(times, 'time')}), "
        f"kept as values; pass missing={words!r} (--na {shlex.quote(','.join(words))}) if they are missing, "
        "missing=[] (--na '') if they are not."
    )
