"""The sub-commands and options, from which help, completion and documentation are generated."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from exploracoder.errors import InputError


@dataclass(frozen=True, slots=True)
class SubCommand:
    """A word after ``%exploracoder``. ``usage`` is what may follow it."""

    name: str
    usage: str
    about: str

    @property
    def line(self) -> str:
        """How it is written."""
        return f"{self.name} {self.usage}".strip()


@dataclass(frozen=True, slots=True)
class Option:
    """A word with two dashes; without a ``value`` it is a switch."""

    name: str
    value: str
    about: str

    @property
    def line(self) -> str:
        """How it is written."""
        return f"--{self.name} {self.value}".strip()


SUB_COMMANDS: tuple[SubCommand, ...] = (
    SubCommand("use", "LIB…", "explore with these libraries from here on, and read their docs"),
    SubCommand("search", "QUERY", "find the APIs of the libraries that do what you say"),
    SubCommand("docs", "NAME", "show what the docs say of an API"),
    SubCommand(
        "tools",
        "TOOL [--root DIR] [--class NAME] [--name METHOD] [--code NAME_OR_CELL] [QUERY]",
        "look up a class, a signature, a body, imports or code in the libraries in use, or in DIR:"
        " get_class_info, get_signature, get_method_body, get_imports, get_relevant_code,"
        " get_related_snippets",
    ),
    SubCommand(
        "plan",
        "[add GOAL | rename S GOAL | delete S | move S [BEFORE] | again [S]]",
        "show the plan, or change it where it is open; S is a subtask's number",
    ),
    SubCommand("next", "", "take what is proposed, and work to the next stop"),
    SubCommand("accept", "[N]", "accept candidate N, or S.N of another subtask; later ones follow"),
    SubCommand("debug", "[N] [HINT]", "ask for a repair of candidate N, saying what is wrong"),
    SubCommand("retry", "[HINT]", "ask for other candidates"),
    SubCommand("edit", "[N]", "put candidate N into the next cell; running that makes it yours"),
    SubCommand("skip", "[S]", "leave a subtask out"),
    SubCommand("back", "[S]", "open subtask S and all later ones again; their candidates stay"),
    SubCommand("solve", "", "write the solution from what is accepted so far"),
    SubCommand("insert", "", "put the solution into the next cell; it is not run"),
    SubCommand("save", "[FILE]", "write the exploration to another notebook, or say where it is"),
    SubCommand("resume", "FILE", "open a saved exploration; 'next' goes on with it"),
    SubCommand("replay", "FILE", "run a saved exploration's cells again, without a model"),
    SubCommand(
        "trust",
        "FILE",
        "agree to run a notebook from elsewhere, once you have seen what it would run",
    ),
    SubCommand("status", "", "show the whole exploration as it stands"),
    SubCommand("cost", "", "show calls, tokens and seconds, part by part"),
    SubCommand("cancel", "", "stop what is being worked on; all that was found stays"),
    SubCommand("config", "[NAME=VALUE…]", "show or change model, mode and settings"),
    SubCommand("help", "[SUBCOMMAND]", "show this list, or the line of one"),
)

OPTIONS: tuple[Option, ...] = (
    Option("library", "LIB", "a library to use, by name or path; may be repeated"),
    Option(
        "check",
        "NAME_OR_CELL",
        "what the solution must pass: a variable with code, a function, a cell's number, or a .py"
        " file",
    ),
    Option("context", "NAME_OR_CELL", "code that runs first, given in the same ways"),
    Option("bring", "A,B", "variables of this kernel to start with; they are copies"),
    Option("entry-point", "NAME", "the function that the solution must define"),
    Option("review", "", "stop when the cells are written and at each that has run, and ask"),
    Option("auto", "", "work to the end without asking"),
    Option("into-next-cell", "", "wait for the solution and put it into the next cell"),
    Option("output", "FILE", "the notebook to write; default: exploration.ipynb here, numbered"),
    Option("wait", "", "come back when the work rests; a terminal always does"),
)

TOOL_OPTIONS: tuple[Option, ...] = (
    Option("root", "DIR", "the top folder of a repository, or the name of an installed library"),
    Option("class", "NAME", "the class that is meant"),
    Option("name", "METHOD", "the method, or function"),
    Option("file", "FILE", "get_imports: where in the repository the code is to stand"),
    Option("code", "NAME_OR_CELL", "get_imports: the code, given like a check"),
)

_BY_NAME = {one.name: one for one in SUB_COMMANDS}
_OPTIONS_BY_NAME = {one.name: one for one in OPTIONS}


def find_sub_command(name: str) -> SubCommand | None:
    """The sub-command of this name, if there is one."""
    return _BY_NAME.get(name)


def find_option(name: str, option_names: Sequence[str] = tuple(_OPTIONS_BY_NAME)) -> Option:
    """The option of this name. Raises InputError, with the nearest one, when there is none."""
    if name in option_names:
        return _OPTIONS_BY_NAME[name]
    near = nearest(name, option_names, cutoff=0.0)
    raise InputError(f"There is no option --{name} here. The nearest is --{near}.")


def find_tool_option(name: str) -> Option:
    """The ``tools`` option of this name. Raises InputError, with the nearest one, if unknown."""
    by_name = {one.name: one for one in TOOL_OPTIONS}
    if name in by_name:
        return by_name[name]
    near = nearest(name, tuple(by_name), cutoff=0.0)
    raise InputError(f"tools has no option --{name}. The nearest is --{near}.")


def unknown(name: str) -> InputError:
    """The error for an unknown sub-command, with the nearest known one."""
    near = nearest(name, tuple(_BY_NAME), cutoff=0.0)
    return InputError(
        f"There is no sub-command {name!r}. The nearest is '{near}'; '%exploracoder help' lists"
        " them. A task of one line needs several words, and any task can stand under"
        " %%exploracoder."
    )


def nearest(name: str, words: Sequence[str], *, cutoff: float) -> str:
    """The word most similar to ``name``; empty if none reaches the cutoff."""
    matches = difflib.get_close_matches(name, words, n=1, cutoff=cutoff)
    return matches[0] if matches else ""


def names() -> tuple[str, ...]:
    """The sub-commands' names, in the order in which help lists them."""
    return tuple(_BY_NAME)
