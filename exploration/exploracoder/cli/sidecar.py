"""``exploracoder sidecar``: the scratch kernel by itself."""

from __future__ import annotations

import asyncio
import math
import os
import sys
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exploracoder.cli.console import (
    Progress,
    is_terminal,
    print_json,
    run_async,
    text_console,
)
from exploracoder.cli.options import (
    options_of,
    path_option,
    python_option,
    sandbox_options,
    strategy_option,
)
from exploracoder.errors import InputError, SetupError, raised_as

if TYPE_CHECKING:
    from exploracoder_kernel.executor import Executor

    from exploracoder.cli.file_runs import FileRun, Source
    from exploracoder.opening import Scratch

_MEGABYTE = 1_000_000
_WATCH_SECONDS = 1.0


@click.group()
def sidecar() -> None:
    """Run files in the scratch kernel, or look at one that runs."""


@sidecar.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--setup",
    metavar="FILE",
    help="Code that runs once, before all others, in the state that they are forked from.",
)
@click.option(
    "--timeout",
    type=float,
    default=30.0,
    show_default=True,
    metavar="S",
    help="Stop a file after S seconds; the set-up too.",
)
@click.option(
    "--memory",
    type=click.IntRange(min=1),
    metavar="MB",
    help="Stop a file that uses more than this many million bytes.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Files at once. Default: as many as there are processors.",
)
@python_option
@sandbox_options
@strategy_option
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object a line, a line a file."
)
def run(files: tuple[str, ...], **arguments: Any) -> int:
    """Run each FILE in a branch of its own, forked from one root, and say what it showed.

    '-' is standard input. What a file does to its variables, or to its process, is seen by no
    other. It runs like a notebook's cell: the value of a last expression is shown, 'await' and
    magics work, input() does not.

    \b
      exploracoder sidecar run a.py b.py --setup data.py
      exploracoder sidecar run candidates/*.py --json --timeout 5 --memory 500

    With --json each line is an object of: file, status, ename, evalue, stdout, stderr, result,
    mime, seconds, limits_hit; the lines come in the order of the files, each as soon as it can.

    A status is one of: ok; error, an exception left the file, KeyboardInterrupt and SystemExit
    included; timeout, it was stopped after its time; limit, it was stopped at another limit, which
    limits_hit names; killed, its process ended before the file did.

    Exit codes: 0 all are ok, 1 some are not, 2 bad input or set-up, 130 interrupted.
    """
    from exploracoder.cli.file_runs import read_source, read_sources

    if not (math.isfinite(arguments["timeout"]) and arguments["timeout"] > 0):
        raise InputError(
            f"--timeout must be a number of seconds over 0, not {arguments['timeout']}."
        )
    sources = read_sources(files)
    setup = arguments["setup"]
    setup_code = "" if setup is None else read_source(setup)
    # Open before the event loop takes over signals: Ctrl-C must work at the sandbox question.
    manager = _open(arguments)
    runs = run_async(_run_all(manager, sources, setup_code, arguments))
    return 0 if all(one.status == "ok" for one in runs) else 1


async def _run_all(
    manager: AbstractAsyncContextManager[Scratch],
    sources: list[Source],
    setup: str,
    arguments: dict[str, Any],
) -> list[FileRun]:
    from exploracoder_kernel.errors import SidecarError

    from exploracoder.cli.file_runs import run_files, summary

    jobs = arguments["jobs"] or os.cpu_count() or 1
    results = []
    # Outside a terminal, the results themselves show the progress.
    with raised_as(SetupError, SidecarError), Progress(quiet=not is_terminal()) as progress:
        async with manager as scratch:
            await _set_up(scratch.executor, setup, arguments["setup"])
            async with aclosing(run_files(scratch.executor, sources, jobs=jobs)) as runs:
                async for one in runs:
                    results.append(one)
                    progress.working(f"{len(results)} of {len(sources)} files are done")
                    with progress.aside():
                        _show(one, as_json=arguments["as_json"])
    if len(results) > 1 and not arguments["as_json"]:
        click.echo(summary(results))
    return results


