"""``exploracoder doctor``."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from exploracoder.cli.console import print_json, run_async
from exploracoder.cli.options import json_option, python_option
from exploracoder.errors import ExploraCoderError

_NEEDED_BYTES = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. ``level``: ok, note (works with less), or problem."""

    level: str
    topic: str
    found: str
    advice: str = ""


@click.command()
@python_option
@json_option
def doctor(python: str | None, as_json: bool) -> int:
    """Say what is found, what is missing, and what to do. Exit code 1: something is a problem."""
    findings = list(_look(python))
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        marks = {"ok": "ok     ", "note": "note   ", "problem": "PROBLEM"}
        for finding in findings:
            click.echo(f"{marks[finding.level]}  {finding.topic}: {finding.found}")
            if finding.advice:
                click.echo(f"         → {finding.advice}")
    return 1 if any(finding.level == "problem" for finding in findings) else 0


def _look(python: str | None) -> Iterator[Finding]:
    yield _own_python()
    yield _user_python(python)
    yield _branches(python)
    yield _model()
    yield _endpoint()
    yield _cache()
    yield _sandbox()


def _own_python() -> Finding:
    return Finding("ok", "ExploraCoder's Python", f"{sys.version.split()[0]} ({sys.executable})")


def _user_python(python: str | None) -> Finding:
    from exploracoder.prepare import find_interpreter

    try:
        found = find_interpreter(python)
    except ExploraCoderError as error:
        return Finding("problem", "your Python", str(error), "Name another with --python.")
    version = ".".join(str(part) for part in found.version[:3])
    return Finding("ok", "your Python", f"{version} ({found.executable})")


def _branches(python: str | None) -> Finding:
    from exploracoder_kernel.errors import SidecarError
    from exploracoder_kernel.sidecar import Sidecar

    async def work() -> tuple[str, str]:
        async with Sidecar(python or sys.executable, Path.cwd()) as sidecar:
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
    from exploracoder.models.local import model_status

    status = model_status()
    if status.is_verified:
        return Finding("ok", "embedded model", f"verified ({status.path})")
    return Finding(
        "note", "embedded model", "not fetched", "exploracoder model pull (1.1 GB, once)"
    )


def _endpoint() -> Finding:
    import os

    url, name = os.environ.get("OPENAI_BASE_URL"), os.environ.get("EXPLORACODER_MODEL")
    if not (url or name or os.environ.get("OPENAI_API_KEY")):
        return Finding("ok", "endpoint", "none configured: the embedded model is used")
    if not name:
        return Finding(
            "problem",
            "endpoint",
            "configured without a model",
            "Set EXPLORACODER_MODEL, or unset OPENAI_BASE_URL and OPENAI_API_KEY.",
        )
    return Finding("ok", "endpoint", f"{name} at {url or 'the hosted default'}")


def _cache() -> Finding:
    from exploracoder.config import cache_folder

    folder = cache_folder()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free
    level = "ok" if free > _NEEDED_BYTES else "problem"
    advice = "" if level == "ok" else "Free some space, or set EXPLORACODER_CACHE."
    return Finding(level, "cache folder", f"{folder}, {free / 1e9:.0f} GB free", advice)


def _sandbox() -> Finding:
    return Finding(
        "note",
        "sandbox",
        "none: snippets run as you, in a process of their own, with limits on time and output"
        " and without your environment's secrets",
        "Explore only with libraries and tasks that you trust.",
    )
