"""Merges lists of cells: the exploration's, those in the file, and those in a tab.

Whatever a person puts into the notebook stays: cells that are not ours keep their place after the
cell of ours that they follow, and code typed into a cell of ours but never run is not lost.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any
from uuid import uuid4

# Marks our cells in their metadata, and the exploration in the notebook's.
KEY = "exploracoder"
# The fingerprint of what a tab last wrote into a cell.
_WRITTEN_KEY = "exploracoder_written"


def with_others(
    cells: Sequence[Any],
    file_cells: Sequence[Any],
    base: Mapping[str, str],
    *,
    seen_ids: Collection[str],
    before: Mapping[str, str] | None = None,
) -> list[Any]:
    """Merge a tab's cells with what others have written to the file since the tab last read it.

    A cell that both have changed keeps the tab's version; the others' version follows it.

    Args:
        cells: The tab's cells.
        file_cells: The file's cells.
        base: `state_of` each cell of the file, by id, when the tab last read or saved it.
        seen_ids: The ids of all cells ever seen in the file: one no longer there was removed.
        before: The code of our cells as last written, by id; see `merged`.
    """
    others = {str(cell.get("id")): cell for cell in file_cells}
    changed_ids = {id_ for id_, cell in others.items() if state_of(cell) != base.get(id_)}
    result: list[Any] = []
    for cell in cells:
        id_ = str(cell.get("id"))
        is_untouched = state_of(cell) == base.get(id_)
        other = others.get(id_)
        if other is None:
            result += [] if is_untouched and id_ in seen_ids else [cell]
        elif id_ not in changed_ids:
            result.append(cell)
        elif is_untouched:
            result.append(other)
        else:
            is_own = not _is_marked(other) or _is_typed(other, before)
            is_same = _source(other).rstrip() in ("", _source(cell).rstrip())
            # Both have made it of a cell that is gone, the file's from less of what was typed.
            is_same |= id_ not in base and _is_part(_source(other), _source(cell))
            result += [cell] if is_same or not is_own else [cell, _as_own(other)]
    here = {str(cell.get("id")) for cell in cells}
    return _with_new(result, file_cells, changed_ids - here)


def state_of(cell: Any) -> str:
    """A fingerprint that changes when a cell is edited or run, computed as in the tabs."""
    parts = (
        cell.get("cell_type"),
        cell.get("execution_count") or "",
        len(cell.get("outputs") or ()),
        ",".join(sorted(cell.get("attachments") or ())),
        _source(cell),
    )
    return fingerprint(":".join(map(str, parts)))


def with_ids(cells: Iterable[Any]) -> list[Any]:
    """Give every cell an id: nbformat 4.4, which some programs still write, has none."""
    return [
        cell if cell.get("id") else {**cell, "id": _id_of(cell, n)} for n, cell in enumerate(cells)
    ]


def merged(
    our_cells: Sequence[Any], file_cells: Sequence[Any], before: Mapping[str, str] | None = None
) -> list[Any]:
    """Our cells in order, with a person's own cells where they stood.

    ``before`` has the code of our cells as last written, by id: whatever differs from it was typed
    since. That stays in its cell, or follows in a cell of its own where ours has other code by now.
    With None this is unknown, and what the file has in a cell that is now empty is kept.
    """
    ours = {cell["id"] for cell in our_cells} | (before or {}).keys()
    follow: dict[str, list[Any]] = {}
    edits: dict[str, Any] = {}
    above = ""
    for cell in file_cells:
        id_ = str(cell.get("id"))
        # Programs that strip metadata leave the ids.
        if id_ in ours or (before is None and _is_marked(cell)):
            above = id_
            if _is_typed(cell, before):
                edits[id_] = cell
        else:
            follow.setdefault(above, []).append(cell)
    return list(_joined(our_cells, follow, edits, before or {}))


def chosen_kernel(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The kernelspec that a person chose for the file, unless it is that of the scratch kernel."""
    spec = metadata.get("kernelspec")
    is_chosen = isinstance(spec, dict) and spec.get("name") not in (None, "", KEY)
    return {"kernelspec": spec} if is_chosen else {}


def difference(before: Iterable[Any], after: Sequence[Any]) -> tuple[list[Any], list[str] | None]:
    """The cells that are new or changed, and all ids in order, or None if those are unchanged.

    Metadata that only tabs write does not count as a change.
    """
    old_cells = {str(cell.get("id")): _bare(cell) for cell in before}
    order = [str(cell["id"]) for cell in after]
    changed_cells = [cell for cell in after if old_cells.get(str(cell["id"])) != _bare(cell)]
    return changed_cells, None if order == list(old_cells) else order


