"""The WebSocket on which a tab hears what happens, and says which notebooks it saves."""

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
    from exploracoder_jupyter.hosted import Hosted
    from exploracoder_jupyter.hosting import Host

_MOST_CHARS = 10_000
# WebSocket's own numbers: a message that cannot be read, and one that is too long.
_MALFORMED, _TOO_LONG = 1008, 1009


class EventsSocket(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """One tab's connection."""

    _host: Host
    _unfollow: Callable[[], object] | None = None

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Let a tab in that may read; only one that may write, too, can hold a notebook."""
        await access.check(self, access.READS)
        self._may_hold = await access.has(self, access.WRITES)
        app: ExploraCoder = self.settings["exploracoder"]
        self._host = await app.host()
        self._asked: dict[str, Hosted] = {}
        await super().get(*args, **kwargs)

    def open(self, *args: Any, **kwargs: Any) -> None:
        """Send what was missed, then what happens."""
        super().open(*args, **kwargs)
        after = self.get_query_argument("after", "")
        number = int(after) if after.isascii() and after.isdigit() and len(after) < 16 else -1
        events = self._host.workshop.events
        for text in events.after(self.get_query_argument("epoch", ""), number):
            self._send(text)
        self._unfollow = events.follow(self._send)

    async def on_message(self, message: str | bytes) -> None:
        """A tab holds a notebook, or lets it go."""
        from pydantic import TypeAdapter, ValidationError

        from exploracoder_jupyter.protocol import ClientMessage, Hold

        if len(message) > _MOST_CHARS:
            self.close(_TOO_LONG, "too long")
            return
        try:
            said: Any = TypeAdapter(ClientMessage).validate_json(message)
        except ValidationError:
            self.close(_MALFORMED, "no message of ours")
            return
        if isinstance(said, Hold):
            await self._hold(said.id)
        else:
            hosted = self._asked.pop(said.id, None)
            if hosted is not None:
                hosted.keeper.release(self)

    def on_close(self) -> None:
        """The tab is gone, or its network is."""
        if self._unfollow is not None:
            self._unfollow()
            self._unfollow = None
        for hosted in self._asked.values():
            hosted.keeper.lose(self)
        self._asked.clear()

    def granted(self, exploration: str) -> None:
        """The tab that had the notebook let it go: it is this one's turn."""
        from exploracoder_jupyter.protocol import Held

        hosted = self._asked.get(exploration)
        revision = hosted.keeper.revision if hosted is not None else 0
        held = Held(id=exploration, is_held=hosted is not None, revision=revision)
        self._send(held.model_dump_json())

    async def _hold(self, id_: str) -> None:
        from exploracoder_jupyter.protocol import Held

        hosted = self._host.find(id_)
        if hosted is None or not self._may_hold:
            self._send(Held(id=id_, is_held=False, revision=0).model_dump_json())
            return
        self._asked[id_] = hosted
        held = await hosted.keeper.hold(self)
        if self.ws_connection is None:
            # It went while it waited.
            hosted.keeper.lose(self)
            return
        self._send(held.model_dump_json())

    def _send(self, text: str) -> None:
        try:
            self.write_message(text)
        except WebSocketClosedError:
            self.on_close()
