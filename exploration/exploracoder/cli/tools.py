"""``exploracoder tools``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exploracoder.cli.console import (
    Progress,
    numbered_lines,
    print_json,
    print_result,
    read_standard_input,
    say,
)
from exploracoder.cli.options import json_option, path_option, python_option
from exploracoder.errors import InputError, raised_as

if TYPE_CHECKING:
    from exploracoder_retrieval.repotools.tool_questions import Question

    from exploracoder.repositories import Repositories

_OPTION_OF = {
    "class_name": "--class",
    "method_name": "--name",
    "file": "--file",
    "code": "--code",
    "query": "a QUERY",
}


@click.command()
@click.argument("tool", required=False)
@click.argument("query", required=False)
@click.option(
    "--root",
    metavar="DIR",
    help="The top folder of a repository, or the name of an installed library.",
)
@click.option("--class", "class_name", metavar="NAME", help="The class that is meant.")
@click.option("--name", "method_name", metavar="METHOD", help="The method, or function.")
@click.option(
    "--file", metavar="FILE", help="get_imports: where in the repository the code is to stand."
)
@click.option(
    "--code",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="get_imports: the file with the code, '-' for standard input. Default: --file itself.",
)
@path_option(
    "--queries",
    metavar="FILE.jsonl",
    help="Many questions, a line {id, tool, args, root} each; root is a folder from --root on, else"
    " from the file's own folder on. The answer to each is a line with its id.",
)
@python_option
@json_option
def tools(
    tool: str | None,
    query: str | None,
    root: str | None,
    queries: Path | None,
    python: str | None,
    as_json: bool,
    **arguments: Any,
) -> int:
    """Look something up in a repository or an installed library. TOOL is one of:

    \b
      get_class_info        --class NAME: a class with all members, inherited ones too
      get_signature         --name METHOD [--class NAME]: how it is called, overloads too
      get_method_body       --name METHOD [--class NAME]: its source
      get_imports           --code FILE [--file FILE]: imports for undefined names
      get_relevant_code     QUERY: classes, functions and snippets that fit
      get_related_snippets  QUERY: code like what you describe

    The source is read and never run, and nothing in the repository is written. It is indexed once;
    later only files that have changed are read.

    \b
      exploracoder tools get_class_info --root . --class Router
      exploracoder tools get_signature --root pandas --class DataFrame --name merge
    """
    from exploracoder_retrieval.repotools.tool_text import answer_text

    if queries is not None and tool is not None:
        raise InputError("Give either a TOOL or a file of questions with --queries.")
    if queries is not None:
        with _repositories(python) as repositories:
            return _print_many(repositories, queries, root, as_json)
    question = _question(tool, root, arguments | {"query": query})
    with _repositories(python) as repositories:
        answer = repositories.ask(question, root or ".")
    print_result(answer.model_dump(mode="json"), answer_text(answer), as_json=as_json)
    return 0


@contextmanager
def _repositories(python: str | None) -> Iterator[Repositories]:
    from exploracoder import confined_interpreter
    from exploracoder.repositories import Repositories

    with Progress() as progress:
        yield Repositories(confined_interpreter.find_interpreter(python), progress.working)


def _question(tool: str | None, root: str | None, arguments: dict[str, Any]) -> Question:
    from exploracoder_retrieval.errors import QuestionError
    from exploracoder_retrieval.repotools.tool_questions import TOOL_NAMES, Question, find_tool

    if tool is None:
        raise InputError(f"Name a tool: {', '.join(TOOL_NAMES)}.")
    with raised_as(InputError, QuestionError):
        if find_tool(tool) == "get_imports":
            arguments["file"] = _inside(arguments["file"], root)
            arguments["code"] = _code(arguments["code"], arguments["file"], root)
        if root is None:
            raise InputError("Say where to look: --root DIR, or the name of a library.")
        return Question.of(tool, arguments, _OPTION_OF)


def _inside(file: str | None, root: str | None) -> str | None:
    """A file's path relative to the root. Raises InputError if it lies elsewhere."""
    from exploracoder import prepare

    if file is None or not Path(file).is_absolute() or root is None:
        return file
    top = Path(os.path.realpath(prepare.full(root)))
    try:
        return Path(file).resolve().relative_to(top).as_posix()
    except ValueError:
        raise InputError(f"--file: {file} is not inside {top}.") from None


def _code(code: Path | None, file: str | None, root: str | None) -> str | None:
    from exploracoder import prepare

    if code is not None and str(code) == "-":
        return read_standard_input()
    if code is not None:
        return prepare.read_code(code, "--code")
    there = prepare.full(root or ".") / file if file else None
    return prepare.read_code(there, "--file") if there and os.path.isfile(there) else None


def _print_many(repositories: Repositories, queries: Path, root: str | None, as_json: bool) -> int:
    """Answer each line, or print why not. Returns 1 if any could not be answered."""
    from exploracoder_retrieval.repotools.tool_text import answer_text

    failure_count = 0
    for id_, question, place in _read(queries, root):
        try:
            if isinstance(question, str):
                raise InputError(question)
            answer = repositories.ask(question, place)
            row = {"id": id_, "tool": question.tool} | answer.model_dump(mode="json")
            words = f"# {id_} {question.tool}\n{answer_text(answer)}\n"
        except InputError as error:
            failure_count += 1
            row, words = {"id": id_, "error": str(error)}, f"# {id_}\n{error}\n"
        if as_json:
            print_json(row, indent=None)
        else:
            say(words)
    return 1 if failure_count else 0


def _read(queries: Path, root: str | None) -> Iterator[tuple[object, Question | str, str]]:
    """Yield each line's id, question and root; an invalid question becomes its error message.

    Raises InputError when the file cannot be read or a line is not such an object.
    """
    from exploracoder_retrieval.errors import QuestionError
    from exploracoder_retrieval.repotools.tool_questions import Question

    for number, line in numbered_lines(queries):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"--queries: line {number} of {queries} is not JSON.") from error
        try:
            id_, tool, arguments = row["id"], str(row["tool"]), dict(row["args"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"--queries: line {number} of {queries} is not an object with id, tool and args."
            ) from error
        own = row.get("root") or row.get("repo_dir")
        if own is not None and not isinstance(own, str):
            raise InputError(f"--queries: the root in line {number} of {queries} is not text.")
        place = _place(own, root, queries)
        if place is None:
            raise InputError(f"--queries: line {number} has no root. Give one there or as --root.")
        try:
            yield id_, Question.of(tool, arguments), place
        except QuestionError as error:
            yield id_, str(error), place


def _place(own: str | None, root: str | None, queries: Path) -> str | None:
    if own is None:
        return root
    from exploracoder import prepare

    base = prepare.full(root) if root else queries.parent
    inside = base / own
    # An installed library is given by name, not by folder.
    return str(inside) if os.path.exists(inside) or "/" in own else own
