"""Problems on libraries that no model can know, judged by data flow.

  generate  writes a benchmark, or random problems on any libraries, as JSON
  judge     says which candidates of a file are right, and where the data flow of the others differs
  run       asks a model the problems, directly or by exploration, and judges what it writes
  report    redraws the paper's figures 7 and 8 and its table 2 from results
  packages  writes libraries as packages that only record, for 'exploracoder explore'
  check     judges thousands of programs that are known to be right or wrong

Candidates run in the scratch kernel's sandbox, each in a process of its own; there is no library
behind the names, so nothing but the flow of data is looked at. See docs/api-use.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

PROVIDED = ("solids", "image", "chem", "music")
NAMES = ("compositionality", "distractor", "semantics", "arguments")


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="api-use", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, dest="command", metavar="COMMAND")
    _add_generate(commands)
    _add_judge(commands)
    _add_run(commands)
    _add_report(commands)
    _add_packages(commands)
    _add_check(commands)
    return parser


def _add_generate(commands: Commands) -> None:
    parser = commands.add_parser("generate", help="write problems as JSON")
    parser.add_argument(
        "benchmark", choices=[*NAMES, "sampled"], help="'sampled': random compositions"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    _add_libraries(parser)
    parser.add_argument("--count", type=int, default=100, help="of sampled ones; %(default)s")
    parser.add_argument("--depth", type=int, default=3, help="of sampled ones; %(default)s")
    parser.add_argument("--distractors", type=int, default=5, help="of sampled ones; %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="of sampled ones; %(default)s")
    parser.add_argument("--prompts", action="store_true", help="print what a model would read, too")


def _add_judge(commands: Commands) -> None:
    parser = commands.add_parser("judge", help="judge the candidates of a file")
    parser.add_argument(
        "--cases",
        type=Path,
        required=True,
        metavar="FILE.jsonl",
        help="a line each: id, libraries, func_name, params, candidate, and reference or signature",
    )
    parser.add_argument("--json", action="store_true", help="a JSON object a line")
    parser.add_argument("--strict", action="store_true", help="calls that are not used are wrong")
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="an SVG for each wrong one")
    _add_judging(parser)


def _add_run(commands: Commands) -> None:
    parser = commands.add_parser("run", help="ask a model and judge its answers")
    parser.add_argument(
        "problems", help=f"a file of problems, or one of {', '.join(NAMES)}", metavar="PROBLEMS"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.jsonl")
    _add_libraries(parser)
    parser.add_argument(
        "--method",
        choices=("direct", "exploration", "docprompting"),
        default="direct",
        help="default: %(default)s; the others work on packages that only record calls",
    )
    parser.add_argument("--model", help="as in 'exploracoder explore'")
    parser.add_argument("--base-url", help="an OpenAI-compatible endpoint")
    parser.add_argument(
        "--profile", choices=("standard", "paper", "small"), help="of explorations; as in 'explore'"
    )
    parser.add_argument("--samples", type=int, default=1, help="a problem; default: %(default)s")
    parser.add_argument(
        "--temperature",
        type=float,
        default=0.5,
        help="of answers, or of an exploration's drafts and solutions; default: %(default)s",
    )
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--limit", type=int, metavar="N", help="only N problems, evenly spread")
    parser.add_argument("--max-seconds", type=float, default=600.0, help="of one exploration")
    parser.add_argument("--format", choices=("python", "plain"), default="python", help="of docs")
    _add_judging(parser)


def _add_report(commands: Commands) -> None:
    parser = commands.add_parser("report", help="figures 7 and 8 and table 2 from results")
    parser.add_argument("results", type=Path, nargs="+", metavar="FILE.jsonl")
    parser.add_argument("--out", type=Path, metavar="DIR", help="for report.md and the figures")


def _add_packages(commands: Commands) -> None:
    parser = commands.add_parser(
        "packages", help="write libraries as packages, for tasks of your own"
    )
    parser.add_argument(
        "libraries",
        metavar="LIBRARIES",
        help=f"a JSON file of libraries, or one of {', '.join(PROVIDED)}",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")


def _add_check(commands: Commands) -> None:
    parser = commands.add_parser("check", help="judge programs known to be right or wrong")
    parser.add_argument("--problems", type=int, default=2000, help="default: %(default)s")
    parser.add_argument("--mutations", type=int, default=20, help="of each; default: %(default)s")
    parser.add_argument("--alike", type=int, default=2, help="right ones besides the reference")
    parser.add_argument(
        "--source",
        choices=("provided", "hypothesis"),
        default="provided",
        help="whose libraries: ours, or ones that hypothesis makes up; default: %(default)s",
    )
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument(
        "--apart", action="store_true", help="a process for each program; else fifty share one"
    )
    parser.add_argument("--json", action="store_true", help="the figures and faults as JSON")
    _add_judging(parser)


def _add_libraries(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--libraries", type=Path, metavar="FILE", help="JSON; default: those that are provided"
    )


def _add_judging(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sandbox",
        choices=("auto", "strict", "network", "off"),
        default="auto",
        help="what candidates are kept from; default: %(default)s",
    )
    parser.add_argument("--seconds", type=float, default=5.0, help="for each candidate's program")
