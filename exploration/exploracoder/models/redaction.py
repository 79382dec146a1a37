"""Redacts secrets in whatever a server sends, and in code that is kept."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from string import ascii_lowercase, ascii_uppercase
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from exploracoder_kernel.environment import SECRET_NAME

BLOT = "[key]"
# Anything shorter is not a secret, and would match ordinary words.
_SHORTEST = 8
# Pieces are not looked for in keys that are words, such as "correct-horse-9".
_WORDS = re.compile(r"[a-z]+(?:[-_ .][a-z]+)*[-_ .]?\d{0,2}")
# What addresses have in their query besides keys.
_HARMLESS = ("version", "deployment", "model", "region")
# A piece of a key without any of these may be part of a plain word or an identifier: left alone.
_TELLING = re.compile(r"[\dA-Z+%-]")
# What people put where a server wants no key.
_PLACEHOLDER = re.compile(
    r"(?:(?:sk|no|not|none|your|my|any|anything|dummy|fake|empty|api|key|here|needed|required"
    r"|placeholder|undefined|null|lm|studio|ollama|local|llama|cpp|vllm)(?:[-_ .]|$))+",
    re.IGNORECASE,
)
# `str.lower` makes some texts longer, but positions must stay valid.
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


class Redactor:
    """Redacts secrets in texts: whole, encoded, and, unless they are words, 8 characters of them.

    Case is ignored. The encodings are Base64 (also within a longer text), URL encoding and
    hexadecimal. Secrets below 8 characters, and those that only consist of words such as ``your``,
    ``api`` and ``key``, are taken for placeholders.
    """

    def __init__(self, *secrets: str) -> None:
        true = [one for one in secrets if len(one) >= _SHORTEST and not _PLACEHOLDER.fullmatch(one)]
        self._forms = sorted({form.translate(_LOWER) for one in true for form in _forms(one)})
        self._pieces = {
            piece.translate(_LOWER)
            for one in true
            if not _WORDS.fullmatch(one)
            for form in _forms(one)
            for piece in _pieces(form)
        }
        self._secrets = {*self._forms, *self._pieces}

    def __repr__(self) -> str:
        return "Redactor()"

    def clean(self, text: str) -> str:
        """The text with each secret replaced by `BLOT`."""
        return self._blotted(text, len(text))

    def clean_so_far(self, text: str) -> str:
        """A prefix of what `clean` will return, whatever follows ``text``: no half of a secret."""
        return self._blotted(text, self._open_at(text.translate(_LOWER)))

    def _blotted(self, text: str, most: int) -> str:
        """The first ``most`` characters, with `BLOT` for each secret that begins in them."""
        parts, end = list[str](), -1
        for start, stop in sorted(self._spans(text.translate(_LOWER))):
            if start > end:
                if start >= most:
                    break
                parts += [text[max(end, 0) : start], BLOT]
            end = max(end, stop)
        return "".join([*parts, text[max(end, 0) : most]])

    def _open_at(self, text: str) -> int:
        """Start of the longest suffix that may be the beginning of a secret; else the length."""
        longest = max(map(len, self._forms), default=0)
        for start in range(max(0, len(text) - longest), len(text)):
            if any(form.startswith(text[start:]) for form in self._secrets):
                return start
        return len(text)

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        for form in self._forms:
            for match in re.finditer(f"(?={re.escape(form)})", text):
                yield match.start(), match.start() + len(form)
        if self._pieces:
            for start in range(len(text) - _SHORTEST + 1):
                if text[start : start + _SHORTEST] in self._pieces:
                    yield start, start + _SHORTEST


# Strings that are keys wherever they occur: by their prefix, or because they are long and mixed.
_KEY_SHAPE = re.compile(
    r"""\b(?:[spr]k-|[spr]k_(?:live|test)_|gh[opsu]_|github_pat_|glpat-|hf_|xox[abprs]-|AKIA|AIza|eyJ)
        (?=[-\w]*\d)[-\w.]{12,}
    |(?<=[Bb]earer\s)[-\w.~+/]{8,}
    |(?<=://)[^\s/'"@:]*:[^\s/'"@]+(?=@)
    |-----BEGIN[A-Z ]*PRIVATE\ KEY-----.*?(?:-----END[A-Z ]*PRIVATE\ KEY-----|\Z)
    |(?<=['"])(?=[\w+/]*\d)(?=[\w+/]*[a-z])(?=[\w+/]*[A-Z])[\w+/]{32,}=*(?=['"])""",
    re.VERBOSE | re.DOTALL,
)
# Values assigned, passed or mapped to a name: a password may look like anything, while a ``key``
# may just be the name of a column. A bare name with a colon often ends a sentence, and what follows
# is then code between two strings.
_NAMED = re.compile(
    r"""(?P<name>\b\w+)(?:(?P<is_code>['"]\]?\s*[=:]|\]?\s*(?::\s*str\s*)?=)|\s*:)\s*[rbfu]*
        (?P<quote>\"{3}|'{3}|['"])
        (?P<value>(?(is_code)(?:\\.|(?!(?P=quote))[^\n\\])+|[^'"\n]+))(?P=quote)""",
    re.VERBOSE,
)
_PASSWORD = re.compile(r"PASS(WORD|WD|PHRASE)|SECRET|CREDENTIAL", re.IGNORECASE)


def blot_credentials(text: str) -> str:
    """Source code with anything that looks like a key or a password replaced by `BLOT`."""
    parts, kept, start = list[str](), 0, 0
    while (match := _NAMED.search(text, start)) is not None:
        # What looks like a value may still have another name in it.
        start = match.end("name")
        if match.start("value") >= kept and _is_secret(match["name"], match["value"]):
            parts += [text[kept : match.start("value")], BLOT]
            kept = match.end("value")
    return _KEY_SHAPE.sub(BLOT, "".join([*parts, text[kept:]]))


def _is_secret(name: str, value: str) -> bool:
    is_key = SECRET_NAME.search(name) and len(value) >= _SHORTEST and re.search(r"\d", value)
    return bool(is_key or _PASSWORD.search(name))


def secrets_of(base_url: str, api_key: str) -> tuple[str, ...]:
    """The secrets of an endpoint: its key, the password in its URL, and what is one in its query.

    An ``api-version`` is none.
    """
    parts = urlsplit(base_url)
    in_query = [
        value
        for name, value in parse_qsl(parts.query)
        if not any(word in name.lower() for word in _HARMLESS)
    ]
    return tuple(filter(None, [api_key, unquote(parts.password or ""), *in_query]))


def _forms(secret: str) -> Iterator[str]:
    data = secret.encode()
    yield secret
    yield quote(secret, safe="")
    yield data.hex()
    for shift in range(3):
        # The characters at the edges also encode bits of the neighbours.
        base64_text = b64encode(bytes(shift) + data).decode()
        core = base64_text[-(-8 * shift // 6) : (shift + len(data)) * 8 // 6]
        yield core
        yield core.replace("+", "-").replace("/", "_")


def _pieces(form: str) -> Iterator[str]:
    for start in range(len(form) - _SHORTEST + 1):
        piece = form[start : start + _SHORTEST]
        if _TELLING.search(piece):
            yield piece
