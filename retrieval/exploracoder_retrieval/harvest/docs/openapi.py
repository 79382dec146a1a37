"""OpenAPI 3 and Swagger 2: each operation of a server as an API, with its types in short form.

References are followed only within the file; nothing that a file refers to is fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from exploracoder_retrieval.apidoc import DEPRECATED, ApiDoc
from exploracoder_retrieval.files import without_surrogates
from exploracoder_retrieval.harvest.docs.pieces import About, Page, Piece, UnreadableDocs, clean
from exploracoder_retrieval.harvest.docstrings import summarise
from exploracoder_retrieval.harvest.signatures import clip_signature

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_PATH_LINE = re.compile(r"""^\s*["']?(/[^"':]*)["']?\s*:""")
_METHOD_LINE = re.compile(rf"""^\s*["']?({"|".join(_METHODS)})["']?\s*:""", re.IGNORECASE)
_MAX_HOPS = 8
_MAX_FIELDS = 40
_MAX_DEPTH = 3


def is_openapi(text: str) -> bool:
    """Whether a text may be an OpenAPI file, judging by its words alone."""
    return re.search(r"""["']?\b(openapi|swagger)["']?\s*:""", text) is not None


def read_openapi(page: Page, text: str) -> Iterator[Piece]:
    """The operations of an OpenAPI file in JSON or YAML, after what it says about the whole.

    Raises:
        UnreadableDocs: it is neither JSON nor YAML, or not an OpenAPI file.
    """
    root = _parse(text)
    info = as_map(root.get("info"))
    servers = [as_text(as_map(each).get("url")) for each in _list(root.get("servers"))]
    where = f"Servers: {', '.join(servers)}" if servers else ""
    paragraphs = [as_text(info.get("title")), as_text(info.get("description")), where]
    yield About(
        name=as_text(info.get("title")),
        version=as_text(info.get("version")),
        overview=clean("\n\n".join(part for part in paragraphs if part)),
    )
    schemas, lines = Schemas(root), _lines(text)
    for path, item in as_map(root.get("paths")).items():
        shared_parameters = _list(as_map(item).get("parameters"))
        for method, operation in as_map(schemas.resolve(item)).items():
            if str(method).lower() in _METHODS and isinstance(operation, dict):
                parameters = [*shared_parameters, *_list(operation.get("parameters"))]
                route = (str(method).lower(), str(path))
                yield _operation(page, schemas, route, operation, parameters, lines.get(route))


def _parse(text: str) -> dict[str, Any]:
    import yaml

    try:
        root = _loaded(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        place = f" in line {line + 1}" if line is not None else ""
        raise UnreadableDocs(f"it is neither JSON nor YAML{place}") from None
    if not isinstance(root, dict) or not isinstance(root.get("paths"), dict):
        raise UnreadableDocs("it is no OpenAPI file: it has no 'paths'")
    return root


def _loaded(text: str) -> Any:
    import yaml

    try:
        # Most JSON is YAML, but YAML refuses the two escapes by which JSON writes an emoji.
        root = json.loads(text)
        if "\\u" in text:  # one may stand for half a character
            root = json.loads(without_surrogates(json.dumps(root, ensure_ascii=False)))
        return root
    except ValueError:
        # This loader builds only plain values.
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _operation(
    page: Page,
    schemas: Schemas,
    route: tuple[str, str],
    operation: dict[str, Any],
    raw_parameters: list[Any],
    line: int | None,
) -> ApiDoc:
    method, path = route
    operation_id = as_text(operation.get("operationId"))
    name = re.sub(r"\W+", "_", operation_id) or re.sub(r"[\W_]+", "_", f"{method}_{path}").strip(
        "_"
    )
    parameters = {
        (as_text(each.get("name")), as_text(each.get("in"))): each
        for each in (as_map(schemas.resolve(one)) for one in raw_parameters)
    }
    body = schemas.body(operation, list(parameters.values()))
    usual = [each for each in parameters.values() if each.get("in") not in ("body", "formData")]
    calls = [schemas.parameter(each) for each in sorted(usual, key=lambda one: not _needed(one))]
    returns = schemas.reply(operation)
    signature = f"{method.upper()} {path} ({', '.join([*calls, *([body] if body else [])])})"
    doc = _text(schemas, operation, usual)
    return page.api(
        f"{page.import_name}.{name}",
        "operation",
        page.place(line, name),
        signature=clip_signature(clean(signature + (f" -> {returns}" if returns else ""))),
        summary=clean(as_text(operation.get("summary")))[:200] or summarise(doc),
        doc=doc,
        notes=(f"{DEPRECATED}.",) if operation.get("deprecated") else (),
    )


def _text(schemas: Schemas, operation: dict[str, Any], parameters: list[dict[str, Any]]) -> str:
    lines = [as_text(operation.get("summary")), as_text(operation.get("description"))]
    for each in parameters:
        description = as_text(each.get("description"))
        optional = "" if _needed(each) else ", optional"
        lines.append(
            f"- {schemas.parameter(each)} ({as_text(each.get('in'))}{optional}): {description}"
        )
    lines += schemas.fields_of_body(operation)
    for code, reply in as_map(operation.get("responses")).items():
        description = as_text(as_map(schemas.resolve(reply)).get("description"))
        lines.append(f"- answers {code}: {description}")
    return clean("\n".join(line for line in lines if line))


def _needed(parameter: dict[str, Any]) -> bool:
    return bool(parameter.get("required"))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _lines(text: str) -> dict[tuple[str, str], int]:
    """The line of each operation, in files that put each key on a line of its own."""
    lines: dict[tuple[str, str], int] = {}
    path = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _PATH_LINE.match(line):
            path = match[1].strip()
        elif (match := _METHOD_LINE.match(line)) and path:
            lines.setdefault((match[1].lower(), path), number)
    return lines


class Schemas:
    """Follows references within one file, and writes schemas as short types."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root

    def resolve(self, value: object) -> object:
        """The target of a ``$ref`` into the file; any other value unchanged."""
        for _ in range(_MAX_HOPS):  # references may form a cycle
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
        """``body: type`` of the request body; empty if there is none."""
        schema = self._body_schema(operation)
        if schema is None:  # Swagger 2 has it among the parameters
            schema = next(
                (one.get("schema") for one in parameters if one.get("in") == "body"), None
            )
        return f"body: {self.type(schema)}" if schema is not None else ""

    def fields_of_body(self, operation: dict[str, Any]) -> list[str]:
        """A line for each field of the request body's object."""
        schema = as_map(self.resolve(self._body_schema(operation) or {}))
        value = schema.get("required")
        required_names = value if isinstance(value, list) else []
        lines = []
        for name, field in list(as_map(schema.get("properties")).items())[:_MAX_FIELDS]:
            description = as_text(as_map(field).get("description"))
            optional = "" if name in required_names else " (optional)"
            lines.append(f"- body.{name}: {self.type(field)}{optional}: {description}".rstrip(": "))
        return lines

    def reply(self, operation: dict[str, Any]) -> str:
        """The type of the first response that means success."""
        for code, reply in as_map(operation.get("responses")).items():
            if str(code).startswith("2"):
                response = as_map(self.resolve(reply))
                schema = response.get("schema") or _content_schema(response)
                return self.type(schema) if schema else ""
        return ""

    def type(self, schema: object, depth: int = 0) -> str:
        """A schema's name, or its type in short: ``list[Pet]``, ``'a' | 'b'``, ``object``."""
        mapping = as_map(schema)
        reference = mapping.get("$ref")
        if isinstance(reference, str):
            return reference.rpartition("/")[2]
        if depth > _MAX_DEPTH:
            return "…"
        if isinstance(mapping.get("enum"), list):
            return " | ".join(repr(value) for value in mapping["enum"][:6])
        for key in ("oneOf", "anyOf", "allOf"):
            if isinstance(mapping.get(key), list):
                mark = " & " if key == "allOf" else " | "
                return mark.join(self.type(each, depth + 1) for each in mapping[key][:4])
        if mapping.get("type") == "array":
            return f"list[{self.type(mapping.get('items'), depth + 1)}]"
        kind = mapping.get("type")
        return " | ".join(map(str, kind)) if isinstance(kind, list) else as_text(kind) or "object"

    def _body_schema(self, operation: dict[str, Any]) -> object:
        body = as_map(self.resolve(operation.get("requestBody")))
        return _content_schema(body) if body else None

    def _at(self, reference: str) -> object:
        value: object = self._root
        for part in reference[2:].split("/"):
            value = as_map(value).get(part.replace("~1", "/").replace("~0", "~"))
        return value


def as_map(value: object) -> dict[Any, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_text(value: object) -> str:
    """The value stripped if it is a string, else an empty string."""
    return value.strip() if isinstance(value, str) else ""


def _content_schema(mapping: dict[Any, Any]) -> object:
    content = as_map(mapping.get("content"))
    media_type = content.get("application/json") or next(iter(content.values()), None)
    return as_map(media_type).get("schema")
