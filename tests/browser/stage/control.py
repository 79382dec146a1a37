"""The control door: what a spec may do to the stage while a browser looks at it.

| method and path | body | what it does |
| --- | --- | --- |
| ``POST /model`` | the lines of `SwitchedModel` | the model answers with these from now on; with
``piece_seconds`` it pauses so long before each piece of a text that it streams |
| ``GET /model`` | | ``{"asked": […]}``: the kinds of questions asked since then |
| ``POST /doors`` | ``{"jupyter": false}`` and/or ``{"model": true}`` | shuts and opens doors |
| ``POST /jupyter`` | ``{"do": "stop"}``, ``start`` or ``kill`` | the server's process |
| ``GET /jupyter`` | | ``{"resident_mb": N}``: the memory of the server's process |
| ``POST /kernels`` | ``{"kill": ID}`` | kills a kernel's processes; answers with their number |
| ``GET /log`` | | what the server printed |
"""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass, field
from typing import Any

from exploracoder.testing import ScriptedModelServer
from exploration.scripted import kinds_asked
from tornado.web import Application, HTTPError, RequestHandler

from .gate import Gate
from .jupyter import Jupyter
from .model import SwitchedModel


@dataclass
class Props:
    """All that is on the stage. ``asked_before`` counts questions put before the last switch."""

    jupyter: Jupyter
    doors: dict[str, Gate]
    model: SwitchedModel
    model_server: ScriptedModelServer
    asked_before: int = field(default=0)


def make_control(props: Props) -> Application:
    """The control door's application."""
    routes = {
        "/model": _Model,
        "/doors": _Doors,
        "/jupyter": _Jupyter,
        "/kernels": _Kernels,
        "/log": _Log,
    }
    return Application([(path, handler, {"props": props}) for path, handler in routes.items()])


class _Handler(RequestHandler):
    def initialize(self, props: Props) -> None:
        self.props = props

    @property
    def said(self) -> dict[str, Any]:
        body = json.loads(self.request.body or b"{}")
        if not isinstance(body, dict):
            raise HTTPError(400, "an object is wanted")
        return body


class _Model(_Handler):
    def post(self) -> None:
        lines = self.said
        self.props.model_server.piece_pause_s = float(lines.pop("piece_seconds", 0))
        self.props.model.switch(lines)
        self.props.asked_before = len(kinds_asked(self.props.model_server))
        self.write({})

    def get(self) -> None:
        kinds = kinds_asked(self.props.model_server)[self.props.asked_before :]
        self.write({"asked": kinds})


class _Doors(_Handler):
    async def post(self) -> None:
        for name, is_open in self.said.items():
            door = self.props.doors[name]
            await (door.open() if is_open else door.shut())
        self.write({})


class _Jupyter(_Handler):
    def get(self) -> None:
        self.write({"resident_mb": self.props.jupyter.resident_mb})

    async def post(self) -> None:
        jupyter = self.props.jupyter
        await {"stop": jupyter.stop, "start": jupyter.start, "kill": jupyter.kill}[
            self.said["do"]
        ]()
        self.write({})


class _Kernels(_Handler):
    def post(self) -> None:
        pids = self.props.jupyter.kernel_processes(self.said["kill"])
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.write({"killed": len(pids)})


class _Log(_Handler):
    def get(self) -> None:
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.write(self.props.jupyter.log.read_bytes())
