"""Self-Repair with retrieval: a sample, feedback on why it fails, a repair, and again.

Source: Olausson et al. 2024, as ExploraCoder compares with it in section 5.4: CAPIR's docs are
shown in all three stages, and there are as many repairs as the plan has subtasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exploracoder.engine.exploring.conversation import as_answer
from exploracoder.engine.finishing.solution_prompt import failure_words, solution_messages
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import NoCodeError
from exploracoder.methods.capir import Capir, retrieve
from exploracoder.methods.one_shot import record, sample
from exploracoder.models.chat import Message
from exploracoder.prompts import render
from exploracoder.state import Attempt

_FEEDBACK = "feedback"
_FEEDBACK_TOKENS = 300


class SelfRepair(Capir):
    """One sample and its repairs, each after feedback in words."""

    name = "self-repair"
    overrides: Mapping[str, object] = {
        **Capir.overrides,
        "name_hints": False,
        "example_arguments": True,
    }

    async def run(self, bench: Workbench) -> None:
        """Plan, retrieve, ask; while it fails, ask why and ask again. Each text is recorded."""
        await retrieve(bench)
        apis, solution = bench.exploration.overall.kept, bench.exploration.solution
        messages = solution_messages(bench, apis)
        attempts = list(solution.attempts) if solution else [await _sample(bench, messages)]
        await record(bench, attempts, apis)
        for number in range(len(attempts), 1 + len(bench.exploration.steps)):
            if attempts[-1].leaves_no_doubt:
                break
            feedback = await _feedback(bench, messages[-1], attempts[-1], number)
            request = _request(bench, attempts[-1], feedback)
            turns = [*messages, as_answer(attempts[-1].code), request]
            try:
                attempts.append(await _sample(bench, turns, number, feedback))
            except NoCodeError:
                # A failed attempt is better than no solution.
                break
            await record(bench, attempts, apis)


async def _sample(
    bench: Workbench, messages: Sequence[Message], number: int = 0, feedback: str = ""
) -> Attempt:
    attempt = await sample(bench, messages, number)
    return attempt.model_copy(update={"notes": (feedback,) if feedback else ()})


async def _feedback(bench: Workbench, request: Message, attempt: Attempt, number: int) -> str:
    """The second stage: what the model says is wrong."""
    prompt = render(
        "self_repair",
        "feedback",
        asked=request.content,
        code=attempt.code,
        failure=failure_words(bench, attempt),
    )
    messages = [Message("system", render("self_repair", "system")), Message("user", prompt)]
    sampling = bench.model.sampling(_FEEDBACK, number=number, max_tokens=_FEEDBACK_TOKENS)
    return (await bench.model.ask(_FEEDBACK, messages, sampling)).text.strip()


def _request(bench: Workbench, attempt: Attempt, feedback: str) -> Message:
    """The third stage."""
    words = failure_words(bench, attempt)
    return Message("user", render("self_repair", "repair", failure=words, feedback=feedback))
