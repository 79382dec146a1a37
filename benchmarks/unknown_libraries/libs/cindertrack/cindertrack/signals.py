"""What the signal boxes wrote down in one working day."""
from collections import Counter
from dataclasses import dataclass

from .base import CinderError, _one_of, mark

DEEDS = ("on", "off", "whistle")


@dataclass(frozen=True)
class LogLine:
    """One line of the log. A lever is put 'off' to clear its signal and 'on' to set it to danger; a 'whistle' is
    a train, by the number of its turn, that stands at the signal and asks for the road."""

    at: int
    box: str
    lever: int
    deed: str
    turn: int | None = None


@dataclass(frozen=True)
class Hold:
    """A train kept waiting at a signal, from its whistle until the signal was cleared."""

    box: str
    lever: int
    turn: int
    start: int
    end: int

    @property
    def minutes(self):
        return self.end - self.start


class SignalLog:
    """The lines of all boxes, by time.

    >>> log = SignalLog([LogLine(470, "North", 2, "off"), LogLine(474, "North", 2, "on"), LogLine(465, "North", 2, "whistle", 7)])
    >>> [line.deed for line in log]
    ['whistle', 'off', 'on']
    """

    def __init__(self, lines):
        self._lines = sorted(lines, key=lambda x: x.at)
        for line in self._lines:
            _one_of("deed", line.deed, DEEDS)

    def __iter__(self):
        return iter(self._lines)

    def __len__(self):
        return len(self._lines)

    def of(self, box, lever=None):
        """The log of one box, or of one of its levers."""
        return SignalLog(x for x in self._lines if x.box == box and lever in (None, x.lever))

    def between(self, start, end):
        """The lines from start up to, and without, end.

        >>> log = SignalLog([LogLine(470, "North", 2, "off"), LogLine(474, "North", 2, "on")])
        >>> len(log.between("7:50", "7:54"))
        1
        """
        return SignalLog(x for x in self._lines if mark(start) <= x.at < mark(end))

    def state(self, box, lever, at):
        """How a signal stood at a time, 'on' or 'off'."""
        now, known = "on", False
        for line in self.of(box, lever):
            known = True
            if line.deed != "whistle" and line.at <= mark(at):
                now = line.deed
        if not known:
            raise CinderError(f"box {box!r} never wrote of lever {lever}")
        return now

    def holds(self, least=0):
        """The trains that were held for at least so many minutes, by the time at which they whistled.

        >>> log = SignalLog([LogLine(465, "North", 2, "whistle", 7), LogLine(470, "North", 2, "off")])
        >>> log.holds()
        [Hold(box='North', lever=2, turn=7, start=465, end=470)]
        >>> log.holds(least=6)
        []
        """
        waiting, found = {}, []
        for line in self._lines:
            key = line.box, line.lever
            if line.deed == "whistle":
                waiting.setdefault(key, line)
            elif line.deed == "off" and key in waiting:
                asked = waiting.pop(key)
                found.append(Hold(line.box, line.lever, asked.turn, asked.at, line.at))
        return sorted((h for h in found if h.minutes >= least), key=lambda h: h.start)

    def tally(self, by="box", deed=None):
        """How many lines there are by 'box', by 'lever' (a pair of box and lever) or by 'deed'."""
        _one_of("by", by, ("box", "lever", "deed"))
        _one_of("deed", deed, DEEDS, needed=False)
        keys = {"box": lambda x: x.box, "lever": lambda x: (x.box, x.lever), "deed": lambda x: x.deed}
        return dict(Counter(keys[by](x) for x in self._lines if deed in (None, x.deed)))
