"""Engines, carriages, wagons, and what is made up of them."""
from dataclasses import dataclass

from .base import CinderError, UnknownName, _one_of

KINDS = ("engine", "coach", "wagon", "van")


@dataclass(frozen=True)
class Vehicle:
    """Anything on wheels. `pull` is what an engine can haul on the level; `worn` is the miles since the last shopping."""

    tag: str
    kind: str
    tare: int
    load: int = 0
    seats: int = 0
    feet: int = 0
    pull: int = 0
    worn: int = 0
    braked: bool = True

    @property
    def gross(self):
        return self.tare + self.load


class Rake:
    """An engine and the vehicles behind it, in order.

    >>> engine = Vehicle("Wren", "engine", tare=160, feet=18, pull=900)
    >>> rake = Rake([engine, Vehicle("C1", "coach", tare=90, seats=32, feet=30)])
    >>> rake.tags
    ('Wren', 'C1')
    """

    def __init__(self, vehicles):
        self._vehicles = tuple(vehicles)
        if not self._vehicles or self._vehicles[0].kind != "engine":
            raise CinderError("a rake starts with an engine")
        self.tags = tuple(v.tag for v in self._vehicles)
        if len(set(self.tags)) < len(self.tags):
            raise CinderError(f"a vehicle can be in a rake only once: {', '.join(self.tags)}")

    def __iter__(self):
        return iter(self._vehicles)

    def __len__(self):
        return len(self._vehicles)

    @property
    def hauled(self):
        """Gross weight behind the leading engine."""
        return sum(v.gross for v in self._vehicles[1:])

    @property
    def seats(self):
        return sum(v.seats for v in self._vehicles)

    @property
    def feet(self):
        return sum(v.feet for v in self._vehicles)

    def spare(self, one_in=None):
        """How much more the engine could haul, on the level or up a gradient of 1 in so much; negative if overloaded.

        Up 1 in n, an engine hauls n / (n + 100) of what it hauls on the level.

        >>> engine = Vehicle("Wren", "engine", tare=160, pull=900)
        >>> rake = Rake([engine, Vehicle("C1", "coach", tare=90)])
        >>> rake.spare()
        810.0
        >>> rake.spare(one_in=50)
        210.0
        """
        share = 1.0 if one_in is None else one_in / (one_in + 100)
        return self._vehicles[0].pull * share - self.hauled

    def couple(self, *vehicles, at="tail"):
        """The rake with vehicles added at the 'tail', or at the 'head', which is directly behind the engine.

        >>> rake = Rake([Vehicle("Wren", "engine", 160), Vehicle("C1", "coach", 90)])
        >>> rake.couple(Vehicle("V1", "van", 60), at="head").tags
        ('Wren', 'V1', 'C1')
        """
        _one_of("at", at, ("tail", "head"))
        cut = 1 if at == "head" else len(self._vehicles)
        return Rake(self._vehicles[:cut] + vehicles + self._vehicles[cut:])

    def drop(self, tag):
        """The rake without one of its vehicles."""
        if tag not in self.tags:
            raise UnknownName("vehicle in the rake", tag, self.tags)
        return Rake(v for v in self._vehicles if v.tag != tag)


class Roster:
    """All vehicles of a yard, by their tags: `roster["Wren"]`."""

    def __init__(self, vehicles):
        self._by_tag = {v.tag: v for v in vehicles}

    def __getitem__(self, tag):
        if tag not in self._by_tag:
            raise UnknownName("vehicle", tag, self._by_tag)
        return self._by_tag[tag]

    def __iter__(self):
        return iter(self._by_tag.values())

    def __len__(self):
        return len(self._by_tag)

    def pick(self, kind=None, braked=None):
        """The vehicles of a kind ('engine', 'coach', 'wagon' or 'van'), with or without a continuous brake.

        >>> from cindertrack import load_yard
        >>> [v.tag for v in load_yard("emberly").roster.pick("wagon", braked=False)]
        ['W2', 'W3']
        """
        _one_of("kind", kind, KINDS, needed=False)
        return [v for v in self if kind in (None, v.kind) and braked in (None, v.braked)]

    def make_up(self, *tags):
        """A rake of the vehicles with these tags, the engine first."""
        return Rake(self[tag] for tag in tags)

    def due(self, limit):
        """Vehicles with at least so many miles since their last shopping, the most worn first."""
        return sorted((v for v in self if v.worn >= limit), key=lambda v: (-v.worn, v.tag))
