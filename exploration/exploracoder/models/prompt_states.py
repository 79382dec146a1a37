"""Keeps what the embedded model's server has read about libraries on disk, as its own saved state.

A prompt begins with what is the same for every task with a library. It is read once for each
version of the library and each model; a server started later resumes from there.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from exploracoder.models.chat import Message

MOST_BYTES = 2 << 30
# A shorter text is read as quickly as its state is looked up.
_LEAST_CHARS = 1500
_TIMEOUT_S = 600.0
_BLOCK_BYTES = 1 << 20


class PromptStates:
    """The saved prompt states of one running server's model.

    Nothing depends on them: if one is damaged, from another build, or cannot be written, the
    server reads the prompt as if there were none.
    """

    def __init__(
        self,
        folder: Path,
        server_url: str,
        api_key: str,
        model: str,
        identity: str,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """Names the server and the folder in which it keeps its states.

        Args:
            folder: Where the server writes, and where old states are deleted.
            server_url: Without ``/v1``.
            api_key: The server's key.
            model: The model's name at the server.
            identity: Distinguishes states that are not interchangeable: the weights and the
                server's build.
            most_bytes: Size limit for all states together; the least recently used go first.
        """
        self._folder = folder
        self._url = server_url
        self._key = api_key
        self._model = model
        self._identity = identity
        self._most_bytes = most_bytes
        self._loaded_keys: set[str] = set()

    async def prepare(self, messages: Sequence[Message]) -> None:
        """Have the server load, or read, the part of a conversation that is fixed for a library."""
        beginning = _beginning(messages)
        if not beginning:
            return
        text = json.dumps([self._identity, beginning])
        key = hashlib.sha256(text.encode()).hexdigest()[:32]
        # After the first time, the server has it in its own memory.
        if key in self._loaded_keys:
            return
        self._loaded_keys.add(key)
        import httpx

        headers = {"Authorization": f"Bearer {self._key}"}
        async with httpx.AsyncClient(
            base_url=self._url, headers=headers, timeout=_TIMEOUT_S, trust_env=False
        ) as client:
            with suppress(httpx.HTTPError, OSError):
                if not await self._restored(client, key):
                    await self._read_and_save(client, key, beginning)

    async def _restored(self, client: Any, key: str) -> bool:
        for path in self._folder.glob(f"{key}.*.state"):
            # A truncated state would bring down the server itself.
            if path.name == await asyncio.to_thread(_name, key, path):
                body = {"filename": path.name}
                reply = await client.post("/slots/0?action=restore", json=body)
                if reply.is_success:
                    os.utime(path)
                    return True
            path.unlink(missing_ok=True)
        return False

    async def _read_and_save(
        self, client: Any, key: str, beginning: Sequence[dict[str, Any]]
    ) -> None:
        body = {"model": self._model, "messages": beginning, "max_tokens": 1, "id_slot": 0}
        reply = await client.post("/v1/chat/completions", json=body)
        if not reply.is_success:
            return
        # Under another name until it is whole: two servers may write at the same time.
        draft = self._folder / f"{key}.{os.getpid()}.draft"
        try:
            response = await client.post("/slots/0?action=save", json={"filename": draft.name})
            if response.is_success:
                draft.replace(self._folder / await asyncio.to_thread(_name, key, draft))
        finally:
            draft.unlink(missing_ok=True)
        self._trim()

    def _trim(self) -> None:
        states = [(path.stat(), path) for path in self._folder.glob("*.state")]
        room = self._most_bytes
        for stat, path in sorted(states, key=lambda state: -state[0].st_mtime):
            room -= stat.st_size
            if room < 0:
                path.unlink(missing_ok=True)


def _name(key: str, path: Path) -> str:
    """The name of a complete state, which contains its checksum."""
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            checksum = zlib.crc32(block, checksum)
    return f"{key}.{checksum:08x}.state"


def _beginning(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The turns up to the end of the fixed part; empty if that is too short to be worth it."""
    for number, message in enumerate(messages):
        if message.stable_chars:
            text = message.content[: message.stable_chars]
            turns = [*messages[:number], Message(message.role, text)]
            long_enough = sum(len(turn.content) for turn in turns) >= _LEAST_CHARS
            return [turn.as_dict() for turn in turns] if long_enough else []
    return []
