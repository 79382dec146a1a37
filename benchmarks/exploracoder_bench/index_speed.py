"""How long a library takes to harvest, index and recognise.

Run: ``python -m exploracoder_bench.index_speed pandas [--python EXE]``
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from exploracoder.confined_interpreter import find_interpreter
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.ensure import ensure
from exploracoder_retrieval.harvest import harvest
from exploracoder_retrieval.index import Index

from exploracoder_bench.markdown_table import markdown


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--python", default=sys.executable, help="whose library is meant")
    options = parser.parse_args(arguments)
    library, interpreter = options.library, find_interpreter(options.python)
    with (
        tempfile.TemporaryDirectory() as folder,
        Index.open(Path(folder), MiniLmEmbedder()) as index,
    ):
        rows = [
            _timed("harvest", lambda: harvest(library, interpreter)),
            _timed("harvest and index", lambda: ensure(library, interpreter, index)),
            _timed("again, unchanged", lambda: ensure(library, interpreter, index)),
            _timed("is it current?", lambda: index.is_current(library, interpreter)),
        ]
    print(markdown(("", "wall, s", "CPU, s"), rows))


def _timed(what: str, act: Callable[[], object]) -> tuple[str, str, str]:
    wall, cpu = time.perf_counter(), time.process_time()
    act()
    return what, f"{time.perf_counter() - wall:.3f}", f"{time.process_time() - cpu:.3f}"


if __name__ == "__main__":
    main()
