"""A model that a user chose: what can be meant, and whose key its server gets."""

from __future__ import annotations

import pytest
from exploracoder.errors import InputError
from exploracoder.models.model_choice import ModelChoice, key_for
from exploracoder.prepare import wants_embedded

KEYS = {"https://api.example.com/v1": "one", "http://127.0.0.1:8000/v1": "two"}


@pytest.mark.parametrize(
    ("name", "base_url"),
    [("", ""), ("embedded", ""), ("qwen3:8b", "http://127.0.0.1:11434/v1")],
)
def test_what_can_be_meant_is_let_through(name: str, base_url: str) -> None:
    ModelChoice(name=name, base_url=base_url).check()


@pytest.mark.parametrize(
    ("name", "base_url", "said"),
    [
        ("qwen3:8b", "", "needs the address"),
        ("", "http://127.0.0.1:1/v1", "Name a model"),
        (" ", "http://127.0.0.1:1/v1", "Name a model"),
        ("a\nb", "http://127.0.0.1:1/v1", "Name a model"),
        ("embedded", "http://127.0.0.1:1/v1", "has no address"),
        ("m", "127.0.0.1:1", "must look like"),
        ("m", "file:///etc/passwd", "must look like"),
        ("m", "http://me:secret-of-mine@host/v1", "no user name"),
        ("m", "http://host/v1?key=secret-of-mine", "no user name"),
    ],
)
def test_what_cannot_is_refused_without_its_secrets(name: str, base_url: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as refusal:
        ModelChoice(name=name, base_url=base_url).check()

    assert "secret-of-mine" not in str(refusal.value)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://api.example.com/v1", "one"),
        ("https://API.example.com:443/other", "one"),
        ("http://127.0.0.1:8000/v1/", "two"),
        ("http://api.example.com/v1", ""),
        ("https://api.example.com:8443/v1", ""),
        ("https://api.example.com.evil.org/v1", ""),
        ("https://api.example.com@evil.org/v1", ""),
        ("http://127.0.0.1:8001/v1", ""),
        ("http://[", ""),
        ("", ""),
    ],
)
def test_a_key_goes_to_its_own_origin_alone(url: str, key: str) -> None:
    assert key_for(url, KEYS) == key


def test_a_key_that_is_not_set_is_none() -> None:
    assert key_for("http://a/v1", {"http://a/v1": "", "http://a": "set"}) == "set"


def test_the_embedded_model_is_meant_by_its_name_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody-may-see-this")
    monkeypatch.setenv("EXPLORACODER_MODEL", "embedded")

    assert wants_embedded(None, None)
    assert not wants_embedded("gpt-tea", None)
