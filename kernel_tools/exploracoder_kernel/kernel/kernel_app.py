"""Starts and ends the kernel's process."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from exploracoder_kernel.errors import SidecarError

if TYPE_CHECKING:
    from exploracoder_kernel.kernel.front import Front
    from exploracoder_kernel.kernel.sockets import Sockets
    from exploracoder_kernel.kernel.start_options import StartOptions

_log = logging.getLogger("exploracoder.kernel")
_MEGABYTE = 1024 * 1024
_PARENT_POLL_SECONDS = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a kernel until it is shut down; exit code 0, or 2 if it could not start."""
    parent = os.getppid()
    logging.basicConfig(stream=sys.stderr, format="[%(name)s] %(levelname)s: %(message)s")
    options = vars(_parser().parse_args(arguments))
    try:
        _run(options.pop("connection_file"), options, parent)
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


def _run(connection_file: Path | None, arguments: dict[str, object], parent: int) -> None:
    from exploracoder_kernel.kernel.sockets import Sockets
    from exploracoder_kernel.kernel.start_options import options_from

    options = options_from(os.environ, arguments)
    sockets = Sockets(connection_file)
    try:
        sockets.open()
        asyncio.run(_serve(options, sockets, parent))
    finally:
        sockets.close()


async def _serve(options: StartOptions, sockets: Sockets, parent: int) -> None:
    from exploracoder_kernel.kernel.front import Front
    from exploracoder_kernel.sandbox import choose
    from exploracoder_kernel.sidecar import Sidecar

    sandbox = await asyncio.to_thread(
        choose,
        options.sandbox,
        python=options.python,
        cwd=options.folder,
        inputs=tuple(Path(path) for path in options.readable),
    )
    budget = None if options.memory_budget is None else options.memory_budget * _MEGABYTE
    async with Sidecar(
        options.python,
        options.folder,
        strategy=options.strategy,
        env=options.environment(os.environ),
        launcher=sandbox.launcher,
        memory_budget_bytes=budget,
    ) as sidecar:
        front = Front(sidecar, options.python, sandbox, sockets)
        _heed_signals(front)
        front.start_task(_stop_when_orphaned(front, parent))
        await front.serve()
    front.close()


def _heed_signals(front: Front) -> None:
    """SIGINT interrupts what runs; SIGTERM and SIGHUP shut down. No signal cuts that short."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, front.interrupt)
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, front.stop)


async def _stop_when_orphaned(front: Front, parent: int) -> None:
    """Stop a kernel whose Jupyter server has been killed: nobody else would.

    ipykernel's own check ends the process at once, and leaves the branches' files behind.
    """
    if not os.environ.get("JPY_PARENT_PID"):
        return
    while os.getppid() == parent:  # noqa: ASYNC110  # no event tells of it
        await asyncio.sleep(_PARENT_POLL_SECONDS)
    _log.warning("The Jupyter server has gone; the kernel ends.")
    front.stop()
