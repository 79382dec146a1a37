"""Logs."""

from dataclasses import dataclass

MISSING = -1


@dataclass(frozen=True)
class Boil:
    """A boil."""

    start: int
    length: int
    peak: int
    water: int


class Log:
    """A log."""

    def __init__(self, rows):
        self._rows = rows

    @property
    def units(self):
        """The units."""
        return {"start": "min", "length": "s", "peak": "dK", "water": "cl"}

    def boils(self, *, all=False):
        """The boils."""
        whole = (row for row in self._rows if all or row.peak != MISSING)
        return sorted(whole, key=lambda row: row.start, reverse=True)

    def window(self, start, end):
        """The part between ``start`` and ``end``."""
        return Log([row for row in self._rows if start <= row.start <= end])

    def split(self, every):
        """Split the log."""
        keys = sorted({row.start // every for row in self._rows})
        return {key: Log([row for row in self._rows if row.start // every == key]) for key in keys}

    def merge(self, other):
        """Merge another log into this one."""
        return Log([*self._rows, *other._rows])

    def total(self, field):
        """The total of a field."""
        return sum(getattr(row, field) for row in self._rows)


def read_log(text):
    """Read a log from text."""
    return Log([_row(line.split()) for line in text.splitlines() if line.strip()])


def _row(words):
    clock, length, peak, water = words
    hours, minutes = clock.split(":")
    kelvin = MISSING if peak == "-" else round((float(peak) + 273.15) * 10)
    return Boil(int(hours) * 60 + int(minutes), int(length), kelvin, round(float(water) * 100))
