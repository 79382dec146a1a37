"""Requests that need no open exploration: indexing docs, searching them, replaying a notebook."""

from __future__ import annotations

import difflib
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from exploracoder.errors import InputError
from exploracoder.replay import Replay
from exploracoder.state import Exploration, Library
from exploracoder.workspace import Options, in_thread, open_libraries, prepare_replay
from exploracoder_kernel.variable_transfer import OwnVariables
from exploracoder_retrieval.apidoc import ApiDoc, Hit
from exploracoder_retrieval.index import Index

_SHOWN = 10
_NEAR = 3


async def read_libraries(targets: Sequence[str], options: Options) -> tuple[Library, ...]:
    """Bring the index up to date for libraries. Raises InputError when one is not available."""
    async with _opened(targets, options) as (_, libraries):
        return libraries


async def search(query: str, targets: Sequence[str], options: Options) -> tuple[Hit, ...]:
    """The best APIs for a query. Raises InputError when a library is not available."""
    async with _opened(targets, options) as (index, libraries):
        names = [library.name for library in libraries]
        return tuple(await in_thread(index.search, query, names, _SHOWN))


async def find_doc(name: str, targets: Sequence[str], options: Options) -> ApiDoc:
    """Find an API's docs by its path or the end of it.

    Raises InputError, with the nearest names, when there is none.
    """
    async with _opened(targets, options) as (index, libraries):
        docs = {doc.path: doc for library in libraries for doc in index.docs(library.name)}
    if name in docs:
        return docs[name]
    ends = [path for path in docs if path.endswith(f".{name}")]
    if ends:
        return docs[min(ends, key=len)]
    near = difflib.get_close_matches(name, docs, n=_NEAR, cutoff=0.4)
    hint = f" Near: {', '.join(near)}." if near else " '%exploracoder search' finds by meaning."
    raise InputError(f"The libraries in use have no {name!r}.{hint}")


async def replay_again(
    exploration: Exploration, folder: Path, options: Options, source: OwnVariables | None
) -> Replay:
    """Rerun the accepted cells of an exploration; see `prepare_replay`."""
    prepare = partial(prepare_replay, exploration, folder, options, source=source)
    return await (await in_thread(prepare))()


@asynccontextmanager
async def _opened(
    targets: Sequence[str], options: Options
) -> AsyncIterator[tuple[Index, tuple[Library, ...]]]:
    with ExitStack() as stack:
        yield await in_thread(stack.enter_context, open_libraries(targets, options))
