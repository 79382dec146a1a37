"""Random requests and random commands against a real server.

Run: ``python -m exploracoder_bench.server_fuzz [--requests 1000] [--commands 1000] [--seed 1]``

Requests are malformed in many ways; none may be answered with an internal error. A command sequence
goes to an exploration that is open, and after it: the work comes to rest, the journal holds what
the server shows, and what was accepted is still accepted unless the sequence took it back. Every
few sequences the exploration is closed and resumed, and must be as it was.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from exploracoder_bench.fuzzed_server import FuzzedServer, serving
from exploracoder_bench.markdown import markdown

_REST_SECONDS = 60.0
_RESUME_EVERY = 10
_TRACE_LINES = 40
_KINDS = (
    "go_on",
    "go_on",
    "go_on",
    "accept",
    "accept",
    "accept",
    "try_code",
    "skip",
    "go_back",
    "debug",
    "draft",
    "add_subtask",
    "rename_subtask",
    "delete_subtask",
    "move_subtask",
    "replan",
    "synthesize",
    "set_mode",
    "cancel",
    "dance",
)
# These may open or replace what was accepted; the others may not.
_TAKING_BACK = {"accept", "try_code", "skip", "go_back", "debug", "draft"}
_TEXTS = ("", " ", "x", "\x00", "ü" * 40, "<script>alert(1)</script>", "../..", "x" * 3000, "%s%n")


@dataclass(slots=True)
class Tally:
    """What happened so far."""

    answers: collections.Counter[str] = field(default_factory=collections.Counter)
    harm: list[str] = field(default_factory=list)
    sequences: int = 0
    resumed: int = 0

    def count(self, what: str, answer: httpx.Response) -> None:
        """Note an answer; one that says that the server failed is harm."""
        self.answers[str(answer.status_code)] += 1
        if answer.status_code >= 500 and answer.status_code != 503:
            self.harm.append(f"{answer.status_code} to {what}: {answer.text[:200]}")
        elif answer.status_code >= 400 and "message" not in answer.text and "events" not in what:
            # What is no WebSocket is refused by tornado, in its own words.
            self.harm.append(f"{answer.status_code} without a message to {what}")


async def fuzz(requests: int, commands: int, seed: int) -> Tally:
    """So many requests and command sequences against a server of its own."""
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="exploracoder-fuzz-") as folder:
        log = await _attack(Path(folder), requests, commands, seed, tally)
        text = log.read_text(encoding="utf-8", errors="replace")
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if "Traceback" in line or "never retrieved" in line:
            said = "\n    ".join(lines[number : number + _TRACE_LINES])
            tally.harm.append(f"the server's log says: {said}")
    return tally


async def _attack(folder: Path, requests: int, commands: int, seed: int, tally: Tally) -> Path:
    with serving(folder, seed) as server:
        async with server.client() as client:
            await send_requests(client, requests, random.Random(seed), tally)
            await send_commands(server, client, commands, random.Random(seed + 1), tally)
    return server.log


async def send_requests(
    client: httpx.AsyncClient, count: int, chance: random.Random, tally: Tally
) -> None:
    """Requests that are wrong in one way or another."""
    for _ in range(count):
        method = chance.choice(("GET", "POST", "POST", "POST", "DELETE", "PUT", "PATCH"))
        path = _path(chance)
        content = _content(chance) if method != "GET" else None
        try:
            answer = await client.request(method, path, content=content)
        except httpx.InvalidURL:
            continue
        tally.count(f"{method} {path[:80]}", answer)
        await _close_all(client, answer)


async def send_commands(
    server: FuzzedServer, client: httpx.AsyncClient, count: int, chance: random.Random, tally: Tally
) -> None:
    """Command sequences, on a few explorations in turn."""
    opened = [await _start(client) for _ in range(3)]
    started = time.monotonic()
    for number in range(1, count + 1):
        place = number % len(opened)
        opened[place] = await _sequence(server, client, opened[place], chance, tally)
        if number % _RESUME_EVERY == 0:
            opened[place] = await _resume(client, opened[place], tally)
        if number % 50 == 0:
            seconds = time.monotonic() - started
            sys.stderr.write(f"{number} of {count}, {seconds:.0f} s, {len(tally.harm)} faults\n")
    for state in opened:
        await client.delete(f"explorations/{state['exploration']['id']}")


async def _sequence(
    server: FuzzedServer,
    client: httpx.AsyncClient,
    state: dict[str, Any],
    chance: random.Random,
    tally: Tally,
) -> dict[str, Any]:
    id_, before = state["exploration"]["id"], _accepted(state)
    kinds = []
    for _ in range(chance.randint(1, 4)):
        command = _command(state, chance)
        kinds.append(command["kind"])
        answer = await client.post(f"explorations/{id_}/command", json=command)
        tally.count(f"command {command['kind']}", answer)
        if chance.random() < 0.6:
            state = await _rested(client, id_, tally)
    tally.sequences += 1
    state = await _rested(client, id_, tally)
    after = _accepted(state)
    if not _TAKING_BACK & set(kinds) and not before.items() <= after.items():
        tally.harm.append(f"{kinds} lost what was accepted: {before} became {after}")
    kept = json.loads((server.journal / f"{id_}.json").read_text("utf-8").splitlines()[1])
    if kept["steps"] != state["exploration"]["steps"]:
        tally.harm.append(f"the journal holds something else after {kinds}")
    return state


async def _resume(client: httpx.AsyncClient, state: dict[str, Any], tally: Tally) -> dict[str, Any]:
    id_ = state["exploration"]["id"]
    await client.delete(f"explorations/{id_}")
    answer = await client.post("explorations/open", json={"path": state["path"]})
    tally.count("open", answer)
    tally.resumed += 1
    after = await _rested(client, id_, tally)
    if _accepted(after) != _accepted(state):
        tally.harm.append(f"resuming lost {_accepted(state)}: {_accepted(after)}")
    if after["progress"]["error"]:
        tally.harm.append(f"resuming failed: {after['progress']['error'][:300]}")
        await client.delete(f"explorations/{id_}")
        return await _start(client)
    return after


async def _rested(client: httpx.AsyncClient, id_: str, tally: Tally) -> dict[str, Any]:
    """The state once nothing is worked on; a session that does not come to rest is stuck."""
    deadline = time.monotonic() + _REST_SECONDS
    while True:
        state: dict[str, Any] = (await client.get(f"explorations/{id_}")).json()
        if state["progress"]["activity"] != "working":
            return state
        if time.monotonic() > deadline:
            tally.harm.append(f"stuck: {state['progress']}")
            await client.post(f"explorations/{id_}/command", json={"kind": "cancel"})
            deadline = time.monotonic() + _REST_SECONDS
        await asyncio.sleep(0.02)


async def _start(client: httpx.AsyncClient) -> dict[str, Any]:
    settings = {"candidates": 1, "self_debug": False, "rerank": "none", "few_shot_plans": 0}
    body = {
        "task": "Make a heap of pebbles and find the largest.",
        "libraries": ["./pebbles"],
        "profile": "standard",
        "settings": settings | {"run_seconds": 5, "repair_rounds": 0},
    }
    answer = await client.post("explorations", json=body)
    answer.raise_for_status()
    return await _rested(client, answer.json()["exploration"]["id"], Tally())


async def _close_all(client: httpx.AsyncClient, answer: httpx.Response) -> None:
    """A request that started something by chance shall not be in the way."""
    if answer.status_code == 201:
        await client.delete(f"explorations/{answer.json()['exploration']['id']}")


def _accepted(state: dict[str, Any]) -> dict[str, str]:
    """The accepted candidate of each subtask that is done."""
    steps = state["exploration"]["steps"]
    return {one["subtask"]["id"]: one["chosen"] for one in steps if one["status"] == "done"}


def _command(state: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    kind = chance.choice(_KINDS)
    steps = state["exploration"]["steps"]
    ids = [one["subtask"]["id"] for one in steps] or ["step-1"]
    subtask = chance.choice([*ids, *ids, *ids, "step-99"])
    candidates = [c["id"] for one in steps for c in one["candidates"]]
    fields: dict[str, dict[str, Any]] = {
        "accept": {"subtask": subtask},
        "try_code": {"subtask": subtask, "code": chance.choice(("y = 1", "1 / 0", "heap"))},
        "skip": {"subtask": subtask},
        "go_back": {"subtask": subtask},
        "debug": {"subtask": subtask, "hint": chance.choice(("", "try again"))},
        "draft": {"subtask": subtask, "hint": chance.choice(_TEXTS[:6])},
        "add_subtask": {"goal": "Do one thing more", "before": chance.choice([None, *ids])},
        "rename_subtask": {"subtask": subtask, "goal": chance.choice(_TEXTS)},
        "delete_subtask": {"subtask": subtask},
        "move_subtask": {"subtask": subtask, "before": chance.choice([None, *ids])},
        "replan": {"subtask": subtask},
        "set_mode": {"mode": chance.choice(("review", "review", "auto"))},
    }
    command = {"kind": kind, **fields.get(kind, {})}
    if kind in ("accept", "debug") and candidates and chance.random() < 0.5:
        command["candidate"] = chance.choice(candidates)
    return command


def _path(chance: random.Random) -> str:
    id_ = chance.choice(("0" * 32, "f" * 32, "x", "0" * 31, "%00", "%2e%2e%2f"))
    parts = ("", "/command", "/lookups", "/cells?after=1", "/cells?after=-1", "/export?format=py")
    return chance.choice(
        (
            "status",
            "explorations",
            "explorations/open",
            "explorations/replay",
            "libraries",
            "lookups",
            f"libraries?kernel_name={chance.choice(_TEXTS[1:]).strip()[:50]}",
            f"search?query={chance.choice(('a', '%FF', ''))}&libraries=pebbles,nowhere&k=x",
            f"explorations/{id_}{chance.choice(parts)}",
            "nowhere",
            "events?epoch=x&after=y",
        )
    ).replace("\x00", "%00")


def _content(chance: random.Random) -> bytes:
    if chance.random() < 0.1:
        return chance.choice((b"", b"{", b"\xff\xfe", b"[[[[", b"null", b"x" * 1_100_000))
    body: dict[str, Any] = {
        "task": "Make a heap of pebbles.",
        "libraries": ["./pebbles"],
        "path": "a.ipynb",
        "target": "./pebbles",
        "kind": chance.choice(_KINDS),
        "subtask": "step-1",
    }
    for _ in range(chance.randint(1, 3)):
        name = chance.choice([*body, "context", "settings", "bring", "mode", "profile", "x"])
        body[name] = chance.choice((*_TEXTS, None, 1, -1.5, True, [], {}, [""], {"a": []}, 10**30))
    wanted = chance.sample(sorted(body), k=chance.randint(1, len(body)))
    return json.dumps({name: body[name] for name in wanted}).encode("utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz, and print the table: 0 when nothing went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--commands", type=int, default=1000, help="command sequences")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    tally = asyncio.run(fuzz(given.requests, given.commands, given.seed))
    print(markdown(["answer", "times"], [[k, str(n)] for k, n in sorted(tally.answers.items())]))
    print(f"\n{tally.sequences} sequences, {tally.resumed} resumed, {len(tally.harm)} faults")
    for line in tally.harm[:50]:
        print(f"- {line}")
    return 1 if tally.harm else 0


if __name__ == "__main__":
    sys.exit(main())
