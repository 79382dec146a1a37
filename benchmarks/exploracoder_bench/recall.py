"""How many of the APIs that a task needs are found: our ranking beside the usual ones.

Run: ``python -m exploracoder_bench.recall --kit KIT --cache DIR [--sets NAME,…]``

One table in the layout of ExploraCoder's table 10 (appendix A.7): the ranker, what of an API it
searches (Path+Desc*: its path and the first sentence of its description, Fields: all of it), the
method (ST: with the task's words), recall as the macro mean of the data sets. Below it, recall at
10 for each set.

With --subtasks FILE, for a question a JSON line ``{"id": …, "subtasks": [text, …]}`` as
``exploracoder_bench.kit_plans`` writes them, a second table of the same layout follows, for those
questions only: ST, and MT, with a planner's subtasks, ranked again together.

``ours`` is what the product does, with the weights it ships, which were learned on bigcodebench and
ds1000: on these very libraries, but not on the questions of the other sets. ``ours, weights learned
elsewhere`` is the honest figure: each library is ranked with weights from libraries of other
families (so it takes --sets of several). ``+ memory``: all other problems of the library are kept
as examples, what they ask for and the APIs that answer it; the problem itself is left out in
whichever form. --weights FILE writes the product's weights anew, from each question of --sets with
memory and without. --ablation adds a line for each feature: what weights learned elsewhere find
without it. MT needs --subtasks FILE, for each query a JSON line
``{"id": …, "subtasks": [text, …]}``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from exploracoder.errors import InputError
from exploracoder_retrieval.embeddings import Embedder
from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.examples.kept import KeptExample
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.ranking.candidates import FEATURES, learned_weights
from exploracoder_retrieval.search import Candidates

from exploracoder_bench.embedding_cache import CachedEmbedder
from exploracoder_bench.progress_lines import say
from exploracoder_bench.rankers import (
    BEST,
    FIELDS,
    Bm25Ranker,
    DenseRanker,
    FieldsRanker,
    Ranking,
    naive_hybrid,
)
from exploracoder_bench.recall_scores import by_dataset, dataset_table, recall_table
from exploracoder_bench.retrieval_kit import Question, libraries, read_pool, read_questions
from exploracoder_bench.subtask_search import (
    APIS_PER_SUBTASK,
    rank_by_subtasks,
    read_subtasks,
)
from exploracoder_bench.weight_learning import Lesson, learn, learn_elsewhere

if TYPE_CHECKING:
    from exploracoder_bench.weight_learning import Array

Runs = dict[str, dict[str, Ranking]]
K = 15


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; exit code 2 when the kit or the cache cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        questions = _chosen(read_questions(options.kit), options.sets)
        subtasks = read_subtasks(options.subtasks) if options.subtasks else {}
        runs = _measure(options, questions, subtasks)
    except (InputError, RetrievalError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    single = {name: rankings for name, rankings in runs.items() if name.endswith("ST")}
    scores = {name: by_dataset(questions, rankings) for name, rankings in single.items()}
    print(recall_table(scores))
    print()
    print(dataset_table(scores))
    if subtasks:
        planned_questions = [question for question in questions if question.id in subtasks]
        sets = len({question.dataset for question in planned_questions})
        print(f"\nOn the {len(planned_questions)} questions with subtasks, in {sets} data sets:\n")
        print(
            recall_table(
                {name: by_dataset(planned_questions, rankings) for name, rankings in runs.items()}
            )
        )
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
    parser.add_argument("--subtasks", type=Path, metavar="FILE", help="a planner's, for MT")
    parser.add_argument("--weights", type=Path, metavar="FILE", help="write what was learned")
    parser.add_argument("--ablation", action="store_true", help="each feature left out once")
    return parser


def _measure(
    options: argparse.Namespace, questions: Sequence[Question], subtasks: Mapping[str, list[str]]
) -> Runs:
    """The rankings of each recipe by question."""
    runs: Runs = {}
    embedder = CachedEmbedder(options.cache)
    for library in libraries(questions):
        library_questions = [question for question in questions if question.library == library]
        for name, rankings in _baselines(
            options, library, library_questions, subtasks, embedder
        ).items():
            runs.setdefault(name, {}).update(rankings)
    with Index.open(options.cache / "index", embedder, on_warning=say) as index:
        say("index …")
        for library in libraries(questions):
            index.update(read_pool(options.kit, library))
        _remember(index, questions)
        plain = index.view(uses_examples=False)
        lessons, pools = _looked_at({each.id: plain for each in questions}, questions)
        say("index, with memory …")
        others = {each.id: index.view(left_out=each.problem) for each in questions}
        more_lessons, memory_pools = _looked_at(others, questions)
        lessons += more_lessons
        if options.weights:
            _write_weights(options.weights, lessons)
        weightings = _weightings(questions, lessons)
        if options.ablation:
            weightings |= _ablated(lessons)
        for recipe, weights_of in weightings.items():
            for memory, candidates in (("", pools), (" + memory", memory_pools)):
                runs[f"{recipe}{memory} · Fields · ST"] = {
                    each.id: _paths(candidates[each.id], weights_of[each.library])
                    for each in questions
                }
            if subtasks:
                by_library = _by_subtasks(plain, questions, subtasks, weights_of)
                runs[f"{recipe} · Fields · MT"] = by_library
    return runs


def _baselines(
    options: argparse.Namespace,
    library: str,
    questions: Sequence[Question],
    subtasks: Mapping[str, list[str]],
    embedder: Embedder,
) -> Runs:
    """The rankings of the asked queries by each baseline, in the order of the table's lines."""
    say(f"{library} …")
    docs = read_pool(options.kit, library).docs
    rankers: dict[str, Bm25Ranker | FieldsRanker | DenseRanker] = {
        f"BM25 · {BEST}": Bm25Ranker(docs),
        f"BM25 · {FIELDS}": FieldsRanker(docs),
        f"MiniLM · {BEST}": DenseRanker(docs, BEST, embedder),
        f"MiniLM · {FIELDS}": DenseRanker(docs, FIELDS, embedder),
    }
    ids, queries = [each.id for each in questions], [each.query for each in questions]
    runs: Runs = {}
    for name, ranker in rankers.items():
        runs[f"{name} · ST"] = dict(zip(ids, ranker.rank(queries), strict=True))
        if subtasks:
            runs[f"{name} · MT"] = rank_by_subtasks(ranker.rank, questions, subtasks)
    for method in ("ST", "MT") if subtasks else ("ST",):
        for which in (BEST, FIELDS):
            one, other = (runs[f"{name} · {which} · {method}"] for name in ("BM25", "MiniLM"))
            both = naive_hybrid(list(one.values()), list(other.values()))
            runs[f"naive hybrid · {which} · {method}"] = dict(zip(one, both, strict=True))
    return runs


