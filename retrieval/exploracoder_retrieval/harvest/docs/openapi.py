"""OpenAPI 3 and Swagger 2: each operation of a server as an API.

References are followed inside the file only; nothing is fetched because a file names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from exploracoder_retrieval.apidoc import DEPRECATED, ApiDoc
from exploracoder_retrieval.harvest.docs.pieces import About, Page, Piece, UnreadableDocs, clean
from exploracoder_retrieval.harvest.docs.schemas import Schemas, as_map, as_text
from exploracoder_retrieval.harvest.docstrings import summarise
from exploracoder_retrieval.harvest.signatures import clip_signature

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_PATH_LINE = re.compile(r"""^\s*["']?(/[^"':]*)["']?\s*:""")
_METHOD_LINE = re.compile(rf"""^\s*["']?({"|".join(_METHODS)})["']?\s*:""", re.IGNORECASE)


def is_openapi(text: str) -> bool:
    """Whether a text may be an OpenAPI file, told from its words alone."""
    return re.search(r"""["']?\b(openapi|swagger)["']?\s*:""", text) is not None


def read_openapi(page: Page, text: str) -> Iterator[Piece]:
    """The operations of an OpenAPI file in JSON or YAML, and what it says of the whole.

    Raises:
        UnreadableDocs: it is neither JSON nor YAML, or no OpenAPI file.
    """
    root = _parse(text)
    info = as_map(root.get("info"))
    servers = [as_text(as_map(each).get("url")) for each in _list(root.get("servers"))]
    where = f"Servers: {', '.join(servers)}" if servers else ""
    said = [as_text(info.get("title")), as_text(info.get("description")), where]
    yield About(
        name=as_text(info.get("title")),
        version=as_text(info.get("version")),
        overview=clean("\n\n".join(part for part in said if part)),
    )
    schemas, lines = Schemas(root), _lines(text)
    for path, item in as_map(root.get("paths")).items():
        shared = _list(as_map(item).get("parameters"))
        for method, operation in as_map(schemas.resolve(item)).items():
            if str(method).lower() in _METHODS and isinstance(operation, dict):
                given = [*shared, *_list(operation.get("parameters"))]
                route = (str(method).lower(), str(path))
                yield _operation(page, schemas, route, operation, given, lines.get(route))


def _parse(text: str) -> dict[str, Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # JSON is YAML; and this loader makes plain values only.
        root = yaml.load(text, Loader=loader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        place = f" in line {line + 1}" if line is not None else ""
        raise UnreadableDocs(f"it is neither JSON nor YAML{place}") from None
    if not isinstance(root, dict) or not isinstance(root.get("paths"), dict):
        raise UnreadableDocs("it is no OpenAPI file: it has no 'paths'")
    return root


def _operation(
    page: Page,
    schemas: Schemas,
    route: tuple[str, str],
    operation: dict[str, Any],
    given: list[Any],
    line: int | None,
) -> ApiDoc:
    method, path = route
    named = as_text(operation.get("operationId"))
    name = re.sub(r"\W+", "_", named) or re.sub(r"[\W_]+", "_", f"{method}_{path}").strip("_")
    parameters = {
        (as_text(each.get("name")), as_text(each.get("in"))): each
        for each in (as_map(schemas.resolve(one)) for one in given)
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
        said = as_text(each.get("description"))
        needed = "" if _needed(each) else ", optional"
        lines.append(f"- {schemas.parameter(each)} ({as_text(each.get('in'))}{needed}): {said}")
    lines += schemas.fields_of_body(operation)
    for code, reply in as_map(operation.get("responses")).items():
        said = as_text(as_map(schemas.resolve(reply)).get("description"))
        lines.append(f"- answers {code}: {said}")
    return clean("\n".join(line for line in lines if line))


def _needed(parameter: dict[str, Any]) -> bool:
    return bool(parameter.get("required"))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _lines(text: str) -> dict[tuple[str, str], int]:
    """Where each operation stands, in files that have a line for each key."""
    found: dict[tuple[str, str], int] = {}
    path = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _PATH_LINE.match(line):
            path = match[1].strip()
        elif (match := _METHOD_LINE.match(line)) and path:
            found.setdefault((match[1].lower(), path), number)
    return found
