"""What a sidecar answers about names, and about its branches."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

BranchState = Literal["idle", "busy", "dormant", "dead"]
Creation = Literal["root", "fork", "replay"]


class ResolvedName(BaseModel):
    """Whether a dotted name exists in a branch.

    Attributes:
        exists: None where only running the user's code could tell (``__getattr__``, a property).
        owner: Path of the deepest part that exists and was asked for the next; empty for a name.
        owner_type: Type of that owner as ``module.QualName``.
        nearest: At most five real names of the owner that are like the missing one, best first.
        signature: Call signature, of what exists and is callable.
        doc_summary: First paragraph of the docstring on one line.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    exists: bool | None
    owner: str = ""
    owner_type: str = ""
    nearest: tuple[str, ...] = ()
    signature: str | None = None
    doc_summary: str | None = None


class Completions(BaseModel):
    """Texts that may stand in place of ``code[start:end]``; ``metadata`` is for front ends."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    matches: tuple[str, ...] = ()
    start: int
    end: int
    metadata: dict[str, Any] = {}


class Inspection(BaseModel):
    """What a reader wants to know of a name; ``line`` counts from 1 in ``file``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    found: bool
    type: str = ""
    signature: str | None = None
    documentation: str | None = None
    file: str | None = None
    line: int | None = None


class BranchInfo(BaseModel):
    """One line of the tree of branches.

    Attributes:
        cells: How many accepted cells its state comes from, its ancestors' included.
        state: ``dormant`` when its process was ended to save memory, ``dead`` when it ended by
            itself; a later run builds either again.
        created: How its state came about. ``note`` says why it was not forked, if it was not.
        goal: What the branch is for, in the words of whoever made it.
        own_bytes: Memory that only this branch holds; None when it was not measured.
        shared_bytes: Memory that it shares with branches it was forked from or to, or with others.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    parent: str | None
    cells: int
    state: BranchState
    created: Creation
    note: str = ""
    goal: str = ""
    own_bytes: int | None = None
    shared_bytes: int | None = None
