"""``exploracoder doctor``."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exploracoder.cli.console import print_json, run_async
from exploracoder.cli.options import json_option, python_option, sandbox_options
from exploracoder.errors import ExploraCoderError, SetupError

if TYPE_CHECKING:
    from exploracoder_kernel.sandbox import ChosenSandbox, LevelChoice

# For indexes and replies; a model still to be fetched comes on top.
_NEEDED_BYTES = 1_000_000_000
# The oldest JupyterLab and Jupyter server that the extra `lab` allows.
_OLDEST_JUPYTER = ((4, 4), (2, 13))


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. ``level``: ok, note (works with less), or problem."""

    level: str
    topic: str
    found: str
    advice: str = ""


@click.command()
@python_option
@sandbox_options
@click.option(
    "--allow-no-sandbox/--forbid-no-sandbox",
    "allows_none",
    default=None,
    help="Agree for good, or no longer, that code runs as you where no sandbox can be had.",
)
@json_option
def doctor(as_json: bool, allows_none: bool | None, **arguments: Any) -> int:
    """Say what is found, what is missing, and what to do. Exit code 1: something is a problem."""
    if allows_none is not None:
        _note_consent(allows_none)
    findings = list(_look(arguments["python"], arguments["sandbox"], arguments["readable"]))
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        marks = {"ok": "ok     ", "note": "note   ", "problem": "PROBLEM"}
        for finding in findings:
            click.echo(f"{marks[finding.level]}  {finding.topic}: {finding.found}")
            if finding.advice:
                click.echo(f"         → {finding.advice}")
    return 1 if any(finding.level == "problem" for finding in findings) else 0


def _note_consent(is_given: bool) -> None:
    from exploracoder_kernel.sandbox import Consent

    try:
        Consent().give() if is_given else Consent().take_back()
    except OSError as error:
        raise SetupError(f"Your agreement can't be remembered: {error}.") from error


def _look(python: str | None, level: LevelChoice, readable: Sequence[Path]) -> Iterator[Finding]:
    version = sys.version.split()[0]
    yield Finding("ok", "ExploraCoder's Python", f"{version} ({sys.executable})")
    yield _user_python(python)
    sandbox, finding = _sandbox(python, level, readable)
    yield _branches(python, sandbox)
    yield _model()
    yield _arithmetic()
    yield _models_that_fit()
    yield _endpoint()
    yield from _offers()
    yield _cache()
    yield finding
    yield _lab()


def _user_python(python: str | None) -> Finding:
    from exploracoder.confined_interpreter import find_interpreter

    try:
        interpreter = find_interpreter(python)
    except ExploraCoderError as error:
        return Finding("problem", "your Python", str(error), "Name another with --python.")
    version = ".".join(str(part) for part in interpreter.version[:3])
    return Finding("ok", "your Python", f"{version} ({interpreter.executable})")


def _branches(python: str | None, sandbox: ChosenSandbox | None) -> Finding:
    from exploracoder_kernel.errors import SidecarError
    from exploracoder_kernel.sidecar import Sidecar

    async def work() -> tuple[str, str]:
        launcher = sandbox.launcher if sandbox is not None else None
        async with Sidecar(python or sys.executable, Path.cwd(), launcher=launcher) as sidecar:
            branch = await sidecar.fork(sidecar.root)
            await sidecar.run(branch, "1 + 1")
            return sidecar.strategy, sidecar.strategy_reason

    try:
        strategy, reason = run_async(work())
    except SidecarError as error:
        return Finding("problem", "scratch kernel", str(error))
    level = "ok" if strategy == "fork" else "note"
    return Finding(level, "scratch kernel", f"branches by {strategy}: {reason}")


def _model() -> Finding:
    from exploracoder.models.weights import WeightsStore

    store = WeightsStore()
    if not store.trouble:
        state = f"{store.model.label}, verified ({store.path})"
        return Finding("ok", "embedded model", state)
    size = f"{store.model.size_bytes / 1e9:.1f} GB, once"
    return Finding("note", "embedded model", store.trouble, f"{store.pull_command} ({size})")


def _arithmetic() -> Finding:
    from exploracoder.models.cpu_backends import best_backend, require_openmp
    from exploracoder.prepare import wants_embedded

    topic = "its arithmetic"
    try:
        require_openmp()
        backend = best_backend()
    except SetupError as error:
        # With an endpoint nothing is computed here.
        return Finding("problem" if wants_embedded(None, None) else "note", topic, str(error))
    if backend is not None:
        return Finding("ok", topic, f"built for {backend.name}, the best for this processor")
    advice = (
        "Builds for this processor read prompts 1.2 (AVX2) to 2.7 (AMX) times as fast. A wheel for"
        " Linux on x86_64 or aarch64 has them; in a checkout: pip install ziglang, then python"
        " exploration/build_cpu_backends.py"
    )
    return Finding("note", topic, "the library's own", advice)


