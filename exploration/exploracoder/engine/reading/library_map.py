"""The library map: every public API in a line, grouped as the library is.

It does not change from request to request, so that a server which keeps prefixes reads it once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.reading.wording import cut

_SIGNATURE_CHARS = 96
_SUMMARY_CHARS = 72


def library_map(docs: Sequence[ApiDoc], chars: int, best: Iterable[str] = ()) -> str:
    """The APIs of ``docs`` in a line each: path, signature, first sentence.

    Members stand below their class, by their last names. Where the lines have more than ``chars``
    characters, those of the ``best`` paths are kept, as many as there is room for, best first; the
    order of the lines stays that of ``docs``. Empty without room for any.
    """
    classes = {doc.path for doc in docs if doc.kind == "class"}
    lines = {doc.path: _line(doc, classes) for doc in docs if doc.kind != "module"}
    if sum(len(line) + 1 for line in lines.values()) > chars:
        kept = _fitting(lines, chars, best)
        lines = {path: line for path, line in lines.items() if path in kept}
    return "\n".join(lines[path] for path in _grouped(docs, lines))


def _fitting(lines: dict[str, str], chars: int, best: Iterable[str]) -> set[str]:
    kept: set[str] = set()
    for path in best:
        owner = path.rpartition(".")[0]
        added = {one for one in (path, owner) if one in lines and one not in kept}
        cost = sum(len(lines[one]) + 1 for one in added)
        if cost > chars:
            break
        chars -= cost
        kept |= added
    return kept


def _grouped(docs: Sequence[ApiDoc], lines: dict[str, str]) -> list[str]:
    """The paths in order, each class before its members."""
    members: dict[str, list[str]] = {}
    tops = []
    for doc in docs:
        if doc.path not in lines:
            continue
        owner = doc.path.rpartition(".")[0]
        if owner in lines:
            members.setdefault(owner, []).append(doc.path)
        else:
            tops.append(doc.path)
    return [path for top in tops for path in (top, *members.get(top, ()))]


def _line(doc: ApiDoc, classes: Collection[str]) -> str:
    owner, _, name = doc.path.rpartition(".")
    signature = " ".join((doc.signature or name).split())
    is_member = owner in classes
    if is_member:
        signature = signature.removeprefix(f"{owner.rpartition('.')[2]}.")
    signature = cut(signature, _SIGNATURE_CHARS)
    summary = cut(" ".join(doc.summary.split()), _SUMMARY_CHARS)
    head = f"  .{signature}" if is_member else ".".join(filter(None, (owner, signature)))
    if doc.kind == "class":
        head = f"class {head}"
    return f"{head}: {summary}" if summary else head
