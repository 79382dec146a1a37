"""Parcels of grain or meal, and the loft that holds them.

Moisture is called *damp* throughout: grams of water in a kilo of the
parcel as it lies.
"""
from datetime import timedelta

from .errors import MillError, ShortError, _day, _one_of

_SLACK = 1e-6
ORDERS = {"age": lambda p: (p.laid, p.code), "damp": lambda p: (p.damp, p.code),
          "kilos": lambda p: (-p.kilos, p.code), "code": lambda p: p.code}


def keeping_days(damp, celsius=15):
    """How many days grain of this damp keeps at a steady temperature.

    Halves with every 10 of damp and with every 5 degrees; never more
    than 720.

    >>> keeping_days(140)
    240
    >>> keeping_days(140, celsius=20)
    120
    """
    days = 60 * 2 ** ((160 - damp) / 10) * 2 ** ((15 - celsius) / 5)
    return min(720, int(days))


class Parcel:
    """One lot of grain or meal with its own code.

    ``protein`` is in grams per kilo of dry matter; ``laid`` is the day
    it came in, a date or an ISO string.

    >>> p = Parcel("W7", "wheat", 1000, 140, "2031-08-20")
    >>> p
    <Parcel W7 wheat 1000.0 kg damp 140>
    """

    def __init__(self, code, kind, kilos, damp, laid, protein=None):
        if not 0 <= damp < 1000:
            raise MillError(f"damp={damp!r}: must be from 0 up to 1000")
        self.code, self.kind = code, kind
        self.kilos, self.damp = float(kilos), damp
        self.laid, self.protein = _day(laid), protein

    def __repr__(self):
        return (f"<Parcel {self.code} {self.kind} {self.kilos:.1f} kg "
                f"damp {self.damp:g}>")

    def _like(self, **changes):
        fields = dict(code=self.code, kind=self.kind, kilos=self.kilos,
                      damp=self.damp, laid=self.laid, protein=self.protein)
        return Parcel(**{**fields, **changes})

    @property
    def dry_kilos(self):
        return self.kilos * (1000 - self.damp) / 1000

    def draw(self, kilos):
        """Take some off this parcel and return it as a parcel.

        The parcel itself is left with the rest.

        >>> p = Parcel("W7", "wheat", 1000, 140, "2031-08-20")
        >>> p.draw(250)
        <Parcel W7 wheat 250.0 kg damp 140>
        >>> p.kilos
        750.0
        """
        if kilos > self.kilos + _SLACK:
            raise ShortError(f"{self.code} holds {self.kilos:g} kg, "
                             f"{kilos:g} asked for", kilos - self.kilos)
        self.kilos = max(0.0, self.kilos - kilos)
        return self._like(kilos=kilos)

    def litres_to(self, damp):
        """Litres of water to add for the parcel to reach ``damp``.

        >>> Parcel("W7", "wheat", 1000, 140, "2031-08-20").litres_to(160)
        23.809523809523853
        """
        return self.dry_kilos * 1000 / (1000 - damp) - self.kilos

    def settle(self, damp):
        """The parcel as it would be once wetted or dried to ``damp``."""
        return self._like(kilos=self.kilos + self.litres_to(damp), damp=damp)

    def keeps_until(self, celsius=15):
        return self.laid + timedelta(days=keeping_days(self.damp, celsius))


class Loft:
    """The parcels that lie in store, by code.

    Iterating gives the parcels in the order in which they were laid in;
    ``loft["W7"]`` gives one of them.

    >>> loft = Loft([Parcel("W7", "wheat", 1000, 140, "2031-08-20")])
    >>> loft.lay(Parcel("R1", "rye", 400, 152, "2031-08-02")).codes
    ['W7', 'R1']
    """

    def __init__(self, parcels=()):
        self._parcels = {}
        for parcel in parcels:
            self.lay(parcel)

    def __iter__(self):
        return iter(list(self._parcels.values()))

    def __len__(self):
        return len(self._parcels)

    def __contains__(self, code):
        return code in self._parcels

    def __getitem__(self, code):
        if code not in self._parcels:
            raise MillError(f"no parcel {code!r} here; there are: "
                            f"{', '.join(self._parcels) or 'none'}")
        return self._parcels[code]

    @property
    def codes(self):
        return list(self._parcels)

    @property
    def kilos(self):
        return sum(p.kilos for p in self)

    @property
    def damp(self):
        """Damp of all the parcels together, weighted by kilos."""
        if not self.kilos:
            return None
        return sum(p.kilos * p.damp for p in self) / self.kilos

    def lay(self, parcel):
        """Put a parcel into the loft; its code must be new there."""
        if parcel.code in self._parcels:
            raise MillError(f"{parcel.code!r} is in the loft already")
        self._parcels[parcel.code] = parcel
        return self

    def pull(self, code, kilos=None):
        """Take a parcel out of the loft, or some kilos of it.

        Without ``kilos`` the whole parcel goes. A parcel of which nothing
        is left goes from the loft too.

        >>> loft = Loft([Parcel("W7", "wheat", 1000, 140, "2031-08-20")])
        >>> loft.pull("W7", 300).kilos, loft.kilos
        (300.0, 700.0)
        >>> loft.pull("W7").kilos, len(loft)
        (700.0, 0)
        """
        parcel = self[code]
        drawn = parcel.draw(parcel.kilos if kilos is None else kilos)
        if parcel.kilos <= _SLACK:
            del self._parcels[code]
        return drawn

    def of(self, *kinds):
        """A loft of the parcels of these kinds only."""
        return Loft(p for p in self if p.kind in kinds)

    def drier_than(self, damp):
        return Loft(p for p in self if p.damp < damp)

    def line_up(self, by="age"):
        """The parcels as a list, in an order given by a word.

        ``"age"`` has the oldest first, ``"damp"`` the driest, ``"kilos"``
        the largest, and ``"code"`` goes by the alphabet.

        >>> loft = Loft([Parcel("W7", "wheat", 1000, 140, "2031-08-20"),
        ...              Parcel("R1", "rye", 400, 152, "2031-08-02")])
        >>> [p.code for p in loft.line_up("damp")]
        ['W7', 'R1']
        """
        return sorted(self, key=ORDERS[_one_of("by", by, ORDERS)])

    def tally(self, by="kind"):
        """Kilos summed up by ``"kind"``, ``"month"`` or ``"state"``."""
        key = {"kind": lambda p: p.kind,
               "month": lambda p: p.laid.strftime("%Y-%m"),
               "state": lambda p: "dry" if p.damp <= 135 else
                                  "fair" if p.damp <= 150 else "wet"}
        _one_of("by", by, key)
        sums = {}
        for p in self:
            sums[key[by](p)] = sums.get(key[by](p), 0.0) + p.kilos
        return sums

    def pool(self, code, kind=None):
        """All the parcels thrown together, as one new parcel.

        Its day is that of the oldest. Protein is unknown as soon as one
        of them has none.
        """
        parcels = list(self)
        if not parcels:
            raise MillError("nothing to pool: the loft is empty")
        kinds = {p.kind for p in parcels}
        dry = sum(p.dry_kilos for p in parcels)
        protein = None
        if dry and all(p.protein is not None for p in parcels):
            protein = sum(p.dry_kilos * p.protein for p in parcels) / dry
        return Parcel(code, kind or (kinds.pop() if len(kinds) == 1 else "mixed"),
                      self.kilos, self.damp, min(p.laid for p in parcels), protein)
