"""A small file of SAS, which Tacita reads and does not write.

Written by ReadStat: four people with special missing values, dates, and formats for value labels.
"""

from __future__ import annotations

import base64
import zlib

_PACKED = (
    "eNrtmU1oE0EUx99svk3QhC6YQ8FQPeRQwy4bQzyICbhpAy1Ik0MQwaIsbVATiRVzE0+K5NST3rx404teiuAHvXgUbx4EPeulFzVqm3W7M7vZfcm2"
    "sSWgOD8IL+8/783M7pv9Buiz/vn24jMx8fbFahgib+RO8kg8oUyBohBBJjREBPARl66QowqIIqR8xOqnUqykSuU59UyxWqyo1ZQXsAvb+VZc9Mup"
    "c09bH4uWHQiO0x9B8smMlJXk+RNz9caNtkNXMrKUkY7Lck7KyHJGxt2187kLuWzf3x535tHCaeuH4+8//9BzzhM4HA6Hw+FwOBwOh8P5i3jAnlsx"
    "d/zsjzABhwzzPkbdtM8d95rpSZS/fIDamuDWP0WovWsJ7IG9w/Qq0oHpHaSvhamdRXqb6QU0n7yH3g0N19c89LaHnvfQu8Gddby5lA36fmF9tTC0"
    "aKnHBStOUlzvUqj+snvLtPdonD/5FfdTkGVH3hMW/5DZdx4WjzfY/sppNw7b4xZGfefD4XA446b3SzfBehiEfeYP5wr4R8oXPfIXUc9e+RGP/NqI"
    "4+/MLET3mJ+HwL7Gnzbnnwbr9qNH0/Ws3U4JGTMkELLztvSgMTIxskN2prPfTdZPe1gd/QQkly/YVbDa48hPIj+F/DTynbCp6P2L9TG2vRIE2eU9"
    "yO6SaDXPM7vM7LWB7x9brM8VxxLD32HM7zRV9WxFrUFFa4NhSy1tqd5sGDNYUGdKRlK9cal5VQMom3Y61dBW4GKz1TBy1euaZtpqeV692bysmRYX"
    "cNO9n/12vcZDLOSur7Vfguh+K4j2E0Hzw76O4gIoLoDWJ0HbiX12GOx6HPwcMe6Hvpfj+t/lm8GwdfTdwLwHZX4CtSekKXZectcXExo4D1EmLSHu"
    "bk+idaL/Z/UY1/Pon2IdZwLyDyI/jvwJ5IfHtqVhx5oTHePEzP+TI47sN2ZKjLNYFF2nwXtduy4RvwF09UQc"
)
PEOPLE = zlib.decompress(base64.b64decode(_PACKED))
"""The bytes of the file."""
