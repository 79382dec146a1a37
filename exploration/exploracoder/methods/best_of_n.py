"""Best of n: the retrieval prompt sampled repeatedly, and one text chosen by what running shows.

Source: ours, to compare with: what repeated sampling makes of the tokens that exploring takes. Of
texts that no check judges, one that gives what most of them give is chosen, as in MBR-EXEC (Shi et
al. 2022).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from exploracoder.engine.exploring import arguments
from exploracoder.engine.finishing.solution_prompt import solution_messages
from exploracoder.engine.workbench import Workbench
from exploracoder.engine.writing.agreement import can_compare, groups
from exploracoder.errors import BudgetError, NoCodeError
from exploracoder.methods.method import Method
from exploracoder.methods.one_shot import ONE_SHOT, SAMPLED, record, retrieve_for_task, sample
from exploracoder.state import Attempt
from exploracoder.texts import Text

_SAMPLES = 3
# With a token limit: a server that reports no usage would be asked forever.
_MOST = 100


class BestOfN(Method):
    """The docs that the task retrieves, as many texts as are wanted, and the best of them.

    A text is good if neither it nor the user's check after it raises an error, nor, without a
    check, a call of the requested function with example values. The first that passes a check ends
    the sampling. Without a check, all texts are sampled and the most frequent result wins; if no
    results can be seen, the first good text does.
    """

    name = "best-of-n"
    published: Mapping[str, object] = {**SAMPLED, "solution_attempts": _SAMPLES}
    overrides: Mapping[str, object] = {
        **{name: value for name, value in ONE_SHOT.items() if name != "solution_attempts"},
        "example_arguments": True,
    }

    async def run(self, bench: Workbench) -> None:
        """Retrieve once, ask and run until it is enough, then choose; each text is recorded."""
        await arguments.give_examples(bench)
        apis = await retrieve_for_task(bench)
        messages, solution = solution_messages(bench, apis), bench.exploration.solution
        attempts = list(solution.attempts) if solution else []
        silence: NoCodeError | None = None
        for number in _numbers(bench, len(attempts)):
            if _is_enough(bench, attempts):
                break
            bench.tell("solution", Text("Writing text %1", number + 1))
            try:
                attempts.append(await sample(bench, messages, number))
            except NoCodeError as error:
                silence = error
                continue
            except BudgetError:
                if attempts:
                    await record(bench, _chosen_last(bench, attempts), apis)
                raise
            await record(bench, attempts, apis)
        if silence is not None and not attempts:
            raise silence
        await record(bench, _chosen_last(bench, attempts), apis)


def _numbers(bench: Workbench, first: int) -> Iterator[int]:
    """The numbers of the texts, as long as another one is wanted and fits the user's limits."""
    settings = bench.settings
    most = settings.solution_attempts if settings.sample_tokens is None else _MOST
    for number in range(first, most):
        if number and (_are_tokens_used(bench) or bench.limits.has_used(number / (number + 1))):
            return
        yield number


def _are_tokens_used(bench: Workbench) -> bool:
    most = bench.settings.sample_tokens
    return most is not None and bench.exploration.usage.total_tokens >= most


def _is_voted_on(bench: Workbench) -> bool:
    return not bench.exploration.task.check and can_compare(bench.exploration)


def _is_enough(bench: Workbench, attempts: Sequence[Attempt]) -> bool:
    return bool(attempts) and attempts[-1].leaves_no_doubt and not _is_voted_on(bench)


def _chosen_last(bench: Workbench, attempts: Sequence[Attempt]) -> list[Attempt]:
    """The attempts with the chosen one moved to the end: the last good one counts."""
    clusters = groups(bench.exploration, attempts) if _is_voted_on(bench) else []
    # Where no results can be seen, the first good text wins.
    best = clusters[0] if clusters else [one for one in attempts if one.leaves_no_doubt]
    if not best:
        return list(attempts)
    return [*(one for one in attempts if one is not best[0]), best[0]]
