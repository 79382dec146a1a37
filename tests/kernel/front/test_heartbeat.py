"""A heartbeat ends when it is stopped, however early that is."""

from __future__ import annotations

import threading
import time

import zmq.asyncio
from exploracoder_kernel.kernel.heartbeat import Heartbeat
from jupyter_client.session import Session


class SlowToBegin(Heartbeat):
    """As on a machine with much to do."""

    has_begun = threading.Event()

    def _create_socket(self) -> None:
        self.has_begun.set()
        time.sleep(0.2)
        super()._create_socket()


def test_a_heartbeat_that_is_stopped_before_its_first_beat_ends() -> None:
    context = zmq.asyncio.Context()
    heartbeat = SlowToBegin(context, Session(key=b""), "tcp://127.0.0.1:9")
    heartbeat.start()
    assert heartbeat.has_begun.wait(10)
    stopping = threading.Thread(target=heartbeat.stop, daemon=True)
    stopping.start()
    stopping.join(10)

    assert not stopping.is_alive()
    assert not heartbeat.is_alive()
    context.destroy(linger=0)
