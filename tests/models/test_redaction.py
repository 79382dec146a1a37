"""Secrets are blotted out, whatever they are wrapped in; other texts are left alone."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from exploracoder.models.redaction import Redactor, secrets_of

KEY = "sk-Ab3dEf6hIj9kLm2nOp5q/Rs+8t=="


def basic(before: str) -> str:
    return base64.b64encode(f"{before}{KEY}:x".encode()).decode()


ECHOES = {
    "alone": KEY,
    "in a sentence": f"Incorrect API key: {KEY}.",
    "as a header": f"Bearer {KEY}",
    "twice": f"{KEY}{KEY}",
    "head": f"sk-{KEY[3:11]}…",
    "tail": f"***{KEY[-10:]}",
    "upper case": KEY.upper(),
    "in a URL": f"https://x/?key={quote(KEY, safe='')}",
    "hexadecimal": KEY.encode().hex(),
    **{f"Base64 after {count} bytes": basic("Bearer "[:count]) for count in range(4)},
    "Base64 for URLs": base64.urlsafe_b64encode(KEY.encode()).decode(),
}


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_no_piece_of_a_key_is_left(echo: str) -> None:
    clean = Redactor(KEY).clean(f"before {echo} after")

    forms = [KEY, basic(""), basic("B"), basic("Be"), KEY.encode().hex(), quote(KEY, safe="")]
    pieces = {form[at : at + 11].lower() for form in forms for at in range(len(form) - 10)}
    assert "[key]" in clean
    assert not [piece for piece in pieces if piece in clean.lower()]
    assert clean.startswith("before ")
    assert clean.endswith(" after")


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("", "an empty key"),
        ("none", "none of it, nonetheless"),
        ("EMPTY", "EMPTY = object()"),
        ("sk-no-key-required", "parser.add_argument('x', required=True)"),
        ("my_secret_value", "target_value = get_value()"),
        (KEY, "import tealeaf\nleaves = tealeaf.read_leaves(text)  # İstanbul"),
    ],
)
def test_what_is_no_secret_is_left_as_it_is(key: str, text: str) -> None:
    assert Redactor(key).clean(text) == text


def test_what_stands_in_an_address_is_secret_too() -> None:
    secrets = secrets_of("https://me:pass%20word@host/v1?token=tea-token-1", KEY)

    assert secrets == (KEY, "pass word", "tea-token-1")
    assert KEY not in repr(Redactor(*secrets))
