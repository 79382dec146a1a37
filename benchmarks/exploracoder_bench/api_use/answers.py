"""How a program is got for a problem: asked for directly, or explored."""

from __future__ import annotations

import ast
import textwrap
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from exploracoder.errors import ExploraCoderError, SetupError
from exploracoder.models.chat import ChatModel, Message, Sampling

from exploracoder_bench.api_use.packages import example_context, write_packages
from exploracoder_bench.api_use.problems import Prepared

METHODS = ("direct", "exploration", "docprompting")
_INSTRUCTIONS = (
    "You complete Python programs. The libraries in them are known from their documentation alone:"
    " use only what it lists. Answer with the whole function, in one Python code block."
)
_MOST_TOKENS = 500


@dataclass(frozen=True, slots=True)
class Answer:
    """A program, and what it cost; ``failure`` says why there is none."""

    sample: int
    program: str
    seconds: float
    completion_tokens: int = 0
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Asking:
    """How answers are asked for: the method, a temperature and a seed, how docs are written, and
    the profile of an exploration.

    Explorations take the temperature for drafts and solutions; their plans are drawn at 0.3 at
    most.
    """

    method: str
    temperature: float
    seed: int
    max_seconds: float
    folder: Path
    formatting: str = "python"
    profile: str = "standard"

    @property
    def settings(self) -> dict[str, str | int | float]:
        """What decides an answer besides the problem, the method and the model."""
        shared: dict[str, str | int | float] = {
            "temperature": self.temperature,
            "seed": self.seed,
        }
        if self.method == "direct":
            return shared | {"format": self.formatting}
        return shared | {"max_seconds": self.max_seconds, "profile": self.profile}


async def answers(
    prepared: Prepared, model: ChatModel, asking: Asking, samples: range
) -> AsyncIterator[Answer]:
    """One answer for each of ``samples``, as they come.

    Raises:
        SetupError: The model or the scratch kernel cannot be had.
    """
    if asking.method == "direct":
        for answer in await _direct(prepared, model, asking, samples):
            yield answer
        return
    for sample in samples:
        yield await _explored(prepared, model, asking, sample)


async def _direct(
    prepared: Prepared, model: ChatModel, asking: Asking, samples: range
) -> list[Answer]:
    """All samples in one request: servers read the prompt once for them."""
    sampling = Sampling(
        n=len(samples),
        temperature=asking.temperature,
        max_tokens=_MOST_TOKENS,
        seed=asking.seed + samples.start,
    )
    messages = [Message("system", _INSTRUCTIONS), Message("user", prepared.prompt)]
    started = time.monotonic()
    reply = await model.complete(messages, sampling)
    seconds = (time.monotonic() - started) / len(reply.texts)
    tokens = reply.usage.completion_tokens // len(reply.texts)
    return [
        Answer(sample, whole_program(code_of(text), prepared), seconds, tokens)
        for sample, text in zip(samples, reply.texts, strict=False)
    ]


async def _explored(prepared: Prepared, model: ChatModel, asking: Asking, sample: int) -> Answer:
    """The solution of an exploration of packages that only record."""
    from exploracoder.api import explore
    from exploracoder.workspace import Options

    folder = asking.folder / asking.method / f"{prepared.problem.id}-{sample}"
    packages = write_packages(prepared.shelf, prepared.shown, folder / "libraries")
    started = time.monotonic()
    try:
        done = await explore(
            task_of(prepared),
            libraries=[str(package) for package in packages],
            context=example_context(prepared.outer, prepared.shelf),
            entry_point=prepared.problem.func_name,
            model=model,
            output=folder / "exploration.ipynb",
            options=Options(
                profile=asking.profile,
                method=asking.method,
                seed=asking.seed + sample,
                readable=[folder / "libraries"],
                settings={
                    "max_seconds": asking.max_seconds,
                    "temperature": asking.temperature,
                },
            ),
        )
    except SetupError:
        raise
    except ExploraCoderError as error:
        return Answer(sample, "", time.monotonic() - started, failure=str(error))
    seconds = time.monotonic() - started
    tokens = done.usage.completion_tokens
    if done.solution is None:
        return Answer(sample, "", seconds, tokens, "there was no solution within the limits")
    return Answer(sample, whole_program(done.solution.final.code, prepared), seconds, tokens)


def task_of(prepared: Prepared) -> str:
    """The task of an exploration: it says what the prompt says, but for the documentation."""
    names = ", ".join(one.name for one in prepared.outer)
    head = f"Write a function {prepared.problem.func_name}({names})"
    text = prepared.problem.description.strip().rstrip(".")
    parts = [f"{head} that {text}." if text else f"{head}."]
    if prepared.examples:
        parts.append("Other tasks, and their solutions with the same functions:")
    for task, solution in prepared.examples:
        # Without a fence: a function in one may be the unfinished code that is asked for.
        parts += [task, textwrap.indent(solution, "    ")]
    return "\n\n".join(parts)


def code_of(reply: str) -> str:
    """The code in a model's reply."""
    from exploracoder.engine.reading.replies import code_block

    return code_block(reply)


def whole_program(code: str, prepared: Prepared) -> str:
    """A program from what a model wrote: with the prompt's imports, without trying itself out.

    A reply that only has the function's body goes below the line that the prompt ended with.
    """
    *imports, head = prepared.header.splitlines()
    if f"def {prepared.problem.func_name}" not in code:
        body = "\n".join(f"    {line}" for line in code.splitlines())
        code = f"{head}\n{body if not code.startswith((' ', chr(9))) else code}"
    return "\n".join([*imports, _without_trials(code)]) + "\n"


def _without_trials(code: str) -> str:
    """The program without calls at its top: a function's examples are no part of its data flow."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code
    kept = [node for node in tree.body if not isinstance(node, (ast.Expr, ast.If))]
    lines = code.splitlines()
    parts = []
    for node in kept:
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(one.lineno for one in decorators)])
        parts += lines[first - 1 : node.end_lineno]
    return "\n".join(parts)
