"""The pages of an exploration: the whole, what it cost, what a search or a replay found."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from exploracoder import document, trust, user_variables
from exploracoder.engine.running import steering
from exploracoder.events import Progress
from exploracoder.models.model_cost import Usage
from exploracoder.replay import Replay
from exploracoder.state import Brought, Candidate, Exploration, Library, Step
from exploracoder.toolcoder.cards import with_cards
from exploracoder.trust import Preview

from exploracoder_jupyter.magics.page_blocks import (
    Block,
    Code,
    Fold,
    Heading,
    Line,
    Output,
    Page,
    Rich,
    Table,
    Tone,
)
from exploracoder_jupyter.magics.work_snapshot import Moment

if TYPE_CHECKING:
    from exploracoder_kernel.observation import Observation
    from exploracoder_retrieval.apidoc import ApiDoc, Hit, Mention

_MARKS = {"pending": "·", "review": "?", "done": "✓", "failed": "✗", "skipped": "-"}
STEP_WORDS = {
    "pending": "open",
    "review": "proposed",
    "done": "accepted",
    "failed": "nothing ran",
    "skipped": "left out",
}
_TONES: dict[str, Tone] = {"solved": "good", "unverified": "strong", "failed": "bad"}
_MOST_OUTPUT = 4_000


def message_page(text: str, tone: Tone = "plain") -> Page:
    """A page with one sentence."""
    return Page((Line(text, tone),))


def moment_page(moment: Moment) -> Page:
    """The work as a cell shows it, also while it is being opened or when that failed."""
    lines = [Line(moment.error, "bad")] if moment.error else []
    lines += [Line(moment.note, "strong")] if moment.note else []
    if moment.exploration is not None:
        page = exploration_page(moment.exploration, moment.progress, moment.notebook)
        return Page((*page.blocks, *lines))
    return Page(tuple(lines) or (Line(f"{moment.progress.message or 'Starting'} …", "strong"),))


def exploration_page(exploration: Exploration, progress: Progress, notebook: str) -> Page:
    """The whole exploration: progress, plan, docs, candidates, solution, cost, and next steps."""
    return Page(tuple(_whole(exploration, progress, notebook)))


def plan_page(exploration: Exploration) -> Page:
    """The subtasks with their states."""
    return Page(tuple(plan(exploration)))


def _whole(exploration: Exploration, progress: Progress, notebook: str) -> Iterator[Block]:
    yield title(exploration)
    yield Line(where(exploration, progress), _TONES.get(exploration.status, "strong"))
    if progress.error:
        yield Line(progress.error, "bad")
    yield from plan(exploration, progress)
    step = shown_step(exploration)
    if step is not None and (step.candidates or step.recommendation.apis):
        yield from subtask(exploration, step)
        for number, one in enumerate(step.candidates, start=1):
            yield from candidate(number, one, is_proposed=one.id == step.chosen)
    yield from solution(exploration)
    yield from spent(exploration, notebook)
    yield from (Line(f"→ {advice}") for advice in _advice(exploration, progress))


def title(exploration: Exploration) -> Heading:
    """The task on one line."""
    return Heading(" ".join(exploration.task.text.split())[:200])


def spent(exploration: Exploration, notebook: str) -> Iterator[Block]:
    """What it cost, where its notebook is, and which variables were brought along."""
    yield Line(f"{cost(exploration)} Notebook: {notebook}", "dim")
    if exploration.brought != Brought():
        yield Line(user_variables.in_words(exploration.brought), "dim")


def solution(exploration: Exploration) -> Iterator[Block]:
    """The final attempt, its output, and whether it was verified."""
    if exploration.solution is None:
        return
    final = exploration.solution.final
    yield Heading("Solution")
    yield from verified(exploration)
    yield Code(with_cards(final))
    yield from _observed(final.failure or final.observation)
    if final.docs:
        yield docs_fold(final.docs)


def verified(exploration: Exploration) -> Iterator[Block]:
    """Whether the solution was verified, and a warning about what it does, if any."""
    yield Line(document.plain_verification(exploration))
    if document.warning(exploration):
        yield Line(document.warning(exploration), "bad")


def where(exploration: Exploration, progress: Progress) -> str:
    """The state of the exploration, in a sentence."""
    if progress.activity == "working":
        return f"Working: {progress.message or 'starting'} …"
    if progress.activity == "review":
        return "Waiting for you."
    if exploration.reason and exploration.reason != progress.error:
        return f"{exploration.status.capitalize()}. {exploration.reason}"
    return f"{exploration.status.capitalize()}."


def plan(exploration: Exploration, progress: Progress | None = None) -> Iterator[Block]:
    """The subtasks, each with its state; ``progress`` tells which one is being worked on."""
    if not exploration.steps:
        if exploration.solution is not None:
            yield Line("A first try solved it without a plan.")
        return
    is_working = progress is not None and progress.activity == "working"
    at_work = progress.part if progress is not None and is_working else ""
    yield Heading("Plan")
    yield Table(
        tuple(
            (
                f"{_MARKS[step.status]} {number}",
                step.subtask.goal,
                "working" if step.subtask.id == at_work else STEP_WORDS[step.status],
                candidates_in_words(step),
            )
            for number, step in enumerate(exploration.steps, start=1)
        )
    )


def candidates_in_words(step: Step) -> str:
    """How many candidates a subtask has; empty when it has none."""
    count = len(step.candidates)
    return f"{count} candidate{'' if count == 1 else 's'}" if count else ""


def shown_step(exploration: Exploration) -> Step | None:
    """The first open subtask, or, until that has candidates, a failed one just before it."""
    steps = list(exploration.steps)
    first = steering.next_open(exploration)
    position = len(steps) if first is None else steps.index(first)
    before = steps[position - 1] if position else None
    is_untouched = first is None or not first.candidates
    if before is not None and before.status == "failed" and is_untouched:
        return before
    return first


def number_of(exploration: Exploration, step: Step) -> int:
    """A subtask's position in the plan, counting from 1."""
    return [one.subtask.id for one in exploration.steps].index(step.subtask.id) + 1


