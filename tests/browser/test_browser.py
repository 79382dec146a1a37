"""The extension in a real browser, against a real server, kernels and files, and a scripted model.

Each of the specs in ``extension/ui-tests/specs`` is a test here, on a stage of its own.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
UI_TESTS = TESTS.parent / "extension" / "ui-tests"
SPECS = sorted((UI_TESTS / "specs").glob("*.spec.ts"))
PLAYWRIGHT = UI_TESTS / "node_modules" / ".bin" / "playwright"
# What a spec costs at most, on a busy machine, the start of JupyterLab included.
_SECONDS = 600.0
_SECONDS_WITH_A_MODEL = 1800.0

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def _marked(spec: Path) -> object:
    name = spec.name.removesuffix(".spec.ts")
    marks = [pytest.mark.model] if name == "embedded-model" else []
    return pytest.param(spec, id=name, marks=marks)


def _chromium() -> str | None:
    given = os.environ.get("CHROMIUM_PATH")
    return given or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser() -> str:
    """The path of a Chromium; without one, or without what drives it, the tests are skipped."""
    found = _chromium()
    if found is None:
        pytest.skip("there is no Chromium: apt-get install chromium, or set CHROMIUM_PATH")
    if not PLAYWRIGHT.exists():
        pytest.skip("Playwright is not installed: npm ci --ignore-scripts in extension/ui-tests")
    return found


@pytest.mark.parametrize("spec", [_marked(spec) for spec in SPECS])
def test_the_extension_keeps_its_promises_in_a_browser(
    spec: Path, browser: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    is_embedded = "embedded" in spec.name
    options = ["--embedded"] if is_embedded else []

    code, said = _play(
        spec.name,
        *options,
        browser=browser,
        folder=tmp_path,
        level=pytestconfig.getoption("sandbox"),
        seconds=_SECONDS_WITH_A_MODEL if is_embedded else _SECONDS,
    )

    assert code == 0, said


def test_it_works_below_a_base_url_as_on_a_hub(
    browser: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    code, said = _play(
        "whole-flow.spec.ts",
        "--base-url=/user/tea/",
        browser=browser,
        folder=tmp_path,
        level=pytestconfig.getoption("sandbox"),
        seconds=_SECONDS,
    )

    assert code == 0, said


def _play(
    spec: str, *options: str, browser: str, folder: Path, level: str, seconds: float
) -> tuple[int, str]:
    """Run a spec on a stage; its exit code, and what it and the server said."""
    sandbox = ["--sandbox", level] if level != "auto" else []
    command = [str(PLAYWRIGHT), "test", f"--output={folder / 'results'}", f"specs/{spec}"]
    stage = [sys.executable, "-m", "browser.stage", *options, *sandbox, "--keep", str(folder)]
    code, said = _run([*stage, *command], browser, seconds)
    return code, f"{said[-12_000:]}\n--- JupyterLab ---\n{_end_of(folder / 'jupyter.log')}"


def _run(words: list[str], browser: str, seconds: float) -> tuple[int, str]:
    """The exit code and all that was printed; the stage clears up even when the time is over."""
    own = {**os.environ, "PYTHONPATH": str(TESTS), "CHROMIUM_PATH": browser, "FORCE_COLOR": "0"}
    with subprocess.Popen(
        words,
        cwd=UI_TESTS,
        env=own,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as stage:
        try:
            said, _ = stage.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            stage.send_signal(signal.SIGTERM)
            said, _ = stage.communicate(timeout=60)
            return 124, f"{said}\nThe spec took longer than {seconds:.0f} s."
    return stage.returncode, said


def _end_of(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-4_000:] if log.exists() else ""
