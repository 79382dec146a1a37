"""The extension in a real browser, against a real server, kernels and files, and a scripted model.

Each of the specs in ``extension/ui-tests/specs`` is a test here; they share a stage.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
UI_TESTS = TESTS.parent / "extension" / "ui-tests"
SPECS = sorted(path.name.split(".")[0] for path in (UI_TESTS / "specs").glob("*.spec.ts"))
EMBEDDED = "embedded-model"
PLAYWRIGHT = UI_TESTS / "node_modules" / ".bin" / "playwright"
# What a spec costs at most, on a busy machine.
_SECONDS = 600.0
_SECONDS_WITH_A_MODEL = 1800.0

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage that stands, and what specs that play on it are told."""

    folder: Path
    variables: Mapping[str, str]

    def play(self, spec: str, *options: str, seconds: float) -> tuple[int, str]:
        """Run a spec; its exit code, and what it and the server said."""
        results = self.folder / "results" / spec
        words = [PLAYWRIGHT, "test", f"--output={results}", f"specs/{spec}.spec.ts", *options]
        try:
            played = subprocess.run(
                words,
                cwd=UI_TESTS,
                env=dict(self.variables),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            return 124, f"{late.stdout!r}\n{spec} took longer than {seconds:.0f} s."
        server = self.variables["STAGE_LOG"]
        return (
            played.returncode,
            f"{played.stdout[-12_000:]}\n--- server ---\n{_end_of(Path(server))}",
        )


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


@pytest.fixture(scope="module")
def stage(
    browser: str, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    """The stage that the specs share: they clear up behind them."""
    folder = tmp_path_factory.mktemp("stage")
    with _stage(browser, folder, *_level(pytestconfig)) as stage:
        yield stage


@pytest.mark.parametrize("spec", [name for name in SPECS if name != EMBEDDED])
def test_the_extension_keeps_its_promises_in_a_browser(spec: str, stage: Stage) -> None:
    code, said = stage.play(spec, seconds=_SECONDS)

    assert code == 0, said


def test_it_works_below_a_base_url_as_on_a_hub(
    browser: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    options = ["--base-url=/user/tea/", *_level(pytestconfig)]
    with _stage(browser, tmp_path, *options) as stage:
        code, said = stage.play("whole-flow", "--grep=live cells", seconds=_SECONDS)

    assert code == 0, said


@pytest.mark.model
def test_the_embedded_model_explores_in_the_browser(
    browser: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    with _stage(browser, tmp_path, "--embedded", *_level(pytestconfig)) as stage:
        code, said = stage.play(EMBEDDED, seconds=_SECONDS_WITH_A_MODEL)

    assert code == 0, said


def _level(config: pytest.Config) -> list[str]:
    level = config.getoption("sandbox")
    return [] if level == "auto" else [f"--sandbox={level}"]


@contextmanager
def _stage(browser: str, folder: Path, *options: str) -> Iterator[Stage]:
    """Set a stage, and clear it however the tests end."""
    own = {**os.environ, "PYTHONPATH": str(TESTS), "CHROMIUM_PATH": browser, "FORCE_COLOR": "0"}
    words = [sys.executable, "-m", "browser.stage", *options, "--keep", str(folder)]
    with (folder / "stage.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            words, env=own, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        assert process.stdout is not None
        told = process.stdout.readline()
        assert told, (folder / "stage.log").read_text(encoding="utf-8")
        yield Stage(folder, {**own, **json.loads(told)})
    finally:
        # Its standard input ends, and it clears up.
        try:
            process.communicate(timeout=90)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.communicate(timeout=60)


def _end_of(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-4_000:] if log.exists() else ""
