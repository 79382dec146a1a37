"""Secrets are blotted out, whatever they are wrapped in; other texts are left alone."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from exploracoder.models.redaction import Redactor, blot_credentials, secrets_of

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
        ("sk-no-key-required", "parser.add_argument('--requirement', required=True)"),
        ("your-api-key", "{'x-api-key': key}, '--api-key', 'your-api-key'"),
        ("placeholder", "st.text_input(placeholder=x)"),
        ("undefined", "jinja2.Undefined"),
        ("correct-horse-9", "a-horse-9 of correct size"),
        (KEY, "import tealeaf\nleaves = tealeaf.read_leaves(text)  # İstanbul"),
    ],
)
def test_what_is_no_secret_is_left_as_it_is(key: str, text: str) -> None:
    assert Redactor(key).clean(text) == text


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ('client = Client(api_key="abc12345678")', 'client = Client(api_key="[key]")'),
        ('os.environ["TOKEN"] = "abc12345678"', 'os.environ["TOKEN"] = "[key]"'),
        ("login = {'password': 'tea'}", "login = {'password': '[key]'}"),
        ('DB_PASSWORD: str = "tea"', 'DB_PASSWORD: str = "[key]"'),
        ('login("admin", password="password")', 'login("admin", password="[key]")'),
        ('password="pass"', 'password="[key]"'),
        (
            """ask("Password: ", default='', password="hunter2")""",
            """ask("Password: ", default='', password="[key]")""",
        ),
        (
            """print("password:", 'password="tea"')""",
            """print("password:", 'password="[key]"')""",
        ),
        ('password = "pa\'ss123word"', 'password = "[key]"'),
        (r'password = "pa\"ss"', 'password = "[key]"'),
        ('password = """hunter22"""', 'password = """[key]"""'),
        (
            "print('a:'); password = \"tea\"; print('b')",
            "print('a:'); password = \"[key]\"; print('b')",
        ),
        ('x = "sk-proj-a1b2c3d4e5f6"', 'x = "[key]"'),
        ('x = "AKIAIOSFODNN7EXAMPLE"', 'x = "[key]"'),
        ('connect("postgres://me:tea@host/db")', 'connect("postgres://[key]@host/db")'),
        ('h = {"A": "Bearer abcdefgh12"}', 'h = {"A": "Bearer [key]"}'),
        (f'x = "{"aB3" * 12}"', 'x = "[key]"'),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n", "[key]"),
    ],
)
def test_code_that_is_kept_has_no_key_and_no_password(code: str, kept: str) -> None:
    assert blot_credentials(code) == kept


@pytest.mark.parametrize(
    "code",
    [
        'rows.sort_values(key="name of it", token="word")',
        """raise ValueError("Bad password: " + name + ' in ' + d["k"])""",
        'primary_key = "identifier"',
        "key = lambda row: row.name",
        "skimage.transform.resize2(hf_hub_download_of_a_file)",
        "AVeryLongNameOfAClassThatHasDigits2AndCapitals()",
        "get_a_very_long_name_of_a_function_in_lower_case_letters_2()",
        'open("https://tea.example/a@b")',
    ],
)
def test_code_that_only_speaks_of_keys_is_kept_as_it_is(code: str) -> None:
    assert blot_credentials(code) == code


def test_what_stands_in_an_address_is_secret_too() -> None:
    secrets = secrets_of("https://me:pass%20word@host/v1?token=tea-token-1", KEY)

    assert secrets == (KEY, "pass word", "tea-token-1")
    assert KEY not in repr(Redactor(*secrets))
    assert secrets_of("https://host/v1?api-version=2024-10-21-preview&deployment=4o", "") == ()
    assert secrets_of("https://host/v1?code=aB3-Ef6h_j9&pwd=horse-9", "") == (
        "aB3-Ef6h_j9",
        "horse-9",
    )


@pytest.mark.parametrize(
    "key", ["Abcd1234Efgh5678", "abcdefghijKLMNOPQRSTuvwxyz", "a1b2-c3d4-e5f6"]
)
def test_a_short_key_that_is_echoed_in_part_is_blotted(key: str) -> None:
    clean = Redactor(key).clean(f"Invalid key '{key[:-2]}**'.")

    assert "[key]" in clean
    assert not [piece for at in range(len(key) - 7) if (piece := key[at : at + 8]) in clean]
