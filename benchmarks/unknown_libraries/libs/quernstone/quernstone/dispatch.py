"""Dockets for dispatch, the rota that keeps them, allotment and carts."""
from math import ceil

from .errors import MillError, _day, _one_of
from .parcels import _SLACK, ORDERS

# kilos that one holds, kilos that it weighs empty
PACKS = {"sack": (25, 0.25), "tote": (600, 14.0), "bulk": (None, 0.0)}


class Docket:
    """An order of one customer for one kind.

    ``pack`` is ``"sack"``, ``"tote"`` or ``"bulk"``. With ``damp_limit``
    nothing damper may be sent.

    >>> d = Docket(31, "Ferris", "rye", 610, "2031-10-04", pack="sack")
    >>> d.packs, d.gross
    (25, 616.25)
    """

    def __init__(self, number, customer, kind, kilos, due, pack="sack",
                 damp_limit=None):
        self.number, self.customer, self.kind = number, customer, kind
        self.kilos, self.due = float(kilos), _day(due)
        self.pack, self.damp_limit = _one_of("pack", pack, PACKS), damp_limit

    @property
    def packs(self):
        """How many packs it takes, the last perhaps not full; 1 for bulk."""
        size = PACKS[self.pack][0]
        return 1 if size is None else ceil(self.kilos / size)

    @property
    def gross(self):
        """Kilos with the packs' own weight."""
        return self.kilos + self.packs * PACKS[self.pack][1]


class Rota:
    """The dockets that are still to be sent.

    >>> rota = Rota([Docket(31, "Ferris", "rye", 610, "2031-10-04"),
    ...              Docket(32, "Oke", "wheat", 90, "2031-10-01")])
    >>> [d.number for d in rota.rank()]
    [32, 31]
    """

    def __init__(self, dockets=()):
        self._dockets = list(dockets)

    def __iter__(self):
        return iter(list(self._dockets))

    def __len__(self):
        return len(self._dockets)

    def for_customer(self, name):
        return Rota(d for d in self if d.customer == name)

    def due_by(self, day):
        """The dockets due on that day or before, as a rota."""
        return Rota(d for d in self if d.due <= _day(day))

    def rank(self, by="due"):
        """The dockets as a list, by ``"due"``, ``"kilos"`` or ``"customer"``."""
        keys = {"due": lambda d: (d.due, d.number),
                "kilos": lambda d: (-d.kilos, d.number),
                "customer": lambda d: (d.customer, d.due, d.number)}
        return sorted(self, key=keys[_one_of("by", by, keys)])

    def demand(self):
        """Kilos ordered of each kind.

        >>> rota = Rota([Docket(31, "Ferris", "rye", 610, "2031-10-04"),
        ...              Docket(33, "Oke", "rye", 90, "2031-10-01")])
        >>> rota.demand()
        {'rye': 700.0}
        """
        sums = {}
        for d in self:
            sums[d.kind] = sums.get(d.kind, 0.0) + d.kilos
        return sums

    def strike(self, *numbers):
        known = [d.number for d in self]
        for n in numbers:
            if n not in known:
                raise MillError(f"no docket {n!r} on the rota")
        self._dockets = [d for d in self if d.number not in numbers]
        return self

    def allot(self, loft, rank="due", pick="age", whole=True):
        """Plan which parcels serve which dockets.

        Dockets are served in the order ``rank``, parcels taken in the
        order ``pick``. With ``whole`` a docket that can't be filled gets
        nothing and leaves its grain to those after it; otherwise it gets
        what there is. The loft stays as it is until ``commit``.

        >>> from quernstone import Loft, Parcel
        >>> loft = Loft([Parcel("R1", "rye", 400, 152, "2031-08-02")])
        >>> rota = Rota([Docket(31, "Ferris", "rye", 610, "2031-10-04")])
        >>> rota.allot(loft, whole=False).lines
        [(31, 'R1', 400.0)]
        >>> rota.allot(loft).short
        {31: 610.0}
        """
        _one_of("pick", pick, ORDERS)
        left = {p.code: p.kilos for p in loft}
        lines = []
        for d in self.rank(rank):
            need, got = d.kilos, []
            for p in loft.of(d.kind).line_up(pick):
                if d.damp_limit is not None and p.damp > d.damp_limit:
                    continue
                part = min(need, left[p.code])
                if part > _SLACK:
                    got.append((d.number, p.code, part))
                    need -= part
            if need <= _SLACK or not whole:
                for _, code, part in got:
                    left[code] -= part
                lines += got
        return Allotment(self, loft, lines)

    def carts(self, limit=12000, rank="due"):
        """Load the dockets on carts, each on the first with room for it.

        ``limit`` is the kilos that a cart may carry, packs included.
        """
        carts = []
        for d in self.rank(rank):
            if d.gross > limit:
                raise MillError(f"docket {d.number} weighs {d.gross:g} kg, "
                                f"a cart carries {limit:g}")
            cart = next((c for c in carts if c.room >= d.gross), None)
            if cart is None:
                cart = Cartload(limit)
                carts.append(cart)
            cart.dockets.append(d)
        return carts


class Allotment:
    """A plan; ``lines`` holds (docket number, parcel code, kilos)."""

    def __init__(self, rota, loft, lines):
        self._dockets, self._loft, self.lines = list(rota), loft, lines
        self._done = False

    @property
    def short(self):
        """Kilos lacking by docket number, only for dockets not filled."""
        gaps = {d.number: d.kilos for d in self._dockets}
        for number, _, kilos in self.lines:
            gaps[number] -= kilos
        return {n: gap for n, gap in gaps.items() if gap > _SLACK}

    @property
    def filled(self):
        return [d.number for d in self._dockets if d.number not in self.short]

    def commit(self):
        """Take what is allotted out of the loft.

        Returns a dict of docket number to the parcels drawn for it.
        """
        if self._done:
            raise MillError("this allotment has been committed already")
        self._done = True
        drawn = {}
        for number, code, kilos in self.lines:
            drawn.setdefault(number, []).append(self._loft.pull(code, kilos))
        return drawn


class Cartload:
    """The dockets that go on one cart."""

    def __init__(self, limit):
        self.limit, self.dockets = limit, []

    @property
    def numbers(self):
        return [d.number for d in self.dockets]

    @property
    def kilos(self):
        return sum(d.gross for d in self.dockets)

    @property
    def room(self):
        return self.limit - self.kilos
