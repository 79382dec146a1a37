"""The command line in a place of its own, where somebody may have left something."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exploracoder.testing import Outcome, RecordedRequest, ScriptedModelServer

from .snippet import Variant

SECONDS = 170.0
GIGABYTE = 2**30
FOREIGN = ("OPENAI_", "EXPLORACODER_", "PYTHON", "XDG_")

# Linux counts what a process was before its exec as its own memory, which for a child of pytest is
# all of pytest: a small process starts the command, and measures it. What asks for more than four
# gigabytes ends with an error instead of ending the machine.
MEASURE = """
import json, os, resource, sys
resource.setrlimit(resource.RLIMIT_DATA, (2**32, 2**32))
child = os.spawnv(os.P_NOWAIT, sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(child, 0)
with open(int(sys.argv[1]), "w") as report:
    json.dump([os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024], report)
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended; ``code`` is that of a signal where it had to be ended."""

    code: int
    out: str
    err: str
    peak_bytes: int


class Workplace:
    """A home, a folder for temporary files, and a folder to work in, all below one folder."""

    def __init__(self, folder: Path, cache: Path, variant: Variant) -> None:
        self.folder = folder
        self.home, self.temporary, self.work = (
            folder / name for name in ("home", "temporary", "work")
        )
        for path in (self.home, self.temporary, self.work):
            path.mkdir(parents=True)
        own = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        self._environment = {
            **own,
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "EXPLORACODER_CACHE": str(cache),
            "EXPLORACODER_CONFIG": str(folder / "config"),
            "EXPLORACODER_SANDBOX": variant.level,
            "EXPLORACODER_STRATEGY": variant.strategy,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        }
        if variant.mechanism == "landlock":
            self._environment["PATH"] = str(programs_without_bubblewrap(folder / "programs"))

    def run(self, *words: object, seconds: float = SECONDS) -> Ended:
        """Run ``exploracoder`` here, for at most so long and with at most four gigabytes."""
        script = Path(sysconfig.get_path("scripts"), "exploracoder")
        with ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(3)]
            out, err, usage = files
            process = subprocess.Popen(
                [sys.executable, "-I", "-c", MEASURE, str(usage.fileno()), sys.executable, script]
                + [str(word) for word in words],
                cwd=self.work,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                pass_fds=(usage.fileno(),),
                start_new_session=True,
            )
            try:
                code = process.wait(seconds)
            except BaseException as error:
                os.killpg(process.pid, signal.SIGKILL)
                code = process.wait()
                if not isinstance(error, subprocess.TimeoutExpired):
                    raise
            for file in files:
                file.seek(0)
            code, peak_bytes = json.loads(usage.read() or f"[{code}, 0]")
            return Ended(code, out.read(), err.read(), peak_bytes)

    def mark(self, where: Path, *names: str) -> None:
        """Put modules there that tell that they ran; with their own ones, which nobody replaces."""
        marker = str(self.folder / "marker")
        for name in names:
            line = f"{where.name}/{name}\n".encode()
            code = f"import posix; f = posix.open({marker!r}, 0o2101, 0o600)"
            code += f"; posix.write(f, {line!r}); posix.close(f)\n"
            (where / name).write_text(code)

    @property
    def ran(self) -> list[str]:
        """Those that ran."""
        marker = self.folder / "marker"
        return sorted(set(marker.read_text().split())) if marker.exists() else []


def programs_without_bubblewrap(folder: Path) -> Path:
    """A folder with links to all programs but one, as on a machine that does not have it."""
    folder.mkdir()
    for place in os.environ.get("PATH", os.defpath).split(os.pathsep):
        for program in Path(place).iterdir() if Path(place).is_dir() else ():
            link = folder / program.name
            if program.name != "bwrap" and not link.is_symlink():
                link.symlink_to(program)
    return folder


def explore_words(server: ScriptedModelServer, library: object) -> tuple[object, ...]:
    """An exploration with a model at an address; the task is the same for all."""
    where = ("--base-url", server.base_url, "--model", server.model)
    task = ("explore", "Give the answer as a number.", "--quiet")
    return (*task, "--library", library, *where)


def always(code: str) -> Callable[[RecordedRequest], Outcome]:
    """Plans one step, and writes ``code`` for whatever is to be written."""

    def answer(request: RecordedRequest) -> Outcome:
        form = request.body.get("response_format", {})
        if form.get("type") == "json_schema":
            schema = form["json_schema"]["schema"]
            return json.dumps(_filled(schema, schema.get("$defs", {})))
        if form:
            return json.dumps({"subtasks": ["Work out the answer"], "relevant": [1]})
        return f"```python\n{code}\n```"

    return answer


def _filled(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    """The least that a JSON Schema allows."""
    if "$ref" in schema:
        return _filled(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return _filled(schema[choice][0], definitions)
    if "enum" in schema or "const" in schema:
        return schema.get("const", next(iter(schema.get("enum", [None]))))
    kind = schema.get("type")
    if kind == "object":
        return {
            name: _filled(inner, definitions)
            for name, inner in schema.get("properties", {}).items()
        }
    if kind == "array":
        return [_filled(schema.get("items", {}), definitions)]
    return {"integer": 1, "number": 1, "boolean": True, "null": None}.get(
        str(kind), "Work out the answer"
    )
