"""Comms, the message channels of widgets: the branch's comms send to the owner.

Widgets create them through the ``comm`` package, in which each kernel installs its own
implementation. We install ours when the user's code imports the package, not before.
"""

from __future__ import annotations

import base64
import importlib.util
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, Optional

Tell = Callable[[dict[str, Any]], None]

_PACKAGE = "comm"


def install(tell: Tell) -> None:
    """Once ``comm`` is imported, have its comms send through ``tell``."""
    sys.meta_path.insert(0, _Finder(tell))


def deliver(message: dict[str, Any], parent: dict[str, Any], tell: Tell) -> None:
    """Pass a front end's message to its comm, whose callbacks are the user's code.

    If nothing here can take a new comm, the front end is told that it is closed.
    """
    kind, content = str(message["msg_type"]), dict(message["content"])
    module = sys.modules.get(_PACKAGE)
    manager = None if module is None else getattr(module, "get_comm_manager", lambda: None)()
    if manager is None:
        if kind == "comm_open":
            close_output = {"output_type": "comm_close", "comm_id": content["comm_id"], "data": {}}
            tell({"output": close_output})
        return
    whole = {
        "header": {**parent.get("header", {}), "msg_type": kind},
        "parent_header": {},
        "metadata": message.get("metadata") or {},
        "content": content,
        "buffers": [base64.b64decode(buffer) for buffer in message.get("buffers") or ()],
    }
    getattr(manager, kind)(None, None, whole)


class _Finder:
    """Finds ``comm`` as Python does, and installs our comms in it once it is loaded."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    def find_spec(self, name: str, path: Optional[Sequence[str]] = None, target: Any = None) -> Any:
        if name != _PACKAGE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            sys.meta_path.insert(0, self)
            return None
        loader: Any = spec.loader
        load = loader.exec_module

        def load_with_ours(module: types.ModuleType) -> None:
            load(module)
            if hasattr(module, "create_comm") and hasattr(module, "base_comm"):
                _put_ours_into(module, self._tell)

        loader.exec_module = load_with_ours
        return spec


def _put_ours_into(module: Any, tell: Tell) -> None:
    class Comm(module.base_comm.BaseComm):  # type: ignore[misc]  # the base is only known here
        """A comm whose messages go to the owner."""

        def publish_msg(
            self,
            msg_type: str,
            data: Any = None,
            metadata: Any = None,
            buffers: Any = None,
            **keys: Any,
        ) -> None:
            texts = [base64.b64encode(memoryview(b).tobytes()).decode() for b in buffers or ()]
            message = {"output_type": msg_type, "comm_id": self.comm_id, **keys}
            data = {} if data is None else data
            message.update(data=data, metadata=metadata or {}, buffers=texts)
            tell({"output": message})

    manager = module.base_comm.CommManager()
    module.create_comm = Comm
    module.get_comm_manager = lambda: manager
