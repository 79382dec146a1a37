"""Random requests, and random commands in a row, do a real server no harm."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from typing import Any, ClassVar

import httpx
import pytest
from exploracoder.testing import Outcome, RecordedRequest
from exploration.scripted import TeaModel, fenced
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from .conftest import House, request
from .server import SECONDS, TOKEN, Server

pytestmark = pytest.mark.thorough

BOUNDED = settings(
    deadline=None,
    database=None,
    stateful_step_count=10,
    suppress_health_check=list(HealthCheck),
)
CODES = ("1 / 0", "print('<script>alert(1)</script>')", "import os\nos._exit(3)", "x = [1]\nx")
TEXTS = (
    st.sampled_from(["", " ", "\x00", "ü" * 40, "<b>x", "../..", "x" * 3000, "%s%n"]) | st.text()
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
# These may open or replace what was accepted; the others may not.
TAKING_BACK = {"accept", "try_code", "skip", "go_back", "debug", "draft"}
KEEPING = {
    "go_on", "add_subtask", "rename_subtask", "delete_subtask", "move_subtask", "replan",
    "synthesize", "set_mode", "cancel", "dance",
}  # fmt: skip
KINDS = st.sampled_from(sorted(TAKING_BACK | KEEPING))
USUAL: dict[str, Any] = request(path="a.ipynb", target="./project/tealeaf", kind="accept")
BODIES = st.dictionaries(st.sampled_from([*USUAL, "subtask", "bring", "x"]), VALUES, max_size=3)
IDS = st.sampled_from(["0" * 32, "f" * 32, "x", "%00", "%2e%2e%2f"])
ENDINGS = ("", "/command", "/lookups", "/cells?after=1", "/cells?after=-1", "/export?format=py")
PATHS = st.sampled_from(
    ["status", "explorations", "explorations/open", "explorations/replay", "libraries", "lookups",
     "libraries?kernel_name=%00", "search?query=%FF&libraries=tealeaf,nowhere&k=x", "nowhere"]
) | st.builds("explorations/{}{}".format, IDS, st.sampled_from(ENDINGS))  # fmt: skip
RAW = st.sampled_from([b"", b"{", b"\xff\xfe", b"[[[[", b"null", b"x" * 1_100_000])
METHODS = st.sampled_from(["GET", "POST", "POST", "POST", "DELETE", "PUT", "PATCH"])


class MoodyModel(TeaModel):
    """Answers with something else now and then."""

    # Hypothesis begins the module's own anew with each example.
    chance = random.Random(7)

    def __call__(self, request: RecordedRequest) -> Outcome:
        answer = super().__call__(request)
        return answer if self.chance.random() < 0.8 else fenced(self.chance.choice(CODES))


@pytest.fixture(scope="module")
def fuzzed(house: House) -> Iterator[Server]:
    house.model.script = MoodyModel()
    yield house.server("fuzzed", options=("--ExploraCoder.max_open=6",))
    house.model.script = TeaModel()


@pytest.fixture(scope="module")
def http(fuzzed: Server) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"token {TOKEN}"}
    url = f"{fuzzed.url}/exploracoder/api/"
    with httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False) as client:
        yield client


def faults(server: Server) -> list[str]:
    """What the server's log says of errors that nobody expected."""
    lines = server.log.splitlines()
    starts = [n for n, line in enumerate(lines) if "Traceback" in line or "never retr" in line]
    return ["\n".join(lines[start : start + 40]) for start in starts]


def check(answer: httpx.Response) -> None:
    """A server that fails says so with a 5xx; one that says no says why."""
    assert answer.status_code < 500 or answer.status_code == 503, answer.text
    assert answer.status_code < 400 or "message" in answer.text, answer.text


@BOUNDED
@given(METHODS, PATHS, st.builds(lambda some: json.dumps({**USUAL, **some}).encode(), BODIES) | RAW)
def test_no_request_is_answered_with_an_internal_error(
    fuzzed: Server, http: httpx.Client, method: str, path: str, content: bytes
) -> None:
    answer = http.request(method, path, content=None if method == "GET" else content)

    check(answer)
    if answer.status_code == 201:
        http.delete(f"explorations/{answer.json()['exploration']['id']}")
    assert faults(fuzzed) == []


