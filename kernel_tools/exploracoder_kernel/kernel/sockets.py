"""The kernel's connection file, sockets and heartbeat, as ipykernel's application opens them."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import zmq
from ipykernel.kernelapp import IPKernelApp
from jupyter_client.jsonutil import json_default
from zmq.eventloop.zmqstream import ZMQStream

from exploracoder_kernel.errors import SidecarError

_LINGER_MS = 1000
# A front end that reads slowly loses no message until this many wait for it.
_MOST_WAITING = 100_000


class Sockets(IPKernelApp):
    """ipykernel's application without its shell, its configuration, its debugger and its threads.

    Args:
        connection_file: Says where to listen; it is written if it does not exist.
    """

    def __init__(self, connection_file: Path | None) -> None:
        # Errors that it would log are raised here.
        traits = {"connection_file": str(connection_file or ""), "log_level": logging.CRITICAL}
        super().__init__(**traits)  # type: ignore[no-untyped-call]

    def open(self) -> None:
        """Open the sockets and listen.

        Raises:
            SidecarError: The connection file can't be used, or an address is taken.
        """
        try:
            self.init_connection_file()
            is_new = not Path(self.abs_connection_file).exists()
            self.init_sockets()
            self.init_heartbeat()
            self.write_connection_file()
        except (OSError, zmq.ZMQError) as error:
            raise SidecarError(
                f"The kernel can't listen where its connection file says: {error}. "
                "Start it again: Jupyter chooses other ports."
            ) from error
        if is_new:
            file = self.abs_connection_file
            sys.stderr.write(f"To connect a console: jupyter console --existing {file}\n")
        self.session.pack = _lenient(self.session.pack)

    def stream(self, name: str) -> ZMQStream:
        """The stream of a channel, for the running event loop."""
        return ZMQStream(getattr(self, f"{name}_socket"))

    def close(self) -> None:
        """Stop listening."""
        if self.iopub_socket is not None and not self.iopub_socket.closed:
            self.iopub_socket.close()
        super().close()  # type: ignore[no-untyped-call]

    def init_control(self, context: zmq.Context[Any]) -> None:
        """Open the control channel, without a thread to read it."""
        self.control_socket = self._bound(context, zmq.ROUTER, "control_port")
        self.control_socket.router_handover = 1

    def init_iopub(self, context: zmq.Context[Any]) -> None:
        """Open the IOPub channel, without a thread to write to it."""
        context.sndhwm = _MOST_WAITING
        self.iopub_socket = self._bound(context, zmq.XPUB, "iopub_port")
        self.iopub_socket.xpub_verbose = 1  # each subscriber is seen, not only the first

    def exit(self, exit_status: int | str | None = 0) -> NoReturn:
        """Raise an error: ipykernel calls this if the connection file can't be read."""
        raise SidecarError(
            f"The connection file {self.connection_file} can't be used: {sys.exc_info()[1]}. "
            "Start the kernel through Jupyter, or leave -f out to have one written."
        )

    def _bound(self, context: zmq.Context[Any], kind: int, port: str) -> zmq.Socket[Any]:
        socket: zmq.Socket[Any] = context.socket(kind)
        socket.linger = _LINGER_MS
        self._apply_curve_server_options(socket)
        setattr(self, port, self._bind_socket(socket, getattr(self, port)))
        return socket


def _lenient(pack: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """Serialize as ``pack`` does, with ``?`` for lone surrogates, which UTF-8 can't encode."""

    def packed(content: Any) -> bytes:
        try:
            return pack(content)
        except UnicodeEncodeError:
            text = json.dumps(content, ensure_ascii=False, default=json_default)
            return text.encode("utf-8", "replace")

    return packed
