"""What the server would work with, and what it has."""

from __future__ import annotations

import os

from exploracoder import __version__
from exploracoder.config import PROFILES
from exploracoder.errors import InputError

from exploracoder_jupyter.hosting import Host
from exploracoder_jupyter.protocol import (
    IndexedLibrary,
    IndexRequest,
    Libraries,
    SearchResults,
    ServerStatus,
)
from exploracoder_jupyter.pythons import absolute


async def status(host: Host) -> ServerStatus:
    """Model, sandbox and settings; what is missing is said."""
    choices = host.workshop.choices
    sandbox, is_sandboxed = await host.sandboxes.in_words()
    return ServerStatus(
        version=__version__,
        epoch=host.workshop.events.epoch,
        model=choices.model_name,
        model_error=choices.model_trouble(),
        sandbox=sandbox,
        is_sandboxed=is_sandboxed,
        profiles={str(name): settings for name, settings in PROFILES.items()},
        default_profile=choices.default_profile,
    )


async def libraries(host: Host, kernel_name: str | None) -> Libraries:
    """What the Python of a kernelspec has installed. Raises InputError when there is none."""
    workshop = host.workshop
    python = await workshop.pythons.of_kernel(kernel_name)
    installed = await workshop.pythons.installed(python)
    indexed = await workshop.shelves.names()
    found = tuple(one.model_copy(update={"is_indexed": one.name in indexed}) for one in installed)
    return Libraries(python=os.fspath(python), libraries=found)


async def index_library(host: Host, request: IndexRequest) -> IndexedLibrary:
    """Bring the index up to date for a library.

    Raises InputError when it cannot be had, SetupError when the index cannot be written.
    """
    workshop = host.workshop
    target = absolute(request.target, workshop.services.root)
    python = await workshop.pythons.of_kernel(request.kernel_name)
    await workshop.pythons.targets((target,), python)
    found = await workshop.shelves.put(target, await workshop.pythons.interpreter(python))
    return IndexedLibrary(
        target=request.target,
        name=found.name,
        import_name=found.import_name,
        version=found.version,
        apis=found.apis,
    )


async def search(host: Host, query: str, names: list[str], k: int) -> SearchResults:
    """ApiDocs, best first.

    Raises InputError for an empty query or no library, UnknownError for one that is not indexed.
    """
    if not query.strip():
        raise InputError("The query is empty.")
    if not names:
        raise InputError("Name at least one library to search in.")
    return SearchResults(apis=await host.workshop.shelves.search(query, names, k))