def subtask(exploration: Exploration, step: Step) -> Iterator[Block]:
    """A subtask, and the docs found for it."""
    yield Heading(f"{number_of(exploration, step)}. {step.subtask.goal}")
    apis = step.recommendation.apis
    if apis:
        left_out = {one.doc.path for one in apis if not one.is_kept}
        yield docs_fold([one.doc for one in apis], left_out)


def docs_fold(docs: Sequence[ApiDoc], left_out: Collection[str] = ()) -> Fold:
    """Docs, each of which can be expanded; those in ``left_out`` were in no prompt."""
    folds = (
        Fold(f"{doc.path} · left out" if doc.path in left_out else doc.path, doc_blocks(doc))
        for doc in docs
    )
    return Fold(f"Docs ({len(docs)})", tuple(folds))


def doc_blocks(doc: ApiDoc) -> tuple[Block, ...]:
    """Signature, text and source of an API."""
    return tuple(_doc(doc))


def _doc(doc: ApiDoc) -> Iterator[Block]:
    if doc.signature:
        yield Code(doc.signature)
    text = doc.doc or doc.summary
    if text:
        yield Output(text[:_MOST_OUTPUT])
    yield from (Line(note) for note in doc.notes)
    if doc.url or doc.file:
        yield Line(place_of(doc), "dim")


def place_of(source: ApiDoc | Mention) -> str:
    """Where something was read: a URL, or file and line."""
    return source.url or (source.file or "") + (
        f":{source.line}" if source.file and source.line else ""
    )


def candidate_title(number: int, candidate: Candidate, *, is_proposed: bool) -> str:
    """A candidate's number in its subtask, and its outcome."""
    outcome = "ran" if candidate.ran else "failed" if candidate.observation else "not run"
    notes = [outcome, *(["repaired"] if candidate.origin == "debug" else [])]
    notes += ["yours"] if candidate.origin == "user" else []
    notes += ["proposed"] if is_proposed else []
    return f"Candidate {number}: {', '.join(notes)}"


def candidate(number: int, one: Candidate, *, is_proposed: bool) -> Iterator[Block]:
    """A candidate: its code, problems and output."""
    tone: Tone = "strong" if one.ran or one.observation is None else "bad"
    yield Line(candidate_title(number, one, is_proposed=is_proposed), tone)
    yield Code(one.code)
    for problem in one.problems:
        yield Line(str(problem), "bad")
    if one.observation is not None:
        yield from _observed(one.observation)


def _observed(observation: Observation) -> Iterator[Block]:
    from exploracoder.exporting.outputs import harmless_outputs, image

    outputs = tuple(harmless_outputs(observation))
    for output in outputs:
        data = dict(output.get("data", {}))
        text = str(data.pop("text/plain", ""))
        for kind, content in data.items():
            yield Rich(content if kind == "text/html" else image(kind, content), text)
        if not data and output["text"].strip():
            is_error = not observation.ran and output is outputs[-1]
            yield Output(output["text"][:_MOST_OUTPUT].rstrip(), "bad" if is_error else "plain")


