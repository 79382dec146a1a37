"""How the index does with 100,000 and 1,000,000 APIs: time, size, memory, latency, recall.

The APIs are made of real ones (`scale_corpus`). Building and searching each run in a process of
their own, so that memory is that of the one alone.

Run: ``python -m exploracoder_bench.index_scale --kit kits/retrieval --folder bench-output/scale
--sizes 100000 [--queries 200]``
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.harvest import Harvest
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.ranking.candidates import FEATURES
from exploracoder_retrieval.search import Candidates

from exploracoder_bench.markdown_table import markdown
from exploracoder_bench.retrieval_kit import library_info, read_questions
from exploracoder_bench.scale_corpus import LIBRARY, Corpus, CorpusEmbedder, embedded, real_docs
from exploracoder_bench.timing import p50_and_p95, timed

RECALL_AT = 15
_REAL = 12_000


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    if options.step:
        act = {"build": _build, "search": _search}[options.step]
        print(json.dumps(act(options)), flush=True)
        return
    # Kept before any build, whose peak of memory would be that of embedding.
    embedded(real_docs(options.kit, options.real), options.folder)
    for size in options.sizes:
        folder = options.folder / str(size)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        figures = _child(options, "build", size, folder)
        size_mb = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file()) / 2**20
        figures |= {"on disk, MB": size_mb, **_child(options, "search", size, folder)}
        head = (f"{size:,} APIs, {os.cpu_count()} cores", "figure")
        rows = [(name, f"{value:,.1f}") for name, value in figures.items()]
        print(f"{markdown(head, rows)}\n", flush=True)
        shutil.rmtree(folder, ignore_errors=True)


def _child(options: argparse.Namespace, step: str, size: int, folder: Path) -> dict[str, float]:
    command: list[object] = [sys.executable, "-m", "exploracoder_bench.index_scale", "--step", step]
    command += ["--kit", options.kit, "--sizes", str(size), "--queries", str(options.queries)]
    command += ["--folder", folder, "--cache", options.folder, "--real", str(options.real)]
    process = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, float] = json.loads(process.stdout.splitlines()[-1])
    return figures


def _build(options: argparse.Namespace) -> dict[str, float]:
    corpus = _corpus(options)
    embedder = CorpusEmbedder(corpus)
    harvest = Harvest(library=library_info(LIBRARY), docs=tuple(corpus.docs()), skipped=())
    embedder.embed([])  # its table is made before the clock starts
    before = _resident_mb()

    def build() -> None:
        with Index.open(options.folder / "index", embedder) as index:
            index.update(harvest)

    seconds = timed(build)
    return {
        "build, vectors ready, s": seconds.wall,
        "build: CPU of this process, s": seconds.cpu,
        "build: peak memory beyond the docs, MB": _peak_mb() - before,
    }


def _search(options: argparse.Namespace) -> dict[str, float]:
    corpus = _corpus(options)
    queries = _queries(options)
    figures: dict[str, float] = {}
    embedder = CorpusEmbedderForQueries()
    embedder.embed(queries[:1])
    before = _resident_mb()
    with Index.open(options.folder / "index", embedder) as index:
        first = timed(lambda: index.search(queries[0], [LIBRARY]))
        figures["first answer of a new process, s"] = first.wall
        figures["first answer: CPU, s"] = first.cpu
        figures |= _percentiles("embedding a query", queries, lambda one: embedder.embed([one]))
        figures |= _percentiles("search", queries, lambda one: index.search(one, [LIBRARY]))
        figures["search: memory, MB"] = _resident_mb() - before
        approximate = [_nearest(each) for each in index.candidates(queries, [LIBRARY])]
    exact = _exact(corpus, embedder.embed(queries))
    right = [
        len(paths & {corpus.doc(row).path for row in rows}) / RECALL_AT
        for paths, rows in zip(approximate, exact, strict=True)
    ]
    figures[f"recall@{RECALL_AT} of exact search, %"] = 100 * statistics.mean(right)
    return figures


class CorpusEmbedderForQueries(MiniLmEmbedder):
    """The model itself, under the corpus's name, so that the corpus's index is used."""

    name = CorpusEmbedder.name


def _nearest(candidates: Candidates) -> set[str]:
    """The paths of what is nearest in meaning."""
    similar = candidates.features[:, FEATURES.index("meaning")]
    return {candidates.docs[row].path for row in (-similar).argsort()[:RECALL_AT]}


def _percentiles(
    what: str, queries: Sequence[str], act: Callable[[str], object]
) -> dict[str, float]:
    walls, cpus = zip(*(timed(partial(act, query)) for query in queries), strict=True)
    p50, p95 = p50_and_p95(walls)
    return {
        f"{what}: p50, ms": 1000 * p50,
        f"{what}: p95, ms": 1000 * p95,
        f"{what}: CPU p50, ms": 1000 * statistics.median(cpus),
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
    return Corpus(docs, embedded(docs, options.cache), options.sizes[0])


def _queries(options: argparse.Namespace) -> list[str]:
    queries = [one.query for one in read_questions(options.kit)]
    step = max(1, len(queries) // options.queries)
    return queries[::step][: options.queries]


def _resident_mb() -> float:
    return float(psutil.Process().memory_info().rss) / 2**20


def _peak_mb() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kit", type=Path, required=True, help="folder with pools/ and dev/")
    parser.add_argument("--folder", type=Path, required=True, help="where indexes are made")
    parser.add_argument("--sizes", type=_sizes, default=[100_000], metavar="N,…")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--real", type=int, default=_REAL, help="real APIs to begin with")
    parser.add_argument("--cache", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--step", choices=["build", "search"], help=argparse.SUPPRESS)
    return parser


def _sizes(text: str) -> list[int]:
    return [int(one) for one in text.split(",")]


if __name__ == "__main__":
    main()
