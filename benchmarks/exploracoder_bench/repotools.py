"""Whether the repository tools answer rightly, and how soon.

Run: ``python -m exploracoder_bench.repotools --kit DIR --repo DIR [--questions 200]``

``--kit`` is a folder with ``queries.jsonl``, ``score.py`` and ``confzoo/``; ``--repo`` the source
tree that its other queries are about, and of which the speed is measured. A warm start is measured
in a fresh process. CPU seconds say what wall seconds would be on a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from exploracoder.confined_interpreter import find_interpreter
from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.repotools.repository import Repository
from exploracoder_retrieval.repotools.six_tools import RepositoryTools
from exploracoder_retrieval.repotools.tool_questions import Question

from exploracoder_bench.markdown_table import markdown
from exploracoder_bench.timing import Seconds, p50_and_p95, timed

_OPEN = """
import sys
from pathlib import Path
from exploracoder_bench.repotools import open_tools
from exploracoder_bench.timing import timed
from exploracoder.confined_interpreter import find_interpreter
python = find_interpreter(sys.executable)
print(*timed(lambda: open_tools(Path(sys.argv[1]), python, Path(sys.argv[2]))))
"""
_OWN_ROOT = "confzoo"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kit", type=Path, required=True)
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=200, help="for each tool")
    options = parser.parse_args(arguments)
    python = find_interpreter(sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        cold = timed(lambda: open_tools(options.repo, python, cache))
        tools, repository = open_tools(options.repo, python, cache)
        own = sum(1 for module in repository.sources.own.values() for _ in module.classes)
        print(
            f"{options.repo.name}: {len(repository.sources.own)} files, {own} top-level classes\n"
        )
        openings = (("cold", cold), ("warm, in a new process", _warm(options.repo, cache)))
        rows = [(f"index, {how}", *(f"{s:.2f}" for s in seconds)) for how, seconds in openings]
        print(markdown(("what", "wall s", "CPU s"), rows))
        head = ("tool", "questions", "p50 ms", "p95 ms", "p95 CPU ms")
        print(f"\n{markdown(head, _speed(tools, repository, options.questions))}")
        zoo, _ = open_tools(options.kit / _OWN_ROOT, python, cache)
        right, count = _score(options.kit, {_OWN_ROOT: zoo, "": tools})
    print(f"\nright: {right} of {count}")


def open_tools(root: Path, python: Interpreter, cache: Path) -> tuple[RepositoryTools, Repository]:
    """A repository, indexed and ready for all of its tools."""
    repository = Repository.open(root, python, cache=cache)
    tools = RepositoryTools(repository)
    # The first search counts words; the first question for imports reads the standard library.
    tools.get_related_snippets("prepare")
    tools.get_imports("builtins.object")
    return tools, repository


def _warm(root: Path, cache: Path) -> Seconds:
    command = [sys.executable, "-c", _OPEN, str(root), str(cache)]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    return Seconds(*map(float, process.stdout.split()))


def _speed(
    tools: RepositoryTools, repository: Repository, count: int
) -> Iterator[tuple[object, ...]]:
    for tool, questions in _questions(repository, count).items():
        walls, cpus = zip(*(timed(partial(_ask, one, tools)) for one in questions), strict=True)
        figures = (*p50_and_p95(walls), p50_and_p95(cpus)[1])
        yield tool, len(walls), *(f"{1000 * one:.1f}" for one in figures)


def _ask(question: Question, tools: RepositoryTools) -> None:
    try:
        question.ask(tools)
    except RetrievalError as error:
        print(f"{question}: {error}", file=sys.stderr)


def _questions(repository: Repository, count: int) -> Mapping[str, list[Question]]:
    """Questions about things that exist, drawn at random with a fixed seed."""
    chance = random.Random(0)
    modules = list(repository.sources.own.values())
    classes = [item for module in modules for item in module.classes]
    methods = [(item, one) for item in classes for one in item.functions]
    docs = [item.doc.split("\n\n")[0] for item in classes if item.doc]
    pairs = chance.sample(methods, min(count, len(methods)))
    by_name = [{"class_name": item.name, "method_name": one.name} for item, one in pairs]
    some = [{"class_name": one.name} for one in chance.sample(classes, min(count, len(classes)))]
    queries = [{"query": text} for text in chance.sample(docs, min(count, len(docs)))]
    codes = [{"code": one} for one in _codes(repository, chance, count)]
    return {
        tool: [Question.of(tool, arguments) for arguments in argument_sets]
        for tool, argument_sets in (
            ("get_class_info", some),
            ("get_signature", by_name),
            ("get_method_body", by_name),
            ("get_imports", codes),
            ("get_related_snippets", queries),
            ("get_relevant_code", queries),
        )
    }


def _codes(repository: Repository, chance: random.Random, count: int) -> Iterator[str]:
    """Functions as they stand in their files, so that the names those import are undefined."""
    modules = [module for module in repository.sources.own.values() if module.functions]
    for module in chance.sample(modules, min(count, len(modules))):
        lines = repository.text(module.name) or []
        item = chance.choice(module.functions)
        yield "\n".join(lines[item.first_line - 1 : item.end_line])


def _score(kit: Path, tools: Mapping[str, RepositoryTools]) -> tuple[int, int]:
    scorer = _scorer(kit / "score.py")
    right = count = 0
    for line in (kit / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        query = json.loads(line)
        is_own = _OWN_ROOT in query["repo_dir"]
        answer: dict[str, Any] = {}
        try:
            question = Question.of(query["tool"], query["args"])
            answer = question.ask(tools[_OWN_ROOT if is_own else ""]).model_dump(mode="json")
        except RetrievalError as error:
            print(f"{query['id']}: {error}", file=sys.stderr)
        points, total, misses = scorer.score_data(query, answer)
        count += 1
        right += points == total
        if misses:
            print(f"{query['id']} {query['tool']}: {points} of {total}; {misses}", file=sys.stderr)
    return right, count


def _scorer(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("kit_score", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} cannot be loaded.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
