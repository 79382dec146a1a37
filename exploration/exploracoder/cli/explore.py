"""``exploracoder explore`` and ``exploracoder resume``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exploracoder.cli.console import Progress, print_json, run_async, say
from exploracoder.cli.lists import list_methods, list_settings
from exploracoder.cli.options import (
    index_options,
    json_option,
    kernel_option,
    limit_options,
    method_option,
    model_options,
    profile_option,
    python_option,
    sandbox_options,
    set_option,
    strategy_option,
    trust_option,
)
from exploracoder.errors import ExploraCoderError, InputError, kind_of
from exploracoder.state import Brought, Exploration

if TYPE_CHECKING:
    from exploracoder.bringing import Source
    from exploracoder.models.cache import ReplyCache
    from exploracoder.session import Place


@click.command()
@click.argument("task")
@click.option(
    "--library",
    "-l",
    "libraries",
    multiple=True,
    metavar="NAME_OR_PATH",
    help="A library to use: an installed one by name, or a folder or .py file. May be repeated.",
)
@click.option(
    "--context",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Code (.py or .ipynb) that runs first: data, helpers, an example of the input.",
)
@click.option(
    "--check",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Code (.py) that runs after the solution and raises when it is wrong.",
)
@click.option(
    "--entry-point", metavar="NAME", help="The function, or class, that the solution must define."
)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The notebook to write. Default: exploration.ipynb here, numbered if there is one.",
)
@profile_option
@method_option
@click.option(
    "--list-methods",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, value: list_methods(ctx, value),
    help="List the methods.",
)
@click.option(
    "--repository",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="For the methods that write a class: the top folder of the repository that it belongs to."
    " It is read and copied, never changed; the check runs in the copy.",
)
@click.option(
    "--file",
    metavar="FILE",
    help="For the same: the class's file, from DIR on. A class of its name there is replaced.",
)
@click.option(
    "--candidates",
    type=click.IntRange(1, 20),
    metavar="M",
    help="Candidates for each subtask (the paper's m).",
)
@click.option(
    "--self-debug/--no-self-debug",
    default=None,
    help="Repair a subtask when no candidate ran (ExploraCoder* with, ExploraCoder without).",
)
@set_option
@click.option(
    "--list-settings",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, value: list_settings(ctx, value),
    help="List the settings with their values in each profile.",
)
@kernel_option
@click.option(
    "--bring",
    multiple=True,
    metavar="NAME,…",
    help="Variables to bring from the kernel, with what they need. They are copies: the kernel's"
    " own stay as they are. Those that cannot be copied are named.",
)
@strategy_option
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all sampling.")
@limit_options
@python_option
@sandbox_options
@model_options
@index_options
@json_option
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def explore(task: str, **given: Any) -> int:
    """Explore TASK with a library that the model does not know, and write a verified solution.

    TASK is a sentence or two, or '-' to read it from standard input. It may hold the head of a
    function to complete. The notebook is saved after every step; 'exploracoder resume' goes on from
    it after any interruption.

    \b
      exploracoder explore "Read page.html and list the links in its nav" -l justhtml
      exploracoder explore - -l ./mylib --context data.py --check test.py < task.txt
      exploracoder explore - --method rrr --repository . --file pkg/teas.py --entry-point Tea \\
        --check oracle.py < description.txt
    """
    return _guarded(given, lambda so_far: _explore(task, given, so_far))


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@kernel_option
@strategy_option
@limit_options
@python_option
@sandbox_options
@trust_option
@model_options
@index_options
@json_option
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def resume(file: Path, **given: Any) -> int:
    """Go on with the exploration in FILE from its last finished step.

    Finished steps are run again in a fresh scratch kernel, without asking the model about them.
    """
    return _guarded(given, lambda so_far: _resume(file, given, so_far))


# Given an empty dictionary, it puts there what an error leaves of the result's JSON.
_Work = Callable[[dict[str, Any]], int]


def _guarded(given: dict[str, Any], work: _Work) -> int:
    """With --json an error is an object too, on standard output, with what was done before it."""
    so_far: dict[str, Any] = {"verified": {"ran": False, "checks": "none"}, "solution": None}
    if not given["as_json"]:
        return work(so_far)
    try:
        return work(so_far)
    except ExploraCoderError as error:
        told = {"status": "failed", "error": str(error), "error_kind": kind_of(error)}
        print_json(so_far | told)
        raise


def _explore(task: str, given: dict[str, Any], so_far: dict[str, Any]) -> int:
    from exploracoder import prepare, tasks

    text = sys.stdin.read() if task == "-" else task
    made = tasks.make_task(
        text,
        libraries=[prepare.absolute_target(target) for target in given["libraries"]],
        context=_code(given["context"], "--context"),
        check=_code(given["check"], "--check"),
        entry_point=given["entry_point"],
        target=tasks.make_target(given["repository"], given["file"]),
    )
    assigned = dict(prepare.setting_of(one) for one in given["assignments"])
    exploration = prepare.make_exploration(
        made,
        profile=given["profile"],
        settings=assigned | _own_options(given),
        is_embedded=prepare.wants_embedded(given["model"], given["base_url"]),
        method=given["method"],
        seed=given["seed"],
    )
    if (given["kernel"] is None) != (not given["bring"]):
        raise InputError("--kernel and --bring go together: from where, and which variables.")
    output = _output(given["output"])
    return _work(exploration, output, given, so_far)


def _resume(file: Path, given: dict[str, Any], so_far: dict[str, Any]) -> int:
    from exploracoder import document, prepare
    from exploracoder.cli import report
    from exploracoder.cli.trust import check_trust
    from exploracoder.models.usage import Usage

    exploration = document.load(file)
    check_trust(exploration, file, given)
    if exploration.status in ("solved", "unverified"):
        click.echo(f"{file} is finished: {exploration.status}. Nothing is left to do.", err=True)
        return _tell(exploration, file, report.as_json(exploration, file, Usage()), given)
    limits = {name: given[name] for name in ("max_seconds", "max_tokens")}
    exploration = prepare.going_on(exploration, **limits)
    given["python"] = given["python"] or prepare.interpreter_then(exploration)
    return _work(exploration, file, given, so_far)


def _work(
    exploration: Exploration, output: Path, given: dict[str, Any], so_far: dict[str, Any]
) -> int:
    from exploracoder import confined, prepare, session
    from exploracoder.cli import report

    session.check_writable(output)
    interpreter = confined.find_interpreter(
        _python(given), import_compiled=given["import_compiled"]
    )
    source = _source(given, exploration.brought)
    if exploration.task.target is not None:
        given["readable"] = (*given["readable"], Path(exploration.task.target.root))
    place = _place(str(interpreter.executable), output, given, source)
    spent_before = exploration.usage
    replies = _replies(given["replies"])

    def told(worked: Exploration) -> dict[str, Any]:
        cached = {"replies_from_cache": replies.hits} if replies is not None else {}
        return report.as_json(worked, output, worked.usage.minus(spent_before)) | cached

    with ExitStack() as stack:
        progress = stack.enter_context(Progress(quiet=given["quiet"]))
        index = stack.enter_context(
            prepare.open_index(
                chroma_url=given["chroma_url"],
                embeddings_url=given["embeddings_url"],
                embeddings_model=given["embeddings_model"],
            )
        )
        exploration = prepare.with_libraries(
            exploration, index, interpreter, progress=progress.working
        )

        async def work() -> Exploration:
            progress.working("Starting the model")
            async with prepare.open_model(
                given["model"],
                given["base_url"],
                cache=given["cache"],
                replies=replies,
                lora=given["lora"],
                reasoning_effort=given["reasoning_effort"],
            ) as model:
                progress.working("Starting the scratch kernel")
                opened = session.Session(
                    exploration,
                    model=model,
                    index=index,
                    place=place,
                    listener=progress.happened,
                )
                async with opened:
                    try:
                        return await opened.run()
                    except ExploraCoderError:
                        so_far.update(told(opened.exploration))
                        raise

        try:
            done = run_async(work())
        except KeyboardInterrupt:
            if not output.exists():
                raise
            from exploracoder import document

            done = document.load(output)
            click.echo(
                f"Interrupted. Everything so far is in {output};"
                f" go on with: exploracoder resume {output}",
                err=True,
            )
    return _tell(done, output, told(done), given)


def _tell(
    exploration: Exploration, output: Path, as_json: dict[str, Any], given: dict[str, Any]
) -> int:
    """Print how it stands, for programs or for people; the exit code that says the same."""
    from exploracoder.cli import report

    if given["as_json"]:
        print_json(as_json)
    else:
        say(report.in_words(exploration, output))
    return report.EXIT_CODES[exploration.status]


def _replies(folder: Path | None) -> ReplyCache | None:
    from exploracoder.models.cache import ReplyCache

    return ReplyCache(folder, is_free=False) if folder is not None else None


def _python(given: dict[str, Any]) -> str | None:
    """The interpreter that was named, or that of the kernel whose variables come along."""
    if given["python"] is not None or given["kernel"] is None:
        named: str | None = given["python"]
        return named
    from exploracoder.bringing import interpreter_of

    return run_async(interpreter_of(given["kernel"]))


def _source(given: dict[str, Any], before: Brought) -> Source | None:
    from exploracoder.bringing import Source, check_source, parse_names

    kernel = given["kernel"]
    source = None if kernel is None else Source(kernel, parse_names(given.get("bring") or ()))
    check_source(source, before)
    return source


def _place(python: str, output: Path, given: dict[str, Any], source: Source | None) -> Place:
    from exploracoder.cli.sandbox import find_sandbox
    from exploracoder.session import Place

    folder = Path.cwd()
    sandboxing = find_sandbox(
        given["sandbox"], python=python, folder=folder, readable=given["readable"]
    )
    return Place(
        python=python,
        folder=folder,
        output=output,
        strategy=given["strategy"],
        sandboxing=sandboxing,
        source=source,
    )


def _code(path: Path | None, option: str) -> str:
    from exploracoder.prepare import read_code

    return read_code(path, option) if path is not None else ""


def _output(path: Path | None) -> Path:
    """Where to save; says so when a file that was there had to make room."""
    from exploracoder.prepare import aside_of, free_output

    aside = aside_of(path) if path is not None else None
    output = free_output(path)
    if aside is not None and aside.exists():
        click.echo(f"{path} was there; it is now {aside.name}.", err=True)
    return output


def _own_options(given: dict[str, Any]) -> dict[str, Any]:
    """The settings that have an option of their own, which goes before ``--set``."""
    named = ("candidates", "self_debug", "max_seconds", "max_tokens")
    return {name: given[name] for name in named if given[name] is not None}
