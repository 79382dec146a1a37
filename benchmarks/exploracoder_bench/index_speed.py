"""How long a library takes to harvest, index, recognise and search.

Run: ``python -m exploracoder_bench.index_speed pandas [--python EXE] [--queries 200]``
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from exploracoder.confined_interpreter import find_interpreter
from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.ensure import ensure
from exploracoder_retrieval.harvest import harvest
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.library_python import Interpreter


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    wall_s: float
    cpu_s: float | None = None


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--python", default=sys.executable, help="whose library is meant")
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args(arguments)
    interpreter = find_interpreter(options.python)
    rows = [_import_time(), *_measure(options.library, interpreter, options.queries)]
    print(f"{'':44}{'wall':>10}{'CPU':>10}")
    for row in rows:
        print(f"{row.what:44}{_time(row.wall_s)}{_time(row.cpu_s)}")


def _measure(library: str, interpreter: Interpreter, queries: int) -> Iterator[Row]:
    folder = tempfile.TemporaryDirectory()
    with folder as path, Index.open(Path(path), MiniLmEmbedder()) as index:
        yield _timed("harvest", lambda: harvest(library, interpreter))
        yield _timed("harvest and index", lambda: ensure(library, interpreter, index))
        yield _timed("again, unchanged", lambda: ensure(library, interpreter, index))
        yield _timed("is it current?", lambda: index.is_current(library, interpreter))
        yield from _query_times(index, index.docs(library), queries)


def _query_times(index: Index, docs: Sequence[ApiDoc], count: int) -> Iterator[Row]:
    """The query times of a subtask, which is a summary, and of a task, which is three of them."""
    summaries = [doc.summary.rstrip(".") for doc in docs if doc.summary]
    summaries = summaries[:: max(1, len(summaries) // count)][:count]
    thirds = zip(
        summaries, summaries[1:] + summaries[:1], summaries[2:] + summaries[:2], strict=True
    )
    size = sum(len(index.docs(name)) for name in index.names())
    for what, texts in (
        ("subtask", summaries),
        ("task", [", then ".join(each) for each in thirds]),
    ):
        index.search(texts[0])
        walls, cpus = [], []
        for text in texts:
            wall, cpu = time.perf_counter(), time.process_time()
            index.search(text)
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
        for name, cut in (("p50", 9), ("p95", 18)):
            wall, cpu = (statistics.quantiles(each, n=20)[cut] for each in (walls, cpus))
            yield Row(f"{what}, {size:,} APIs: {name}", wall, cpu)


def _import_time() -> Row:
    script = (
        "import time; start = time.perf_counter(); import exploracoder_retrieval; "
        "print(time.perf_counter() - start)"
    )
    process = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return Row("import exploracoder_retrieval", float(process.stdout))


def _timed(what: str, act: Callable[[], object]) -> Row:
    wall, cpu = time.perf_counter(), time.process_time()
    act()
    return Row(what, time.perf_counter() - wall, time.process_time() - cpu)


def _time(seconds: float | None) -> str:
    if seconds is None:
        return " " * 10
    return f"{seconds:8.2f} s" if seconds >= 1 else f"{seconds * 1000:7.1f} ms"


if __name__ == "__main__":
    main()
