"""A task that lists its own steps is its own plan."""

from __future__ import annotations

import pytest
from exploracoder.engine.listed import steps_of

from .conftest import Explorer, Serve
from .scripted import TeaModel, fenced, kinds_asked

LISTED = """Name the strong leaves. Go by these steps:

1. Read the leaves
   out of the text.
2. Keep those that are strong.

Call the function strong_names."""


@pytest.mark.parametrize(
    ("task", "steps"),
    [
        (LISTED, ("Read the leaves out of the text.", "Keep those that are strong.")),
        ("Do it in this order:\n1) Boil.\n2) Steep.", ("Boil.", "Steep.")),
        ("Make tea. The rules:\n1. No milk.\n2. No sugar.", ()),
        ("These steps:\n1. Boil.", ()),
        ("These steps:\n2. Boil.\n3. Steep.", ()),
        ("These steps:\n1. Boil.\n2. Steep.\nThose steps:\n1. Pour.\n2. Drink.", ()),
        ("Do these steps:\n```\n1. Boil.\n2. Steep.\n```", ()),
        ("Boil 1. water, 2. tea, in steps.", ()),
        ("", ()),
    ],
)
def test_only_what_is_listed_as_steps_is_taken_for_steps(task: str, steps: tuple[str, ...]) -> None:
    assert steps_of(task) == steps


@pytest.mark.parametrize("is_asked", [False, True])
def test_the_model_is_not_asked_for_a_plan_that_is_there(
    serve: Serve, explore: Explorer, is_asked: bool
) -> None:
    drafts = {1: [fenced("import tealeaf\nleaves = tealeaf.read_leaves(text)")], 2: [fenced("2")]}
    server = serve(TeaModel(drafts=drafts))
    setting = ("--set", "listed-steps=false") if is_asked else ()
    words = explore.words(server, *explore.files(), "--json", *setting, task=LISTED)
    done = explore.run(*words)

    goals = [one["goal"] for one in done.json["subtasks"]]
    assert (goals == list(steps_of(LISTED))) is not is_asked
    assert ("plan" in kinds_asked(server)) is is_asked
