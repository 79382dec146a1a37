"""How the index does with 100,000 and 1,000,000 APIs: time, size, memory, latency, recall.

The APIs are made of real ones (`scale_corpus`). Building and searching each run in a process of
their own, so that memory is that of the one alone.

Run: ``python -m exploracoder_bench.index_scale --kit kits/retrieval --folder bench-output/scale
--sizes 100000 [--server] [--queries 200]``
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.harvest import Harvest
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.ranking.candidates import FEATURES
from exploracoder_retrieval.search import Candidates

from exploracoder_bench.retrieval_kit import library_info, read_questions
from exploracoder_bench.scale_corpus import LIBRARY, Corpus, CorpusEmbedder, embedded, real_docs

RECALL_AT = 15
_REAL = 12_000
_EMBEDDED_TEXTS = 1_024


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    if options.step:
        act = {"build": _build, "search": _search, "embed": _embed}[options.step]
        print(json.dumps(act(options)), flush=True)
        return
    embed = _child(options, "embed", 0)
    for size in options.sizes:
        for name in ("embedded", "server") if options.server else ("embedded",):
            folder = options.folder / f"{name}-{size}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            if name == "embedded":
                rows = _measured(options, size, folder, None)
            else:
                with chroma_server(folder / "server") as (url, pid):
                    rows = _measured(options, size, folder, url)
                    rows["server: memory, MB"] = _resident_mb(pid)
            print(f"\n{size:,} APIs, chroma {name}, {os.cpu_count()} cores")
            print(_table({**rows, **embed}), flush=True)
            shutil.rmtree(folder, ignore_errors=True)


def _measured(
    options: argparse.Namespace, size: int, folder: Path, url: str | None
) -> dict[str, float]:
    build_figures = _child(options, "build", size, folder, url)
    size_mb = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file()) / 2**20
    return {**build_figures, "on disk, MB": size_mb, **_child(options, "search", size, folder, url)}


def _child(
    options: argparse.Namespace,
    step: str,
    size: int,
    folder: Path | None = None,
    url: str | None = None,
) -> dict[str, float]:
    command: list[object] = [sys.executable, "-m", "exploracoder_bench.index_scale", "--step", step]
    command += ["--kit", options.kit, "--sizes", str(size), "--queries", str(options.queries)]
    command += ["--folder", folder or options.folder, "--cache", options.cache or options.folder]
    command += ["--real", str(options.real), *(["--chroma-url", url] if url else [])]
    process = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, float] = json.loads(process.stdout.splitlines()[-1])
    return figures


def _build(options: argparse.Namespace) -> dict[str, float]:
    corpus = _corpus(options)
    embedder = CorpusEmbedder(corpus)
    harvest = Harvest(library=library_info(LIBRARY), docs=tuple(corpus.docs()), skipped=())
    embedder.embed([])  # its table is made before the clock starts
    before = _resident_mb(os.getpid())
    start, cpu = time.perf_counter(), time.process_time()
    with Index.open(options.folder / "index", embedder, options.chroma_url) as index:
        index.update(harvest, _Log(start))
    return {
        "build, vectors ready, s": time.perf_counter() - start,
        "build: CPU of this process, s": time.process_time() - cpu,
        "build: peak memory beyond the docs, MB": _peak_mb() - before,
    }


def _search(options: argparse.Namespace) -> dict[str, float]:
    corpus = _corpus(options)
    queries = _queries(options)
    figures: dict[str, float] = {}
    embedder = CorpusEmbedderForQueries()
    embedder.embed(queries[:1])
    before = _resident_mb(os.getpid())
    with Index.open(options.folder / "index", embedder, options.chroma_url) as index:
        start, cpu = time.perf_counter(), time.process_time()
        index.search(queries[0], [LIBRARY])
        figures["first answer of a new process, s"] = time.perf_counter() - start
        figures["first answer: CPU, s"] = time.process_time() - cpu
        figures |= _percentiles("embedding a query", queries, lambda one: embedder.embed([one]))
        figures |= _percentiles("search", queries, lambda one: index.search(one, [LIBRARY]))
        figures["search: memory, MB"] = _resident_mb(os.getpid()) - before
        approximate = [_nearest(each) for each in index.candidates(queries, [LIBRARY])]
    exact = _exact(corpus, embedder.embed(queries))
    right = [
        len(paths & {corpus.doc(row).path for row in rows}) / RECALL_AT
        for paths, rows in zip(approximate, exact, strict=True)
    ]
    figures[f"recall@{RECALL_AT} of exact search, %"] = 100 * statistics.mean(right)
    return figures


def _embed(options: argparse.Namespace) -> dict[str, float]:
    from exploracoder_retrieval.embedded_words import index_text

    docs = real_docs(options.kit, options.real)
    embedded(docs, options.cache or options.folder)
    texts = [index_text(doc) for doc in docs[:_EMBEDDED_TEXTS]]
    figures = {}
    for name, threads in (("one core", 1), ("all cores", os.cpu_count() or 1)):
        embedder = MiniLmEmbedder(threads=threads)
        embedder.embed(texts[:8])
        start = time.perf_counter()
        embedder.embed(texts)
        figures[f"embedding on {name}, texts/s"] = len(texts) / (time.perf_counter() - start)
    return figures


class CorpusEmbedderForQueries(MiniLmEmbedder):
    """The model itself, under the corpus's name, so that the corpus's index is used."""

    name = CorpusEmbedder.name


class _Log:
    """Reports a build's progress on standard error."""

    def __init__(self, start: float) -> None:
        self._start = start
        self._last = start

    def __call__(self, stage: str, done: int, total: int, /) -> None:
        now = time.perf_counter()
        if now - self._last > 10 or done == total:
            self._last = now
            print(f"{stage} {done:,} of {total:,}, {now - self._start:.0f} s", file=sys.stderr)


