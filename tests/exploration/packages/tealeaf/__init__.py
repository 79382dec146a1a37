"""Reads, sorts and brews tea leaves."""

from tealeaf.flow import Flow
from tealeaf.kettle import Kettle, steep_seconds
from tealeaf.leaves import Leaf, blend, read_leaves, strongest
from tealeaf.units import to_celsius, to_fahrenheit

__all__ = [
    "Flow",
    "Kettle",
    "Leaf",
    "blend",
    "read_leaves",
    "steep_seconds",
    "strongest",
    "to_celsius",
    "to_fahrenheit",
]
__version__ = "2.1"
