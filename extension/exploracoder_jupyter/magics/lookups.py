"""What needs no exploration: reading docs into the index, searching them, replaying a notebook."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from exploracoder import confined, prepare
from exploracoder.bringing import check_source
from exploracoder.errors import InputError
from exploracoder.installed import find_libraries
from exploracoder.replay import Replay
from exploracoder.replaying import replay_with
from exploracoder.state import Exploration, Library
from exploracoder.workplace import Options, find_sandbox, in_thread, open_index
from exploracoder_kernel.carrying import OwnVariables
from exploracoder_retrieval.apidoc import ApiDoc, Hit

_SHOWN = 10
_NEAR = 3


async def read_libraries(targets: Sequence[str], options: Options) -> tuple[Library, ...]:
    """Bring the index up to date for libraries. Raises InputError when one cannot be had."""
    async with open_index(options) as index:
        interpreter = await in_thread(confined.find_interpreter, options.python)
        return await in_thread(prepare.index_libraries, index, targets, interpreter)


async def search(query: str, targets: Sequence[str], options: Options) -> tuple[Hit, ...]:
    """The best APIs for a query. Raises InputError when a library cannot be had."""
    async with open_index(options) as index:
        interpreter = await in_thread(confined.find_interpreter, options.python)
        found = await in_thread(prepare.index_libraries, index, targets, interpreter)
        names = [library.name for library in found]
        return tuple(await in_thread(index.search, query, names, _SHOWN))


async def find_doc(name: str, targets: Sequence[str], options: Options) -> ApiDoc:
    """What is known of an API, by its path or the end of it.

    Raises InputError, with the nearest names, when there is none.
    """
    async with open_index(options) as index:
        interpreter = await in_thread(confined.find_interpreter, options.python)
        found = await in_thread(prepare.index_libraries, index, targets, interpreter)
        docs = {doc.path: doc for library in found for doc in index.docs(library.name)}
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
    """Run the accepted cells of an exploration again, in a scratch kernel of their own.

    A library that is not where it was is looked for in ``folder``. Raises InputError and SetupError
    when the kernel or a library cannot be had.
    """
    check_source(source, exploration.brought)
    then = options.python or prepare.interpreter_then(exploration)
    interpreter = await in_thread(confined.find_interpreter, then)
    places = (Path.cwd(), folder)
    libraries = await in_thread(find_libraries, exploration, interpreter, places)
    sandboxing = await in_thread(find_sandbox, options, interpreter, Path.cwd())
    return await replay_with(
        libraries,
        python=interpreter.executable,
        strategy=options.branching,
        sandboxing=sandboxing,
        source=source,
    )
