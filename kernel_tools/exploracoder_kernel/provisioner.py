"""How Jupyter starts the ``exploracoder`` kernel: with private sockets and without secrets.

The kernel's front talks to Jupyter and runs no user code. It starts the processes that do in the
sandbox, from which neither these sockets nor the front's process can be reached.
"""

from __future__ import annotations

import os
import re
from typing import Any

from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Enum, Unicode

from exploracoder_kernel.environment import clean_environment
from exploracoder_kernel.sandbox import LEVELS
from exploracoder_kernel.scratch import Scratch, sweep

# What else the front needs: Jupyter's folders and its parent, the caller's options, and where our
# own files are.
_OF_JUPYTER = re.compile(
    r"JPY_\w+|JUPYTER_(\w+_DIR|PATH|NO_CONFIG|PREFER_ENV_PATH|PLATFORM_DIRS)|IPYTHONDIR"
    r"|KERNEL_EXPLORACODER|EXPLORACODER_(CACHE|CONFIG)|DBUS_SESSION_BUS_ADDRESS",
)
_STRATEGIES = ("auto", "fork", "replay")


class SandboxProvisioner(LocalProvisioner):
    """Starts the front next to the Jupyter server, with the kernelspec's and the caller's options.

    The kernelspec sets them under ``metadata.kernel_provisioner.config``; arguments of
    ``start_kernel`` with the same names take precedence.
    """

    python = Unicode(None, allow_none=True, help="The interpreter that cells run in.").tag(
        config=True
    )
    sandbox = Enum(LEVELS, "auto", help="What cells are kept from.").tag(config=True)
    strategy = Enum(_STRATEGIES, "auto", help="How branches are made.").tag(config=True)

    _sockets: Scratch | None = None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Choose the sockets, and build the command and its environment."""
        options: list[str] = []
        for name in ("python", "sandbox", "strategy"):
            value = kwargs.pop(name, None) or getattr(self, name)
            options += [] if value in (None, "auto") else [f"--{name}", str(value)]
        self._choose_sockets()
        # The caller's variables are meant to come on top.
        kwargs["env"] = {**os.environ, **(kwargs.get("env") or {})}
        launch_arguments = await super().pre_launch(**kwargs)
        launch_arguments["cmd"] = [*launch_arguments["cmd"], *options]
        launch_arguments["env"] = front_environment(launch_arguments["env"])
        return launch_arguments

    async def cleanup(self, restart: bool = False) -> None:
        """Remove the sockets, unless the kernel restarts."""
        await super().cleanup(restart=restart)
        if not restart and self._sockets is not None:
            self._sockets.remove()
            self._sockets = None

    def _choose_sockets(self) -> None:
        """Put the sockets into a folder of ours, unless the kernel's owner has chosen IPC."""
        manager: Any = self.parent
        if manager is None or manager.transport == "ipc":
            return
        sweep()
        self._sockets = Scratch.create()
        manager.cache_ports = False
        manager.transport = "ipc"
        manager.ip = str(self._sockets.folder / "k")
        for name in ("shell_port", "iopub_port", "stdin_port", "hb_port", "control_port"):
            setattr(manager, name, 0)


def front_environment(surroundings: dict[str, str]) -> dict[str, str]:
    """The environment of the front: what is needed to run and to find Jupyter's files."""
    jupyters = {name: surroundings[name] for name in surroundings if _OF_JUPYTER.fullmatch(name)}
    return clean_environment(surroundings, jupyters)
