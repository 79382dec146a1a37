"""What is installed is all that is needed: the wheel carries the files that are no Python too."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_SOURCES = ("exploration", "retrieval", "kernel_tools", "extension", "benchmarks")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this tree, with the front end as it is built, or built for it."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        build, cwd=ROOT, check=True, capture_output=True, env={**os.environ, "PATH": tools}
    )
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def names(wheel: Path) -> frozenset[str]:
    """The names of the files in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return frozenset(archive.namelist())


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the wheel, what it depends on, and no Node."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    install = ["-m", "pip", "--python", str(python), "install", "--no-deps", "--quiet", str(wheel)]
    subprocess.run([sys.executable, *install], check=True, capture_output=True)
    # Other packages are taken from here; what this environment has of ours by links is not seen.
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return python


@pytest.mark.parametrize("pattern", ["*.py", "prompts/*.md", "data/*", "py.typed"])
def test_the_wheel_has_every_file_of_the_packages(names: frozenset[str], pattern: str) -> None:
    packages = [path.parent for room in _SOURCES for path in (ROOT / room).glob("*/py.typed")]
    sources = {
        path.relative_to(package.parent) for package in packages for path in package.rglob(pattern)
    }

    missing = {path.as_posix() for path in sources if "__pycache__" not in path.parts} - names

    assert sources
    assert missing == set()


def test_the_wheel_has_the_license_and_nothing_of_the_other_folders(names: frozenset[str]) -> None:
    tops = {name.partition("/")[0] for name in names}
    packages = {path.parent.name for room in _SOURCES for path in (ROOT / room).glob("*/py.typed")}

    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert any(name.endswith("licenses/THIRD_PARTY_LICENSES") for name in names)
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == packages


def test_what_others_made_is_named_with_its_license() -> None:
    check = [sys.executable, str(ROOT / "docs" / "licenses.py"), "--check"]

    process = subprocess.run(check, capture_output=True, text=True, check=False)

    assert (process.returncode, process.stderr) == (0, "")


def test_the_wheel_brings_its_parts_to_where_jupyter_looks(names: frozenset[str]) -> None:
    data = {name.partition(".data/data/")[2] for name in names if ".data/" in name}
    front_end = {name for name in data if name.startswith(f"{_FRONT_END}/")}

    assert data - front_end == {
        "share/jupyter/kernels/exploracoder/kernel.json",
        "share/jupyter/kernels/exploracoder/logo-svg.svg",
        "etc/jupyter/jupyter_server_config.d/exploracoder_jupyter.json",
    }
    assert {f"{_FRONT_END}/package.json", f"{_FRONT_END}/install.json"} <= front_end
    assert any(name.startswith(f"{_FRONT_END}/static/remoteEntry.") for name in front_end)
    assert f"{_FRONT_END}/schemas/exploracoder/plugin.json" in front_end


_FRONT_END = "share/jupyter/labextensions/exploracoder"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (("jupyterlab.labextensions", "list"), r"exploracoder v\S+ .*enabled.* .*OK"),
        (("jupyter_server.extension.serverextension", "list"), r"exploracoder_jupyter .*OK"),
    ],
)
def test_jupyter_finds_what_the_wheel_brought_without_node(
    installed: Path, tmp_path: Path, command: tuple[str, ...], line: str
) -> None:
    own = {f"JUPYTER_{name}_DIR": str(tmp_path) for name in ("CONFIG", "DATA", "RUNTIME")}
    env = {"PATH": str(installed.parent), "HOME": str(tmp_path), **own}

    process = subprocess.run(
        [str(installed), "-m", *command],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    assert shutil.which("node", path=env["PATH"]) is None
    assert re.search(line, process.stdout + process.stderr), process.stdout + process.stderr


def node_of_version(version: str, folder: Path) -> Path:
    """A Node.js that says that it is of another version than it is."""
    real = shutil.which("node", path=f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}")
    if real is None:
        pytest.skip("needs Node.js")
    script = folder / "node"
    say = f"Object.defineProperty(process.versions, 'node', {{ value: '{version}' }})"
    (folder / "version.cjs").write_text(say)
    script.write_text(f'#!/bin/sh\nexec "{real}" --require "{folder}/version.cjs" "$@"\n')
    script.chmod(0o755)
    return script


@pytest.mark.parametrize(
    ("version", "is_built", "brings_node"),
    [
        ("", False, True),
        ("12.22.9", False, True),
        ("20.18.3", False, True),
        ("21.7.3", False, True),
        ("22.11.0", False, True),
        ("20.19.0", False, False),
        ("22.12.0", False, False),
        ("24.0.0", False, False),
        ("", True, False),
    ],
)
def test_a_build_brings_node_only_if_it_needs_one_and_none_will_do(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    is_built: bool,
    brings_node: bool,
) -> None:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None and spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    programs, extension = tmp_path / "programs", tmp_path / "extension"
    programs.mkdir()
    extension.mkdir()
    if version:
        for name in ("node", "npm"):
            (programs / name).symlink_to(node_of_version(version, tmp_path))
    monkeypatch.setenv("PATH", str(programs))
    shutil.copy(ROOT / "extension/supported-node.js", extension)
    if is_built:
        front_end = extension / "exploracoder_jupyter/labextension/package.json"
        front_end.parent.mkdir(parents=True)
        front_end.write_text("{}")

    hook = build.WheelHook(str(tmp_path), {}, None, None, "", "wheel")

    assert any("nodejs" in one for one in hook.dependencies()) == brings_node