def _models_that_fit() -> Finding:
    from exploracoder.models import hardware
    from exploracoder.models.catalogue_status import offers

    matches = [offer for offer in offers() if offer.fits]
    names = ", ".join(f"{one.short_name} ({one.memory_bytes / 1e9:.1f} GB)" for one in matches)
    total = f"of this machine's {hardware.total_memory_bytes() / 1e9:.1f} GB of memory"
    if not matches:
        return Finding("note", "models that fit", f"none {total}", "Use an endpoint: --base-url.")
    advice = "exploracoder model pull NAME, then use NAME; exploracoder model list says more."
    return Finding("ok", "models that fit", f"{names} {total}", advice)


def _endpoint() -> Finding:
    from exploracoder_retrieval.web_access import without_credentials

    from exploracoder.models.capabilities import UNKNOWN
    from exploracoder.prepare import endpoint_url, known_capabilities, wants_embedded

    name = os.environ.get("EXPLORACODER_MODEL")
    if wants_embedded(None, None):
        reason = "EXPLORACODER_MODEL names" if name else "none configured:"
        return Finding("ok", "endpoint", f"{reason} the embedded model")
    if not name:
        return Finding(
            "problem",
            "endpoint",
            "configured without a model",
            "Set EXPLORACODER_MODEL, or unset OPENAI_BASE_URL and OPENAI_API_KEY.",
        )
    try:
        is_known = known_capabilities(None, None) != UNKNOWN
    except ExploraCoderError as error:
        return Finding("problem", "endpoint", str(error))
    advice = "" if is_known else "What it can do, and what suits it: exploracoder model test"
    return Finding("ok", "endpoint", f"{name} at {without_credentials(endpoint_url(None))}", advice)


def _offers() -> Iterator[Finding]:
    """The other models found; none is used unless the user chooses it."""
    from exploracoder.models import suggested_models

    for one in run_async(suggested_models.offered()):
        yield Finding("ok", f"found: {one.title}", one.description, one.command)


def _cache() -> Finding:
    from exploracoder.folders import cache_folder, can_keep, existing
    from exploracoder.models.weights import WeightsStore
    from exploracoder.prepare import wants_embedded

    folder, store = cache_folder(), WeightsStore()
    need = _NEEDED_BYTES
    if wants_embedded(None, None) and not store.is_verified:
        need += store.model.size_bytes - store.status().size_bytes
    if not can_keep(folder):
        advice = "Set EXPLORACODER_CACHE to a folder that you may write to."
        return Finding("problem", "cache folder", f"{folder} cannot be written to", advice)
    free = shutil.disk_usage(existing(folder)).free
    level = "ok" if free > need else "problem"
    advice = "" if level == "ok" else "Free some space, or set EXPLORACODER_CACHE."
    return Finding(level, "cache folder", f"{folder}, {free / 1e9:.0f} GB free", advice)


def _lab() -> Finding:
    topic, advice = "JupyterLab", "For the sidebar: pip install 'exploracoder[lab]'"
    try:
        lab, server = metadata.version("jupyterlab"), metadata.version("jupyter-server")
    except metadata.PackageNotFoundError:
        state = "not in this environment; the command line and the magics need none"
        return Finding("ok", topic, state, advice)
    is_new = all(map(_is_new_enough, (lab, server), _OLDEST_JUPYTER))
    state = f"{lab}, with jupyter-server {server}"
    if not is_new:
        return Finding("note", topic, f"{state}, too old for the sidebar", advice)
    if not _has_sidebar():
        advice = "In a checkout: make lab"
        return Finding("note", topic, f"{state}; the sidebar is not installed", advice)
    return Finding("ok", topic, state)


def _has_sidebar() -> bool:
    from jupyter_core.paths import jupyter_path

    from exploracoder.folders import is_there

    places = jupyter_path("labextensions", "exploracoder", "package.json")
    return any(is_there(Path(place)) for place in places)


def _is_new_enough(version: str, oldest: tuple[int, int]) -> bool:
    numbers = version.split(".")[:2]
    return not all(map(str.isdigit, numbers)) or tuple(map(int, numbers)) >= oldest


def _sandbox(
    python: str | None, level: LevelChoice, readable: Sequence[Path]
) -> tuple[ChosenSandbox | None, Finding]:
    from exploracoder_kernel.errors import SandboxUnavailable, SidecarError
    from exploracoder_kernel.sandbox import choose

    try:
        sandbox = choose(level, python=python or sys.executable, cwd=Path.cwd(), inputs=readable)
    except SandboxUnavailable as error:
        advice = "Until then: --sandbox off for once, doctor --allow-no-sandbox for good."
        return None, Finding("note", "sandbox", f"none can be had. {error.missing}", advice)
    except SidecarError as error:
        return None, Finding("problem", "sandbox", str(error))
    is_good = sandbox.mechanism == "bubblewrap"
    advice = "" if is_good else "Explore only with libraries and tasks that you trust."
    level_found = "ok" if is_good else "note"
    return sandbox, Finding(level_found, "sandbox", f"{sandbox}: {sandbox.reason}", advice)
