"""Dates and times as statistical packages count them, and which numbers their formats show whole.

SPSS counts seconds since 14 October 1582, Stata days or milliseconds and SAS days or seconds since 1 January 1960; only
the format of a variable tells a date from a number.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.frame import files as frame_files

System = Literal["spss", "stata", "sas"]
Moment = Literal["date", "datetime", "time"]

DAYS_TO_1970 = {"spss": 141_428, "stata": 3_653, "sas": 3_653}
"""Days from the first day of a system to 1 January 1970."""
DAY = 86_400
MILLION = 1_000_000
LONGEST = 4_000_000 * DAY * MILLION
"""Microseconds beyond which a number is no date: some 10,000 years."""
FINEST = 10
"""Microseconds that a double still tells apart some centuries from the first day of a system."""

SPSS_MOMENTS: dict[Moment, str] = {
    "date": "[AEJS]?DATE|QYR|MOYR|WKYR",
    "datetime": "DATETIME|YMDHMS",
    "time": "D?TIME|MTIME",
}
SAS_MOMENTS: dict[Moment, str] = {
    "date": "DATE|DAY|(DDMMYY|MMDDYY|YYMMDD|MMYY|YYMM|YYQR?)[BCDNPS]?|DOWNAME|JULDAY|JULIAN|MONNAME|MONTH|MONYY|QTRR?"
    "|WEEKDAT[EX]|WEEKDAY|WORDDAT[EX]|YEAR|YYMON|NLDATE|(E|B|IS)8601DA",
    "datetime": "DATETIME|DATEAMPM|MDYAMPM|DTDATE|DTMONYY|DTWKDATX|DTYEAR|DTYYQC|NLDATM|(E|B|IS)8601D[TNZX]",
    "time": "TIME|TIMEAMPM|HHMM|HOUR|MMSS|TOD|NLTIME|(E|B|IS)8601T[MZX]",
}
STATA_CLOCK = re.compile(r"(HH|Hh|hH|hh|MM|mm|SS|ss|\.s{1,3}|[aApP]\.?[mM]\.?|[:_ !.])+")
WRITTEN: dict[System, dict[Moment, tuple[str, str]]] = {
    "spss": {"date": ("DATE11", ""), "datetime": ("DATETIME20", "DATETIME26.5"), "time": ("TIME8", "TIME14.5")},
    "stata": {
        "date": ("%td", ""),
        "datetime": ("%tc", "%tcDDmonCCYY_HH:MM:SS.sss"),
        "time": ("%tcHH:MM:SS", "%tcHH:MM:SS.sss"),
    },
    "sas": {"date": ("DATE9", ""), "datetime": ("DATETIME19", "DATETIME26.6"), "time": ("TIME8", "TIME15.6")},
}
"""The formats that are written, without and with fractions of seconds."""


def moment_of(system: System, form: str | None) -> Moment | None:
    """What a format shows: a date, a date with time, a time, or something else."""
    if not form:
        return None
    if system == "stata":
        shape = re.fullmatch(r"%-?(td|d|tc)(.*)", form)
        if shape is None:
            return None
        if shape[1] != "tc":
            return "date"
        return "time" if shape[2] and STATA_CLOCK.fullmatch(shape[2]) else "datetime"
    shapes = SPSS_MOMENTS if system == "spss" else SAS_MOMENTS
    return next((kind for kind, names in shapes.items() if re.fullmatch(rf"({names})\d*(\.\d*)?", form.upper())), None)


def counts_periods(system: System, form: str | None) -> bool:
    """Whether a format shows a number as a week, month, quarter or half-year, or as a time with leap seconds."""
    return system == "stata" and re.match(r"%-?(t[wmqhC])", form or "") is not None


SPSS_USUAL = "F8.2"
"""The format that SPSS gives every variable of numbers unless told otherwise: it says nothing of them."""


def shows_decimals(system: System, form: str | None) -> bool:
    """Whether a format shows whole numbers with decimals, as 1.00: such numbers are measured, not counted."""
    if system == "spss" and form == SPSS_USUAL:
        return False
    if system == "stata":
        shape = re.fullmatch(r"%[-0]*\d+[.,](\d+)([fge])c?", form or "")
        return shape is not None and (shape[2] == "e" or (shape[2] == "f" and shape[1] != "0"))
    shape = re.fullmatch(r".*?\d*\.(\d+)", form or "")
    return shape is not None and int(shape[1]) > 0


def from_numbers(system: System, moment: Moment, values: Floats) -> Any:
    """A column of dates or times, or None where the numbers are no such moments: durations beyond a day, say.

    A date with a time of day in it becomes a date with time.
    """
    missing = np.isnan(values)
    known = np.where(missing, 0.0, values)
    unit = _unit(system, moment)
    if not (np.abs(known) <= LONGEST / unit).all():
        return None
    whole = np.floor(known)
    parts = np.round((known - whole) * (unit / FINEST)).astype(np.int64) * FINEST
    ticks = whole.astype(np.int64) * unit + parts
    if moment == "time":
        inside = (ticks >= 0) & (ticks < DAY * MILLION)
        return frame_files.column("time", ticks, missing) if inside.all() else None
    ticks -= DAYS_TO_1970[system] * DAY * MILLION
    if moment == "date" and not (ticks % (DAY * MILLION))[~missing].any():
        return frame_files.column("date", ticks // (DAY * MILLION), missing)
    return frame_files.column("datetime", ticks, missing)


def _unit(system: System, moment: Moment) -> int:
    """The microseconds in what a system counts."""
    if moment == "date" and system != "spss":
        return DAY * MILLION
    return 1000 if system == "stata" else MILLION


def to_numbers(system: System, moment: Moment, ticks: Ints, missing: Bools) -> Floats:
    """Days or microseconds since 1970, or microseconds since midnight, as the system counts them; NaN where missing."""
    if moment == "date":
        counted = (ticks + DAYS_TO_1970[system]).astype(np.float64) * (DAY if system == "spss" else 1)
    else:
        unit = _unit(system, moment)
        since = ticks + (DAYS_TO_1970[system] * DAY * MILLION if moment == "datetime" else 0)
        counted = (since // unit).astype(np.float64) + (since % unit) / unit
    return np.where(missing, np.nan, counted)


def written_format(system: System, moment: Moment, ticks: Ints) -> str:
    """The format for a column: with fractions of seconds only if there are some."""
    plain, fine = WRITTEN[system][moment]
    return fine if moment != "date" and (ticks % MILLION).any() else plain
