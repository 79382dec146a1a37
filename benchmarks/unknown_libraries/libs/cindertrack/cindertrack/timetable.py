"""The line and the trains that run on it."""
from dataclasses import dataclass, replace

from .base import CinderError, UnknownName, _one_of, mark

WAYS = ("out", "home")
DAYS = "MTWHFSU"
FEET_PER_CHAIN = 66


@dataclass(frozen=True)
class Halt:
    """A stopping place: its distance in chains, its height in feet, and whether two trains can pass there."""

    name: str
    chain: int
    height: int = 0
    loop: bool = False


class Route:
    """The halts of a line, from its first to its last.

    >>> r = Route([Halt("Pier", 0, 10), Halt("Mill", 120, 43, loop=True), Halt("Top", 200, 175)])
    >>> r["Mill"].chain
    120
    >>> len(r)
    3
    """

    def __init__(self, halts):
        self._halts = sorted(halts, key=lambda h: h.chain)

    def __getitem__(self, name):
        for halt in self._halts:
            if halt.name == name:
                return halt
        raise UnknownName("halt", name, self.names)

    def __iter__(self):
        return iter(self._halts)

    def __len__(self):
        return len(self._halts)

    @property
    def names(self):
        return [h.name for h in self._halts]

    @property
    def length(self):
        """Chains from end to end."""
        return self._halts[-1].chain - self._halts[0].chain

    def run(self, start, end):
        """Chains between two halts, whichever comes first.

        >>> Route([Halt("Pier", 0), Halt("Mill", 120)]).run("Mill", "Pier")
        120
        """
        return abs(self[start].chain - self[end].chain)

    def loops(self):
        return [h for h in self._halts if h.loop]

    def leg(self, start, end):
        """The part of the line between two halts, both of them included."""
        low, high = sorted((self[start].chain, self[end].chain))
        return Route(h for h in self._halts if low <= h.chain <= high)

    def steepest(self, way="out"):
        """The hardest climb between neighbouring halts when going the given way, as (from, to, n) for 1 in n.

        >>> r = Route([Halt("Pier", 0, 10), Halt("Mill", 120, 43), Halt("Top", 200, 175)])
        >>> r.steepest()
        ('Mill', 'Top', 40.0)
        >>> r.steepest("home") is None
        True
        """
        halts = self._halts if _one_of("way", way, WAYS) == "out" else self._halts[::-1]
        climbs = [
            (abs(b.chain - a.chain) * FEET_PER_CHAIN / (b.height - a.height), a.name, b.name)
            for a, b in zip(halts, halts[1:]) if b.height > a.height
        ]
        if not climbs:
            return None
        n, a, b = min(climbs)
        return a, b, n


@dataclass(frozen=True)
class Call:
    """One line of a turn: at which halt, arriving and departing when; manner is 'stop', 'request' or 'pass'."""

    halt: str
    arr: int | None
    dep: int | None
    manner: str = "stop"

    @property
    def when(self):
        return self.arr if self.dep is None else self.dep

    @property
    def dwell(self):
        return 0 if self.arr is None or self.dep is None else self.dep - self.arr

    def _moved(self, arr_by, dep_by):
        return replace(self, arr=None if self.arr is None else self.arr + arr_by,
                       dep=None if self.dep is None else self.dep + dep_by)


@dataclass(frozen=True)
class Turn:
    """One train's run from end to end."""

    number: int
    way: str
    days: str
    calls: tuple

    @property
    def start(self):
        return self.calls[0].dep

    @property
    def finish(self):
        """The mark at which it is due at its last halt."""
        return self.calls[-1].arr

    def call_at(self, halt):
        for call in self.calls:
            if call.halt == halt:
                return call
        raise UnknownName(f"call of turn {self.number} at", halt, [c.halt for c in self.calls])

    def runs_on(self, day):
        return _one_of("day", day, DAYS) in self.days

    def shifted(self, by, since=None):
        """The turn with its times moved by so many minutes (earlier if negative).

        With `since`, the train is held at that halt: it comes there as before, and leaves there and
        makes all its later calls so much later.

        >>> t = Turn(1, "out", "MTWHF", (Call("Pier", None, 480), Call("Mill", 490, 492), Call("Top", 505, None)))
        >>> t.shifted(10).start
        490
        >>> t.shifted(10, since="Mill").call_at("Mill")
        Call(halt='Mill', arr=490, dep=502, manner='stop')
        """
        reached, calls = since is None, []
        if since is not None:
            self.call_at(since)
        for call in self.calls:
            calls.append(call._moved(by if reached else 0, by if reached or call.halt == since else 0))
            reached = reached or call.halt == since
        if any(c.dwell < 0 for c in calls):
            raise CinderError(f"turn {self.number} would leave {since} before it arrives")
        return replace(self, calls=tuple(calls))


