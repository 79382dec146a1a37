"""``exploracoder bench api-use``: problems on libraries that exist nowhere, and their judge."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from exploracoder.errors import InputError, SetupError, raised_as

_PATH = click.Path(path_type=Path)
_ONE_AT_LEAST = click.IntRange(min=1)


@click.group("api-use")
def api_use() -> None:
    """Problems on libraries that no model can know, judged by data flow: see docs/api-use.md.

    \b
      exploracoder bench run --problems api-use=distractor --checks hidden --method direct --out DIR
    """


@api_use.command()
@click.option("--out", type=_PATH, required=True, metavar="FILE", help="Where they are written.")
@click.option(
    "--libraries",
    type=_PATH,
    metavar="FILE",
    help="JSON. Default: those that come with ExploraCoder.",
)
@click.option("--count", type=_ONE_AT_LEAST, default=100, show_default=True)
@click.option("--depth", type=_ONE_AT_LEAST, default=3, show_default=True)
@click.option("--distractors", type=click.IntRange(0, 1000), default=5, show_default=True)
@click.option("--seed", default=0, show_default=True)
def generate(
    out: Path,
    libraries: Path | None,
    count: int,
    depth: int,
    distractors: int,
    seed: int,
) -> int:
    """Write random problems on any libraries, for '--problems api-use=FILE'."""
    from exploracoder_bench.api_use.benchmarks import problem_file, sampled
    from exploracoder_bench.api_use.composed_problems import prepare
    from exploracoder_bench.api_use.library_files import provided, read

    shelf = read(libraries) if libraries else provided()
    problems = sampled(shelf, count, depth=depth, distractors=distractors, seed=seed)
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
    type=_PATH,
    required=True,
    metavar="FILE.jsonl",
    help="A line each: id, libraries, signature, func_name, params, candidate.",
)
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line.")
def judge(cases: Path, as_json: bool) -> int:
    """Say which candidates of a file are right, and what the others return."""
    from exploracoder_kernel.errors import SidecarError

    from exploracoder_bench.api_use.cases import read_cases
    from exploracoder_bench.judge import assess

    with TemporaryDirectory() as folder, raised_as(SetupError, SidecarError):
        for number, case in enumerate(read_cases(cases)):
            problem = case.problem(Path(folder) / f"libraries-{number}")
            assessment = assess(problem, case.candidate, Path(folder) / "work")
            is_right, why = assessment.has_passed, assessment.reason
            if as_json:
                click.echo(json.dumps({"id": case.id, "correct": is_right, "why": why}))
            else:
                click.echo(f"{case.id}: right" if is_right else f"{case.id}: wrong: {why}")
    return 0
