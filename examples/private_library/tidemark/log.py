"""Logs and their readings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """One reading of a gauge: the time of day as ``HH:MM`` and the level in metres."""

    time: str
    level: float


class TideLog:
    """Readings in the order of their times. Methods return new logs and leave this one as it is."""

    def __init__(self, readings: list[Reading]) -> None:
        """Take the readings as they are."""
        self._readings = list(readings)

    @property
    def readings(self) -> list[Reading]:
        """All readings, oldest first."""
        return list(self._readings)

    def crest(self) -> Reading:
        """Return the reading with the highest level.

        >>> take_log("06:00 1.2\\n07:00 2.9").crest()
        Reading(time='07:00', level=2.9)
        """
        return max(self._readings, key=lambda reading: reading.level)

    def over(self, level: float) -> TideLog:
        """Keep only the readings whose level is above a level in metres.

        >>> take_log("06:00 1.2\\n07:00 2.9").over(2.0).count()
        1
        """
        return TideLog([reading for reading in self._readings if reading.level > level])

    def count(self) -> int:
        """Return the number of readings."""
        return len(self._readings)

    def calm(self, width: int = 3) -> TideLog:
        """Smooth the levels by a running mean over ``width`` readings, fewer at the ends.

        >>> take_log("06:00 1.0\\n07:00 2.0\\n08:00 6.0").calm(3).readings[1].level
        3.0
        """
        reach = width // 2
        levels = [reading.level for reading in self._readings]
        windows = [levels[max(0, i - reach) : i + reach + 1] for i in range(len(levels))]
        return TideLog(
            [
                Reading(reading.time, round(sum(window) / len(window), 2))
                for reading, window in zip(self._readings, windows, strict=True)
            ]
        )

    def to_table(self) -> str:
        """Return the log as a Markdown table of time and level.

        >>> print(take_log("06:00 1.2").to_table())
        | time | level |
        | --- | --- |
        | 06:00 | 1.2 |
        """
        rows = [f"| {reading.time} | {reading.level} |" for reading in self._readings]
        return "\n".join(["| time | level |", "| --- | --- |", *rows])


def take_log(text: str) -> TideLog:
    """Read the text of a gauge's log, one line ``HH:MM level`` for each reading.

    Lines that are empty or begin with ``#`` are passed over.

    >>> take_log("06:00 1.2\\n07:00 2.9").count()
    2
    """
    lines = (line.split() for line in text.splitlines() if line.strip() and line[0] != "#")
    return TideLog([Reading(time, float(level)) for time, level in lines])
