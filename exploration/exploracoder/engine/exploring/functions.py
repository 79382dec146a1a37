"""Functions that the model may call: to find APIs, to read about them, and to try out code.
Source: ToolCoder, sections 3.1 and 3.4 (searching), and RepoClassBench (RRR: the tools). There a
fine-tuned model writes the call into its code, or a fixed loop makes it; here the model decides.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from exploracoder_kernel.observation import Variable
from exploracoder_retrieval.errors import RetrievalError
from pydantic import BaseModel, ConfigDict, Field

from exploracoder.engine.knowing.lookup import FOUND, Query, in_words, search
from exploracoder.engine.knowing.source_lookup import describe_source
from exploracoder.engine.reading.value_text import (
    clip,
    describe_api,
    describe_error,
    describe_output,
    describe_variables,
)
from exploracoder.engine.running.trial import Trial
from exploracoder.engine.workbench import Workbench
from exploracoder.models.model_functions import Tool
from exploracoder.state import Candidate

# A doc that was requested by name is shown at greater length than one that was only found.
_WHOLE = 4
_SAME_NAME = 3


class NameArgument(BaseModel):
    """What `read_doc` and `read_source` are asked."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="the API's import path, or Class.member, or its last name")


class Snippet(BaseModel):
    """What `try_code` is asked."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(description="a few lines of Python that print what is in question")


def functions_for(trial: Trial, *, is_repair: bool) -> tuple[Tool, ...]:
    """The functions that may be called before a draft or repair; none unless the settings say so.

    Each draft or repair allows at most `model_functions.MAX_CALLS` calls in total.
    """
    bench, part = trial.bench, trial.step.subtask.id
    mode = bench.settings.functions
    is_lacking = is_repair or not trial.step.recommendation.kept
    if mode == "off" or (mode == "repairs" and not is_lacking):
        return ()
    return functions(bench, part, trial.base, trial.variables, trial.shown.candidates)


def functions(
    bench: Workbench,
    part: str,
    base: str,
    variables: Sequence[Variable] = (),
    candidates: Sequence[Candidate] = (),
) -> tuple[Tool, ...]:
    """The functions for one part of the work, which try code in forks of the branch ``base``.

    The values of ``variables`` and the output of ``candidates`` are not sent to the web.
    """
    toolbox = _Functions(bench, part, base, variables, list(candidates))
    web = " and on the web" if bench.settings.web_search != "off" else ""
    return (
        Tool("find_apis", f"Find APIs in the library's documentation{web}.", Query, toolbox.find),
        Tool("read_doc", "Read an API's documentation in full.", NameArgument, toolbox.read_doc),
        Tool("read_source", "Read how an API is written.", NameArgument, toolbox.read_source),
        Tool(
            "try_code",
            "Run lines in a copy of the notebook as it is now, which is thrown away afterwards.",
            Snippet,
            toolbox.try_code,
        ),
    )


@dataclass(frozen=True, slots=True)
class _Functions:
    """The functions of one part of the work; what they answer is data for the model."""

    bench: Workbench
    part: str
    base: str
    variables: Sequence[Variable]
    tries: list[Candidate]

    async def find(self, request: Query) -> str:
        self._tell("Looking up APIs")
        try:
            answer = await asyncio.to_thread(
                search,
                self.bench,
                request.query,
                FOUND,
                variables=self.variables,
                tries=self.tries,
            )
        except RetrievalError as error:
            return str(error)
        return in_words(self.bench, answer)

    async def read_doc(self, request: NameArgument) -> str:
        self._tell("Reading the docs")
        name = request.name.strip("`() ")
        docs = self.bench.libraries.known.meant(name)[:_SAME_NAME]
        chars = _WHOLE * self.bench.settings.doc_chars
        text = "\n".join(describe_api(one, chars) for one in docs)
        return text or f"There is no documentation of {name[:80]}."

    async def read_source(self, request: NameArgument) -> str:
        self._tell("Reading the source")
        name = request.name.strip("`() ")
        for path in self.bench.libraries.known.places(name)[: 1 + _SAME_NAME]:
            if source := await asyncio.to_thread(describe_source, self.bench, path, True):
                return clip(source, _WHOLE * self.bench.settings.source_chars)
        return f"There is no source of {name[:80]}."

    async def try_code(self, request: Snippet) -> str:
        bench, chars = self.bench, self.bench.settings.output_chars
        branches, code = bench.branches, request.code
        branch, observation = await branches.run_in_fork(self.part, self.base, code)
        await bench.sidecar.drop(branch)
        id_ = f"{self.part}/{1 + len(self.tries)}"
        candidate = Candidate(id=id_, code=request.code, origin="draft", observation=observation)
        self.tries.append(candidate)
        output = describe_output(observation, chars)
        if not observation.ran:
            return f"{output}\n{describe_error(observation, request.code, chars)}".strip()
        return output or describe_variables(observation.variables) or "It ran and printed nothing."

    def _tell(self, words: str) -> None:
        self.bench.tell(self.part, words)
