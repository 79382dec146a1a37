"""What ``exploracoder explore`` lists instead of exploring."""

from __future__ import annotations

import click

from exploracoder.config import PROFILES, Settings
from exploracoder.methods import METHODS


def list_methods(ctx: click.Context, value: bool) -> None:
    """Print each method with its line, and end, if that was asked for."""
    if not value:
        return
    for name, words in METHODS.items():
        click.echo(f"{name:32} {words}")
    ctx.exit(0)


def list_settings(ctx: click.Context, value: bool) -> None:
    """Print each setting with its values, and end, if that was asked for."""
    if not value:
        return
    for name, field in Settings.model_fields.items():
        if name == "profile":
            continue
        shown = ", ".join(f"{key} {getattr(PROFILES[key], name)}" for key in PROFILES)
        click.echo(f"{name.replace('_', '-'):20} {field.description}\n{'':20} {shown}")
    ctx.exit(0)