def _open(arguments: dict[str, Any]) -> AbstractAsyncContextManager[Scratch]:
    from exploracoder_kernel.run_limits import Limits

    memory = arguments["memory"]
    limits = Limits(
        wall_seconds=arguments["timeout"], memory_bytes=memory * _MEGABYTE if memory else None
    )
    return options_of(arguments).find_scratch(arguments["python"] or sys.executable)(limits, {})


async def _set_up(executor: Executor, code: str, file: str | None) -> None:
    if file is None:
        return
    observation = await executor.run(executor.root, code)
    if not observation.ran:
        error = observation.error
        line = f" in line {error.line}" if error and error.line else ""
        words = f"{error.ename}: {error.evalue}" if error else observation.status
        raise InputError(f"--setup: {file} failed{line}: {words}")


def _show(run: FileRun, *, as_json: bool) -> None:
    from exploracoder.cli.file_runs import block

    if as_json:
        print_json(run.model_dump(), indent=None)
    else:
        text_console(soft_wrap=True).print(block(run))


@sidecar.command()
@click.option(
    "--kernel",
    metavar="FILE_OR_ID",
    help="The connection file of a running kernel, or its id. Default: the newest that answers.",
)
@click.option("--watch", is_flag=True, help="Draw it anew every second, until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; with --watch a line each time.")
def tree(kernel: str | None, watch: bool, as_json: bool) -> int:
    """Draw the branches of a running 'exploracoder' kernel.

    For each: its goal, how many cells its state comes from, whether a process holds it now, how it
    was made, and the memory that it has for itself and shares with others.
    """
    try:
        run_async(_show_tree(kernel, watch=watch, as_json=as_json))
    except KeyboardInterrupt:
        if not watch:
            raise
    return 0


async def _show_tree(kernel: str | None, *, watch: bool, as_json: bool) -> None:
    from rich.live import Live

    from exploracoder.cli.branch_tree import draw, tree_console
    from exploracoder.cli.running_kernels import attached

    async with attached(kernel) as read_tree:
        tree = await read_tree()
        if not watch and as_json:
            print_json(tree.model_dump(mode="json"))
        elif not watch:
            tree_console().print(draw(tree))
        else:
            live = Live(draw(tree), console=tree_console(), auto_refresh=False)
            with nullcontext() if as_json else live:
                while True:
                    if as_json:
                        print_json(tree.model_dump(mode="json"), indent=None)
                    else:
                        live.update(draw(tree), refresh=True)
                    await asyncio.sleep(_WATCH_SECONDS)
                    tree = await read_tree()


@sidecar.command()
@python_option
@click.option("--name", default="exploracoder", show_default=True, help="What Jupyter calls it.")
@click.option("--user", is_flag=True, help="For you alone; else for the environment.")
@path_option(
    "--prefix",
    metavar="DIR",
    help="For the environment in this folder instead of ExploraCoder's own.",
)
@click.option(
    "--sandbox",
    type=click.Choice(["auto", "strict", "network", "off"]),
    default="auto",
    show_default=True,
    help="What its cells are kept from, as in 'exploracoder sidecar run'.",
)
def install(python: str | None, name: str, user: bool, prefix: Path | None, sandbox: Any) -> int:
    """Make the kernel known to Jupyter, also for another Python.

    \b
      exploracoder sidecar install --python ~/project/.venv/bin/python --name project
    """
    from exploracoder_kernel.errors import SidecarError
    from exploracoder_kernel.kernel import spec

    if user and prefix is not None:
        raise InputError("Give either --user or --prefix.")
    with raised_as(SetupError, SidecarError):
        folder = spec.install(python, name=name, sandbox=sandbox, user=user, prefix=prefix)
    click.echo(f"Installed: {folder}\nTry it: jupyter console --kernel {name}")
    return 0
