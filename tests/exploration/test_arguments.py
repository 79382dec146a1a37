"""A function is explored with example values for its parameters, and called when it is written."""

from __future__ import annotations

import json

import pytest
from exploracoder import commands as c
from exploracoder import prepare
from exploracoder.engine.exploring import arguments
from exploracoder.engine.reading import stub
from exploracoder.settings import make_settings
from exploracoder.state import Exploration, Solution
from exploracoder.tasks import make_task
from exploracoder.testing import Failure

from .conftest import Explorer, Serve, model_words
from .live_sessions import live_session
from .scripted import READ, TeaModel, fenced, kind_of, kinds_asked, whole_text

VALUES = 'text = "assam 5; sencha 2; oolong 4"'
HEAD = "def strong_names(text, least=3):"
KNOWN = 'def strong_names(text="assam 5; sencha 2; oolong 4", least=3):'
KEEP = "kept = [leaf for leaf in leaves if leaf.strength > least]\nprint(kept)"
COLLECT = "names = [leaf.name for leaf in kept]\nprint(names)"
# The values are the first step.
DRAFTS = {2: [fenced(READ)], 3: [fenced(KEEP)], 4: [fenced(COLLECT)]}
WRITTEN = """\
import tealeaf

def strong_names(text, least=3):
    return [leaf.name for leaf in tealeaf.read_leaves(text) if leaf.strength > least]"""
OTHER = WRITTEN.replace("leaf.name", "leaf.name.upper()")
FAILS = WRITTEN.replace("leaf.name for", "leaf.flavour for")
BODY = """import tealeaf

example_result = [leaf.flavour for leaf in tealeaf.read_leaves(text) if leaf.strength > least]"""

# For models that plan: those that write all cells at once write calls as well.
PLANNING = ("--set", "cells=false", "--set", "candidates=1")
TRIES = ("--set", "first-tries=5", "--set", "repair-names=false")
WRITE_ANEW = ("--set", "compose=false", "--set", "repair-names=false")


def given(expression: str) -> str:
    return json.dumps({"text": expression})


GIVEN = given(VALUES.partition(" = ")[2])


def task(head: str = HEAD) -> str:
    return f"Name the leaves in a text that are stronger than least.\n\n```python\n{head}\n```\n"


def run(
    explore: Explorer, model: TeaModel, serve: Serve, *more: str, head: str = HEAD
) -> list[str]:
    """Explores without a check; what was asked."""
    server = serve(model)
    words = explore.words(server, *PLANNING, *more, task=task(head))
    explore.run(*words)
    return kinds_asked(server)


def solution_of(explore: Explorer) -> Solution:
    solution = explore.exploration.solution
    assert solution is not None
    return solution


@pytest.mark.parametrize(
    ("head", "parameters"),
    [
        ("def f(a, b=[1], *rest, c, d=None, **more):", "a b=[1] c* d=None*"),
        ("async def f(a, /, b: int = 2) -> int:", "a b=2"),
        ("x = 1\ndef f():\n    pass", ""),
        ("names =", ""),
        ("def f(", ""),
    ],
)
def test_the_parameters_of_a_head_and_their_defaults(head: str, parameters: str) -> None:
    texts = [
        one.name + (f"={one.default}" if one.default else "") + "*" * one.is_keyword_only
        for one in stub.parameters(head)
    ]
    assert " ".join(texts) == parameters


def test_defaults_are_the_values_and_nobody_is_asked(serve: Serve, explore: Explorer) -> None:
    kinds = run(explore, TeaModel(drafts=DRAFTS), serve, head=KNOWN)

    first, *others = explore.exploration.steps
    assert first.subtask.id == arguments.STEP
    assert first.candidate is not None
    assert first.candidate.code.splitlines() == [
        "text = 'assam 5; sencha 2; oolong 4'",
        "least = 3",
    ]
    assert [one.subtask.id for one in others] == ["step-1", "step-2", "step-3"]
    assert "arguments" not in kinds


