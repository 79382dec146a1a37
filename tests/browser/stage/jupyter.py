"""A JupyterLab server with folders of its own."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from ports import free_port

TOKEN = "tea-for-two"
_START_SECONDS = 90.0
_STOP_SECONDS = 30.0
# What the machine's user has configured is not for tests.
_FOREIGN = ("JUPYTER", "EXPLORACODER_", "OPENAI_", "PYTHONPATH", "IPYTHON", "VIRTUAL_ENV")
# Marks all processes that come from a server of ours, kernels included.
_MARK = "STAGE_MARK"


@dataclass
class Jupyter:
    """The server's process; it can be stopped, killed, and started again on the same port.

    ``home`` holds configuration, data and files. ``variables`` go into its environment;
    ``packages`` is a folder with more Python packages, with what they bring for Jupyter.
    """

    home: Path
    variables: Mapping[str, str]
    has_extension: bool = True
    base_url: str = "/"
    packages: Path | None = None
    port: int = field(default_factory=free_port)
    mark: str = field(default_factory=lambda: uuid4().hex)
    process: asyncio.subprocess.Process | None = None

    @property
    def root(self) -> Path:
        """The folder that it serves."""
        return self.home / "root"

    @property
    def log(self) -> Path:
        """What it printed."""
        return self.home / "jupyter.log"

    def prepare(self) -> None:
        """Make the folders, and configure what a test does not want to be asked."""
        self.root.mkdir()
        config = self.home / "config"
        extensions = {"exploracoder_jupyter": self.has_extension, "notebook": _has("notebook")}
        _write(
            config / "jupyter_server_config.d" / "stage.json",
            {"ServerApp": {"jpserver_extensions": extensions}},
        )
        settings = config / "lab" / "user-settings" / "@jupyterlab"
        _write(
            settings / "apputils-extension" / "notification.jupyterlab-settings",
            {"fetchNews": "false", "checkForUpdates": False},
        )
        # A slow test must not find its notebooks saved behind its back.
        _write(
            settings / "docmanager-extension" / "plugin.jupyterlab-settings",
            {"autosaveInterval": 3600},
        )

    async def start(self) -> None:
        """Start it and wait until it answers. Raises RuntimeError with its log when it does not."""
        self.process = await _spawn(self._words(), self._environment(), self.root, self.log)
        deadline = asyncio.get_running_loop().time() + _START_SECONDS
        while not await asyncio.to_thread(_answers, f"{self.address(self.port)}/api/status"):
            is_late = asyncio.get_running_loop().time() > deadline
            if is_late or self.process.returncode is not None:
                raise RuntimeError(f"JupyterLab did not start:\n{_end_of(self.log)}")
            await asyncio.sleep(0.1)

    def address(self, port: int) -> str:
        """The server's URL, if it is reached by that port."""
        return f"http://127.0.0.1:{port}{self.base_url.rstrip('/')}"

    async def stop(self) -> None:
        """End it as a person does; it closes its kernels."""
        await self._end(signal.SIGTERM)

    async def kill(self) -> None:
        """End it as a crash does."""
        await self._end(signal.SIGKILL)

    async def close(self) -> None:
        """Stop it, and end what it left behind."""
        await self.stop()
        for pid in self._marked():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def kernel_processes(self, kernel_id: str) -> list[int]:
        """The processes that were started with a kernel's connection file."""
        file = str(self.home / "run" / f"kernel-{kernel_id}.json")
        return [pid for pid in _processes() if file in _read(pid, "cmdline")]

    @property
    def resident_mb(self) -> float:
        """The memory of the server's own process."""
        assert self.process is not None, "it runs"
        pages = int(_read(self.process.pid, "statm").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    async def _end(self, number: signal.Signals) -> None:
        process, self.process = self.process, None
        if process is None or process.returncode is not None:
            return
        process.send_signal(number)
        try:
            await asyncio.wait_for(process.wait(), _STOP_SECONDS)
        except asyncio.TimeoutError:
            process.kill()
            await process.wait()

    def _marked(self) -> list[int]:
        return [pid for pid in _processes() if f"{_MARK}={self.mark}" in _read(pid, "environ")]

    def _words(self) -> list[str]:
        return [
            sys.executable,
            "-m",
            "jupyterlab",
            "--no-browser",
            "--allow-root",
            "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.port={self.port}",
            "--ServerApp.port_retries=0",
            f"--ServerApp.base_url={self.base_url}",
            f"--ServerApp.root_dir={self.root}",
            f"--IdentityProvider.token={TOKEN}",
            # Galata's helpers in the page come with JupyterLab.
            f"--LabServerApp.extra_labextensions_path={_galata()}",
            "--LabApp.expose_app_in_browser=True",
            "--JupyterNotebookApp.expose_app_in_browser=True",
            *([] if self.has_extension else [self._without_ours()]),
        ]

    def _without_ours(self) -> str:
        """All front ends but ours: one that is only disabled is loaded nevertheless."""
        folder = self.home / "labextensions"
        folder.mkdir(exist_ok=True)
        for one in Path(sys.prefix, "share", "jupyter", "labextensions").iterdir():
            if one.name != "exploracoder" and not (folder / one.name).exists():
                (folder / one.name).symlink_to(one)
        return f"--LabServerApp.labextensions_path={folder}"

    def _environment(self) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        folders = {
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "run",
            "IPYTHONDIR": "ipython",
        }
        own |= {name: str(self.home / folder) for name, folder in folders.items()}
        if self.packages is not None:
            own["PYTHONPATH"] = str(self.packages)
            own["JUPYTER_PATH"] = str(self.packages / "share" / "jupyter")
            own["JUPYTER_CONFIG_PATH"] = str(self.packages / "etc" / "jupyter")
        return own | {_MARK: self.mark, "PYTHONDONTWRITEBYTECODE": "1", **self.variables}


async def _spawn(
    words: list[str], environment: Mapping[str, str], folder: Path, log: Path
) -> asyncio.subprocess.Process:
    with log.open("ab") as out:
        return await asyncio.create_subprocess_exec(
            *words,
            cwd=folder,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            # A signal to the tests' group is theirs alone: the server is ended by us.
            start_new_session=True,
        )


def _answers(url: str) -> bool:
    request = urllib.request.Request(url, headers={"Authorization": f"token {TOKEN}"})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _galata() -> Path:
    module_spec = importlib.util.find_spec("jupyterlab")
    if module_spec is None or module_spec.origin is None:
        raise RuntimeError("JupyterLab is not installed: pip install 'exploracoder[lab]'.")
    return Path(module_spec.origin).with_name("galata")


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _read(pid: int, what: str) -> str:
    """A file of /proc, empty for a process that has ended or is not ours to look at."""
    try:
        return Path(f"/proc/{pid}/{what}").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _end_of(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-4000:] if log.exists() else ""
