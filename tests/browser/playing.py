"""Specs that Playwright plays one after the other, in one browser."""

from __future__ import annotations

import json
import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

UI_TESTS = Path(__file__).parents[2] / "extension" / "ui-tests"
PLAYWRIGHT = UI_TESTS / "node_modules" / ".bin" / "playwright"
_REPORTER = UI_TESTS / "progressreporter.ts"


@dataclass
class Play:
    """A run of Playwright. Starting Node.js and a browser once for all specs saves minutes."""

    process: subprocess.Popen[str]
    server_log: Path
    _expected: dict[str, int] = field(default_factory=dict)
    _ended: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _failed: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _said: list[str] = field(default_factory=list)

    def failures(self, spec: str, seconds: float) -> list[str]:
        """What went wrong in a spec, once its tests have ended; nothing when all is well."""
        late = threading.Timer(seconds, self.process.kill)
        late.start()
        try:
            while not self._has_ended(spec) and (line := self._next_line()):
                self._note(line)
        finally:
            late.cancel()
        if not self._has_ended(spec):
            what = f"{spec} did not end within {seconds:.0f} s, or was not begun."
            return [what, *self._ended[spec], *self._said, self._end_of_log()]
        messages = self._failed[spec]
        return [*messages, self._end_of_log()] if messages else []

    def _has_ended(self, spec: str) -> bool:
        return len(self._ended[spec]) == self._expected.get(spec, -1)

    def _next_line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def _note(self, line: str) -> None:
        try:
            event = json.loads(line)
        except ValueError:
            self._said.append(line)
            return
        if "tests" in event:
            self._expected = event["tests"]
        elif "error" in event:
            self._said.append(event["error"])
        else:
            end = f"{event['title']} ({event['seconds']:.1f} s)"
            self._ended[event["spec"]].append(end)
            if not event["ok"]:
                self._failed[event["spec"]].append(f"{end}\n{event['said'][-12_000:]}")

    def _end_of_log(self) -> str:
        log = self.server_log
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        return f"--- server ---\n{text[-4_000:]}"


@contextmanager
def play(
    specs: Sequence[str], variables: Mapping[str, str], results: Path, *options: str
) -> Iterator[Play]:
    """Begin to play specs, in their order; ``variables`` are what they are told of their stage."""
    files = [f"specs/{spec}.spec.ts" for spec in specs]
    words = [PLAYWRIGHT, "test", f"--reporter={_REPORTER}", f"--output={results}", *files, *options]
    process = subprocess.Popen(
        words,
        cwd=UI_TESTS,
        env=dict(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    with process:
        try:
            yield Play(process, Path(variables["STAGE_LOG"]))
        finally:
            # It ends its browser when it is asked to end.
            process.terminate()
            try:
                process.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
