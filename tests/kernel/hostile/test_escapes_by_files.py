"""Ways out that files take which somebody has put beside what a command is given, and that once
were open."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from exploracoder.testing import ScriptedModelServer

from .snippet import Variant
from .test_snippets import VARIANTS, require
from .workplace import GIGABYTE, Workplace, always, explore_words

ANSWER = "def answer():\n    return 42"
STARTUP = ("sitecustomize.py", "usercustomize.py", "json.py", "struct.py", "selectors.py")
MODULE = 'def pour(cup: str) -> str:\n    """Pour tea into a cup."""\n    return cup\n'
SECRET = "kept_outside_the_tree"

# It gives the answer only if code that ran before, in another state, has left something.
CHEATING_ANSWER = """
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
PLACES = (
    'os.path.expanduser("~/left")',
    'os.path.join(tempfile.gettempdir(), "left")',
    '"/tmp/TAG"',
    '"/dev/shm/TAG"',
    'os.path.abspath("left")',
    'os.path.abspath("../root/calc.py")',
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Indexes that the tests share."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(params=VARIANTS, ids=str)
def place(request: pytest.FixtureRequest, tmp_path: Path, cache: Path) -> Workplace:
    """One with each sandbox that can be had here."""
    require(request.param)
    return Workplace(tmp_path, cache, request.param)


@pytest.fixture
def server() -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer(always(ANSWER)) as model_server:
        yield model_server


def test_modules_in_the_temporary_folder_are_not_run(
    place: Workplace, server: ScriptedModelServer
) -> None:
    for where in (place.temporary, place.work):
        place.mark(where, "json.py", "re.py", "site.py", "sitecustomize.py", "collections.py")

    place.run("index", "statistics")
    place.run(*explore_words(server, "statistics"))
    place.run("doctor")

    assert place.ran == []


def test_modules_beside_a_library_are_not_run(
    place: Workplace, server: ScriptedModelServer
) -> None:
    library, notebook = place.folder / "repository" / "teahouse", place.work / "tea.ipynb"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text(MODULE)
    words = explore_words(server, library)
    place.run(*words, "--output", notebook)
    assert notebook.exists()
    for where in (library.parent, library):
        place.mark(where, *STARTUP, "start.pth")

    for command in (("index", library), words, ("replay", notebook)):
        place.run(*command)

        assert place.ran == [], command[0]


def test_no_check_passes_by_what_a_candidate_has_left(place: Workplace) -> None:
    (place.work / "calc.py").write_text("value = 0\n")
    check = place.folder / "check.py"
    check.write_text("assert answer() == 42\n")
    paths = f"[{', '.join(PLACES)}]".replace("TAG", f"left-{secrets.token_hex(4)}")
    with ScriptedModelServer(always(CHEATING_ANSWER.replace("{here}", paths))) as server:
        words = explore_words(server, "statistics")
        exploration = place.run(*words, "--check", check, "--entry-point", "answer", "--json")

    assert exploration.code == 1
    assert json.loads(exploration.out)["status"] == "failed"


def make_odd(library: Path) -> None:
    """Puts beside a good module what waits for whoever reads it."""
    outside = library.parent / "elsewhere.py"
    outside.write_text(f'def {SECRET}():\n    """What is kept outside the tree."""\n')
    for name, target in {
        "loop.py": "loop.py",
        "around": library,
        "zero.py": "/dev/zero",
        "link.py": outside,
        "folder": "/etc",
    }.items():
        (library / name).symlink_to(target)
    (library / "odd.py").write_text("# coding: rot13\nqrs cbhe(): cnff\n")
    (library / "odder.py").write_text("# coding: no-such-coding\n")
    (library / "bytes.py").write_bytes(b"# coding: utf-16\n\xff\xfe\x00" + bytes(range(256)))
    (library / "deep.py").write_text("x = " + "(" * 100_000 + ")" * 100_000)
    (library / "nested.py").write_text("x = " + "-" * 300_000 + "1")
    with (library / "large.py").open("wb") as file:
        file.truncate(1 << 40)
    os.mkfifo(library / "fifo.py")
    with contextlib.suppress(OSError):  # only the superuser can make one
        os.mknod(library / "device.py", stat.S_IFCHR | 0o644, os.makedev(1, 5))


def test_an_odd_tree_is_read_within_bounds(tmp_path: Path, cache: Path) -> None:
    place = Workplace(tmp_path, cache, Variant())
    library = tmp_path / "odd_lib"
    library.mkdir()
    (library / "__init__.py").write_text(MODULE)
    make_odd(library)

    indexing = place.run("index", library)
    search = place.run("search", "what is kept outside", "--library", library, "--json")

    assert indexing.code >= 0, "it did not end"
    assert "Traceback" not in indexing.err + indexing.out
    assert indexing.peak_bytes < GIGABYTE
    assert "odd_lib.pour" in search.out
    assert SECRET not in search.out
