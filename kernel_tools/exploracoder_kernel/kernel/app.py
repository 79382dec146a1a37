"""Starting and ending the kernel's process."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from exploracoder_kernel.errors import SidecarError

if TYPE_CHECKING:
    from exploracoder_kernel.kernel.channels import Channels
    from exploracoder_kernel.kernel.front import Front
    from exploracoder_kernel.kernel.wishes import KernelWishes

_log = logging.getLogger("exploracoder.kernel")
_MEGABYTE = 1024 * 1024
_PARENT_POLL_SECONDS = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a kernel until it is shut down: 0 then, 2 when it could not start."""
    given = _parser().parse_args(arguments)
    given.parent = os.getppid()
    logging.basicConfig(stream=sys.stderr, format="[%(name)s] %(levelname)s: %(message)s")
    try:
        asyncio.run(_run(given, _wishes(given)))
    except SidecarError as error:
        _log.error("%s", error)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m exploracoder_kernel.kernel",
        description="A Jupyter kernel whose state branches. Jupyter starts it from its kernelspec.",
        epilog="The variable KERNEL_EXPLORACODER may hold the same as JSON, with _ for - in names; "
        "the arguments come before it.",
    )
    parser.add_argument("-f", dest="connection_file", type=Path, metavar="CONNECTION_FILE")
    parser.add_argument("--python", help="the interpreter that cells run in")
    parser.add_argument("--cwd", help="the folder that cells run in, or see")
    parser.add_argument("--sandbox", choices=("auto", "strict", "network", "off"))
    parser.add_argument("--strategy", choices=("auto", "fork", "replay"))
    parser.add_argument(
        "--memory-budget", type=int, metavar="MB", help="what idle branches may hold together"
    )
    parser.add_argument(
        "--readable", action="append", metavar="PATH", help="what else cells may read in a sandbox"
    )
    return parser


def _wishes(given: argparse.Namespace) -> KernelWishes:
    from exploracoder_kernel.kernel import wishes

    return wishes.taken_from(
        os.environ,
        {
            "python": given.python,
            "cwd": given.cwd,
            "sandbox": given.sandbox,
            "strategy": given.strategy,
            "memory_budget": given.memory_budget,
            "readable": None if given.readable is None else tuple(given.readable),
        },
    )


async def _run(given: argparse.Namespace, wishes: KernelWishes) -> None:
    from exploracoder_kernel.kernel import connection_file
    from exploracoder_kernel.kernel.channels import Channels

    if given.connection_file is not None and given.connection_file.exists():
        connection = connection_file.load(given.connection_file)
    else:
        path = given.connection_file or _new_connection_file()
        connection = connection_file.create(path)
        sys.stderr.write(f"To connect a console: jupyter console --existing {path}\n")
    async with Channels(connection) as channels:
        channels.publish("status", {"execution_state": "starting"})
        await _serve(wishes, channels, parent=given.parent)
        channels.publish("shutdown_reply", {"status": "ok", "restart": False})


async def _serve(wishes: KernelWishes, channels: Channels, *, parent: int) -> None:
    from exploracoder_kernel.kernel import queries
    from exploracoder_kernel.kernel.front import Front
    from exploracoder_kernel.sandbox import choose
    from exploracoder_kernel.sidecar import Sidecar

    cwd = wishes.folder
    sandboxing = await asyncio.to_thread(
        choose, wishes.sandbox, python=wishes.python, cwd=cwd, inputs=wishes.readable_paths
    )
    budget = None if wishes.memory_budget is None else wishes.memory_budget * _MEGABYTE
    async with Sidecar(
        wishes.python,
        cwd,
        strategy=wishes.strategy,
        env=wishes.environment(os.environ),
        launcher=sandboxing.launcher,
        memory_budget_bytes=budget,
    ) as sidecar:
        about = queries.About(wishes.python, sandboxing)
        front = Front(sidecar, channels, about)
        with _signals(front):
            orphaned = asyncio.ensure_future(_stop_when_orphaned(front, parent))
            try:
                await front.serve()
            finally:
                orphaned.cancel()


@contextlib.contextmanager
def _signals(front: Front) -> Iterator[None]:
    """SIGINT interrupts what runs, SIGTERM and SIGHUP shut down."""
    loop = asyncio.get_running_loop()
    handlers = {signal.SIGINT: front.interrupt, signal.SIGTERM: front.stop}
    handlers[signal.SIGHUP] = front.stop
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        for number in handlers:
            loop.remove_signal_handler(number)


async def _stop_when_orphaned(front: Front, parent: int) -> None:
    """Nobody would ever stop a kernel whose Jupyter server has been killed."""
    if not os.environ.get("JPY_PARENT_PID"):
        return
    while os.getppid() == parent:  # noqa: ASYNC110  # no event tells of it
        await asyncio.sleep(_PARENT_POLL_SECONDS)
    _log.warning("The Jupyter server has gone; the kernel ends.")
    front.stop()


def _new_connection_file() -> Path:
    from jupyter_core.paths import jupyter_runtime_dir

    return Path(jupyter_runtime_dir()) / f"kernel-{os.getpid()}.json"
