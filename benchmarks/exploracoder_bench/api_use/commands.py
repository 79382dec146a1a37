"""Problems on libraries that no model can know, judged by data flow.

  generate  writes a benchmark, or random problems on any libraries, as JSON
  judge     says which candidates of a file are right, and where the data flow of the others differs
  run       asks a model the problems, directly or by exploration, and judges what it writes
  report    redraws the paper's figures 7 and 8 and its table 2 from results
  check     judges thousands of programs that are known to be right or wrong

Candidates run in the scratch kernel's sandbox, each in a process of its own; there is no library
behind the names, so nothing but the flow of data is looked at. See docs/api-use.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from exploracoder.errors import ExploraCoderError

if TYPE_CHECKING:
    from exploracoder_bench.api_use.libraries import Shelf
    from exploracoder_bench.api_use.problems import Problem

NAMES = ("compositionality", "distractor", "semantics", "arguments")


def main(argv: Sequence[str] | None = None) -> int:
    """Do one command. 0: done; 1: the judge did not agree; 2: bad input or set-up; 130: Ctrl-C."""
    given = _parser().parse_args(argv)
    try:
        return int(given.command(given))
    except ExploraCoderError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"Error: {error}. Check the path, or give another.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped. What was written stays; the same command goes on.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="api-use", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_generate(commands)
    _add_judge(commands)
    _add_run(commands)
    _add_report(commands)
    _add_check(commands)
    return parser


def _add_generate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
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
    parser.set_defaults(command=_generate)


def _add_judge(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
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
    parser.set_defaults(command=_judge)


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("run", help="ask a model and judge its answers")
    parser.add_argument(
        "problems", help=f"a file of problems, or one of {', '.join(NAMES)}", metavar="PROBLEMS"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.jsonl")
    _add_libraries(parser)
    parser.add_argument(
        "--method",
        choices=("direct", "exploracoder", "docprompting"),
        default="direct",
        help="default: %(default)s; the others work on packages that only record calls",
    )
    parser.add_argument("--model", help="as in 'exploracoder explore'")
    parser.add_argument("--base-url", help="an OpenAI-compatible endpoint")
    parser.add_argument("--samples", type=int, default=1, help="a problem; default: %(default)s")
    parser.add_argument("--temperature", type=float, default=0.5, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--limit", type=int, metavar="N", help="only N problems, evenly spread")
    parser.add_argument("--max-seconds", type=float, default=600.0, help="of one exploration")
    parser.add_argument("--format", choices=("python", "plain"), default="python", help="of docs")
    _add_judging(parser)
    parser.set_defaults(command=_run)


def _add_report(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("report", help="figures 7 and 8 and table 2 from results")
    parser.add_argument("results", type=Path, nargs="+", metavar="FILE.jsonl")
    parser.add_argument("--out", type=Path, metavar="DIR", help="for report.md and the figures")
    parser.set_defaults(command=_report)


def _add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
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
    parser.set_defaults(command=_check)


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


def _generate(given: argparse.Namespace) -> int:
    from exploracoder_bench.api_use.benchmarks import sampled
    from exploracoder_bench.api_use.problems import prepare

    shelf = _shelf(given.libraries)
    if given.benchmark == "sampled":
        _at_least_one(count=given.count, depth=given.depth)
        problems = sampled(
            shelf, given.count, depth=given.depth, distractors=given.distractors, seed=given.seed
        )
    else:
        problems = _benchmark(given.benchmark)
    # All of them, so that a problem that cannot be is found here and not in the midst of a run.
    prepared = [prepare(one, shelf) for one in problems]
    _write(given.out, [one.model_dump(mode="json", exclude_defaults=True) for one in problems])
    if given.prompts:
        print("\n\n---\n\n".join(one.prompt for one in prepared))
    print(f"{len(problems)} problems are in {given.out}.", file=sys.stderr)
    return 0


def _judge(given: argparse.Namespace) -> int:
    from exploracoder_bench.api_use.cases import read_cases

    cases = read_cases(given.cases)

    async def judge_all() -> int:
        from exploracoder_bench.api_use.judging import open_judge

        async with open_judge(sandbox=given.sandbox, seconds=given.seconds) as judge:
            for case in cases:
                verdict = await case.judge(judge, is_strict=given.strict)
                said = {"id": case.id, "correct": verdict.correct, "why": verdict.why}
                if given.json:
                    print(json.dumps(said), flush=True)
                else:
                    print(f"{case.id}: {'right' if verdict.correct else 'wrong'}: {verdict.why}")
                    print("" if verdict.correct else verdict.text + "\n", flush=True)
                if given.pictures and verdict.svg and not verdict.correct:
                    _picture(given.pictures, case.id, verdict.svg)
        return 0

    return _run_to_end(judge_all)


def _run(given: argparse.Namespace) -> int:
    from exploracoder_bench.api_use.report import report
    from exploracoder_bench.api_use.running import Result

    _at_least_one(samples=given.samples, limit=given.limit or 1)
    shelf, problems = _shelf(given.libraries), _spread(_benchmark(given.problems), given.limit)
    found: list[Result] = []

    async def ask_all() -> int:
        from exploracoder.prepare import open_model

        from exploracoder_bench.api_use.answers import Asking
        from exploracoder_bench.api_use.judging import open_judge
        from exploracoder_bench.api_use.running import run
        from exploracoder_bench.api_use.wording import FORMATTINGS

        asking = Asking(
            given.method, given.temperature, given.seed, given.max_seconds,
            given.out.absolute().parent / f"{given.out.stem}-explorations",
        )  # fmt: skip
        async with (
            open_judge(sandbox=given.sandbox, seconds=given.seconds) as judge,
            open_model(given.model, given.base_url) as model,
        ):
            found.extend(
                await run(
                    problems, shelf, model, judge, asking,
                    samples=given.samples, out=given.out,
                    formatting=FORMATTINGS[given.format], tell=_tell,
                )
            )  # fmt: skip
        return 0

    code = _run_to_end(ask_all)
    print(report(found))
    return code


def _report(given: argparse.Namespace) -> int:
    from exploracoder.errors import InputError

    from exploracoder_bench.api_use.report import report, write_report
    from exploracoder_bench.api_use.running import read_results

    missing = [str(file) for file in given.results if not file.exists()]
    if missing:
        raise InputError(f"There is no {missing[0]}. 'run' writes it.")
    results = [result for file in given.results for result in read_results(file)]
    print(report(results))
    if given.out:
        write_report(results, given.out)
    return 0


def _check(given: argparse.Namespace) -> int:
    from exploracoder_bench.api_use import mutation_check as checking
    from exploracoder_bench.tables import markdown

    _at_least_one(problems=given.problems)
    source = {
        "provided": checking.provided_problems, "hypothesis": checking.hypothesis_problems,
    }[given.source]  # fmt: skip
    # Before the loop runs: hypothesis brings a loop of its own to an end.
    problems = list(source(given.problems, given.seed))

    async def judge_all() -> int:
        from exploracoder_bench.api_use.judging import open_judge

        async with open_judge(sandbox=given.sandbox, seconds=given.seconds) as judge:
            tally = await checking.check(
                judge, iter(problems), wrong=given.mutations, alike=given.alike,
                is_apart=given.apart, tell=_tell,
            )  # fmt: skip
        if given.json:
            print(json.dumps({"problems": tally.problems, "judged": dict(tally.judged),
                              "faults": tally.faults}))  # fmt: skip
        else:
            print(markdown(("programs", "judged", "judged falsely"), tally.lines()))
            print(f"\n{tally.problems} problems, {len(tally.faults)} faults")
            print("\n".join(json.dumps(one) for one in tally.faults[:5]))
        return 1 if tally.faults else 0

    return _run_to_end(judge_all)


def _run_to_end(work: Callable[[], Awaitable[int]]) -> int:
    async def whole() -> int:
        return await work()

    return asyncio.run(whole())


def _shelf(file: Path | None) -> Shelf:
    from exploracoder_bench.api_use.library_files import provided, read

    return provided() if file is None else read(file)


def _benchmark(name: str) -> list[Problem]:
    from exploracoder_bench.api_use.benchmarks import BENCHMARKS, read_problems

    return list(BENCHMARKS[name]()) if name in BENCHMARKS else read_problems(Path(name))


def _spread(problems: list[Problem], limit: int | None) -> list[Problem]:
    """``limit`` of them, from the whole range: a benchmark's first ones are its easiest."""
    if limit is None or limit >= len(problems):
        return problems
    return [problems[at * len(problems) // limit] for at in range(limit)]


def _at_least_one(**numbers: int) -> None:
    from exploracoder.errors import InputError

    for name, number in numbers.items():
        if number < 1:
            raise InputError(f"--{name} is at least 1, not {number}.")


def _picture(folder: Path, id: str, svg: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # An id comes from a file: it may be no path.
    name = "".join(one if one.isalnum() or one in "-_." else "_" for one in id).lstrip(".")
    (folder / f"{name or 'case'}.svg").write_text(svg, encoding="utf-8")


def _write(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def _tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
