"""How long a model is to think, from all the places where that can be said."""

from __future__ import annotations

from pathlib import Path

import exploracoder
import pytest
from exploracoder.effort import find_effort
from exploracoder.errors import InputError
from exploracoder.testing import ScriptedModelServer

from .conftest import Command, Explorer, Serve
from .scripted import TASK, TeaModel

VARIABLE = "EXPLORACODER_REASONING_EFFORT"


def efforts(server: ScriptedModelServer) -> set[str | None]:
    return {request.body.get("reasoning_effort") for request in server.chat_requests}


@pytest.mark.parametrize(
    ("environment", "options", "asked"),
    [
        ("", [], None),
        ("high", [], "high"),
        ("high", ["--reasoning-effort", "low"], "low"),
    ],
)
def test_the_option_goes_before_the_environment(
    environment: str,
    options: list[str],
    asked: str | None,
    explore: Explorer,
    serve: Serve,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, environment)
    server = serve(TeaModel())

    explore(server, *options)

    assert efforts(server) == {asked}


async def test_python_says_it_in_the_options(serve: Serve, tmp_path: Path) -> None:
    server = serve(TeaModel())

    await exploracoder.explore(
        TASK,
        libraries=["tealeaf/"],
        model=server.model,
        output=tmp_path / "tea.ipynb",
        options=exploracoder.Options(base_url=server.base_url, reasoning_effort="medium"),
    )

    assert efforts(server) == {"medium"}


def test_an_effort_that_does_not_exist_is_refused(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "deep")

    with pytest.raises(InputError, match="no reasoning effort 'deep'"):
        find_effort(None)
    assert find_effort("low") == "low"
    assert command("explore", TASK, "--reasoning-effort", "deep").code == 2
