"""Grists: what goes together in a blend, and in which parts."""
from math import ceil

from .errors import MillError, ShortError
from .parcels import _SLACK, Loft


class Grist:
    """A named blend of kinds, in parts by weight.

    The parts may have any sum.

    >>> g = Grist("maslin", {"wheat": 3, "rye": 1})
    >>> g.share("rye")
    0.25
    """

    def __init__(self, name, parts):
        if not parts or any(n <= 0 for n in parts.values()):
            raise MillError("a grist needs parts, each more than nothing")
        self.name, self.parts = name, dict(parts)

    def __repr__(self):
        listed = ", ".join(f"{k} {n:g}" for k, n in self.parts.items())
        return f"<Grist {self.name}: {listed}>"

    def share(self, kind):
        return self.parts.get(kind, 0) / sum(self.parts.values())

    def swap(self, kind, other):
        """The grist with one kind put in another's place."""
        if kind not in self.parts:
            raise MillError(f"no {kind!r} in {self.name}; there are: "
                            f"{', '.join(self.parts)}")
        parts = {}
        for k, n in self.parts.items():
            k = other if k == kind else k
            parts[k] = parts.get(k, 0) + n
        return Grist(self.name, parts)

    def bill(self, kilos):
        """What has to be weighed out for so many kilos of the blend.

        >>> Grist("maslin", {"wheat": 3, "rye": 1}).bill(200).lines
        {'wheat': 150.0, 'rye': 50.0}
        """
        return Bill({k: kilos * self.share(k) for k in self.parts})

    def ceiling(self, loft):
        return min(loft.of(k).kilos / self.share(k) for k in self.parts)

    def mix(self, loft, kilos, code, pick="age"):
        """Make the blend out of the loft and return it as a parcel.

        Within each kind, parcels are taken in the order that ``pick``
        names (see ``Loft.line_up``). The new parcel's kind is the name of
        the grist. If something is short, nothing is taken.

        >>> from quernstone import Parcel
        >>> loft = Loft([Parcel("W7", "wheat", 900, 140, "2031-08-20"),
        ...              Parcel("R1", "rye", 400, 160, "2031-08-02")])
        >>> Grist("maslin", {"wheat": 3, "rye": 1}).mix(loft, 400, "B1")
        <Parcel B1 maslin 400.0 kg damp 145>
        >>> loft.kilos
        900.0
        """
        bill = self.bill(kilos)
        lacking = bill.missing(loft)
        if lacking:
            kinds = ", ".join(f"{k} {n:g} kg" for k, n in lacking.items())
            raise ShortError(f"{self.name}: lacking {kinds}", sum(lacking.values()))
        taken = Loft()
        for kind, need in bill.lines.items():
            for parcel in loft.of(kind).line_up(pick):
                if need > _SLACK:
                    drawn = loft.pull(parcel.code, min(need, parcel.kilos))
                    taken.lay(drawn)
                    need -= drawn.kilos
        return taken.pool(code, kind=self.name)


class Bill:
    """Kilos by kind, as a grist asks for them."""

    def __init__(self, lines):
        self.lines = dict(lines)

    def cost(self, prices):
        """What the bill costs, at prices by kind for the tonne.

        >>> Bill({"wheat": 150, "rye": 50}).cost({"wheat": 240, "rye": 200})
        46.0
        """
        for kind in self.lines:
            if kind not in prices:
                raise MillError(f"no price for {kind!r}")
        return sum(n * prices[k] / 1000 for k, n in self.lines.items())

    def missing(self, loft):
        gaps = {k: n - loft.of(k).kilos for k, n in self.lines.items()}
        return {k: gap for k, gap in gaps.items() if gap > _SLACK}

    def rounded(self, step=25):
        """The bill with every line rounded up to whole steps."""
        return Bill({k: float(ceil(round(n / step, 6)) * step)
                     for k, n in self.lines.items()})
