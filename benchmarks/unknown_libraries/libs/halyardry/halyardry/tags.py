"""Inspection tags: what was looked at, when, and how it was found."""

from dataclasses import dataclass
from datetime import date, timedelta

from .crew import _day
from .errors import _word

VERDICTS = ("pass", "watch", "fail")


@dataclass(frozen=True)
class Tag:
    """The record of one inspection of a bar; the verdict is "pass", "watch" (look again soon) or "fail"."""

    item: str
    day: date
    verdict: str
    by: str
    note: str = ""

    def __post_init__(self):
        _word("verdict", self.verdict, VERDICTS)
        object.__setattr__(self, "item", self.item.upper())
        object.__setattr__(self, "day", _day(self.day))


class Tagbook:
    """All tags of a house, in order of time. A pass is good for `every` days, a "watch" for half of them.
    >>> book = Tagbook([Tag("LX1", "2024-03-01", "pass", "Ines")], every=180)
    >>> book.due("LX1")
    datetime.date(2024, 8, 28)
    """

    def __init__(self, tags=(), every=180):
        self.every = every
        self._tags = sorted(tags, key=lambda t: t.day)

    def __iter__(self):
        return iter(self._tags)

    def __len__(self):
        return len(self._tags)

    def of(self, item=None, by=None, verdict=None):
        """A Tagbook of the tags of an item, by an inspector, or with a verdict."""
        _word("verdict", verdict, (None, *VERDICTS))
        return Tagbook([t for t in self._tags
                        if (item is None or t.item == item.upper()) and (by is None or t.by == by)
                        and (verdict is None or t.verdict == verdict)], self.every)

    def latest(self, item):
        return max(self.of(item), key=lambda t: t.day, default=None)

    def due(self, item):
        """The day on which an item's next inspection is due, at the latest."""
        tag = self.latest(item)
        if tag is None:
            return None
        return tag.day + timedelta(days={"pass": self.every, "watch": self.every // 2, "fail": 0}[tag.verdict])

    def status(self, item, today):
        """How an item stands: "clear", "caution", "locked", "lapsed" or "unseen".
        A failed item is locked until a later tag says otherwise, and an item is still in order
        on the day that its inspection is due.
        >>> book = Tagbook([Tag("LX1", "2024-03-01", "watch", "Ines")], every=180)
        >>> book.status("LX1", "2024-05-30"), book.status("LX1", "2024-05-31"), book.status("T1", "2024-05-31")
        ('caution', 'lapsed', 'unseen')
        """
        tag = self.latest(item)
        if tag is None:
            return "unseen"
        if tag.verdict == "fail":
            return "locked"
        if _day(today) > self.due(item):
            return "lapsed"
        return "clear" if tag.verdict == "pass" else "caution"

    def rate(self):
        return len(self.of(verdict="pass")) / len(self) if self._tags else None
