"""A class written into a repository: a first guess, a reflection on what failed, a better guess.

Source: RepoClassBench, section 4.1 and algorithm 1; the prompts' contents are those of tables 18,
20 and 21, in our words and without their worked example.
"""

from __future__ import annotations

from collections.abc import Sequence

from exploracoder.engine.reading.replies import solution_in
from exploracoder.engine.reading.value_text import describe_error, describe_output
from exploracoder.engine.running.oracle import judge
from exploracoder.engine.workbench import Workbench
from exploracoder.models.chat import Message
from exploracoder.prompts import render
from exploracoder.state import Attempt, Solution

PART = "solution"
_REFLECTION = "reflection"
_REFLECTION_TOKENS = 300


def tried(bench: Workbench) -> tuple[Attempt, ...]:
    """The attempts that have been judged so far."""
    solution = bench.exploration.solution
    return solution.attempts if solution else ()


def may_go_on(bench: Workbench) -> bool:
    """Whether another text is wanted: none passed the oracle, and it may still be called."""
    attempts = tried(bench)
    if attempts and attempts[-1].is_good:
        return False
    return len(attempts) < bench.settings.oracle_calls


async def guess(bench: Workbench, snippets: str = "") -> None:
    """Ask for the class from its description and ``snippets``, and judge it.

    Raises BudgetError and ModelError, like everything here that asks, and NoCodeError.
    """
    prompt = render("class", "guess", snippets=snippets, **_described(bench))
    await _write(bench, prompt, [snippets])


async def reflect(bench: Workbench, attempt: Attempt, information: str = "") -> str:
    """What the model says is wrong with an attempt, in a few sentences."""
    bench.tell(_REFLECTION, "Thinking about what failed")
    prompt = render("class", "reflection", information=information, **failed_words(bench, attempt))
    number = len(tried(bench))
    sampling = bench.model.sampling(_REFLECTION, number=number, max_tokens=_REFLECTION_TOKENS)
    reply = await bench.model.ask(_REFLECTION, turns("reflecting", prompt), sampling)
    return reply.text.strip()


async def improve(
    bench: Workbench, attempt: Attempt, reflection: str, information: str = ""
) -> None:
    """Ask for the class again, after a reflection on the last attempt, and judge it."""
    values = failed_words(bench, attempt) | {"information": information, "reflection": reflection}
    prompt = render("class", "improvement", **values)
    await _write(bench, prompt, [information, reflection])


async def _write(bench: Workbench, prompt: str, notes: Sequence[str]) -> None:
    """Ask, judge, and record, so that nothing is asked twice after an interruption."""
    attempts = tried(bench)
    sampling = bench.model.sampling(
        PART, number=len(attempts), max_tokens=bench.settings.solution_tokens
    )
    reply = await bench.model.ask(PART, turns("writing", prompt), sampling)
    attempt = await judge(bench, solution_in(reply, bench.model.name), PART)
    attempt = attempt.model_copy(update={"notes": tuple(filter(None, notes))})
    solution = Solution(attempts=(*attempts, attempt))
    verdict = "passes" if attempt.is_good else "fails"
    await bench.update(f"Text {len(attempts) + 1} of the class {verdict}", solution=solution)


def failed_words(bench: Workbench, attempt: Attempt) -> dict[str, str]:
    """An attempt and the oracle's feedback: its tests' output, and the error that ended them."""
    failure = attempt.failure
    assert failure is not None, "only an attempt that failed is improved"
    chars = bench.settings.output_chars
    parts = filter(None, [describe_output(failure, chars), describe_error(failure, "", chars)])
    return {"code": attempt.code, "feedback": "\n".join(parts), **_described(bench)}


def _described(bench: Workbench) -> dict[str, str]:
    task = bench.exploration.task
    assert task.target is not None, "there is a class to write"
    return {"class_name": task.entry_point or "", "file": task.target.file, "task": task.text}


def turns(part: str, prompt: str) -> list[Message]:
    """The beginning of a conversation: the part's instructions, and the request."""
    return [Message("system", render("class", part)), Message("user", prompt)]
