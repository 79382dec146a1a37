"""A model that knows its lines."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from exploracoder.testing import Outcome, RecordedRequest, ScriptedModelServer

CONTEXT = 'text = "assam 5; sencha 2; oolong 4"\n'
# Of what the last of the three subtasks makes.
NAMES_CHECK = 'assert names == ["assam", "oolong"]\n'
CHECK = 'assert strong_names("assam 5; sencha 2; oolong 4") == ["assam", "oolong"]\n'
TASK = "Name the leaves in a text whose strength is above 3."
GOALS = (
    "Read the leaves out of the text",
    "Keep the strong leaves in a lazy pipeline",
    "Collect the names of what was kept",
)

READ = "import tealeaf\nleaves = tealeaf.read_leaves(text)\nprint(leaves)"
KEEP = (
    "kept = list(tealeaf.Flow(leaves).keep(lambda leaf: leaf.strength > 3))\n"
    "print([leaf.strength for leaf in kept])"
)
COLLECT = "names = [leaf.name for leaf in kept]\nprint(names)"
SOLUTION = """\
import tealeaf

def strong_names(text):
    leaves = tealeaf.read_leaves(text)
    return [leaf.name for leaf in tealeaf.Flow(leaves).keep(lambda leaf: leaf.strength > 3)]"""
LOST = 'raise NotImplementedError("not known yet")'
FEEDBACK = "The strength is compared with the wrong number."
WRONG_SOLUTION = SOLUTION.replace("> 3", "> 4")

_KINDS = {
    "summary": r"introductions",
    "example_plan": r"as a plan",
    "plan": r"[Bb]reak a programming task",
    "rerank": r"choose the APIs",
    "arguments": r"choose example values",
    "cells": r"You write Python with",
    "explore": r"exploring|explore the Python library",
    "solution": r"write the code",
    "feedback": r"review Python code",
    "class": r"write a class",
    "tools": r"mend a Python class",
    "reflection": r"review a Python class",
}


def fenced(code: str) -> str:
    """Code as a model answers with it."""
    return f"```python\n{code}\n```"


def system_message(request: RecordedRequest) -> str:
    """The first turn of a conversation."""
    return str(request.body["messages"][0]["content"])


def whole_text(request: RecordedRequest) -> str:
    """All that a request says."""
    return "\n".join(str(turn["content"]) for turn in request.body["messages"])


def kind_of(request: RecordedRequest) -> str:
    """What is asked for: a prompt's name, or ``draft``, ``debug``, ``repair``."""
    system = system_message(request)
    kind = next((name for name, mark in _KINDS.items() if re.search(mark, system)), "unknown")
    if kind == "explore":
        return "draft" if re.search(r"Step \d+ of \d+", request.last_user_message) else "debug"
    if kind == "cells":
        is_look = any(turn["role"] == "assistant" for turn in request.body["messages"])
        return "look" if is_look else "write"
    if kind == "solution" and any(turn["role"] == "assistant" for turn in request.body["messages"]):
        return "repair"
    return kind


def script_of(
    goals: Sequence[str], codes: Sequence[str], solution: str = "", calls: str = ""
) -> str:
    """A reply with cells and the solution."""
    parts = [
        f"### {number}. {goal}\n{fenced(code)}"
        for number, (goal, code) in enumerate(zip(goals, codes, strict=False), 1)
    ]
    parts += [f"### Solution\n{solution}"] if solution else []
    parts += [f"### Calls\n{fenced(calls)}"] if calls else []
    return "\n".join(parts)


def step_of(request: RecordedRequest) -> int:
    """The number of the step that a draft or its repair is for, counting from 1."""
    numbers = re.findall(r"Step (\d+) of \d+", whole_text(request))
    return int(numbers[-1])


def kinds_asked(server: ScriptedModelServer) -> list[str]:
    """What was asked, without what is derived once for a library."""
    kinds = [kind_of(request) for request in server.chat_requests]
    return [kind for kind in kinds if kind not in ("summary", "example_plan")]


