"""Read the logs of tide gauges.

A log is text, one reading a line: the time and the water level in metres. `take_log` makes a
`TideLog` of it, whose methods narrow, calm and show it.
"""

from tidemark.log import Reading, TideLog, take_log

__all__ = ["Reading", "TideLog", "take_log"]
__version__ = "1.2.0"
