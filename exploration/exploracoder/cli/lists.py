"""Options that list something instead of exploring."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import click

from exploracoder.config import PROFILES, Settings
from exploracoder.methods import METHODS


def _methods() -> Iterator[str]:
    for name, words in METHODS.items():
        yield f"{name:32} {words}"


def _settings() -> Iterator[str]:
    for name, field in Settings.model_fields.items():
        if name != "profile":
            shown = ", ".join(f"{key} {getattr(PROFILES[key], name)}" for key in PROFILES)
            yield f"{name.replace('_', '-'):20} {field.description}\n{'':20} {shown}"


def _lister(name: str, lines: Callable[[], Iterator[str]], words: str) -> Callable[..., Any]:
    def print_and_end(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            click.echo("\n".join(lines()))
            ctx.exit(0)

    told: dict[str, Any] = {"is_eager": True, "expose_value": False, "callback": print_and_end}
    return click.option(name, is_flag=True, help=words, **told)


list_methods = _lister("--list-methods", _methods, "List the methods.")
list_settings = _lister(
    "--list-settings", _settings, "List the settings with their values in each profile."
)
