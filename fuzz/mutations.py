"""Small files of every format that Tacita reads, and ways to damage them."""

from __future__ import annotations

import datetime
import io
import random
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import polars as pl

import tacita as tc
from fuzz.sas_file import PEOPLE

FORMATS = ("csv", "tsv", "parquet", "arrow", "xlsx", "sav", "zsav", "dta", "xpt", "sas7bdat")
CANARY = "Zanzibar"
"""In texts of the files: no message may ever say it."""
EXTREMES = (0, 1, 2, 7, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF)
"""What a header may say in place of a size."""


def small_files(folder: Path, form: str) -> list[bytes]:
    """A few small files of a format: numbers and texts; labels, missing codes, dates; many variables, few records."""
    if form == "sas7bdat":
        return [PEOPLE]
    days = [datetime.date(2020, 1, 31), None, datetime.date(1999, 12, 1)]
    plain = pl.DataFrame({"age": [31, 47, None], "weight": [1.5, None, 2.25], "town": [CANARY, None, f"{CANARY} é"]})
    known = {
        "work": tc.Variable(label="Work", value_labels={1: "yes", 2: "no"}, missing=(9,), scale="nominal"),
        "income": tc.Variable(missing_ranges=((-99, -1),), scale="numeric"),
    }
    coded = tc.Data.of(pl.DataFrame({"work": [1, 2, 9] * 30, "income": [1.5, -9, None] * 30, "day": days * 30}), known)
    wide = pl.DataFrame({f"v{place}": [place, place + 1] for place in range(40)})
    long = pl.DataFrame({"text": [CANARY * 40, "b", None] * 20, "n": list(range(60))})
    made = []
    for place, table in enumerate((plain, coded, wide, long)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.append(tc.write(table, folder / f"seed{place}.{form}", overwrite=True).read_bytes())
    return made


def flipped(raw: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Some bits are turned over."""
    bent = bytearray(raw)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        bent[chance.randrange(len(bent))] ^= 1 << chance.randrange(8)
    return bytes(bent)


def shortened(raw: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """The end, the beginning, or something between is cut off."""
    low, high = sorted(chance.randrange(len(raw) + 1) for _ in range(2))
    return chance.choice((raw[:low], raw[high:], raw[:low] + raw[high:]))


def spliced(raw: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """A block of this or another file is put in, or takes the place of what is there."""
    source = chance.choice([raw, *others])
    size = chance.choice((1, 4, 8, 80, 256))
    start, place = chance.randrange(len(source)), chance.randrange(len(raw))
    return raw[:place] + source[start : start + size] + raw[place + size * chance.randrange(2) :]


def lying(raw: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """A number in the header or the footer says something else."""
    bent = bytearray(raw)
    size = chance.choice((1, 2, 4, 8))
    from_end = chance.random() < 0.4
    reach = min(len(bent) - size, chance.choice((64, 256, 1024, 8192)))
    if reach < 1:
        return raw
    place = chance.randrange(reach + 1)
    place = len(bent) - size - place if from_end else place
    value = chance.choice((*EXTREMES, chance.getrandbits(8 * size))) % (1 << (8 * size))
    bent[place : place + size] = value.to_bytes(size, chance.choice(("little", "big")))
    return bytes(bent)


def erased(raw: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """A stretch of bytes becomes one byte."""
    place, size = chance.randrange(len(raw)), chance.choice((2, 8, 64, 512))
    return raw[:place] + bytes([chance.choice((0, 0xFF, 0x20))]) * len(raw[place : place + size]) + raw[place + size :]


def struck(raw: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Where something stands, something else does: of a file that is mostly empty, the rest matters little."""
    bent = bytearray(raw)
    stands = [place for place, byte in enumerate(raw) if byte]
    for _ in range(chance.choice((1, 2, 8)) if stands else 0):
        bent[chance.choice(stands)] = chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))
    return bytes(bent)


