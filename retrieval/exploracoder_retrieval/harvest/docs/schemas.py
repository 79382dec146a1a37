"""The types that an OpenAPI file speaks of, in short words."""

from __future__ import annotations

from typing import Any

_MAX_HOPS = 8
_MAX_FIELDS = 40
_MAX_DEPTH = 3


class Schemas:
    """Follows references inside one file, and words schemas."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root

    def resolve(self, value: object) -> object:
        """What a ``$ref`` into the file stands for; anything else as it is."""
        for _ in range(_MAX_HOPS):  # references may run in a circle
            reference = as_map(value).get("$ref")
            if not isinstance(reference, str) or not reference.startswith("#/"):
                return value
            value = self._at(reference)
        return {}

    def parameter(self, parameter: dict[str, Any]) -> str:
        """``name: type = default``, as a person would write it."""
        schema = parameter.get("schema") or parameter
        default = as_map(self.resolve(schema)).get("default")
        value = f" = {str(default)[:60]}" if default is not None else ""
        if not value and not parameter.get("required"):
            value = " = …"
        return f"{as_text(parameter.get('name'))}: {self.type(schema)}{value}"

    def body(self, operation: dict[str, Any], parameters: list[dict[str, Any]]) -> str:
        """``body: type`` of what is sent; empty when nothing is."""
        schema = self._body_schema(operation)
        if schema is None:  # Swagger 2 has it among the parameters
            schema = next(
                (one.get("schema") for one in parameters if one.get("in") == "body"), None
            )
        return f"body: {self.type(schema)}" if schema is not None else ""

    def fields_of_body(self, operation: dict[str, Any]) -> list[str]:
        """A line for each field of the object that is sent."""
        schema = as_map(self.resolve(self._body_schema(operation) or {}))
        needed = schema.get("required")
        required = needed if isinstance(needed, list) else []
        lines = []
        for name, field in list(as_map(schema.get("properties")).items())[:_MAX_FIELDS]:
            said = as_text(as_map(field).get("description"))
            optional = "" if name in required else " (optional)"
            lines.append(f"- body.{name}: {self.type(field)}{optional}: {said}".rstrip(": "))
        return lines

    def reply(self, operation: dict[str, Any]) -> str:
        """The type of the first answer that means success."""
        for code, reply in as_map(operation.get("responses")).items():
            if str(code).startswith("2"):
                found = as_map(self.resolve(reply))
                schema = found.get("schema") or _content_schema(found)
                return self.type(schema) if schema else ""
        return ""

    def type(self, schema: object, depth: int = 0) -> str:
        """A schema's name, or its type in short: ``list[Pet]``, ``'a' | 'b'``, ``object``."""
        given = as_map(schema)
        reference = given.get("$ref")
        if isinstance(reference, str):
            return reference.rpartition("/")[2]
        if depth > _MAX_DEPTH:
            return "…"
        if isinstance(given.get("enum"), list):
            return " | ".join(repr(value) for value in given["enum"][:6])
        for key in ("oneOf", "anyOf", "allOf"):
            if isinstance(given.get(key), list):
                mark = " & " if key == "allOf" else " | "
                return mark.join(self.type(each, depth + 1) for each in given[key][:4])
        if given.get("type") == "array":
            return f"list[{self.type(given.get('items'), depth + 1)}]"
        kind = given.get("type")
        return " | ".join(map(str, kind)) if isinstance(kind, list) else as_text(kind) or "object"

    def _body_schema(self, operation: dict[str, Any]) -> object:
        found = as_map(self.resolve(operation.get("requestBody")))
        return _content_schema(found) if found else None

    def _at(self, reference: str) -> object:
        value: object = self._root
        for part in reference[2:].split("/"):
            value = as_map(value).get(part.replace("~1", "/").replace("~0", "~"))
        return value


def as_map(value: object) -> dict[Any, Any]:
    """A mapping as it is; whatever else stands where one should, as an empty one."""
    return value if isinstance(value, dict) else {}


def as_text(value: object) -> str:
    """A text in one piece; whatever else stands where one should, as an empty one."""
    return value.strip() if isinstance(value, str) else ""


def _content_schema(found: dict[Any, Any]) -> object:
    content = as_map(found.get("content"))
    preferred = content.get("application/json") or next(iter(content.values()), None)
    return as_map(preferred).get("schema")
