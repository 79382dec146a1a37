"""Errors, and the measures that everything else is written in."""


class CinderError(ValueError):
    """Anything that this package refuses."""


class UnknownName(CinderError):
    def __init__(self, what, name, known):
        self.name = name
        super().__init__(f"no {what} {name!r}; known: {', '.join(str(k) for k in known)}")


class BadWord(CinderError):
    def __init__(self, option, word, allowed):
        self.word = word
        super().__init__(f"{option} must be one of {', '.join(repr(a) for a in allowed)}, not {word!r}")


def _one_of(option, word, allowed, needed=True):
    if word not in allowed and (needed or word is not None):
        raise BadWord(option, word, allowed)
    return word


def mark(time):
    """Minutes since midnight of a clock time; a mark is handed back as it is.

    >>> mark("7:35")
    455
    >>> mark("24:20")
    1460
    >>> mark(455)
    455
    """
    if isinstance(time, int):
        return time
    hours, colon, minutes = str(time).partition(":")
    if not (colon and hours.isdigit() and minutes.isdigit() and len(minutes) == 2 and int(minutes) < 60):
        raise CinderError(f"a time is 'H:MM' or whole minutes, not {time!r}")
    return int(hours) * 60 + int(minutes)


def clock(time):
    """The mark as it is printed in the timetable.

    >>> clock(455)
    '07:35'
    >>> clock(1460)
    '24:20'
    """
    return f"{time // 60:02d}:{time % 60:02d}"


def miles(chains):
    """Chains in miles.

    >>> miles(200)
    2.5
    """
    return chains / 80
