"""Rules for which annotated searches are good enough to learn from.

Source: ToolCoder, appendix A, "Filter and Clean": no nested searches, fewer than 5 of them (here at
most 5), at least one for a public library, each closely related to the code. The paper does not
give its rules; these are ours.
"""

from __future__ import annotations

import re

from exploracoder.engine.reading.syntax import lines_of
from exploracoder.toolcoder import calls
from exploracoder_retrieval.embedded_words import words

from exploracoder_bench.toolcoder.corpus import Function, Use

MOST_CALLS = 5
_MIN_WORDS = 2
_CODE = re.compile(r"[(){}\[\]=<>`\\]|->|\w\.\w|\w_\w")


def query_fault(query: str, use: Use, function: Function) -> str:
    """What is wrong with a query for a use; empty if nothing is."""
    if calls.OPEN in query or calls.CLOSE in query or calls.NAME in query:
        return "a search inside a search"
    if len(query) > calls.MAX_QUERY_CHARS:
        return "a query that is too long"
    if _CODE.search(query):
        return "code in a query"
    query_words = words(query)
    if len(query_words) < _MIN_WORDS:
        return "a query of less than two words"
    if not set(query_words) & _near(use, function):
        return "a query that is not about the code"
    return ""


def text_fault(uses: list[Use]) -> str:
    """What is wrong with the searches of one function together; empty if nothing is."""
    if not uses:
        return "no search is left"
    if len(uses) > MOST_CALLS:
        return f"more than {MOST_CALLS} searches"
    if not any(use.is_public for use in uses):
        return "no search for a public library"
    return ""


def _near(use: Use, function: Function) -> set[str]:
    """The words of the API's name, of the statement that uses it, and of the function's purpose."""
    lines = lines_of(function.code)
    statement = "\n".join(lines[use.line - 1 : use.line + 1])
    match = re.search(r'"""(.*?)"""|\'\'\'(.*?)\'\'\'', function.code, re.DOTALL)
    purpose = match[0] if match else ""
    return set(words(f"{use.path}\n{statement}\n{function.name}\n{purpose}"))
