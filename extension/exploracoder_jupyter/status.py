"""Answers requests about the server: its status, models, libraries, lookups and suggestions."""

from __future__ import annotations

import asyncio
import os
import posixpath

from exploracoder import __version__
from exploracoder.errors import InputError
from exploracoder.models.discovery import find_servers
from exploracoder.settings import PROFILES
from exploracoder_retrieval.web_access import without_credentials

from exploracoder_jupyter import paths
from exploracoder_jupyter.hosted_explorations import Host
from exploracoder_jupyter.protocol import (
    IndexedLibrary,
    IndexRequest,
    Libraries,
    LibraryLookup,
    Lookup,
    LookupAnswer,
    Models,
    SearchResults,
    ServerStatus,
    SuggestionRequest,
    Suggestions,
)
from exploracoder_jupyter.pythons import absolute
from exploracoder_jupyter.source_lookups import Place
from exploracoder_jupyter.suggestions import Surroundings, suggest
from exploracoder_jupyter.workshop import Workshop


async def status(host: Host) -> ServerStatus:
    """The model, sandbox and settings, including what is missing."""
    choices = host.workshop.choices
    sandbox, is_sandboxed = await host.sandboxes.in_words()
    return ServerStatus(
        version=__version__,
        epoch=host.workshop.events.epoch,
        number=host.workshop.events.last,
        model=choices.model_name(),
        model_url="" if choices.is_embedded else without_credentials(choices.model_url),
        model_error=choices.model_trouble(),
        is_embedded=choices.is_embedded,
        embedded=host.workshop.download.state(),
        sandbox=sandbox,
        is_sandboxed=is_sandboxed,
        profiles={str(name): settings for name, settings in PROFILES.items()},
        default_profile=choices.default_profile,
        roots=host.workshop.services.contents_roots(),
        shows_hidden=bool(getattr(host.workshop.services.contents, "allow_hidden", False)),
    )


async def models(host: Host) -> Models:
    """The embedded model, and the model servers found on this machine."""
    servers = await find_servers(host.workshop.choices.local_servers)
    return Models(embedded=host.workshop.download.state(), servers=servers)


async def libraries(host: Host, kernel_name: str | None) -> Libraries:
    """The libraries installed in a kernelspec's Python. Raises InputError when it has none."""
    workshop = host.workshop
    python = await workshop.pythons.of_kernel(kernel_name)
    installed_libraries = await workshop.pythons.installed(python)
    indexed_names = await workshop.index.names()
    listing = tuple(
        one.model_copy(update={"is_indexed": one.name in indexed_names})
        for one in installed_libraries
    )
    return Libraries(python=os.fspath(python), libraries=listing)


async def index_library(host: Host, request: IndexRequest) -> IndexedLibrary:
    """Bring the index up to date for a library.

    Raises InputError for an unusable library, SetupError when the index cannot be written.
    """
    workshop = host.workshop
    target = absolute(request.target, workshop.services.root)
    python = await workshop.pythons.of_kernel(request.kernel_name)
    await workshop.pythons.targets((target,), python)
    library = await workshop.index.put(target, await workshop.pythons.interpreter(python))
    return IndexedLibrary(
        target=request.target,
        name=library.name,
        import_name=library.import_name,
        version=library.version,
        apis=library.apis,
    )


async def search(host: Host, query: str, names: list[str], k: int) -> SearchResults:
    """Search the index for APIs, best first.

    Raises InputError for an empty query or no library, UnknownError for one that is not indexed.
    """
    if not query.strip():
        raise InputError("The query is empty.")
    if not names:
        raise InputError("Name at least one library to search in.")
    return SearchResults(apis=await host.workshop.index.search(query, names, k))


async def look_up(host: Host, request: LibraryLookup) -> LookupAnswer:
    """Look up in the source of libraries. Raises InputError when a library is not found."""
    workshop = host.workshop
    names = tuple(absolute(name, workshop.services.root) for name in request.libraries)
    python = await workshop.pythons.of_kernel(request.kernel_name)
    return await _look_up(workshop, request, names, python)


async def look_up_for(host: Host, id_: str, request: Lookup) -> LookupAnswer:
    """Look up in the source of an exploration's libraries, and in nothing else.

    Raises UnknownError when it is not open, InputError when a library is no longer found.
    """
    hosted_exploration = host.get(id_)
    names = hosted_exploration.exploration.task.libraries
    return await _look_up(host.workshop, request, names, hosted_exploration.python)


async def suggestions(host: Host, request: SuggestionRequest) -> Suggestions:
    """What a task brings along from a notebook. Raises InputError if the kernel is not Python."""
    services, pythons = host.workshop.services, host.workshop.pythons
    folder = paths.folder_of(paths.checked(request.path))
    python = await pythons.of_kernel(request.kernel_name)
    surroundings = Surroundings(
        installed_libraries=await pythons.installed(python),
        search_paths=(await pythons.interpreter(python)).search_paths,
        folder=None if services.is_remote else services.root / folder,
    )
    result = await asyncio.to_thread(suggest, request, surroundings)
    names = {one.name for one in surroundings.installed_libraries}
    libraries = (
        one if one in names else f"./{posixpath.join(folder, one)}" for one in result.libraries
    )
    return result.model_copy(update={"libraries": tuple(libraries)})


async def _look_up(
    workshop: Workshop, lookup: Lookup, names: tuple[str, ...], python: str
) -> LookupAnswer:
    names = tuple(dict.fromkeys(names))
    targets = await workshop.pythons.targets(names, python)
    interpreter = await workshop.pythons.interpreter(python)
    places = [Place(name, target, interpreter) for name, target in zip(names, targets, strict=True)]
    return await workshop.lookups.ask(lookup, places)
