"""What a saved exploration shows: where its chain broke, what was recommended, what was called."""

from __future__ import annotations

from exploracoder.engine.exploring import arguments
from exploracoder.state import Exploration, Step

from exploracoder_bench.api_names import called_names, gold_names, last_names
from exploracoder_bench.datasets.repository_tests import counted
from exploracoder_bench.execution import is_executed
from exploracoder_bench.exploring import exploring_facts, is_explored, is_tried
from exploracoder_bench.problems import Problem
from exploracoder_bench.results import ChainFacts


def facts_of(exploration: Exploration, problem: Problem) -> dict[str, object]:
    """The fields of ``RunResult`` that a trace shows beside what the command reports."""
    facts: dict[str, object] = {"chain": chain_of(exploration)}
    facts |= names_of(exploration, problem) | execution_of(exploration)
    facts |= exploring_facts(exploration)
    return facts | tests_of(exploration, len(problem.tests)) if problem.place else facts


def chain_of(exploration: Exploration) -> ChainFacts:
    """Where its steps ended, and what was recommended."""
    # Example arguments are not a subtask of a plan.
    steps = [step for step in exploration.steps if step.subtask.id != arguments.STEP]
    failed_steps = [number for number, step in enumerate(steps, 1) if not _ran(step)]
    apis = [api for step in steps if step.candidate for api in step.candidate.apis]
    due = [step for step in steps if step.status != "skipped"]
    # Some methods plan and retrieve for each subtask but run no code: that is not a chain.
    chain = due if any(map(is_tried, due)) else []
    return ChainFacts(
        explored=len(chain),
        ran=sum(map(_ran, chain)),
        broken_at=failed_steps[0] if failed_steps else 0,
        error=_error(steps[failed_steps[0] - 1]) if failed_steps else _last_error(exploration),
        apis=len(apis),
        recommended=_recommended(exploration),
    )


def names_of(exploration: Exploration, problem: Problem) -> dict[str, object]:
    """The names that the known solution and this one call, and which of these do not exist."""
    gold: dict[str, object] = {"gold": gold_names(problem.solution, problem.context)}
    libraries = tuple(one.name for one in exploration.libraries)
    api_names = last_names(libraries, problem.search_path)
    if exploration.solution is None or not api_names:
        return gold
    import_names = {one.import_name.partition(".")[0] for one in exploration.libraries}
    final = exploration.solution.final
    # Names that come from the library itself were looked for in the installed one.
    missing = tuple(problem.name.partition(".")[0] for problem in final.problems)
    all_names = (
        *called_names(final.code, exploration.task.context, import_names, api_names),
        *missing,
    )
    names = tuple(dict.fromkeys(all_names))
    unknown = tuple(name for name in names if name not in api_names or name in missing)
    return gold | {"called": names, "unknown": unknown}


def execution_of(exploration: Exploration) -> dict[str, object]:
    """Whether the solution was executed without runtime errors, and how many of the kept texts
    were checked.
    """
    solution = exploration.solution
    if solution is None:
        return {"executed": False, "checked": 0}
    final = solution.final
    return {
        "executed": is_executed(final.observation, final.check_observation),
        "checked": sum(one.check_observation is not None for one in solution.attempts),
    }


def tests_of(exploration: Exploration, tests: int) -> dict[str, object]:
    """The oracle's counts for a class with ``tests`` named tests."""
    solution = exploration.solution
    if solution is None:
        return {"tests": tests or 1, "tests_passed": 0}
    calls = [counted(one.check_observation, tests) for one in solution.attempts]
    pass_count, of = counted(solution.final.check_observation, tests)
    shares = tuple(good / each for good, each in calls)
    return {"tests": of, "tests_passed": pass_count, "oracle_calls": shares}


def _ran(step: Step) -> bool:
    return step.status == "skipped" or (step.candidate is not None and step.candidate.ran)


def _error(step: Step) -> str:
    observations = [one.observation for one in step.candidates if one.observation is not None]
    errors = [one.error.ename for one in observations if one.error is not None]
    return (
        errors[-1] if errors else (observations[-1].status if observations else "nothing was tried")
    )


def _last_error(exploration: Exploration) -> str:
    final = exploration.solution.final if exploration.solution else None
    failure = final.failure if final else None
    if failure is None:
        return "" if final else "no solution"
    return failure.error.ename if failure.error else failure.status


def _recommended(exploration: Exploration) -> tuple[str, ...]:
    # A cell that ran as written has the docs of what it uses, but no prompt showed them for it.
    steps = [one for one in exploration.steps if is_explored(exploration, one) or not is_tried(one)]
    parts = [*(step.recommendation for step in steps), exploration.overall]
    paths = [doc.path for part in parts for doc in part.kept]
    solution_apis = exploration.solution.apis if exploration.solution else ()
    return tuple(dict.fromkeys([*paths, *solution_apis]))
