"""Time pycanon's k-anonymity on a CSV file; runs in an environment of its own (see assessment.py)."""

from __future__ import annotations

import json
import sys

import pandas as pd
from pycanon import anonymity

from benchmarks import measure

file, *keys = sys.argv[1:]
table = pd.read_csv(file)
times, least = measure.timed(lambda: anonymity.k_anonymity(table, keys))
print(json.dumps({**times, "least": int(least), "peak": measure.peak_memory()}))
