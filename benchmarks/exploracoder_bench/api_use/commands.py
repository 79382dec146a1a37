"""What the commands of api_use do; ``options`` says what they take."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from exploracoder.errors import ExploraCoderError, InputError

from exploracoder_bench.api_use.options import PROVIDED, make_parser

if TYPE_CHECKING:
    from exploracoder_bench.api_use.libraries import Shelf
    from exploracoder_bench.api_use.problems import Problem


def main(argv: Sequence[str] | None = None) -> int:
    """Do one command. 0: done; 1: the judge did not agree; 2: bad input or set-up; 130: Ctrl-C."""
    given = make_parser().parse_args(argv)
    try:
        return _COMMANDS[given.command](given)
    except ExploraCoderError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"Error: {error}. Check the path, or give another.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped. What was written stays; the same command goes on.", file=sys.stderr)
        return 130


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
    if not 0 <= given.temperature <= 2:
        raise InputError(f"--temperature is from 0 to 2, not {given.temperature:g}.")
    shelf, problems = _shelf(given.libraries), _spread(_benchmark(given.problems), given.limit)
    found: list[Result] = []

    async def ask_all() -> int:
        from exploracoder.prepare import open_model, wants_embedded
        from exploracoder.profiles import profile_for

        from exploracoder_bench.api_use.answers import Asking
        from exploracoder_bench.api_use.judging import open_judge
        from exploracoder_bench.api_use.running import run

        is_embedded = wants_embedded(given.model, given.base_url)
        asking = Asking(
            given.method, given.temperature, given.seed, given.max_seconds,
            given.out.absolute().parent / f"{given.out.stem}-explorations", given.format,
            given.profile or profile_for(is_embedded=is_embedded).profile,
        )  # fmt: skip
        async with (
            open_judge(sandbox=given.sandbox, seconds=given.seconds) as judge,
            open_model(given.model, given.base_url) as model,
        ):
            found.extend(
                await run(
                    problems, shelf, model, judge, asking,
                    samples=given.samples, out=given.out, tell=_tell,
                )
            )  # fmt: skip
        return 0

    code = _run_to_end(ask_all)
    print(report(found))
    return code


def _report(given: argparse.Namespace) -> int:
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


def _packages(given: argparse.Namespace) -> int:
    from exploracoder_bench.api_use.library_files import provided, read
    from exploracoder_bench.api_use.packages import write_new_packages

    name = given.libraries
    shelf = provided(name) if name in PROVIDED else read(Path(name))
    for package in write_new_packages(shelf, given.out):
        print(package)
    folder = given.out.absolute()
    _tell(f"Now: exploracoder explore TASK -l {folder}/LIBRARY --readable {folder}")
    return 0


def _check(given: argparse.Namespace) -> int:
    from exploracoder_bench.api_use import mutation_check as checking
    from exploracoder_bench.markdown import markdown

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


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "generate": _generate,
    "judge": _judge,
    "run": _run,
    "report": _report,
    "packages": _packages,
    "check": _check,
}
