"""Documentation beside a library, or in its place: what is read from it, and where it stands."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import sphobjinv
from exploracoder_retrieval.errors import DocsUnavailable, EmptyLibrary, UnreadableSource
from exploracoder_retrieval.given import GivenDocs
from exploracoder_retrieval.harvest import Harvest, harvest
from exploracoder_retrieval.harvest.docs.fetch import FetchLimits, fetch
from exploracoder_retrieval.harvest.docs.source import DocsSource
from exploracoder_retrieval.harvest.reader import read
from exploracoder_retrieval.harvest.target import find_target
from exploracoder_retrieval.interpreter import Interpreter

from .conftest import WritePackage, by_path

# As Sphinx 8 writes it, without the frame of the page.
API_PAGE = """<!DOCTYPE html><html><body><nav>brew.nav</nav><div role="main"><section id="api">
<h1>API<a class="headerlink" href="#api">¶</a></h1>
<p>Begin with <code class="docutils literal"><span class="pre">brew.steep</span></code>.</p>
<script>document.title = "ran"</script>
<dl class="py function">
<dt class="sig sig-object py" id="brew.steep"><span class="sig-prename descclassname"><span
class="pre">brew.</span></span><span class="sig-name descname"><span class="pre">steep</span></span>
<span class="sig-paren">(</span><em class="sig-param"><span class="n">leaves</span></em>,
<em class="sig-param"><span class="n">minutes</span><span class="o">=</span><span>3</span></em>
<span class="sig-paren">)</span><a class="headerlink" href="#brew.steep">¶</a></dt>
<dd><p>Steep the <em>leaves</em>. Then wait.</p>
<div class="highlight"><pre>&gt;&gt;&gt; steep("oolong")
'tea'
</pre></div></dd></dl>
<dl class="py class">
<dt class="sig sig-object py" id="brew.Pot"><em>class </em>brew.Pot(size)</dt>
<dd><p>A pot.</p>
<dl class="py method"><dt class="sig sig-object py" id="brew.Pot.pour">pour(cups) → None</dt>
<dd><p>Pour it out.</p></dd></dl></dd></dl></section>
<section id="guide"><h2>Two cups</h2><div class="highlight"><pre>import brew
pot = brew.Pot(3)
pot.pour(2)
</pre></div></section></div></body></html>"""
NAMES = {
    "brew.steep": ("function", "api.html#$"),
    "brew.Pot": ("class", "api.html#$"),
    "brew.Pot.pour": ("method", "api.html#$"),
    "brew.LIMIT": ("data", "missing.html#$"),
    "brew._secret": ("function", "api.html#$"),
    "other.thing": ("function", "api.html#$"),
}
ReadDocs = Callable[[Mapping[str, str | bytes]], Harvest]


def inventory() -> bytes:
    made = sphobjinv.Inventory()
    made.project, made.version = "Brew", "2.1"
    for name, (role, uri) in NAMES.items():
        made.objects.append(
            sphobjinv.DataObjStr(
                name=name, domain="py", role=role, priority="1", uri=uri, dispname="-"
            )
        )
    packed: bytes = sphobjinv.compress(made.data_file(contract=True))
    return packed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    return made


@pytest.fixture
def read_docs(folder: Path, interpreter: Interpreter, tmp_path: Path) -> ReadDocs:
    """Writes files and reads them as the documentation of a library without code, ``brew``."""

    def read_(files: Mapping[str, str | bytes]) -> Harvest:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            (folder / name).write_bytes(data)
        given = GivenDocs(tmp_path / "index")
        given.give("brew", [str(folder)], stands_alone=True)
        return read(find_target("brew", interpreter, given), interpreter)

    return read_


def reasons(harvested: Harvest) -> dict[str, str]:
    return {Path(each.name).name: each.reason for each in harvested.skipped}


def test_a_sphinx_site_tells_signatures_texts_examples_and_lines(
    read_docs: ReadDocs, folder: Path
) -> None:
    harvested = read_docs({"objects.inv": inventory(), "api.html": API_PAGE})

    docs = by_path(harvested)
    assert set(docs) == {"brew.steep", "brew.Pot", "brew.Pot.pour", "brew.LIMIT"}
    assert docs["brew.steep"].signature == "steep(leaves, minutes=3)"
    assert docs["brew.steep"].doc.startswith("Steep the leaves. Then wait.")
    assert docs["brew.steep"].examples == ('steep("oolong")',)
    assert docs["brew.Pot.pour"].signature == "Pot.pour(cups) -> None"
    assert docs["brew.Pot"].doc == "A pot."
    line = API_PAGE[: API_PAGE.index('id="brew.Pot"')].count("\n") + 1
    assert (docs["brew.Pot"].file, docs["brew.Pot"].line) == (str(folder / "api.html"), line)
    assert docs["brew.LIMIT"].kind == "attribute"
    library = harvested.library
    assert (library.source, library.import_name, library.version) == ("docs", "brew", "2.1")


def test_code_and_prose_of_a_page_are_attached_to_the_apis_they_speak_of(
    read_docs: ReadDocs, folder: Path
) -> None:
    harvested = read_docs({"objects.inv": inventory(), "api.html": API_PAGE})

    docs = by_path(harvested)
    (used,) = docs["brew.Pot.pour"].mentions
    assert (used.kind, used.title, used.file) == ("example", "Two cups", str(folder / "api.html"))
    assert used.text == "import brew\npot = brew.Pot(3)\npot.pour(2)"
    (said,) = docs["brew.steep"].mentions
    assert (said.kind, said.text) == ("text", "Begin with `brew.steep`.")
    assert (docs["brew.Pot"].uses, docs["brew.steep"].uses) == (1, 0)
    assert used.text in [example.code for example in harvested.library.examples]


def test_markup_and_scripts_are_no_part_of_what_is_said(read_docs: ReadDocs) -> None:
    harvested = read_docs({"objects.inv": inventory(), "api.html": API_PAGE})

    said = harvested.model_dump_json()
    assert not {"<p>", "<script", "document.title", "brew.nav", "¶"} & set(said.split())
    assert "document.title" not in said


def test_markdown_defines_apis_by_directives_and_headings(
    read_docs: ReadDocs, folder: Path
) -> None:
    page = """---
