"""Files that stand for a library of which there is no code: ApiDocs, OpenAPI, and bad ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.harvest import harvest
from exploracoder_retrieval.library_python import Interpreter

from .conftest import by_path, reasons

OPENAPI = """openapi: 3.1.0
info: {title: Tea house, version: "7", description: Sells tea.}
servers: [{url: "https://tea.example/v1"}]
paths:
  /teas/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: integer}}
    get:
      operationId: getTea
      summary: Look up one tea.
      parameters:
        - {name: lang, in: query, schema: {type: string, default: en}, description: Language.}
      responses:
        "200":
          description: The tea.
          content: {application/json: {schema: {$ref: "#/components/schemas/Tea"}}}
  /teas:
    post:
      requestBody: {$ref: "#/components/requestBodies/Tea"}
      responses: {"201": {description: It is sold.}}
components:
  requestBodies:
    Tea: {content: {application/json: {schema: {$ref: "#/components/schemas/Tea"}}}}
  schemas:
    Tea:
      required: [name]
      properties:
        name: {type: string, description: What it is called.}
        parts: {type: array, items: {$ref: "#/components/schemas/Tea"}}
    Loop: {$ref: "#/components/schemas/Loop"}
"""


def test_operations_of_an_openapi_file_are_apis(interpreter: Interpreter, folder: Path) -> None:
    (folder / "teahouse.yaml").write_text(OPENAPI)

    result = harvest(folder / "teahouse.yaml", interpreter)

    docs = by_path(result)
    assert set(docs) == {"teahouse.getTea", "teahouse.post_teas"}
    get, post = docs["teahouse.getTea"], docs["teahouse.post_teas"]
    assert get.kind == "operation"
    assert get.signature == "GET /teas/{id} (id: integer, lang: string = en) -> Tea"
    assert (get.summary, get.line) == ("Look up one tea.", 8)
    assert "- lang: string = en (query, optional): Language." in get.doc
    assert post.signature == "POST /teas (body: Tea)"
    assert "- body.name: string: What it is called." in post.doc
    assert "- body.parts: list[Tea] (optional)" in post.doc
    assert result.library.version == "7"
    assert "https://tea.example/v1" in result.library.overview


def test_a_swagger_file_in_json_is_read_too(interpreter: Interpreter, folder: Path) -> None:
    body = {"name": "tea", "in": "body", "schema": {"$ref": "#/definitions/Tea"}}
    post = {"parameters": [body], "responses": {"200": {"schema": {"type": "string"}}}}
    specification = {"swagger": "2.0", "info": {}, "paths": {"/tea": {"post": post}}}
    (folder / "old.json").write_text(json.dumps(specification))

    (doc,) = harvest(folder / "old.json", interpreter).docs

    assert doc.signature == "POST /tea (body: Tea) -> string"


def test_a_specification_in_json_may_escape_its_emoji(
    interpreter: Interpreter, folder: Path
) -> None:
    paths = {"/tea": {"get": {"summary": "Tea 🍵 at once", "description": "Half: \ud83c"}}}
    (folder / "tea.json").write_text(json.dumps({"openapi": "3.1.0", "paths": paths}))

    (doc,) = harvest(folder / "tea.json", interpreter).docs

    assert doc.summary == "Tea 🍵 at once"
    assert doc.doc.endswith("Half: \N{REPLACEMENT CHARACTER}")


LINES = [
    {"path": "tea.steep", "kind": "function", "signature": "steep(x)", "doc": "Steep. Then wait."},
    {"path": "tea.Pot", "kind": "api", "library": "elsewhere", "url": "https://tea.example/pot"},
]


@pytest.mark.parametrize("name", ["tea-docs.jsonl", "tea-docs.jsonl.gz"])
def test_a_file_of_apidocs_is_a_library(name: str, interpreter: Interpreter, folder: Path) -> None:
    text = "\n".join(map(json.dumps, LINES)).encode()
    (folder / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)

    result = harvest(folder / name, interpreter)

    docs = by_path(result)
    assert (docs["tea.steep"].summary, docs["tea.steep"].line) == ("Steep.", 1)
    assert (docs["tea.Pot"].kind, docs["tea.Pot"].url) == ("class", "https://tea.example/pot")
    assert {doc.library for doc in docs.values()} == {"tea-docs"}
    assert (result.library.name, result.library.import_name) == ("tea-docs", "tea")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "it is no JSON"),
        ("[1]", "it is no JSON object"),
        (b'{"path": "\xff"}', "it is not UTF-8 text"),
        ('{"kind": "class"}', "its path is no dotted Python name"),
        ('{"path": "os.system(1)"}', "its path is no dotted Python name"),
        ('{"path": "tea.a", "doc": 3}', "its doc is no text"),
        ('{"path": "tea.a", "aliases": [3]}', "its aliases is not what an ApiDoc has there"),
        ('{"path": "tea.steep"}', "tea.steep is in line 1 already"),
        ("[" * 100_000, "it is no JSON"),
    ],
)
def test_a_line_that_is_no_apidoc_is_skipped_with_the_reason(
    line: str | bytes, reason: str, interpreter: Interpreter, folder: Path
) -> None:
    bad = line.encode() if isinstance(line, str) else line
    (folder / "tea.jsonl").write_bytes(json.dumps(LINES[0]).encode() + b"\n\n" + bad)

    result = harvest(folder / "tea.jsonl", interpreter)

    assert [doc.path for doc in result.docs] == ["tea.steep"]
    assert reasons(result) == {"tea.jsonl:3": reason}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("tea.jsonl.gz", gzip.compress(b"{}" * 900, mtime=0)[:-9], "cannot be unpacked to its end"),
        ("tea.jsonl.gz", b"plain", "cannot be unpacked to its end"),
        ("objects.inv", b"not an inventory", "no Sphinx inventory"),
        ("objects.inv", b"# Sphinx inventory version 2\n#\n#\n#\nxx", "no Sphinx inventory"),
        ("tea.yaml", b"a: [", "no OpenAPI file"),
        ("tea.yaml", b"openapi: 3\npaths: [", "neither JSON nor YAML in line 3"),
        ("tea.yaml", b"openapi: 3\npaths: 3", "no 'paths'"),
        ("tea.json", b'{"openapi": "3", "paths": {"/x": \xff}}', "not UTF-8"),
        ("tea.yaml", b"openapi: !!python/object/apply:os.system [x]", "neither JSON nor YAML"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(
    name: str, content: bytes, reason: str, interpreter: Interpreter, folder: Path
) -> None:
    (folder / name).write_bytes(content)

    with pytest.raises(UnreadableSource, match=reason):
        harvest(folder / name, interpreter)
