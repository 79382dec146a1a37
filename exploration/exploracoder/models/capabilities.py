"""What a model and its server can do, as far as it was probed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from exploracoder.models.dialect import SchemaMode
from exploracoder.models.endpoint_memory import EndpointMemory

# The user asked for the measurement, so keep it for a long time.
_KEPT_S = 365 * 24 * 3600.0

_Count = Annotated[int, Field(ge=1, lt=1 << 53)]
_Speed = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Capabilities(BaseModel):
    """What was found out; None stands for what is not known, and changes nothing.

    Attributes:
        schema_mode: How a JSON schema is conveyed so that replies keep to it; ``ignored`` where
            they do not.
        tools: Whether the model calls functions that it is offered.
        streaming: Whether replies can be had as they are written.
        several: Whether several replies can be asked for in one request.
        logprobs: Whether the probabilities of tokens can be had.
        prefix_cache: Whether a prompt that begins like the last one is read faster.
        reasons: Whether the model thinks before it answers.
        context_tokens: Longest prompt with its reply.
        parameters: The model's size, as the server or the model's name says it.
        prompt_tokens_per_s: How fast prompts are read.
        completion_tokens_per_s: How fast replies are written.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_mode: SchemaMode | Literal["ignored"] | None = None
    tools: bool | None = None
    streaming: bool | None = None
    several: bool | None = None
    logprobs: bool | None = None
    prefix_cache: bool | None = None
    reasons: bool | None = None
    context_tokens: _Count | None = None
    parameters: _Count | None = None
    prompt_tokens_per_s: _Speed | None = None
    completion_tokens_per_s: _Speed | None = None


UNKNOWN = Capabilities()


def capabilities_memory(file: Path, *server: str) -> EndpointMemory[Capabilities]:
    """Where the capabilities of one server and model are kept.

    Args:
        file: The JSON file.
        server: Identifies the server and model; no credentials.
    """
    return EndpointMemory(file, Capabilities, *server, kept_s=_KEPT_S)
