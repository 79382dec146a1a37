"""Brewing."""


class Kettle:
    """A kettle that holds water of one temperature."""

    def __init__(self, millilitres=1000):
        self.millilitres = millilitres
        self.celsius = 20.0

    def heat(self, celsius):
        """Heat the water to a temperature in degrees Celsius."""
        self.celsius = celsius
        return self

    def pour(self, leaf):
        """Pour the water over a leaf and say what is in the cup."""
        return f"{self.millilitres} ml of {leaf.name} at {self.celsius:.0f} °C"


def steep_seconds(leaf, celsius):
    """How long a leaf has to steep at a temperature."""
    return round(60 * leaf.strength * 100 / celsius)
