"""The file of users who may use a shared model: a JSON object with a key for each name."""

from __future__ import annotations

import hmac
import json
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from filelock import FileLock
from pydantic import Field, TypeAdapter, ValidationError

from exploracoder.errors import InputError

_KEYS = TypeAdapter(dict[str, Annotated[str, Field(min_length=16)]])


class SharedKeys:
    """Keys by user name, in a file that only its owner can read.

    It is read again when it has changed, so that a server need not restart when a user is added or
    removed.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._keys = dict[str, str]()
        self._version: tuple[int, ...] = ()

    def load(self) -> dict[str, str]:
        """The current keys, read again if the file has changed.

        Raises:
            InputError: There is no such file, others can read it, or it does not hold keys.
        """
        try:
            with self._file.open("rb") as file:
                file_status = os.fstat(file.fileno())
                version = (file_status.st_ino, file_status.st_mtime_ns, file_status.st_mode)
                if version != self._version:
                    self._check_mode(file_status.st_mode)
                    self._keys, self._version = _KEYS.validate_json(file.read()), version
        except FileNotFoundError:
            raise InputError(
                f"There are no keys at {self._file}. Make some: exploracoder model admit NAME"
                f" --keys {self._file}"
            ) from None
        except OSError as error:
            raise InputError(f"{self._file} cannot be read: {error.strerror}.") from error
        except ValidationError:
            # pydantic's message may contain a key.
            raise InputError(
                f"{self._file} is no JSON object of names and keys of 16 characters or more."
            ) from None
        return self._keys

    def user_of(self, key: str) -> str | None:
        """The key's user, or None; equally fast for all users. Raises InputError as `load` does."""
        owners = [
            user
            for user, own in self.load().items()
            if hmac.compare_digest(own.encode(), key.encode())
        ]
        return owners[0] if owners else None

    def admit(self, users: Iterable[str]) -> dict[str, str]:
        """Returns the keys of these users, creating and saving missing ones. Raises InputError."""
        users = list(users)
        if strange := [user for user in users if not (user.strip() and user.isprintable())]:
            raise InputError(f"{strange[0]!r} is no name of a user.")
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self._file.with_suffix(".lock"), mode=0o600):
                keys = self.load() if self._file.exists() else {}
                user_keys = {user: keys.get(user) or secrets.token_urlsafe(32) for user in users}
                self._write(keys | user_keys)
        except OSError as error:
            raise InputError(f"{self._file} cannot be written: {error.strerror}.") from error
        return user_keys

    def _write(self, keys: dict[str, str]) -> None:
        draft = self._file.with_suffix(".draft")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(keys, file, indent=1)
        draft.replace(self._file)

    def _check_mode(self, mode: int) -> None:
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InputError(
                f"Users other than its owner can access {self._file} (mode {stat.S_IMODE(mode):o}),"
                f" so its keys may be known. Close it: chmod 600 {self._file}"
            )
