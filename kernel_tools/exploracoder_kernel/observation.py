"""What running a snippet showed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationInfo

from exploracoder_kernel import notebook

RunStatus = Literal["ok", "error", "timeout", "killed", "interrupted", "limit"]


class Variable(BaseModel):
    """A name in a branch: what it holds, in words short enough for a prompt.

    ``preview`` is ``repr`` cut to size; of a lazy object it shows the first elements, which were
    taken in a fork that was thrown away, so the object itself was not consumed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    type: str
    preview: str = ""
    length: int | None = None
    shape: tuple[int, ...] | None = None
    is_lazy: bool = False
    preview_error: str | None = None


class ErrorReport(BaseModel):
    """An exception: ``line`` counts from 1 in the snippet that was run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ename: str
    evalue: str
    traceback: tuple[str, ...] = ()
    line: int | None = None


def _as_in_a_notebook(output: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    """Check outputs from a file, which may hold anything; those of a run are valid already."""
    if info.context and not notebook.is_output(output):
        raise ValueError("it is no output of a notebook")
    return output


class Observation(BaseModel):
    """What running a snippet showed (ExploraCoder, section 3.4: executability, error, output).

    ``stdout``, ``stderr`` and ``result`` are cut in the middle when they are over the limit, and
    ``is_truncated`` says so. ``outputs`` are nbformat 4.5 outputs in order, as a front end shows
    them. ``variables`` are the names that are new or rebound; where a front end looks on they are
    looked at only when it was asked for, since that runs code of the user's.

    Attributes:
        status: ``limit`` when another limit than that of time ended it; ``limits_hit`` names it.
        execution_count: The number of the cell; None when none was counted.
        payloads: What the cell asks of a front end, as in the Jupyter protocol: ``page``,
            ``set_next_input``, ``ask_exit``. Empty without a front end.
        user_expressions: The answers to the request's, as in the Jupyter protocol.
        note: How the branch came to run it, where that was not the usual way; or whose output is
            among it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    status: RunStatus
    stdout: str = ""
    stderr: str = ""
    result: str | None = None
    outputs: tuple[Annotated[dict[str, Any], AfterValidator(_as_in_a_notebook)], ...] = ()
    error: ErrorReport | None = None
    variables: tuple[Variable, ...] = ()
    seconds: float = 0.0
    is_truncated: bool = False
    limits_hit: tuple[str, ...] = ()
    execution_count: int | None = None
    payloads: tuple[dict[str, Any], ...] = ()
    user_expressions: dict[str, Any] = {}
    note: str = ""

    @property
    def ran(self) -> bool:
        """Whether the snippet finished without an exception."""
        return self.status == "ok"


class CellRun(BaseModel):
    """A cell of a subtask that somebody ran by hand, in a branch that was made for it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    subtask: str
    code: str
    branch: str
    observation: Observation
