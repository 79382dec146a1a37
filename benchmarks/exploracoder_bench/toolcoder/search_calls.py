"""How often a model's API searches have their form, before and after it was fine-tuned.

Run: ``python -m exploracoder_bench.toolcoder.search_calls SOURCE… --unlike TEXTS.jsonl
--lora ADAPTER.gguf --out FILE.jsonl``

Functions of SOURCE (folders, .py files) that call an API of a library, and of which the training
text TEXTS.jsonl holds none, are begun with their signature and docstring; the model goes on. It is
asked once as the training text is, with the code alone, and once with the words and the example of
`exploracoder explore --method toolcoder`. What it searches for is not answered: it writes on. All
is drawn greedily. Functions that are in FILE.jsonl already are left out, so that it can go on.

A search is well-formed when it is closed in its line, has a query of at most 200 characters and an
answer, and none lies in another. Intervals are those of `exploracoder bench report`.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from exploracoder.errors import ExploraCoderError, InputError
from exploracoder.models.adapter import file_sha256
from exploracoder.models.chat import ChatModel, Sampling
from exploracoder.prepare import open_model
from exploracoder.prompts import render
from exploracoder.toolcoder import calls
from pydantic import BaseModel, ConfigDict

from exploracoder_bench.datasets.json_lines import GrowingFile
from exploracoder_bench.intervals import bootstrap, ratio
from exploracoder_bench.markdown_table import markdown
from exploracoder_bench.progress_lines import say
from exploracoder_bench.toolcoder.corpus import Function, read_corpus
from exploracoder_bench.toolcoder.training_text import training_text

_PLAIN, _ASKED = "the code alone", "asked to search"
_ENDS = ("```", "\nTask:", "\ndef ", "\nclass ")


class Continuation(BaseModel):
    """What a model wrote after the beginning of a function."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    function: str
    model: str
    lora: str
    prompt: str
    text: str

    @property
    def begun(self) -> int:
        """The number of searches that were begun."""
        return max(self.text.count(calls.OPEN), self.text.count(calls.NAME))

    @property
    def whole(self) -> int:
        """The number of well-formed searches."""
        searches = calls.whole_calls(self.text)
        return sum(
            0 < len(one.query.strip("'\" ")) <= calls.MAX_QUERY_CHARS and bool(one.answer)
            for one in searches
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; exit code 2 when sources, files or models cannot be used."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", nargs="*", type=Path, metavar="SOURCE")
    parser.add_argument("--unlike", type=Path, metavar="TEXTS.jsonl", help="the training text")
    parser.add_argument("--lora", type=Path, metavar="FILE.gguf", help="as in 'explore'")
    parser.add_argument("--count", type=int, default=40, help="of functions; default: 40")
    parser.add_argument("--seed", type=int, default=0, help="of drawing the functions; default: 0")
    parser.add_argument("--max-tokens", type=int, default=200, help="of a text; default: 200")
    parser.add_argument("--model", help="as in 'exploracoder explore'")
    parser.add_argument("--base-url", help="as in 'exploracoder explore'")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.jsonl")
    options = parser.parse_args(arguments)
    try:
        out = GrowingFile(options.out, Continuation, "result of this command")
        if options.sources:
            asyncio.run(_measure(held_out(options), out, options))
        rows = out.read()
    except (ExploraCoderError, OSError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    print(table(rows))
    return 0


def held_out(options: argparse.Namespace) -> list[Function]:
    """The functions for the model to continue. Raises InputError when there are too few."""
    if options.unlike is not None and not options.unlike.exists():
        raise InputError(f"There is no file {options.unlike}.")
    training_ids = (
        {row.id for row in training_text(options.unlike).read()} if options.unlike else set()
    )
    functions = [
        one
        for one in read_corpus(options.sources, max_lines=40)
        if isinstance(one, Function) and one.id not in training_ids and beginning(one.code)
    ]
    functions = [one for one in functions if any(use.is_public for use in one.uses)]
    if len(functions) < options.count:
        raise InputError(
            f"{len(functions)} functions of the sources call a library's API and are not in the"
            " training text. Give more sources, or a lower --count."
        )
    return random.Random(options.seed).sample(functions, options.count)


def beginning(code: str) -> str:
    """A function up to the end of its docstring; empty when it has none, or nothing after it."""
    try:
        node = ast.parse(code).body[0]
    except (SyntaxError, ValueError, IndexError):
        return ""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or len(node.body) < 2:
        return ""
    if ast.get_docstring(node) is None:
        return ""
    return "\n".join(code.split("\n")[: node.body[0].end_lineno]) + "\n"


async def _measure(
    functions: Sequence[Function], out: GrowingFile[Continuation], options: argparse.Namespace
) -> None:
    finished_keys = {(row.function, row.model, row.lora, row.prompt) for row in out.read()}
    for lora in [None, options.lora] if options.lora else [None]:
        digest = file_sha256(lora)[:12] if lora else ""
        async with open_model(options.model, options.base_url, lora=lora) as model:
            todo = [
                (one, kind)
                for kind in (_PLAIN, _ASKED)
                for one in functions
                if (one.id, model.name, digest, kind) not in finished_keys
            ]
            for number, (one, kind) in enumerate(todo, start=1):
                say(f"{model.name}: {number} of {len(todo)}")
                text = await _continued(model, one, kind, options.max_tokens)
                row = Continuation(
                    function=one.id, model=model.name, lora=digest, prompt=kind, text=text
                )
                out.append(row)


async def _continued(model: ChatModel, function: Function, kind: str, max_tokens: int) -> str:
    prompt = beginning(function.code)
    ends: tuple[str, ...] = ("\ndef ", "\nclass ")
    if kind == _ASKED:
        prompt, ends = _with_words(function, prompt), _ENDS
    sampling = Sampling(temperature=0.0, max_tokens=max_tokens, stop=ends)
    return (await model.continue_text(prompt, sampling)).text


def _with_words(function: Function, head: str) -> str:
    public = sorted({use.path.partition(".")[0] for use in function.uses if use.is_public})
    prompt = render(
        "toolcoder",
        "text",
        query=True,
        task=f"Complete the function `{function.name}`.",
        entry_point="",
        wanted="",
        library=", ".join(public),
        context="",
        head=head.rstrip("\n"),
    )
    return f"{prompt}\n"


def table(rows: Sequence[Continuation]) -> str:
    """A row for each way to ask, before and after."""
    return markdown(
        (
            "",
            "model",
            "functions",
            "with a search",
            "searches begun",
            "of them well-formed",
            "functions with a well-formed one",
        ),
        _lines(rows),
    )


def _lines(rows: Sequence[Continuation]) -> Iterator[Sequence[object]]:
    for key in dict.fromkeys((row.prompt, row.model, row.lora) for row in rows):
        group = [row for row in rows if (row.prompt, row.model, row.lora) == key]
        kind, model, lora = key
        yield (
            kind,
            f"{model} ({lora})" if lora else model,
            len(group),
            bootstrap([float(row.begun > 0) for row in group]),
            sum(row.begun for row in group),
            ratio([(row.whole, row.begun) for row in group]),
            bootstrap([float(row.whole > 0) for row in group]),
        )


if __name__ == "__main__":
    sys.exit(main())
