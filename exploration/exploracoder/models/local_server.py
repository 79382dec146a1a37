"""The process that serves the embedded model on loopback, to all runs of one user at once.

Each user of the model keeps a connection to the process's Unix socket open: its lease. When the
last lease is gone, even because its owner was killed, the process waits a little for the next one
and then ends. A client sends one line, a `Hello`, and gets one line back, an `Announcement`.

Run as ``python -m exploracoder.models.local_server OPTIONS``, with the options as JSON.
"""

from __future__ import annotations

import os
import secrets
import selectors
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from exploracoder.errors import InputError, SetupError
from exploracoder.models import hardware
from exploracoder.models.cpu_backends import use_best_backend
from exploracoder.models.gguf_header import read_header

_HELLO_BYTES = 4096
_HELLO_TIMEOUT_S = 2.0
# Long enough for the process's starter to take its lease, or to learn why there is none.
_FIRST_LEASE_S = 5.0
_PROBLEM_LINGER_S = 2.0
_MAX_PROMPT_CACHE_MIB = 2048


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    def line(self) -> bytes:
        """The message as sent over the socket."""
        return self.model_dump_json().encode() + b"\n"


class ServerOptions(BaseModel):
    """The options that the process is started with."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model_path: Path
    model_name: str
    socket_path: Path
    states_folder: Path
    lora_path: Path | None = None
    max_context_tokens: int
    slots: int = 1
    linger_s: float


class Hello(_Said):
    """A client's first message. Without ``lease`` it only asks, and keeps nothing alive."""

    lease: bool = True
    linger_s: float = Field(default=0.0, ge=0.0)


class Announcement(_Said):
    """How to reach the model, or why it did not start."""

    pid: int
    base_url: str = ""
    api_key: str = Field(default="", repr=False)
    model: str = ""
    context_tokens: int = 0
    cpu_backend: str = ""
    problem: str = ""


class LeaseBoard:
    """Answers connections and knows when nobody needs the process any more."""

    def __init__(
        self, listener: socket.socket, announcement: Announcement, linger_s: float
    ) -> None:
        self._listener = listener
        self._line = announcement.line()
        self._has_problem = bool(announcement.problem)
        self._linger_s = linger_s
        # Holds the listener, with data None, and the leases, with how long each wants it kept.
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)

    def run(self) -> None:
        """Serves connections until no lease was held for as long as the last one asked for."""
        idle_since = time.monotonic()
        while True:
            is_idle = len(self._selector.get_map()) == 1
            end = idle_since + self._linger_s
            ready = self._selector.select(max(0.0, end - time.monotonic()) if is_idle else None)
            if not ready and is_idle:
                return
            for key, _ in ready:
                connection = key.fileobj
                assert isinstance(connection, socket.socket)
                if connection is self._listener:
                    self._welcome(connection.accept()[0])
                elif self._is_closed(connection):
                    self._selector.unregister(connection)
                    connection.close()
                    self._linger_s, idle_since = key.data, time.monotonic()

    def _welcome(self, connection: socket.socket) -> None:
        connection.settimeout(_HELLO_TIMEOUT_S)
        try:
            with connection.makefile("rb") as lines:
                hello = Hello.model_validate_json(lines.readline(_HELLO_BYTES))
            connection.sendall(self._line)
        except (OSError, ValidationError):
            hello = Hello(lease=False)
        if self._has_problem or not hello.lease:
            connection.close()
            return
        connection.setblocking(False)
        self._selector.register(connection, selectors.EVENT_READ, hello.linger_s)

    @staticmethod
    def _is_closed(connection: socket.socket) -> bool:
        try:
            return connection.recv(_HELLO_BYTES) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True


def main(arguments: list[str]) -> int:
    """Opens the socket, detaches from the process that started it, loads the model and serves it.

    Returns as soon as the socket listens; a process of its own does the serving, and answers
    connections once the model is loaded.
    """
    options = ServerOptions.model_validate_json(arguments[0])
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(options.socket_path))
    options.socket_path.chmod(0o600)
    listener.listen(64)
    # Nobody should have to wait for the serving process, so it is orphaned. Forking is safe here:
    # no thread has been started yet.
    if os.fork() > 0:
        return 0
    _serve(options, listener)
    return 0


