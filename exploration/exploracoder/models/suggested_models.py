"""Suggestions for when no model was chosen: servers on this machine, keys in the environment.

None of them is used until the user chooses it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from exploracoder.models import discovery
from exploracoder.models.discovery import LocalServer
from exploracoder.models.keys import variables_set

_SHOWN_MODELS = 5


class Suggestion(NamedTuple):
    """A source of models: what was found, and the command that selects it."""

    title: str
    description: str
    command: str


def of_servers(servers: Iterable[LocalServer]) -> tuple[Suggestion, ...]:
    """Offers for the servers found on this machine."""
    return tuple(
        Suggestion(
            one.title, f"{_names(one.models)} at {one.base_url}", _command(one, one.models[0])
        )
        for one in servers
    )


def of_keys(environment: Mapping[str, str] = os.environ) -> tuple[Suggestion, ...]:
    """Offers for the keys in the environment, which name only their variables."""
    return tuple(
        Suggestion(
            one.title,
            f"{variable} is set; it is used when you name {one.title}'s address",
            f"exploracoder explore … --base-url {one.base_url} --model NAME",
        )
        for variable, one in variables_set(environment)
    )


async def offered() -> tuple[Suggestion, ...]:
    """All offers: servers on this machine, then keys."""
    return of_servers(await discovery.find_servers(discovery.USUAL)) + of_keys()


def in_words(offers: Iterable[Suggestion]) -> str:
    """The offers as text, to append to the error message about the missing model."""
    return "".join(f"\n{one.title}: {one.description}\n  → {one.command}" for one in offers)


def _command(server: LocalServer, model: str) -> str:
    return f"exploracoder explore … --base-url {server.base_url} --model {shlex.quote(model)}"


def _names(models: tuple[str, ...]) -> str:
    more = len(models) - _SHOWN_MODELS
    return ", ".join(models[:_SHOWN_MODELS]) + (f" and {more} more" if more > 0 else "")
