"""Cues: which bars move, when, and where the rig stands afterwards."""

from dataclasses import dataclass
from typing import NamedTuple

from .errors import NotRigged, RigError, _word

WHYS = ("fast", "trim", "idle")


def _number(value):
    return format(float(value), "g")


@dataclass(frozen=True)
class Deal:
    """One bar's move within a cue: to a height, in `secs` seconds, `wait` seconds after the call."""

    bar: str
    to: object
    secs: float
    wait: float = 0

    def __post_init__(self):
        object.__setattr__(self, "bar", self.bar.upper())


@dataclass(frozen=True)
class Cue:
    """A numbered cue with its deals.
    Numbers may have a point, as in 12.5, and are kept as text. A cue with `follow` isn't called:
    it goes by itself, that many seconds after the cue before it went.
    >>> Cue(12.50, "Forest out").number
    '12.5'
    """

    number: str
    label: str
    deals: tuple = ()
    follow: float | None = None

    def __post_init__(self):
        object.__setattr__(self, "number", _number(self.number))
        object.__setattr__(self, "deals", tuple(self.deals))
        if len({d.bar for d in self.deals}) < len(self.deals):
            raise RigError(f"cue {self.number} deals with a bar twice")

    def length(self):
        """Seconds from the go until the last bar stands still.
        >>> Cue(3, "Forest", [Deal("T1", "in", 6), Deal("LX1", 400, 4, wait=5)]).length()
        9
        """
        return max((d.wait + d.secs for d in self.deals), default=0)

    def bars(self):
        return [d.bar for d in sorted(self.deals, key=lambda d: d.wait)]


class Snag(NamedTuple):
    """Something wrong with a deal: `why` is "fast" (`amount`: cm/s too many), "trim" (cm beyond) or "idle"."""

    cue: str
    bar: str
    why: str
    amount: float


class Plot:
    """Where all bars stand at a moment of the show: `heights` is a dict by the bar's name."""

    def __init__(self, house, heights):
        self.house, self.heights = house, dict(heights)

    def diff(self, earlier):
        """How far each bar is from where an earlier plot has it; bars that agree are left out.
        >>> from halyardry import load_show
        >>> sheet = load_show("chamber").sheet
        >>> sheet.plot_after(1).diff(sheet.preset)
        {'CL1': -620}
        """
        return {name: h - earlier.heights[name] for name, h in self.heights.items() if h != earlier.heights[name]}

    def parked(self, where="out"):
        """The names of the bars at their trim, "in" or "out", from downstage to upstage."""
        return [b.name for b in self.house.pick() if self.heights[b.name] == b._reach(_word("where", where, ("in", "out")))]

    def apply(self):
        """Run the house's bars to this plot, and return the house."""
        for name, height in self.heights.items():
            self.house.bar(name).run_to(height)
        return self.house


class Flysheet:
    """The cues of a show in the order of their numbers, for a house.

    The bars' heights at the time of making are the preset, from which the plots are reckoned.
    Nothing on the sheet moves a bar of the house; only `Plot.apply` does.
    """

    def __init__(self, house, cues=(), preset=None):
        self.house = house
        self.preset = preset or Plot(house, {b.name: b.height for b in house.pick()})
        self._cues = []
        for cue in cues:
            self.add(cue)

    def __iter__(self):
        return iter(self._cues)

    def add(self, cue):
        if any(c.number == cue.number for c in self._cues):
            raise RigError(f"there is a cue {cue.number} already")
        for deal in cue.deals:
            self.house.bar(deal.bar)
        self._cues = sorted([*self._cues, cue], key=lambda c: float(c.number))
        return self

    def cue(self, number):
        """The cue of that number, given as text or as a number."""
        for cue in self._cues:
            if cue.number == _number(number):
                return cue
        raise NotRigged(f"no cue {number}; there are {', '.join(c.number for c in self._cues)}")

    def between(self, first, last):
        """The part of the sheet from one number to another, both included.
        The part's preset is where the bars stand as its first cue is called.
        >>> from halyardry import load_show
        >>> [cue.number for cue in load_show("chamber").sheet.between(2, 2.9)]
        ['2', '2.5']
        """
        part = [c for c in self._cues if float(first) <= float(c.number) <= float(last)]
        return Flysheet(self.house, part, self._plot(c for c in self._cues if float(c.number) < float(first)))

    def touching(self, bar):
        name = self.house.bar(bar).name
        return Flysheet(self.house, [c for c in self._cues if name in c.bars()], self.preset)

    def _plot(self, cues):
        heights = dict(self.preset.heights)
        for cue in cues:
            for deal in cue.deals:
                bar = self.house.bar(deal.bar)
                heights[bar.name] = min(max(bar._reach(deal.to), bar.low), bar.high)
        return Plot(self.house, heights)

    def plot_after(self, number):
        """Where the bars stand once this cue has finished.
        >>> from halyardry import load_show
        >>> load_show("chamber").sheet.plot_after("2.5").heights
        {'CL1': 80, 'LX1': 560, 'CL2': 0}
        """
        return self._plot(self._cues[:self._cues.index(self.cue(number)) + 1])

    def snags(self, *whys):
        """Go through the sheet for deals that can't be done as written, or do nothing.
        All of them unless some of "fast", "trim", "idle" are named. A bar asked beyond its trim
        is taken to stop there.
        >>> from halyardry import load_show
        >>> load_show("chamber").sheet.between(3, 3).snags("idle")
        [Snag(cue='3', bar='CL2', why='idle', amount=0)]
        """
        for why in whys:
            _word("why", why, WHYS)
        found, now = [], self.preset.heights
        for cue in self._cues:
            then = self.plot_after(cue.number).heights
            for deal in cue.deals:
                bar = self.house.bar(deal.bar)
                way, beyond = abs(then[bar.name] - now[bar.name]), abs(bar._reach(deal.to) - then[bar.name])
                if way > bar.speed * deal.secs:
                    found.append(Snag(cue.number, bar.name, "fast", way / deal.secs - bar.speed if deal.secs else float("inf")))
                if beyond:
                    found.append(Snag(cue.number, bar.name, "trim", beyond))
                if not way:
                    found.append(Snag(cue.number, bar.name, "idle", 0))
            now = then
        return [s for s in found if not whys or s.why in whys]
