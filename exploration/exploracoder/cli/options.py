"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from exploracoder.cli.console import Progress
from exploracoder.effort import EFFORTS
from exploracoder.errors import InputError
from exploracoder.methods import DEFAULT, METHODS

if TYPE_CHECKING:
    from exploracoder_retrieval.index import Index

    from exploracoder.workspace import Options

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

PATH = click.Path(path_type=Path)


def _stack(*options: Callable[[CommandT], CommandT]) -> Callable[[CommandT], CommandT]:
    def decorate(command: CommandT) -> CommandT:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def path_option(*names: str, metavar: str = "FILE", **more: Any) -> Callable[[CommandT], CommandT]:
    """An option that takes a path."""
    return click.option(*names, type=PATH, metavar=metavar, **more)


def library_option(words: str, *, required: bool = False) -> Callable[[CommandT], CommandT]:
    """``--library``; ``words`` say what it is for."""
    names, words = ("--library", "-l", "libraries"), f"{words} May be repeated."
    return click.option(
        *names, multiple=True, required=required, metavar="NAME_OR_PATH", help=words
    )


def profile_option(command: CommandT) -> CommandT:
    """``--profile``."""
    from exploracoder.settings import PROFILES

    return click.option(
        "--profile",
        type=click.Choice(list(PROFILES)),
        help="Settings: 'small' for small models, 'standard' for others, 'paper' for the paper's."
        " Default: what suits the model, by what 'exploracoder model test' found, or else 'small'"
        " for the embedded one and 'standard' for all others.",
    )(command)


file_argument = click.argument("file", type=PATH)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")

python_option = click.option(
    "--python",
    metavar="EXE",
    help="The Python in which the library is installed and code runs; it need not have"
    " ExploraCoder. Default: for a saved exploration the one that it ran in, else the one that"
    " runs this command.",
)

method_option = click.option(
    "--method",
    default=DEFAULT,
    show_default=True,
    metavar="NAME",
    help="The way from the task to a solution; 'exploracoder explore --list-methods' names them.",
)

quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress.")

set_option = click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="Any other setting; 'exploracoder explore --list-settings' names them.",
)

lora_option = click.option(
    "--lora",
    type=PATH,
    metavar="FILE.gguf",
    help="A LoRA adapter for the embedded model, as 'exploracoder train' makes it.",
)

# The sandbox for code.
sandbox_options = _stack(
    click.option(
        "--sandbox",
        type=click.Choice(["auto", "strict", "network", "off"]),
        default="auto",
        envvar="EXPLORACODER_SANDBOX",
        help="What code is kept from. 'strict': no network, and no files but those of this"
        " folder, to read; 'network': the same, with the network; 'off': it runs as you;"
        " 'auto': strict, or what you agreed to where no sandbox can be had. Environment:"
        " EXPLORACODER_SANDBOX.",
    ),
    click.option(
        "--readable",
        type=PATH,
        multiple=True,
        metavar="PATH",
        help="Another file or folder that code may read. May be repeated.",
    ),
)

trust_option = click.option(
    "--trust",
    is_flag=True,
    help="Run the notebook's code without a question even if it was not made here. Otherwise"
    " you are shown first what it would run and read.",
)

kernel_option = click.option(
    "--kernel",
    metavar="FILE_OR_ID",
    help="A running Python kernel of yours to bring variables from: its connection file"
    " (%connect_info names it) or its id. A new exploration's code runs in its Python, if --python"
    " names none.",
)

strategy_option = click.option(
    "--strategy",
    type=click.Choice(["auto", "fork", "replay"]),
    default="auto",
    envvar="EXPLORACODER_STRATEGY",
    help="How branches are made; 'auto' forks where that is safe. Environment:"
    " EXPLORACODER_STRATEGY.",
)

# What to index, where the index is, and which model embeds.
index_options = _stack(
    click.option(
        "--import-compiled",
        is_flag=True,
        help="Import the compiled modules of a folder that is named as a library, in a strict"
        " sandbox: nothing else tells what they hold. Without it nothing of a folder is"
        " imported.",
    ),
    click.option("--chroma-url", metavar="URL", help="A chroma server instead of a folder."),
    click.option(
        "--embeddings-url",
        metavar="URL",
        help="An OpenAI-compatible endpoint that embeds, instead of the built-in model.",
    ),
    click.option("--embeddings-model", metavar="NAME", default="", help="Its model."),
)

