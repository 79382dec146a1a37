"""The extension in a real browser, against a real server, kernels and files, and a scripted model.

Each of the specs in ``extension/ui-tests/specs`` is a test here; they share a stage.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from browser.playing import PLAYWRIGHT, UI_TESTS, Play, play

TESTS = Path(__file__).parents[1]
SPECS = sorted(path.name.split(".")[0] for path in (UI_TESTS / "specs").glob("*.spec.ts"))
EMBEDDED = "embedded-model"
SHARED = "shared"
BARE = "first-run"
# What every change is tested with. The others take another ten minutes of two cores.
_ALWAYS = {
    "accessibility",
    "begin",
    "dark-theme",
    "debug",
    "edit-cell",
    "elsewhere",
    "escaping",
    "go-back",
    "keyboard",
    "reload",
    "restart",
    "two-tabs",
    "untrusted",
    "whole-flow",
    "widgets",
}
# What a spec costs at most, on a busy machine.
_SECONDS = 600.0
_SECONDS_WITH_A_MODEL = 1800.0

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def _chromium() -> str | None:
    path = os.environ.get("CHROMIUM_PATH")
    return path or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser() -> str:
    """The path of a Chromium; without one, or without what drives it, the tests are skipped."""
    path = _chromium()
    if path is None:
        pytest.skip("there is no Chromium: apt-get install chromium, or set CHROMIUM_PATH")
    if not PLAYWRIGHT.exists():
        pytest.skip("Playwright is not installed: npm ci --ignore-scripts in extension/ui-tests")
    return path


@pytest.fixture(scope="module")
def played(
    browser: str,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Play]:
    """The specs that were chosen, on one stage: they clear up behind them."""
    folder = tmp_path_factory.mktemp("stage")
    # In their order, each once.
    specs = dict.fromkeys(
        item.callspec.params["spec"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and "played" in item.fixturenames
    )
    with (
        _stage(browser, folder, *_level(request.config)) as variables,
        play(list(specs), variables, folder / "results") as playing,
    ):
        yield playing


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(name, marks=[] if name in _ALWAYS else [pytest.mark.thorough])
        for name in SPECS
        if name not in (EMBEDDED, SHARED, BARE)
    ],
)
def test_the_extension_keeps_its_promises_in_a_browser(spec: str, played: Play) -> None:
    failures = played.failures(spec, _SECONDS)
    assert not failures, "\n".join(failures)


def test_on_a_bare_machine_it_leads_from_nothing_to_the_first_solution(
    browser: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    with (
        _stage(browser, tmp_path, "--bare", *_level(pytestconfig)) as variables,
        play([BARE], variables, tmp_path / "results") as playing,
    ):
        failures = playing.failures(BARE, _SECONDS)
        assert not failures, "\n".join(failures)


@pytest.mark.thorough
def test_it_works_below_a_base_url_as_on_a_hub(
    browser: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    options = ["--base-url=/user/tea/", *_level(pytestconfig)]
    with (
        _stage(browser, tmp_path, *options) as variables,
        play(["whole-flow"], variables, tmp_path / "results", "--grep=live cells") as playing,
    ):
        failures = playing.failures("whole-flow", _SECONDS)
        assert not failures, "\n".join(failures)


@pytest.mark.thorough
def test_people_work_together_with_jupyter_collaboration(
    browser: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    packages = Path(__file__).parents[2] / ".collaboration"
    if not packages.exists():
        pytest.skip("jupyter-collaboration is not there: make .collaboration/.ready")
    options = [f"--packages={packages}", *_level(pytestconfig)]
    with (
        _stage(browser, tmp_path, *options) as variables,
        play([SHARED], variables, tmp_path / "results") as playing,
    ):
        failures = playing.failures(SHARED, _SECONDS)
        assert not failures, "\n".join(failures)


@pytest.mark.thorough
@pytest.mark.model
@pytest.mark.timeout(_SECONDS_WITH_A_MODEL + _SECONDS)
def test_the_embedded_model_explores_in_the_browser(
    browser: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    with (
        _stage(browser, tmp_path, "--embedded", *_level(pytestconfig)) as variables,
        play([EMBEDDED], variables, tmp_path / "results") as playing,
    ):
        failures = playing.failures(EMBEDDED, _SECONDS_WITH_A_MODEL)
        assert not failures, "\n".join(failures)


def _level(config: pytest.Config) -> list[str]:
    level = config.getoption("sandbox")
    return [] if level == "auto" else [f"--sandbox={level}"]


@contextmanager
def _stage(browser: str, folder: Path, *options: str) -> Iterator[dict[str, str]]:
    """Set a stage, and clear it however the tests end; yields what specs on it are told."""
    own = {**os.environ, "PYTHONPATH": str(TESTS), "CHROMIUM_PATH": browser, "FORCE_COLOR": "0"}
    words = [sys.executable, "-m", "browser.stage", *options, "--keep", str(folder)]
    with (folder / "stage.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            words, env=own, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, (folder / "stage.log").read_text(encoding="utf-8")
        yield {**own, **json.loads(line)}
    finally:
        # Its standard input ends, and it clears up.
        try:
            process.communicate(timeout=90)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.communicate(timeout=60)