def _nearest(candidates: Candidates) -> set[str]:
    """The paths of what is nearest in meaning."""
    similar = candidates.features[:, FEATURES.index("meaning")]
    return {candidates.docs[row].path for row in (-similar).argsort()[:RECALL_AT]}


def _percentiles(
    what: str, queries: Sequence[str], act: Callable[[str], object]
) -> dict[str, float]:
    walls, cpus = [], []
    for query in queries:
        wall, cpu = time.perf_counter(), time.process_time()
        act(query)
        walls.append(1000 * (time.perf_counter() - wall))
        cpus.append(1000 * (time.process_time() - cpu))
    return {
        f"{what}: p50, ms": statistics.median(walls),
        f"{what}: p95, ms": statistics.quantiles(walls, n=20)[-1],
        f"{what}: CPU p50, ms": statistics.median(cpus),
    }


def _exact(corpus: Corpus, queries: Any, block: int = 50_000) -> list[list[int]]:
    """The rows that are exactly the nearest to each query."""
    import numpy as np

    best: Any = np.full((len(queries), 0), 0.0)
    rows: Any = np.full((len(queries), 0), 0)
    for start in range(0, corpus.size, block):
        numbers = np.arange(start, min(start + block, corpus.size))
        scores = queries @ corpus.vectors(numbers).T
        best = np.concatenate([best, scores], axis=1)
        rows = np.concatenate([rows, np.broadcast_to(numbers, scores.shape)], axis=1)
        order = np.argpartition(-best, RECALL_AT, axis=1)[:, :RECALL_AT]
        best = np.take_along_axis(best, order, axis=1)
        rows = np.take_along_axis(rows, order, axis=1)
    return [[int(row) for row in nearest_rows] for nearest_rows in rows]


def _corpus(options: argparse.Namespace) -> Corpus:
    docs = real_docs(options.kit, options.real)
    return Corpus(docs, embedded(docs, options.cache or options.folder), options.sizes[0])


def _queries(options: argparse.Namespace) -> list[str]:
    queries = [one.query for one in read_questions(options.kit)]
    step = max(1, len(queries) // options.queries)
    return queries[::step][: options.queries]


@contextmanager
def chroma_server(folder: Path) -> Iterator[tuple[str, int]]:
    """A chroma server of its own on loopback: its address and process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    chroma = Path(sys.executable).with_name("chroma")
    command = [str(chroma), *f"run --host 127.0.0.1 --port {port} --path".split(), str(folder)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, server)
        yield f"http://127.0.0.1:{port}", server.pid
    finally:
        server.terminate()
        server.wait(30)


def _wait_for(port: int, server: subprocess.Popen[bytes], timeout_s: float = 60.0) -> None:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise SystemExit("The chroma server did not start. Is `chroma` beside this Python?")


def _resident_mb(pid: int) -> float:
    return float(psutil.Process(pid).memory_info().rss) / 2**20


def _peak_mb() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def _table(rows: dict[str, float]) -> str:
    return "\n".join(f"{name:44}{value:12,.1f}" for name, value in rows.items())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kit", type=Path, required=True, help="folder with pools/ and dev/")
    parser.add_argument("--folder", type=Path, required=True, help="where indexes are made")
    parser.add_argument("--sizes", type=_sizes, default=[100_000], metavar="N,…")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--real", type=int, default=_REAL, help="real APIs to begin with")
    parser.add_argument("--server", action="store_true", help="with a chroma server, too")
    parser.add_argument("--cache", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--chroma-url", help=argparse.SUPPRESS)
    parser.add_argument("--step", choices=["build", "search", "embed"], help=argparse.SUPPRESS)
    return parser


def _sizes(text: str) -> list[int]:
    return [int(one) for one in text.split(",")]


if __name__ == "__main__":
    main()
