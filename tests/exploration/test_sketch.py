"""A first try from memory: taken when its names exist, else they say what to look up."""

from __future__ import annotations

import pytest
from exploracoder.testing import Failure

from .conftest import Explorer, Serve
from .scripted import SOLUTION, WRONG_SOLUTION, TeaModel, fenced, kinds_asked, whole_text

TRIES = ("--set", "cells=false", "--set")
SKETCH = (*TRIES, "first-tries=5")
ALONE = ("--set", "repair-names=false")
HEAD = '```python\ndef strong_names(text="assam 5; sencha 2; oolong 4"):\n```\n'
TASK = f"Name the leaves in a text whose strength is above 3.\n\n{HEAD}"
DOCS = "Documentation of tealeaf"
# Named as nothing in the library is; that it is about heat is all that is said.
INVENTED = SOLUTION.replace("tealeaf.read_leaves(text)", "tealeaf.boil(text)")


def test_a_sketch_whose_names_exist_is_taken_as_it_is(serve: Serve, explore: Explorer) -> None:
    server = serve()
    explore.run(*explore.words(server, *SKETCH, task=TASK))

    assert kinds_asked(server) == ["solution"]
    assert DOCS not in whole_text(server.chat_requests[-1])
    assert explore.exploration.status == "unverified"


def test_what_a_sketch_takes_for_granted_is_looked_up(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(solutions=[fenced(INVENTED), fenced(SOLUTION)]))
    words = (*SKETCH, *ALONE, "--set", "shown-apis=2", "--set", "sift=false")
    explore.run(*explore.words(server, *words, task=TASK))

    sketch_prompt, *others = (whole_text(one) for one in server.chat_requests[-3:])
    assert DOCS not in sketch_prompt
    for prompt in others:
        assert "Kettle.heat(celsius)" in prompt.partition(DOCS)[2]
        assert "tealeaf.boil" not in prompt
    solution = explore.exploration.solution
    assert solution is not None
    assert "read_leaves" in solution.final.code


@pytest.mark.parametrize("is_mended", [False, True])
def test_what_ran_before_the_model_fails_is_kept(
    serve: Serve, explore: Explorer, is_mended: bool
) -> None:
    near = SOLUTION.replace("read_leaves", "read_leafs")
    lines = [fenced(near), Failure(401)]
    if not is_mended:
        lines = [fenced(INVENTED), fenced(SOLUTION), Failure(401)]
    words = SKETCH if is_mended else (*SKETCH, *ALONE)
    explore.run(*explore.words(serve(TeaModel(solutions=lines)), *words, task=TASK))

    solution = explore.exploration.solution
    assert solution is not None
    assert "read_leaves" in solution.final.code
    assert "401" in explore.exploration.reason


def test_a_sketch_that_the_check_refuses_is_followed_by_tries_with_docs(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(TeaModel(solutions=[fenced(WRONG_SOLUTION), fenced(SOLUTION)]))
    result = explore(server, "--json", *SKETCH, *ALONE)

    assert result.json["status"] == "solved"
    assert kinds_asked(server) == ["solution", "solution"]
    assert DOCS in whole_text(server.chat_requests[-1])


def test_the_map_of_a_small_library_is_the_same_for_every_task(
    serve: Serve, explore: Explorer
) -> None:
    beginnings = []
    for task in (TASK, TASK.replace("above 3", "below 9")):
        server = serve(TeaModel(solutions=[fenced(INVENTED), fenced(SOLUTION)]))
        words = (*SKETCH, *ALONE, *explore.files(check=None))
        explore.run(*explore.words(server, *words, task=task))
        prompt = server.chat_requests[-1].last_user_message
        beginnings.append(prompt.partition("This code runs before yours")[0])

    assert beginnings[0] == beginnings[1]
    assert beginnings[0].startswith("All public APIs of tealeaf, one on a line:")
    assert "tealeaf.read_leaves(" in beginnings[0]


def test_a_sketch_that_only_says_the_context_again_is_not_taken(
    serve: Serve, explore: Explorer
) -> None:
    again = 'def strong_names(text="assam 5"):\n    text = "assam 5; sencha 2; oolong 4"'
    server = serve(TeaModel(solutions=[fenced(again), fenced(SOLUTION)]))
    explore.run(*explore.words(server, *SKETCH, task=TASK))

    solution = explore.exploration.solution
    assert solution is not None
    assert "read_leaves" in solution.final.code
