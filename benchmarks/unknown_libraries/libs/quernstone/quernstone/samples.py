"""Three small mills to try things on."""
from datetime import date

from .dispatch import Docket, Rota
from .errors import _one_of
from .grists import Grist
from .parcels import Loft, Parcel
from .sieves import Deck, Nest

_DECKS = [("wire", 1120), ("coarse", 560), ("bolt", 280), ("silk", 140)]
_MILLS = {
    "ardle": dict(
        today="2031-10-01",
        parcels=[("W1", "wheat", 4200, 138, "2031-08-14", 131), ("W2", "wheat", 2600, 152, "2031-08-02", 118),
                 ("R1", "rye", 1800, 146, "2031-07-28", 96), ("S1", "spelt", 950, 129, "2031-09-05", 148),
                 ("W3", "wheat", 1500, 133, "2031-09-11", 126)],
        trials={"W1": ((18, 42, 61, 54, 23), 200), "R1": ((31, 50, 47, 39, 30), 200)},
        grists={"maslin": {"wheat": 3, "rye": 1}, "huff": {"wheat": 5, "spelt": 2}},
        dockets=[(101, "Oke", "wheat", 1300, "2031-10-06", "sack", 140), (102, "Ferris", "rye", 1200, "2031-10-03", "tote", None),
                 (103, "Oke", "rye", 700, "2031-10-09", "sack", None), (104, "Pell", "wheat", 5000, "2031-10-02", "bulk", 150),
                 (105, "Ferris", "spelt", 410, "2031-10-06", "sack", 135)],
        prices={"wheat": 236.0, "rye": 204.0, "spelt": 395.0}),
    "brome": dict(
        today="2032-02-16",
        parcels=[("B4", "barley", 3100, 141, "2031-11-20", 102), ("B5", "barley", 2250, 149, "2032-01-08", 99),
                 ("O2", "oats", 1640, 127, "2031-12-15", None), ("W9", "wheat", 5400, 144, "2031-12-01", 122)],
        trials={"B4": ((44, 70, 81, 60, 40), 300), "W9": ((9, 33, 75, 96, 84), 300)},
        grists={"bannock": {"barley": 4, "oats": 1}, "field": {"wheat": 2, "barley": 1}},
        dockets=[(7, "Lunn", "barley", 2400, "2032-02-18", "tote", None), (8, "Marr", "oats", 1650, "2032-02-20", "sack", None),
                 (9, "Lunn", "wheat", 3000, "2032-02-25", "bulk", 145), (10, "Marr", "barley", 2900, "2032-02-19", "bulk", 150)],
        prices={"barley": 188.0, "oats": 261.0, "wheat": 229.0}),
    "cray": dict(
        today="2031-12-05",
        parcels=[("R7", "rye", 2900, 155, "2031-09-02", 91), ("R8", "rye", 1350, 139, "2031-10-10", 94),
                 ("W5", "wheat", 3300, 136, "2031-09-18", 129)],
        trials={"R7": ((12, 28, 40, 71, 49), None), "R8": ((10, 22, 52, 66, 47), 200)},
        grists={"maslin": {"wheat": 1, "rye": 1}, "dark": {"rye": 7, "wheat": 2}},
        dockets=[(40, "Strand", "rye", 1400, "2031-12-08", "sack", 142), (41, "Strand", "wheat", 2000, "2031-12-08", "tote", 140),
                 (42, "Teal", "rye", 2750, "2031-12-12", "bulk", None)],
        prices={"rye": 199.0, "wheat": 241.0}),
}


class Mill:
    """A mill with all that belongs to it.

    Has ``loft``, ``nest``, ``rota`` and ``today``; ``trials`` by parcel
    code, ``grists`` by name and ``prices`` by kind.
    """

    def __init__(self, name, today, loft, nest, trials, grists, rota, prices):
        self.name, self.today, self.loft, self.nest = name, today, loft, nest
        self.trials, self.grists, self.rota, self.prices = trials, grists, rota, prices


def sample_names():
    return list(_MILLS)


def load_sample(name):
    """One of the sample mills, made anew at each call.

    >>> mill = load_sample("ardle")
    >>> mill.loft.codes
    ['W1', 'W2', 'R1', 'S1', 'W3']
    >>> mill.grists["maslin"]
    <Grist maslin: wheat 3, rye 1>
    """
    raw = _MILLS[_one_of("name", name, _MILLS)]
    nest = Nest(Deck(*d) for d in _DECKS)
    trials = {code: nest.trial(dict(zip(nest.tags + ["pan"], held)), charge)
              for code, (held, charge) in raw["trials"].items()}
    return Mill(name, date.fromisoformat(raw["today"]),
                Loft(Parcel(*p) for p in raw["parcels"]), nest, trials,
                {n: Grist(n, parts) for n, parts in raw["grists"].items()},
                Rota(Docket(*d) for d in raw["dockets"]), dict(raw["prices"]))
