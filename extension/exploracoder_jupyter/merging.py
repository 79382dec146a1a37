"""One list of cells out of several: the exploration's, those in the file, and those in a tab.

What a person has put into the notebook stays: cells that are not ours keep their place behind the
cell of ours that they follow, and what was typed into a cell of ours and never run is not lost.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any
from uuid import uuid4

from exploracoder import document

_KEY = document.METADATA_KEY
# What a tab last wrote into a cell, by fingerprint.
_WRITTEN_KEY = "exploracoder_written"


def with_others(
    cells: Sequence[Any],
    file_cells: Sequence[Any],
    base: Mapping[str, str],
    *,
    seen: Collection[str],
    before: Mapping[str, str] | None = None,
) -> list[Any]:
    """The cells of a tab with what others have put into the file since that tab knew it.

    A cell that both have changed stays as the tab has it; what others made of it follows.

    Args:
        cells: The tab's.
        file_cells: The file's.
        base: `state_of` each cell of the file, by id, when the tab read or saved it last.
        seen: The cells that were ever seen in the file: one that is not there now was removed.
        before: The code of our cells as it was written last, by id; see `merged`.
    """
    others = {str(cell.get("id")): cell for cell in file_cells}
    changed_ids = {id_ for id_, cell in others.items() if state_of(cell) != base.get(id_)}
    result: list[Any] = []
    for cell in cells:
        id_ = str(cell.get("id"))
        is_untouched = state_of(cell) == base.get(id_)
        other = others.get(id_)
        if other is None:
            result += [] if is_untouched and id_ in seen else [cell]
        elif id_ not in changed_ids:
            result.append(cell)
        elif is_untouched:
            result.append(other)
        else:
            is_own = not _is_marked(other) or _is_typed(other, before)
            is_same = _source(other).rstrip() in ("", _source(cell).rstrip())
            result += [cell] if is_same or not is_own else [cell, _as_own(other)]
    here = {str(cell.get("id")) for cell in cells}
    return _with_new(result, file_cells, changed_ids - here)


def state_of(cell: Any) -> str:
    """What tells whether a cell was changed or run, as tabs say it."""
    parts = (
        cell.get("cell_type"),
        cell.get("execution_count") or "",
        len(cell.get("outputs") or ()),
        ",".join(sorted(cell.get("attachments") or ())),
        _source(cell),
    )
    return fingerprint(":".join(map(str, parts)))


def with_ids(cells: Iterable[Any]) -> list[Any]:
    """Cells that all have an id: format 4.4 has none, and some programs write that."""
    return [
        cell if cell.get("id") else {**cell, "id": _id_of(cell, n)} for n, cell in enumerate(cells)
    ]


def merged(
    our_cells: Sequence[Any], file_cells: Sequence[Any], before: Mapping[str, str] | None = None
) -> list[Any]:
    """The cells of ours in their order, with a person's own where they stood.

    ``before`` has by id the code with which our cells were written last: what differs from it was
    typed there since. It stays in its cell; where that has other code by now, it follows in a cell
    of its own. None: nobody knows, and what stands in a cell that is empty now is kept.
    """
    ours = {cell["id"] for cell in our_cells} | (before or {}).keys()
    follow: dict[str, list[Any]] = {}
    edits: dict[str, Any] = {}
    above = ""
    for cell in file_cells:
        id_ = str(cell.get("id"))
        if _is_marked(cell) and (id_ in ours or before is None):
            above = id_
            if _is_typed(cell, before):
                edits[id_] = cell
        else:
            follow.setdefault(above, []).append(cell)
    return list(_joined(our_cells, follow, edits, before or {}))


def difference(before: Iterable[Any], after: Sequence[Any]) -> tuple[list[Any], list[str] | None]:
    """The cells that are new or differ, and the ids of all unless they are the same as before.

    What only tabs note in a cell makes no difference.
    """
    old_cells = {str(cell.get("id")): _bare(cell) for cell in before}
    order = [str(cell["id"]) for cell in after]
    changed_cells = [cell for cell in after if old_cells.get(str(cell["id"])) != _bare(cell)]
    return changed_cells, None if order == list(old_cells) else order


@lru_cache(4_096)
def fingerprint(text: str) -> str:
    """The name that tabs give a text that they write (FNV-1a of its UTF-16, 32 bits)."""
    units = array("H", text.encode("utf-16-le", "surrogatepass"))
    value = 0x811C9DC5
    for unit in units:
        value = (value ^ unit) * 0x01000193 & 0xFFFFFFFF
    return f"{_base36(len(units))}-{_base36(value)}"


def _bare(cell: Any) -> Any:
    if _is_typed(cell, None) and _WRITTEN_KEY in cell.get("metadata", {}):
        return cell
    tab_keys = (_WRITTEN_KEY, "trusted")
    metadata = {key: one for key, one in cell.get("metadata", {}).items() if key not in tab_keys}
    return {**cell, "metadata": metadata}


def _id_of(cell: Any, place: int) -> str:
    mark = cell.get("metadata", {}).get(_KEY) if _is_marked(cell) else {}
    role, subtask = mark.get("role"), mark.get("subtask")
    ours = {"goal": f"{subtask}-goal", "candidate": subtask, "verdict": "solution-verdict"}
    role_id = ours.get(str(role), role)
    return str(role_id or fingerprint(f"{place}:{cell.get('cell_type')}:{_source(cell)}"))


def _with_new(cells: list[Any], file_cells: Sequence[Any], new: set[str]) -> list[Any]:
    """The cells with new ones from ``file_cells``, each behind the cell that it follows there."""
    above = ""
    for cell in file_cells:
        id_ = str(cell.get("id"))
        if id_ in new:
            places = [n for n, one in enumerate(cells, start=1) if one.get("id") == above]
            cells.insert(places[0] if places else (len(cells) if above else 0), cell)
        above = id_
    return cells


def _joined(
    our_cells: Sequence[Any],
    follow: dict[str, list[Any]],
    edits: dict[str, Any],
    before: Mapping[str, str],
) -> Iterator[Any]:
    ids = {cell["id"] for cell in our_cells}
    yield from follow.get("", ())
    for cell in our_cells:
        edit = edits.pop(cell["id"], None)
        if edit is not None and cell["source"] in ("", before.get(cell["id"])):
            # A tab that reads this knows by it that somebody has typed here.
            cell["metadata"][_WRITTEN_KEY] = {"source": fingerprint(cell["source"]), "shown": ""}
            cell["source"] = _source(edit)
        yield cell
        if edit is not None and _source(edit).rstrip() != cell["source"].rstrip():
            yield _as_own(edit)
        yield from follow.get(cell["id"], ())
    # Their subtasks were deleted.
    yield from map(_as_own, edits.values())
    for id_, cells in follow.items():
        if id_ and id_ not in ids:
            yield from cells


def _is_typed(cell: Any, before: Mapping[str, str] | None) -> bool:
    """Whether a cell of ours holds what neither the server nor a tab has written there."""
    source, id_ = _source(cell), str(cell.get("id"))
    # Headings are as the version that wrote them has them: only of our own it is known.
    is_heading = cell.get("cell_type") != "code" and id_ not in (before or {})
    if is_heading or not source.strip():
        return False
    if before is not None and source.rstrip() == before.get(id_, "").rstrip():
        return False
    last_write = cell.get("metadata", {}).get(_WRITTEN_KEY)
    return not isinstance(last_write, dict) or last_write.get("source") != fingerprint(source)


def _is_marked(cell: Any) -> bool:
    metadata = cell.get("metadata", {})
    return isinstance(metadata, dict) and isinstance(metadata.get(_KEY), dict)


def _as_own(cell: Any) -> Any:
    """What was typed into a cell, as another cell of the person's."""
    if not _is_marked(cell):
        return {**cell, "id": uuid4().hex[:12]}
    own: dict[str, Any] = {"id": uuid4().hex[:12], "metadata": {}, "source": _source(cell)}
    if cell.get("cell_type") != "code":
        return {"cell_type": cell.get("cell_type", "raw"), **own}
    return {"cell_type": "code", **own, "outputs": [], "execution_count": None}


def _source(cell: Any) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(map(str, source))


def _base36(number: int) -> str:
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits
