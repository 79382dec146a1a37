"""Parses what follows ``%exploracoder``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from exploracoder.commands import Mode
from exploracoder.errors import InputError
from exploracoder.user_variables import parse_names

from exploracoder_jupyter.magics import registry

_OPTION = re.compile(r"\s*--(?P<name>[A-Za-z][\w-]*)=?")
_VALUE = re.compile(r"""\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<plain>\S+))""")
_WAIT_AT_END = re.compile(r"(?:^|\s)--wait\s*$")
_LATE_OPTION = re.compile(
    rf"\s(?P<option>--(?:{'|'.join(option.name for option in registry.OPTIONS)}))(?=[\s=]|$)"
)
# From this similarity on, the first word of a line is taken for a misspelled sub-command.
_LIKE = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A task with its options. ``check`` and ``context`` are still names, not yet code."""

    task: str
    libraries: tuple[str, ...] = ()
    check: str = ""
    context: str = ""
    bring: tuple[str, ...] = ()
    entry_point: str | None = None
    mode: Mode | None = None
    output: str | None = None
    is_waited_for: bool = False
    is_inserted: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """A sub-command and what follows it."""

    name: str
    rest: str = ""
    is_waited_for: bool = False

    @property
    def words(self) -> list[str]:
        """The words after the sub-command."""
        return self.rest.split()


def parse(line: str, cell: str | None) -> Request | Order:
    """Parse a magic's line and body. Raises InputError with the nearest known word."""
    options, rest = _options(line)
    if cell is not None:
        _check_nothing_left(rest)
        return _request(cell, options)
    first = rest.split(maxsplit=1)[0] if rest else ""
    if not rest and not options:
        return Order("status")
    if registry.find_sub_command(first) is not None:
        return _order(first, rest[len(first) :], options)
    if not options and _is_slip(first, rest):
        raise registry.unknown(first)
    late = _LATE_OPTION.search(rest)
    # A task may speak of options of other programs.
    if late is not None and _are_options(rest[late.start() :]):
        raise InputError(
            f"Options stand before the task, so {late['option']} would be part of it. Move it"
            " to the front, or write the task under %%exploracoder."
        )
    return _request(rest, options)


def _order(name: str, rest: str, options: Mapping[str, list[str]]) -> Order:
    """Parse a sub-command, whose only option is ``--wait``, before or after its own words."""
    # ``tools`` has options of its own, which `tool_words` parses.
    after, rest = ({}, rest) if name == "tools" else _options(rest, ("wait",))
    others = [option for option in options if option != "wait"]
    if others:
        raise InputError(f"'{name}' takes no --{others[0]}; a task does.")
    at_end = _WAIT_AT_END.search(rest) is not None
    rest = _WAIT_AT_END.sub("", rest).strip()
    return Order(name, rest, bool(options or after or at_end))


def _request(task: str, options: Mapping[str, list[str]]) -> Request:
    if "review" in options and "auto" in options:
        raise InputError("Give either --review or --auto.")
    if not task.strip():
        raise InputError("The task is empty. Say in a sentence or two what you want done.")
    mode: Mode | None = "review" if "review" in options else "auto" if "auto" in options else None
    if mode == "review" and "into-next-cell" in options:
        raise InputError(
            "--into-next-cell works to the end, --review does not. With --review, '%exploracoder"
            " insert' puts the solution into the next cell."
        )
    return Request(
        task=task.strip(),
        libraries=tuple(options.get("library", ())),
        check=_last(options, "check"),
        context=_last(options, "context"),
        bring=parse_names(options.get("bring", ())),
        entry_point=_last(options, "entry-point") or None,
        mode="auto" if "into-next-cell" in options else mode,
        output=_last(options, "output") or None,
        is_waited_for="wait" in options or "into-next-cell" in options,
        is_inserted="into-next-cell" in options,
    )


def _options(line: str, names: tuple[str, ...] = ()) -> tuple[dict[str, list[str]], str]:
    """The options at the head of a line, and the rest of it."""
    options: dict[str, list[str]] = {}
    while (match := _OPTION.match(line)) is not None:
        name = match["name"]
        option = registry.find_option(name, names) if names else registry.find_option(name)
        line, value = line[match.end() :], ""
        if option.value:
            value_match = _VALUE.match(line)
            if value_match is None:
                raise InputError(f"--{option.name} needs a value: {option.line}.")
            value = next(text for text in value_match.groups() if text is not None)
            line = line[value_match.end() :]
        options.setdefault(option.name, []).append(value)
    return options, line.strip()


def _are_options(text: str) -> bool:
    """Whether a text is nothing but options of a task."""
    try:
        return not _options(text)[1]
    except InputError:
        return False


def _is_slip(first: str, rest: str) -> bool:
    """Whether a line looks like a sub-command rather than a task."""
    if rest == first:
        return True
    return first.islower() and bool(registry.nearest(first, registry.names(), cutoff=_LIKE))


def _check_nothing_left(rest: str) -> None:
    if not rest:
        return
    word = rest.split(maxsplit=1)[0]
    if registry.find_sub_command(word) is not None:
        raise InputError(f"'{word}' takes no cell: write %exploracoder {word}, with one %.")
    raise InputError(
        f"After %%exploracoder only options can stand, not {word!r}. Write the task below the line."
    )


def _last(options: Mapping[str, list[str]], name: str) -> str:
    return options[name][-1] if name in options else ""
