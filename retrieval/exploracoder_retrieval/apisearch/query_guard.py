"""What may be sent to the web: words about functionality, never code or the user's values."""

from __future__ import annotations

import re
from collections.abc import Iterable

from exploracoder_retrieval.embedded_words import words
from exploracoder_retrieval.errors import QueryRefused

MAX_CHARS = 200
_MIN_WITHHELD_CHARS = 3

_CODE = (
    r"[={}`;\\\t\r\n]",  # an assignment, a block, a string with escapes, several lines
    r"^\s*(def|class|import|from|lambda|return|for|with|async)\s[^?]*[:(]",
    r"\b(import|from)\s+\w+(\s+import\b|\s+as\b|$)",
    r"\(\s*[^)\s][^)]*[,'\"\[\d]",  # a call with values
    r"\[[^\]]*[\d'\",:][^\]]*\]",  # a list, a subscript
    r"('''|\"\"\"|->|:=|\*\*|<<|>>|@\w)",
)
_SECRET = (
    r"(?i)\b(sk|pk|rk|gh[pousr]|glpat|xox[abprs]|hf|npm|pypi|AKIA|ASIA|AIza|eyJ)[-_]?[\w-]{12,}",
    r"(?i)\b(password|passwd|secret|token|api[ _-]?key|credential)s?\s*(:|\bis\b)\s*\S",
    r"\b(?=\w*\d)(?=\w*[A-Za-z])[\w-]{20,}\b",  # a long word with digits is not English
    r"\b[0-9a-fA-F]{16,}\b",
    r"-----BEGIN",
)
_PERSONAL = (
    r"[\w.+-]+@[\w-]+\.\w+",
    r"\w+://",
    r"\b\d{1,3}(\.\d{1,3}){3}\b",
    r"\d[\d ()-]{6,}\d",  # a telephone, card or customer number
    r"\d+([.,]\d+)?\s*[,;]\s*\d+([.,]\d+)?\s*[,;]\s*\d",  # a row of data
)
_PATH = (
    r"(^|[\s'\"(])(~|\.{1,2})?/[\w.~-]",
    r"\b[A-Za-z]:[\\/]",
    r"\w+/\w+/\w+",
    r"\w\.(csv|tsv|json|jsonl|ya?ml|toml|ini|env|py|ipynb|sql|db|sqlite|xlsx?|parquet|txt|log|pem)\b",
)
_QUOTED = r"(['\"])(?!\s)[^'\"]*[^'\"A-Za-z _-][^'\"]*\1|(['\"])[^'\"]{31,}\2"

_REASONS = (
    ("looks like code", _CODE),
    ("looks like it holds a secret", _SECRET),
    ("holds an address, or numbers that look like data", _PERSONAL),
    ("names a file or folder", _PATH),
    ("quotes a value", (_QUOTED,)),
)


class Guard:
    """Lets a query pass only if it may leave this machine.

    The words in ``values``, texts that contain the user's data, may not leave it, nor may the
    ``names`` that the user's code defines. Words that also occur in ``public`` texts, such as the
    library's own docs, may.
    """

    def __init__(
        self, values: Iterable[str] = (), *, names: Iterable[str] = (), public: Iterable[str] = ()
    ) -> None:
        user_words = {word for text in values for word in words(text)}
        user_words |= {words(name)[0] for name in names if words(name)}
        public_words = {word for text in public for word in words(text)} if user_words else set()
        self._withheld = {
            word
            for word in user_words - public_words
            if len(word) >= _MIN_WITHHELD_CHARS or word.isdigit()
        }

    def check(self, query: str) -> str:
        """The query as it may be sent, on one line.

        Raises:
            QueryRefused: it is empty, too long, or must not leave this machine. The message says
                why, without repeating the query.
        """
        if not query.strip():
            raise QueryRefused("The query is empty. Say in a few words what the API should do.")
        if len(query) > MAX_CHARS:
            raise QueryRefused(
                f"The query has {len(query):,} characters and was not sent: web search takes at"
                f" most {MAX_CHARS}. Say in a few words what the API should do."
            )
        query = query.strip()
        for reason, patterns in _REASONS:
            if any(re.search(pattern, query) for pattern in patterns):
                raise QueryRefused(
                    f"The query {reason} and was not sent to the web. Ask in plain words."
                )
        if self._withheld & set(words(query)):
            raise QueryRefused(
                "The query has words of the user's data or code and was not sent to the web. Ask"
                " in general terms."
            )
        return " ".join(query.split())
