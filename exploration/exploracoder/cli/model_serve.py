"""``exploracoder model serve`` and ``exploracoder model admit``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exploracoder.cli.console import print_result, run_async, say
from exploracoder.cli.options import json_option, lora_option, path_option
from exploracoder.errors import InputError

if TYPE_CHECKING:
    from exploracoder.models.local_server import Announcement

_ADDRESS, _PORT, _WAITING = "127.0.0.1", 8765, 16

keys_option = path_option(
    "--keys",
    help="The file with the users' keys. Default: model_keys.json in the folder of your settings.",
)


@click.command()
@lora_option
@click.option(
    "--shared",
    is_flag=True,
    help="Serve it to all users of this machine, each with a key of their own. Those who wait take"
    " turns, and are told their place. The other options below go with this one.",
)
@keys_option
@click.option(
    "--address",
    metavar="IP",
    help=f"Where to listen. Default: {_ADDRESS}, which no other machine reaches.",
)
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help=f"Default: {_PORT}.")
@click.option(
    "--slots",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Requests that are answered at the same time, each with a context of its own."
    " Environment: EXPLORACODER_MODEL_SLOTS. Default: 1.",
)
@click.option(
    "--waiting",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"How many requests of one user may wait; more are refused. Default: {_WAITING}.",
)
def serve(lora: Path | None, *, shared: bool, **arguments: Any) -> int:
    """Keep the model loaded and serve it on loopback until Ctrl-C.

    Explorations that run meanwhile use this server and need not load the model; with an adapter,
    those that are given the same.

    \b
      exploracoder model serve
      exploracoder model admit user1 user2
      exploracoder model serve --shared --slots 2
    """
    alone = [f"--{name}" for name, value in arguments.items() if value is not None]
    if alone and not shared:
        raise InputError(f"{alone[0]} goes with --shared: add that, or leave it out.")
    run_async(_serve_shared(lora, **arguments) if shared else _serve(lora))
    return 0


@click.command()
@click.argument("users", nargs=-1, required=True, metavar="NAME…")
@keys_option
@json_option
def admit(users: tuple[str, ...], keys: Path | None, as_json: bool) -> int:
    """Make a key for each NAME that has none, for 'exploracoder model serve --shared'.

    Names and keys are printed: a user sets the own one as OPENAI_API_KEY. They are kept in a file
    that its owner alone can read. Whoever is taken out of it is not let in any more.
    """
    from exploracoder.models.shared_keys import SharedKeys

    user_keys = SharedKeys(keys or _keys_file()).admit(users)
    print_result(
        user_keys, "\n".join(f"{name} {key}" for name, key in user_keys.items()), as_json=as_json
    )
    return 0


async def _serve(lora: Path | None) -> None:
    async with _embedded(lora) as server:
        say(f"{server.model} at {server.base_url}; Ctrl-C ends it.", err=True)
        await asyncio.Event().wait()


async def _serve_shared(
    lora: Path | None,
    *,
    keys: Path | None,
    address: str | None,
    port: int | None,
    slots: int | None,
    waiting: int | None,
) -> None:
    from exploracoder.models.discovery import is_plain_loopback
    from exploracoder.models.fair_queue import FairQueue
    from exploracoder.models.local import default_slots
    from exploracoder.models.shared_keys import SharedKeys
    from exploracoder.models.shared_server import SharedServer, listening

    user_keys, slots = SharedKeys(keys or _keys_file()), slots or default_slots()
    users = len(user_keys.load())
    server = SharedServer(
        user_keys,
        FairQueue(slots, waiting or _WAITING),
        lambda: _embedded(lora, slots=slots),
        lambda words: say(words, err=True),
    )
    place = (address or _ADDRESS, _PORT if port is None else port)
    async with server as model, listening(server, *place) as base_url:
        if not is_plain_loopback(base_url):
            say(
                f"Other machines reach {place[0]}, and what they send can be read on the way:"
                " let nobody but your own into that network.",
                err=True,
            )
        say(f"{model.model} for {users} users at {base_url}; Ctrl-C ends it.", err=True)
        await asyncio.Event().wait()


@asynccontextmanager
async def _embedded(lora: Path | None, **options: Any) -> AsyncIterator[Announcement]:
    """Run the embedded model's server for the duration of the block."""
    from exploracoder.models.local import EmbeddedModel

    model = EmbeddedModel(lora=lora, on_note=lambda words: say(words, err=True), **options)
    async with model:
        assert model.server is not None, "an open model has a server"
        yield model.server


def _keys_file() -> Path:
    from exploracoder.folders import config_folder

    return config_folder() / "model_keys.json"
