"""Exceptions as reports: no colours, none of our frames, line numbers of the snippet."""

from __future__ import annotations

import os
import sys
import traceback
from types import TracebackType
from typing import Any, Optional

from .text import cut, shorten, without_colours

_OURS = os.path.dirname(os.path.abspath(__file__))
_MAX_MESSAGE = 4000
_MAX_LINES = 60
_MAX_LINE = 2000


def full_message_of(error: BaseException, limit: int) -> str:
    """``str(error)``, shortened, or a placeholder if that raises as well."""
    try:
        return shorten(str(error), limit)
    except Exception as second:  # noqa: BLE001  # the user's __str__ may raise anything
        return f"<its message can't be shown: {type(second).__name__}>"


def message_of(error: BaseException) -> str:
    """The message without colours, short enough for a reply."""
    return without_colours(full_message_of(error, _MAX_MESSAGE))


def brief(error: BaseException) -> str:
    """``EName: message`` on one line."""
    return cut(f"{type(error).__name__}: {message_of(error)}".replace("\n", " "), 300)


def report(error: BaseException, cell_name: str) -> dict[str, Any]:
    """The report of an exception that left the cell ``cell_name``; lines count from 1 in it."""
    return {
        "ename": type(error).__name__,
        "evalue": message_of(error),
        "traceback": _lines(error),
        "line": line_in(error, cell_name),
    }


def line_in(error: BaseException, cell_name: str) -> Optional[int]:
    """The line of the deepest frame inside the cell."""
    if isinstance(error, SyntaxError) and error.filename == cell_name:
        return error.lineno
    line, frame = None, error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == cell_name:
            line = frame.tb_lineno
        frame = frame.tb_next
    return line


def without_our_frames(error: Optional[BaseException]) -> None:
    """Remove our frames from a traceback and those of its causes, except the error's first."""
    seen_ids: set[int] = set()
    queue = [error]
    while queue:
        part = queue.pop()
        if part is None or id(part) in seen_ids:
            continue
        seen_ids.add(id(part))
        frame = part.__traceback__
        while part is not error and frame is not None and _is_ours(frame):
            frame = part.__traceback__ = frame.tb_next
        while frame is not None:
            while frame.tb_next is not None and _is_ours(frame.tb_next):
                frame.tb_next = frame.tb_next.tb_next
            frame = frame.tb_next
        queue += [part.__cause__, part.__context__]


def _is_ours(frame: TracebackType) -> bool:
    return os.path.dirname(frame.tb_frame.f_code.co_filename) == _OURS


def _lines(error: BaseException) -> list[str]:
    try:
        without_our_frames(error)
        first = _first_shown(error.__traceback__)
        texts = traceback.format_exception(type(error), error, first)
    except Exception as second:  # noqa: BLE001  # formatting runs the user's code
        texts = [f"{type(error).__name__} (no traceback: {type(second).__name__})"]
    lines = [cut(line, _MAX_LINE) for text in texts for line in text.rstrip("\n").split("\n")]
    if len(lines) > _MAX_LINES:
        half = _MAX_LINES // 2
        lines = [*lines[:half], f"[... {len(lines) - 2 * half} lines left out ...]", *lines[-half:]]
    return [without_colours(line) for line in lines]


def _first_shown(frame: TracebackType | None) -> TracebackType | None:
    """The first frame outside the machinery that runs cells."""
    while frame is not None and _is_machinery(frame.tb_frame.f_code.co_filename):
        frame = frame.tb_next
    return frame


def _is_machinery(filename: str) -> bool:
    folder = os.path.dirname(filename)
    home = getattr(sys.modules.get("IPython"), "__path__", None)
    return folder == _OURS or bool(home and folder == os.path.join(next(iter(home)), "core"))
