"""What a command says while it works: progress on standard error, results on standard output."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import click

from exploracoder.errors import ExploraCoderError, InputError, kind_of

if TYPE_CHECKING:
    from rich.console import Console

    from exploracoder.state import Exploration

ResultT = TypeVar("ResultT")


class Progress:
    """A line for each thing that happened and a spinner for what is going on.

    On a terminal only; elsewhere the lines come plain. ``quiet`` says nothing at all.
    """

    # Those that are on the screen, at most one.
    _shown: ClassVar[list[Progress]] = []

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
            self._shown.append(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._status is not None:
            self._status.stop()
            self._shown.remove(self)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Around what is written to the same terminal meanwhile."""
        if self._status is not None:
            self._status.stop()
        yield
        if self._status is not None:
            self._status.start()

    def working(self, message: str) -> None:
        """Say what is going on now."""
        if self._status is not None:
            self._status.update(_plain(message))
            if not self._console.is_terminal:
                self._console.print(_plain(message))

    def happened(self, exploration: Exploration, message: str) -> None:
        """Say what was just recorded, with what it has cost so far."""
        if self._console is None:
            return
        tokens = f"{exploration.usage.total_tokens} tokens"
        cost = f"{exploration.seconds_total:5.0f} s  {tokens:>14}"
        self._console.print(f"[dim]{cost}[/dim]  {_plain(message)}")
        self._status.update(_plain(message))

    @classmethod
    @contextmanager
    def question(cls) -> Iterator[None]:
        """Around a question: nothing is drawn over it, and its unfinished line is shown."""
        with ExitStack() as stack:
            for one in cls._shown:
                stack.enter_context(one.aside())
            yield


def _plain(text: str) -> str:
    """Text from a model or a file, without it being read as markup or terminal control."""
    from rich.markup import escape

    return escape(on_a_line(text))


def on_a_line(text: str) -> str:
    """A stranger's text, without what would steer a terminal."""
    return "".join(char if char.isprintable() else " " for char in text)


def print_json(value: object) -> None:
    """One JSON value on standard output; what would steer a terminal is escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    click.echo("".join(map(_json_char, text)))


@contextmanager
def errors_as_json(as_json: bool, begin: Mapping[str, Any] = {}) -> Iterator[dict[str, Any]]:
    """With --json an error is an object too, on standard output, with what was done before it."""
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
    """Text of a stranger's, without what would steer a terminal."""
    from exploracoder_kernel.branch.text import without_colours

    return "".join(
        char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}"
        for char in without_colours(text).replace("\r\n", "\n")
    )


def say(text: object, *, err: bool = False) -> None:
    """Print words in which a model, a server or a library may have a say."""
    click.echo(printable(str(text)), err=err)


def print_result(value: object, words: object, *, as_json: bool) -> None:
    """A result for programs, or in words for people."""
    if as_json:
        print_json(value)
    else:
        say(words)


def numbered_lines(queries: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file of queries that hold something. Raises InputError."""
    try:
        lines = queries.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--queries: {queries} cannot be read: {error}") from error
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def text_console(**layout: Any) -> Console:
    """Standard output; without colour where nobody could see it, or NO_COLOR is set."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, **layout)


def run_async(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run to the end. Ctrl-C and SIGTERM cancel the work, which then saves; KeyboardInterrupt."""

    async def supervised() -> ResultT:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, task.cancel)
        return await task

    try:
        return asyncio.run(supervised())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def is_terminal() -> bool:
    """Whether a person watches."""
    return sys.stderr.isatty()