def _remember(index: Index, questions: Sequence[Question]) -> None:
    """Keep all questions with their answers as examples, replacing what was kept before."""
    for library in libraries(questions):
        index.examples.forget(library)
        library_questions = [question for question in questions if question.library == library]
        index.examples.keep([_example(question) for question in library_questions])


def _example(question: Question) -> KeptExample:
    return KeptExample(
        library=question.library,
        version="",
        source="code",
        title=question.query,
        code=f"# {question.id}",
        apis=question.gold,
        origin=question.problem,
        kept=datetime.now(timezone.utc),
    )


def _looked_at(
    indexes: Mapping[str, Index], questions: Sequence[Question]
) -> tuple[list[Lesson], dict[str, Candidates]]:
    """What each question's candidates in its index teach, and the candidates by question id."""
    lessons, pools = [], {}
    for question in questions:
        (candidates,) = indexes[question.id].candidates([question.query], [question.library])
        pools[question.id] = candidates
        lessons.append(Lesson.of(question, candidates))
    return lessons, pools


def _weightings(
    questions: Sequence[Question], lessons: Sequence[Lesson]
) -> dict[str, dict[str, Array]]:
    """Each library's weights, as shipped and as learned elsewhere."""
    weightings = {"ours": dict.fromkeys(libraries(questions), learned_weights())}
    elsewhere = learn_elsewhere(lessons)
    if len(elsewhere) == len(libraries(questions)):
        weightings["ours, weights learned elsewhere"] = elsewhere
    return weightings


def _ablated(lessons: Sequence[Lesson]) -> dict[str, dict[str, Array]]:
    """The weights for each library, learned elsewhere, by the feature that is left out."""
    weightings = {}
    for name in FEATURES:
        say(f"without {name} …")
        weightings[f"without {name}"] = learn_elsewhere(lessons, without=name)
    return weightings


def _by_subtasks(
    index: Index,
    questions: Sequence[Question],
    subtasks: Mapping[str, list[str]],
    weights_of: Mapping[str, Array],
) -> dict[str, Ranking]:
    rankings: dict[str, Ranking] = {}
    for library in libraries(questions):

        def rank(texts: Sequence[str], library: str = library) -> list[Ranking]:
            pools = index.candidates(texts, [library])
            return [_paths(pool, weights_of[library], APIS_PER_SUBTASK) for pool in pools]

        library_questions = [question for question in questions if question.library == library]
        rankings |= rank_by_subtasks(rank, library_questions, subtasks)
    return rankings


def _paths(pool: Candidates, weights: Array, k: int = K) -> Ranking:
    return [hit.doc.path for hit in pool.ranked(weights, k)]


def _write_weights(file: Path, lessons: Sequence[Lesson]) -> None:
    weights = {name: round(float(x), 4) for name, x in zip(FEATURES, learn(lessons), strict=True)}
    by = "python -m exploracoder_bench.recall --weights; list-wise logistic loss"
    sets = sorted({lesson.question.dataset for lesson in lessons})
    content = {"learned_by": by, "sets": sets, "queries": len(lessons), "weights": weights}
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _chosen(questions: Sequence[Question], names: str) -> list[Question]:
    set_names = {name.strip() for name in names.split(",") if name.strip()}
    unknown = set_names - {question.dataset for question in questions}
    if unknown:
        raise InputError(f"The kit has no set named {', '.join(sorted(unknown))}.")
    return [question for question in questions if not set_names or question.dataset in set_names]


if __name__ == "__main__":
    sys.exit(main())
