"""Documentation beside a library, or in its place: what is read from it, and where it stands."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from exploracoder_retrieval.errors import EmptyLibrary
from exploracoder_retrieval.given_docs import GivenDocs
from exploracoder_retrieval.harvest import Harvest, harvest
from exploracoder_retrieval.harvest.docs.source import DocsSource
from exploracoder_retrieval.harvest.reader import read
from exploracoder_retrieval.harvest.target import find_target
from exploracoder_retrieval.library_python import Interpreter

from .conftest import WritePackage, by_path, reasons
from .sphinx_site import API_PAGE, inventory

ReadDocs = Callable[[Mapping[str, str | bytes]], Harvest]


@pytest.fixture
def read_docs(folder: Path, interpreter: Interpreter, tmp_path: Path) -> ReadDocs:
    """Writes files and reads them as the documentation of a library without code, ``brew``."""

    def read_(files: Mapping[str, str | bytes]) -> Harvest:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            (folder / name).write_bytes(data)
        given_docs = GivenDocs(tmp_path / "index")
        given_docs.give("brew", [str(folder)], stands_alone=True)
        return read(find_target("brew", interpreter, given_docs), interpreter)

    return read_


def test_a_sphinx_site_tells_signatures_texts_examples_and_lines(
    read_docs: ReadDocs, folder: Path
) -> None:
    result = read_docs({"objects.inv": inventory(), "api.html": API_PAGE})

    docs = by_path(result)
    assert set(docs) == {"brew.steep", "brew.Pot", "brew.Pot.pour", "brew.Pot.p", "brew.LIMIT"}
    assert docs["brew.steep"].signature == "steep(leaves, minutes=3)"
    assert docs["brew.steep"].doc.startswith("Steep the leaves. Then wait.")
    assert docs["brew.steep"].examples == ('steep("oolong")',)
    assert docs["brew.Pot.pour"].signature == "Pot.pour(cups) -> None"
    assert (docs["brew.Pot.p"].kind, docs["brew.Pot.p"].signature) == ("property", "Pot.p: float")
    assert docs["brew.Pot"].doc == "A pot."
    line = API_PAGE[: API_PAGE.index('id="brew.Pot"')].count("\n") + 1
    assert (docs["brew.Pot"].file, docs["brew.Pot"].line) == (str(folder / "api.html"), line)
    assert docs["brew.LIMIT"].kind == "attribute"
    library = result.library
    assert (library.source, library.import_name, library.version) == ("docs", "brew", "2.1")


def test_code_and_prose_of_a_page_are_attached_to_the_apis_they_speak_of(
    read_docs: ReadDocs, folder: Path
) -> None:
    result = read_docs({"objects.inv": inventory(), "api.html": API_PAGE})

    docs = by_path(result)
    (use,) = docs["brew.Pot.pour"].mentions
    assert (use.kind, use.title, use.file) == ("example", "Two cups", str(folder / "api.html"))
    assert use.text == "import brew\npot = brew.Pot(3)\npot.pour(2)"
    (prose,) = docs["brew.steep"].mentions
    assert (prose.kind, prose.text) == ("text", "Begin with `brew.steep`.")
    assert (docs["brew.Pot"].uses, docs["brew.steep"].uses) == (1, 0)
    assert use.text in [example.code for example in result.library.examples]


def test_markup_and_scripts_are_no_part_of_what_is_said(read_docs: ReadDocs) -> None:
    result = read_docs({"objects.inv": inventory(), "api.html": API_PAGE})

    text = result.model_dump_json()
    assert not {"<p>", "<script", "document.title", "brew.nav", "¶"} & set(text.split())
    assert "document.title" not in text


def test_a_page_of_mkdocstrings_tells_the_same(read_docs: ReadDocs) -> None:
    page = """<main><h2 id="brew.Pot" class="doc doc-heading">
    <span class="doc doc-object-name">Pot</span>
    <span class="doc doc-labels"><small><code>dataclass</code></small></span></h2>
    <div class="doc-signature highlight"><pre><code>Pot(size: int = 3)</code></pre></div>
    <div class="doc doc-contents"><p class="doc doc-class-bases">Bases: <code>Lid</code></p>
    <p>A pot of tea.</p>
    <details class="quote"><summary>Source code</summary><pre>class Pot: ...</pre></details></div>
    <h3 id="brew.Pot.pour" class="doc doc-heading"><code>pour(cups)</code></h3>
    <p>Pour.</p></main>"""

    docs = by_path(read_docs({"pots.html": page}))

    assert (docs["brew.Pot"].signature, docs["brew.Pot"].doc) == (
        "Pot(size: int = 3)",
        "A pot of tea.",
    )
    assert docs["brew.Pot.pour"].signature == "Pot.pour(cups)"
    assert docs["brew.Pot.pour"].kind == "method"


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
    result = read_docs({"guide.md": page})

    docs = by_path(result)
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
    result = read_docs(
        {
            "objects.inv": inventory(),
            "two.ipynb": json.dumps({"cells": cells, "nbformat": 4}),
            "pour_it.py": "import brew as b\nb.Pot(1).pour(2)\n",
        }
    )

    docs = by_path(result)
    assert [(each.kind, each.text) for each in docs["brew.steep"].mentions] == [
        ("example", "steep(1)"),
        ("text", "# Tea for two\nSee `brew.steep`."),
    ]
    assert docs["brew.steep"].mentions[0].title == "Tea for two (cell 3)"
    assert docs["brew.Pot"].mentions[0].title == "pour it"


def test_docs_that_describe_no_api_are_refused(read_docs: ReadDocs) -> None:
    with pytest.raises(EmptyLibrary, match="describe no API"):
        read_docs({"hello.md": "# Hello\n"})


def test_pages_that_cannot_be_read_are_skipped_with_a_reason(read_docs: ReadDocs) -> None:
    result = read_docs(
        {
            "objects.inv": inventory(),
            "latin.md": "# Caf\u00e9".encode("latin-1"),
            "broken.ipynb": "{",
            "package.json": "{}",
            "deep.html": "<div>" * 3_000,
            "half.html": "<dl class='py'><dt id='brew.half'>half(<",
        }
    )

    assert reasons(result).keys() >= {"latin.md", "broken.ipynb", "package.json"}
    assert reasons(result)["latin.md"] == "it is not UTF-8 text"
    assert by_path(result)["brew.half"].signature


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
    target = find_target(root, interpreter)

    result = read(replace(target, docs=(DocsSource(str(folder), folder),)), interpreter)

    docs = by_path(result)
    assert set(docs) == {"brew.Pot", "brew.Pot.p", "brew.Pot.pour", "brew.steep"}
    assert docs["brew.Pot"].doc == "Of iron."
    assert docs["brew.Pot.pour"].signature == "Pot.pour(cups=1)"
    assert docs["brew.Pot.pour"].doc == "Pour it out."
    assert Path(docs["brew.Pot.pour"].file or "").name == "pots.py"
    assert result.library.docs == (str(folder),)


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
    (use,) = docs["brew.Pot.pour"].mentions
    assert (use.kind, use.title, use.line) == ("test", "a pot pours", 5)
    assert use.text == "pot = Pot()\nassert pot.pour() == 1"


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


def test_half_a_character_in_json_is_replaced(read_docs: ReadDocs) -> None:
    lines = {"path": "brew.steep", "doc": "Steep \ud800.", "examples": ["steep('\ud83c\udf75')"]}
    cell = {"cell_type": "markdown", "source": "# \udc00 `brew.steep`"}

    result = read_docs(
        {"apis.jsonl": json.dumps(lines), "guide.ipynb": json.dumps({"cells": [cell]})}
    )

    (doc,) = result.docs
    assert doc.doc == "Steep \ufffd."
    assert doc.examples == ("steep('\U0001f375')",)
    assert doc.mentions[0].title == "\ufffd `brew.steep`"
    assert doc.model_dump_json()
