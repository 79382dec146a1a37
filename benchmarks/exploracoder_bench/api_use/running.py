"""Asks a model the problems, judges what it writes, and keeps each verdict as a JSON line."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from exploracoder.errors import InputError
from exploracoder.models.chat import ChatModel
from pydantic import BaseModel, ConfigDict, ValidationError

from exploracoder_bench.api_use.answers import Answer, Asking, answers
from exploracoder_bench.api_use.judging import Judge, Question
from exploracoder_bench.api_use.libraries import Shelf
from exploracoder_bench.api_use.problems import Prepared, Problem, prepare
from exploracoder_bench.api_use.verdicts import Verdict
from exploracoder_bench.api_use.wording import FORMATTINGS

Key = tuple[str, str, str, int]


class Result(BaseModel):
    """One answer to one problem, judged."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    problem: str
    benchmark: str
    fewshot_type: str
    factors: dict[str, str | int] = {}
    method: str
    model: str
    settings: dict[str, str | int | float]
    sample: int
    correct: bool
    refused: bool = False
    why: str = ""
    program: str = ""
    seconds: float = 0.0
    completion_tokens: int = 0

    @property
    def key(self) -> Key:
        """What makes it this answer and no other."""
        return (self.problem, self.method, self.model, self.sample)


def read_results(file: Path) -> list[Result]:
    """The results of a file that is there; a last line that was cut off is left out.

    Raises:
        InputError: It holds something else.
    """
    if not file.exists():
        return []
    lines = file.read_text(encoding="utf-8").splitlines()
    results = []
    for at, line in enumerate(lines, 1):
        try:
            results.append(Result.model_validate_json(line))
        except ValidationError as error:
            if at == len(lines):
                break
            raise InputError(f"{file}, line {at} is no result. Give another --out.") from error
    return results


async def run(
    problems: Sequence[Problem],
    shelf: Shelf,
    model: ChatModel,
    judge: Judge,
    asking: Asking,
    *,
    samples: int,
    out: Path,
    tell: Callable[[str], None],
) -> list[Result]:
    """Ask and judge what is not in ``out`` yet; Ctrl-C loses nothing that was judged.

    Raises:
        InputError: A problem or the file of results cannot be used.
        SetupError: The model or a scratch kernel cannot be had.
    """
    results = read_results(out)
    _check_settings(results, model.name, asking, out)
    done = {one.key for one in results}
    _rewrite(out, results)
    for number, problem in enumerate(problems, 1):
        had = [at for at in range(samples) if (problem.id, asking.method, model.name, at) in done]
        tell(f"{number} of {len(problems)}: {problem.id}")
        # Samples are taken in order, so that those that are there are the first ones.
        missing = range(len(had), samples)
        if not missing:
            continue
        prepared = prepare(problem, shelf, formatting=FORMATTINGS[asking.formatting])
        async for answer in answers(prepared, model, asking, missing):
            verdict = await _judged(prepared, answer, judge)
            result = _result(prepared.problem, answer, verdict, asking, model.name)
            results.append(result)
            with out.open("a", encoding="utf-8") as file:
                file.write(result.model_dump_json() + "\n")
    return results


def _check_settings(results: Sequence[Result], model: str, asking: Asking, out: Path) -> None:
    """A table mixes no samples that were asked for otherwise; InputError says which setting."""
    for one in results:
        if (one.method, one.model) != (asking.method, model):
            continue
        for name, value in asking.settings.items():
            if one.settings.get(name) != value:
                raise InputError(
                    f"{out} has results of {asking.method} with {name} {one.settings.get(name)},"
                    f" not {value}. Give the same again, or another --out."
                )


async def _judged(prepared: Prepared, answer: Answer, judge: Judge) -> Verdict:
    if answer.failure:
        return Verdict(False, answer.failure, True)
    name = prepared.problem.func_name
    question = Question(prepared.shelf, answer.program, name, prepared.outer)
    return await judge.judge(question, prepared.expected)


def _result(
    problem: Problem, answer: Answer, verdict: Verdict, asking: Asking, model: str
) -> Result:
    return Result(
        problem=problem.id,
        benchmark=problem.benchmark,
        fewshot_type=problem.fewshot_type,
        factors=problem.factors,
        method=asking.method,
        model=model,
        settings=asking.settings,
        sample=answer.sample,
        correct=verdict.correct,
        refused=verdict.refused,
        why=verdict.why,
        program=answer.program,
        seconds=round(answer.seconds, 3),
        completion_tokens=answer.completion_tokens,
    )


def _rewrite(out: Path, results: Sequence[Result]) -> None:
    """Without the line that was cut off, so that the next one begins on a line of its own."""
    out.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(one.model_dump()) + "\n" for one in results)
    out.write_text(text, encoding="utf-8")
