"""How long one query takes on 10,000 APIs of a kit: a subtask's, and a task's of 2 to 4 clauses.

Run: ``python -m exploracoder_bench.query_speed --kit KIT --cache DIR [--queries 60] [--rounds 5]``

Each query is asked once a round, and its best round counts: on a machine that does other things as
well, that is the nearest one gets to what it costs. Queries are embedded for real each time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from exploracoder.errors import InputError
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.harvest import Harvest
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.ranking.clauses import clauses

from exploracoder_bench.markdown_table import markdown
from exploracoder_bench.progress_lines import say
from exploracoder_bench.retrieval_kit import Question, read_pool, read_questions
from exploracoder_bench.timing import Seconds, p50_and_p95, timed

_LIBRARY = "bcb"
_SIZE = 10_000
# How many clauses the queries of each row have; a single one counts as none.
_KINDS = {"subtask": range(1), "task of 2 to 4 clauses": range(2, 5)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; exit code 2 when the kit or the cache cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        questions = read_questions(options.kit)
        pool = _thinned(read_pool(options.kit, options.library), options.apis)
        folder = options.cache / "query-speed"
        with Index.open(folder, MiniLmEmbedder(), on_warning=say) as index:
            say(f"index of {len(pool.docs):,} APIs …")
            index.update(pool)
            lines = [
                (name, *_shown(_best(index, _asked(questions, counts, options.queries), options)))
                for name, counts in _KINDS.items()
            ]
    except (InputError, RetrievalError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    head = ("query", "asked", "wall p50", "wall p95", "CPU p50", "CPU p95")
    print(f"{len(pool.docs):,} APIs, best of {options.rounds} rounds of each query, ms\n")
    print(markdown(head, lines))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kit", type=Path, required=True, help="a folder with dev/ and pools/")
    parser.add_argument("--cache", type=Path, required=True, help="a folder for the index, kept")
    parser.add_argument("--library", default=_LIBRARY, help="the pool; default: %(default)s")
    parser.add_argument("--apis", type=int, default=_SIZE, help="of the pool; default: %(default)s")
    parser.add_argument("--queries", type=int, default=60, help="of each kind, 2 or more")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    return parser


def _thinned(pool: Harvest, size: int) -> Harvest:
    """APIs taken evenly from a pool, in its order."""
    step = max(1, len(pool.docs) // size)
    return pool.model_copy(update={"docs": pool.docs[::step][:size]})


def _asked(questions: Sequence[Question], counts: range, most: int) -> list[str]:
    """Queries with that many clauses, taken evenly from the kit."""
    texts = list(dict.fromkeys(each.query for each in questions))
    matches = [text for text in texts if len(clauses(text)) in counts]
    if min(len(matches), most) < 2:
        raise InputError(f"The kit has {len(matches)} queries of a kind; 2 are needed at least.")
    return matches[:: max(1, len(matches) // most)][:most]


def _best(index: Index, texts: Sequence[str], options: argparse.Namespace) -> list[Seconds]:
    """The least wall and processor time for each text."""
    index.search(texts[0], [options.library])
    rounds = [
        [timed(partial(index.search, text, [options.library])) for text in texts]
        for _ in range(options.rounds)
    ]
    return [
        Seconds(min(one.wall for one in each), min(one.cpu for one in each))
        for each in zip(*rounds, strict=True)
    ]


def _shown(times: Sequence[Seconds]) -> list[str]:
    cuts = [cut for column in zip(*times, strict=True) for cut in p50_and_p95(column)]
    return [str(len(times)), *(f"{1000 * cut:.0f}" for cut in cuts)]


if __name__ == "__main__":
    sys.exit(main())