def inside_archive(raw: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """A part of a workbook is damaged and packed again, so that the damage is found behind the packing."""
    parts = _unpacked(raw)
    name = chance.choice(sorted(parts))
    if parts[name]:
        parts[name] = chance.choice((flipped, shortened, spliced, erased))(parts[name], chance, list(parts.values()))
    return _packed(parts)


def far_cell(raw: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """The last cell of the sheet is the last that a sheet can have, declared or not."""
    parts = _unpacked(raw)
    sheet = parts["xl/worksheets/sheet1.xml"]
    place = chance.choice(("XFD1048576", "A1048576", "XFD1", "ZZZ9999999", "XFD4294967295"))
    row = "".join(filter(str.isdigit, place))
    cell = f'<row r="{row}"><c r="{place}"><v>1</v></c></row></sheetData>'
    sheet = sheet.replace(b"</sheetData>", cell.encode())
    if chance.random() < 0.5:
        sheet = sheet.replace(b'<dimension ref="A1:', b'<dimension ref="A1:' + place.encode() + b'" was="')
    parts["xl/worksheets/sheet1.xml"] = sheet
    return _packed(parts)


def bomb(raw: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """A part of a workbook unpacks to very much, which the archive says or not."""
    parts = _unpacked(raw)
    name = chance.choice(("xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/workbook.xml", "[Content_Types].xml"))
    filler = chance.choice((b" ", b"<c/>", b"<si><t>a</t></si>", b"<row>"))
    parts[name] = parts.get(name, b"") + filler * chance.choice((1 << 20, 1 << 24))
    packed = bytearray(_packed(parts))
    if chance.random() < 0.5:
        # The directory says that everything is small.
        for at in _places(packed, b"PK\x01\x02"):
            packed[at + 24 : at + 28] = struct.pack("<I", 100)
    return bytes(packed)


def expanding(raw: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """A block packed by zlib unpacks to very much, or is put where another was."""
    packed = zlib.compress(bytes(chance.choice((1 << 16, 1 << 22, 1 << 26))))
    place = chance.randrange(len(raw))
    return raw[:place] + packed + raw[place:]


def quoted(raw: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Signs that mean something in text: quotes, delimiters, ends of line, NUL, bytes of other encodings."""
    place = chance.randrange(len(raw) + 1)
    signs = (b'"', b'""', b",", b"\t", b"\n", b"\r", b"\0", b"\xff\xfe", b"\xe9", b"\xef\xbb\xbf", b",,,", b'"\n"')
    return raw[:place] + chance.choice(signs) * chance.choice((1, 1, 2, 1000)) + raw[place:]


def _unpacked(raw: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _packed(parts: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return content.getvalue()


def _places(raw: bytearray, sign: bytes) -> list[int]:
    found, at = [], raw.find(sign)
    while at >= 0:
        found.append(at)
        at = raw.find(sign, at + 1)
    return found


Way = Callable[[bytes, random.Random, list[bytes]], bytes]
USUAL: tuple[Way, ...] = (flipped, flipped, shortened, spliced, lying, lying, erased)
OF_FORMAT: dict[str, tuple[Way, ...]] = {
    "xlsx": (inside_archive, inside_archive, inside_archive, far_cell, bomb),
    "zsav": (expanding,),
    "sas7bdat": (struck,) * 6,
    "parquet": (expanding,),
    "csv": (quoted, quoted),
    "tsv": (quoted, quoted),
}


def damaged(files: list[bytes], form: str, seed: int) -> bytes:
    """One of the files, damaged once or a few times; the same seed damages it in the same way."""
    chance = random.Random(f"{form} {seed}")
    raw = chance.choice(files)
    others = [each for each in files if each is not raw]
    ways = (*USUAL, *OF_FORMAT.get(form, ()))
    first = chance.choice(ways)
    raw = first(raw, chance, others)
    for _ in range(chance.choice((0, 0, 0, 1, 3))):
        raw = chance.choice(USUAL)(raw, chance, others) if raw else raw
    return raw
