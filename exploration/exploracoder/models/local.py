"""The embedded model, ready to be asked: finds or starts its shared server and holds a lease."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from pydantic import ValidationError

from exploracoder import __version__
from exploracoder.errors import NoWeightsError, SetupError
from exploracoder.models.adapter import check_adapter, file_sha256
from exploracoder.models.cpu_backends import FORCED_BACKEND, XLLAMACPP_VERSION
from exploracoder.models.local_server import Announcement, Hello, ServerOptions
from exploracoder.models.openai_client import EMBEDDED, OpenAIChatModel
from exploracoder.models.prompt_states import PromptStates
from exploracoder.models.reply_cache import ReplyCache
from exploracoder.models.weights import ModelStatus, OnNote, ServerStatus, WeightsStore

DEFAULT_LINGER_S = 20.0
# Clocks do not accept infinity.
_LONGEST_LINGER_S = 1e6
_MAX_SLOTS = 64
MAX_CONTEXT_TOKENS = 16_384

_START_TIMEOUT_S = 60.0
_STATUS_TIMEOUT_S = 0.5
_MAX_ATTEMPTS = 3
# The shortest limit among the systems we know is 104 bytes, with the terminating null.
_MAX_SOCKET_PATH_BYTES = 100
_LOG_LINES_SHOWN = 5
# Environment variables passed on to the server: no keys, tokens or passwords.
_PASSED_ON = ("PATH", "HOME", "USER", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH")
_PASSED_ON_PREFIXES = (
    *("LC_", "GGML_", "XDG_"),
    *("EXPLORACODER_CACHE", "EXPLORACODER_MODEL_"),
)


def _default_linger_s() -> float:
    try:
        return min(max(0.0, float(os.environ["EXPLORACODER_MODEL_LINGER_S"])), _LONGEST_LINGER_S)
    except (KeyError, ValueError):
        return DEFAULT_LINGER_S


def default_slots() -> int:
    """``EXPLORACODER_MODEL_SLOTS``, or 1. Raises SetupError if that is not a valid number."""
    text = os.environ.get("EXPLORACODER_MODEL_SLOTS", "").strip() or "1"
    if not text.isdecimal() or not 1 <= int(text) <= _MAX_SLOTS:
        raise SetupError(
            f"EXPLORACODER_MODEL_SLOTS is {text[:40]!r}; it must be a whole number of requests at "
            f"a time, 1 to {_MAX_SLOTS}."
        )
    return int(text)


@dataclass(kw_only=True, eq=False)
class EmbeddedModel:
    """The embedded model as an async context manager that yields an `OpenAIChatModel`.

    All concurrent clients, in any of the user's processes, share one server. It ends ``linger_s``
    after the last of them is gone, even if that one was killed.

    Attributes:
        linger_s: How long the server waits for the next user after this one, in seconds; by
            default ``EXPLORACODER_MODEL_LINGER_S``, or 20.
        timeout_s: Deadline of one request, in seconds, including the wait for others.
        max_context_tokens: Longest prompt with its reply; lower if memory is short.
        slots: Requests that are answered at the same time, each with a context of its own; by
            default ``EXPLORACODER_MODEL_SLOTS``, or 1.
        cache: Where replies are looked up and kept.
        on_note: Called with a sentence when starting takes time.
        store: Where the weights are.
        lora: A LoRA adapter (GGUF) for the model; it gets a server of its own.
        server: The running server's announcement.
    """

    linger_s: float = field(default_factory=_default_linger_s)
    timeout_s: float = 600.0
    max_context_tokens: int = MAX_CONTEXT_TOKENS
    slots: int = field(default_factory=default_slots)
    cache: ReplyCache | None = None
    on_note: OnNote | None = None
    store: WeightsStore = field(default_factory=WeightsStore)
    lora: Path | None = None
    server: Announcement | None = field(default=None, init=False)
    _lora_sha256: str = field(default="", init=False)
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack, init=False)

    def __post_init__(self) -> None:
        if self.lora is not None:
            self.lora = Path(os.path.expanduser(self.lora)).absolute()

    async def __aenter__(self) -> OpenAIChatModel:
        """Finds or starts the server.

        Raises:
            SetupError: The weights are missing, or the server does not start.
            InputError: The adapter cannot be used, or is for another model.
        """
        async with AsyncExitStack() as stack:
            self.server, lease = await self._connect(self._place())
            stack.callback(lease.close)
            model = await stack.enter_async_context(
                OpenAIChatModel(
                    self.server.base_url,
                    self.server.api_key,
                    self.server.model,
                    timeout_s=self.timeout_s,
                    cache=self.cache,
                    server_identity=f"{EMBEDDED}{self.store.model.sha256}{self._lora_sha256}",
                    extra_body={"cache_prompt": True},
                    # The server refuses to draw more at once than it has slots.
                    supports_n=False,
                    supports_grammar=True,
                    states=self._states(self.server),
                )
            )
            self._stack = stack.pop_all()
        return model

    async def __aexit__(self, *_: object) -> None:
        self.server = None
        await self._stack.aclose()

    def _states(self, server: Announcement) -> PromptStates:
        identity = f"{self.store.model.sha256}{self._lora_sha256}{XLLAMACPP_VERSION}"
        url = server.base_url.removesuffix("/v1")
        return PromptStates(self._states_folder(), url, server.api_key, server.model, identity)

    def _states_folder(self) -> Path:
        folder = self.store.folder.resolve().parent / "prompt_states"
        _make_private(folder)
        return folder

    def _place(self) -> ServerPlace:
        if not self.store.is_verified:
            raise NoWeightsError(
                f"{self.store.trouble} Fetch it once with `{self.store.pull_command}`, or use "
                "another model with --base-url."
            )
        if self.lora is not None:
            check_adapter(self.lora, self.store.path, self.store.model.sha256)
            self._lora_sha256 = file_sha256(self.lora)
        return ServerPlace.for_model(
            self.store, self.max_context_tokens, self._lora_sha256, self.slots
        )

    async def _connect(self, place: ServerPlace) -> tuple[Announcement, asyncio.StreamWriter]:
        for _ in range(_MAX_ATTEMPTS):
            has_started = not place.is_answered() and await self._start(place)
            try:
                with anyio.fail_after(_START_TIMEOUT_S):
                    return await self._ask_for_lease(place)
            except TimeoutError:
                raise place.start_failure(f"did not start within {_START_TIMEOUT_S:g} s") from None
            except (ConnectionError, FileNotFoundError, asyncio.IncompleteReadError):
                # It ended just after it was found, unless it is the one that was just started.
                if has_started:
                    raise place.start_failure("ended while it was starting") from None
        raise place.start_failure("ends as soon as it is asked")

    async def _ask_for_lease(self, place: ServerPlace) -> tuple[Announcement, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_unix_connection(str(place.socket_path))
        try:
            writer.write(Hello(linger_s=self.linger_s).line())
            announcement = Announcement.model_validate_json(await reader.readuntil(b"\n"))
            if announcement.problem:
                raise SetupError(announcement.problem)
        except BaseException:
            writer.close()
            raise
        return announcement, writer

    async def _start(self, place: ServerPlace) -> bool:
        from filelock import AsyncFileLock

        # Acquired in this thread: a cancelled task must not acquire it later.
        lock = AsyncFileLock(place.socket_path.with_suffix(".lock"), run_in_executor=False)
        async with lock:
            if place.is_answered():
                return False
            if self.on_note is not None:
                self.on_note("Starting the embedded model; loading it takes some seconds.")
            place.socket_path.unlink(missing_ok=True)
            await self._spawn(place)
            return True

    async def _spawn(self, place: ServerPlace) -> None:
        options = ServerOptions(
            model_path=self.store.path,
            # The name recorded in notebooks: with an adapter it is a different model.
            model_name=self.store.model.name + (f"+{self.lora.stem}" if self.lora else ""),
            lora_path=self.lora,
            socket_path=place.socket_path,
            states_folder=self._states_folder(),
            max_context_tokens=self.max_context_tokens,
            slots=self.slots,
            linger_s=self.linger_s,
        )
        with place.log_path.open("wb") as log:
            starter = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "exploracoder.models.local_server"),
                options.model_dump_json(),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Python imports from the working folder first: it must not be the user's.
                cwd=place.socket_path.parent,
                env=server_environment(),
                # Ctrl-C in the terminal is for the client alone.
                start_new_session=True,
            )
        try:
            status = await starter.wait()
        except BaseException:
            starter.kill()
            await starter.wait()
            raise
        if status != 0:
            raise place.start_failure("did not start")


class ServerPlace:
    """Where the server of one model, context size and number of slots listens and logs."""

    def __init__(self, socket_path: Path) -> None:
        self.socket_path = socket_path
        self.log_path = socket_path.with_suffix(".log")

    @classmethod
    def for_model(
        cls, store: WeightsStore, max_context_tokens: int, lora_sha256: str = "", slots: int = 1
    ) -> ServerPlace:
        """The place, in a folder that only the user can enter.

        Raises:
            SetupError: The folder cannot be made, or belongs to somebody else.
        """
        identity = f"{__version__} {store.path.resolve()} {max_context_tokens}{lora_sha256} {slots}"
        identity += os.environ.get(FORCED_BACKEND, "")
        name = hashlib.sha256(identity.encode()).hexdigest()[:12] + ".sock"
        # Links resolved: whoever uses the same weights shares the server.
        folder = store.folder.resolve().parent / "run"
        if len(os.fsencode(folder / name)) > _MAX_SOCKET_PATH_BYTES:
            folder = Path(tempfile.gettempdir()) / f"exploracoder-{os.getuid()}"
        _make_private(folder)
        return cls(folder / name)

    def is_answered(self) -> bool:
        """Whether a process is listening."""
        try:
            with self._connection():
                return True
        except OSError:
            return False

    def announcement(self) -> Announcement | None:
        """What the running server says; None if there is none, or it is still loading."""
        try:
            with self._connection() as connection, connection.makefile("rb") as lines:
                connection.sendall(Hello(lease=False).line())
                return Announcement.model_validate_json(lines.readline())
        except (OSError, ValidationError):
            return None

    @contextmanager
    def _connection(self) -> Iterator[socket.socket]:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_STATUS_TIMEOUT_S)
            connection.connect(str(self.socket_path))
            yield connection

    def start_failure(self, what: str) -> SetupError:
        """The error for a server that ``what``, such as "did not start", with its log's end."""
        try:
            lines = self.log_path.read_text(errors="replace").strip().splitlines()
        except OSError:
            lines = []
        tail = "\n".join(lines[-_LOG_LINES_SHOWN:]) or "(empty)"
        return SetupError(
            f"The embedded model's server {what}. The end of its log, {self.log_path}:\n{tail}"
        )


def model_status(store: WeightsStore | None = None) -> ModelStatus:
    """The status of the embedded model, and of its server if one is running."""
    store = store or WeightsStore()
    place = ServerPlace.for_model(store, MAX_CONTEXT_TOKENS, slots=default_slots())
    announcement = place.announcement()
    server = None
    if announcement is not None and not announcement.problem:
        server = ServerStatus(pid=announcement.pid, url=announcement.base_url)
    return store.status().model_copy(update={"server": server})


def server_environment() -> dict[str, str]:
    """The part of this process's environment that the server gets."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED_ON or name.startswith(_PASSED_ON_PREFIXES)
    }


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The socket hands out the server's key, so nobody else may own the folder.
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            raise PermissionError(errno.EPERM, "it belongs to somebody else")
        folder.chmod(0o700)
    except OSError as error:
        raise SetupError(
            f"The folder {folder} cannot be used for the embedded model's server: "
            f"{error.strerror}. Set EXPLORACODER_CACHE to a folder of your own."
        ) from error
