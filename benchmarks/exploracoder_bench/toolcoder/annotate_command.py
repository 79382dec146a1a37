"""``exploracoder annotate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from exploracoder.cli.console import Progress, print_json, run_async
from exploracoder.cli.options import json_option, model_options, options_of, python_option
from exploracoder.errors import InputError

if TYPE_CHECKING:
    from exploracoder_bench.datasets.json_lines import GrowingFile
    from exploracoder_bench.toolcoder.annotation import AnnotatedFunction
    from exploracoder_bench.toolcoder.corpus import Function, SkippedFile
    from exploracoder_bench.toolcoder.training_text import Statistics

_SHOWN_SKIPPED = 5
_SHOWN_LIBRARIES = 10


@click.command(short_help="Make training text with API searches in it.")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.jsonl",
    help="The training text. What is in it already is not asked for again.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Ask for at most N functions this time.",
)
@click.option(
    "--max-lines",
    type=click.IntRange(min=3),
    default=40,
    show_default=True,
    help="Pass over longer functions.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all sampling.")
@python_option
@model_options
@json_option
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def annotate(sources: tuple[str, ...], output: Path, **arguments: Any) -> int:
    """Make training text of the functions in SOURCE, with API searches in them, for ToolCoder.

    SOURCE is a folder, a .py file, or an installed library by name. It is read, never imported. The
    model says what would have been searched for; rules put that in and drop what is not good.
    Interrupted, the same command goes on. Without SOURCE it only says what is in FILE.jsonl.

    \b
      exploracoder annotate ./project pandas --output searches.jsonl --limit 200
      exploracoder train searches.jsonl --output adapter
    """
    from exploracoder_bench.toolcoder.training_text import statistics, training_text

    file = training_text(output)
    file.read()
    skipped_files: list[SkippedFile] = []
    is_interrupted = False
    if sources:
        with Progress(quiet=arguments["quiet"]) as progress:
            functions = _functions(sources, arguments, skipped_files)
            try:
                run_async(_work(functions, file, arguments, progress))
            except KeyboardInterrupt:
                is_interrupted = True
    figures = statistics(file.read())
    if arguments["as_json"]:
        rows = [{"file": one.file, "reason": one.reason} for one in skipped_files]
        print_json(figures.model_dump() | {"skipped_files": rows})
    else:
        click.echo(_in_words(figures))
    for one in skipped_files[:_SHOWN_SKIPPED]:
        click.echo(f"Skipped {one.file}: {one.reason}.", err=True)
    if len(skipped_files) > _SHOWN_SKIPPED:
        click.echo(f"… and {len(skipped_files) - _SHOWN_SKIPPED} more files.", err=True)
    if is_interrupted:
        click.echo(f"Interrupted. The same command goes on with {output}.", err=True)
        return 130
    return 0 if figures.kept else 1


def _functions(
    sources: tuple[str, ...], options: dict[str, Any], skipped_files: list[SkippedFile]
) -> list[Function]:
    from exploracoder import confined_interpreter
    from exploracoder_retrieval.errors import RetrievalError
    from exploracoder_retrieval.harvest.target import find_target

    from exploracoder_bench.toolcoder.corpus import Function, read_corpus

    roots = [Path(source).expanduser() for source in sources]
    for number, source in enumerate(sources):
        if not roots[number].exists():
            try:
                interpreter = confined_interpreter.find_interpreter(options["python"])
                roots[number] = find_target(source, interpreter).root
            except RetrievalError as error:
                raise InputError(str(error)) from error
    entries = list(read_corpus(roots, max_lines=options["max_lines"]))
    skipped_files += [one for one in entries if not isinstance(one, Function)]
    functions = [one for one in entries if isinstance(one, Function) and one.uses]
    if not functions:
        raise InputError(
            f"No function in {', '.join(sources)} calls an API that its file imports. Give other"
            " sources, or a higher --max-lines."
        )
    return functions


async def _work(
    functions: list[Function],
    file: GrowingFile[AnnotatedFunction],
    arguments: dict[str, Any],
    progress: Progress,
) -> None:
    from exploracoder_bench.toolcoder.annotation import annotate as annotate_one

    done_ids = {row.id for row in file.read()}
    todo = [one for one in functions if one.id not in done_ids][: arguments["limit"]]
    progress.working(f"{len(functions)} functions, {len(todo)} to ask for")
    async with options_of(arguments).open_model(arguments["model"]) as model:
        for number, function in enumerate(todo, start=1):
            progress.working(f"{number} of {len(todo)}: {function.name}")
            file.append(await annotate_one(model, function, arguments["seed"]))


def _in_words(figures: Statistics) -> str:
    lines = [
        f"{figures.kept} texts of {figures.functions} functions",
        f"searches in a text      {figures.searches_per_text:.1f}",
        f"words before and after  {figures.words_before:.1f}, {figures.words_after:.1f}",
    ]
    shares = list(figures.libraries.items())[:_SHOWN_LIBRARIES]
    if shares:
        words = ", ".join(f"{name} {share:.0%}" for name, share in shares)
        lines.append(f"texts that search for   {words}")
    for title, counts in (
        ("Functions dropped", figures.dropped_functions),
        ("Searches dropped", figures.dropped_searches),
    ):
        lines += [f"{title}:"] if counts else []
        lines += [f"  {count:5}  {reason}" for reason, count in counts.items()]
    return "\n".join(lines)