@dataclass
class TeaModel:
    """Answers each kind of question with its own lines in turn, the last again and again.

    What it writes first are cells for the ``goals``, each with the step's first draft, and the
    first solution, unless ``scripts`` say otherwise; one that ``is_lost`` writes cells that fail
    and no solution, so that each step is explored. When it looks at what came out, it finds it
    right, unless ``looks`` do. ``drafts`` and ``debugs`` are by step, counting from 1; a list
    within them goes to the choices of one request. ``said`` keeps the texts that were answered
    with.
    """

    goals: Sequence[str] = GOALS
    drafts: Mapping[int, Sequence[Outcome]] = field(default_factory=dict)
    debugs: Mapping[int, Sequence[Outcome]] = field(default_factory=dict)
    solutions: Sequence[Outcome] = (fenced(SOLUTION),)
    repairs: Sequence[Outcome] = (fenced(SOLUTION),)
    plans: Sequence[Outcome] = ()
    scripts: Sequence[Outcome] = ()
    looks: Sequence[Outcome] = ("### Done",)
    is_lost: bool = False
    reranks: Sequence[Outcome] = (json.dumps({"relevant": [1, 2, 3, 4]}),)
    arguments: Sequence[Outcome] = (json.dumps({"text": "'assam 5'"}),)
    asked: dict[tuple[str, int], int] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: RecordedRequest) -> Outcome:
        if not request.path.endswith("/completions"):
            return ""
        kind = kind_of(request)
        step = step_of(request) if kind in ("draft", "debug") else 0
        lines = self._lines(kind, step)
        with self.lock:
            number = self.asked.get((kind, step), 0)
            self.asked[kind, step] = number + 1
            outcome = lines[min(number, len(lines) - 1)]
            if isinstance(outcome, str):
                self.said += [outcome] * int(request.body.get("n") or 1)
        return outcome

    def _lines(self, kind: str, step: int) -> Sequence[Outcome]:
        own: dict[str, Callable[[], Sequence[Outcome]]] = {
            "summary": lambda: ["Tealeaf reads leaves, sorts them in flows and brews them."],
            "example_plan": lambda: [
                json.dumps({"task": "Brew a pot.", "subtasks": ["Heat the kettle", "Pour it"]})
            ],
            "plan": lambda: self.plans or [json.dumps({"subtasks": list(self.goals)})],
            "write": lambda: self.scripts or [self._script()],
            "look": lambda: self.looks,
            "rerank": lambda: self.reranks,
            "arguments": lambda: self.arguments,
            "draft": lambda: self.drafts.get(step) or [fenced([READ, KEEP, COLLECT][step - 1])],
            "debug": lambda: self.debugs.get(step) or [fenced([READ, KEEP, COLLECT][step - 1])],
            "solution": lambda: self.solutions,
            "feedback": lambda: [FEEDBACK],
            "repair": lambda: self.repairs,
        }
        if kind not in own:
            raise AssertionError("a prompt that this model does not know")
        return own[kind]()

    def _script(self) -> str:
        """The cells and the solution, made of the first draft of each step and the first text."""
        if self.is_lost:
            return script_of(self.goals, [LOST] * len(self.goals))
        usual = [READ, KEEP, COLLECT]
        codes = [
            _first_code(self.drafts.get(number)) or usual[(number - 1) % len(usual)]
            for number in range(1, len(self.goals) + 1)
        ]
        solution = self.solutions[0] if isinstance(self.solutions[0], str) else fenced(SOLUTION)
        return script_of(self.goals, codes, solution)


def _first_code(outcomes: Sequence[Outcome] | None) -> str:
    """The code of the first draft; empty where that is none."""
    first = outcomes[0] if outcomes else ""
    text = first if isinstance(first, str) else first[0] if isinstance(first, list) else ""
    match = re.search(r"```python\n(.*?)\n```", str(text), re.DOTALL)
    return match[1] if match else ""


@dataclass
class Writer:
    """Goes on with texts: its pieces in turn, the last again and again; else it is a TeaModel."""

    pieces: Sequence[Outcome]
    talker: TeaModel = field(default_factory=TeaModel)
    lock: threading.Lock = field(default_factory=threading.Lock)
    written: int = 0

    def __call__(self, request: RecordedRequest) -> Outcome:
        if not request.is_text:
            return self.talker(request)
        with self.lock:
            number, self.written = self.written, self.written + 1
        return self.pieces[min(number, len(self.pieces) - 1)]


@dataclass
class Model:
    """A scripted model whose lines a test can change while its server runs."""

    script: Callable[[RecordedRequest], Outcome] = field(default_factory=TeaModel)

    def __call__(self, request: RecordedRequest) -> Outcome:
        return self.script(request)
