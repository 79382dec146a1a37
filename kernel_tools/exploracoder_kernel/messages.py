"""Checks a branch's messages on arrival, since a snippet may write to its socket."""

from __future__ import annotations

import base64
from typing import Any

from exploracoder_kernel.branch.wire import Message
from exploracoder_kernel.connection import ProtocolError
from exploracoder_kernel.errors import SidecarError

_TYPES: dict[str, type] = {
    "output": dict,
    "finished": bool,
    "reply": dict,
    "input": dict,
}
_BUNDLE: dict[str, type] = {"data": dict, "metadata": dict}
_COMM: dict[str, type] = {"comm_id": str, "data": object}
_OUTPUTS: dict[str, dict[str, type]] = {
    "stream": {"name": str, "text": str},
    "display_data": _BUNDLE,
    "update_display_data": _BUNDLE,
    "execute_result": _BUNDLE,
    "error": {"ename": str, "evalue": str, "traceback": list},
    "clear_output": {},
    "comm_open": {**_COMM, "target_name": str},
    "comm_msg": _COMM,
    "comm_close": _COMM,
}
_INPUT: dict[str, type] = {"id": int, "prompt": str, "is_password": bool}
_RUN: dict[str, type] = {"status": str, "seconds": float}
_PERHAPS_IN_RUN: dict[str, type] = {
    "error": dict,
    "variables": list,
    "limits_hit": list,
    "payloads": list,
    "user_expressions": dict,
    "execution_count": int,
    "resident_bytes": int,
}
_RUN_STATUSES = ("ok", "error", "interrupted")
_LIMITS = ("memory_bytes", "file_bytes", "open_files", "processes", "scratch_bytes")
_MOST_NESTED = 100


def check(message: Message) -> None:
    """Check that a message is one that a working branch sends.

    Raises:
        ProtocolError: It is not.
    """
    for kind, expected in _TYPES.items():
        if kind in message:
            _require(isinstance(message[kind], expected), f"a malformed {kind}")
            if kind == "output":
                _check_output(message[kind])
            elif kind == "input":
                _check_fields(message[kind], _INPUT, kind)
            return
    raise ProtocolError("sent a message of no known kind")


def check_run(reply: Message) -> Message:
    """Check the reply to a run.

    Raises:
        ProtocolError: It is malformed.
    """
    seconds = reply.get("seconds")
    outcome = {**reply, "seconds": float(seconds) if isinstance(seconds, int) else seconds}
    _check_fields(outcome, _RUN, "reply")
    optional = {name: kind for name, kind in _PERHAPS_IN_RUN.items() if name in outcome}
    _check_fields(outcome, optional, "reply")
    _require(outcome["status"] in _RUN_STATUSES, "a malformed reply")
    _require(all(name in _LIMITS for name in outcome.get("limits_hit", ())), "a malformed reply")
    _require(_is_flat(outcome), "a reply that is nested too deep")
    return outcome


def ready_pid(message: Message) -> int:
    """The process ID in a branch's first message.

    Raises:
        ProtocolError: The message holds none.
    """
    ready = message.get("ready")
    pid = ready.get("pid") if isinstance(ready, dict) else None
    return _pid(pid, "something before it was ready")


def fork_reply(message: Message) -> tuple[str | None, int | None]:
    """Read the reply to a fork request: the reason against it, or else the new process's ID.

    Without an ID, the process's own first message tells it.

    Raises:
        ProtocolError: It is malformed.
    """
    reply = message.get("reply")
    if isinstance(reply, dict) and "failed" in reply:
        return str(reply["failed"]), None
    if not isinstance(reply, dict) or "refused" not in reply:
        raise ProtocolError("sent something else when it was asked to fork")
    if reply["refused"] is not None:
        return str(reply["refused"]), None
    pid = reply.get("pid")
    return None, None if pid is None else _pid(pid, "a malformed reply")


def checked(reply: Message) -> Message:
    """Return a reply, unless it reports a failure.

    Raises:
        SidecarError: The branch could not answer.
    """
    if "failed" in reply:
        raise SidecarError(f"A branch could not answer: {reply['failed']}.")
    return reply


def _check_output(output: dict[str, Any]) -> None:
    kind = output.get("output_type")
    fields = _OUTPUTS.get(kind) if isinstance(kind, str) else None
    if fields is None:
        raise ProtocolError("sent an output of no known type")
    _check_fields(output, fields, str(kind))
    _require(_is_flat(output), f"a {kind} that is nested too deep")
    if "buffers" in output:
        _require(_are_buffers(output["buffers"]), f"a malformed {kind}")
    if kind == "error":
        lines = output["traceback"]
        _require(all(isinstance(line, str) for line in lines), "a malformed error")


def _check_fields(message: dict[str, Any], fields: dict[str, type], what: str) -> None:
    for name, expected in fields.items():
        is_right = name in message and isinstance(message[name], expected)
        _require(is_right, f"a malformed {what}")


def _are_buffers(buffers: object) -> bool:
    if not isinstance(buffers, list):
        return False
    try:
        return all(base64.b64decode(buffer) is not None for buffer in buffers)
    except (ValueError, TypeError):
        return False


def _is_flat(message: Message) -> bool:
    """Whether it can be serialized again, which takes one recursive call per level."""
    level: list[Any] = [message]
    for _ in range(_MOST_NESTED):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return True
    return False


def _pid(value: object, what: str) -> int:
    if type(value) is not int or value <= 1:
        raise ProtocolError(f"sent {what}")
    return value


def _require(is_right: bool, what: str) -> None:
    if not is_right:
        raise ProtocolError(f"sent {what}")
