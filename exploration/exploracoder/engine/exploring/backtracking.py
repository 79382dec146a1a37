"""Backtracking: a step that ran may still be wrong, which shows only in the steps after it.

A step is explored again from its starting state, with what went wrong as a hint; the steps after it
are then rerun on the new state, and explored again if they no longer run. The paper has no such
thing; live branches make it cheap, since the earlier states still exist.
"""

from __future__ import annotations

import ast

from exploracoder.engine.exploring.conversation import error_text
from exploracoder.engine.exploring.explorer import explore
from exploracoder.engine.knowing.recommender import recommend
from exploracoder.engine.reading.value_text import clip, describe_variables, without_addresses
from exploracoder.engine.running.steering import remember_chain
from exploracoder.engine.running.trial import is_in_turn, run_again
from exploracoder.engine.workbench import Workbench
from exploracoder.prompts import render
from exploracoder.state import Attempt, Step


async def doubt_step_before(bench: Workbench, failed_step: Step) -> bool:
    """Redo the step before a failed one, and then the failed one."""
    steps = bench.exploration.steps
    position = bench.exploration.position(failed_step)
    done_steps = [step for step in steps[:position] if step.status == "done"]
    if not done_steps or not failed_step.candidates:
        return False
    # Code that was never run says nothing about this state.
    failures = (
        one for one in failed_step.candidates if one.observation is not None and not one.ran
    )
    error = error_text(bench, next(failures, failed_step.candidates[0]))
    why = f"The next step ({failed_step.subtask.goal}) failed on it: {error}"
    return await _redo(bench, done_steps[-1], why)


async def doubt_checked_step(bench: Workbench, attempt: Attempt) -> bool:
    """Redo the step that made a value which the user's check finds wrong.

    The hint has the exception's message, not the check's code: the expected values stay hidden.
    """
    failure = attempt.check_observation
    if failure is None or failure.error is None or failure.error.line is None:
        return False
    wrong = _names_in_line(bench.exploration.task.check, failure.error.line)
    for step in reversed(bench.exploration.steps):
        suspects = _made(step) & wrong
        if step.status == "done" and suspects:
            words = f"{failure.error.ename}: {failure.error.evalue}"
            variables = await bench.sidecar.variables(bench.branches.current)
            now = describe_variables([one for one in variables if one.name in suspects])
            why = f"A check of {', '.join(sorted(suspects))} failed: {without_addresses(words)}"
            return await _redo(bench, step, f"{clip(why, bench.settings.output_chars)}\n{now}")
    return False


async def _redo(bench: Workbench, step: Step, why: str) -> bool:
    """Explore ``step`` differently and carry the steps after it over to the new state.

    Returns whether all of them are done now; if not, the chain and its state are restored.
    """
    if step.candidate is None:
        return False
    put_back, is_better = remember_chain(bench), False
    try:
        is_better = await _redo_chain(bench, step, why)
    finally:
        # On interruption, too: what was accepted stands until there is something better.
        if not is_better:
            put_back()
    return is_better


async def _redo_chain(bench: Workbench, step: Step, why: str) -> bool:
    assert step.candidate is not None, "only a step with a chosen candidate can be doubted"
    hint = render("explore", "doubt", code=step.candidate.code, why=why)
    bench.branches.current = await bench.branches.base_of(step)
    bench.put(_open(step))
    again = await explore(bench, _open(step), hint=hint)
    if again.status != "done" or not _differs(step, again):
        return False
    bench.put(again)
    return await _carry_over(bench, step)


async def _carry_over(bench: Workbench, doubted_step: Step) -> bool:
    """Bring the explored steps after ``doubted_step`` to the new state."""
    steps = bench.exploration.steps
    position = bench.exploration.position(doubted_step)
    for step in steps[position + 1 :]:
        if step.status in ("pending", "skipped"):
            continue
        new_step = await run_again(bench, step)
        if new_step is None and is_in_turn(bench, step):
            bench.put(_open(step))
            recommendation = await recommend(bench, step.subtask)
            open_step = _open(step).model_copy(update={"recommendation": recommendation})
            new_step = await explore(bench, open_step)
        if new_step is None or new_step.status != "done" or not is_in_turn(bench, step):
            return False
        bench.put(new_step)
    return True


def _open(step: Step) -> Step:
    return step.model_copy(update={"status": "pending", "chosen": None})


def _made(step: Step) -> set[str]:
    """The names of the variables that the chosen candidate made or changed."""
    observation = step.candidate.observation if step.candidate else None
    return {variable.name for variable in observation.variables} if observation else set()


def _differs(before: Step, again: Step) -> bool:
    """Whether the new candidate shows other variables or uses other APIs than the old one."""
    old, new = before.candidate, again.candidate
    if old is None or new is None or old.observation is None or new.observation is None:
        return False
    return old.observation.variables != new.observation.variables or old.apis != new.apis


def _names_in_line(check: str, line: int) -> set[str]:
    """The names in the statement at a line of the check."""
    for node in ast.walk(ast.parse(check)):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or line):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.With)):
                continue
            return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return set()
