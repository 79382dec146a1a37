"""Logs of a kettle."""

from kettle.log import Boil, Log, read_log
from kettle.prices import Tariff, energy

__all__ = ["Boil", "Log", "Tariff", "energy", "read_log"]
__version__ = "0.4"
