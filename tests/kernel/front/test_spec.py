"""The kernelspec: where Jupyter finds the kernel, and which interpreter its cells run in."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from exploracoder_kernel.errors import InterpreterError, SidecarError
from exploracoder_kernel.kernel import spec
from jupyter_client.kernelspec import KernelSpecManager

SHIPPED = Path(__file__).parents[3] / "kernel_tools" / "kernelspec" / "kernel.json"


def test_the_shipped_kernelspec_is_the_one_that_the_code_describes() -> None:
    assert json.loads(SHIPPED.read_text(encoding="utf-8")) == spec.describe()


def test_an_installed_kernelspec_starts_our_installation_with_the_users_python(
    tmp_path: Path,
) -> None:
    folder = spec.install(sys.executable, name="other", sandbox="network", prefix=tmp_path)

    kernel_spec = KernelSpecManager(kernel_dirs=[str(folder.parent)]).get_kernel_spec("other")
    assert kernel_spec.argv[0] == sys.executable
    assert kernel_spec.argv[-4:] == ["--python", sys.executable, "--sandbox", "network"]
    assert kernel_spec.interrupt_mode == "message"
    assert "other" in kernel_spec.display_name
    assert (folder / "logo-svg.svg").read_text(encoding="utf-8").startswith("<svg")


def test_an_interpreter_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InterpreterError, match="/nowhere/python"):
        spec.install("/nowhere/python", prefix=tmp_path)


def test_a_name_that_jupyter_does_not_take_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SidecarError, match="a b"):
        spec.install(name="a b", prefix=tmp_path)
