"""The papers' systems, their baselines, and ours, behind one protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from exploracoder.errors import InputError
from exploracoder.methods.method import Method

if TYPE_CHECKING:
    from exploracoder.settings import Settings

DEFAULT = "exploration"
# One line on each method for users; `find_method` knows the rest.
METHODS: Mapping[str, str] = {
    DEFAULT: "write all cells and the solution, look at what they give, explore only what fails",
    "exploracoder-paper": "ExploraCoder as published: each candidate repeats all steps",
    "exploracoder-paper-debug": "ExploraCoder*: it repairs a step of which nothing ran",
    "exploracoder-paper-no-knowledge": "ExploraCoder* without the library's summary and plans",
    "exploracoder-paper-no-chain": "ExploraCoder* without the chain: its docs, one sample",
    "exploracoder-paper-no-selection": "ExploraCoder* that does not look at what ran",
    "direct": "one sample from memory",
    "docprompting": "one sample with the docs that the task retrieves",
    "best-of-n": "the same n times; the text that passes, or that most agree with",
    "whole-docs": "one sample with all docs in full, up to the model's context",
    "react": "an agent that searches, reads and tries code out before it answers",
    "capir": "one sample with the docs that the plan's subtasks retrieve",
    "epigen": "the same, with the subtasks as instructions",
    "self-repair": "the same docs, then feedback on what failed and a repair, as often as there are"
    " subtasks",
    "toolcoder": "one sample, stopped where it opens an API search and gone on with its answer",
    "toolcoder-no-tool": "the same, with searches that the model answers itself",
    "toolcoder-no-query": "the same, with the task's text as every query",
    "basic-prompting": "a class from its description",
    "naive-rag": "a class with similar pieces of the repository",
    "reflexion": "a class, mended after reflections on what its tests say",
    "repocoder": "a class, again with pieces that are like the last text",
    "rrr": "a class, mended with what repository tools answer and a reflection",
}


def is_planned(name: str, settings: Settings) -> bool:
    """Whether a method plans with these settings: the project's own may write all cells at once."""
    return find_method(name).plans and not (name == DEFAULT and settings.cells)


def find_method(name: str) -> Method:
    """The method with this name; raises InputError if there is none."""
    from exploracoder.methods import capir, class_writers, one_shot, paper, toolcoder
    from exploracoder.methods.best_of_n import BestOfN
    from exploracoder.methods.exploration import ExplorationMethod
    from exploracoder.methods.react import React
    from exploracoder.methods.self_repair import SelfRepair
    from exploracoder.methods.whole_docs import WholeDocs

    methods: tuple[Method, ...] = (
        ExplorationMethod(),
        *paper.EXPLORING,
        paper.NoChain(),
        *(one_shot.Direct(), one_shot.DocPrompting(), BestOfN(), WholeDocs(), React()),
        *(capir.Capir(), capir.EpiGen(), SelfRepair()),
        *(toolcoder.ToolCoder(), toolcoder.NoTool(), toolcoder.NoQuery()),
        *(class_writers.BasicPrompting(), class_writers.NaiveRag(), class_writers.Reflexion()),
        *(class_writers.RepoCoder(), class_writers.Rrr()),
    )
    match = next((method for method in methods if method.name == name), None)
    if match is None:
        raise InputError(f"There is no method {name!r}. Methods: {', '.join(METHODS)}.")
    return match