@lru_cache(4_096)
def fingerprint(text: str) -> str:
    """The fingerprint of a text, computed as in the tabs (FNV-1a of its UTF-16, 32 bits)."""
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
    mark = cell.get("metadata", {}).get(KEY) if _is_marked(cell) else {}
    role, subtask = mark.get("role"), mark.get("subtask")
    ours = {"goal": f"{subtask}-goal", "candidate": subtask, "verdict": "solution-verdict"}
    role_id = ours.get(str(role), role)
    return str(role_id or fingerprint(f"{place}:{cell.get('cell_type')}:{_source(cell)}"))


def _with_new(cells: list[Any], file_cells: Sequence[Any], new: set[str]) -> list[Any]:
    """Insert the ``new`` cells of ``file_cells``, each after the cell that it follows there."""
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
    kept = {str(cell.get("id")): _source(cell) for cells in follow.values() for cell in cells}
    yield from follow.get("", ())
    for cell in our_cells:
        edit = edits.pop(cell["id"], None)
        if edit is not None and cell["source"] in ("", before.get(cell["id"])):
            # This tells a tab that somebody has typed here.
            cell["metadata"][_WRITTEN_KEY] = {"source": fingerprint(cell["source"]), "shown": ""}
            cell["source"] = _source(edit)
            if cell["cell_type"] != "code":
                cell |= _attachments(edit)
        yield cell
        if edit is not None and not _is_part(_source(edit), cell["source"]):
            yield from _unless_kept(edit, kept)
        yield from follow.get(cell["id"], ())
    # The subtasks of these cells were deleted.
    for edit in edits.values():
        yield from _unless_kept(edit, kept)
    for id_, cells in follow.items():
        if id_ and id_ not in ids:
            yield from cells


def _unless_kept(edit: Any, kept: Mapping[str, str]) -> Iterator[Any]:
    """An edit as a person's own cell. A tab that has kept it already gave it the same id."""
    id_, source = str(edit.get("id")), _source(edit)
    own_id = fingerprint(f"{id_}:")
    if own_id in kept and not _is_part(source, kept[own_id]):
        # It has another text, as when one was kept before.
        own_id = fingerprint(f"{id_}:{source}")
    if own_id not in kept:
        yield {**_as_own(edit), "id": own_id}


def _is_typed(cell: Any, before: Mapping[str, str] | None) -> bool:
    """Whether a cell of ours holds a person's text, written by neither the server nor a tab."""
    source, id_ = _source(cell), str(cell.get("id"))
    # Other versions word headings differently: only those in ``before`` can be compared.
    is_heading = cell.get("cell_type") != "code" and id_ not in (before or {})
    if is_heading or not source.strip():
        return False
    if before is not None and source.rstrip() == before.get(id_, "").rstrip():
        return False
    last_write = cell.get("metadata", {}).get(_WRITTEN_KEY)
    return not isinstance(last_write, dict) or last_write.get("source") != fingerprint(source)


def _is_part(text: str, longer: str) -> bool:
    """Whether a text is all in a longer one, to which at most one piece was added; as in tabs."""
    text, longer = text.rstrip(), longer.rstrip()
    pairs = zip(text, longer, strict=False)
    start = next((n for n, (one, other) in enumerate(pairs) if one != other), len(text))
    return len(text) <= len(longer) and longer.endswith(text[start:])


def _is_marked(cell: Any) -> bool:
    metadata = cell.get("metadata", {})
    return isinstance(metadata, dict) and isinstance(metadata.get(KEY), dict)


def _as_own(cell: Any) -> Any:
    """A person's version of a cell, as a new cell of their own."""
    if not _is_marked(cell):
        return {**cell, "id": uuid4().hex[:12]}
    own: dict[str, Any] = {"id": uuid4().hex[:12], "metadata": {}, "source": _source(cell)}
    if cell.get("cell_type") != "code":
        return {"cell_type": cell.get("cell_type", "raw"), **own, **_attachments(cell)}
    return {"cell_type": "code", **own, "outputs": [], "execution_count": None}


def _attachments(cell: Any) -> dict[str, Any]:
    """The pictures that were pasted into a cell's text, if any."""
    return {"attachments": cell["attachments"]} if cell.get("attachments") else {}


def _source(cell: Any) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(map(str, source))


def _base36(number: int) -> str:
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits
