"""Explorations from Python: to the end, or steered."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import threading
from pathlib import Path
from typing import Any

import exploracoder
import pytest
from exploracoder import commands as c
from exploracoder import prepare
from exploracoder.api import new_exploration
from exploracoder.background import Background
from exploracoder.errors import InputError
from exploracoder.models import endpoint
from exploracoder.models.openai_client import EMBEDDED, OpenAIChatModel
from exploracoder.testing import Drop, ScriptedModelServer
from exploracoder_kernel.variable_transfer import OwnVariables

from .conftest import Serve
from .scripted import CHECK, COLLECT, CONTEXT, KEEP, READ, TASK, TeaModel, fenced

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
SETTINGS = {"candidates": 1, "rerank": "none"}


def given(server: ScriptedModelServer, **more: Any) -> dict[str, Any]:
    """The usual task, for a scripted model."""
    options = exploracoder.Options(base_url=server.base_url, settings=SETTINGS)
    arguments = {"libraries": "tealeaf/", "context": CONTEXT, "check": CHECK}
    return {**arguments, "entry_point": "strong_names", "model": server.model} | {
        "options": options,
        **more,
    }


async def test_one_call_works_to_the_end_and_tells_of_each_step(
    serve: Serve, tmp_path: Path
) -> None:
    events: list[exploracoder.Event] = []
    output = tmp_path / "tea.ipynb"
    output.write_text("mine")

    exploration = await exploracoder.explore(
        TASK, **given(serve()), output=output, on_event=events.append
    )

    assert exploration.status == "solved"
    assert exploracoder.load(output) == exploration
    assert events[-1].exploration == exploration
    assert any(event.progress.message.startswith("Reading the docs") for event in events)
    assert (tmp_path / "tea.previous-1.ipynb").read_text() == "mine"


def test_explorations_begun_at_once_have_files_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with prepare.new_output(None) as first, prepare.new_output(None) as second:
        second.write_text("{}")

    assert [first.name, second.name] == ["exploration.ipynb", "exploration-2.ipynb"]
    assert [*tmp_path.iterdir()] == [second]


def test_a_path_may_begin_with_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with prepare.new_output("~/tea.ipynb") as output:
        assert output == tmp_path / "tea.ipynb"
    with pytest.raises(InputError, match="~nosuchuser/tea: "):
        prepare.absolute_target("~nosuchuser/tea")


async def test_a_session_is_steered_and_goes_on_from_its_file(serve: Serve, tmp_path: Path) -> None:
    server, output = serve(), tmp_path / "tea.ipynb"
    async with exploracoder.open_exploration(TASK, **given(server), output=output) as live:
        plan_events = [event async for event in live.events()]
        at_plan = live.exploration
        with pytest.raises(InputError, match="no subtask 'step-9'"):
            await live.do(c.Skip(subtask="step-9"))
        await live.do(c.GoOn())
        step_events = [event async for event in live.events()]
        await live.do(c.Accept(subtask="step-1"))
        await live.idle()
    snapshot = exploracoder.load(output)
    options = exploracoder.Options(base_url=server.base_url, trust=True)
    # A limit that has stopped it does not stop it again.
    settings = snapshot.settings.model_copy(update={"max_tokens": 1})
    session = exploracoder.open_exploration(
        snapshot.model_copy(update={"settings": settings, "reason": "The limit was reached."}),
        model=server.model,
        output=output,
        mode="auto",
        options=options,
    )
    async with session as live:
        assert not live.is_working
        reasons = [live.exploration.reason]
        await live.do(c.GoOn())
        await live.idle()
        exploration = live.exploration
        reasons += [exploration.reason]

    assert reasons == ["The limit was reached.", ""]
    assert plan_events[-1].progress.activity == "review"
    assert at_plan.status == "waiting"
    assert step_events[-1].exploration.steps[0].status == "review"
    assert [step.status for step in snapshot.steps][:1] == ["done"]
    assert exploration.status == "solved"
    assert exploracoder.load(output) == exploration


def test_a_model_that_is_given_has_the_settings_that_suit_it() -> None:
    embedded = OpenAIChatModel("http://127.0.0.1:9/v1", "k", "m", server_identity=f"{EMBEDDED}1f")
    hosted = OpenAIChatModel("http://127.0.0.1:9/v1", "k", "m")

    profiles = [
        new_exploration("Sort.", libraries="json", model=one).settings.profile
        for one in (embedded, hosted, "embedded")
    ]

    assert profiles == ["small", "standard", "small"]


async def test_a_limit_ends_both_modes_with_an_exploration(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    options = exploracoder.Options(base_url=server.base_url, settings={"max_seconds": 0.001})
    ends = [
        await exploracoder.explore(
            TASK, **given(server, mode=mode, options=options), output=tmp_path / f"{mode}.ipynb"
        )
        for mode in ("auto", "review")
    ]

    assert [end.reason.partition(" was")[0] for end in ends] == ["The limit of 0.001 seconds"] * 2


def test_a_limit_given_when_it_goes_on_is_a_number() -> None:
    exploration = new_exploration("Sort.", libraries="json", model="embedded")

    assert prepare.going_on(exploration, max_seconds="60").settings.max_seconds == 60
    assert prepare.going_on(exploration, max_seconds=None).settings.max_seconds is None
    with pytest.raises(InputError, match="max_seconds"):
        prepare.going_on(exploration, max_seconds=-5)


def test_the_sync_face_takes_what_the_other_takes() -> None:
    sync, other = (
        inspect.signature(function).parameters
        for function in (exploracoder.explore_sync, exploracoder.explore)
    )

    assert [*sync.values()] == [*other.values()]


async def test_the_sync_face_works_where_a_loop_runs(serve: Serve, tmp_path: Path) -> None:
    server = serve(TeaModel())

    exploration = exploracoder.explore_sync(
        TASK, **given(server, mode="review"), output=tmp_path / "tea.ipynb"
    )

    assert (exploration.status, len(exploration.steps)) == ("waiting", 3)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no library": ({"libraries": []}, "Name at least one library"),
    "not a notebook": ({"output": "tea.txt"}, "must end in .ipynb"),
    "no such sandbox": (
        {"options": exploracoder.Options(sandbox="thick")},
        "no sandbox 'thick'",
    ),
    "no such setting": (
        {"options": exploracoder.Options(settings={"candidate": 2})},
        "candidate",
    ),
    "a check that is not there": ({"check": Path("none.py")}, "check: none.py cannot be read"),
}


@pytest.mark.parametrize(("change", "words"), WRONG.values(), ids=WRONG.keys())
async def test_what_cannot_be_used_is_refused(
    change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    usual: dict[str, Any] = {"libraries": "tealeaf/", "output": tmp_path / "tea.ipynb"}

    with pytest.raises(InputError, match=re.escape(words)):
        await exploracoder.explore(TASK, **(usual | change))


async def test_variables_of_this_process_come_along_as_they_were(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import __main__

    monkeypatch.setattr(__main__, "text", "assam 5; sencha 2; oolong 4", raising=False)
    monkeypatch.setattr(__main__, "guard", threading.Lock(), raising=False)
    source = OwnVariables(["text", "guard", "nothing", "no name"])
    monkeypatch.setattr(__main__, "text", "changed meanwhile")
    try:
        arguments = given(serve(TeaModel()), context="", source=source)
        exploration = await exploracoder.explore(TASK, **arguments, output=tmp_path / "tea.ipynb")
    finally:
        source.close()

    assert exploration.status == "solved"
    assert "sencha" in exploration.trace[0].observation.stdout
    assert [one.name for one in exploration.brought.variables] == ["text"]
    assert {one.name: one.reason for one in exploration.brought.left} == {
        "guard": "it is a lock",
        "nothing": "the kernel has no variable of this name",
        "no name": "it is not a name in Python",
    }


async def test_the_examples_of_the_page_run(
    serve: Serve,
    own_library: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = serve(TeaModel(solutions=(fenced(f"{READ}\n{KEEP}\n{COLLECT}"),)))
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("EXPLORACODER_MODEL", server.model)
    monkeypatch.chdir(own_library)
    examples = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))

    for example in examples:
        code = compile(example, str(PAGE), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        running = eval(code, {})
        if inspect.isawaitable(running):
            await running

    stdout = capsys.readouterr().out
    assert len(examples) == 5
    assert stdout.startswith("solved import tealeaf")
    assert "class tealeaf.Kettle" in stdout
    assert "done Read the leaves out of the text" in stdout
    assert stdout.endswith("unverified\n")


def test_work_in_the_background_is_cancelled_when_it_is_stopped() -> None:
    log: list[str] = []
    start_event = threading.Event()

    async def work() -> None:
        start_event.set()
        try:
            await asyncio.sleep(60)
        finally:
            log.append("saved")

    background = Background()
    job = background.start(work())
    start_event.wait(10)
    background.stop()

    assert log == ["saved"]
    assert job.is_done


def test_what_is_public_is_there_and_nothing_else() -> None:
    names = ["Event", "Exploration", "LiveExploration", "Options", "explore", "open_exploration"]

    assert set(names) <= set(dir(exploracoder))
    assert all(getattr(exploracoder, name) is not None for name in names)
    with pytest.raises(AttributeError, match="no attribute 'explain'"):
        exploracoder.explain  # type: ignore[attr-defined]  # noqa: B018  # that is the test


async def test_a_model_server_that_was_lost_is_opened_again(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE_S", 0.01)
    server, opened = serve(first=[Drop()] * 4), list[str]()

    def open_model(*arguments: Any, **options: Any) -> Any:
        opened.append("client")
        return original(*arguments, **options)

    original = prepare.open_model
    monkeypatch.setattr(prepare, "open_model", open_model)
    output = tmp_path / "tea.ipynb"
    async with exploracoder.open_exploration(
        TASK, **given(server), output=output, mode="auto"
    ) as live:
        await live.idle()
        assert live.exploration.status == "paused"
        await live.do(c.GoOn())
        await live.idle()

    assert exploracoder.load(output).status == "solved"
    assert opened == ["client", "client"]