def test_what_has_no_default_gets_a_value_of_the_model_s(serve: Serve, explore: Explorer) -> None:
    kinds = run(explore, TeaModel(drafts=DRAFTS, arguments=[GIVEN]), serve)

    first = explore.exploration.steps[0]
    assert first.candidate is not None
    assert first.candidate.code == f"least = 3\n{VALUES}"
    assert kinds.count("arguments") == 1
    assert [step.status for step in explore.exploration.steps] == ["done"] * 4


def test_values_that_fail_are_asked_for_once_more(serve: Serve, explore: Explorer) -> None:
    model = TeaModel(drafts=DRAFTS, arguments=[given("nothing"), GIVEN])
    kinds = run(explore, model, serve)

    first = explore.exploration.steps[0]
    assert [one.ran for one in first.candidates] == [False, True]
    assert kinds.count("arguments") == 2


def test_a_wrong_name_in_a_value_is_looked_up(serve: Serve, explore: Explorer) -> None:
    reply = given("tealeaf.strongest_of([tealeaf.Leaf('assam', 5)])")
    model = TeaModel(drafts=DRAFTS, arguments=[reply])
    kinds = run(explore, model, serve)

    first = explore.exploration.steps[0]
    assert first.candidate is not None
    assert "tealeaf.strongest([" in first.candidate.code
    assert kinds.count("arguments") == 1


def test_without_values_it_is_explored_as_any_task(serve: Serve, explore: Explorer) -> None:
    draft = fenced(f"{VALUES}\n{READ}")
    model = TeaModel(arguments=[given("nothing")], drafts={1: [draft]}, solutions=[fenced(WRITTEN)])
    kinds = run(explore, model, serve)

    assert [step.subtask.id for step in explore.exploration.steps] == ["step-1", "step-2", "step-3"]
    assert kinds.count("arguments") == 2
    assert solution_of(explore).final.call is None


def test_steps_that_use_the_parameters_are_the_function(serve: Serve, explore: Explorer) -> None:
    kinds = run(explore, TeaModel(drafts=DRAFTS), serve, head=KNOWN)

    final = solution_of(explore).final
    assert final.code.startswith("import tealeaf\n\ndef strong_names(text=")
    assert "print" not in final.code
    assert final.call is not None
    assert final.call.called == "strong_names(text, least)"
    (value,) = (one for one in final.call.observation.variables if one.name == arguments.RESULT)
    assert value.preview == "['assam', 'oolong']"
    assert "solution" not in kinds


@pytest.mark.parametrize(
    "drafts",
    [
        {3: [fenced(KEEP.replace("least", "3"))]},
        {3: [fenced(f"{KEEP}\nweak = [leaf for leaf in leaves if leaf.strength <= least]")]},
        {4: [fenced("print([leaf.name for leaf in kept])")]},
    ],
    ids=["a value in a parameter's place", "a value that is not used", "no value at the end"],
)
def test_steps_that_may_not_be_the_whole_function_are_not_taken_for_it(
    serve: Serve, explore: Explorer, drafts: dict[int, list[str]]
) -> None:
    model = TeaModel(drafts=DRAFTS | drafts, solutions=[fenced(WRITTEN)])
    kinds = run(explore, model, serve, head=KNOWN)

    assert "solution" in kinds
    assert "if leaf.strength > least]" in solution_of(explore).final.code


def test_a_call_that_fails_is_mended(serve: Serve, explore: Explorer) -> None:
    model = TeaModel(
        drafts=DRAFTS,
        arguments=[GIVEN],
        solutions=[fenced(FAILS)],
        repairs=[fenced(WRITTEN)],
    )
    server = serve(model)
    words = explore.words(server, "--json", *PLANNING, *WRITE_ANEW, task=task())
    outcome = explore.run(*words)

    repair = whole_text(server.chat_requests[-1])
    assert "the call `strong_names(text, least)` failed" in repair
    assert "no attribute 'flavour'" in repair
    assert outcome.json["status"] == "unverified"
    assert outcome.json["solution"] == WRITTEN


def test_a_call_that_goes_on_failing_is_said_and_no_verdict(
    serve: Serve, explore: Explorer
) -> None:
    model = TeaModel(drafts=DRAFTS, solutions=[fenced(FAILS)], repairs=[fenced(FAILS)])
    run(explore, model, serve, *WRITE_ANEW, head=KNOWN)

    verdict = json.loads(explore.notebook.read_text())["cells"]
    text = "".join(line for cell in verdict for line in cell["source"])
    assert explore.exploration.status == "unverified"
    assert "but the call `strong_names(text, least)` failed: `AttributeError" in text


