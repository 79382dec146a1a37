"""Command output: progress goes to standard error, results to standard output."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import click

from exploracoder.errors import ExploraCoderError, InputError, kind_of
from exploracoder.texts import on_a_line

if TYPE_CHECKING:
    from rich.console import Console

    from exploracoder.state import Exploration

ResultT = TypeVar("ResultT")


class Progress:
    """Show a line for each event, and a spinner for the work in progress.

    Outside a terminal there are only plain lines. ``quiet`` prints nothing at all.
    """

    # The instances now on the screen, at most one.
    _instances: ClassVar[list[Progress]] = []

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._status: Any = None
        self._console: Any = None

    def __enter__(self) -> Progress:
        if not self._quiet:
            from rich.console import Console

            self._console = Console(stderr=True, highlight=False)
            self._status = self._console.status("Starting")
            self._status.start()
            self._instances.append(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._status is not None:
            self._status.stop()
            self._instances.remove(self)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Pause the spinner while something else writes to the terminal."""
        if self._status is not None:
            self._status.stop()
        yield
        if self._status is not None:
            self._status.start()

    def working(self, message: str) -> None:
        """Show what is being done now."""
        if self._status is not None:
            self._status.update(_plain(message))
            if not self._console.is_terminal:
                self._console.print(_plain(message))

    def happened(self, exploration: Exploration, message: str) -> None:
        """Print what was just recorded, with the time and tokens spent so far."""
        if self._console is None:
            return
        tokens = f"{exploration.usage.total_tokens} tokens"
        cost = f"{exploration.seconds_total:5.0f} s  {tokens:>14}"
        self._console.print(f"[dim]{cost}[/dim]  {_plain(message)}")
        self._status.update(_plain(message))

    @classmethod
    @contextmanager
    def question(cls) -> Iterator[None]:
        """Pause the spinner during a question, so that the prompt stays visible."""
        with ExitStack() as stack:
            for one in cls._instances:
                stack.enter_context(one.aside())
            yield


def _plain(text: str) -> str:
    """Escape text from a model or a file: neither markup nor terminal control."""
    from rich.markup import escape

    return escape(on_a_line(text))


def print_json(value: object, *, indent: int | None = 2) -> None:
    """Print a JSON value to standard output, with terminal control characters escaped.

    It is UTF-8 whatever the locale; without ``indent`` on a line.
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, default=str)
    click.echo("".join(map(_json_char, text)).encode())


@contextmanager
def errors_as_json(as_json: bool, begin: Mapping[str, Any] = {}) -> Iterator[dict[str, Any]]:
    """With --json, also print an error as an object, with what was done before it."""
    so_far = dict(begin)
    try:
        yield so_far
    except ExploraCoderError as error:
        if as_json:
            failure = {"status": "failed", "error": str(error), "error_kind": kind_of(error)}
            print_json(so_far | failure)
        raise


def _json_char(char: str) -> str:
    if char.isprintable() or char == "\n":
        return char
    return json.dumps(char)[1:-1] if ord(char) > 0x7F else f"\\u{ord(char):04x}"


def printable(text: str) -> str:
    """Make untrusted text safe for a terminal: no colours, no control characters."""
    from exploracoder_kernel.branch.text import without_colours

    return "".join(
        char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}"
        for char in without_colours(text).replace("\r\n", "\n")
    )


def say(text: object, *, err: bool = False) -> None:
    """Print text that may come from a model, a server or a library, made safe for a terminal."""
    click.echo(printable(str(text)), err=err)


def print_result(value: object, words: object, *, as_json: bool) -> None:
    """Print a result: as JSON for programs, or in words for people."""
    if as_json:
        print_json(value)
    else:
        say(words)


def numbered_lines(queries: Path) -> Iterator[tuple[int, str]]:
    """The non-blank lines of a file of queries, with their numbers. Raises InputError."""
    try:
        # Other separators, such as U+2028, may stand in a JSON string.
        lines = queries.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--queries: {queries} cannot be read: {error}") from error
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def read_standard_input() -> str:
    """All of standard input, which is UTF-8 whatever the locale. Raises InputError if it is not."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("Standard input is not text in UTF-8.") from error


def text_console(**layout: Any) -> Console:
    """A console on standard output, without colour outside a terminal or with NO_COLOR."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, **layout)


# Supervisors send one signal after another: that is no second Ctrl-C.
_ONE_PRESS_S = 0.5


def _exit(*_: object) -> None:
    # A thread that waits for a server would hold up an orderly end.
    show_cursor = "\x1b[?25h" if is_terminal() else ""
    with suppress(OSError):
        os.write(2, f"{show_cursor}\nInterrupted again.\n".encode())
    os._exit(130)


def run_async(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run to the end. Ctrl-C or SIGTERM lets the work save, then raises KeyboardInterrupt.

    The second one ends the process, whatever it is waiting for.
    """

    async def supervised() -> ResultT:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()

        def cancel() -> None:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, lambda: None)
                loop.call_later(_ONE_PRESS_S, signal.signal, number, _exit)
            task.cancel()
            with suppress(OSError):
                say("Stopping; press Ctrl-C again to end at once.", err=True)

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, cancel)
        return await task

    try:
        return asyncio.run(supervised())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def is_terminal() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr.isatty()
