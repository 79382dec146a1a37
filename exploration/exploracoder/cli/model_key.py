"""``exploracoder model key``."""

from __future__ import annotations

import sys

import click

from exploracoder.cli.console import read_standard_input
from exploracoder.errors import InputError

_server_option = click.option(
    "--base-url",
    metavar="URL",
    help="The server that the key is for. Default: the configured endpoint.",
)


@click.group()
def key() -> None:
    """Keep the keys of model servers in this machine's keyring.

    It needs the package keyring: pip install 'exploracoder[keyring]'. A key is used for its own
    server alone, and where the environment has none: neither in the provider's own variable, such
    as MISTRAL_API_KEY, nor in OPENAI_API_KEY.
    """


@key.command("set")
@_server_option
def set_key(base_url: str | None) -> int:
    """Ask for a server's key, without showing it, and keep it.

    What is not typed at a terminal is read from standard input, up to its end.
    """
    from exploracoder.models.keys import keep_key
    from exploracoder.models.model_choice import origin_of
    from exploracoder.models.server_failures import checked_api_key

    url = _server(base_url)
    if sys.stdin.isatty():
        text = click.prompt(f"Key for {origin_of(url)}", hide_input=True, err=True)
    else:
        text = read_standard_input()
    api_key = checked_api_key(text)
    if not api_key:
        raise InputError("There is no key to keep: nothing was typed.")
    keep_key(url, api_key)
    click.echo(f"The keyring has the key for {origin_of(url)}.", err=True)
    return 0


@key.command("remove")
@_server_option
def remove_key(base_url: str | None) -> int:
    """Take a server's key out of the keyring. Exit code 1 when there was none."""
    from exploracoder.models.keys import forget_key
    from exploracoder.models.model_choice import origin_of

    url = _server(base_url)
    was_there = forget_key(url)
    outcome = "no longer has the key" if was_there else "has no key"
    click.echo(f"The keyring {outcome} for {origin_of(url)}.", err=True)
    return 0 if was_there else 1


def _server(base_url: str | None) -> str:
    from exploracoder.models.server_failures import checked_base_url
    from exploracoder.prepare import endpoint_url

    return checked_base_url(endpoint_url(base_url))
