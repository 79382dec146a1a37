"""How Jupyter starts the kernel ``exploracoder``: private sockets, and no secret in its sight.

The kernel's front speaks with Jupyter and runs no code of the user's. What does, it starts in the
sandbox, where there is neither a way to these sockets nor to the front's process.
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

# What the front needs besides: Jupyter's folders and its parent, what the caller wants, and where
# we keep our own.
_OF_JUPYTER = re.compile(
    r"JPY_\w+|JUPYTER_(\w+_DIR|PATH|NO_CONFIG|PREFER_ENV_PATH|PLATFORM_DIRS)|IPYTHONDIR"
    r"|KERNEL_EXPLORACODER|EXPLORACODER_(CACHE|CONFIG)|DBUS_SESSION_BUS_ADDRESS",
)
_STRATEGIES = ("auto", "fork", "replay")


class SandboxProvisioner(LocalProvisioner):
    """Starts the front beside the Jupyter server, with what the kernelspec and the caller want.

    The kernelspec gives values under ``metadata.kernel_provisioner.config``; arguments of
    ``start_kernel`` with the same names come before them.
    """

    python = Unicode(None, allow_none=True, help="The interpreter that cells run in.").tag(
        config=True
    )
    sandbox = Enum(LEVELS, "auto", help="What cells are kept from.").tag(config=True)
    strategy = Enum(_STRATEGIES, "auto", help="How branches are made.").tag(config=True)

    _sockets: Scratch | None = None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Choose sockets, and make the command and its environment."""
        options: list[str] = []
        for name in ("python", "sandbox", "strategy"):
            value = kwargs.pop(name, None) or getattr(self, name)
            options += [] if value in (None, "auto") else [f"--{name}", str(value)]
        self._choose_sockets()
        # Who names some variables means them to come on top.
        kwargs["env"] = {**os.environ, **(kwargs.get("env") or {})}
        launch_arguments = await super().pre_launch(**kwargs)
        launch_arguments["cmd"] = [*launch_arguments["cmd"], *options]
        launch_arguments["env"] = front_environment(launch_arguments["env"])
        return launch_arguments

    async def cleanup(self, restart: bool = False) -> None:
        """Remove the sockets, unless the kernel starts again."""
        await super().cleanup(restart=restart)
        if not restart and self._sockets is not None:
            self._sockets.remove()
            self._sockets = None

    def _choose_sockets(self) -> None:
        """Sockets in a folder of ours, for a kernel whose owner has not chosen others."""
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
