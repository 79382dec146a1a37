"""The library map: one line for each public API, grouped by module.

It does not change from request to request, so that a server with a prefix cache reads it once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.reading.value_text import cut

_SIGNATURE_CHARS = 96
_SUMMARY_CHARS = 72
# In a map that does not fit, at least this fraction (1/n) says what else there is, one line per
# module: less if a task says what matters.
_REST_SHARE, _REST_SHARE_OF_ALL = 6, 3
_REST_CHARS = 120
_ELLIPSIS_CHARS = len(", …\n")


@dataclass(frozen=True, slots=True)
class LibraryMap:
    """A map's text, the APIs that have a line in it, and whether these are all."""

    text: str
    paths: frozenset[str]
    is_whole: bool


def library_map(docs: Sequence[ApiDoc], chars: int, best: Iterable[str] = ()) -> LibraryMap:
    """The APIs of ``docs``, one line each: path, signature, first sentence.

    A module's APIs stand together, and members below their class, under their last names. The
    ``best`` paths matter most, then their classes' other members, then the most used APIs. If the
    lines exceed ``chars`` characters, only the APIs that matter most keep their first sentence. If
    that is not enough, only those that matter most are kept, as many as fit; one line per module
    says how many others there are and names the most used. The lines keep the order of ``docs``.
    Empty if nothing fits.
    """
    classes = {doc.path for doc in docs if doc.kind == "class"}
    heads = {doc.path: _head(doc, classes) for doc in docs if doc.kind != "module"}
    lines = {doc.path: _line(heads[doc.path], doc) for doc in docs if doc.path in heads}
    modules = _modules(lines, classes)
    ranking = sorted((doc for doc in docs if doc.path in lines), key=_standing)
    first = tuple(best)
    order = _order(first, [doc.path for doc in ranking], classes)
    if _chars(heads) <= chars:
        entries = heads | _sentences(heads, lines, chars - _chars(heads), order)
        text = "\n".join(_grouped(modules, entries, {}))
        return LibraryMap(text, frozenset(entries), is_whole=True)
    reserve = chars // (_REST_SHARE if first else _REST_SHARE_OF_ALL)
    paths = _fitting(lines, chars - reserve, order)
    room = chars - sum(len(lines[path]) + 1 for path in paths)
    rests = _rests(modules, [doc.path for doc in ranking if doc.path not in paths], room)
    entries = {path: line for path, line in lines.items() if path in paths}
    text = "\n".join(_grouped(modules, entries, rests))
    return LibraryMap(text, frozenset(entries), is_whole=False)


def _standing(doc: ApiDoc) -> tuple[int, int, str]:
    """The sort key: most used in examples and tests first, then nearest to the top."""
    return -doc.uses, doc.path.count("."), doc.path


def _modules(paths: Iterable[str], classes: Collection[str]) -> dict[str, list[str]]:
    """The paths of each module; members go with their class."""
    modules: dict[str, list[str]] = {}
    for path in paths:
        owner = path.rpartition(".")[0]
        while owner in classes:
            owner = owner.rpartition(".")[0]
        modules.setdefault(owner, []).append(path)
    return modules


def _order(
    best: Sequence[str], ranking: Sequence[str], classes: Collection[str]
) -> dict[str, None]:
    owners = {path.rpartition(".")[0] for path in best} & set(classes)
    beside = (path for path in ranking if path.rpartition(".")[0] in owners)
    return dict.fromkeys([*best, *beside, *ranking])


def _chars(lines: Mapping[str, str]) -> int:
    return sum(len(line) + 1 for line in lines.values())


def _sentences(
    heads: Mapping[str, str], lines: Mapping[str, str], room: int, order: Iterable[str]
) -> dict[str, str]:
    """The lines that keep their first sentence."""
    full_lines: dict[str, str] = {}
    for path in order:
        room -= len(lines[path]) - len(heads[path])
        if room < 0:
            break
        full_lines[path] = lines[path]
    return full_lines


def _fitting(lines: Mapping[str, str], chars: int, order: Iterable[str]) -> set[str]:
    paths: set[str] = set()
    for path in order:
        owner = path.rpartition(".")[0]
        new_paths = {one for one in (path, owner) if one in lines and one not in paths}
        cost = sum(len(lines[one]) + 1 for one in new_paths)
        if cost > chars:
            break
        chars -= cost
        paths |= new_paths
    return paths


def _rests(modules: Mapping[str, list[str]], left_out: Sequence[str], room: int) -> dict[str, str]:
    """One line per module on its APIs that have none of their own; ``left_out`` is sorted by use.

    If not all fit, the lines name fewer APIs, and the modules whose APIs are used most come first.
    """
    homes = {path: module for module, paths in modules.items() for path in paths}
    of_module: dict[str, list[str]] = {}
    for path in left_out:
        of_module.setdefault(homes[path], []).append(path)
    rests: dict[str, str] = {}
    chars = min(room // max(len(of_module), 1), _REST_CHARS)
    for module, paths in of_module.items():
        line = _rest(module, paths, chars, is_all=len(paths) == len(modules[module]))
        room -= len(line) + 1
        if room < 0:
            break
        rests[module] = line
    return rests


def _rest(module: str, paths: Sequence[str], chars: int, *, is_all: bool) -> str:
    words = f"{module}: {len(paths)} {'' if is_all else 'more '}APIs: "
    names = [path.removeprefix(f"{module}.") for path in paths]
    listing = ""
    for count, name in enumerate(names):
        longer = f"{listing}, {name}" if listing else name
        if count and len(words) + len(longer) + _ELLIPSIS_CHARS > chars:
            return f"{words}{listing}, …"
        listing = longer
    return words + listing


def _grouped(
    modules: Mapping[str, list[str]], lines: Mapping[str, str], rests: Mapping[str, str]
) -> Iterator[str]:
    """The lines by module, each class before its members, then the line on the module's rest."""
    for module, paths in modules.items():
        members: dict[str, list[str]] = {}
        for path in (one for one in paths if one in lines):
            owner = path.rpartition(".")[0]
            members.setdefault(owner if owner in lines else module, []).append(path)
        yield from (lines[path] for path in _below(module, members))
        if module in rests:
            yield rests[module]


def _below(owner: str, members: Mapping[str, list[str]]) -> Iterator[str]:
    for path in members.get(owner, ()):
        yield path
        yield from _below(path, members)


def _head(doc: ApiDoc, classes: Collection[str]) -> str:
    """Path and signature."""
    owner, _, name = doc.path.rpartition(".")
    signature = " ".join((doc.signature or name).split())
    is_member = owner in classes
    if is_member:
        signature = signature.removeprefix(f"{owner.rpartition('.')[2]}.")
    signature = cut(signature, _SIGNATURE_CHARS)
    head = f"  .{signature}" if is_member else ".".join(filter(None, (owner, signature)))
    return f"class {head}" if doc.kind == "class" else head


def _line(head: str, doc: ApiDoc) -> str:
    summary = cut(" ".join(doc.summary.split()), _SUMMARY_CHARS)
    description = f"(deprecated) {summary}".rstrip() if doc.is_deprecated else summary
    return f"{head}: {description}" if description else head
