"""The kernelspec: how Jupyter finds and starts the kernel."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Literal

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.interpreter import find_interpreter

NAME = "exploracoder"
_LOGO = "logo-svg.svg"  # Jupyter looks for this name
# Like ``-m exploracoder_kernel.kernel``, but without the notebook's folder on ``sys.path``.
_START = (
    "import sys; sys.path[:] = filter(None, sys.path); "
    "from exploracoder_kernel.kernel.kernel_app import main; sys.exit(main())"
)
Level = Literal["auto", "strict", "network", "off"]


def describe(
    python: str | Path | None = None,
    *,
    own_python: str = "python",
    display_name: str = "ExploraCoder",
    sandbox: Level = "auto",
) -> dict[str, Any]:
    """The contents of ``kernel.json``.

    Args:
        python: The interpreter that cells run in; ours by default.
        own_python: The interpreter that has ExploraCoder; Jupyter reads ``python`` as its own.
        display_name: What the launcher shows.
        sandbox: How cells are sandboxed.
    """
    argv = [own_python, "-c", _START, "-f", "{connection_file}"]
    argv += [] if python is None else ["--python", str(python)]
    argv += [] if sandbox == "auto" else ["--sandbox", sandbox]
    return {
        "argv": argv,
        "display_name": display_name,
        "language": "python",
        "interrupt_mode": "message",
        "metadata": {
            "debugger": False,
            "kernel_provisioner": {"provisioner_name": "exploracoder-sandbox"},
        },
    }


def install(
    python: str | Path | None = None,
    *,
    name: str = NAME,
    sandbox: Level = "auto",
    user: bool = False,
    prefix: Path | None = None,
) -> Path:
    """Write a kernelspec that starts this installation of ExploraCoder.

    Args:
        python: The interpreter that cells run in; ours by default.
        name: What Jupyter calls the kernel; a second one needs another name.
        sandbox: How cells are sandboxed.
        user: Install into the folder of the user's own kernels.
        prefix: Install into ``share/jupyter/kernels`` below it; by default our environment.

    Returns:
        The folder of the new kernelspec.

    Raises:
        InterpreterError: There is no such interpreter.
        SidecarError: The name is not a valid kernel name, or the folder can't be written.
    """
    from jupyter_client.kernelspec import KernelSpecManager

    interpreter = None if python is None else find_interpreter(python)
    title = "ExploraCoder" if name == NAME else f"ExploraCoder ({name})"
    spec = describe(interpreter, own_python=sys.executable, display_name=title, sandbox=sandbox)
    place: dict[str, Any] = {"user": True} if user else {"prefix": str(prefix or sys.prefix)}
    with tempfile.TemporaryDirectory(prefix="exploracoder-") as folder:
        (Path(folder) / "kernel.json").write_text(json.dumps(spec, indent=1), encoding="utf-8")
        shutil.copy(Path(__file__).with_name(_LOGO), folder)
        try:
            destination = KernelSpecManager().install_kernel_spec(folder, kernel_name=name, **place)
        except (OSError, ValueError) as error:
            raise SidecarError(f"The kernelspec {name!r} can't be written: {error}.") from error
    return Path(destination)
