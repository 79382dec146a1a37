"""Sieve decks, nests of decks, and the trials run over them."""
from math import exp, log

from .errors import MillError


class Deck:
    """One sieve: a tag to call it by and its aperture in microns."""

    def __init__(self, tag, microns):
        if tag == "pan":
            raise MillError("a deck can't be called 'pan'")
        self.tag, self.microns = tag, microns


class Nest:
    """Decks stacked over a pan, the coarsest on top.

    They may be given in any order.

    >>> nest = Nest([Deck("silk", 125), Deck("wire", 710), Deck("bolt", 250)])
    >>> nest.tags
    ['wire', 'bolt', 'silk']
    """

    def __init__(self, decks):
        self.decks = sorted(decks, key=lambda d: -d.microns)

    @property
    def tags(self):
        return [d.tag for d in self.decks]

    def trial(self, held, charge=None):
        """Enter what each deck held back, in grams, as a trial.

        ``held`` goes by tag, with ``"pan"`` for what fell through them
        all. ``charge`` is what was poured on, where that was weighed.

        >>> nest = Nest([Deck("wire", 710), Deck("silk", 125)])
        >>> t = nest.trial({"wire": 20, "silk": 50, "pan": 30}, charge=102)
        >>> t.shares()
        {'wire': 20.0, 'silk': 50.0, 'pan': 30.0}
        """
        for tag in held:
            if tag != "pan":
                self._rank(tag)
        return Trial(self, held, charge)

    def _rank(self, tag):
        if tag not in self.tags:
            raise MillError(f"no deck {tag!r} in this nest; there are: "
                            f"{', '.join(self.tags)}")
        return self.tags.index(tag)


class Trial:
    """What a nest made of one sample."""

    def __init__(self, nest, held, charge=None):
        self.nest = nest
        self.held = {t: float(held.get(t, 0)) for t in nest.tags + ["pan"]}
        self.recovered = sum(self.held.values())
        self.charge = charge
        if not self.recovered:
            raise MillError("the trial recovered nothing")

    @property
    def loss(self):
        if self.charge is None:
            return None
        return 100 * (self.charge - self.recovered) / self.charge

    def shares(self):
        """Percent of the recovered grams on each deck and in the pan."""
        return {t: 100 * g / self.recovered for t, g in self.held.items()}

    def passing(self, tag):
        """Percent that went through the deck called ``tag``.

        >>> nest = Nest([Deck("wire", 710), Deck("silk", 125)])
        >>> nest.trial({"wire": 20, "silk": 50, "pan": 30}).passing("wire")
        80.0
        """
        below = list(self.held.values())[self.nest._rank(tag) + 1:]
        return 100 * sum(below) / self.recovered

    @property
    def middle(self):
        """The size in microns that half of the sample is finer than.

        Lies between two decks, on a logarithmic scale.

        >>> nest = Nest([Deck("wire", 800), Deck("silk", 200)])
        >>> round(nest.trial({"wire": 25, "silk": 50, "pan": 25}).middle)
        400
        """
        points = [(d.microns, self.passing(d.tag)) for d in self.nest.decks]
        for (big, high), (small, low) in zip(points, points[1:]):
            if low <= 50 <= high and high > low:
                part = (50 - low) / (high - low)
                return exp(log(small) + part * (log(big) - log(small)))
        raise MillError("half of the sample is not reached between two decks")

    def grade(self):
        """A word for the grind, by its middle: soft, middling or sharp."""
        middle = self.middle
        return "soft" if middle < 180 else "middling" if middle < 350 else "sharp"

    def bolt(self, parcel, tag):
        """Forecast how a parcel parts at one deck, going by this trial.

        >>> from quernstone import Parcel
        >>> nest = Nest([Deck("wire", 710), Deck("silk", 125)])
        >>> t = nest.trial({"wire": 20, "silk": 50, "pan": 30})
        >>> b = t.bolt(Parcel("M1", "meal", 500, 150, "2031-09-01"), "silk")
        >>> b.throughs
        <Parcel M1-thru flour 150.0 kg damp 150>
        """
        return Bolting(parcel, self.passing(tag) / 100)


class Bolting:
    """The two parcels, ``overs`` and ``throughs``, that bolting gives."""

    def __init__(self, parcel, part):
        self.overs = parcel._like(code=parcel.code + "-over", kind="bran",
                                  kilos=parcel.kilos * (1 - part))
        self.throughs = parcel._like(code=parcel.code + "-thru", kind="flour",
                                     kilos=parcel.kilos * part)

    @property
    def extraction(self):
        return self.throughs.kilos / (self.overs.kilos + self.throughs.kilos)
