"""A check that passes because of what a candidate has left for it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from pathlib import Path

from exploracoder.testing import ScriptedModelServer

from exploracoder_bench.escapes import model
from exploracoder_bench.escapes.commands import Workplace, explore_words
from exploracoder_bench.hostile_snippets import Variant

# It gives the answer only if code that ran before, in another state, has left something.
_ANSWER = """
import importlib, os, sys, tempfile
here = {here}
found = [path for path in here if os.path.exists(path)]
try:
    import calc
    found += [calc.__file__] if calc.value == 42 else []
except (ImportError, AttributeError):
    pass
for path in here:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.islink(path):
            os.unlink(path)
        with open(path, "w") as file:
            file.write("value = 42\\n")
    except OSError:
        pass
def answer():
    return 42 if found else 0
"""
PLACES = {
    "home": 'os.path.expanduser("~/left")',
    "temporary folder": 'os.path.join(tempfile.gettempdir(), "left")',
    "/tmp": '"/tmp/TAG"',
    "/dev/shm": '"/dev/shm/TAG"',
    "working folder": 'os.path.abspath("left")',
    "another's folder": 'os.path.abspath("../root/calc.py")',
}
_CHECK = "assert answer() == 42\n"


def checks(variant: Variant, folder: Path, cache: Path) -> list[str]:
    """A solution that is wrong, in places where a candidate may have left what makes it right."""
    found = []
    for number, name in enumerate(PLACES):
        verdict = verdict_with(variant, folder / str(number), cache, (name,))
        found += [f"{name}: a wrong solution is {verdict}"] if verdict else []
    return found


def verdict_with(variant: Variant, folder: Path, cache: Path, names: Iterable[str]) -> str:
    """What is said of a wrong solution when candidates leave files; empty where it is refused.

    Args:
        variant: The sandbox, and how branches are made.
        folder: To be made, for all of it.
        cache: For the index, which may be there.
        names: Those of ``PLACES`` where they leave files.
    """
    place = Workplace(folder, cache, variant)
    (place.work / "calc.py").write_text("value = 0\n")
    check = place.folder / "check.py"
    check.write_text(_CHECK)
    left = ", ".join(PLACES[name] for name in names)
    code = _ANSWER.replace("{here}", f"[{left}]").replace("TAG", f"left-{secrets.token_hex(4)}")
    with ScriptedModelServer(model.always(code)) as server:
        words = explore_words(server.base_url, server.model, "statistics")
        ended = place.run(*words, "--check", check, "--entry-point", "answer", "--json")
    return _verdict(ended.out) if ended.code == 0 else ""


def _verdict(text: str) -> str:
    try:
        return str(json.loads(text)["status"])
    except (ValueError, KeyError):
        return "taken for right"
