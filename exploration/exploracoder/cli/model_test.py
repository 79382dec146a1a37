"""``exploracoder model test``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from exploracoder.cli.console import Progress, print_json, printable, run_async, text_console
from exploracoder.cli.options import (
    base_url_option,
    json_option,
    model_option,
    quiet_option,
    reasoning_effort_option,
)

if TYPE_CHECKING:
    from exploracoder.models.capabilities import Capabilities
    from exploracoder.models.openai_client import OpenAIChatModel
    from exploracoder.suitable_profile import Fit


@click.command()
@model_option
@base_url_option
@reasoning_effort_option
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=1),
    default=180.0,
    show_default=True,
    metavar="S",
    help="The longest that each question may take, in seconds.",
)
@json_option
@quiet_option
def test(
    model: str | None,
    base_url: str | None,
    reasoning_effort: str | None,
    timeout_s: float,
    as_json: bool,
    quiet: bool,
) -> int:
    """Ask a model a handful of short questions, and say what it and its server can do.

    Without --model it is the configured one, or else the embedded one. It takes seconds, a few
    thousand tokens, and longer for a model that has to be loaded first. What is found is kept for
    this endpoint and model on this machine, and explorations with it get settings that suit it,
    where --profile names none.

    \b
      exploracoder model test
      exploracoder model test --base-url http://127.0.0.1:11434/v1 --model qwen3:8b
    """
    from exploracoder import prepare
    from exploracoder.models.openai_client import OpenAIChatModel
    from exploracoder.models.probing import probe
    from exploracoder.suitable_profile import profile_for

    memory = prepare.capabilities_memory(model, base_url, reasoning_effort)

    async def work(progress: Progress) -> tuple[OpenAIChatModel, Capabilities]:
        progress.working("Starting the model")
        manager = prepare.open_model(model, base_url, reasoning_effort=reasoning_effort)
        async with manager as client:
            assert isinstance(client, OpenAIChatModel), "all that can be named are"
            return client, await probe(client, tell=progress.working, timeout_s=timeout_s)

    with Progress(quiet=quiet) as progress:
        chat_model, capabilities = run_async(work(progress))
    if memory is not None:
        memory.keep(capabilities, is_measured_anew=True)
    fit = profile_for(capabilities, is_embedded=chat_model.is_embedded)
    if as_json:
        print_json(_as_json(chat_model, capabilities, fit))
    else:
        _show(chat_model, capabilities, fit)
    return 0


def _as_json(model: OpenAIChatModel, capabilities: Capabilities, fit: Fit) -> dict[str, Any]:
    return {
        "model": model.name,
        "base_url": None if model.is_embedded else model.base_url,
        "capabilities": capabilities.model_dump(mode="json"),
        **fit._asdict(),
    }


def _show(model: OpenAIChatModel, capabilities: Capabilities, fit: Fit) -> None:
    from rich.table import Table

    where = "embedded" if model.is_embedded else f"at {model.base_url}"
    table = Table("ability", "found", title=printable(f"{model.name}, {where}"), title_style="")
    for row in _rows(capabilities):
        table.add_row(*row)
    console = text_console()
    console.print(table)
    console.print(fit.in_words)
    console.print("Explorations with this model use that, where --profile names none.")


def _rows(capabilities: Capabilities) -> Iterator[tuple[str, str]]:
    yield "JSON schema", _SCHEMA[capabilities.schema_mode]
    yield "functions (tools)", _said(capabilities.tools)
    yield "streaming", _said(capabilities.streaming)
    yield "several replies (n)", _said(capabilities.several, no="no: asked for one after another")
    yield "probabilities (logprobs)", _said(capabilities.logprobs)
    yield "prefix cache", _said(capabilities.prefix_cache)
    yield "reasoning", _said(capabilities.reasons)
    yield "context", _amount(capabilities.context_tokens, "tokens")
    yield "parameters", _amount(capabilities.parameters, "")
    yield "prompts", _amount(capabilities.prompt_tokens_per_s, "tokens/s")
    yield "replies", _amount(capabilities.completion_tokens_per_s, "tokens/s")


_SCHEMA = {
    "json_schema": "kept to (json_schema)",
    "json_object": "kept to, said in words (json_object)",
    "words": "kept to, said in words",
    "ignored": "not kept to",
    None: "not known",
}


def _said(value: bool | None, *, no: str = "no") -> str:
    return "not known" if value is None else "yes" if value else no


def _amount(value: float | None, unit: str) -> str:
    return "not known" if value is None else f"{value:,} {unit}".rstrip()
