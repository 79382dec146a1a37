"""A request's body and query, parsed and validated on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from exploracoder.errors import InputError
from pydantic import TypeAdapter, ValidationError

from exploracoder_jupyter.errors import TooLargeError
from exploracoder_jupyter.hosted_explorations import Host

MOST_BYTES = 1_000_000
# Jupyter's own limit for a notebook, which may contain large outputs.
MOST_NOTEBOOK_BYTES = 512 * 2**20

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class RouteRequest:
    """A request to a server's explorations; its path may name one of them."""

    host: Host
    id: str
    query: Mapping[str, str]
    content: bytes

    def body(
        self, form: type[ValueT] | TypeAdapter[ValueT], most_bytes: int = MOST_BYTES
    ) -> ValueT:
        """Parse the body as ``form``.

        Raises InputError when it does not fit, TooLargeError when it exceeds ``most_bytes``.
        """
        if len(self.content) > most_bytes:
            raise TooLargeError(
                f"The request has {len(self.content)} bytes; at most {most_bytes} are taken."
            )
        reader = form if isinstance(form, TypeAdapter) else TypeAdapter(form)
        try:
            return reader.validate_json(self.content)
        except ValidationError as error:
            raise InputError(_fault(error)) from error

    def number(self, name: str, usual: int, *, least: int, most: int) -> int:
        """A number from the query, clamped. Raises InputError when it is not a number."""
        text = self.query.get(name, str(usual))
        if not text.isascii() or not text.isdigit() or len(text) > 15:
            raise InputError(f"{name} must be a number, not {text[:50]!r}.")
        return min(max(int(text), least), most)


def _fault(error: ValidationError) -> str:
    """Describe the first fault of a body, without repeating what was sent."""
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in fault["loc"])[:200]
    return f"The request cannot be read{f' at {where}' if where else ''}: {fault['msg'][:500]}."
