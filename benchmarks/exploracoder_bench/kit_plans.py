"""A planner's subtasks for the questions of a retrieval kit, for the MT rows of `recall`.

Run: ``python -m exploracoder_bench.kit_plans --kit KIT --sets NAME,… --model embedded --out FILE``

Each question is planned as a task for a library of which only the pool's docs are known, by the
planner of `exploracoder explore` with its usual settings; one of which the model makes no plan gets
no subtasks. Questions that are in FILE already are left out, so an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from exploracoder.errors import ExploraCoderError, InputError, SetupError, raised_as
from exploracoder.methods.planned import make_plan
from exploracoder.models.chat import ChatModel
from exploracoder.opening import Opening, local_scratch, open_bench
from exploracoder.prepare import make_exploration, open_model, wants_embedded
from exploracoder.state import Exploration, Library, Task
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.sandbox import choose
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.index import Index

from exploracoder_bench.progress_lines import say
from exploracoder_bench.retrieval_kit import libraries, read_pool, read_questions
from exploracoder_bench.subtask_search import read_subtasks


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the subtasks; exit code 2 when the kit, the model or the file cannot be used."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kit", type=Path, required=True, help="a folder with dev/ and pools/")
    parser.add_argument("--sets", required=True, metavar="NAME,…", help="these data sets")
    parser.add_argument("--model", help="as in 'exploracoder explore'")
    parser.add_argument("--base-url", help="as in 'exploracoder explore'")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON lines")
    options = parser.parse_args(arguments)
    try:
        asyncio.run(_plan_all(options))
    except (ExploraCoderError, RetrievalError, OSError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    return 0


async def _plan_all(options: argparse.Namespace) -> None:
    set_names = set(options.sets.split(","))
    plans = read_subtasks(options.out) if options.out.exists() else {}
    questions = [each for each in read_questions(options.kit) if each.dataset in set_names]
    if missing := set_names - {each.dataset for each in questions}:
        raise InputError(f"The kit has no set named {', '.join(sorted(missing))}.")
    pending = [each for each in questions if each.id not in plans]
    is_embedded = wants_embedded(options.model, options.base_url)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        index = stack.enter_context(Index.open(folder / "index", MiniLmEmbedder()))
        library_by_name = {name: _indexed(index, options.kit, name) for name in libraries(pending)}
        with raised_as(SetupError, SidecarError):
            sandbox = choose("auto", python=sys.executable, cwd=folder)
        scratch = local_scratch(sys.executable, folder, sandbox=sandbox)
        opening = Opening(sys.executable, scratch)
        async with open_model(options.model, options.base_url) as model:
            for number, question in enumerate(pending, start=1):
                start = time.monotonic()
                task = Task(text=question.query, libraries=(question.library,))
                new_exploration = make_exploration(task, is_embedded=is_embedded)
                exploration = new_exploration.model_copy(
                    update={"libraries": (library_by_name[question.library],)}
                )
                goals = await _plan(exploration, model, index, opening)
                with options.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"id": question.id, "subtasks": goals}) + "\n")
                seconds = time.monotonic() - start
                say(f"{number} of {len(pending)}: {len(goals)} subtasks, {seconds:.0f} s")


def _indexed(index: Index, kit: Path, library: str) -> Library:
    say(f"index, {library} …")
    harvest = read_pool(kit, library)
    index.update(harvest)
    return Library(
        name=harvest.library.name,
        import_name=harvest.library.import_name,
        version=harvest.library.version,
        apis=len(harvest.docs),
    )


async def _plan(
    exploration: Exploration, model: ChatModel, index: Index, opening: Opening
) -> list[str]:
    async def record(exploration: Exploration, message: str) -> None:
        del exploration, message

    manager: Any = open_bench(exploration, model=model, index=index, opening=opening, record=record)
    async with manager as bench:
        await make_plan(bench)
        return [step.subtask.goal for step in bench.exploration.steps]


if __name__ == "__main__":
    sys.exit(main())
