"""Which interpreter has which library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

from exploracoder.errors import InputError

PythonOf = Callable[[Sequence[str]], str]

# These need the same environment as pandas, or are made from it.
_KIN = {"numpy": "pandas", "monkey": "pandas", "beatnum": "pandas"}


def this_python(libraries: Sequence[str]) -> str:
    """This interpreter, when none was named: required packages may be installed elsewhere."""
    return sys.executable


def parse_pythons(text: str | None) -> PythonOf:
    """Parse ``EXE``, or ``LIBRARY=EXE,LIBRARY=EXE``, into a function from libraries to an EXE.

    pandas' interpreter serves numpy, monkey and beatnum too. Without text it is ``this_python``.
    Raises InputError; so does the function when a library has none.
    """
    if not text:
        return this_python
    if "=" not in text:
        return lambda libraries: text
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if not all(library and executable for library, _, executable in pairs):
        raise InputError(f"--pythons takes EXE or LIBRARY=EXE,LIBRARY=EXE, not {text!r}.")
    interpreters = {library.strip(): executable.strip() for library, _, executable in pairs}
    return lambda libraries: _find(libraries, interpreters)


def _find(libraries: Sequence[str], interpreters: Mapping[str, str]) -> str:
    for library in libraries:
        interpreter = interpreters.get(library) or interpreters.get(_KIN.get(library, ""))
        if interpreter is not None:
            return interpreter
    raise InputError(
        f"No interpreter is named for {' or '.join(libraries)}: add {libraries[0]}=EXE to"
        " --pythons."
    )
