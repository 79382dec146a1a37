"""A model that answers any question in the form that is asked for, always with the same code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from exploracoder.testing import Outcome, RecordedRequest


def always(code: str) -> Callable[[RecordedRequest], Outcome]:
    """Plans one step, and writes ``code`` for whatever is to be written."""

    def answer(request: RecordedRequest) -> Outcome:
        form = request.body.get("response_format", {})
        if form.get("type") == "json_schema":
            schema = form["json_schema"]["schema"]
            return json.dumps(_filled(schema, schema.get("$defs", {})))
        if form:
            return json.dumps({"subtasks": ["Work out the answer"], "relevant": [1]})
        return f"```python\n{code}\n```"

    return answer


def _filled(schema: Mapping[str, Any], named: Mapping[str, Any]) -> Any:
    """The least that a JSON Schema allows."""
    if "$ref" in schema:
        return _filled(named[schema["$ref"].rpartition("/")[2]], named)
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return _filled(schema[choice][0], named)
    if "enum" in schema or "const" in schema:
        return schema.get("const", next(iter(schema.get("enum", [None]))))
    kind = schema.get("type")
    if kind == "object":
        return {name: _filled(inner, named) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [_filled(schema.get("items", {}), named)]
    return {"integer": 1, "number": 1, "boolean": True, "null": None}.get(
        str(kind), "Work out the answer"
    )
