"""Code that an option names: a cell that was run, a variable, a function, or a file."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Mapping
from typing import Any

from exploracoder.errors import InputError
from exploracoder.prepare import full, read_code


def code_named(name: str, names: Mapping[str, Any], option: str) -> str:
    """The code that ``name`` stands for; empty if ``name`` is.

    Args:
        name: A cell's number, a name in ``names``, or the path of a .py file or a notebook.
        names: The user's namespace, which is only read.
        option: The option's name for error messages.

    Raises:
        InputError: Nothing has this name, or it is not code.
    """
    if not name:
        return ""
    if name.isascii() and name.isdigit():
        return _cell(int(name), names, option)
    if name.endswith((".py", ".ipynb")):
        return read_code(full(name), option)
    if name not in names:
        raise InputError(
            f"{option}: there is no variable {name!r}. Give a variable with code, a function"
            " without parameters, the number of a cell that was run, or a .py file."
        )
    value = names[name]
    if isinstance(value, str):
        return value
    if inspect.isfunction(value):
        return _function(name, value, option)
    raise InputError(f"{option}: {name} is {type(value).__name__}, not code or a function.")


def _cell(number: int, names: Mapping[str, Any], option: str) -> str:
    cells = names.get("In", [])
    if not 0 < number < len(cells) or not str(cells[number]).strip():
        raise InputError(f"{option}: no cell {number} was run in this kernel.")
    return str(cells[number])


def _function(name: str, function: Any, option: str) -> str:
    """The function's source and a call of it."""
    parameters = [
        one.name
        for one in inspect.signature(function).parameters.values()
        if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    if parameters:
        raise InputError(f"{option}: {name} needs {', '.join(parameters)}, and is called without.")
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError) as error:
        raise InputError(f"{option}: the source of {name} cannot be read.") from error
    # The name given may be another one for the same function; a lambda has only that.
    own = name if function.__name__ == "<lambda>" else function.__name__
    return f"{textwrap.dedent(source)}\n{own}()\n"
