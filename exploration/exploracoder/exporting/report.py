"""An exploration as a report: task, plan, each subtask with what was tried, solution, branches."""

from __future__ import annotations

from collections.abc import Iterator

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder import document
from exploracoder.exporting.blocks import Block, Code, Flowchart, Fold, Heading, Items, Text, shown
from exploracoder.state import Candidate, Exploration, Solution, Step

_STATUS_WORDS = {
    "pending": "Not explored yet.",
    "review": "Proposed; not accepted yet.",
    "failed": "No candidate ran; the chain went on.",
    "skipped": "Skipped.",
}


def title(exploration: Exploration) -> str:
    """What the report is called."""
    return document.title_of(exploration.task) or "Exploration"


def report(exploration: Exploration) -> Iterator[Block]:
    """The blocks of the report, in order."""
    yield from _opening(exploration)
    for number, step in enumerate(exploration.steps, start=1):
        yield from _step(number, step)
    yield Heading(2, "Solution")
    yield Text(document.verification(exploration).replace("**", ""))
    if document.warning(exploration):
        yield Text(document.warning(exploration))
    if exploration.solution is not None:
        yield from _solution(exploration, exploration.solution)
    if exploration.steps:
        yield Heading(2, "Branches")
        yield Flowchart(document.flowchart(exploration))
    yield from _cost(exploration)


def _opening(exploration: Exploration) -> Iterator[Block]:
    task = exploration.task
    yield Heading(1, title(exploration))
    if task.text.strip() != title(exploration):
        yield Text(task.text.strip())
    libraries = ", ".join(f"{one.name} {one.version}".strip() for one in exploration.libraries)
    about = [("libraries", libraries), ("model", exploration.model)]
    about += [("method", exploration.method), ("sandbox", exploration.sandbox)]
    told = " · ".join(f"{name}: {value}" for name, value in about if value)
    yield Text(f"Explored with ExploraCoder · {told}")
    if exploration.steps:
        yield Heading(2, "Plan")
        yield Items(tuple((step.subtask.goal, None) for step in exploration.steps))
    if task.context:
        yield Heading(2, "Context")
        yield Code(task.context)


def _step(number: int, step: Step) -> Iterator[Block]:
    yield Heading(2, f"{number}. {step.subtask.goal}")
    if step.status in _STATUS_WORDS:
        yield Text(_STATUS_WORDS[step.status])
    docs = step.recommendation.kept
    if docs:
        yield Heading(3, "Docs")
        yield Items(tuple(_doc(doc) for doc in docs))
    chosen = step.candidate
    if chosen is not None:
        yield Heading(3, "Candidate")
        yield from _candidate(chosen)
    for other in step.candidates:
        if other is not chosen:
            how = "ran" if other.ran else "did not run"
            yield Fold(f"{other.id} ({other.origin}) {how}", tuple(_candidate(other)))


def _doc(doc: ApiDoc) -> tuple[str, str | None]:
    place = document.doc_place(doc)
    said = f": {doc.summary}" if doc.summary else ""
    is_address = doc.url is not None and document.WEB_ADDRESS.fullmatch(doc.url) is not None
    return f"{doc.path}{said}" + (f" ({place})" if place else ""), doc.url if is_address else None


def _candidate(candidate: Candidate) -> Iterator[Block]:
    yield Code(candidate.code)
    if candidate.problems:
        yield Items(tuple((str(problem), None) for problem in candidate.problems))
    if candidate.observation is not None:
        yield from shown(candidate.observation)


def _solution(exploration: Exploration, solution: Solution) -> Iterator[Block]:
    final = solution.final
    yield Code(final.code)
    yield from shown(final.observation)
    if final.docs:
        yield Heading(3, "Docs")
        yield Items(tuple(_doc(doc) for doc in final.docs))
    if exploration.task.check:
        yield Heading(3, "Check")
        yield Code(exploration.task.check)
        if final.check_observation is not None:
            yield from shown(final.check_observation)
    for number, attempt in enumerate(solution.attempts, start=1):
        if attempt is not final:
            failure = attempt.failure
            told = tuple(shown(failure)) if failure is not None else ()
            yield Fold(f"Attempt {number} of {len(solution.attempts)}", (Code(attempt.code), *told))


def _cost(exploration: Exploration) -> Iterator[Block]:
    usage = exploration.usage
    yield Heading(2, "Cost")
    yield Text(
        f"{usage.calls} model calls, {usage.prompt_tokens} prompt and {usage.completion_tokens}"
        f" completion tokens; {exploration.seconds_total:.0f} s ({usage.seconds:.0f} s model,"
        f" {exploration.seconds_execution:.1f} s running code)."
    )
