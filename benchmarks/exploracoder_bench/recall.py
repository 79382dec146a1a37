"""How many of the APIs that a task needs are found: our ranking beside the usual ones.

Run: ``python -m exploracoder_bench.recall --kit KIT --cache DIR [--sets NAME,…] [--runs DIR]``

One table in the layout of ExploraCoder's table 10 (appendix A.7): the ranker, what of an API it
searches (Path, Desc: the description, Desc*: its first sentence, Fields: all, apart), the method
(ST: with the task's words; MT: with a planner's subtasks, ranked again together), recall as the
macro mean of the data sets. Below it, recall at 10 for each set, and how long our queries took.

``ours`` is what the product does, with the weights it ships, which were learned on these very
libraries. ``ours, weights learned elsewhere`` is the honest figure: each library is ranked with
weights from libraries of other families (so it takes --sets of several). --weights FILE writes the
product's weights anew. MT needs --subtasks FILE, for each query a JSON line
``{"id": …, "subtasks": [text, …]}``.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from exploracoder.errors import InputError
from exploracoder_retrieval.embeddings import Embedder, MiniLmEmbedder
from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.ranking.candidates import FEATURES
from exploracoder_retrieval.ranking.weights import learned_weights

from exploracoder_bench.embedding_cache import CachedEmbedder
from exploracoder_bench.mpnet import MpnetEmbedder
from exploracoder_bench.rankers import (
    WORDINGS,
    Bm25Ranker,
    DenseRanker,
    Ranking,
    naive_hybrid,
)
from exploracoder_bench.recall_scores import by_dataset, dataset_table, recall_table
from exploracoder_bench.retrieval_kit import Question, libraries, read_pool, read_questions
from exploracoder_bench.subtask_search import read_subtasks, search_by_subtasks
from exploracoder_bench.weight_learning import Lesson, learn, learn_elsewhere

Runs = dict[str, dict[str, Ranking]]
K = 15
_BEST = WORDINGS[-1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; exit code 2 when the kit or the cache cannot be used."""
    given = _parser().parse_args(arguments)
    try:
        questions = _chosen(read_questions(given.kit), given.sets)
        subtasks = read_subtasks(given.subtasks) if given.subtasks else {}
        runs, times = _measure(given, questions, subtasks)
    except (InputError, RetrievalError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    scores = {name: by_dataset(questions, ranked) for name, ranked in runs.items()}
    print(recall_table(scores))
    print()
    print(dataset_table({name: found for name, found in scores.items() if _is_compared(name)}))
    cuts = statistics.quantiles(times, n=20)
    print(f"\nOne query of ours: p50 {cuts[9]:.0f} ms, p95 {cuts[-1]:.0f} ms.")
    if given.runs:
        _write(given.runs, runs)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kit", type=Path, required=True, help="a folder with dev/ and pools/")
    parser.add_argument(
        "--cache", type=Path, required=True, help="a folder for vectors and indexes, kept"
    )
    parser.add_argument("--sets", default="", metavar="NAME,…", help="only these data sets")
    parser.add_argument(
        "--wordings", default=",".join(WORDINGS), metavar="NAME,…", help="default: %(default)s"
    )
    parser.add_argument("--subtasks", type=Path, metavar="FILE", help="a planner's, for MT")
    parser.add_argument("--mpnet", type=Path, metavar="DIR", help="the model's folder, for its row")
    parser.add_argument("--weights", type=Path, metavar="FILE", help="write what was learned")
    parser.add_argument("--runs", type=Path, metavar="DIR", help="write each ranking, to be scored")
    return parser


def _measure(
    given: argparse.Namespace, questions: Sequence[Question], subtasks: Mapping[str, list[str]]
) -> tuple[Runs, list[float]]:
    """The rankings of each recipe by question, and the milliseconds of ours."""
    with ExitStack() as stack:
        embedder = CachedEmbedder(MiniLmEmbedder(), given.cache, on_progress=_say)
        stack.callback(embedder.close)
        mpnet = None
        if given.mpnet:
            mpnet = CachedEmbedder(MpnetEmbedder(given.mpnet), given.cache, on_progress=_say)
            stack.callback(mpnet.close)
        runs: Runs = {}
        for library in libraries(questions):
            asked = [question for question in questions if question.library == library]
            for name, rankings in _baselines(given, library, asked, embedder, mpnet).items():
                ids = [question.id for question in asked]
                runs.setdefault(name, {}).update(zip(ids, rankings, strict=True))
        index = stack.enter_context(Index.open(given.cache / "index", embedder, on_warning=_say))
        _say("index …")
        for library in libraries(questions):
            index.update(read_pool(given.kit, library))
        runs |= _ours(index, questions, given.weights)
        if subtasks:
            runs["ours · Fields · MT"] = search_by_subtasks(index, questions, subtasks, K)
    with Index.open(given.cache / "index", MiniLmEmbedder()) as index:
        return runs, _times(index, questions)


def _baselines(
    given: argparse.Namespace,
    library: str,
    asked: Sequence[Question],
    embedder: Embedder,
    mpnet: Embedder | None,
) -> dict[str, list[Ranking]]:
    """The rankings of the asked queries by each baseline, in the order of the table's lines."""
    _say(f"{library} …")
    docs = read_pool(given.kit, library).docs
    wordings = [name for name in WORDINGS if name in (*given.wordings.split(","), _BEST)]
    queries = [question.query for question in asked]
    found = {f"BM25 · {which} · ST": Bm25Ranker(docs, which).rank(queries) for which in wordings}
    for which in wordings:
        found[f"MiniLM · {which} · ST"] = DenseRanker(docs, which, embedder).rank(queries)
    if mpnet is not None:
        found[f"mpnet · {_BEST} · ST"] = DenseRanker(docs, _BEST, mpnet).rank(queries)
    found[f"naive hybrid · {_BEST} · ST"] = naive_hybrid(
        found[f"BM25 · {_BEST} · ST"], found[f"MiniLM · {_BEST} · ST"]
    )
    return found


def _ours(index: Index, questions: Sequence[Question], weights: Path | None) -> Runs:
    _say("ours …")
    lessons, pools = [], {}
    for question in questions:
        (found,) = index.candidates([question.query], [question.library])
        pools[question.id] = found
        lessons.append(Lesson.of(question, found))
    if weights:
        _write_weights(weights, lessons)
    elsewhere = learn_elsewhere(lessons)
    used = {"ours · Fields · ST": dict.fromkeys(libraries(questions), learned_weights())}
    if len(elsewhere) == len(libraries(questions)):
        used["ours, weights learned elsewhere · Fields · ST"] = elsewhere
    return {
        name: {
            each.id: [hit.doc.path for hit in pools[each.id].ranked(weights_of[each.library], K)]
            for each in questions
        }
        for name, weights_of in used.items()
    }


def _write_weights(file: Path, lessons: Sequence[Lesson]) -> None:
    learned = {name: round(float(x), 4) for name, x in zip(FEATURES, learn(lessons), strict=True)}
    by = "python -m exploracoder_bench.recall --weights; list-wise logistic loss"
    text = json.dumps({"learned_by": by, "queries": len(lessons), "weights": learned}, indent=1)
    file.write_text(text + "\n", encoding="utf-8")


def _times(index: Index, questions: Sequence[Question]) -> list[float]:
    """Milliseconds for each of up to 200 queries, one at a time, nothing cached."""
    picked = questions[:: max(1, len(questions) // 200)]
    for library in libraries(picked):
        index.search("warm", [library])
    times = []
    for question in picked:
        start = time.perf_counter()
        index.search(question.query, [question.library], K)
        times.append(1000 * (time.perf_counter() - start))
    return times


def _chosen(questions: Sequence[Question], names: str) -> list[Question]:
    wanted = {name.strip() for name in names.split(",") if name.strip()}
    unknown = wanted - {question.dataset for question in questions}
    if unknown:
        raise InputError(f"The kit has no set named {', '.join(sorted(unknown))}.")
    return [question for question in questions if not wanted or question.dataset in wanted]


def _is_compared(name: str) -> bool:
    return _BEST in name or name.startswith("ours")


def _write(folder: Path, runs: Runs) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, ranked in runs.items():
        lines = (json.dumps({"id": key, "ranked": paths}) for key, paths in ranked.items())
        plain = re.sub(r"[^A-Za-z0-9]+", "-", name.replace("*", "1"))
        (folder / f"{plain}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
