"""Variables of the user's kernel on their way in: parcels that come in pieces, as messages."""

from __future__ import annotations

import asyncio
import base64
import binascii
import tempfile
import time
from dataclasses import dataclass, field
from typing import Annotated, BinaryIO

from pydantic import Field, validate_call

from exploracoder_kernel.kernel.contents import BadRequest, Content
from exploracoder_kernel.kernel.records import Records
from exploracoder_kernel.parcels import Entry, Parcel
from exploracoder_kernel.sidecar import Sidecar

_MOST_CHUNK_BYTES = 8 * 1024 * 1024
_MOST_BYTES = 4 * 1024 * 1024 * 1024
_MOST_PARCELS = 8
_FORGOTTEN_AFTER_SECONDS = 600.0


@dataclass(slots=True)
class _Arrival:
    """A parcel of which some has come."""

    file: BinaryIO
    size: int = 0
    touched: float = field(default_factory=time.monotonic)


class Arrivals:
    """Keeps parcels in files without a name until they are taken into a branch."""

    def __init__(self, sidecar: Sidecar, records: Records) -> None:
        self._sidecar = sidecar
        self._records = records
        self._arrivals: dict[str, _Arrival] = {}

    @validate_call
    async def take(
        self,
        parcel: Annotated[str, Field(min_length=1, max_length=100)],
        offset: Annotated[int, Field(ge=0)],
        data: str,
    ) -> Content:
        """Add bytes (base64) to a parcel of the sender's naming; the first ones begin it.

        Raises:
            BadRequest: They are not the next ones, or too many, or no base64.
        """
        self._forget_old()
        piece = _decoded(data)
        arrival = self._arrivals.get(parcel) or self._begin(parcel)
        if offset != arrival.size:
            raise BadRequest(
                f"Of parcel {parcel!r} {arrival.size} bytes have come, and these start at {offset}."
            )
        if arrival.size + len(piece) > _MOST_BYTES:
            self._drop(parcel)
            raise BadRequest(f"A parcel may have {_MOST_BYTES} bytes at most. Bring less.")
        await asyncio.to_thread(arrival.file.write, piece)
        arrival.size += len(piece)
        arrival.touched = time.monotonic()
        return {"parcel": parcel, "size": arrival.size}

    @validate_call
    async def unpack(
        self,
        branch: str,
        parcel: str,
        entries: tuple[Entry, ...],
        paths: tuple[str, ...],
        prefix: str,
    ) -> Content:
        """Take a parcel into a branch; it belongs to the sidecar from then on.

        Raises:
            BadRequest: Nothing has come under its name.
            SidecarError: The branch ended over it, or could not answer.
        """
        branch_id = self._records.find(branch).id
        arrival = self._arrivals.pop(parcel, None)
        if arrival is None:
            raise BadRequest(f"No parcel {parcel!r} has come. Send it first.")
        arrival.file.flush()
        variables = Parcel(arrival.file, entries, paths, prefix=prefix)
        unpacked = await self._sidecar.unpack(branch_id, variables)
        return {"branch": branch_id, "unpacked": unpacked.model_dump(mode="json")}

    def close(self) -> None:
        """Let go of what nobody asked for."""
        for name in tuple(self._arrivals):
            self._drop(name)

    def _begin(self, name: str) -> _Arrival:
        if len(self._arrivals) >= _MOST_PARCELS:
            raise BadRequest(f"{_MOST_PARCELS} parcels wait already. Unpack them first.")
        # It is open for as long as a branch may have to be built again from it.
        arrival = self._arrivals[name] = _Arrival(tempfile.TemporaryFile())  # noqa: SIM115
        return arrival

    def _forget_old(self) -> None:
        longest = time.monotonic() - _FORGOTTEN_AFTER_SECONDS
        for name, arrival in tuple(self._arrivals.items()):
            if arrival.touched < longest:
                self._drop(name)

    def _drop(self, name: str) -> None:
        self._arrivals.pop(name).file.close()


def _decoded(text: str) -> bytes:
    if len(text) > 4 * _MOST_CHUNK_BYTES // 3 + 4:
        raise BadRequest(f"A piece may have {_MOST_CHUNK_BYTES} bytes at most.")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadRequest(f"The piece is no base64: {error}.") from None
