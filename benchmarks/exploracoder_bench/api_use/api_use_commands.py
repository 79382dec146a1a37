"""``exploracoder bench api-use``: problems on libraries that exist nowhere, and their judge."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import click
from exploracoder.errors import InputError, raised_as

_NAMES = ("compositionality", "distractor", "semantics", "arguments")
_LIBRARIES = click.option(
    "--libraries",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="JSON. Default: those that come with ExploraCoder.",
)
_PATH = click.Path(path_type=Path)
_ONE_AT_LEAST = click.IntRange(min=1)


@click.group("api-use")
def api_use() -> None:
    """Problems on libraries that no model can know, judged by data flow: see docs/api-use.md.

    \b
      exploracoder bench run --problems api-use=distractor --checks hidden --method direct --out DIR
    """


@api_use.command()
@click.argument("benchmark", type=click.Choice([*_NAMES, "sampled"]))
@click.option("--out", type=_PATH, required=True, metavar="FILE", help="Where they are written.")
@_LIBRARIES
@click.option("--count", type=_ONE_AT_LEAST, default=100, show_default=True, help="Of sampled.")
@click.option("--depth", type=_ONE_AT_LEAST, default=3, show_default=True, help="Of sampled.")
@click.option("--distractors", default=5, show_default=True, help="Of sampled.")
@click.option("--seed", default=0, show_default=True, help="Of sampled.")
def generate(
    benchmark: str,
    out: Path,
    libraries: Path | None,
    count: int,
    depth: int,
    distractors: int,
    seed: int,
) -> int:
    """Write a benchmark, or random problems on any libraries, for '--problems api-use=FILE'."""
    from exploracoder_bench.api_use.benchmarks import BENCHMARKS, problem_file, sampled
    from exploracoder_bench.api_use.composed_problems import prepare
    from exploracoder_bench.api_use.library_files import provided, read

    shelf = read(libraries) if libraries else provided()
    problems = (
        sampled(shelf, count, depth=depth, distractors=distractors, seed=seed)
        if benchmark == "sampled"
        else list(BENCHMARKS[benchmark]())
    )
    # All of them, so that a problem that cannot be is found here and not in the midst of a run.
    for one in problems:
        prepare(one, shelf)
    with raised_as(InputError, OSError, of="--out"):
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(problem_file(problems, shelf), encoding="utf-8")
    click.echo(f"{len(problems)} problems are in {out}.", err=True)
    return 0


@api_use.command()
@click.option(
    "--cases",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE.jsonl",
    help="A line each: id, libraries, func_name, params, candidate, and reference or signature.",
)
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line.")
@click.option("--strict", is_flag=True, help="Calls that are not used are wrong.")
def judge(cases: Path, as_json: bool, strict: bool) -> int:
    """Say which candidates of a file are right, and where the data flow of the others differs."""
    from exploracoder_bench.api_use.cases import read_cases

    all_cases = read_cases(cases)

    async def judge_all() -> None:
        from exploracoder_bench.api_use.judging import open_judge

        async with open_judge() as flow_judge:
            for case in all_cases:
                verdict = await case.judge(flow_judge, is_strict=strict)
                if as_json:
                    row = {"id": case.id, "correct": verdict.correct, "why": verdict.why}
                    click.echo(json.dumps(row))
                else:
                    word = "right" if verdict.correct else "wrong"
                    click.echo(f"{case.id}: {word}: {verdict.why}")

    asyncio.run(judge_all())
    return 0


@api_use.command()
@click.argument("libraries", metavar="LIBRARIES")
@click.option("--out", type=_PATH, required=True, metavar="DIR", help="Where they are written.")
def packages(libraries: str, out: Path) -> int:
    """Write LIBRARIES as packages that only record, for tasks of your own.

    LIBRARIES is a JSON file, or one of solids, image, chem, music.
    """
    from exploracoder_bench.api_use.library_files import PROVIDED, provided, read
    from exploracoder_bench.api_use.packages import write_new_packages

    shelf = provided(libraries) if libraries in PROVIDED else read(Path(libraries))
    with raised_as(InputError, OSError, of="--out"):
        package_folders = write_new_packages(shelf, out)
    for package in package_folders:
        click.echo(str(package))
    folder = out.absolute()
    click.echo(f"Now: exploracoder explore TASK -l {folder}/LIBRARY --readable {folder}", err=True)
    return 0
