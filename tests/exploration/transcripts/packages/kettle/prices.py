"""Prices."""


class Tariff:
    """A tariff."""

    def __init__(self, day, night):
        self.day = day
        self.night = night

    def rate(self, at):
        """The rate."""
        return self.night if at % 1440 < 360 or at % 1440 >= 1320 else self.day

    def price(self, energy, at):
        """The price of energy."""
        return energy / 1000 * self.rate(at)


def energy(boil, power=2000):
    """The energy of a boil."""
    return power * boil.length / 3600