@dataclass(frozen=True)
class Crossing:
    """Two turns that pass each other at a loop; wait is how long the first to come stands before the other comes."""

    halt: str
    out: int
    home: int
    at: int
    wait: int


class Board:
    """The calls at one halt in order of time, as pairs of a turn and its call.

    >>> from cindertrack import load_yard
    >>> board = load_yard("emberly").book.board("Furnace", day="U")
    >>> [(turn.number, call.when) for turn, call in board]
    [(3, 543), (4, 640)]
    """

    def __init__(self, halt, pairs):
        self.halt = halt
        self._pairs = sorted(pairs, key=lambda p: (p[1].when, p[0].number))

    def __iter__(self):
        return iter(self._pairs)

    def __len__(self):
        return len(self._pairs)

    def bound(self, way):
        """Only the turns that go this way."""
        _one_of("way", way, WAYS)
        return Board(self.halt, [p for p in self._pairs if p[0].way == way])

    def after(self, time):
        """The board from a time on, a call at that very minute included."""
        return Board(self.halt, [p for p in self._pairs if p[1].when >= mark(time)])


class Book:
    """The working timetable.

    >>> from cindertrack import load_yard
    >>> book = load_yard("emberly").book
    >>> [t.number for t in book]
    [1, 2, 3, 4, 5, 6, 7, 8]
    """

    def __init__(self, route, turns):
        self.route = route
        self._turns = {t.number: t for t in turns}

    def __iter__(self):
        return iter(sorted(self._turns.values(), key=lambda t: t.number))

    def turn(self, number):
        if number not in self._turns:
            raise UnknownName("turn", number, sorted(self._turns))
        return self._turns[number]

    def turns(self, way=None, day=None):
        """The turns that go this way and run on this day, in the order in which they start.

        >>> from cindertrack import load_yard
        >>> [t.number for t in load_yard("emberly").book.turns(way="out", day="S")]
        [1, 3, 5]
        """
        _one_of("way", way, WAYS, needed=False)
        found = [t for t in self if way in (None, t.way) and (day is None or t.runs_on(day))]
        return sorted(found, key=lambda t: t.start)

    def board(self, halt, day=None, passing=False):
        """What calls at a halt; trains that run through are left out unless passing is true."""
        self.route[halt]
        pairs = [(t, c) for t in self.turns(day=day) for c in t.calls if c.halt == halt]
        return Board(halt, [p for p in pairs if passing or p[1].manner != "pass"])

    def crossings(self, day):
        """Where the trains of a day pass each other, by time.

        >>> from cindertrack import load_yard
        >>> load_yard("emberly").book.crossings("U")
        []
        >>> load_yard("emberly").book.crossings("M")[0]
        Crossing(halt='Furnace', out=1, home=2, at=438, wait=5)
        """
        found = []
        for out in self.turns("out", day):
            for home in self.turns("home", day):
                for halt in self.route.loops():
                    a, b = (next((c for c in t.calls if c.halt == halt.name), None) for t in (out, home))
                    if a is None or b is None or None in (a.arr, a.dep, b.arr, b.dep):
                        continue
                    if a.arr <= b.dep and b.arr <= a.dep:
                        found.append(Crossing(halt.name, out.number, home.number, max(a.arr, b.arr), abs(a.arr - b.arr)))
        return sorted(found, key=lambda c: (c.at, c.out))

    def retime(self, number, by, since=None):
        """Write a shifted turn into the book in place of the old one, and hand it out."""
        self._turns[number] = self.turn(number).shifted(by, since)
        return self._turns[number]