model_option = click.option(
    "--model",
    metavar="NAME",
    help="The model to ask; 'embedded' is the one that needs nothing else and is the"
    " default when no endpoint is configured. Environment: EXPLORACODER_MODEL.",
)

base_url_option = click.option(
    "--base-url",
    metavar="URL",
    help="An OpenAI-compatible endpoint. Environment: OPENAI_BASE_URL, with the key in"
    " OPENAI_API_KEY.",
)

reasoning_effort_option = click.option(
    "--reasoning-effort",
    type=click.Choice(EFFORTS),
    help="How long a model that reasons is to think before it answers. Where the server"
    " does not take this, the model is asked without. Environment:"
    " EXPLORACODER_REASONING_EFFORT.",
)

# Which model to ask.
model_options = _stack(
    model_option,
    base_url_option,
    reasoning_effort_option,
    click.option("--cache", is_flag=True, help="Answer repeated requests from the reply cache."),
    click.option(
        "--replies",
        type=PATH,
        metavar="DIR",
        help="A reply cache of your own, for measurements: a reply from it counts with what it"
        " cost when it was asked for.",
    ),
    click.option(
        "--replies-only",
        is_flag=True,
        help="Ask no model: what --replies has no answer to is an error.",
    ),
    lora_option,
)

# Limits on the whole exploration.
limit_options = _stack(
    click.option(
        "--max-seconds",
        type=click.FloatRange(min=0, min_open=True),
        metavar="S",
        help="Stop after S seconds, with everything saved.",
    ),
    click.option(
        "--max-tokens",
        type=click.IntRange(min=1),
        metavar="T",
        help="Stop after T tokens, prompts included, with everything saved.",
    ),
)


# The options that list something instead of exploring.
def _methods() -> Iterator[str]:
    for name, words in METHODS.items():
        yield f"{name:32} {words}"


def _settings() -> Iterator[str]:
    from exploracoder.settings import PROFILES, Settings

    for name, field in Settings.model_fields.items():
        if name != "profile":
            values = ", ".join(f"{key} {getattr(PROFILES[key], name)}" for key in PROFILES)
            yield f"{name.replace('_', '-'):20} {field.description}\n{'':20} {values}"


def _lister(name: str, lines: Callable[[], Iterator[str]], words: str) -> Callable[..., Any]:
    def print_and_end(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            click.echo("\n".join(lines()))
            ctx.exit(0)

    arguments: dict[str, Any] = {"is_eager": True, "expose_value": False, "callback": print_and_end}
    return click.option(name, is_flag=True, help=words, **arguments)


list_methods = _lister("--list-methods", _methods, "List the methods.")
list_settings = _lister(
    "--list-settings", _settings, "List the settings with their values in each profile."
)


@contextmanager
def opened_libraries(
    targets: Sequence[str], arguments: dict[str, Any]
) -> Iterator[tuple[Index, list[str]]]:
    """Index a command's libraries; yield the index and their names in it."""
    from exploracoder.workspace import open_libraries

    with (
        Progress() as progress,
        open_libraries(targets, options_of(arguments), tell=progress.working) as (index, libraries),
    ):
        yield index, [one.name for one in libraries]


def options_of(arguments: dict[str, Any], **others: Any) -> Options:
    """Make `Options` of a command's arguments; ``others`` override them."""
    from exploracoder.cli.questions import ask_consent
    from exploracoder.models.reply_cache import ReplyCache
    from exploracoder.workspace import Options

    values = {
        one.name: arguments[one.name] for one in fields(Options) if one.name in arguments
    } | others
    is_closed = arguments.get("replies_only", False)
    if is_closed and values.get("replies") is None:
        raise InputError("--replies-only is about kept replies: name them with --replies.")
    if values.get("replies") is not None:
        values["replies"] = ReplyCache(values["replies"], is_free=False, is_closed=is_closed)
    return Options(**values, consent=ask_consent)
