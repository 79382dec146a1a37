"""The JSON Schema of the protocol, from which the TypeScript types are generated.

``python -m exploracoder_jupyter.schema`` writes it to standard output.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from exploracoder_jupyter import protocol

# Requests may omit fields with defaults; responses are always complete.
_SENT: tuple[type[BaseModel], ...] = (
    protocol.NewExploration,
    protocol.SuggestionRequest,
    protocol.IndexRequest,
    protocol.DocRequest,
    protocol.Lookup,
    protocol.LibraryLookup,
    protocol.OpenRequest,
    protocol.NotebookSave,
)
_RECEIVED: tuple[type[BaseModel], ...] = (
    protocol.ServerStatus,
    protocol.Models,
    protocol.Libraries,
    protocol.IndexedLibrary,
    protocol.SearchResults,
    protocol.Suggestions,
    protocol.DocPage,
    protocol.LookupAnswer,
    protocol.Explorations,
    protocol.OpenExploration,
    protocol.SavedNotebook,
    protocol.Accepted,
    protocol.Replayed,
    protocol.Untrusted,
    protocol.ModelGone,
)
_UNIONS_SENT: dict[str, TypeAdapter[Any]] = {
    "Command": TypeAdapter(protocol.Command),
}
_UNIONS_RECEIVED: dict[str, TypeAdapter[Any]] = {
    "ServerMessage": TypeAdapter(protocol.ServerMessage),
}


def schema() -> dict[str, Any]:
    """All types of the protocol, as definitions of one schema."""
    requests: dict[str, Any] = {}
    responses: dict[str, Any] = {}
    for model in _SENT:
        requests |= models_json_schema([(model, "validation")])[1]["$defs"]
    for model in _RECEIVED:
        responses |= models_json_schema([(model, "serialization")])[1]["$defs"]
    for name, union in _UNIONS_SENT.items():
        requests |= _definitions(name, union.json_schema(mode="validation"))
    for name, union in _UNIONS_RECEIVED.items():
        responses |= _definitions(name, union.json_schema(mode="serialization"))
    definitions = {name: _plain(one, is_whole=False) for name, one in requests.items()}
    definitions |= {name: _plain(one, is_whole=True) for name, one in responses.items()}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$defs": {name: definitions[name] | {"title": name} for name in sorted(definitions)},
    }


def _definitions(name: str, union: dict[str, Any]) -> dict[str, Any]:
    return {**union.pop("$defs"), name: union}


def _plain(part: Any, *, is_whole: bool) -> Any:
    """A definition reduced to what types need: only definitions have titles, and ``kind`` is always
    required, since it tells the members of a union apart."""
    if isinstance(part, list):
        return [_plain(one, is_whole=is_whole) for one in part]
    if not isinstance(part, dict):
        return part
    plain = {
        key: _plain(value, is_whole=is_whole)
        for key, value in part.items()
        if key not in _NOT_TYPES
    }
    if "properties" in part:
        properties = part["properties"]
        plain["properties"] = {
            name: _plain(one, is_whole=is_whole) for name, one in properties.items()
        }
        required_names = {*part.get("required", ()), "kind"}
        plain["required"] = [name for name in properties if is_whole or name in required_names]
    return plain


_NOT_TYPES = {"title", "default", "discriminator", "description"}


def main() -> None:
    """Write the schema to standard output."""
    json.dump(schema(), sys.stdout, indent=1)


if __name__ == "__main__":
    main()
