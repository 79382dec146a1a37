"""The WebSocket that streams events to a tab."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from exploracoder_jupyter.handlers import access

if TYPE_CHECKING:
    from exploracoder_jupyter.app import ExploraCoder
    from exploracoder_jupyter.hosted_explorations import Host

# The WebSocket close code for a policy violation.
_UNEXPECTED = 1008


class EventsSocket(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """One tab's connection."""

    _host: Host
    _unfollow: Callable[[], object] | None = None

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Accept the connection if the user may read."""
        await access.check(self, access.READS)
        app: ExploraCoder = self.settings["exploracoder"]
        self._host = await app.host()
        await super().get(*args, **kwargs)

    def open(self, *args: Any, **kwargs: Any) -> None:
        """Send the events that the tab missed, then each new one."""
        super().open(*args, **kwargs)
        after = self.get_query_argument("after", "")
        number = int(after) if after.isascii() and after.isdigit() and len(after) < 16 else -1
        events = self._host.workshop.events
        for text in events.after(self.get_query_argument("epoch", ""), number):
            self._send(text)
        self._unfollow = events.follow(self._send)

    async def on_message(self, message: str | bytes) -> None:
        """Close the connection: tabs may not send anything here."""
        self.close(_UNEXPECTED, "nothing is taken here")

    def on_close(self) -> None:
        """Stop sending events: the tab is gone, or its network is."""
        if self._unfollow is not None:
            self._unfollow()
            self._unfollow = None

    def _send(self, text: str) -> None:
        try:
            self.write_message(text)
        except WebSocketClosedError:
            self.on_close()
