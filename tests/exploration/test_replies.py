"""How code is taken out of replies, and what is said where there is none."""

from __future__ import annotations

import pytest
from exploracoder.engine.reading.replies import code_block, codes, no_code, solution_in
from exploracoder.errors import NoCodeError
from exploracoder.models.chat import Reply
from exploracoder.models.model_cost import Usage

DOCTEST = '"""Doc.\n\n```\nexample\n```\n"""\nx = 1'
CODES = {
    "one block": ("```python\nx = 1\n```", "x = 1"),
    "words around": ("Here:\n```py\nx = 1\n\ny = 2\n```\nDone.", "x = 1\n\ny = 2"),
    "no language": ("```\nx = 1\n```", "x = 1"),
    "two ways to do it": ("```python\nx = 1\n```\nor\n```python\nx = 2\n```", "x = 1"),
    "cut off": ("```python\nx = 1\ny =", "x = 1\ny ="),
    "no fence": ("x = 1\n", "x = 1"),
    "the body of a function without a fence": ("    return x + 1", "    return x + 1"),
    "indented end": ("```python\n    x = 1\n    ```", "    x = 1"),
    "fence in a string": ("```python\ntext = '```'\nx = 1\n```", "text = '```'\nx = 1"),
    "CRLF": ("Sure\r\n```python\r\nx = 1\r\ny = 2\r\n```\r\n", "x = 1\ny = 2"),
    "upper case and version": ('```Python3.12 title="x"\nx = 1\n```', "x = 1"),
    "space before the tag": ("``` python\nx = 1\n```", "x = 1"),
    "tildes and attributes": ("~~~ {.python .numberLines}\nx = 1\n~~~", "x = 1"),
    "a tag that says something else": ("```text\nimport t\nt.go()\n```", "import t\nt.go()"),
    "other languages around": (
        "```bash\npip install x\n```\n\n```python\nx = f()\n```\n```text\n1\n```",
        "x = f()",
    ),
    "in pieces": (
        "```python\nimport t\n```\nthen\n```python\na = t.b()\n```\nthen\n```python\nc = a[0]\n```",
        "import t\n\na = t.b()\n\nc = a[0]",
    ),
    "how to use it": (
        "```python\ndef f(x):\n    return x\n```\n```python\nprint(f(1))\n```",
        "def f(x):\n    return x\n\nprint(f(1))",
    ),
    "a fence in a docstring": (f"```python\n{DOCTEST}\n```\nThat is it.", DOCTEST),
    "four backticks": ("````python\ns = '''\n```\n'''\n````", "s = '''\n```\n'''"),
    "a reply in a block": ("````markdown\nSure:\n```python\nx = 1\n```\n````", "x = 1"),
    "a fence that begins late": ("Here it is: ```python\nx = 1\n```", "x = 1"),
    "in a list": ("1. Do:\n\n   ```python\n   if x:\n       y()\n   ```", "if x:\n    y()"),
    "in a quotation": ("> ```python\n> x = 1\n> ```", "x = 1"),
    "under a tag": ("<details>\n```python\nx = 1\n```\n</details>", "x = 1"),
    "not Python": ("```python\nx = = 1\n```", "x = = 1"),
    "not Python, no language": ("```\nx = = 1\n```", "x = = 1"),
    "cut off, without a fence": ("import t\nx = t.read(\n", "import t\nx = t.read("),
}
LONG = {
    "fences": '```python\n"""\n' + "```\n" * 20_000,
    "brackets": "(\n" * 30_000,
    "tags": "```markdown\n" * 5_000,
    "quotes": "> " * 5_000 + "```python",
}
NOTHING = {
    "empty": "",
    "white space": " \n\t\r\n",
    "prose": "I am sorry, but I cannot do that.",
    "a word": "Sure",
    "a word with a dash": "Well-known",
    "a number": "42",
    "an empty block": "```python\n```",
    "comments": "```python\n# I cannot do that.\n```",
    "pass": "```python\npass\n```",
    "a value in JSON": '```json\n{"a": 1}\n```',
    "commands": "```bash\npip install tealeaf\n```",
    "deeper than Python goes": f"```python\nx = {'-' * 5000}1\n```",
    "deeper than code can be written out": f"x = {' + '.join(['1'] * 2000)}",
}


@pytest.mark.parametrize(("reply", "code"), CODES.values(), ids=CODES)
def test_the_code_of_a_reply_is_found(reply: str, code: str) -> None:
    assert code_block(reply) == code


@pytest.mark.parametrize("reply", NOTHING.values(), ids=NOTHING)
def test_what_does_nothing_is_no_code(reply: str) -> None:
    assert code_block(reply) == ""


@pytest.mark.parametrize("reply", LONG.values(), ids=LONG)
def test_a_reply_of_nothing_but_fences_has_no_code_to_speak_of(reply: str) -> None:
    assert len(code_block(reply)) < 20


def test_a_reply_that_was_cut_off_ends_with_a_whole_statement() -> None:
    texts = ("```python\nx = 1\ny = (", "```python\nx = 1\ny = (")
    reply = Reply(texts=texts, finish_reasons=("length", "stop"), usage=Usage(), model="m")

    assert codes(reply) == ["x = 1", "x = 1\ny = ("]


@pytest.mark.parametrize(
    ("text", "reason", "said"),
    [
        ("", "stop", "gave an empty answer"),
        ("", "length", "used up the tokens"),
        ("", "content_filter", "refused to answer"),
        ("No\x1b[2J.\u202e", "stop", "wrote no code but “No [2J.”"),
    ],
)
def test_why_there_is_no_solution_is_a_sentence(text: str, reason: str, said: str) -> None:
    error = no_code("tea-model", text, reason)

    assert str(error).startswith(f"The model tea-model {said}")
    assert "resume to ask again" in str(error)


def test_a_reply_without_code_is_no_solution() -> None:
    with pytest.raises(NoCodeError, match="wrote no code"):
        solution_in(Reply(texts=("Sorry!",), usage=Usage(), model="m"), "m")