def _serve(options: ServerOptions, listener: socket.socket) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    status = 1
    try:
        try:
            # The server lives as long as this variable does.
            server, announcement = _load(options)  # noqa: RUF059
            LeaseBoard(listener, announcement, max(options.linger_s, _FIRST_LEASE_S)).run()
            status = 0
        except SetupError as error:
            print(error, file=sys.stderr, flush=True)  # noqa: T201 - this is the log
            failure = Announcement(pid=os.getpid(), problem=str(error))
            LeaseBoard(listener, failure, _PROBLEM_LINGER_S).run()
    finally:
        # Unlink first: whoever finds the socket must also find somebody listening.
        options.socket_path.unlink(missing_ok=True)
        listener.close()
        # The model's own threads would keep the process waiting for a reply that nobody reads.
        os._exit(status)


def _load(options: ServerOptions) -> tuple[Any, Announcement]:
    available = hardware.available_memory_bytes()
    weights, token = _needs(options.model_path)
    context_tokens = hardware.context_for_memory(
        available,
        options.max_context_tokens,
        options.slots,
        weights_bytes=weights,
        token_bytes=token,
    )
    if context_tokens == 0:
        least_bytes = hardware.least_memory_bytes(weights, token, options.slots)
        raise SetupError(
            f"The embedded model needs {least_bytes / (1 << 30):.1f} GiB of free memory, its slots "
            f"included; {available / (1 << 30):.1f} GiB are free. Close something, use a smaller "
            "one (`exploracoder model list`), or another model with --base-url."
        )
    api_key = secrets.token_urlsafe(24)
    try:
        cpu_backend = use_best_backend()
        import xllamacpp

        server = xllamacpp.Server(parameters_for(options, context_tokens, api_key))
    except SetupError:
        raise
    except Exception as error:
        raise SetupError(f"The embedded model could not be loaded: {error}.") from error
    return server, Announcement(
        pid=os.getpid(),
        base_url=f"{server.listening_address}/v1",
        api_key=api_key,
        model=options.model_name,
        context_tokens=context_tokens,
        cpu_backend=cpu_backend,
    )


def _needs(model: Path) -> tuple[int, int]:
    """Bytes needed for the weights, and per token of context."""
    try:
        return model.stat().st_size, read_header(model).context_token_bytes
    except (OSError, InputError) as error:
        raise SetupError(f"The embedded model could not be loaded: {error}") from error


def parameters_for(options: ServerOptions, context_tokens: int, api_key: str) -> Any:
    """The library's parameters for a server with ``context_tokens`` tokens of context per slot."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(options.model_path)
    parameters.model_alias = {options.model_name}
    parameters.api_keys = [api_key]
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0  # Any free one.
    parameters.n_ctx = context_tokens * options.slots
    if options.lora_path is not None:
        adapter = xllamacpp.CommonAdapterLoraInfo()
        adapter.path, adapter.scale = str(options.lora_path), 1.0
        parameters.lora_adapters = [adapter]
    # One slot by default: requests that share a prefix run one after another and find it already
    # processed. Several slots each process it again; they pay off for requests that share nothing.
    parameters.n_parallel = options.slots
    parameters.cache_ram_mib = min(
        _MAX_PROMPT_CACHE_MIB, hardware.total_memory_bytes() // (8 << 20)
    )
    threads = hardware.physical_cores()
    for pool in (parameters.cpuparams, parameters.cpuparams_batch):
        pool.n_threads = threads
    # Text copied from the prompt, such as a cell being repaired, is drafted ahead and only
    # verified: several tokens in the time of one.
    parameters.speculative.types = [
        xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE
    ]
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.slot_save_path = f"{options.states_folder}{os.sep}"
    return parameters


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