def cost(exploration: Exploration) -> str:
    """Calls, tokens and seconds in one line."""
    usage = exploration.usage
    return (
        f"{usage.calls} model calls, {usage.total_tokens} tokens,"
        f" {exploration.seconds_total:.0f} s."
    )


def _advice(exploration: Exploration, progress: Progress) -> Iterator[str]:
    """What can be done now, as sub-commands to type."""
    if progress.activity == "working":
        yield "%exploracoder status · cancel"
        return
    solution = exploration.solution
    if solution is not None and solution.final.is_good:
        more = "back S" if exploration.is_planned else "next explores it step by step"
        yield f"%exploracoder insert puts the solution into the next cell · {more}"
        return
    step = shown_step(exploration)
    if step is not None and step.status in ("review", "failed"):
        yield "%exploracoder next · accept N · edit N · debug N · retry · skip · back S"
    elif step is not None:
        yield "%exploracoder next · plan add GOAL · plan delete S · skip"
    else:
        yield "%exploracoder solve writes the solution · back S"


def cost_page(exploration: Exploration) -> Page:
    """What each part cost, and the total."""
    rows = [_cost_row(part.part, part.usage) for part in exploration.spending]
    rows.append(_cost_row("all", exploration.usage))
    head = ("part", "calls", "prompt tokens", "completion tokens", "seconds of the model")
    run_time = f"{exploration.seconds_execution:.1f} s running code"
    whole = f"{exploration.seconds_total:.0f} s in all, {run_time}; model: {exploration.model}"
    return Page((Table(tuple(rows), head), Line(whole, "dim")))


def _cost_row(part: str, usage: Usage) -> tuple[str, ...]:
    counts = (usage.calls, usage.prompt_tokens, usage.completion_tokens)
    return (part, *map(str, counts), f"{usage.seconds:.1f}")


def libraries_page(libraries: Sequence[Library]) -> Page:
    """The libraries in use, with their versions and numbers of public APIs."""
    rows = tuple((one.name, one.version, f"{one.apis} public APIs") for one in libraries)
    return Page((Table(rows),))


def search_page(query: str, hits: Sequence[Hit]) -> Page:
    """What a search found, best first."""
    rows = tuple((hit.doc.path, hit.doc.summary, place_of(hit.doc)) for hit in hits)
    if not rows:
        return message_page(f"Nothing was found for {query!r}. Say it in other words.")
    return Page((Table(rows), Line("→ %exploracoder docs NAME shows one of them")))


def tools_page(answers: Sequence[tuple[str, str]]) -> Page:
    """A repository tool's answer for each root that it searched."""
    blocks: list[Block] = []
    for root, text in answers:
        blocks += [Heading(root), Code(text)]
    return Page(tuple(blocks))


def doc_page(doc: ApiDoc) -> Page:
    """Everything known about an API."""
    examples = tuple(Code(example) for example in doc.examples)
    example_blocks = (
        (Fold(f"Examples ({len(examples)})", examples, is_open=True),) if examples else ()
    )
    others = tuple(block for each in doc.mentions for block in _mention(each))
    elsewhere = (Fold(f"Elsewhere ({len(doc.mentions)})", others),) if others else ()
    return Page((Heading(doc.path), *doc_blocks(doc), *example_blocks, *elsewhere))


def _mention(mention: Mention) -> Iterator[Block]:
    yield Line(" · ".join(part for part in (mention.title, place_of(mention)) if part), "dim")
    if mention.missing:
        yield Line(f"For another version: {', '.join(mention.missing)} is not there.", "bad")
    yield Output(mention.text) if mention.kind == "text" else Code(mention.text)


def preview_page(preview: Preview) -> Page:
    """What an exploration from elsewhere would run and read."""
    about, code = trust.about(preview), Code(preview.code)
    warnings = (Line(preview.warning, "bad"),) if preview.warning else ()
    return Page((Heading("It would run"), Table(tuple(about.items())), *warnings, code))


def replay_page(name: str, replay: Replay) -> Page:
    """What differed when the cells were rerun."""
    blocks: list[Block] = [Line(str(change), "strong") for change in replay.versions]
    cells = replay.cells
    rows = ((cell.result, cell.cell, cell.goal, *map(str, cell.versions)) for cell in cells)
    blocks.append(Table(tuple(rows)))
    blocks += [
        Fold(f"{cell.cell}: {cell.result}", (Output("\n".join(cell.difference)),), is_open=True)
        for cell in cells
        if cell.result != "same"
    ]
    blocks.append(Line(f"{name}: {replay.verdict}", "strong"))
    return Page(tuple(blocks))
