"""The connection file: where a kernel listens, and the key that signs its messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from jupyter_client.connect import write_connection_file
from pydantic import BaseModel, ConfigDict, ValidationError

from exploracoder_kernel.errors import SidecarError


class Connection(BaseModel):
    """What a connection file says. Ports of the ipc transport are ends of file names."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    shell_port: int = 0
    iopub_port: int = 0
    stdin_port: int = 0
    control_port: int = 0
    hb_port: int = 0
    transport: Literal["tcp", "ipc"] = "tcp"
    ip: str = "127.0.0.1"
    key: str = ""
    signature_scheme: str = "hmac-sha256"
    curve_publickey: str | None = None
    curve_secretkey: str | None = None

    def url(self, port: int) -> str:
        """The address of one socket."""
        if self.transport == "tcp":
            return f"tcp://{self.ip}:{port}"
        return f"ipc://{self.ip}-{port}"

    @property
    def ports(self) -> dict[str, int]:
        """The five ports by their names."""
        names = ("shell_port", "iopub_port", "stdin_port", "control_port", "hb_port")
        return {name: getattr(self, name) for name in names}


def load(path: Path) -> Connection:
    """Read a connection file; ports that it leaves open are chosen and written into it.

    Raises:
        SidecarError: It can't be read, or says what no kernel can do.
    """
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
        connection = Connection.model_validate(given)
    except (OSError, ValueError, ValidationError) as error:
        raise SidecarError(
            f"The connection file {path} can't be used: {error}. "
            "Start the kernel through Jupyter, or leave -f out to have one written."
        ) from error
    if all(connection.ports.values()):
        return connection
    fields = connection.model_dump(exclude_none=True)
    keys = {name: fields.pop(name).encode() for name in _BYTES if name in fields}
    return _written(path, **fields, **keys)


def create(path: Path) -> Connection:
    """Write a new connection file with free ports of this machine and a new key.

    Raises:
        SidecarError: It can't be written.
    """
    from jupyter_client.session import new_id_bytes

    return _written(path, key=new_id_bytes())


_BYTES = ("key", "curve_publickey", "curve_secretkey")


def _written(path: Path, **fields: object) -> Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _name, written = write_connection_file(str(path), **fields)  # type: ignore[arg-type]
    except OSError as error:
        raise SidecarError(
            f"The connection file {path} can't be written: {error}. Name another with -f."
        ) from error
    return Connection.model_validate(written)
