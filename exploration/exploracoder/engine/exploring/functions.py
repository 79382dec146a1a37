"""What the model may ask for itself while it explores a step: functions that the endpoint calls.

Source: ToolCoder, sections 3.1 and 3.4 (searching), and RepoClassBench (RRR: the tools). There a
fine-tuned model writes the call into its code, or a fixed loop makes it; here the model decides.
"""

from __future__ import annotations

import asyncio

from exploracoder_retrieval.errors import RetrievalError
from pydantic import BaseModel, ConfigDict, Field

from exploracoder.engine.knowing.lookup import FOUND, Query, in_words, search
from exploracoder.engine.knowing.source_lookup import describe_source
from exploracoder.engine.reading.wording import (
    clip,
    describe_api,
    describe_error,
    describe_output,
    describe_variables,
)
from exploracoder.engine.running.trial import Trial
from exploracoder.models.tools import Tool

# Of a doc that was asked for by name more is shown than of those that were only found.
_WHOLE = 4
_SAME_NAME = 3


class Named(BaseModel):
    """What `read_doc` and `read_source` are asked."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="the API's import path, or Class.member, or its last name")


class Snippet(BaseModel):
    """What `try_code` is asked."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(description="a few lines of Python that print what is in question")


def functions_for(trial: Trial, *, is_repair: bool) -> tuple[Tool, ...]:
    """What may be called before one draft or repair of a step; nothing unless the settings say so.

    Together they are called at most `tools.MAX_CALLS` times for each.
    """
    chosen = trial.bench.settings.functions
    is_lacking = is_repair or not trial.step.recommendation.kept
    if chosen == "off" or (chosen == "repairs" and not is_lacking):
        return ()
    asked = _Functions(trial)
    web = " and on the web" if trial.bench.settings.web_search != "off" else ""
    return (
        Tool("find_apis", f"Find APIs in the library's documentation{web}.", Query, asked.find),
        Tool("read_doc", "Read an API's documentation in full.", Named, asked.read_doc),
        Tool("read_source", "Read how an API is written.", Named, asked.read_source),
        Tool(
            "try_code",
            "Run lines in a copy of the notebook as it is now, which is thrown away afterwards.",
            Snippet,
            asked.try_code,
        ),
    )


class _Functions:
    """The functions of one trial; what they answer is data for the model."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._bench = trial.bench

    async def find(self, asked: Query) -> str:
        self._tell("Looking up APIs")
        shown = self._trial.shown
        try:
            answer = await asyncio.to_thread(
                search,
                self._bench,
                asked.query,
                FOUND,
                variables=self._trial.variables,
                tried=shown.candidates,
            )
        except RetrievalError as error:
            return str(error)
        return in_words(self._bench, answer)

    async def read_doc(self, asked: Named) -> str:
        self._tell("Reading the docs")
        name = asked.name.strip("`() ")
        docs = self._bench.libraries.known.meant(name)[:_SAME_NAME]
        chars = _WHOLE * self._bench.settings.doc_chars
        said = "\n".join(describe_api(one, chars) for one in docs)
        return said or f"There is no documentation of {name[:80]}."

    async def read_source(self, asked: Named) -> str:
        self._tell("Reading the source")
        name = asked.name.strip("`() ")
        for path in self._bench.libraries.known.places(name)[: 1 + _SAME_NAME]:
            if said := await asyncio.to_thread(describe_source, self._bench, path, True):
                return clip(said, _WHOLE * self._bench.settings.source_chars)
        return f"There is no source of {name[:80]}."

    async def try_code(self, asked: Snippet) -> str:
        bench, chars = self._bench, self._bench.settings.output_chars
        branch = await bench.sidecar.fork(self._trial.base)
        try:
            observation = await bench.branches.run(self._trial.step.subtask.id, branch, asked.code)
        finally:
            await bench.sidecar.drop(branch)
        output = describe_output(observation, chars)
        if not observation.ran:
            return f"{output}\n{describe_error(observation, asked.code, chars)}".strip()
        return output or describe_variables(observation.variables) or "It ran and printed nothing."

    def _tell(self, words: str) -> None:
        self._bench.tell(self._trial.step.subtask.id, words)
