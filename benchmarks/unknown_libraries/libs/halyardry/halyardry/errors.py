"""Errors raised by halyardry."""


class RigError(ValueError):
    """Anything the rig would not allow: too much weight, a height out of reach, a clash of names."""


class NotRigged(RigError):
    """Something was asked for by a name that is not in the house, the sheet or the rota."""


class BadWord(RigError):
    pass


def _word(what, given, allowed):
    if given not in allowed:
        raise BadWord(f"{what} must be one of {', '.join(map(repr, allowed))}, not {given!r}")
    return given
