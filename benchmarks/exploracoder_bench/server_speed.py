"""How fast the embedded model's server reads and writes, with each build of its arithmetic.

Run: ``python -m exploracoder_bench.server_speed [--rounds 3] [--busy]``

The servers run one after another, round by round, each in a process of its own: ``before`` is the
library's own arithmetic without drafts; the others are the builds that this processor can run, with
drafts. Each reads about 1,500 tokens of Python, writes 48 tokens more, writes a function that it is
asked for, and copies one with a name changed. With ``--busy`` another process keeps one core
occupied meanwhile. Figures are medians of tokens a second; start is until the server answers.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import inspect
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from exploracoder.models import local_server
from exploracoder.models.cpu_backends import (
    BUILT_IN,
    CPU_BACKENDS,
    FORCED_BACKEND,
    processor_flags,
    use_best_backend,
)
from exploracoder.models.weights import WeightsStore

from exploracoder_bench.markdown_table import markdown

BEFORE = "before"
_CONTEXT_TOKENS = 8192
_FIGURES = ("read", "write", "function", "copy", "start_s", "memory_gb")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table."""
    options = _parser().parse_args(arguments)
    if options.one:
        print(json.dumps(_measure(options.one)), flush=True)
        # The model's own threads would keep the process waiting.
        os._exit(0)
    own = [one for one in CPU_BACKENDS if one.architecture == platform.machine()]
    runnable = [one.name for one in own if one.flags <= processor_flags() and one.path.is_file()]
    names = options.only or [BEFORE, *runnable]
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    with _other_work(options.busy):
        for _ in range(options.rounds):
            for name in names:
                results[name].append(_in_process(name, options.busy))
    rows = []
    for name, rounds in results.items():
        medians = [statistics.median(one[figure] for one in rounds) for figure in _FIGURES]
        rows.append([name, *(f"{value:.1f}" for value in medians), rounds[0]["written"]])
    head = ("build", "read/s", "write/s", "function/s", "copy/s", "start s", "memory GB", "replies")
    print(markdown(head, rows))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=3, help="how often each server is measured")
    parser.add_argument("--busy", action="store_true", help="occupy one core meanwhile")
    parser.add_argument("--only", nargs="+", metavar="BUILD", help="these builds alone")
    parser.add_argument("--one", metavar="BUILD", help=argparse.SUPPRESS)
    return parser


def _in_process(name: str, is_busy: bool) -> dict[str, Any]:
    environment = {**os.environ, FORCED_BACKEND: BUILT_IN if name == BEFORE else name}
    if name == BEFORE and is_busy:
        # It was started like this on a busy machine: spinning threads are far slower there.
        environment["OMP_WAIT_POLICY"] = "passive"
    process = subprocess.run(
        [sys.executable, "-m", "exploracoder_bench.server_speed", "--one", name],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    result: dict[str, Any] = json.loads(process.stdout)
    return result


@contextmanager
def _other_work(is_busy: bool) -> Iterator[None]:
    if not is_busy:
        yield
        return
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy_process:
        try:
            yield
        finally:
            busy_process.kill()


def _measure(name: str) -> dict[str, Any]:
    import xllamacpp

    start = time.monotonic()
    use_best_backend()
    with tempfile.TemporaryDirectory() as folder:
        options = local_server.ServerOptions(
            model_path=WeightsStore().path,
            model_name="embedded",
            socket_path=Path(folder, "none.sock"),
            states_folder=Path(folder),
            max_context_tokens=_CONTEXT_TOKENS,
            linger_s=0,
        )
        parameters = local_server.parameters_for(options, _CONTEXT_TOKENS, api_key="")
        parameters.api_keys = []
        if name == BEFORE:
            parameters.speculative.types = []
        server = xllamacpp.Server(parameters)
        url = server.listening_address
        _ask(url, "def f(", 1)
        start_s = time.monotonic() - start
        prompt_reply = _ask(url, inspect.getsource(argparse)[:6000], 48)
        function = _ask(url, _turn("Write a function that merges overlapping intervals."), 120)
        source = inspect.getsource(collections.Counter)[2400:4400]
        copy = _ask(url, _turn(f"Repeat this code with `self` renamed to `this`:\n{source}"), 240)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    texts = [one["content"] for one in (prompt_reply, function, copy)]
    return {
        "read": prompt_reply["timings"]["prompt_per_second"],
        "write": prompt_reply["timings"]["predicted_per_second"],
        "function": function["timings"]["predicted_per_second"],
        "copy": copy["timings"]["predicted_per_second"],
        "start_s": start_s,
        "memory_gb": peak * 1024 / 1e9,
        "written": " ".join(_digits(text) for text in texts),
    }


def _turn(task: str) -> str:
    return f"<|im_start|>user\n{task}<|im_end|>\n<|im_start|>assistant\n```python\n"


def _ask(url: str, prompt: str, tokens: int) -> dict[str, Any]:
    body = {"prompt": prompt, "n_predict": tokens, "temperature": 0, "cache_prompt": False}
    request = urllib.request.Request(
        f"{url}/completion", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=900) as reply:
        answer: dict[str, Any] = json.load(reply)
    return answer


def _digits(text: str) -> str:
    """A few digits that tell whether two replies are the same."""
    return hashlib.sha256(text.encode()).hexdigest()[:4]


if __name__ == "__main__":
    sys.exit(main())
