"""Receives variables of the user's kernel: pickles, uploaded in pieces as messages."""

from __future__ import annotations

import asyncio
import base64
import tempfile
from typing import Annotated, BinaryIO

from pydantic import Field, validate_call

from exploracoder_kernel.kernel.branch_records import Records
from exploracoder_kernel.kernel.request_contents import BadRequest, Content
from exploracoder_kernel.pickled_variables import PickledVariables, PickleReport
from exploracoder_kernel.sidecar import Sidecar

_MOST_CHUNK_CHARS = 11 * 1024 * 1024
_MOST_BYTES = 4 * 1024 * 1024 * 1024
_MOST_UPLOADS = 8


class Arrivals:
    """Keeps uploads in unnamed files until they are loaded into a branch."""

    def __init__(self, sidecar: Sidecar, records: Records) -> None:
        self._sidecar = sidecar
        self._records = records
        self._files: dict[str, BinaryIO] = {}

    @validate_call
    async def take(
        self,
        upload: Annotated[str, Field(min_length=1, max_length=100)],
        offset: Annotated[int, Field(ge=0)],
        data: Annotated[str, Field(max_length=_MOST_CHUNK_CHARS)],
    ) -> Content:
        """Append bytes (base64) to an upload, which the sender names; the first ones start it.

        Raises:
            BadRequest: They are not the next bytes, are too many, or are not base64.
        """
        file = self._files.get(upload) or self._begin(upload)
        if offset != file.tell():
            raise BadRequest(
                f"Of upload {upload!r} {file.tell()} bytes have come, and these start at {offset}."
            )
        try:
            piece = base64.b64decode(data, validate=True)
        except ValueError as error:
            raise BadRequest(f"The piece is no base64: {error}.") from None
        if offset + len(piece) > _MOST_BYTES:
            self._files.pop(upload).close()
            raise BadRequest(f"An upload may have {_MOST_BYTES} bytes at most. Bring less.")
        await asyncio.to_thread(file.write, piece)
        return {"upload": upload, "size": file.tell()}

    @validate_call
    async def unpickle(
        self,
        branch: str,
        upload: str,
        report: PickleReport,
    ) -> Content:
        """Load uploaded variables into a branch; the sidecar owns their file from then on.

        Raises:
            BadRequest: Nothing was uploaded under this name.
            SidecarError: The branch ended over it, or could not answer.
        """
        branch_id = self._records.find(branch).id
        file = self._files.pop(upload, None)
        if file is None:
            raise BadRequest(f"No upload {upload!r} has come. Send it first.")
        file.flush()
        outcome = await self._sidecar.unpickle(branch_id, PickledVariables(file, report))
        return {"branch": branch_id, "unpickled": outcome}

    def close(self) -> None:
        """Discard the uploads that nobody has loaded."""
        while self._files:
            self._drop_oldest()

    def _begin(self, name: str) -> BinaryIO:
        """Start an upload; if too many wait, it replaces the oldest, whose sender is gone."""
        if len(self._files) >= _MOST_UPLOADS:
            self._drop_oldest()
        # It stays open as long as a branch may have to be rebuilt from it.
        self._files[name] = tempfile.TemporaryFile()  # noqa: SIM115
        return self._files[name]

    def _drop_oldest(self) -> None:
        self._files.pop(next(iter(self._files))).close()
