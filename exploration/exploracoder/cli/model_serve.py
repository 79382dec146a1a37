"""``exploracoder model serve``."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from exploracoder.cli.console import run_async
from exploracoder.cli.options import lora_option


@click.command()
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
