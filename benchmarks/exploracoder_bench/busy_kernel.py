"""How soon a user's cell comes back while an exploration works in the same kernel.

Run: ``python -m exploracoder_bench.busy_kernel [--cells 200]``

A kernel loads the magics and begins an exploration whose model answers slowly; meanwhile cells with
``1 + 1`` are run one after another. The same cells before it began are what to compare with.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from exploracoder.testing import Delay, Outcome, RecordedRequest, ScriptedModelServer
from jupyter_client.manager import start_new_kernel

from exploracoder_bench.markdown_table import markdown
from exploracoder_bench.overhead import scripted_reply
from exploracoder_bench.six_steps import CONTEXT, LIBRARIES, TASK

_ANSWER_SECONDS = 0.5
_START_SECONDS = 120


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=200, metavar="N", help="cells run each time")
    namespace = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, ScriptedModelServer(_slow_reply) as server:
        manager, client = start_new_kernel(cwd=folder, env=dict(os.environ))
        try:
            _run(client, "%load_ext exploracoder")
            words = f"model={server.model} base-url={server.base_url} memory=false"
            _run(client, f"%exploracoder config {words}")
            alone = [_run(client, "1 + 1") for _ in range(namespace.cells)]
            _run(client, f"start = {CONTEXT!r}")
            options = " ".join(f"--library {name}" for name in LIBRARIES)
            start_ms = _run(client, f"%%exploracoder {options} --context start\n{TASK}")
            server.wait_for_requests(1, _START_SECONDS)
            meanwhile = [_run(client, "1 + 1") for _ in range(namespace.cells)]
            request_count = len(server.requests)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    rows = [_row("before", alone), _row("while it works", meanwhile)]
    rows.append(("the cell that begins it", f"{start_ms:.0f} ms", ""))
    print(markdown(("a cell", "median", "worst"), rows))
    print(f"{request_count} questions to the model until the last cell.", file=sys.stderr)
    return 0


def _row(name: str, times: Sequence[float]) -> tuple[str, str, str]:
    return name, f"{statistics.median(times):.1f} ms", f"{max(times):.1f} ms"


def _run(client: Any, code: str) -> float:
    """Milliseconds until the kernel has answered."""
    begin = time.perf_counter()
    reply = client.execute_interactive(code, timeout=_START_SECONDS, output_hook=lambda _: None)
    seconds = time.perf_counter() - begin
    if reply["content"]["status"] != "ok":
        raise RuntimeError(f"{code!r} failed: {reply['content'].get('evalue')}")
    return 1000 * seconds


def _slow_reply(request: RecordedRequest) -> Outcome:
    return Delay(_ANSWER_SECONDS, scripted_reply(request))


if __name__ == "__main__":
    sys.exit(main())
