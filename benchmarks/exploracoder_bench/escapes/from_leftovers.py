"""A check that passes because of what a candidate has left for it."""

from __future__ import annotations

import json
from pathlib import Path

from exploracoder.testing import ScriptedModelServer

from exploracoder_bench.escapes import model
from exploracoder_bench.escapes.commands import Workplace, explore_words
from exploracoder_bench.hostile_snippets import Variant

# It gives the answer only if code that ran before, in another state, has left something.
_ANSWER = """
import importlib, os, sys, tempfile
here = {here}
mark = "left-for-the-check"
def leftovers():
    return [path for path in here if os.path.exists(path)]
found = leftovers()
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
    for number, (name, path) in enumerate(PLACES.items()):
        place = Workplace(folder / str(number), cache, variant)
        (place.work / "calc.py").write_text("value = 0\n")
        check = place.folder / "check.py"
        check.write_text(_CHECK)
        left = path.replace("TAG", f"left-{folder.name}-{number}")
        code = _ANSWER.replace("{here}", f"[{left}]")
        with ScriptedModelServer(model.always(code)) as server:
            words = explore_words(server.base_url, server.model, "statistics")
            ended = place.run(*words, "--check", check, "--entry-point", "answer", "--json")
        if ended.code == 0:
            found.append(f"{name}: a wrong solution is {_verdict(ended.out)}")
    return found


def _verdict(text: str) -> str:
    try:
        return str(json.loads(text)["status"])
    except (ValueError, KeyError):
        return "taken for right"
