"""The house: its bars, and what hangs on them."""

from dataclasses import dataclass

from .errors import NotRigged, RigError, _word

SPEEDS = {"hemp": 60, "counterweight": 90, "motor": 120}
PACES = {"show": 1.0, "rehearsal": 0.5, "rigging": 0.25}
KINDS = ("lamp", "cloth", "set", "cable")


@dataclass(frozen=True)
class Hang:
    """One thing that hangs on a bar.

    `kg` is its mass, `at` the place of its middle along the bar in cm from the centre line
    (stage left is positive), and `kind` one of "lamp", "cloth", "set", "cable".
    """

    name: str
    kg: float
    at: float = 0
    kind: str = "set"

    def __post_init__(self):
        _word("kind", self.kind, KINDS)


class Bar:
    """A flying bar.
    `depth` is the distance upstage of the setting line, `low` and `high` are the trims between
    which the bar runs, and `limit` is the mass in kg that may hang on it. Lengths are in cm.
    The drive is "hemp", "counterweight" or "motor" and sets the full speed in cm/s, unless
    `speed` is given. A new bar is at its low trim unless `height` says otherwise.
    >>> Bar("lx1", 80, 120, 900, 300)
    <Bar LX1 at 120, 0 of 300 kg>
    """

    def __init__(self, name, depth, low, high, limit, drive="counterweight", pipe=40, height=None, speed=None):
        self.name = name.upper()
        self.depth, self.low, self.high, self.limit, self.pipe = depth, low, high, limit, pipe
        self.drive = _word("drive", drive, tuple(SPEEDS))
        self.speed = SPEEDS[drive] if speed is None else speed
        self._hangs = []
        self.run_to(low if height is None else height)

    def __repr__(self):
        return f"<Bar {self.name} at {self.height:g}, {self.payload:g} of {self.limit:g} kg>"

    @property
    def hangs(self):
        """What hangs on the bar, from stage right to stage left."""
        return tuple(sorted(self._hangs, key=lambda h: h.at))

    def hang(self, hang):
        """Hang something on the bar, and return the bar.
        Raises RigError where the bar's limit would be passed.
        >>> bar = Bar("LX1", 80, 120, 900, 300)
        >>> bar.hang(Hang("Wash 1", 22)).hang(Hang("Wash 2", 22, at=100))
        <Bar LX1 at 120, 44 of 300 kg>
        """
        if any(h.name == hang.name for h in self._hangs):
            raise RigError(f"{self.name} already carries {hang.name!r}")
        if hang.kg > self.spare:
            raise RigError(f"{self.name} can take {self.spare:g} kg more, {hang.name!r} is {hang.kg:g} kg")
        self._hangs.append(hang)
        return self

    @property
    def payload(self):
        return sum(h.kg for h in self._hangs)

    @property
    def gross(self):
        """The payload and the pipe together, which is what the line set lifts."""
        return self.payload + self.pipe

    @property
    def spare(self):
        return self.limit - self.payload

    def lean(self):
        """Where the load's balance point is along the bar.
        >>> bar = Bar("LX1", 80, 120, 900, 300)
        >>> bar.hang(Hang("Wash 1", 20, at=-150)).hang(Hang("Wash 2", 10, at=150)).lean()
        -50.0
        """
        return sum(h.kg * h.at for h in self._hangs) / self.payload if self.payload else None

    def bricks(self, kg=12.5):
        """How many counterweight bricks the arbor takes.
        The bar is left a little heavy rather than a little light: a part of a brick isn't loaded.
        >>> Bar("LX1", 80, 120, 900, 300, pipe=40).hang(Hang("Wash 1", 22)).bricks()
        4
        """
        return int(self.gross // kg)

    def _reach(self, to):
        """Turn "in" (the low trim), "out" (the high trim) or a number into a height in cm."""
        if isinstance(to, str):
            return self.low if _word("height", to, ("in", "out")) == "in" else self.high
        return to

    def run_to(self, to):
        """Move the bar now, and return it."""
        to = self._reach(to)
        if not self.low <= to <= self.high:
            raise RigError(f"{self.name} runs between {self.low:g} and {self.high:g} cm, not to {to:g}")
        self.height = to
        return self

    def seconds_to(self, to, pace="show"):
        """How long the bar takes from where it is, at the pace "show", "rehearsal" or "rigging".
        >>> Bar("LX1", 80, 120, 900, 300, drive="motor").seconds_to(720, pace="rehearsal")
        10.0
        """
        _word("pace", pace, tuple(PACES))
        return abs(self._reach(to) - self.height) / (self.speed * PACES[pace])


class Pick:
    """Some bars of a house, in an order. Every method that narrows or orders gives a new Pick.
    >>> house = House("Old Vat", [Bar("LX1", 80, 120, 900, 300), Bar("T1", 40, 0, 950, 250)])
    >>> house.pick().names()
    ['T1', 'LX1']
    """

    _ORDERS = ("depth", "height", "payload", "spare", "name")

    def __init__(self, bars):
        self._bars = tuple(bars)

    def __iter__(self):
        return iter(self._bars)

    def __len__(self):
        return len(self._bars)

    def __getitem__(self, index):
        return self._bars[index]

    def names(self):
        return [b.name for b in self._bars]

    def where(self, drive=None, over=None, under=None, bare=None, carries=None):
        """Keep the bars that meet every condition given.
        `over` and `under` compare the height as it is now, `bare` (True or False) whether nothing
        hangs there, `carries` a kind of hang of which there must be one at least.
        >>> house = House("Old Vat", [Bar("LX1", 80, 120, 900, 300), Bar("T1", 40, 0, 950, 250)])
        >>> house.pick().where(over=100).names()
        ['LX1']
        """
        _word("drive", drive, (None, *SPEEDS))
        _word("kind", carries, (None, *KINDS))
        return Pick(b for b in self._bars
                    if (drive is None or b.drive == drive)
                    and (over is None or b.height > over)
                    and (under is None or b.height < under)
                    and (bare is None or bare == (not b.hangs))
                    and (carries is None or any(h.kind == carries for h in b.hangs)))

    def by(self, order, down=False):
        """Order by "depth", "height", "payload", "spare" or "name"; `down` puts the greatest first."""
        _word("order", order, self._ORDERS)
        return Pick(sorted(self._bars, key=lambda b: getattr(b, order), reverse=down))

    def total(self, what="payload"):
        _word("total", what, ("payload", "gross", "spare"))
        return sum(getattr(b, what) for b in self._bars)


class House:
    """A theatre with its bars, kept from downstage to upstage."""

    def __init__(self, name, bars=()):
        self.name = name
        self._bars = {}
        for bar in bars:
            self.add(bar)

    def add(self, bar):
        if bar.name in self._bars:
            raise RigError(f"{self.name} already has a bar {bar.name}")
        self._bars[bar.name] = bar
        return self

    def bar(self, name):
        """The bar of that name, in capitals or not."""
        try:
            return self._bars[name.upper()]
        except KeyError:
            raise NotRigged(f"no bar {name!r} in {self.name}; there are {', '.join(self.pick().names())}") from None

    def pick(self, *names):
        """A Pick of the bars named, in that order, or of all."""
        if names:
            return Pick(self.bar(n) for n in names)
        return Pick(self._bars.values()).by("depth")
