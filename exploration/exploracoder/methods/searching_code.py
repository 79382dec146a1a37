"""A solution that is written with API searches: in its text, or by function calls.

Source: ToolCoder, section 3.4. The prompt with the form of a search and one example is ours: there
the model was fine-tuned, and needs none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from exploracoder_retrieval.errors import RetrievalError

from exploracoder.deadline import within
from exploracoder.engine.finishing.solution_prompt import solution_messages
from exploracoder.engine.finishing.synthesis import PART, try_solution
from exploracoder.engine.knowing import lookup
from exploracoder.engine.reading import stub
from exploracoder.engine.reading.replies import does_nothing, no_code, solution_in
from exploracoder.engine.reading.results import result_names
from exploracoder.errors import NoTextError
from exploracoder.models.tools import Tool
from exploracoder.prompts import render
from exploracoder.state import Attempt, Search
from exploracoder.toolcoder import calls
from exploracoder.toolcoder.decoding import Decoder, NotFoundError
from exploracoder.toolcoder.spelling import as_written

if TYPE_CHECKING:
    from exploracoder_retrieval.apisearch.answer import Answer

    from exploracoder.engine.workbench import Workbench
    from exploracoder.models.chat import Reply

_FENCE = "```"
_ENDS = (_FENCE, "\nTask:")


async def write_searching(bench: Workbench, *, has_tool: bool, has_query: bool) -> Attempt:
    """Write the solution once and run it, with the searches that were made for it.

    Raises BudgetError, and ModelError when the model cannot be asked in the way that the setting
    ``search_calls`` names.
    """
    way = bench.settings.search_calls
    if way == "functions":
        return await _by_functions(bench, has_tool, has_query)
    try:
        return await _in_text(bench, has_tool, has_query)
    except NoTextError:
        if way == "text":
            raise
        return await _by_functions(bench, has_tool, has_query)


async def _in_text(bench: Workbench, has_tool: bool, has_query: bool) -> Attempt:
    asked = 0

    async def ask(prompt: str, tokens: int, stops: Sequence[str]) -> Reply:
        nonlocal asked
        sampling = bench.model.sampling(PART, number=asked, max_tokens=tokens)
        asked += 1
        return await bench.model.ask_text(
            PART, prompt, dataclasses.replace(sampling, stop=tuple(stops))
        )

    head, context = _head(bench), bench.exploration.task.context

    async def find(query: str, so_far: str) -> str:
        found = (await _found(bench, query, bench.settings.search_answers)).apis
        if not found:
            raise NotFoundError("Nothing was found.")
        code = f"{context}\n{head}{so_far}"
        return ", ".join(as_written(api.doc, code) if api.doc else api.name for api in found)

    text = bench.exploration.task.text
    decoder = Decoder(
        ask,
        find,
        max_tokens=bench.settings.solution_tokens,
        ends=_ENDS,
        query=None if has_query else text,
    )
    if not has_tool:
        decoder.max_calls = 0
    decoded = await decoder.run(_prompt(bench, head, has_query))
    whole = head + decoded.text
    searches = [
        Search(
            line=calls.line_at(whole, len(head) + one.offset),
            query=one.query,
            answer=one.answer,
            note=one.note,
        )
        for one in decoded.searches
    ]
    code = calls.without_calls(whole)
    if does_nothing(code):
        raise no_code(bench.model.name, decoded.text)
    return await _tried(bench, code, searches)


async def _by_functions(bench: Workbench, has_tool: bool, has_query: bool) -> Attempt:
    """The same with the search as a function: the model asks before it writes."""
    searches: list[Search] = []

    async def act(asked: lookup.Query) -> str:
        query = asked.query if has_query else bench.exploration.task.text
        try:
            answer = await _found(bench, query, lookup.FOUND)
        except NotFoundError as problem:
            searches.append(Search(query=query, note=str(problem)))
            return str(problem)
        found = ", ".join(api.name for api in answer.apis)
        note = "" if found else "Nothing was found."
        searches.append(Search(query=query, answer=found, note=note))
        return lookup.in_words(bench, answer)

    tools = (Tool(lookup.NAME, lookup.description(bench), lookup.Query, act),) if has_tool else ()
    sampling = bench.model.sampling(PART, max_tokens=bench.settings.solution_tokens)
    reply = await bench.model.ask(PART, solution_messages(bench, ()), sampling, tools)
    return await _tried(bench, solution_in(reply, bench.model.name), searches)


async def _found(bench: Workbench, query: str, k: int) -> Answer:
    """What is found within the setting ``search_seconds``. Raises NotFoundError with the reason."""
    bench.tell(PART, "Looking up APIs")
    seconds = bench.settings.search_seconds
    # A search that is left behind may keep the index to itself: what the code is checked with is
    # read before.
    _ = bench.libraries.known
    try:
        return await within(seconds, lambda: lookup.search(bench, query, k))
    except TimeoutError:
        raise NotFoundError(f"The search did not end within {seconds:g} s.") from None
    except RetrievalError as error:
        raise NotFoundError(str(error)) from error


async def _tried(bench: Workbench, code: str, searches: Sequence[Search]) -> Attempt:
    """The code run and checked; imports that were put before it move the places of searches."""
    attempt = await try_solution(bench, code, ())
    moved = attempt.code.count("\n") - code.count("\n") if attempt.code.endswith(code) else 0
    placed = (
        one if one.line is None else one.model_copy(update={"line": one.line + moved})
        for one in searches
    )
    return attempt.model_copy(update={"searches": tuple(placed)})


def _prompt(bench: Workbench, head: str, has_query: bool) -> str:
    task = bench.exploration.task
    prompt = render(
        "toolcoder",
        "text",
        query=has_query,
        task=stub.without_stub(task.text, task.stub),
        entry_point="" if head else task.entry_point or "",
        wanted="" if head else ", ".join(f"`{name}`" for name in result_names(task)),
        library=bench.libraries.words,
        context=task.context.strip("\n"),
        head=head.rstrip("\n"),
    )
    return prompt if stub.assignment_target(task.stub) else f"{prompt}\n"


def _head(bench: Workbench) -> str:
    """What the code begins with, before the model has its turn."""
    task = bench.exploration.task
    if not task.stub:
        return ""
    is_assignment = stub.assignment_target(task.stub) is not None
    return task.stub.rstrip() if is_assignment else f"{task.stub.rstrip()}\n"
