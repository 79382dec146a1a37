"""The ExploraCoder kernels now running, and their trees of branches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.sidecar_answers import BranchInfo
from pydantic import Field, ValidationError

from exploracoder.errors import SetupError
from exploracoder.state import State

if TYPE_CHECKING:
    from exploracoder_kernel.kernel.kernel_client import Conversation

_ANSWER_SECONDS = 3.0
_MOST_FILES = 200


class KernelTree(State):
    """The branches of a running kernel, oldest first; ``current`` is where its cells run."""

    kernel: str
    python_version: str
    strategy: str
    strategy_reason: str
    sandbox: dict[str, Any] = Field(default_factory=dict)
    current: str
    root: str
    branches: tuple[BranchInfo, ...]


@asynccontextmanager
async def attached(kernel: str | None) -> AsyncIterator[Callable[[], Awaitable[KernelTree]]]:
    """Yield a reader for the tree of a running kernel: the named one, or the newest to answer.

    Raises SetupError if there is none, or the named one is not an ExploraCoder kernel.
    """
    file = await _newest() if kernel is None else _named(kernel)
    async with _talk(file) as talk:
        if kernel is not None and not await _is_ours(talk):
            raise SetupError(
                f"{kernel} does not answer as an ExploraCoder kernel. Does it run, and is it one?"
            )
        yield partial(_tree, file, talk)


async def _tree(file: Path, talk: Conversation) -> KernelTree:
    """The branches and their current memory. Raises SetupError if the kernel has ended."""
    try:
        with anyio.fail_after(60):
            answer = await talk.ask("exploracoder_list_request", {"measure": True})
        fields = {name: answer.get(name) for name in KernelTree.model_fields if name in answer}
        return KernelTree.model_validate({**fields, "kernel": str(file)})
    except TimeoutError as error:
        raise SetupError("The kernel does not answer any more.") from error
    except SidecarError as error:
        raise SetupError(str(error)) from error
    except ValidationError as error:
        raise SetupError("The kernel's answer is not that of this version.") from error


def _named(kernel: str) -> Path:
    from jupyter_client.connect import find_connection_file

    try:
        return Path(find_connection_file(kernel))
    except OSError as error:
        raise SetupError(
            f"No connection file {kernel!r}. Give its path, or the id of a running kernel."
        ) from error


async def _newest() -> Path:
    files = _connection_files()
    answers = await asyncio.gather(*(_answers(file) for file in files))
    for file, is_ours in zip(files, answers, strict=True):
        if is_ours:
            return file
    raise SetupError(
        "No ExploraCoder kernel runs here. Start one: jupyter console --kernel exploracoder"
    )


def _connection_files() -> Sequence[Path]:
    """The connection files in Jupyter's runtime folder, newest first."""
    from jupyter_core.paths import jupyter_runtime_dir

    entries = []
    for file in Path(jupyter_runtime_dir()).glob("kernel-*.json"):
        try:
            entries.append((file.stat().st_mtime, file))
        except OSError:
            continue
    return [file for _, file in sorted(entries, reverse=True)[:_MOST_FILES]]


async def _answers(file: Path) -> bool:
    try:
        async with _talk(file) as talk:
            return await _is_ours(talk)
    except SetupError:
        return False


async def _is_ours(talk: Conversation) -> bool:
    """Whether an ExploraCoder kernel answers; killed ones leave files, so don't wait long."""
    try:
        with anyio.fail_after(_ANSWER_SECONDS):
            about = await talk.ask("kernel_info_request")
    except (TimeoutError, SidecarError):
        return False
    return about.get("implementation") == "exploracoder"


@asynccontextmanager
async def _talk(file: Path) -> AsyncIterator[Conversation]:
    from exploracoder_kernel.kernel.kernel_client import Conversation
    from jupyter_client.asynchronous.client import AsyncKernelClient

    client = AsyncKernelClient()
    try:
        client.load_connection_file(str(file))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise SetupError(f"{file} is not a kernel's connection file.") from error
    async with Conversation(client) as talk:
        yield talk
