"""The JSON Schema of the protocol, which the TypeScript types are made from.

``python -m exploracoder_jupyter.schema`` writes it to standard output.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from exploracoder import commands
from pydantic import TypeAdapter
from pydantic.json_schema import models_json_schema

from exploracoder_jupyter import protocol

# What a client sends may leave defaults out; what it gets is always whole.
_SENT = (protocol.NewExploration, protocol.IndexRequest, protocol.OpenRequest)
_RECEIVED = (
    protocol.ServerStatus,
    protocol.Libraries,
    protocol.IndexedLibrary,
    protocol.SearchResults,
    protocol.Explorations,
    protocol.OpenExploration,
    protocol.Cells,
    protocol.Accepted,
    protocol.Replayed,
)
_UNIONS_SENT = {"Command": commands.COMMAND, "ClientMessage": TypeAdapter(protocol.ClientMessage)}
_UNIONS_RECEIVED = {"ServerMessage": TypeAdapter(protocol.ServerMessage)}


def schema() -> dict[str, Any]:
    """All that travels, as definitions of one schema."""
    definitions: dict[str, Any] = {}
    for model in _SENT:
        _add(definitions, models_json_schema([(model, "validation")])[1])
    for model in _RECEIVED:
        _add(definitions, models_json_schema([(model, "serialization")])[1])
    unions = [(_UNIONS_SENT, "validation"), (_UNIONS_RECEIVED, "serialization")]
    for named, mode in unions:
        for name, adapter in named.items():
            _add_union(definitions, name, adapter, mode)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$defs": {name: _plain(definitions[name], name) for name in sorted(definitions)},
    }


def _add(definitions: dict[str, Any], part: dict[str, Any]) -> None:
    definitions.update(part["$defs"])


def _add_union(
    definitions: dict[str, Any], name: str, adapter: TypeAdapter[Any], mode: Any
) -> None:
    made = adapter.json_schema(mode=mode)
    definitions.update(made.pop("$defs"))
    definitions[name] = made


def _plain(part: Any, title: str | None = None) -> Any:
    """A definition as a type is made from it: only definitions have names, and ``kind`` is never
    left out, since it tells the members of a union apart."""
    if isinstance(part, list):
        return [_plain(one) for one in part]
    if not isinstance(part, dict):
        return part
    plain = {key: _plain(value) for key, value in part.items() if key not in _NOT_TYPES}
    if "properties" in part:
        plain["properties"] = {name: _plain(one) for name, one in part["properties"].items()}
        required = set(part.get("required", ())) | ({"kind"} & set(part["properties"]))
        plain["required"] = [name for name in part["properties"] if name in required]
    return plain | ({"title": title} if title else {})


_NOT_TYPES = {"title", "default", "discriminator", "description"}


def main() -> None:
    """Write the schema to standard output."""
    json.dump(schema(), sys.stdout, indent=1)


if __name__ == "__main__":
    main()
