"""What the embedded model writes when it is bound to names which exist."""

from __future__ import annotations

import ast
import asyncio

import pytest
from exploracoder.engine.reading.name_grammar import grammar_of, names_of
from exploracoder.models.chat import Message, Sampling
from exploracoder.models.local import EmbeddedModel
from exploracoder.models.weights import WeightsStore
from exploracoder_retrieval.apidoc import ApiDoc

DOCS = [
    ApiDoc(library="tealeaf", path="tealeaf.flow.Flow.keep", kind="method", aliases=(".sieve",)),
    ApiDoc(library="tealeaf", path="tealeaf.read_leaves", kind="function"),
]
CODE = '''\
from tealeaf.flow import Flow

def strong(text):
    """Reads leaves.txt.
    Keeps what.is.strong."""
    # As in tealeaf.brew_all.
    flow = (
        Flow(text.split(";")[1:] or [...])
        .keep(lambda part: float(part[0]) > 1.5)
        .sieve(None)
    )
    return flow, text.steep, 'a.tea "cup"' + f"{flow}.b"
'''


async def said(model: EmbeddedModel, request: str, grammar: str) -> str:
    messages = [Message("user", request)]
    reply = await model.complete(messages, Sampling(max_tokens=400, grammar=grammar))
    return reply.text.removeprefix("```python\n").removesuffix("```")


@pytest.mark.model
async def test_the_grammar_lets_through_what_is_right_and_nothing_else() -> None:
    await asyncio.to_thread(WeightsStore().pull)
    grammar = grammar_of(DOCS, ["text.steep"])
    request = "Write the one line of Python that prints df.head(2) of the pandas DataFrame df."
    async with EmbeddedModel() as model:
        repeat = f"Repeat this block, exactly as it is:\n\n```python\n{CODE}```"
        same = await said(model, repeat, grammar)
        bound = await said(model, request, grammar)

    assert same == CODE
    used_names = {
        node.attr for node in ast.walk(ast.parse(bound)) if isinstance(node, ast.Attribute)
    }
    assert "head" not in used_names
    assert used_names <= names_of(DOCS, ["text.steep"])
