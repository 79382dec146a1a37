"""Timetable, rolling stock, signal log and fuel accounts of a narrow-gauge railway."""
from .base import BadWord, CinderError, UnknownName, clock, mark, miles
from .fuel import Entry, Ledger, Statement
from .signals import Hold, LogLine, SignalLog
from .stock import Rake, Roster, Vehicle
from .timetable import Board, Book, Call, Crossing, Halt, Route, Turn
from .yard import Yard, load_yard, yard_names

__all__ = [
    "BadWord", "Board", "Book", "Call", "CinderError", "Crossing", "Entry", "Halt", "Hold", "Ledger", "LogLine", "Rake",
    "Roster", "Route", "SignalLog", "Statement", "Turn", "UnknownName", "Vehicle", "Yard", "clock", "load_yard", "mark",
    "miles", "yard_names",
]