title: Guide
---
# Guide

```{py:function} brew.steep(leaves, minutes=3)
:module: brew

Steep the leaves.
```

## `brew.Pot(size)`

A pot of tea. It can `pour`.

```python
from brew import Pot
```

## Use

First `brew.steep`.

```python
tea = Pot(3)
```
"""
    harvested = read_docs({"guide.md": page})

    docs = by_path(harvested)
    assert docs["brew.steep"].signature == "steep(leaves, minutes=3)"
    assert docs["brew.steep"].doc == "Steep the leaves."
    assert docs["brew.steep"].line == 6
    assert docs["brew.Pot"].kind == "class"
    assert docs["brew.Pot"].summary == "A pot of tea."
    assert [(each.kind, each.line) for each in docs["brew.steep"].mentions] == [("text", 22)]
    # The second snippet stands on the import of the first.
    assert "tea = Pot(3)" in [each.text for each in docs["brew.Pot"].mentions]


def test_notebooks_and_scripts_show_the_use_of_apis(read_docs: ReadDocs) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Tea for two\n", "See `brew.steep`."]},
        {"cell_type": "code", "source": "%pip install brew\nfrom brew import *", "outputs": []},
        {"cell_type": "code", "source": ["steep(1)"], "outputs": [{"text": "brew.Pot()"}]},
    ]
    harvested = read_docs(
        {
            "objects.inv": inventory(),
            "two.ipynb": json.dumps({"cells": cells, "nbformat": 4}),
            "pour_it.py": "import brew as b\nb.Pot(1).pour(2)\n",
        }
    )

    docs = by_path(harvested)
    assert [(each.kind, each.text) for each in docs["brew.steep"].mentions] == [
        ("example", "steep(1)"),
        ("text", "# Tea for two\nSee `brew.steep`."),
    ]
    assert docs["brew.steep"].mentions[0].title == "Tea for two (cell 3)"
    assert docs["brew.Pot"].mentions[0].title == "pour it"


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

    harvested = harvest(folder / "teahouse.yaml", interpreter)

    docs = by_path(harvested)
    assert set(docs) == {"teahouse.getTea", "teahouse.post_teas"}
    get, post = docs["teahouse.getTea"], docs["teahouse.post_teas"]
    assert get.kind == "operation"
    assert get.signature == "GET /teas/{id} (id: integer, lang: string = en) -> Tea"
    assert (get.summary, get.line) == ("Look up one tea.", 8)
    assert "- lang: string = en (query, optional): Language." in get.doc
    assert post.signature == "POST /teas (body: Tea)"
    assert "- body.name: string: What it is called." in post.doc
    assert "- body.parts: list[Tea] (optional)" in post.doc
    assert harvested.library.version == "7"
    assert "https://tea.example/v1" in harvested.library.overview


def test_a_swagger_file_in_json_is_read_too(interpreter: Interpreter, folder: Path) -> None:
    body = {"name": "tea", "in": "body", "schema": {"$ref": "#/definitions/Tea"}}
    post = {"parameters": [body], "responses": {"200": {"schema": {"type": "string"}}}}
    said = {"swagger": "2.0", "info": {}, "paths": {"/tea": {"post": post}}}
    (folder / "old.json").write_text(json.dumps(said))

    (doc,) = harvest(folder / "old.json", interpreter).docs

    assert doc.signature == "POST /tea (body: Tea) -> string"


LINES = [
    {"path": "tea.steep", "kind": "function", "signature": "steep(x)", "doc": "Steep. Then wait."},
    {"path": "tea.Pot", "kind": "api", "library": "elsewhere", "url": "https://tea.example/pot"},
]


@pytest.mark.parametrize("name", ["tea-docs.jsonl", "tea-docs.jsonl.gz"])
def test_a_file_of_apidocs_is_a_library(name: str, interpreter: Interpreter, folder: Path) -> None:
    text = "\n".join(map(json.dumps, LINES)).encode()
    (folder / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)

    harvested = harvest(folder / name, interpreter)

    docs = by_path(harvested)
    assert (docs["tea.steep"].summary, docs["tea.steep"].line) == ("Steep.", 1)
    assert (docs["tea.Pot"].kind, docs["tea.Pot"].url) == ("class", "https://tea.example/pot")
    assert {doc.library for doc in docs.values()} == {"tea-docs"}
    assert (harvested.library.name, harvested.library.import_name) == ("tea-docs", "tea")


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

    harvested = harvest(folder / "tea.jsonl", interpreter)

    assert [doc.path for doc in harvested.docs] == ["tea.steep"]
    assert reasons(harvested) == {"tea.jsonl:3": reason}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("tea.jsonl.gz", gzip.compress(b"{}" * 900)[:-9], "cannot be unpacked to its end"),
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


def test_docs_that_describe_no_api_are_refused(read_docs: ReadDocs) -> None:
    with pytest.raises(EmptyLibrary, match="describe no API"):
        read_docs({"hello.md": "# Hello\n"})


def test_pages_that_cannot_be_read_are_skipped_with_a_reason(read_docs: ReadDocs) -> None:
    harvested = read_docs(
        {
            "objects.inv": inventory(),
            "latin.md": "# Caf\u00e9".encode("latin-1"),
            "broken.ipynb": "{",
            "package.json": "{}",
            "deep.html": "<div>" * 3_000,
            "half.html": "<dl class='py'><dt id='brew.half'>half(<",
        }
    )

    assert reasons(harvested).keys() >= {"latin.md", "broken.ipynb", "package.json"}
    assert reasons(harvested)["latin.md"] == "it is not UTF-8 text"
    assert by_path(harvested)["brew.half"].signature


def test_docs_fill_the_gaps_of_what_the_code_says_and_no_more(
    write_package: WritePackage, interpreter: Interpreter, folder: Path
) -> None:
    root = write_package(
        {
            "brew/__init__.py": "from .pots import Pot\n",
            "brew/pots.py": "class Pot:\n    'Of iron.'\n    def pour(self, cups=1): ...\n",
        }
    )
    page = API_PAGE.replace("brew.Pot", "brew.pots.Pot")
    (folder / "api.html").write_text(page)
    found = find_target(root, interpreter)

    harvested = read(replace(found, docs=(DocsSource(str(folder), folder),)), interpreter)

    docs = by_path(harvested)
    assert set(docs) == {"brew.Pot", "brew.Pot.pour", "brew.steep"}
    assert docs["brew.Pot"].doc == "Of iron."
    assert docs["brew.Pot.pour"].signature == "Pot.pour(cups=1)"
    assert docs["brew.Pot.pour"].doc == "Pour it out."
    assert Path(docs["brew.Pot.pour"].file or "").name == "pots.py"
    assert harvested.library.docs == (str(folder),)


def test_a_librarys_own_tests_show_its_use_and_never_run(
    write_package: WritePackage, interpreter: Interpreter, tmp_path: Path
) -> None:
    canary = tmp_path / "it-ran"
    tests = f"""
    from brew import Pot
    open({str(canary)!r}, "w")

    def test_a_pot_pours():
        'Not part of it.'
        pot = Pot()
        assert pot.pour() == 1

    class TestMore:
        def test_more(self):
            Pot()
    """
    root = write_package(
        {
            "pyproject.toml": '[project]\nname = "brew"\n',
            "brew/__init__.py": "class Pot:\n    def pour(self): ...\n    def fill(self): ...\n",
            "tests/test_pots.py": tests,
            "tests/test_broken.py": "def (:",
        }
    )

    docs = by_path(harvest(root, interpreter))

    assert not canary.exists()
    assert docs["brew.Pot"].uses == 2
    assert docs["brew.Pot.fill"].mentions == ()
    (shown,) = docs["brew.Pot.pour"].mentions
    assert (shown.kind, shown.title, shown.line) == ("test", "a pot pours", 5)
    assert shown.text == "pot = Pot()\nassert pot.pour() == 1"


def test_stubs_that_are_installed_apart_complete_a_library(
    write_package: WritePackage, interpreter: Interpreter
) -> None:
    root = write_package(
        {
            "site/brew/__init__.py": "from .pots import *\n",
            "site/brew/pots.py": "def steep(leaves, minutes=3): 'Steep.'\n",
            "site/brew-stubs/pots.pyi": "def steep(leaves: str, minutes: int = ...) -> str: ...\n",
        }
    )

    (doc,) = harvest(root / "site" / "brew", interpreter).docs

    assert doc.signature == "steep(leaves: str, minutes: int = 3) -> str"
    assert doc.summary == "Steep."


@pytest.fixture
def serve(folder: Path) -> Iterator[str]:
    """The folder as a site, with its log on `SimpleHTTPRequestHandler.asked`."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None: ...

        def do_GET(self) -> None:
            if self.path.startswith("/away/"):
                self.send_response(302)
                self.send_header("Location", "http://127.0.0.1:9/elsewhere.html")
                self.end_headers()
                return
            super().do_GET()

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_site_is_fetched_when_it_is_given_and_read_without_it_afterwards(
    folder: Path, serve: str, interpreter: Interpreter, tmp_path: Path
) -> None:
    (folder / "objects.inv").write_bytes(inventory())
    (folder / "api.html").write_text(API_PAGE)
    given = GivenDocs(tmp_path / "index")
    told: list[tuple[str, int, int]] = []

    def tell(stage: str, done: int, total: int, /) -> None:
        told.append((stage, done, total))

    given.give("brew", [serve], stands_alone=True, progress=tell)
    for file in folder.iterdir():
        file.unlink()
    harvested = read(find_target("brew", interpreter, given), interpreter)

    docs = by_path(harvested)
    assert docs["brew.steep"].signature == "steep(leaves, minutes=3)"
    assert docs["brew.steep"].url == f"{serve}api.html#brew.steep"
    assert docs["brew.steep"].file is None
    assert docs["brew.Pot"].mentions[0].url == f"{serve}api.html#guide"
    assert docs["brew.LIMIT"].url == f"{serve}missing.html#brew.LIMIT"
    assert told == [("fetch", 1, 2), ("fetch", 2, 2)]


