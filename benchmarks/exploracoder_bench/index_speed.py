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
from typing import TYPE_CHECKING

from exploracoder.confined_interpreter import find_interpreter
from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.ensure import ensure
from exploracoder_retrieval.harvest import Harvest, harvest
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.library_python import Interpreter

if TYPE_CHECKING:
    from exploracoder_retrieval.arrays import Vectors

SIZE = 10_000


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; ``limit_s`` is the promised limit, if there is one."""

    what: str
    wall_s: float
    cpu_s: float | None = None
    limit_s: float | None = None


class QueryEmbedder(MiniLmEmbedder):
    """Embeds queries for real and documents at random, so that a large index is made quickly."""

    is_indexing = True

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        if not self.is_indexing:
            return super().embed(texts)
        random = np.random.default_rng(0)
        vectors = random.standard_normal((len(texts), self.dimensions)).astype(np.float32)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--python", default=sys.executable, help="whose library is meant")
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args(arguments)
    interpreter = find_interpreter(options.python)
    rows = [_import_time(), *_measure(options.library, interpreter, options.queries)]
    print(f"{'':44}{'wall':>10}{'CPU':>10}{'limit':>10}")
    for row in rows:
        print(f"{row.what:44}{_time(row.wall_s)}{_time(row.cpu_s)}{_time(row.limit_s)}")


def _measure(library: str, interpreter: Interpreter, queries: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        with Index.open(Path(folder) / "one", MiniLmEmbedder()) as index:
            yield _timed("harvest", lambda: harvest(library, interpreter))
            yield _timed(
                "harvest and index", lambda: ensure(library, interpreter, index), limit_s=60
            )
            yield _timed("again, unchanged", lambda: ensure(library, interpreter, index), 3)
            yield _timed("is it current?", lambda: index.is_current(library, interpreter))
            docs = index.docs(library)
            yield from _query_times(index, docs, queries)
        embedder = QueryEmbedder()
        with Index.open(Path(folder) / "large", embedder) as index:
            index.update(_grown(harvest(library, interpreter), SIZE))
            embedder.is_indexing = False
            yield from _query_times(index, docs, queries, limit_s=0.05)


def _query_times(
    index: Index, docs: Sequence[ApiDoc], count: int, limit_s: float | None = None
) -> Iterator[Row]:
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
            limit = limit_s if name == "p95" else None
            yield Row(f"{what}, {size:,} APIs: {name}", wall, cpu, limit)


def _grown(original: Harvest, size: int) -> Harvest:
    """The library's documents, repeated under other paths until there are enough."""
    docs = original.docs
    grown = [
        doc.model_copy(update={"path": f"copy{number // len(docs)}.{doc.path}"})
        for number in range(size)
        for doc in [docs[number % len(docs)]]
    ]
    return original.model_copy(update={"docs": tuple(grown)})


def _import_time() -> Row:
    script = (
        "import time; start = time.perf_counter(); import exploracoder_retrieval; "
        "print(time.perf_counter() - start)"
    )
    process = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return Row("import exploracoder_retrieval", float(process.stdout), limit_s=0.02)


def _timed(what: str, act: Callable[[], object], limit_s: float | None = None) -> Row:
    wall, cpu = time.perf_counter(), time.process_time()
    act()
    return Row(what, time.perf_counter() - wall, time.process_time() - cpu, limit_s)


def _time(seconds: float | None) -> str:
    if seconds is None:
        return " " * 10
    return f"{seconds:8.2f} s" if seconds >= 1 else f"{seconds * 1000:7.1f} ms"


if __name__ == "__main__":
    main()
