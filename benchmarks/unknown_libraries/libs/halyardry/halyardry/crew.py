"""The crew: riggers, the watches they stand, and the rota."""

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from .errors import NotRigged, _word

GRADES = ("head", "flyman", "hand")
POSTS = ("floor", "grid", "deck")
MEAL_AFTER, MEAL = 6, 0.5


def _day(day):
    return date.fromisoformat(day) if isinstance(day, str) else day


def _moment(day, clock):
    return datetime.combine(_day(day), time.fromisoformat(clock))


@dataclass(frozen=True)
class Rigger:
    name: str
    grade: str = "hand"
    tickets: frozenset = frozenset()

    def __post_init__(self):
        _word("grade", self.grade, GRADES)
        object.__setattr__(self, "tickets", frozenset(self.tickets))


@dataclass(frozen=True)
class Watch:
    """A shift at a post ("floor", "grid" or "deck") with the names of those who stand it.
    The day is a date or its ISO text, the clock is text such as "18:30". A watch whose end
    isn't after its start ends on the next day.
    >>> Watch("2024-11-30", "18:30", "01:00", "floor", ["Ines"]).hours
    6.5
    """

    day: date
    start: str
    end: str
    post: str
    crew: tuple = ()

    def __post_init__(self):
        _word("post", self.post, POSTS)
        object.__setattr__(self, "day", _day(self.day))
        object.__setattr__(self, "crew", tuple(self.crew))

    @property
    def _begins(self):
        return _moment(self.day, self.start)

    @property
    def _ends(self):
        end = _moment(self.day, self.end)
        return end if end > self._begins else end + timedelta(days=1)

    @property
    def hours(self):
        return (self._ends - self._begins).total_seconds() / 3600

    def covers(self, day, clock):
        """Whether the watch is being stood at that time.
        >>> Watch("2024-11-30", "18:30", "01:00", "floor").covers("2024-12-01", "00:30")
        True
        """
        return self._begins <= _moment(day, clock) < self._ends


class Rota:
    """Riggers and their watches. A rota isn't changed; `swap` gives another one."""

    def __init__(self, riggers, watches=()):
        self._riggers = {r.name: r for r in riggers}
        self._watches = sorted(watches, key=lambda w: (w._begins, POSTS.index(w.post)))
        for watch in self._watches:
            for name in watch.crew:
                self._rigger(name)

    def _rigger(self, name):
        """The rigger of that name; there is one of each."""
        if name not in self._riggers:
            raise NotRigged(f"no rigger {name!r}; there are {', '.join(self._riggers)}")
        return self._riggers[name]

    def watches(self, name=None, day=None, post=None):
        """The watches in order of time, of a rigger, of the day on which they begin, or at a post."""
        if name is not None:
            self._rigger(name)
        _word("post", post, (None, *POSTS))
        return [w for w in self._watches
                if (name is None or name in w.crew) and (day is None or w.day == _day(day))
                and (post is None or w.post == post)]

    def hours(self, reckon="clock"):
        """Everybody's hours by name, reckoned by the "clock" or as "paid".
        In a watch of more than six hours, half an hour for the meal isn't paid.
        >>> rota = Rota([Rigger("Ines"), Rigger("Bo")], [Watch("2024-11-30", "15:00", "23:00", "grid", ["Ines"])])
        >>> rota.hours("paid")
        {'Ines': 7.5, 'Bo': 0}
        """
        _word("reckon", reckon, ("clock", "paid"))
        cut = lambda w: MEAL if reckon == "paid" and w.hours > MEAL_AFTER else 0
        return {name: sum(w.hours - cut(w) for w in self.watches(name)) for name in self._riggers}

    def on(self, day, clock, post=None):
        """The riggers on watch at a time, the highest grade first."""
        names = {n for w in self.watches(post=post) if w.covers(day, clock) for n in w.crew}
        return sorted((self._riggers[n] for n in names), key=lambda r: (GRADES.index(r.grade), r.name))

    def tight(self, rest=11):
        """Where somebody has fewer than `rest` hours between two watches: tuples of name and both watches."""
        found = []
        for name in self._riggers:
            mine = self.watches(name)
            found += [(name, a, b) for a, b in zip(mine, mine[1:]) if b._begins - a._ends < timedelta(hours=rest)]
        return found

    def swap(self, watch, leaving, joining):
        """A rota in which somebody else stands the watch.
        >>> watch = Watch("2024-11-30", "15:00", "23:00", "grid", ["Ines"])
        >>> rota = Rota([Rigger("Ines"), Rigger("Bo")], [watch])
        >>> rota.swap(watch, "Ines", "Bo").hours()
        {'Ines': 0, 'Bo': 8.0}
        """
        self._rigger(joining)
        if watch not in self._watches or leaving not in watch.crew or joining in watch.crew:
            raise NotRigged(f"{leaving!r} doesn't stand that watch, or {joining!r} does already")
        changed = replace(watch, crew=[joining if n == leaving else n for n in watch.crew])
        return Rota(self._riggers.values(), [changed if w == watch else w for w in self._watches])
