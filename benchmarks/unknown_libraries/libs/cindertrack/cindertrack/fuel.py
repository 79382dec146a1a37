"""The coal and oil accounts."""
from dataclasses import dataclass

from .base import CinderError, _one_of

KINDS = ("deliver", "draw", "count")
FUELS = ("coal", "oil")


@dataclass(frozen=True)
class Entry:
    """A line of the ledger: fuel delivered at a price, drawn by an engine, or counted in the bunker."""

    day: str
    kind: str
    fuel: str
    amount: int
    price: int = 0
    engine: str | None = None


@dataclass(frozen=True)
class Statement:
    """What became of one fuel over some days; cost is the pence that the drawn fuel had been bought for."""

    fuel: str
    opening: int
    received: int
    drawn: int
    adjusted: int
    cost: float

    @property
    def closing(self):
        """What is left at the end."""
        return self.opening + self.received - self.drawn + self.adjusted


class Ledger:
    """Deliveries, draws and counts of coal (in cwt) and oil (in gallons).

    >>> ledger = Ledger()
    >>> ledger.post("1926-05-01", "deliver", "coal", 100, price=14)
    >>> ledger.post("1926-05-02", "draw", "coal", 30, engine="Wren")
    >>> ledger.stock("coal")
    70
    """

    def __init__(self, entries=()):
        self._entries = []
        for e in entries:
            self.post(e.day, e.kind, e.fuel, e.amount, price=e.price, engine=e.engine)

    def post(self, day, kind, fuel, amount, price=0, engine=None):
        """Enter a line. A 'deliver' has a price in pence for each cwt or gallon, a 'draw' has an engine, and
        a 'count' says what was really there that evening.

        >>> ledger = Ledger()
        >>> ledger.post("1926-05-01", "draw", "oil", 3)
        Traceback (most recent call last):
        cindertrack.base.CinderError: a draw needs an engine
        """
        _one_of("kind", kind, KINDS)
        _one_of("fuel", fuel, FUELS)
        if kind == "draw" and engine is None:
            raise CinderError("a draw needs an engine")
        if kind == "deliver" and price <= 0:
            raise CinderError("a deliver needs a price")
        self._entries.append(Entry(day, kind, fuel, amount, price, engine))
        self._entries.sort(key=lambda e: (e.day, KINDS.index(e.kind)))

    def entries(self, kind=None, fuel=None, engine=None):
        _one_of("kind", kind, KINDS, needed=False)
        _one_of("fuel", fuel, FUELS, needed=False)
        return [e for e in self._entries if kind in (None, e.kind) and fuel in (None, e.fuel) and engine in (None, e.engine)]

    def stock(self, fuel, on=None):
        """What was in the bunker at the end of a day, or is there now.

        >>> ledger = Ledger([Entry("1926-05-01", "deliver", "oil", 40, 9), Entry("1926-05-03", "count", "oil", 38)])
        >>> ledger.stock("oil", on="1926-05-02"), ledger.stock("oil")
        (40, 38)
        """
        left = 0
        for e in self.entries(fuel=_one_of("fuel", fuel, FUELS)):
            if on is None or e.day <= on:
                left = {"deliver": left + e.amount, "draw": left - e.amount, "count": e.amount}[e.kind]
        return left

    def drawn(self, fuel, by="engine", since=None, until=None):
        """How much was drawn by 'engine' or by 'day', as a dict; both ends of the period belong to it."""
        _one_of("by", by, ("engine", "day"))
        found = {}
        for e in self.entries("draw", _one_of("fuel", fuel, FUELS)):
            if (since is None or e.day >= since) and (until is None or e.day <= until):
                key = getattr(e, by)
                found[key] = found.get(key, 0) + e.amount
        return found

    def statement(self, fuel, since, until, method="oldest"):
        """The account of one fuel from one day to another. By 'oldest', the oldest fuel is used first; by 'mean', all in
        the bunker has one mean price. What a count finds missing goes the same way but costs the engines nothing."""
        _one_of("method", method, ("oldest", "mean"))
        lots, sums, cost, opening = [], {"deliver": 0, "draw": 0, "count": 0}, 0.0, 0
        for e in self.entries(fuel=_one_of("fuel", fuel, FUELS)):
            if e.day > until:
                break
            left = sum(amount for amount, _ in lots)
            if e.kind == "deliver" or (e.kind == "count" and e.amount > left):
                moved = e.amount if e.kind == "deliver" else e.amount - left
                lots.append([moved, e.price or (lots[-1][1] if lots else 0)])
                spent = 0.0
            else:
                moved = e.amount if e.kind == "draw" else e.amount - left
                spent = _take(lots, abs(moved), e)
            if method == "mean" and sum(amount for amount, _ in lots):
                total = sum(amount for amount, _ in lots)
                lots = [[total, sum(amount * price for amount, price in lots) / total]]
            if e.day < since:
                opening = sum(amount for amount, _ in lots)
            else:
                sums[e.kind] += moved
                cost += spent if e.kind == "draw" else 0.0
        return Statement(fuel, opening, sums["deliver"], sums["draw"], sums["count"], cost)


def _take(lots, wanted, entry):
    if wanted > sum(amount for amount, _ in lots):
        raise CinderError(f"on {entry.day} more {entry.fuel} was drawn than there was")
    spent = 0.0
    while wanted:
        part = min(wanted, lots[0][0])
        spent += part * lots[0][1]
        wanted -= part
        lots[0][0] -= part
        if not lots[0][0]:
            lots.pop(0)
    return spent