def test_two_tries_that_give_the_same_are_enough(serve: Serve, explore: Explorer) -> None:
    codes = (FAILS, OTHER, WRITTEN, WRITTEN + "  # as above")
    model = TeaModel(solutions=[fenced(code) for code in codes])
    kinds = run(explore, model, serve, *TRIES, head=KNOWN)

    assert kinds == ["solution"] * 4
    assert solution_of(explore).final.code.endswith("# as above")
    assert explore.exploration.status == "unverified"


def test_the_example_call_of_an_async_function_is_awaited(serve: Serve, explore: Explorer) -> None:
    written = TeaModel(solutions=[fenced(WRITTEN.replace("def ", "async def "))])
    run(explore, written, serve, *TRIES, head=f"async {KNOWN}")
    call = solution_of(explore).final.call

    assert call is not None
    assert call.called == "await strong_names(text, least)"
    assert "['assam', 'oolong']" in [one.preview for one in call.observation.variables]


def test_of_tries_that_differ_the_first_that_gives_something_is_taken(
    serve: Serve, explore: Explorer
) -> None:
    third = WRITTEN.replace("leaf.name", "leaf.strength")
    model = TeaModel(solutions=[fenced(code) for code in (FAILS, FAILS, OTHER, third)])
    kinds = run(explore, model, serve, *TRIES, head=KNOWN)

    assert kinds == ["solution"] * 4
    assert "leaf.name.upper()" in solution_of(explore).final.code


def test_tries_that_give_nothing_are_explored(serve: Serve, explore: Explorer) -> None:
    model = TeaModel(drafts=DRAFTS, solutions=[fenced(FAILS)], repairs=[fenced(FAILS)])
    kinds = run(explore, model, serve, *TRIES, head=KNOWN)

    assert kinds[:5] == ["solution"] * 4 + ["rerank"]
    assert "plan" not in kinds
    _, cell = explore.exploration.steps
    assert cell.candidates[0].code == BODY
    assert cell.candidates[0].problems


def test_what_ran_of_the_farthest_try_stays(serve: Serve, explore: Explorer) -> None:
    """The small profile asks for its failing cell to be mended before anything else."""
    code = f"{KNOWN}\n    # Read them\n    import tealeaf\n    leaves = tealeaf.read_leaves(text)\n"
    code += "    # Name them\n    return [leaf.flavour for leaf in leaves]"
    repair = "names = [leaf.name for leaf in leaves if leaf.strength > least]\nnames"
    model = TeaModel(solutions=[fenced(code)], debugs={3: [fenced(repair)]})
    run(explore, model, serve, *TRIES, "--set", "stop-at-first=true", head=KNOWN)

    goals = [step.subtask.goal for step in explore.exploration.steps[1:]]
    assert goals == ["Read them", "Name them"]
    assert [step.status for step in explore.exploration.steps] == ["done"] * 3
    assert "leaf.name" in solution_of(explore).final.code


def test_a_cell_that_needs_a_failed_one_is_not_explored(serve: Serve, explore: Explorer) -> None:
    code = f"{KNOWN}\n    # Read them\n    leaves = tealeaf.gather(text)\n"
    code += "    # Name them\n    return [leaf.name for leaf in leaves]"
    fails = fenced("leaves = tealeaf.gather(text)")
    model = TeaModel(
        solutions=[fenced(code)], repairs=[fenced(code)], drafts={2: [fails]}, debugs={2: [fails]}
    )
    alone = ("--set", "repair-names=false", "--set", "stop-at-first=true")
    run(explore, model, serve, *TRIES, *alone, head=KNOWN)

    _, read, name = explore.exploration.steps
    assert (read.status, name.status) == ("failed", "failed")
    assert [one.origin for one in name.candidates] == ["draft"]


