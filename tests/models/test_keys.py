"""Keys come from the environment, or else from the keyring, each for its own server."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from typing import Any

import pytest
from exploracoder import cli, prepare
from exploracoder.models.chat import Message, Sampling
from exploracoder.models.keys import kept_key, key_in_environment
from exploracoder.testing import ScriptedModelServer

keyring = pytest.importorskip("keyring")
backend = pytest.importorskip("keyring.backend")
errors = pytest.importorskip("keyring.errors")
fail = pytest.importorskip("keyring.backends.fail")

KEY, OTHER = "sk-nobody-may-see-this", "sk-nor-this"
URL = "https://api.example.com/v1"


class Drawer(backend.KeyringBackend):  # type: ignore[misc,name-defined]
    """A keyring that forgets everything with the test."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.keys = dict[tuple[str, str], str]()

    def get_password(self, service: str, username: str) -> str | None:
        return self.keys.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.keys[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.keys[service, username]


class Locked(Drawer):
    """One that nobody unlocks; its words hold what it was given."""

    def get_password(self, service: str, username: str) -> str | None:
        raise errors.KeyringLocked(f"locked: {KEY}")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise errors.KeyringLocked(f"locked: {password}")


class Void(Drawer):
    """One that takes all and keeps nothing."""

    def set_password(self, service: str, username: str, password: str) -> None:
        pass


@pytest.fixture(autouse=True)
def same_keyring_afterwards() -> Iterator[None]:
    before = keyring.get_keyring()
    yield
    keyring.set_keyring(before)


@pytest.fixture
def drawer() -> Drawer:
    new_drawer = Drawer()
    keyring.set_keyring(new_drawer)
    return new_drawer


Ended = tuple[int, str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def command(*words: str, typed: str = "") -> Ended:
        monkeypatch.setattr(sys, "argv", ["exploracoder", "model", "key", *words])
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(typed.encode())))
        with pytest.raises(SystemExit) as ending:
            cli.main()
        streams = capsys.readouterr()
        return int(ending.value.code or 0), streams.out + streams.err

    return command


def test_a_key_is_kept_for_its_server_and_removed(run: Any, drawer: Drawer) -> None:
    result = run("set", "--base-url", URL, typed=f"{KEY}\n")

    assert result == (0, "The keyring has the key for https://api.example.com:443.\n")
    assert kept_key("https://API.example.com/other") == KEY
    assert kept_key("http://api.example.com/v1") == kept_key("https://example.com/v1") == ""

    assert run("remove", "--base-url", URL)[0] == 0
    assert drawer.keys == {}
    assert run("remove", "--base-url", URL)[0] == 1


async def test_the_server_gets_it(drawer: Drawer) -> None:
    with ScriptedModelServer("hi", require_key=KEY) as server:
        root = server.base_url.removesuffix("/v1")
        drawer.keys["exploracoder", root] = KEY
        async with prepare.open_model("scripted", server.base_url) as model:
            reply = await model.complete([Message("user", "Hello")], Sampling())

    assert reply.text == "hi"


async def test_the_environment_goes_before_the_keyring_and_what_is_given_before_both(
    drawer: Drawer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", OTHER)
    with ScriptedModelServer("hi") as server:
        drawer.keys["exploracoder", server.base_url.removesuffix("/v1")] = KEY
        for api_key in (None, "sk-given"):
            opening = prepare.open_model("scripted", server.base_url, api_key=api_key)
            async with opening as model:
                await model.complete([Message("user", "Hello")], Sampling())

        authorizations = [one.headers["authorization"] for one in server.requests]
    assert authorizations == [f"Bearer {OTHER}", "Bearer sk-given"]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (fail.Keyring, "has no keyring"),
        (Locked, r"cannot be used \(KeyringLocked\)"),
        (Void, "did not keep the key"),
    ],
)
def test_a_keyring_that_is_of_no_use_is_a_sentence(run: Any, made: Any, said: str) -> None:
    keyring.set_keyring(made())

    code, message = run("set", "--base-url", URL, typed=KEY)

    assert code == 2
    assert message.count("\n") == 1
    assert re.search(said, message)
    assert "set OPENAI_API_KEY" in message
    assert KEY not in message
    assert kept_key(URL) == ""


def test_without_the_package_it_is_said_how_to_get_it(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)

    code, message = run("set", "--base-url", URL, typed=KEY)

    assert code == 2
    assert "pip install 'exploracoder[keyring]'" in message
    assert kept_key(URL) == ""


@pytest.mark.parametrize(
    ("words", "typed"), [(("--base-url", URL), " \n"), (("--base-url", "ftp://x"), KEY)]
)
def test_what_cannot_be_kept_is_bad_input(
    run: Any, drawer: Drawer, words: tuple[str, ...], typed: str
) -> None:
    code, _ = run("set", *words, typed=typed)

    assert code == 2
    assert drawer.keys == {}


def test_a_key_is_never_an_argument(run: Any, drawer: Drawer) -> None:
    assert run("set", KEY, "--base-url", URL)[0] == 2
    assert drawer.keys == {}


@pytest.mark.parametrize(
    ("url", "named", "is_sent"),
    [
        ("https://api.openai.com/v1", "", True),
        ("https://gateway.example/v1", "https://gateway.example/v1", True),
        ("https://eu.api.openai.com/v1", "", True),
        ("http://api.openai.com/v1", "", False),
        ("https://evilopenai.com/v1", "", False),
        ("http://evil.example:8000 ", "", False),
        ("http://192.168.1.5:11434/v1", "", False),
        ("http://192.168.1.5:11434/v1", "https://gateway.example/v1", False),
    ],
)
def test_a_key_of_openais_goes_to_no_other_server(url: str, named: str, is_sent: bool) -> None:
    environment = {"OPENAI_API_KEY": " sk-proj-nobody-may-see", "OPENAI_BASE_URL": named}

    key = key_in_environment(url, environment).strip()
    assert key == ("sk-proj-nobody-may-see" if is_sent else "")
    assert key_in_environment(url, environment | {"OPENAI_API_KEY": "local-key"}) == "local-key"
