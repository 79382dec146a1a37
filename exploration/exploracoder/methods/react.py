"""ReAct: alternating thoughts, actions and observations, until the code is written.

Source: Yao et al. 2023. Their actions are text; here they are function calls if the endpoint has
those, and text otherwise. The answer is run: a failure is one more observation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from exploracoder.engine.exploring.functions import functions
from exploracoder.engine.finishing.solution_prompt import failure_words, solution_messages
from exploracoder.engine.finishing.synthesis import PART, try_solution
from exploracoder.engine.reading.replies import code_block, no_code
from exploracoder.engine.workbench import Workbench
from exploracoder.methods.action_text import OBSERVATION, Action, action_in, answer_in
from exploracoder.methods.method import Method
from exploracoder.methods.one_shot import ONE_SHOT, SAMPLED, record
from exploracoder.models.chat import Message, Reply
from exploracoder.models.model_functions import MAX_CALLS, Tool, answer
from exploracoder.prompts import fenced, render
from exploracoder.state import Attempt


class React(Method):
    """An agent that searches, reads and tries things out before it answers."""

    name = "react"
    published: Mapping[str, object] = SAMPLED
    overrides: Mapping[str, object] = ONE_SHOT

    async def run(self, bench: Workbench) -> None:
        """Let the agent work, for at most as many turns as the settings allow."""
        if bench.exploration.solution is not None:
            return
        variables = await bench.sidecar.variables(bench.branches.root)
        tools = functions(bench, PART, bench.branches.root, variables)
        in_text = bench.settings.functions == "off" or not bench.model.supports_tools
        await _Agent(bench, tools, in_text).work()


@dataclass(slots=True)
class _Agent:
    """The conversation with an agent, whose actions are function calls or ``in_text``.

    ``notes`` are what it has found out since its last answer.
    """

    bench: Workbench
    tools: Sequence[Tool]
    in_text: bool
    messages: list[Message] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)

    async def work(self) -> None:
        """Ask and act, until an answer leaves no doubt or the turns are used up.

        Raises BudgetError, ModelError, and NoCodeError where no answer has code in it.
        """
        self._open()
        turns, is_last = self.bench.settings.turns, False
        for number in range(turns):
            is_last = is_last or number + 1 == turns
            reply = await self._ask(number, is_last)
            if not self.in_text and not self.bench.model.supports_tools:
                # The request went out without: only now is it known that the server has none.
                self.in_text = True
                self._open()
                continue
            if await self._take(reply, is_last) or is_last:
                break
            is_last = self.bench.limits.is_late
            if is_last or number + 2 == turns:
                self._add_to_last(self._words("last"))
        if not self.attempts:
            raise no_code(self.bench.model.name, reply.text, *reply.finish_reasons[:1])

    def _open(self) -> None:
        descriptions = [
            {"name": one.name, "description": one.description, "input": _input_of(one)}
            for one in self.tools
        ]
        system = render(
            "react",
            "actions" if self.in_text else "functions",
            library=self.bench.libraries.words,
            turns=self.bench.settings.turns,
            tools=descriptions,
            check=bool(self.bench.exploration.task.check),
        )
        self.messages = [Message("system", system), solution_messages(self.bench, ())[-1]]

    async def _ask(self, number: int, is_last: bool) -> Reply:
        tokens = self.bench.settings.solution_tokens
        sampling = self.bench.model.sampling(PART, number=number, max_tokens=tokens)
        if self.in_text:
            sampling = dataclasses.replace(sampling, stop=(f"\n{OBSERVATION}",))
        schemas = [] if self.in_text or is_last else [one.as_dict() for one in self.tools]
        model = self.bench.model.for_part(PART)
        return await model.complete(self.messages, sampling, tools=schemas)

    async def _take(self, reply: Reply, is_last: bool) -> bool:
        """Carry out a reply's action, or run its answer; returns whether that leaves no doubt."""
        action = action_in(reply.text, self.tools) if self.in_text else None
        if action is not None and not is_last:
            await self._act(action)
            return False
        if reply.calls and not is_last:
            await self._call(reply)
            return False
        self.messages.append(Message("assistant", reply.text))
        code = code_block(answer_in(reply.text) if self.in_text else reply.text)
        if not code:
            self._observe(self._words("neither"))
            return False
        attempt = await try_solution(self.bench, code)
        self.attempts.append(attempt.model_copy(update={"notes": tuple(self.notes)}))
        self.notes.clear()
        await record(self.bench, self.attempts, ())
        if not attempt.leaves_no_doubt:
            self._observe(self._words("failed", failure=failure_words(self.bench, attempt)))
        return attempt.leaves_no_doubt

    async def _act(self, action: Action) -> None:
        """Call the function that an action in the text names."""
        result = await answer(self.tools, action.call)
        self.notes.append(f"{action.text}\n{OBSERVATION}\n{result}")
        self.messages.append(Message("assistant", action.text))
        self._observe(fenced(result, "text"))

    async def _call(self, reply: Reply) -> None:
        """Call the functions that a reply requests."""
        self.messages.append(Message("assistant", reply.text, calls=reply.calls))
        for number, call in enumerate(reply.calls):
            is_called = number < MAX_CALLS
            result = await answer(self.tools, call) if is_called else "Too many calls in one turn."
            self.notes.append(f"{call.name}({call.arguments})\n{result}")
            self.messages.append(Message("tool", result, call_id=call.id))

    def _observe(self, text: str) -> None:
        head = f"{OBSERVATION}\n" if self.in_text else ""
        self.messages.append(Message("user", f"{head}{text}"))

    def _add_to_last(self, words: str) -> None:
        last = self.messages[-1]
        content = f"{last.content}\n\n{words}"
        self.messages[-1] = dataclasses.replace(last, content=content)

    def _words(self, part: str, **values: str) -> str:
        return render("react", part, actions=self.in_text, **values)


def _input_of(tool: Tool) -> str:
    """The description of a function's only argument."""
    (argument,) = tool.form.model_fields.values()
    return argument.description or ""
