"""``python -m browser.stage COMMAND…``: the stage is set, the command runs, all is cleared.

Without a command, what a command would find in its environment is printed as JSON, and the stage
stands until standard input ends.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from exploracoder.folders import cache_folder
from exploracoder.testing import ScriptedModelServer
from ports import free_port
from tornado.httpserver import HTTPServer

from .bare import configuration, make_hub
from .control import Props, make_control
from .gate import Gate
from .jupyter import TOKEN, Jupyter
from .model import SwitchedModel
from .pythons import make_kernelspecs, make_python


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m browser.stage")
    parser.add_argument("--embedded", action="store_true", help="with the embedded model")
    parser.add_argument("--bare", action="store_true", help="without any model, but a hub")
    parser.add_argument("--no-extension", action="store_true", help="plain JupyterLab")
    parser.add_argument("--base-url", default="/", help="where the server is, as on a hub")
    parser.add_argument("--packages", type=Path, help="a folder with more packages for Jupyter")
    parser.add_argument("--python", type=Path, help="a Python for one more kernel, `other`")
    parser.add_argument("--sandbox", help="level of the sandbox; by default the server's choice")
    parser.add_argument("--keep", type=Path, help="a folder to leave the server's log in")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


def _variables(
    home: Path, arguments: argparse.Namespace, model_url: str, hub_url: str
) -> dict[str, str]:
    """What the server is configured with."""
    cache = home / "cache"
    cache.mkdir()
    own = {"EXPLORACODER_CACHE": str(cache)}
    if arguments.sandbox:
        own["EXPLORACODER_SANDBOX"] = arguments.sandbox
    if arguments.bare:
        return own | {"HF_ENDPOINT": hub_url, "HF_HUB_OFFLINE": ""}
    if arguments.embedded:
        # Only the weights are the user's: they are large, and only read.
        (cache / "models").symlink_to(cache_folder() / "models")
        return own
    key = {"OPENAI_API_KEY": "a-key-of-the-tests"}
    return own | key | {"OPENAI_BASE_URL": model_url, "EXPLORACODER_MODEL": "scripted"}


@asynccontextmanager
async def _stage(home: Path, arguments: argparse.Namespace) -> AsyncIterator[dict[str, str]]:
    """Everything set up; yields what the command is told."""
    model = SwitchedModel()
    async with AsyncExitStack() as stack:
        model_server = stack.enter_context(ScriptedModelServer(model))
        model_door = Gate(int(model_server.base_url.split(":")[2].split("/")[0]))
        await model_door.open()
        stack.push_async_callback(model_door.shut)

        hub_url = _listen(HTTPServer(make_hub()), stack)
        model_url = f"http://127.0.0.1:{model_door.port}/v1"
        variables = _variables(home, arguments, model_url, hub_url)
        jupyter = Jupyter(
            home,
            variables,
            has_extension=not arguments.no_extension,
            base_url=arguments.base_url,
            packages=arguments.packages and arguments.packages.resolve(),
        )
        jupyter.prepare()
        if arguments.bare:
            config = home / "config" / "jupyter_server_config.py"
            config.write_text(configuration(model_url), encoding="utf-8")
        python = await asyncio.to_thread(make_python, home / "tea-env")
        make_kernelspecs(home / "data" / "kernels", python, arguments.python)
        stack.push_async_callback(jupyter.close)
        await jupyter.start()
        jupyter_door = Gate(jupyter.port)
        await jupyter_door.open()
        stack.push_async_callback(jupyter_door.shut)

        doors = {"model": model_door, "jupyter": jupyter_door}
        control = HTTPServer(make_control(Props(jupyter, doors, model, model_server)))
        control_url = _listen(control, stack)
        yield {
            "TARGET_URL": jupyter.address(jupyter_door.port),
            "STAGE_URL": control_url,
            "STAGE_ROOT": str(jupyter.root),
            "STAGE_TOKEN": TOKEN,
            "STAGE_LOG": str(jupyter.log),
        }


def _listen(server: HTTPServer, stack: AsyncExitStack) -> str:
    """Let a server listen until the stage is cleared; the answer is its address."""
    port = free_port()
    server.listen(port, "127.0.0.1")
    stack.push_async_callback(server.close_all_connections)
    stack.callback(server.stop)
    return f"http://127.0.0.1:{port}"


async def _run(arguments: argparse.Namespace, home: Path) -> int:
    this = asyncio.current_task()
    assert this is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    try:
        async with _stage(home, arguments) as variables:
            if arguments.command:
                return await _command(arguments.command, variables)
            print(json.dumps(variables), flush=True)  # noqa: T201  # for whoever started us
            await asyncio.to_thread(sys.stdin.read)
            return 0
    finally:
        _keep_log(home / "jupyter.log", arguments.keep)


async def _command(words: Sequence[str], variables: Mapping[str, str]) -> int:
    command = await asyncio.create_subprocess_exec(*words, env={**os.environ, **variables})
    try:
        return await command.wait()
    finally:
        if command.returncode is None:
            command.terminate()
            await command.wait()


def _keep_log(log: Path, folder: Path | None) -> None:
    if folder is not None and log.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / log.name).write_bytes(log.read_bytes())


def main() -> None:
    """Run the command on a stage."""
    arguments = _arguments()
    # The name is short: sockets in it have paths of a hundred characters at most.
    with tempfile.TemporaryDirectory(prefix="tea-", ignore_cleanup_errors=True) as folder:
        try:
            code = asyncio.run(_run(arguments, Path(folder)))
        except (asyncio.CancelledError, KeyboardInterrupt):
            code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
