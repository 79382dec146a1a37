"""Five hundred damaged notebooks: each loads, or is refused with a sentence."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from exploracoder import document
from exploracoder.errors import InputError
from exploracoder_kernel import notebook

SAVED = sorted(Path(__file__).with_name("notebooks").glob("version-*.ipynb"))
OF_EACH_KIND = 50
# What a file may say in the place of anything else.
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    3.5,
    10**40,
    float("inf"),
    float("nan"),
    "",
    "tea",
    "step-1",
    "\ud800",
    "\x1b[2J\n\r",
    [],
    [[]],
    {},
    {"tea": 1},
    ["tea"],
)

Contents = dict[str, Any]
Mutation = Callable[[random.Random, Contents], Any]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place below a value: what holds it, and its key or number there."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in list(inside):
        yield value, key
        if isinstance(part, dict | list):
            yield from places(part)


def any_place(chance: random.Random, contents: Contents) -> tuple[Any, Any]:
    return chance.choice(list(places(contents["metadata"]["exploracoder"])))


def steps(contents: Contents) -> Any:
    return contents["metadata"]["exploracoder"]["steps"]


def drop(chance: random.Random, contents: Contents) -> None:
    holder, key = any_place(chance, contents)
    del holder[key]


def retype(chance: random.Random, contents: Contents) -> None:
    holder, key = any_place(chance, contents)
    holder[key] = chance.choice(VALUES)


def swap(chance: random.Random, contents: Contents) -> None:
    (one, key), (other, place) = any_place(chance, contents), any_place(chance, contents)
    one[key] = json.loads(json.dumps(other[place]))


def repeat(chance: random.Random, contents: Contents) -> None:
    holders = [holder for holder, _ in places(contents["metadata"]) if isinstance(holder, list)]
    holder = chance.choice(holders)
    holder.append(json.loads(json.dumps(chance.choice(holder))))


def add(chance: random.Random, contents: Contents) -> None:
    holders = [holder for holder, _ in places(contents["metadata"]) if isinstance(holder, dict)]
    chance.choice(holders)["tea"] = chance.choice(VALUES)


def enlarge(chance: random.Random, contents: Contents) -> None:
    holder, key = any_place(chance, contents)
    holder[key] = chance.choice(["tea " * 100_000, ["tea"] * 50_000, {"a" * 100_000: 1}])


def nest(chance: random.Random, contents: Contents) -> str:
    holder, key = any_place(chance, contents)
    holder[key] = "the depths"
    deep = chance.choice([150, 500, 100_000])
    return json.dumps(contents).replace('"the depths"', "[" * deep + "]" * deep)


def confuse_ids(chance: random.Random, contents: Contents) -> None:
    step = chance.choice(steps(contents))
    others = [one["subtask"]["id"] for one in steps(contents) if one is not step]
    step["subtask"]["id"] = chance.choice([*others, f"{others[0]}-goal", "task", "", "a b", "é"])


def choose_nobody(chance: random.Random, contents: Contents) -> None:
    step = chance.choice([one for one in steps(contents) if one["status"] == "done"])
    step["chosen"] = chance.choice([None, "step-9/9", "", "tea" * 10_000])


def cut(chance: random.Random, contents: Contents) -> str:
    text = json.dumps(contents)
    return text[: chance.randrange(len(text))]


def remove_cells(chance: random.Random, contents: Contents) -> None:
    contents["cells"] = chance.sample(contents["cells"], chance.randrange(len(contents["cells"])))


# How each kind comes out at least once, or, where it is one word, always.
KINDS: dict[str, tuple[Mutation, set[str]]] = {
    "dropped": (drop, {"loaded", "refused"}),
    "retyped": (retype, {"refused"}),
    "swapped": (swap, {"refused"}),
    "repeated": (repeat, {"loaded", "refused"}),
    "added": (add, {"refused"}),
    "huge": (enlarge, {"refused"}),
    "nested": (nest, {"refused"}),
    "ids": (confuse_ids, {"refused"}),
    "chosen": (choose_nobody, {"refused"}),
    "cut": (cut, {"refused"}),
}


def mutated(kind: str, number: int) -> str:
    """The text of a damaged notebook: the same for the same kind and number."""
    chance = random.Random(f"{kind} {number}")
    contents = json.loads(chance.choice(SAVED).read_text(encoding="utf-8"))
    text = KINDS[kind][0](chance, contents)
    return text if isinstance(text, str) else json.dumps(contents)


def outcome(path: Path) -> str:
    """Load it as every surface does; what loads can be saved again and is then the same."""
    try:
        exploration = document.load(path)
    except InputError as error:
        message = str(error)
        assert len(message) < len(str(path)) + 400, message[:1000]
        assert message.isprintable(), message
        return "refused"
    notebook.write(path, document.to_notebook(exploration))
    assert document.load(path) == exploration
    return "loaded"


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_notebook_loads_or_is_refused_with_a_sentence(tmp_path: Path, kind: str) -> None:
    path, outcomes = tmp_path / "tea.ipynb", set()
    began = time.process_time()

    for number in range(OF_EACH_KIND):
        path.write_text(mutated(kind, number), encoding="utf-8")
        try:
            outcomes.add(outcome(path))
        except BaseException as error:
            raise AssertionError(f"{kind} {number} ended in {error!r}") from error

    assert outcomes >= KINDS[kind][1]
    assert time.process_time() - began < 30


def test_cells_that_were_removed_are_made_again(tmp_path: Path) -> None:
    path, chance = tmp_path / "tea.ipynb", random.Random(1)
    contents = json.loads(SAVED[-1].read_text(encoding="utf-8"))
    whole = contents["cells"]
    remove_cells(chance, contents)
    path.write_text(json.dumps(contents), encoding="utf-8")

    again = document.to_notebook(document.load(path))

    assert len(contents["cells"]) < len(whole)
    assert [cell["id"] for cell in again.cells] == [cell["id"] for cell in whole]
