"""What can go wrong, in the user's words.

ExploraCoderError
├── InputError         something the user gave is wrong: exit code 2
│   └── UntrustedError     an exploration was not made here, and nobody has agreed to run it
├── CommandError       a command came at the wrong time
├── SetupError         something that is needed is missing or broken: exit code 2
│   ├── NoWeightsError     the embedded model was not fetched
│   └── ModelError     the model could not be asked
│       ├── ReplyError     the model answered, in a form that could not be used
│       ├── PromptError    the prompt is longer than the model takes
│       ├── RefusedError   the server refused this one request
│       ├── AnswerTimeoutError  the model did not answer in time
│       └── NoTextError    the server completes only conversations, not texts
├── NoCodeError        the model answered, and wrote no code
└── BudgetError        a limit that the user set was reached
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from exploracoder.trust import Preview


class ExploraCoderError(Exception):
    """Base class. ``str()`` says what happened, to what, and what to do next."""


class InputError(ExploraCoderError):
    """Something the user gave is wrong."""


class UntrustedError(InputError):
    """An exploration was not made here, and nobody has agreed to run it.

    Attributes:
        preview: What it would run and read, to be shown with the question.
    """

    def __init__(self, name: str, preview: Preview) -> None:
        super().__init__(
            f"{name} was not made here by you, so nothing of it was run. See what it would run and"
            " read, and agree to that."
        )
        self.preview = preview


class CommandError(ExploraCoderError):
    """An exploration cannot take this command as it stands now."""


class SetupError(ExploraCoderError):
    """Something that is needed is missing or broken."""


class NoWeightsError(SetupError):
    """The embedded model was not fetched."""


class ModelError(SetupError):
    """The model could not be asked: unreachable, key rejected, unknown model."""


class ReplyError(ModelError):
    """The model answered, but not in the form that was asked for."""


class PromptError(ModelError):
    """The prompt, with room for the reply, is longer than the model takes."""


class RefusedError(ModelError):
    """The server refused one request because of its content; another may succeed."""


class AnswerTimeoutError(ModelError):
    """The model did not answer before the deadline; another request may succeed."""


class NoTextError(ModelError):
    """The model's server completes only conversations, not texts."""


class NoCodeError(ExploraCoderError):
    """The model answered without code that could be a solution; everything so far is kept."""


class BudgetError(ExploraCoderError):
    """A limit on seconds or tokens was reached; everything so far is kept."""


ErrorKind = Literal["reply", "request", "model", "setup"]


def kind_of(error: ExploraCoderError) -> ErrorKind:
    """The kind of an error in ``--json`` output, for programs that continue after it.

    ``reply``: the model's answers were unusable, or the prompt was too long; ``request``: the
    server refused this one request; ``model``: it could not be asked; ``setup``: all others.
    """
    if isinstance(error, (ReplyError, PromptError)):
        return "reply"
    if isinstance(error, (RefusedError, NoTextError)):
        return "request"
    return "model" if isinstance(error, ModelError) else "setup"


@contextmanager
def raised_as(
    kind: type[ExploraCoderError], *foreign: type[Exception], of: str = ""
) -> Iterator[None]:
    """Convert another package's errors to ours; ``of`` is the option that they are about."""
    try:
        yield
    except foreign as error:
        raise kind(f"{of}: {error}" if of else str(error)) from error
