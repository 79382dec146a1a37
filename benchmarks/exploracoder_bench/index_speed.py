"""How long a library takes to harvest, index and recognise.

Run: ``python -m exploracoder_bench.index_speed pandas [--python EXE]``
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from exploracoder.confined_interpreter import find_interpreter
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.ensure import ensure
from exploracoder_retrieval.harvest import harvest
from exploracoder_retrieval.index import Index

from exploracoder_bench.markdown_table import markdown
from exploracoder_bench.timing import timed


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
        seconds = {
            "harvest": timed(lambda: harvest(library, interpreter)),
            "harvest and index": timed(lambda: ensure(library, interpreter, index)),
            "again, unchanged": timed(lambda: ensure(library, interpreter, index)),
            "is it current?": timed(lambda: index.is_current(library, interpreter)),
        }
    rows = [(what, f"{one.wall:.3f}", f"{one.cpu:.3f}") for what, one in seconds.items()]
    print(markdown(("", "wall, s", "CPU, s"), rows))


if __name__ == "__main__":
    main()
