"""The outcome of one sample: a problem, a method and a seed."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

RunStatus = Literal["solved", "unverified", "failed", "cancelled", "setup"]
# Whose fault it is that a sample does not count: the model could not be asked, its server refused
# a request, code could not be run (interpreter, library, data, scratch kernel), or the harness.
Fault = Literal["", "model", "request", "execution", "harness"]
RunKey = tuple[str, str, int, tuple[str, ...]]


class ChainFacts(BaseModel):
    """What a saved exploration shows of its chain.

    ``explored`` counts the chain's subtasks, planned or written as cells, but for those left out;
    whether the model was asked for one apart is ``RunResult.explored_steps``. ``ran`` counts those
    that have an experience that ran; both are 0 if none was tried, which is not a chain.
    ``broken_at`` is the number, from 1, of the first subtask without such an experience; 0 when
    there is none. ``apis`` counts the library's APIs in the experiences, ``recommended`` are the
    import paths that any prompt showed, best first.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    explored: int = 0
    ran: int = 0
    broken_at: int = 0
    error: str = ""
    apis: int = 0
    recommended: tuple[str, ...] = ()


class RunResult(BaseModel):
    """The outcome of one run.

    ``seconds`` is the wall time of the whole command, ``seconds_exploration`` that of the
    exploration in it; neither means anything if there are ``cached_calls``, replies kept from an
    interrupted run, and both depend on ``jobs``, how many samples ran at a time at most (None in a
    line that an earlier version wrote). ``setup`` means that the command could not do its work,
    which says nothing about the method; ``fault`` says whose failure that is.
    ``tests_passed`` of ``tests`` is the share of the problem's tests that the solution passes; a
    check is one test.
    ``ran`` says that the solution's text ran, ``executed`` that its check did not go wrong either,
    except for a failed assertion; it is None in a line that an earlier version wrote.
    ``second_check`` says whether the solution passes with the problem's second data; one that does
    not, and is solved, has probably hard-coded a value or its input. It is None if there are no
    such data.
    ``checked`` counts the texts in the trace that the method had checked; it may have tried more,
    and kept none of them. None is as above.
    ``explored_steps`` counts the subtasks for which the model was asked for drafts or repairs of
    their own, ``looks`` how often it was shown what its cells and its solution gave; both are None
    for methods that cannot explore, and as above. ``came_of_exploring`` says whether the solution
    was made after such a subtask.
    ``called`` are the names that the solution calls as the libraries' own, ``unknown`` those of
    them that the libraries do not have.
    ``oracle_calls`` has the share of tests passed for each judged text of a class, in order.
    ``provenance`` is the key of what the plan says it was run with; empty as above.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    problem: str
    dataset: str
    method: str
    seed: int
    options: tuple[str, ...] = ()
    status: RunStatus
    fault: Fault = ""
    exit_code: int
    ran: bool = False
    executed: bool | None = None
    checked: int | None = None
    checks: str = "none"
    second_check: bool | None = None
    reason: str = ""
    solution: str = ""
    tests: int = 1
    tests_passed: int = 0
    oracle_calls: tuple[float, ...] = ()
    subtasks: int = 0
    explored_steps: int | None = None
    looks: int | None = None
    came_of_exploring: bool = False
    candidates: int = 0
    calls: int = 0
    cached_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    subtask_tokens: int = 0
    seconds_model: float = 0.0
    seconds_execution: float = 0.0
    seconds_exploration: float = 0.0
    seconds: float = 0.0
    jobs: int | None = None
    chain: ChainFacts = ChainFacts()
    gold: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    provenance: str = ""

    @property
    def key(self) -> RunKey:
        """What identifies this run."""
        return (self.problem, self.method, self.seed, self.options)

    @property
    def is_solved(self) -> bool:
        """Whether the solution ran and its checks passed."""
        return self.status == "solved"

    @property
    def is_solved_by_exploring(self) -> bool:
        """Whether it is solved by something made after a subtask was explored."""
        return self.is_solved and self.came_of_exploring

    @property
    def counts(self) -> bool:
        """Whether it says something about the method."""
        return self.status not in ("setup", "cancelled")
