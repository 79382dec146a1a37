"""Code that is bound to names which exist."""

from __future__ import annotations

import ast
import asyncio

import pytest
from exploracoder.engine.name_grammar import grammar_of, names_of
from exploracoder.models import EmbeddedModel, Message, Sampling, weights
from exploracoder_retrieval.apidoc import ApiDoc

DOCS = [
    ApiDoc(library="tealeaf", path="tealeaf.flow.Flow.keep", kind="method", aliases=(".sieve",)),
    ApiDoc(library="tealeaf", path="tealeaf.read_leaves", kind="function"),
]
CODE = '''\
import os.path
from tealeaf.flow import Flow

def strong(text):
    """Reads e.g. leaves.txt and
    keeps what.is.strong."""
    # As in tealeaf.brew_all.
    parts = text.split(";")[1:] or [...]
    flow = (
        Flow(parts)
        .keep(lambda part: float(part[0]) > 1.5)
        .sieve(None)
    )
    name = 'a.tea "cup"' + f"{parts}.b" + os.path.join("x.y", "")
    return flow, name, text.steep
'''


def test_the_names_are_those_of_the_libraries_of_python_and_of_the_task() -> None:
    names = names_of(DOCS, ["text.steep(3)", "naïve.über"])

    assert {"keep", "sieve", "Flow", "flow", "read_leaves", "tealeaf", "steep"} <= names
    assert {"split", "append", "items", "path", "loads", "defaultdict"} <= names
    assert not {"brew_all", "head", "naïve", "über"} & names


def test_names_stand_in_a_tree_of_their_beginnings() -> None:
    paths = ("zzt", "zztea", "zzteam", "zzto")
    docs = [ApiDoc(library="zzt", path=path, kind="function") for path in paths]

    assert '"zt" ("ea" ("m")? | "o")?' in grammar_of(docs, [])


async def said(request: str, grammar: str) -> str:
    messages = [Message("user", request)]
    async with EmbeddedModel() as model:
        reply = await model.complete(messages, Sampling(max_tokens=400, grammar=grammar))
    return reply.text.removeprefix("```python\n").removesuffix("```")


@pytest.mark.model
async def test_the_grammar_lets_through_what_is_right_and_nothing_else() -> None:
    await asyncio.to_thread(weights.pull)
    grammar = grammar_of(DOCS, ["text.steep"])
    same = await said(f"Repeat this block, exactly as it is:\n\n```python\n{CODE}```", grammar)
    request = "Write the one line of Python that prints df.head(2) of the pandas DataFrame df."
    bound = await said(request, grammar)

    assert same == CODE
    used = {node.attr for node in ast.walk(ast.parse(bound)) if isinstance(node, ast.Attribute)}
    assert "head" not in used
    assert used <= names_of(DOCS, ["text.steep"])
