"""What the extension costs in the browser: its size, JupyterLab's start, answers, memory.

Run: ``python -m exploracoder_bench.lab [--parts bundle,start,accept,memory]``

    bundle  the size of what a browser loads, as it is and compressed
    start   JupyterLab's start with the extension against without it, run by turns
    accept  from a click on Accept until the sidebar shows it, with a model that answers at once
    memory  the page's heap and the server's memory before and after 20 explorations

All but ``bundle`` drive Chromium; ``extension/ui-tests/README.md`` says what has to be installed.
Times are noisy: quote ratios.
"""

from __future__ import annotations

import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from exploracoder_bench.measured_parts import Measure, Parts, print_parts

_ROOT = Path(__file__).parents[2]
_UI_TESTS = _ROOT / "extension" / "ui-tests"
_BUILT = _ROOT / "extension" / "exploracoder_jupyter" / "labextension" / "static"
_RUN_SECONDS = 1800.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the parts and print a table."""
    return print_parts(_PARTS, arguments, about=__doc__, default=",".join(_PARTS), rounds=5)


def _bundle(_rounds: int) -> Iterator[Measure]:
    files = [path for path in _BUILT.glob("*.js") if path.is_file()]
    if not files:
        raise SystemExit(f"{_BUILT} is empty. Build the front end: npm run build in extension/.")
    sizes = [len(path.read_bytes()) for path in files]
    compressed_sizes = [len(gzip.compress(path.read_bytes())) for path in files]
    yield Measure("bundle", f"{len(files)} scripts", sum(sizes) / 1000, "kB")
    yield Measure("bundle", "the same, compressed", sum(compressed_sizes) / 1000, "kB")


def _start(rounds: int) -> Iterator[Measure]:
    with_it, without = [], []
    for _ in range(rounds):
        without.append(_browser("start", "--no-extension")["milliseconds"])
        with_it.append(_browser("start")["milliseconds"])
    plain, ours = statistics.median(without), statistics.median(with_it)
    yield Measure("start", "JupyterLab, a notebook open", plain, "ms")
    yield Measure("start", "the same with the extension", ours, "ms")
    pairs = zip(with_it, without, strict=True)
    ratio = statistics.median(one / other for one, other in pairs)
    yield Measure("start", "ratio, median of pairs", ratio, "times")


def _measured(name: str) -> Callable[[int], Iterator[Measure]]:
    def measure(_rounds: int) -> Iterator[Measure]:
        for what, value in _browser(name).items():
            words, _, unit = what.rpartition("_")
            yield Measure(name, words.replace("_", " ") or what, value, unit if words else "")

    return measure


def _browser(name: str, *options: str) -> Mapping[str, float]:
    """The figures that one of the measures in ``ui-tests/measures`` recorded."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.jsonl"
        playwright = _UI_TESTS / "node_modules" / ".bin" / "playwright"
        command = [str(playwright), "test", "--config", "figures.config.ts", name]
        subprocess.run(
            [sys.executable, "-m", "browser.stage", *options, *command],
            cwd=_UI_TESTS,
            env={**os.environ, "PYTHONPATH": str(_ROOT / "tests"), "FIGURES": str(file)},
            stdout=sys.stderr,
            check=True,
            timeout=_RUN_SECONDS,
        )
        line = file.read_text(encoding="utf-8").splitlines()[-1]
    figures: dict[str, float] = json.loads(line)
    return {what: value for what, value in figures.items() if what != "name"}


_PARTS: Parts = {
    "bundle": _bundle,
    "start": _start,
    "accept": _measured("accept"),
    "memory": _measured("memory"),
}


if __name__ == "__main__":
    sys.exit(main())