class Commands(RuleBasedStateMachine):
    """An exploration that is given commands in any order, and is closed and resumed."""

    server: ClassVar[Server]
    http: ClassVar[httpx.Client]

    def __init__(self) -> None:
        super().__init__()
        answer = self.http.post("explorations", json=request(settings={"candidates": 1}))
        self.id = answer.json()["exploration"]["id"]
        self.state = self.rested()

    @initialize(count=st.integers(1, 4))
    def get_further(self, count: int) -> None:
        """Chance alone accepts little."""
        for _ in range(count):
            steps = self.state["exploration"]["steps"]
            waiting = [one["subtask"]["id"] for one in steps if one["status"] == "review"]
            self.send({"kind": "accept", "subtask": waiting[0]} if waiting else {"kind": "go_on"})

    @rule(data=st.data(), kinds=st.lists(KINDS, min_size=1, max_size=3))
    def command(self, data: st.DataObject, kinds: list[str]) -> None:
        """Several at once: the session comes to rest, and nothing is lost that was not taken."""
        before = self.accepted
        self.send(*({"kind": kind, **self.fields(kind, data)} for kind in kinds))

        line = (self.server.journal / f"{self.id}.json").read_text("utf-8").splitlines()[1]
        assert json.loads(line)["steps"] == self.state["exploration"]["steps"]
        assert TAKING_BACK & set(kinds) or before.items() <= self.accepted.items()

    @precondition(lambda self: self.state["path"])
    @rule()
    def resume(self) -> None:
        before = self.accepted
        self.http.delete(f"explorations/{self.id}")
        check(self.http.post("explorations/open", json={"path": self.state["path"]}))
        self.state = self.rested()

        assert self.accepted == before
        assert not self.state["progress"]["error"]

    def teardown(self) -> None:
        self.http.delete(f"explorations/{self.id}")
        assert faults(self.server) == []

    @property
    def accepted(self) -> dict[str, str]:
        """The accepted candidate of each subtask that is done."""
        steps = self.state["exploration"]["steps"]
        return {one["subtask"]["id"]: one["chosen"] for one in steps if one["status"] == "done"}

    def send(self, *commands: dict[str, Any]) -> None:
        for command in commands:
            check(self.http.post(f"explorations/{self.id}/command", json=command))
        self.state = self.rested()

    def rested(self) -> dict[str, Any]:
        """The state once nothing is worked on."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            state: dict[str, Any] = self.http.get(f"explorations/{self.id}").json()
            if state["progress"]["activity"] != "working":
                return state
            time.sleep(0.02)
        raise AssertionError(f"It does not come to rest: {state['progress']}")

    def fields(self, kind: str, data: st.DataObject) -> dict[str, Any]:
        """What a command of this kind says besides."""
        steps = self.state["exploration"]["steps"]
        ids = [one["subtask"]["id"] for one in steps]
        candidates = [each["id"] for one in steps for each in one["candidates"]]
        strategies = {
            "subtask": st.sampled_from([*ids, *ids, "step-99"]),
            "candidate": st.sampled_from([None, *candidates]),
            "before": st.sampled_from([None, *ids]),
            "code": st.sampled_from(["y = 1", *CODES]),
            "hint": TEXTS,
            "goal": TEXTS,
            "mode": st.sampled_from(["review", "auto"]),
        }
        names = {
            "accept": ("subtask", "candidate"),
            "try_code": ("subtask", "code"),
            "debug": ("subtask", "candidate", "hint"),
            "draft": ("subtask", "hint"),
            "add_subtask": ("goal", "before"),
            "rename_subtask": ("subtask", "goal"),
            "move_subtask": ("subtask", "before"),
            "set_mode": ("mode",),
            **dict.fromkeys(("go_on", "synthesize", "cancel", "dance"), ()),
        }.get(kind, ("subtask",))
        return {name: data.draw(strategies[name]) for name in names}


def test_random_commands_lose_nothing_and_get_nowhere_stuck(
    fuzzed: Server, http: httpx.Client
) -> None:
    Commands.server, Commands.http = fuzzed, http

    run_state_machine_as_test(Commands, settings=settings(BOUNDED, max_examples=6))
