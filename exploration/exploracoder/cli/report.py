"""The result of an exploration, as JSON and in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from exploracoder import document
from exploracoder.errors import InputError
from exploracoder.models.model_cost import Usage
from exploracoder.models.prices import price_of
from exploracoder.state import Attempt, Exploration, Step
from exploracoder.toolcoder.cards import with_cards

EXIT_CODES = {
    "solved": 0,
    "unverified": 0,
    "failed": 1,
    "running": 1,
    "waiting": 1,
    "paused": 1,
    "cancelled": 130,
}


def as_json(exploration: Exploration, notebook: Path, run_usage: Usage) -> dict[str, Any]:
    """The object that ``--json`` prints; ``run_usage`` is what this run alone has cost."""
    final = exploration.solution.final if exploration.solution else None
    return {
        "status": exploration.status,
        "reason": exploration.reason,
        "verified": {
            "ran": bool(final and final.observation.ran),
            "checks": final.checks if final else "none",
        },
        "verification": document.verification(exploration),
        "failure": _failure(final) if final else None,
        "solution": final.code if final else None,
        "apis": [doc.path for doc in final.docs] if final else [],
        "searches": [one.model_dump() for one in final.searches] if final else [],
        "warning": document.warning(exploration),
        "attempts": len(exploration.solution.attempts) if exploration.solution else 0,
        "notebook": str(notebook),
        "subtasks": [_subtask(step) for step in exploration.steps],
        "usage": _usage(exploration.usage)
        | {
            "seconds_execution": round(exploration.seconds_execution, 3),
            "seconds_total": round(exploration.seconds_total, 3),
        },
        "usage_of_this_run": _usage(run_usage),
        "money": _money(exploration)[0],
        "usage_by_part": {part.part: _usage(part.usage) for part in exploration.spending},
        "model": exploration.model,
        "method": exploration.method,
        "profile": exploration.settings.profile,
        "strategy": exploration.strategy,
        "brought": [one.model_dump() for one in exploration.brought.variables],
        "left_behind": [one.model_dump() for one in exploration.brought.left],
        "sandbox": exploration.sandbox,
        "libraries": [
            one.model_dump(include={"name", "version", "apis"}) for one in exploration.libraries
        ],
    }


def _failure(final: Attempt) -> str | None:
    """The exception that the solution, or the check after it, ended with."""
    last = final.check_observation or final.observation
    return f"{last.error.ename}: {last.error.evalue}" if last.error else None


def in_words(exploration: Exploration, notebook: Path) -> str:
    """The result as text for people."""
    done_count = sum(step.status == "done" for step in exploration.steps)
    lines = []
    if exploration.solution is not None:
        lines += [with_cards(exploration.solution.final), ""]
    lines.append(f"{exploration.status.upper()}. {document.plain_verification(exploration)}")
    lines += [document.warning(exploration)] if document.warning(exploration) else []
    if exploration.reason and exploration.reason not in lines[-1]:
        lines.append(exploration.reason)
    if exploration.solution is not None and exploration.solution.final.docs:
        paths = ", ".join(doc.path for doc in exploration.solution.final.docs)
        lines.append(f"It uses {paths}.")
    lines.append(
        f"{done_count} of {len(exploration.steps)} subtasks explored; {document.cost(exploration)}"
        f"{_money(exploration)[1]}"
    )
    lines.append(f"Notebook: {notebook}")
    return "\n".join(lines)


def _money(exploration: Exploration) -> tuple[dict[str, Any] | None, str]:
    """The most the exploration's tokens can have cost, as data and in words, if known."""
    try:
        price = price_of(exploration.model)
    except InputError as error:
        return None, f" What that costs is not known: {error}"
    if price is None:
        return None, ""
    usage, currency = exploration.usage, price.currency
    if usage.calls and not usage.total_tokens:
        return None, " What that costs is not known: the server does not report tokens."
    amount = price.of(usage.prompt_tokens, usage.completion_tokens)
    # Servers may charge less for cached prompt tokens.
    words = f" At most {amount:.{2 if amount >= 1 else 4}f} {currency}".rstrip() + "."
    return {"amount": round(amount, 6), "currency": currency}, words


def _subtask(step: Step) -> dict[str, Any]:
    choice = step.candidate
    error_source = choice or (step.candidates[-1] if step.candidates else None)
    error = error_source.observation.error if error_source and error_source.observation else None
    return {
        "id": step.subtask.id,
        "goal": step.subtask.goal,
        "status": step.status,
        "code": choice.code if choice else None,
        "ran": bool(choice and choice.ran),
        "error": f"{error.ename}: {error.evalue}" if error else None,
        "apis": list(choice.apis) if choice else [],
        "candidates": len(step.candidates),
        "debugged": any(candidate.origin == "debug" for candidate in step.candidates),
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return usage.model_dump(exclude={"seconds"}) | {"seconds_model": round(usage.seconds, 3)}