def test_texts_that_fail_with_any_values_are_not_explored(serve: Serve, explore: Explorer) -> None:
    server = serve(TeaModel(arguments=[given("5")], solutions=[fenced(WRITTEN)]))
    explore.run(*explore.words(server, *PLANNING, *TRIES, task=task()))

    assert "plan" not in kinds_asked(server)
    final = solution_of(explore).final
    assert final.call is not None
    assert "no attribute 'split'" in final.call.failure


def test_values_with_which_all_tries_fail_alike_are_doubted(
    serve: Serve, explore: Explorer
) -> None:
    server = serve(
        TeaModel(
            arguments=[given("5"), GIVEN], solutions=[fenced(WRITTEN)], repairs=[fenced(WRITTEN)]
        )
    )
    explore.run(*explore.words(server, *PLANNING, *TRIES, task=task()))

    assert kinds_asked(server).count("arguments") == 2
    prompt = [whole_text(one) for one in server.chat_requests if kind_of(one) == "arguments"][1]
    assert "'int' object has no attribute 'split'" in prompt
    assert [
        one.code.partition("text = ")[2] for one in explore.exploration.steps[0].candidates
    ] == [
        "5",
        VALUES.partition(" = ")[2],
    ]
    assert solution_of(explore).final.call is not None
    assert not solution_of(explore).final.call.failure


def test_with_a_check_no_call_is_made(serve: Serve, explore: Explorer) -> None:
    (explore.folder / "check.py").write_text("assert strong_names('a 9') == ['a']")
    run(
        explore,
        TeaModel(drafts=DRAFTS),
        serve,
        "--check",
        str(explore.folder / "check.py"),
        head=KNOWN,
    )

    final = solution_of(explore).final
    assert (final.checks, final.call) == ("passed", None)


@pytest.mark.parametrize("method", ["exploracoder-paper", "docprompting"])
def test_published_methods_have_no_example_values(
    serve: Serve, explore: Explorer, method: str
) -> None:
    run(explore, TeaModel(solutions=[fenced(WRITTEN)]), serve, "--method", method, head=KNOWN)

    assert arguments.STEP not in [one.subtask.id for one in explore.exploration.steps]
    assert solution_of(explore).final.call is None


def test_what_was_interrupted_after_the_values_goes_on_with_them(
    serve: Serve, explore: Explorer
) -> None:
    broken = TeaModel(arguments=[GIVEN], plans=[Failure(401, "no key")])
    run(explore, broken, serve)
    snapshot = explore.exploration
    server = serve(TeaModel(drafts=DRAFTS, solutions=[fenced(WRITTEN)]))
    outcome = explore.run("resume", explore.notebook, *model_words(server), "--json", "--quiet")

    assert ([one.subtask.id for one in snapshot.steps], snapshot.is_planned) == (
        [arguments.STEP],
        False,
    )
    assert outcome.json["status"] == "unverified"
    assert "arguments" not in kinds_asked(server)
    assert explore.exploration.steps[0] == snapshot.steps[0]
    assert [one.status for one in explore.exploration.steps] == ["done"] * 4


async def test_a_person_sees_the_values_before_the_steps_and_may_change_them(serve: Serve) -> None:
    function_task = make_task(task(), libraries=[prepare.absolute_target("tealeaf/")])
    settings = make_settings("standard", candidates=1, rerank="none", first_tries=5, cells=False)
    server = serve(TeaModel(drafts=DRAFTS, arguments=[GIVEN]))
    exploration = Exploration(task=function_task, settings=settings)
    async with live_session(server, exploration=exploration) as surface:
        await surface.do(c.GoOn())
        statuses = surface.statuses
        await surface.do(c.GoOn(), c.Accept(subtask="step-1"))
        own = 'least = 1\ntext = "rooibos 2"'
        await surface.do(c.TryCode(subtask=arguments.STEP, code=own))
        await surface.do(c.Accept(subtask="step-2"), c.Accept(subtask="step-3"), c.Synthesize())
        result = surface.session.exploration

    assert statuses == ["done"] + ["pending"] * 3
    assert result.solution is not None
    call = result.solution.final.call
    assert call is not None
    assert call.code == f"{own}\nexample_result = strong_names(text, least)"
    (value,) = (one for one in call.observation.variables if one.name == arguments.RESULT)
    assert value.preview == "['rooibos']"
