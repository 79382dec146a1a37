"""Going back: a step that ran need not be right, and the step after it is where that shows.

When no candidate of a subtask ran, the subtask before it is explored again from the state that it
started from, with what went wrong as a hint; then the failed one again. The paper has no such step;
live branches make it cheap, since the earlier state is still there.
"""

from __future__ import annotations

from exploracoder.engine.conversation import error_text
from exploracoder.engine.explorer import explore
from exploracoder.engine.recommender import recommend
from exploracoder.engine.workbench import Workbench
from exploracoder.prompts import render
from exploracoder.state import Step


async def go_back(bench: Workbench, failed: Step) -> tuple[Step, Step] | None:
    """Explore the step before ``failed`` in another way, and then ``failed`` again.

    Returns both steps when both are done now. Otherwise None, with the chain and its state as they
    were. Raises BudgetError and ModelError.
    """
    before = _step_before(bench, failed)
    if before is None or before.candidate is None or not failed.candidates:
        return None
    exploration, branch = bench.exploration, bench.branch
    base = bench.bases.get(before.subtask.id)
    if base is None:
        return None
    hint = _hint(bench, before, failed)
    bench.branch = base
    bench.exploration = exploration.with_step(_open(before)).with_step(_open(failed))
    again = await explore(bench, _open(before), hint=hint)
    retried: Step | None = None
    if again.status == "done" and _differs(before, again):
        bench.exploration = bench.exploration.with_step(again)
        recommendation = await recommend(bench, failed.subtask)
        opened = _open(failed).model_copy(update={"recommendation": recommendation})
        retried = await explore(bench, opened)
    spending = bench.exploration.spending
    bench.exploration = exploration.model_copy(update={"spending": spending})
    if retried is None or retried.status != "done":
        bench.branch = branch
        return None
    return again, retried


def _step_before(bench: Workbench, failed: Step) -> Step | None:
    steps = bench.exploration.steps
    position = [step.subtask.id for step in steps].index(failed.subtask.id)
    done = [step for step in steps[:position] if step.status == "done"]
    return done[-1] if done else None


def _hint(bench: Workbench, before: Step, failed: Step) -> str:
    chosen = before.candidate
    assert chosen is not None, "a step that is done has a chosen candidate"
    return render(
        "explore",
        "doubt",
        code=chosen.code,
        goal=failed.subtask.goal,
        error=error_text(bench, failed.candidates[0]),
    )


def _open(step: Step) -> Step:
    return step.model_copy(update={"status": "pending", "chosen": None})


def _differs(before: Step, again: Step) -> bool:
    """Whether the new way shows anything else than the old one."""
    old, new = before.candidate, again.candidate
    if old is None or new is None or old.observation is None or new.observation is None:
        return False
    seen = [(one.type, one.length) for one in old.observation.variables]
    return seen != [(one.type, one.length) for one in new.observation.variables] or (
        old.apis != new.apis
    )