def test_a_single_file_is_fetched(
    folder: Path, serve: str, interpreter: Interpreter, tmp_path: Path
) -> None:
    (folder / "tea.jsonl").write_text(json.dumps(LINES[0]))
    given = GivenDocs(tmp_path / "index")

    given.give("tea", [f"{serve}tea.jsonl"], stands_alone=True)

    (doc,) = read(find_target("tea", interpreter, given), interpreter).docs
    assert doc.url == f"{serve}tea.jsonl"


@pytest.mark.parametrize(
    ("path", "limits", "message"),
    [
        ("nothing.md", FetchLimits(), r"nothing\.md answers 404"),
        ("away/objects.inv", FetchLimits(), "cannot be fetched"),
        ("large.md", FetchLimits(file_bytes=1_000), "is too much"),
        ("large.md", FetchLimits(all_bytes=1_000), "is too much"),
        ("large.md", FetchLimits(seconds=0.0), "took longer than 0 s"),
        ("bad/objects.inv", FetchLimits(), "cannot be used"),
    ],
)
def test_what_cannot_be_fetched_is_said_and_what_was_given_before_stays(
    path: str, limits: FetchLimits, message: str, folder: Path, serve: str, tmp_path: Path
) -> None:
    (folder / "large.md").write_text("tea " * 1_000)
    (folder / "bad").mkdir()
    (folder / "bad" / "objects.inv").write_text("no inventory")
    given = GivenDocs(tmp_path / "index")
    given.give("brew", [str(folder)], stands_alone=True)
    before = given.find("brew")

    with pytest.raises(DocsUnavailable, match=message):
        given.give("brew", [serve + path], stands_alone=True, limits=limits)

    assert given.find("brew") == before
    assert [each.name for each in (tmp_path / "index" / "given" / "brew").iterdir()] == [
        "given.json"
    ]


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://127.0.0.1/x", "http:///x", "http://me:secret@127.0.0.1/x"],
)
def test_only_the_open_web_is_fetched(url: str, tmp_path: Path) -> None:
    with pytest.raises(DocsUnavailable) as refused:
        fetch(url, tmp_path)

    assert "secret" not in str(refused.value)


def test_pages_outside_of_the_site_are_not_asked_for(
    folder: Path, serve: str, tmp_path: Path
) -> None:
    made = sphobjinv.Inventory()
    made.project, made.version = "Brew", "1"
    for number, uri in enumerate(["../up.html", "http://127.0.0.1:9/x.html", "away/x.html"]):
        made.objects.append(
            sphobjinv.DataObjStr(
                name=f"brew.f{number}",
                domain="py",
                role="function",
                priority="1",
                uri=uri,
                dispname="-",
            )
        )
    (folder / "inner").mkdir()
    (folder / "up.html").write_text("outside")
    (folder / "inner" / "objects.inv").write_bytes(
        sphobjinv.compress(made.data_file(contract=True))
    )
    copy = tmp_path / "copy"
    copy.mkdir()

    fetch(f"{serve}inner/", copy)

    assert sorted(each.name for each in copy.iterdir()) == ["0000.inv", "addresses.json"]


def test_docs_that_are_not_there_are_said(tmp_path: Path) -> None:
    given = GivenDocs(tmp_path / "index")

    with pytest.raises(DocsUnavailable, match="There are no docs at"):
        given.give("brew", [str(tmp_path / "nowhere")], stands_alone=False)
    assert given.find("brew") is None
