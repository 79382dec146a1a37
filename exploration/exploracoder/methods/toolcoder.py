"""ToolCoder: the model searches for an API at the very token where it needs one.

Source: ToolCoder, section 3.4 (algorithm 1), appendix D (the temperature), table 9 (without the
tool) and table 7 (without queries). The prompt with the form of a search and one example is ours:
there the model was fine-tuned, and needs none.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import anyio
from exploracoder_retrieval.apisearch.slots import Slots
from exploracoder_retrieval.errors import RetrievalError

from exploracoder.engine.finishing.solution_prompt import solution_messages
from exploracoder.engine.finishing.synthesis import PART, try_solution
from exploracoder.engine.knowing import lookup
from exploracoder.engine.reading import stub
from exploracoder.engine.reading.replies import does_nothing, no_code, solution_in
from exploracoder.engine.reading.result_names import result_names
from exploracoder.engine.reading.value_text import listed
from exploracoder.errors import NoTextError
from exploracoder.methods.method import Method
from exploracoder.methods.one_shot import ONE_SHOT, record
from exploracoder.models.model_functions import MAX_CALLS, Tool
from exploracoder.prompts import render
from exploracoder.state import Attempt, Search
from exploracoder.toolcoder import calls
from exploracoder.toolcoder.decoding import Decoder, NotFoundError
from exploracoder.toolcoder.spelling import as_written

if TYPE_CHECKING:
    from exploracoder_retrieval.apisearch.answer import Answer

    from exploracoder.engine.workbench import Workbench
    from exploracoder.models.chat import Reply

ResultT = TypeVar("ResultT")

_FENCE = "```"
_ENDS = (_FENCE, "\nTask:")
# APIs in the answer to a search in a text (section 3.4).
_ANSWERS = 1
_SEARCH_SECONDS = 30.0


class ToolCoder(Method):
    """One sample, written with searches; its two switches make the ablations.

    Without ``has_tool`` the model answers its own searches, or has none if searches are functions.
    Without ``has_query`` the task's text is the query, whatever the model asks.
    """

    name = "toolcoder"
    # Appendix D, which does not mention top-p.
    published: Mapping[str, object] = {"temperature": 0.8, "top_p": 1.0}
    overrides: Mapping[str, object] = ONE_SHOT
    has_tool = True
    has_query = True

    async def run(self, bench: Workbench) -> None:
        """Write once, run once. Raises BudgetError and ModelError."""
        if bench.exploration.solution is not None:
            return
        await record(bench, [await self._write(bench)], ())

    async def _write(self, bench: Workbench) -> Attempt:
        """Write the solution with searches, in the way that ``search_calls`` says."""
        way = bench.settings.search_calls
        if way != "functions":
            try:
                return await self._in_text(bench)
            except NoTextError:
                if way == "text":
                    raise
        return await self._by_functions(bench)

    async def _in_text(self, bench: Workbench) -> Attempt:
        request_count = 0

        async def ask(prompt: str, tokens: int, stops: Sequence[str]) -> Reply:
            nonlocal request_count
            sampling = bench.model.sampling(PART, number=request_count, max_tokens=tokens)
            request_count += 1
            text_sampling = dataclasses.replace(sampling, stop=tuple(stops))
            return await bench.model.ask_text(PART, prompt, text_sampling)

        head, context = _head(bench), bench.exploration.task.context

        async def find(query: str, so_far: str) -> str:
            apis = (await _found(bench, query, _ANSWERS)).apis
            if not apis:
                raise NotFoundError("Nothing was found.")
            code = f"{context}\n{head}{so_far}"
            return ", ".join(as_written(api.doc, code) if api.doc else api.name for api in apis)

        decoder = Decoder(
            ask,
            find,
            max_tokens=bench.settings.solution_tokens,
            ends=_ENDS,
            query=None if self.has_query else bench.exploration.task.text,
            max_calls=MAX_CALLS if self.has_tool else 0,
        )
        result = await decoder.run(_prompt(bench, head, self.has_query))
        whole = head + result.text
        searches = [
            Search(
                line=calls.line_at(whole, len(head) + one.offset),
                query=one.query,
                answer=one.answer,
                note=one.note,
            )
            for one in result.searches
        ]
        code = calls.without_calls(whole)
        if does_nothing(code):
            raise no_code(bench.model.name, result.text)
        return await _tried(bench, code, searches)

    async def _by_functions(self, bench: Workbench) -> Attempt:
        """The same with the search as a function: the model asks before it writes."""
        searches: list[Search] = []

        async def act(question: lookup.Query) -> str:
            query = question.query if self.has_query else bench.exploration.task.text
            try:
                answer = await _found(bench, query, lookup.FOUND)
            except NotFoundError as problem:
                searches.append(Search(query=query, note=str(problem)))
                return str(problem)
            names = ", ".join(api.name for api in answer.apis)
            note = "" if names else "Nothing was found."
            searches.append(Search(query=query, answer=names, note=note))
            return lookup.in_words(bench, answer)

        tools = list[Tool]()
        if self.has_tool:
            tools.append(Tool(lookup.NAME, lookup.description(bench), lookup.Query, act))
        sampling = bench.model.sampling(PART, max_tokens=bench.settings.solution_tokens)
        reply = await bench.model.ask(PART, solution_messages(bench, ()), sampling, tools)
        return await _tried(bench, solution_in(reply, bench.model.name), searches)


class NoTool(ToolCoder):
    """The same without the tool."""

    name = "toolcoder-no-tool"
    has_tool = False


class NoQuery(ToolCoder):
    """The same without queries."""

    name = "toolcoder-no-query"
    has_query = False


async def _found(bench: Workbench, query: str, k: int) -> Answer:
    """The search results, if they come in time; otherwise raises NotFoundError with the reason."""
    bench.tell(PART, "Looking up APIs")
    # A search that is abandoned may block the index: what the code is checked with is read
    # beforehand.
    _ = bench.libraries.known
    try:
        return await within(_SEARCH_SECONDS, lambda: lookup.search(bench, query, k))
    except TimeoutError:
        raise NotFoundError(f"The search did not end within {_SEARCH_SECONDS:g} s.") from None
    except RetrievalError as error:
        raise NotFoundError(str(error)) from error


async def within(seconds: float, work: Callable[[], ResultT]) -> ResultT:
    """The result of ``work``, which blocks; raises TimeoutError if it takes too long."""
    going_on = Slots(1).start(work)
    assert going_on is not None, "the one slot is free"
    with anyio.fail_after(seconds):
        return await asyncio.wrap_future(going_on)


async def _tried(bench: Workbench, code: str, searches: Sequence[Search]) -> Attempt:
    """Run and check the code; imports that are added before it, or left out because they repeat
    the context's, shift the lines of the searches."""
    attempt = await try_solution(bench, code)
    written, ran = code.rstrip("\n"), attempt.code.rstrip("\n")
    is_shifted = ran.endswith(written) or written.endswith(ran)
    shift = ran.count("\n") - written.count("\n") if is_shifted else 0
    new_searches = (
        one if one.line is None else one.model_copy(update={"line": max(1, one.line + shift)})
        for one in searches
    )
    return attempt.model_copy(update={"searches": tuple(new_searches)})


def _prompt(bench: Workbench, head: str, has_query: bool) -> str:
    task = bench.exploration.task
    prompt = render(
        "toolcoder",
        "text",
        query=has_query,
        task=stub.without_stub(task.text, task.stub),
        entry_point="" if head else task.entry_point or "",
        wanted="" if head else listed(result_names(task)),
        library=bench.libraries.words,
        context=task.context.strip("\n"),
        head=head.rstrip("\n"),
    )
    return prompt if stub.assignment_target(task.stub) else f"{prompt}\n"


def _head(bench: Workbench) -> str:
    """The given beginning of the code, which the model continues."""
    task = bench.exploration.task
    if not task.stub:
        return ""
    is_assignment = stub.assignment_target(task.stub) is not None
    return task.stub.rstrip() if is_assignment else f"{task.stub.rstrip()}\n"
