"""``exploracoder mcp``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exploracoder.cli.console import run_async, say
from exploracoder.cli.options import (
    index_options,
    library_option,
    limit_options,
    list_settings,
    method_option,
    model_options,
    options_of,
    path_option,
    profile_option,
    python_option,
    sandbox_options,
    set_option,
    strategy_option,
)
from exploracoder.errors import InputError, SetupError

if TYPE_CHECKING:
    from exploracoder.mcp.folder import Folder
    from exploracoder.workspace import Options


@click.command()
@library_option(
    "A library to know from the start, also one outside the folder: it is meant where a client"
    " names none."
)
@path_option(
    "--root",
    metavar="DIR",
    default=Path(),
    help="The folder to work in: code may read it, libraries may be named by their paths in it, and"
    " explorations in it are resources. Nothing elsewhere is read because a client says so."
    " Default: the current one.",
)
@click.option(
    "--http",
    "is_http",
    is_flag=True,
    help="Serve HTTP on this machine's loopback instead of standard input and output. Address and a"
    " token, new each time, are printed on standard error.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="The port of --http. Default: one that is free.",
)
@python_option
@sandbox_options
@strategy_option
@profile_option
@method_option
@set_option
@list_settings
@limit_options
@model_options
@index_options
def mcp(root: Path, is_http: bool, port: int | None, **arguments: Any) -> int:
    """Offer libraries, a kernel that branches, and checks to other programs' agents.

    The protocol is the Model Context Protocol, so that any agent that speaks it can use the tools:
    find_apis, read_doc, library_map and read_source know the versions that are installed; run_cells
    runs code in a sandbox, go_back returns to an earlier state; check runs a solution in a fresh
    one; explore does the whole task with the model that is configured here, which the other tools
    do not need. Saved explorations are resources.

    \b
      exploracoder mcp --root ~/project --python ~/project/.venv/bin/python
      exploracoder mcp --http --port 8765

    A client is told the command and its arguments: docs/mcp.md has what to write where. It needs
    the package mcp: pip install 'exploracoder[mcp]'. Limits: --set run-seconds=S for each cell,
    --max-seconds and --max-tokens for each exploration.
    """
    if port is not None and not is_http:
        raise InputError("--port is for --http.")
    try:
        from exploracoder.mcp import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "uvicorn"):
            raise
        raise SetupError(
            "The server needs the package mcp, 2 or newer. Run: pip install 'exploracoder[mcp]'"
        ) from error
    options, folder = _options(arguments), _enter(root, arguments["libraries"])
    if is_http:
        run_async(
            server.serve_http(folder, options, arguments["model"], port=port or 0, tell=_tell)
        )
    else:
        run_async(server.serve_stdio(folder, options, arguments["model"]))
    return 0


def _options(arguments: dict[str, Any]) -> Options:
    """The given options, with absolute paths. Raises InputError if a setting cannot be used."""
    from exploracoder import prepare
    from exploracoder.methods import find_method

    paths: dict[str, Any] = {
        name: prepare.full(arguments[name]) for name in ("lora", "replies") if arguments[name]
    }
    paths["readable"] = [prepare.full(one) for one in arguments["readable"]]
    paths["python"] = arguments["python"] and prepare.absolute_target(arguments["python"])
    settings = dict[str, Any](prepare.setting_of(one) for one in arguments["assignments"])
    settings |= {name: arguments[name] for name in ("max_seconds", "max_tokens") if arguments[name]}
    # Fail now, not in front of a client.
    if find_method(arguments["method"]).writes_class:
        raise InputError(
            f"--method {arguments['method']} writes a class into a repository, which no client can"
            " ask for. Choose another method."
        )
    prepare.settings_for(
        arguments["method"],
        profile=arguments["profile"],
        settings=settings,
        is_embedded=prepare.wants_embedded(arguments["model"], arguments["base_url"]),
    )
    # A client cannot consent for the user: without a sandbox nothing runs unless they agreed to it.
    return replace(options_of(arguments | paths, settings=settings), consent=lambda missing: False)


def _enter(root: Path, libraries: Sequence[str]) -> Folder:
    """Change to the folder to work in, and return it. Raises InputError if that fails."""
    from exploracoder.mcp.folder import Folder
    from exploracoder.prepare import absolute_target, full

    folder = Folder(Path(os.path.realpath(full(root))), tuple(map(absolute_target, libraries)))
    try:
        os.chdir(folder.root)
    except OSError as error:
        raise InputError(f"--root: {root} cannot be used: {error.strerror}.") from error
    return folder


def _tell(address: str) -> None:
    say(address, err=True)
