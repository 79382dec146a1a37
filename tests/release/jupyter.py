"""What an installed wheel must do in JupyterLab."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from browser.playing import PLAYWRIGHT, UI_TESTS
from release.checks import expect
from release.installation import CheckError, Installation

_TESTS = Path(__file__).parents[1]
_PLACE = "share/jupyter/labextensions/exploracoder"
_SPEC = "whole-flow"
_COLOUR = re.compile(r"\x1b\[\d*m")


def lists_the_extensions_as_enabled(installation: Installation) -> str:
    """The sidebar, the server's part, and the kernel."""
    lab = _COLOUR.sub("", installation.run("jupyter", "labextension", "list"))
    line = next((line for line in lab.splitlines() if "exploracoder v" in line), lab)
    expect("enabled" in line and "OK" in line and installation.version in line, line)
    server = installation.run("jupyter", "server", "extension", "list")
    expect("exploracoder_jupyter" in server and "Validation failed" not in server, server)
    kernels = installation.run("jupyter", "kernelspec", "list")
    expect("exploracoder" in kernels, kernels)
    return line.strip()


def serves_the_sidebar(installation: Installation) -> str:
    """JupyterLab's page names the sidebar, and all its files come; the server's part answers."""
    with _stage(installation) as stage:
        page = _fetched(stage, "lab")
        expect(b'"exploracoder"' in page, page.decode())
        static = installation.folder / "env" / _PLACE / "static"
        names = sorted(path.name for path in static.iterdir())
        for name in names:
            content = _fetched(stage, f"lab/extensions/exploracoder/static/{name}")
            expect(content == (static / name).read_bytes(), name)
        _fetched(stage, "exploracoder/api/explorations")
    return f"{len(names)} files"


def shows_the_sidebar_in_a_browser(installation: Installation) -> str:
    """A task is explored and its solution inserted, as a person does it."""
    chromium = os.environ.get("CHROMIUM_PATH") or shutil.which("chromium")
    if chromium is None or not PLAYWRIGHT.exists():
        return "left out: it needs Debian's chromium, and npm ci in extension/ui-tests"
    with _stage(installation) as stage:
        process = subprocess.run(
            [PLAYWRIGHT, "test", f"specs/{_SPEC}.spec.ts", "--reporter=line"],
            cwd=UI_TESTS,
            env={**os.environ, "CHROMIUM_PATH": chromium, **stage},
            capture_output=True,
            text=True,
            check=False,
        )
    expect(process.returncode == 0, process.stdout + process.stderr)
    return _SPEC


@contextmanager
def _stage(installation: Installation) -> Iterator[dict[str, str]]:
    """The tests' stage, set up by the environment's Python; yields where it is."""
    stage = subprocess.Popen(
        [installation.bin / "python", "-m", "browser.stage"],
        cwd=installation.work,
        env=installation.environment | {"PYTHONPATH": str(_TESTS)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert stage.stdout is not None
    line = stage.stdout.readline()
    try:
        if not line:
            raise CheckError(stage.communicate()[1][-3000:])
        yield json.loads(line)
    finally:
        # It ends with its input.
        stage.communicate()


def _fetched(stage: dict[str, str], path: str) -> bytes:
    request = urllib.request.Request(
        f"{stage['TARGET_URL']}/{path}", headers={"Authorization": f"token {stage['STAGE_TOKEN']}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            content: bytes = answer.read()
            return content
    except urllib.error.URLError as error:
        raise CheckError(f"{path}: {error}") from error
