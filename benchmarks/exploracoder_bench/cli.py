"""The ``exploracoder bench`` commands; their code is imported only when they are called."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click
from exploracoder.errors import SetupError

from exploracoder_bench.api_use.api_use_commands import api_use
from exploracoder_bench.cli_evidence import keep_replies, renamed, table, tables
from exploracoder_bench.cli_options import pool_options, problem_options, split_option
from exploracoder_bench.progress_lines import say

_OUT = click.Path(path_type=Path, file_okay=False)


class _Group(click.Group):
    """Says of a file or folder that cannot be used what is wrong with it."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise SetupError(str(error)) from error


@click.group(cls=_Group)
def bench() -> None:
    """Run methods on benchmarks with any model, and draw the tables.

    \b
      exploracoder bench init mytasks
      exploracoder bench run --problems mytasks --method direct,exploration --samples 3 --out runs
      exploracoder bench report runs

    Exit codes: 0 done, 1 samples are missing, 2 bad input or set-up, 130 interrupted.
    """


@bench.command()
@problem_options
@click.option(
    "--method",
    "methods",
    default="exploration",
    show_default=True,
    metavar="NAME,…",
    help="The methods to compare; 'exploracoder explore --list-methods' names them.",
)
@click.option("--model", metavar="NAME", help="As in 'exploracoder explore'.")
@click.option("--base-url", metavar="URL", help="As in 'exploracoder explore'.")
@click.option(
    "--lora",
    type=click.Path(path_type=Path),
    metavar="FILE.gguf",
    help="As in 'exploracoder explore': an adapter makes another model of the embedded one.",
)
@click.option(
    "--samples",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    metavar="N",
    help="Samples of each problem and method, with the seeds 0 to N-1.",
)
@click.option(
    "--checks",
    type=click.Choice(["shown", "hidden"]),
    default="shown",
    show_default=True,
    help="shown: methods that can use a problem's check are given it, as by a user; hidden: no"
    " method is, and the check is asked once, when the solution is there.",
)
@click.option("--profile", metavar="NAME", help="As in 'exploracoder explore', for all methods.")
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of 'exploracoder explore', for all methods. May be repeated.",
)
@click.option(
    "--ablate",
    multiple=True,
    metavar="NAME,…",
    help="Also exploration without a part of it, in a row of its own: a part's name; all; bare,"
    " without any; only-NAME; each: bare, and only each in turn. May be repeated.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    default=900.0,
    show_default=True,
    metavar="S",
    help="Seconds for one sample.",
)
@click.option(
    "--price",
    metavar="PROMPT,COMPLETION",
    help="Money for a million prompt and completion tokens. Default: your table's, see"
    " 'exploracoder model prices'.",
)
@click.option(
    "--max-money",
    type=click.FloatRange(min=0, min_open=True),
    metavar="AMOUNT",
    help="Stop before the next sample could cost more than is left of this; it is expected to cost"
    " as much as the most expensive one so far. All samples in the folder count, and a higher"
    " amount goes on.",
)
@click.option(
    "--replies",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Replies of a run, as written by 'bench keep-replies': they are the answers, and no model"
    " is asked.",
)
@click.option(
    "--share-replies",
    is_flag=True,
    help="What methods ask alike of a problem, with the same seed, is asked once. All count the"
    " tokens; whoever asks later has no seconds.",
)
@click.option(
    "--solved-others",
    is_flag=True,
    help="With memory: each problem finds the solutions of the others of its library, as if they"
    " had been accepted.",
)
@pool_options
@click.option("--out", type=_OUT, required=True, metavar="DIR", help="Where everything is kept.")
def run(**arguments: Any) -> int:
    """Run methods on problems; go on where an earlier run in the same folder was ended.

    Each problem's known solution is tried first: a problem that cannot be solved here, or whose
    check accepts anything, is excluded and listed. Each sample is kept in results.jsonl, its trace
    as a notebook under work/.
    """
    from exploracoder_bench.bench_commands import run_command

    return run_command(arguments, f"exploracoder {shlex.join(sys.argv[1:])}")


@bench.command()
@problem_options
@pool_options
@click.option(
    "--run-seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    help="Seconds of one run, the setting run-seconds of 'bench run'. Default: 30.",
)
@click.option("--out", type=_OUT, required=True, metavar="DIR", help="A folder to work in.")
def check(**arguments: Any) -> int:
    """Judge problems without any model: known solutions must pass, wrong ones must not."""
    from exploracoder_bench.bench_commands import check_command

    return check_command(arguments)


