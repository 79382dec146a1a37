"""The file of those who may use a shared model: a key of their own for each name, as JSON."""

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
    """Keys by the names of users, in a file that its owner alone can read.

    It is read again when it has changed, so that a server need not end for a new user, or for one
    that is taken out.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._keys = dict[str, str]()
        self._version: tuple[int, ...] = ()

    def load(self) -> dict[str, str]:
        """The keys as they are now.

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
            # What pydantic says of it may have a key in it.
            raise InputError(
                f"{self._file} is no JSON object of names and keys of 16 characters or more."
            ) from None
        return self._keys

    def user_of(self, key: str) -> str | None:
        """Whose key it is, found in the same time whoever's it is. Raises InputError as `load`."""
        owners = [
            user
            for user, own in self.load().items()
            if hmac.compare_digest(own.encode(), key.encode())
        ]
        return owners[0] if owners else None

    def admit(self, users: Iterable[str]) -> dict[str, str]:
        """The keys of these users, made where they have none yet, and kept. Raises InputError."""
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
                f"Others than its owner can get at {self._file} (mode {stat.S_IMODE(mode):o}), so"
                f" its keys may be known. Close it: chmod 600 {self._file}"
            )
