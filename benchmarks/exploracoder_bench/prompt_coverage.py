"""Which of the APIs that a task needs stand in the prompt that asks for its cells.

Run: ``python -m exploracoder_bench.prompt_coverage --tasks KIT/tasks.jsonl --python PYTHON``

PYTHON has the libraries; each line of the tasks names its ``library``, its ``requirement``, and
``apis_used``, by the last parts of their paths. The prompt is the one of `exploration`, in the
profile `standard`, with as much room for the libraries as --chars says; no model is asked. An API
counts that has a line in the library map, and one whose documentation is there in full.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from exploracoder.engine.knowing.knowledge import Knowledge, library_knowledge
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import InputError
from exploracoder.prepare import index_libraries
from exploracoder.settings import Settings
from exploracoder.state import Exploration, Library, Task
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.library_python import Interpreter

from exploracoder_bench.markdown_table import markdown

Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; exit code 2 when a file or a library cannot be used."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=Path, required=True, metavar="FILE.jsonl")
    parser.add_argument("--python", default=sys.executable, help="default: this one")
    parser.add_argument("--chars", default="8000,60000", metavar="N,…", help="default: %(default)s")
    options = parser.parse_args(arguments)
    rooms = [int(each) for each in options.chars.split(",")]
    try:
        rows = [json.loads(line) for line in options.tasks.read_text(encoding="utf-8").splitlines()]
        with (
            tempfile.TemporaryDirectory() as folder,
            Index.open(Path(folder), MiniLmEmbedder()) as index,
        ):
            interpreter = Interpreter.inspect(options.python)
            names = sorted({row["library"] for row in rows})
            libraries = {one.name: one for one in index_libraries(index, names, interpreter)}
            knowledge = [
                [asyncio.run(_known(index, libraries, row, n)) for row in rows] for n in rooms
            ]
    except (OSError, ValueError, KeyError, InputError, RetrievalError) as error:
        print(f"Error: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    print(_table(rows, dict(zip(rooms, knowledge, strict=True))))
    return 0


async def _known(index: Index, libraries: dict[str, Library], row: Row, room: int) -> Knowledge:
    """What a prompt with that much room says about a task's library."""
    library = libraries[row["library"]]
    task = Task(text=row["requirement"], libraries=(library.name,), context=row["context"])
    exploration = Exploration(task=task, settings=Settings(), libraries=(library,))
    # No model is asked and no code is run for this.
    placeholder = cast("Any", None)
    bench = Workbench(
        exploration,
        model=placeholder,
        index=index,
        sidecar=placeholder,
        root="",
        branch="",
        record=placeholder,
    )
    return await library_knowledge(bench, room)


def _table(rows: Sequence[Row], knowledge: dict[int, list[Knowledge]]) -> str:
    api_count = sum(len(row["apis_used"]) for row in rows)
    lines = []
    for room, prompts in knowledge.items():
        pairs = [
            (_of(row, each.mapped_paths), _of(row, _full(each)))
            for row, each in zip(rows, prompts, strict=True)
        ]
        map_count, full = (sum(len(pair[column]) for pair in pairs) for column in (0, 1))
        either = sum(len(in_map | in_full) for in_map, in_full in pairs)
        whole = sum(
            len(in_map | in_full) == len(row["apis_used"])
            for row, (in_map, in_full) in zip(rows, pairs, strict=True)
        )
        shares = [f"{100 * count / api_count:.1f} %" for count in (map_count, full, either)]
        longest = max(len(each.text) for each in prompts)
        lines.append([f"{room:,}", *shares, f"{whole} of {len(rows)}", f"{longest:,}"])
    heads = ["characters", "in the map", "in full", "in either", "tasks with all", "longest text"]
    return f"{api_count} APIs of {len(rows)} tasks\n\n{markdown(heads, lines)}"


def _full(knowledge: Knowledge) -> frozenset[str]:
    names = (name for doc in knowledge.docs for name in (doc.path, *doc.aliases))
    return frozenset(names)


def _of(row: Row, paths: frozenset[str]) -> set[str]:
    """The APIs that a task needs which are among some paths."""
    return {
        name for name in row["apis_used"] if any(f".{path}".endswith(f".{name}") for path in paths)
    }


if __name__ == "__main__":
    sys.exit(main())
