"""A front end that speaks with a kernel as a notebook does, and keeps what its widgets hold."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

VIEW = "application/vnd.jupyter.widget-view+json"
_REFERENCE = "IPY_MODEL_"
# Machines that test are busy: what is late is not wrong.
_SECONDS = 120.0


@dataclass
class FrontEnd:
    """Runs cells and presses buttons. ``draws`` says whether it has a widget manager.

    ``models`` are the states of the widgets by their ids, ``outputs`` the data of the displays by
    theirs, in the order in which they came; ``made`` counts the widgets that ever were.
    """

    client: BlockingKernelClient
    draws: bool = True
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    outputs: dict[str, dict[str, Any]] = field(default_factory=dict)
    bundles: int = 0
    made: int = 0
    printed: str = ""
    _idle_after: set[str] = field(default_factory=set)

    def run(self, code: str) -> dict[str, Any]:
        """Run a cell until its reply and all that it published have come; what it replied."""
        message_id = self.client.execute(code)
        reply = self.client.get_shell_msg(timeout=_SECONDS)
        while reply["parent_header"].get("msg_id") != message_id:
            reply = self.client.get_shell_msg(timeout=_SECONDS)
        self.wait_for(lambda: message_id in self._idle_after)
        return dict(reply["content"])

    def value(self, expression: str) -> str:
        """The repr of an expression in the user's namespace, asked without a trace."""
        message_id = self.client.execute("", silent=True, user_expressions={"it": expression})
        reply = self.client.get_shell_msg(timeout=_SECONDS)
        while reply["parent_header"].get("msg_id") != message_id:
            reply = self.client.get_shell_msg(timeout=_SECONDS)
        return str(reply["content"]["user_expressions"]["it"]["data"]["text/plain"])

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Hear the kernel until something holds, and nothing more is said at the moment."""
        deadline = time.monotonic() + _SECONDS
        while True:
            try:
                self._hear(self.client.get_iopub_msg(timeout=0.1))
            except Empty:
                if condition():
                    return
            assert time.monotonic() < deadline, f"{self.text}\n{self.printed}"

    @property
    def view(self) -> str:
        """The id of the widget that the newest display with one shows."""
        ids = [data[VIEW]["model_id"] for data in self.outputs.values() if VIEW in data]
        assert ids, "no widgets are shown"
        return str(ids[-1])

    @property
    def has_view(self) -> bool:
        """Whether any display shows widgets."""
        return any(VIEW in data for data in self.outputs.values())

    @property
    def text(self) -> str:
        """All that the shown widgets say."""
        if not self.has_view:
            return ""
        words = ("value", "description", "_options_labels")
        states = [state for _, state in self._with_ids(self.view)]
        return "\n".join(str(one[word]) for one in states for word in words if word in one)

    @property
    def plan(self) -> str:
        """What the plan says, without its HTML."""
        tables = re.findall("<table>.*?</table>", self.text, re.DOTALL)
        return " ".join(re.sub("<[^>]+>", " ", " ".join(tables)).split())

    def find(self, name: str) -> tuple[str, dict[str, Any]]:
        """The shown widget with a name: its id and state."""
        for id_, state in self._with_ids(self.view):
            if state.get("description") == name:
                return id_, state
        raise AssertionError(f"there is no {name!r} in\n{self.text}")

    def can_press(self, name: str) -> bool:
        """Whether a button is there that can be pressed."""
        widgets = self._with_ids(self.view) if self.has_view else ()
        return any(
            state.get("description") == name and not state["disabled"] for _, state in widgets
        )

    def press(self, name: str) -> None:
        """Press a button as soon as it can be pressed."""
        self.wait_for(lambda: self.can_press(name))
        self.click(name)

    def click(self, name: str) -> None:
        """Say that a button was pressed, whether or not that can be."""
        self._say(self.find(name)[0], {"method": "custom", "content": {"event": "click"}})

    def change(self, id_: str, **state: Any) -> None:
        """Change what a widget holds, as a user does who touches it."""
        self.models[id_].update(state)
        self._say(id_, {"method": "update", "state": state, "buffer_paths": []})

    def _with_ids(self, root: str) -> Iterator[tuple[str, dict[str, Any]]]:
        state = self.models[root]
        layout = self.models[state["layout"].removeprefix(_REFERENCE)] if "layout" in state else {}
        if layout.get("display") == "none":
            return
        yield root, state
        for child in state.get("children", ()):
            yield from self._with_ids(child.removeprefix(_REFERENCE))

    def _hear(self, message: dict[str, Any]) -> None:
        kind, content = message["msg_type"], message["content"]
        if kind == "comm_open":
            self.made += 1
            self.models[content["comm_id"]] = content["data"]["state"]
            if self.draws:
                self._link(content["data"]["state"])
        elif kind == "comm_msg" and content["data"]["method"] == "update":
            self.models[content["comm_id"]].update(content["data"]["state"])
        elif kind == "comm_close":
            self.models.pop(content["comm_id"], None)
        elif kind in ("display_data", "update_display_data"):
            self.bundles += 1
            self.outputs[content["transient"]["display_id"]] = content["data"]
        elif kind == "stream":
            self.printed += content["text"]
        elif kind == "status" and content["execution_state"] == "idle":
            self._idle_after.add(message["parent_header"].get("msg_id", ""))
        elif kind == "error":
            self.printed += "\n".join(content["traceback"])

    def _link(self, state: dict[str, Any]) -> None:
        """Carry out a link as the front end's part of ipywidgets does."""
        if state["_model_name"] != "DirectionalLinkModel":
            return
        (source, here), (target, there) = state["source"], state["target"]
        value = self.models[source.removeprefix(_REFERENCE)][here]
        self.change(target.removeprefix(_REFERENCE), **{there: value})

    def _say(self, id_: str, data: dict[str, Any]) -> None:
        message = self.client.session.msg("comm_msg", {"comm_id": id_, "data": data})
        self.client.shell_channel.send(message)


@contextmanager
def front_end(folder: str, *, draws: bool = True) -> Iterator[FrontEnd]:
    """A new kernel in a folder, and a front end before it."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=folder)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=_SECONDS)
        yield FrontEnd(client, draws)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
