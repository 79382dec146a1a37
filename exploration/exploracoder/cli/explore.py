"""``exploracoder explore`` and ``exploracoder resume``."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from exploracoder_retrieval.web_access import without_credentials

from exploracoder.cli.console import (
    Progress,
    errors_as_json,
    print_result,
    read_standard_input,
    run_async,
    say,
)
from exploracoder.cli.options import (
    file_argument,
    index_options,
    json_option,
    kernel_option,
    library_option,
    limit_options,
    list_methods,
    list_settings,
    method_option,
    model_options,
    options_of,
    path_option,
    profile_option,
    python_option,
    quiet_option,
    sandbox_options,
    set_option,
    strategy_option,
    trust_option,
)
from exploracoder.errors import ExploraCoderError, InputError
from exploracoder.state import Exploration

if TYPE_CHECKING:
    from exploracoder.workspace import Options

# The result before anything has run.
_NOTHING = {"verified": {"ran": False, "checks": "none"}, "solution": None}


@click.command()
@click.argument("task")
@library_option("A library to use: an installed one by name, or a folder or .py file.")
@path_option(
    "--context",
    help="Code (.py or .ipynb) that runs first: data, helpers, an example of the input.",
)
@path_option("--check", help="Code (.py) that runs after the solution and raises when it is wrong.")
@click.option(
    "--entry-point", metavar="NAME", help="The function, or class, that the solution must define."
)
@path_option(
    "--output",
    "-o",
    help="The notebook to write. Default: exploration.ipynb here, numbered if there is one.",
)
@profile_option
@method_option
@list_methods
@path_option(
    "--repository",
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
@list_settings
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
@quiet_option
def explore(task: str, **arguments: Any) -> int:
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
    with errors_as_json(arguments["as_json"], _NOTHING) as so_far:
        return _explore(task, arguments, so_far)


@click.command()
@file_argument
@kernel_option
@strategy_option
@limit_options
@python_option
@sandbox_options
@trust_option
@model_options
@index_options
@json_option
@quiet_option
def resume(file: Path, **arguments: Any) -> int:
    """Go on with the exploration in FILE from its last finished step.

    Finished steps are run again in a fresh scratch kernel, without asking the model about them.

    Neither the model's address nor a limit is taken from FILE: give both again. A limit counts from
    the exploration's beginning. The Python is the one that the exploration ran in, if it is still
    there.
    """
    with errors_as_json(arguments["as_json"], _NOTHING) as so_far:
        return _resume(file, arguments, so_far)


def _explore(task: str, arguments: dict[str, Any], so_far: dict[str, Any]) -> int:
    from exploracoder import api, prepare, tasks

    if (arguments["kernel"] is None) != (not arguments["bring"]):
        raise InputError("--kernel and --bring go together: from where, and which variables.")
    assignments = dict[str, Any](prepare.setting_of(one) for one in arguments["assignments"])
    # Settings with an option of their own, which takes precedence over ``--set``.
    names = ("candidates", "self_debug", "max_seconds", "max_tokens")
    own = {name: arguments[name] for name in names if arguments[name] is not None}
    options = options_of(arguments, settings=assignments | own)
    exploration = api.new_exploration(
        read_standard_input() if task == "-" else task,
        libraries=arguments["libraries"],
        context=_code(arguments["context"], "--context"),
        check=_code(arguments["check"], "--check"),
        entry_point=arguments["entry_point"],
        target=tasks.make_target(arguments["repository"], arguments["file"]),
        model=arguments["model"],
        options=options,
    )
    if arguments["profile"] is None and not arguments["quiet"]:
        _say_what_suits(arguments)
    with prepare.new_output(arguments["output"]) as output:
        _tell_of_file(output)
        return _work(exploration, output, options, arguments, so_far, is_new=True)


def _say_what_suits(arguments: dict[str, Any]) -> None:
    """Tell the user if what is known of the model changes the default settings."""
    from exploracoder import prepare
    from exploracoder.suitable_profile import profile_for

    fit = prepare.fit_of(arguments["model"], arguments["base_url"], arguments["reasoning_effort"])
    is_embedded = prepare.wants_embedded(arguments["model"], arguments["base_url"])
    usual = profile_for(is_embedded=is_embedded)
    if (fit.profile, fit.settings) != (usual.profile, usual.settings):
        click.echo(fit.in_words, err=True)


def _resume(file: Path, arguments: dict[str, Any], so_far: dict[str, Any]) -> int:
    from exploracoder import document, prepare
    from exploracoder.cli import report
    from exploracoder.cli.questions import check_trust
    from exploracoder.models.model_cost import Usage

    exploration = document.load(file)
    # Don't open the reply cache for an exploration that may not run.
    check_trust(exploration, file, options_of(arguments | {"replies": None, "replies_only": False}))
    # If something stopped it, more may come of going on.
    is_at_its_end = exploration.status == "unverified" and not exploration.reason
    if exploration.status == "solved" or is_at_its_end:
        click.echo(f"{file} is finished: {exploration.status}. Nothing is left to do.", err=True)
        return _tell(exploration, file, report.as_json(exploration, file, Usage()), arguments)
    limits = {name: arguments[name] for name in ("max_seconds", "max_tokens")}
    exploration = prepare.going_on(exploration, **limits)
    arguments["python"] = arguments["python"] or prepare.interpreter_then(exploration)
    return _work(exploration, file, options_of(arguments), arguments, so_far, is_new=False)


def _work(
    exploration: Exploration,
    output: Path,
    options: Options,
    arguments: dict[str, Any],
    so_far: dict[str, Any],
    *,
    is_new: bool,
) -> int:
    from exploracoder import document, prepare
    from exploracoder.cli import report
    from exploracoder.session import Session
    from exploracoder.user_variables import find_source, interpreter_of
    from exploracoder.workspace import Workspace, open_workspace

    if options.python is None and arguments["kernel"] is not None:
        options = replace(options, python=run_async(interpreter_of(arguments["kernel"])))
    source = find_source(arguments["kernel"], arguments.get("bring") or ())
    spent_before = exploration.usage

    def as_json(state: Exploration) -> dict[str, Any]:
        hits = {"replies_from_cache": options.replies.hits} if options.replies is not None else {}
        return report.as_json(state, output, state.usage.minus(spent_before)) | hits

    async def work(space: Workspace, progress: Progress) -> Exploration:
        progress.working("Starting the model")
        async with options.open_model(arguments["model"]) as model:
            progress.working("Starting the scratch kernel")
            manager = space.session(
                Session, model, listener=progress.happened, on_wait=progress.working
            )
            async with manager as session:
                try:
                    return await session.run()
                except ExploraCoderError:
                    so_far.update(as_json(session.exploration))
                    raise

    with (
        Progress(quiet=arguments["quiet"]) as progress,
        open_workspace(
            exploration, output, options, is_new=is_new, source=source, tell=progress.working
        ) as space,
    ):
        try:
            result = run_async(work(space, progress))
        except KeyboardInterrupt:
            if space.is_new or not prepare.has_content(output):
                raise
            result = document.load(output)
            say(
                f"Interrupted. Everything so far is in {output};"
                f" go on with: {_resuming(output, arguments)}",
                err=True,
            )
            _tell(result, output, as_json(result), arguments)
            return 0 if result.status == "solved" else report.EXIT_CODES["cancelled"]
    return _tell(result, output, as_json(result), arguments)


def _resuming(output: Path, arguments: dict[str, Any]) -> str:
    """The command that goes on with the same model, limits, kernel and sandbox."""
    words = ["exploracoder", "resume", str(output)]
    for name in (
        *("model", "base_url", "reasoning_effort", "lora"),
        *("max_seconds", "max_tokens", "kernel"),
    ):
        value = arguments[name]
        if value is not None:
            shown = without_credentials(value) if name == "base_url" else f"{value}"
            words += [f"--{name.replace('_', '-')}", shown]
    for path in arguments["readable"]:
        words += ["--readable", str(path)]
    if arguments["sandbox"] != "auto":
        words += ["--sandbox", arguments["sandbox"]]
    return shlex.join(words)


def _tell(
    exploration: Exploration, output: Path, as_json: dict[str, Any], arguments: dict[str, Any]
) -> int:
    """Print the outcome, for programs or for people, and return the matching exit code."""
    from exploracoder.cli import report

    print_result(as_json, report.in_words(exploration, output), as_json=arguments["as_json"])
    return report.EXIT_CODES[exploration.status]


def _code(path: Path | None, option: str) -> str:
    from exploracoder.prepare import read_code

    return read_code(path, option) if path is not None else ""


def _tell_of_file(output: Path) -> None:
    """Tell the user if there is a file that will be moved aside."""
    from exploracoder.folders import aside_of
    from exploracoder.prepare import has_content

    if has_content(output):
        name = aside_of(output).name
        click.echo(f"{output} is there already; at the first save it becomes {name}.", err=True)