@bench.command()
@click.argument("folders", nargs=-1, required=True, type=_OUT, metavar="DIR…")
@click.option("--out", type=_OUT, metavar="DIR", help="Where to write. Default: DIR/report.")
@click.option("--price", metavar="PROMPT,COMPLETION", help="Instead of the one at 'bench run'.")
@split_option("Only problems of this split; without it, a report of both splits is refused.")
@click.option(
    "--any-code",
    is_flag=True,
    help="Make tables of runs that different code made, with the code's name; otherwise they are"
    " refused.",
)
def report(
    folders: tuple[Path, ...],
    out: Path | None,
    price: str | None,
    split: str | None,
    any_code: bool,
) -> int:
    """Write the tables of one or more runs: Markdown, samples.csv, pictures, failures as a page.

    Pictures need matplotlib: pip install 'exploracoder[bench]'.
    """
    from exploracoder_bench.bench_commands import parse_price
    from exploracoder_bench.report.writing import write_report

    run_folders = [folder.absolute() for folder in folders]
    target = (out or folders[0] / "report").absolute()
    new_price = parse_price(price) if price else None
    click.echo(write_report(run_folders, target, new_price, say, split=split, any_code=any_code))
    say(f"Written to {target}")
    return 0


@bench.command()
@click.argument("first", metavar="DIR[:METHOD]")
@click.argument("second", metavar="DIR[:METHOD]")
@split_option("As in 'bench report'.")
def compare(first: str, second: str, split: str | None) -> int:
    """Compare two runs, or two methods of one, problem by problem, with an interval.

    \b
      exploracoder bench compare runs-old runs-new
      exploracoder bench compare runs:docprompting runs:exploration
    """
    from exploracoder_bench.report.comparing import comparison

    click.echo(comparison(first, second, split))
    return 0


@bench.command()
@click.argument("folder", type=_OUT)
def init(folder: Path) -> int:
    """Make FOLDER, with one small task to begin your own with."""
    from exploracoder_bench.datasets.own_tasks import init_tasks

    for file in init_tasks(folder):
        click.echo(str(file))
    command = f"exploracoder bench check --problems {folder} --out bench-output"
    say(f"Change it to your own. Then: {command}")
    return 0


@bench.command("class-tasks")
@click.argument("folder", type=_OUT)
@click.option(
    "--classes",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="The list of classes, as JSON. Default: the one that comes with ExploraCoder.",
)
@click.option(
    "--repositories",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="FILE is RepoClassBench's (python_data.json), and its repositories are folders here.",
)
@click.option(
    "--select", metavar="NAME,…", help="Classes of the list, by their names. Default: all."
)
@click.option(
    "--python", metavar="EXE", help="For classes that require no pins. Default: this one."
)
def class_tasks(**arguments: Any) -> int:
    """Make tasks in FOLDER: small packages, each without one class, whose own tests are the check.

    A package's source distribution is fetched with pip, held to its SHA-256, and never installed;
    pip asks it how it is built, so name only packages that you would install. One class is taken
    out, and those of its tests are kept that pass with the class and fail without it, in a sandbox.
    A class that no test tells of is refused. Tasks that are in FOLDER already stay as they are.

    \b
      exploracoder bench class-tasks classes
      exploracoder bench check --problems classes --out bench-output/check
      exploracoder bench run --problems classes --method naive-rag,rrr --out bench-output/classes

    Exit codes: 0 done, 1 classes were refused, 2 bad input or set-up, 130 interrupted.
    """
    from exploracoder_bench.bench_commands import class_tasks_command

    return class_tasks_command(arguments)


@bench.command()
@click.argument("name")
@click.option("--url", metavar="URL", help="Another place that has the file.")
def fetch(name: str, url: str | None) -> int:
    """Fetch the published data set NAME into the cache folder, once."""
    from exploracoder_bench.datasets import fetching

    click.echo(str(fetching.fetch(fetching.find_published(name), url)))
    return 0


@bench.command("private-libraries")
@click.argument("folder", type=_OUT)
@click.option(
    "--python",
    metavar="EXE",
    help="Has pandas 1.5 and numpy 1.23. Default: an environment that is made of their pins.",
)
@click.option(
    "--mapping",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    required=True,
    metavar="FILE",
    help='The published renaming, as JSON: {"monkey": {OLD: NEW}, "beatnum": {OLD: NEW}}.',
)
def private_libraries(folder: Path, python: str | None, mapping: Path) -> int:
    """Make Monkey and BeatNum in FOLDER out of an installed pandas and numpy."""
    from exploracoder_bench.datasets.private_libraries import make_libraries, read_mapping
    from exploracoder_bench.datasets.published import PANDAS
    from exploracoder_bench.environments import environment_of

    renaming = read_mapping(mapping)
    python = python or environment_of(PANDAS, say)
    for library_folder in make_libraries(folder.absolute(), renaming, python):
        click.echo(str(library_folder))
    return 0


for _command in (api_use, keep_replies, renamed, table, tables):
    bench.add_command(_command)
