"""Ways out that files take which somebody else has put beside what a command is given."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from exploracoder.testing import ScriptedModelServer

from exploracoder_bench.escapes import model
from exploracoder_bench.escapes.commands import Ended, Workplace, explore_words
from exploracoder_bench.hostile_snippets import Variant

_TREE_SECONDS = 60.0
_ANSWER = "def answer():\n    return 42"
_STARTUP = ("sitecustomize.py", "usercustomize.py", "json.py", "struct.py", "selectors.py")
_MODULE = 'def pour(cup: str) -> str:\n    """Pour tea into a cup."""\n    return cup\n'
_SECRET = "kept_outside_the_tree"


def temporary_modules(variant: Variant, folder: Path, cache: Path) -> list[str]:
    """Modules in the folder for temporary files and in the current one, with names of Python's."""
    place = Workplace(folder, cache, variant)
    for where in (place.temporary, place.work):
        for name in ("json.py", "re.py", "site.py", "sitecustomize.py", "collections.py"):
            (where / name).write_text(_marker(folder, f"{where.name}/{name}"))
    with ScriptedModelServer(model.always(_ANSWER)) as server:
        place.run("index", "statistics")
        place.run(*explore_words(server.base_url, server.model, "statistics"))
    place.run("doctor")
    return _markers(folder)


def startup_files(variant: Variant, folder: Path, cache: Path) -> list[str]:
    """Modules that each start of Python imports, and a .pth, beside a library that was named."""
    place = Workplace(folder, cache, variant)
    repository = folder / "repository"
    (repository / "teahouse").mkdir(parents=True)
    library = repository / "teahouse"
    (library / "__init__.py").write_text(_MODULE)
    notebook = place.work / "tea.ipynb"
    found = []
    with ScriptedModelServer(model.always(_ANSWER)) as server:
        words = explore_words(server.base_url, server.model, library)
        place.run(*words, "--output", notebook)
        if not notebook.exists():
            raise RuntimeError(f"{library} could not be explored.")
        for where in (repository, library):
            _put_startup_files(where, folder)
        for command in (("index", library), words, ("replay", notebook)):
            place.run(*command)
            found += [f"{command[0]}: {text}" for text in _markers(folder)]
            (folder / "marker").unlink(missing_ok=True)
    return found


def _put_startup_files(where: Path, folder: Path) -> None:
    for name in (*_STARTUP, "start.pth"):
        (where / name).write_text(_marker(folder, f"{where.name}/{name}"))


def trees(variant: Variant, folder: Path, cache: Path) -> list[str]:
    """Trees that are odd in one way each: they are read, or left out with a reason."""
    troubles = {name: trouble_with(name, variant, folder / name, cache) for name in TREES}
    return [f"{name}: {trouble}" for name, trouble in troubles.items() if trouble]


def trouble_with(name: str, variant: Variant, folder: Path, cache: Path) -> str:
    """What indexing one of ``TREES`` ends in that it must not; empty when there is nothing."""
    place = Workplace(folder, cache, variant)
    library = place.folder / f"{name}_lib"
    library.mkdir()
    (library / "__init__.py").write_text(_MODULE)
    if not TREES[name](library):
        return ""
    ended = place.run("index", library, seconds=_TREE_SECONDS)
    return ended.trouble(seconds=_TREE_SECONDS) or _seen_outside(place, library, ended)


def _seen_outside(place: Workplace, library: Path, indexed: Ended) -> str:
    """Whether what lies outside the tree can be found."""
    if indexed.code != 0 or "outside" not in library.name:
        return ""
    answer = place.run("search", "what is kept outside", "--library", library, "--json")
    return "a file outside the tree was read" if _SECRET in answer.out else ""


def _loop(library: Path) -> bool:
    (library / "loop.py").symlink_to("loop.py")
    (library / "around").symlink_to(library)
    return True


def _coding(library: Path) -> bool:
    (library / "odd.py").write_text("# coding: rot13\nqrs cbhe(): cnff\n")
    (library / "odder.py").write_text("# coding: no-such-coding\n")
    (library / "bytes.py").write_bytes(b"# coding: utf-16\n\xff\xfe\x00" + bytes(range(256)))
    return True


def _fifo(library: Path) -> bool:
    os.mkfifo(library / "fifo.py")
    return True


def _zero(library: Path) -> bool:
    (library / "zero.py").symlink_to("/dev/zero")
    return True


def _outside_link(library: Path) -> bool:
    outside = library.parent / "elsewhere.py"
    outside.write_text(f'def {_SECRET}():\n    """What is kept outside the tree."""\n')
    (library / "link.py").symlink_to(outside)
    (library / "folder").symlink_to("/etc")
    return True


def _device(library: Path) -> bool:
    try:
        os.mknod(library / "zero.py", stat.S_IFCHR | 0o644, os.makedev(1, 5))
    except OSError:  # only the superuser can make one
        return False
    return True


def _deep(library: Path) -> bool:
    (library / "deep.py").write_text("x = " + "(" * 100_000 + ")" * 100_000)
    (library / "nested.py").write_text("x = " + "-" * 300_000 + "1")
    return True


def _large(library: Path) -> bool:
    with (library / "large.py").open("wb") as file:
        file.truncate(1 << 40)
    return True


TREES: dict[str, Callable[[Path], bool]] = {
    "loop": _loop,
    "coding": _coding,
    "fifo": _fifo,
    "zero": _zero,
    "outside": _outside_link,
    "device": _device,
    "deep": _deep,
    "large": _large,
}


def _marker(folder: Path, name: str) -> str:
    """A line of Python that tells that it ran; with its own modules, which nobody can replace."""
    code = f"import posix; f = posix.open({str(folder / 'marker')!r}, 0o2101, 0o600)"
    return f"{code}; posix.write(f, {(name + chr(10)).encode()!r}); posix.close(f)\n"


def _markers(folder: Path) -> list[str]:
    marker = folder / "marker"
    if not marker.exists():
        return []
    return [f"{name} ran" for name in sorted(set(marker.read_text().split()))]
