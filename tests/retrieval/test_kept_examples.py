"""Examples from people's own code: cut out of it, kept beside the index, found, and counted."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from exploracoder_retrieval.catalog import Files
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.errors import DocsUnavailable, IndexUnavailable
from exploracoder_retrieval.examples import kept as kept_module
from exploracoder_retrieval.examples.kept import KeptExample, KeptExamples
from exploracoder_retrieval.examples.slices import MAX_LINES, slices, standing_alone
from exploracoder_retrieval.examples.uses import read_uses
from exploracoder_retrieval.harvest import Harvest
from exploracoder_retrieval.harvest.mentions import ApiNames
from exploracoder_retrieval.index import Index

from .test_index import BREW, CountingEmbedder, make_harvest

NOON = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)


def example(code: str = "import brew\nbrew.pour()", **changes: object) -> KeptExample:
    values: dict[str, object] = {
        "library": "brew",
        "version": "1",
        "source": "code",
        "title": "Fill the cups",
        "code": code,
        "apis": ("brew.pour",),
        "origin": "/home/a/tea.py",
        "kept": NOON,
    }
    return KeptExample.model_validate(values | changes)


def cut(text: str) -> list[str]:
    return [each.code for each in slices(ast.parse(textwrap.dedent(text)), "brew")]


def test_a_call_is_kept_with_the_lines_that_it_needs() -> None:
    cuts = cut("""
        import os, brew as b
        from brew import Kettle, pour
        LEAST = 3
        def is_hot(kettle):
            return kettle.heat > LEAST
        def test_tea(path):
            print(os.getcwd())
            kettle = Kettle(open(path).read())
            other = 3
            if is_hot(kettle):
                print(other)
                kettle.boil()
    """)

    assert cuts == [
        textwrap.dedent("""\
            from brew import Kettle
            LEAST = 3
            def is_hot(kettle):
                return kettle.heat > LEAST
            def test_tea(path):
                kettle = Kettle(open(path).read())
                if is_hot(kettle):
                    kettle.boil()""")
    ]


def test_uses_that_have_nothing_in_common_are_examples_of_their_own() -> None:
    cuts = cut("import brew\na = brew.steep(1)\nprint(a)\nb = brew.pour(2)\nb.drink()\n")

    assert cuts == ["import brew\na = brew.steep(1)", "import brew\nb = brew.pour(2)\nb.drink()"]


@pytest.mark.parametrize(
    "text",
    [
        "import brew\nfor x in y:\n    brew.pour(x)\nelse:\n    pass",
        "import brew\ntry:\n    brew.pour()\nexcept OSError as e:\n    print(e)\nfinally:\n    1",
        "import brew\nmatch x:\n    case 1:\n        brew.pour()\n    case _:\n        pass",
        "import brew\nasync def f():\n    async with brew.pour() as a:\n        await a.drink()",
        "import brew\ntry:\n    brew.pour()\nfinally:\n    close()",
        "import brew\nwhile brew.pour():\n    x += 1",
        "import brew\nclass Tea(brew.Kettle):\n    def pour(self):\n        yield brew.pour()",
        "import brew\nwith open(f) as g, brew.pour(g):\n    pass",
    ],
)
def test_a_cut_of_any_statement_is_python(text: str) -> None:
    cuts = cut(text)

    assert len(cuts) == 1
    assert "brew.pour(" in cuts[0]
    ast.parse(cuts[0])


def test_a_cut_has_few_lines_and_no_long_texts() -> None:
    lines = "\n".join(f"x = x.step{n}()" for n in range(100))
    table = "TABLE = [\n" + "    1,\n" * 50 + "]\n"

    cuts = cut(f"import brew\n{table}x = brew.pour(TABLE, {'a' * 900!r})\n{lines}")

    assert max(len(code.splitlines()) for code in cuts) <= MAX_LINES + 1
    assert not any("1, 1" in code or "a" * 200 in code for code in cuts)


def test_a_cell_is_completed_by_the_lines_of_earlier_ones() -> None:
    earlier = ["import brew, os\nn = 2\nprint(n)", "cups = [brew.pour(i) for i in range(n)]"]

    assert standing_alone("print(cups)", earlier).splitlines() == [
        "import brew",
        "n = 2",
        "cups = [brew.pour(i) for i in range(n)]",
        "print(cups)",
    ]
    assert standing_alone("no python(", earlier) == "no python("


@pytest.fixture
def tea() -> Harvest:
    return make_harvest(BREW)


def read(tea: Harvest, *paths: Path) -> tuple[tuple[KeptExample, ...], dict[str, str]]:
    reasons: dict[str, str] = {}
    examples = read_uses(paths, tea.library, ApiNames(tea.docs), reasons.__setitem__)
    return examples, {Path(name).name: reason for name, reason in reasons.items()}


def test_scripts_tests_and_notebooks_are_read_and_what_cannot_be_is_named(
    tea: Harvest, tmp_path: Path
) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Tea"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import brew\n"]},
        {"cell_type": "code", "source": ["?brew"]},
        {"cell_type": "code", "source": ["brew.steep()\n"]},
    ]
    (tmp_path / "tea.ipynb").write_text(json.dumps({"cells": cells}))
    (tmp_path / "test_tea.py").write_text(
        'import brew\n\ndef test_it():\n    """Cups are full."""\n    brew.pour()\n'
    )
    (tmp_path / "broken.py").write_text("import brew\ndef f(:\n")
    (tmp_path / "large.py").write_text("import brew\n" + "#" * 1_000_001)
    (tmp_path / "other.py").write_text("import os\nos.getcwd()\n")

    examples, reasons = read(tea, tmp_path)

    assert [(one.title, one.apis) for one in examples] == [
        ("tea", ("brew.steep",)),
        ("Cups are full.", ("brew.pour",)),
    ]
    assert examples[1].line == 5
    assert set(reasons) == {"broken.py", "large.py", "tea.ipynb, cell 3"}
    assert "it is no Python" in reasons["broken.py"]
    assert "larger than" in reasons["large.py"]


def test_a_path_that_is_not_there_is_refused(tea: Harvest, tmp_path: Path) -> None:
    with pytest.raises(DocsUnavailable, match="no file or folder"):
        read(tea, tmp_path / "nowhere")


def test_secrets_are_blotted_before_anything_is_kept(tea: Harvest, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import brew\nbrew.pour('geheim')\n")

    examples = read_uses(
        [tmp_path / "a.py"],
        tea.library,
        ApiNames(tea.docs),
        lambda *_: None,
        clean=lambda text: text.replace("geheim", "[key]"),
    )

    assert examples[0].code == "import brew\nbrew.pour('[key]')"


def test_what_is_kept_is_listed_newest_first_and_forgotten(tmp_path: Path) -> None:
    examples = KeptExamples(tmp_path)
    old, new = example(), example("brew.steep()", kept=NOON + timedelta(days=1))

    examples.keep([old, new, example(library="other lib")])

    assert examples.of("brew") == (new, old)
    assert [each.library for each in examples.all()] == ["brew", "brew", "other lib"]
    assert examples.forget("brew", [old.id]) == 1
    assert examples.of("brew") == (new,)
    assert examples.forget("brew") == 1
    assert [each.library for each in examples.all()] == ["other lib"]


def test_the_oldest_go_when_there_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_module, "MAX_KEPT", 2)
    examples = KeptExamples(tmp_path)
    code_examples = [example(f"brew.pour({n})", kept=NOON + timedelta(hours=n)) for n in range(4)]

    examples.keep([*code_examples, example(source="exploration")])

    assert [each.code for each in examples.of("brew") if each.source == "code"] == [
        "brew.pour(3)",
        "brew.pour(2)",
    ]
    assert len(examples.of("brew")) == 3


def test_a_damaged_file_costs_no_other(tmp_path: Path) -> None:
    examples = KeptExamples(tmp_path)
    examples.keep([example(), example("brew.steep()")])
    (tmp_path / "examples" / "brew" / f"{example().id}.json").write_text("{")

    assert [each.code for each in examples.of("brew")] == ["brew.steep()"]
    assert examples.forget_all() == 1
    assert [*(tmp_path / "examples").iterdir()] == []


def test_what_cannot_be_removed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    examples = KeptExamples(tmp_path)
    examples.keep([example()])
    monkeypatch.setattr(kept_module.shutil, "rmtree", refuse)
    for forget in (examples.forget_all, lambda: examples.forget("brew")):
        with pytest.raises(IndexUnavailable, match="cannot be removed: Permission denied"):
            forget()


def test_who_writes_at_the_same_time_loses_nothing(tmp_path: Path) -> None:
    def write(number: int) -> None:
        KeptExamples(tmp_path).keep([example(f"brew.pour({number})")])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))

    assert len(KeptExamples(tmp_path).of("brew")) == 40


def test_a_killed_writer_leaves_what_was_there(tmp_path: Path) -> None:
    KeptExamples(tmp_path).keep([example()])
    code = (
        "import os, sys\nfrom pathlib import Path\n"
        "from exploracoder_retrieval.examples.kept import *\n"
        "os.fsync = lambda _: os._exit(9)\n"
        "e = KeptExamples(Path(sys.argv[1]))\n"
        "e.keep([e.of('brew')[0].model_copy(update={'code': 'brew.steep()'})])"
    )
    process = subprocess.run([sys.executable, "-c", code, tmp_path], check=False)

    assert process.returncode == 9
    assert KeptExamples(tmp_path).of("brew") == (example(),)


def test_a_full_disk_is_said_and_loses_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = KeptExamples(tmp_path)
    examples.keep([example()])

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(IndexUnavailable, match="No space left"):
        examples.keep([example("brew.steep()")])

    assert examples.of("brew") == (example(),)
    assert len(list((tmp_path / "examples" / "brew").iterdir())) == 1


@pytest.fixture
def index(tmp_path: Path, embedder: MiniLmEmbedder) -> Iterator[Index]:
    with Index.open(tmp_path / "index", embedder) as fresh_index:
        fresh_index.update(make_harvest(BREW))
        yield fresh_index


def rank(index: Index, path: str) -> int:
    return [hit.doc.path for hit in index.search("tea", ["brew"], 5)].index(path)


def test_examples_count_as_use_at_once_and_no_more_when_forgotten(index: Index) -> None:
    before = rank(index, "brew.read_recipe_csv")
    examples = [
        example(f"brew.read_recipe_csv({n})", apis=("brew.read_recipe_csv", "brew.gone"))
        for n in range(40)
    ]

    index.examples.keep(examples)
    after, without = (
        rank(index, "brew.read_recipe_csv"),
        rank(index.view(uses_examples=False), "brew.read_recipe_csv"),
    )
    index.examples.forget("brew")

    assert after < before
    assert without == before
    assert rank(index, "brew.read_recipe_csv") == before


def test_what_solved_a_task_like_it_is_found_whatever_its_docs_say(index: Index) -> None:
    query = "make my morning beverage"
    before = [hit.doc.path for hit in index.search(query, ["brew"], 5)]
    solution = example(title="Make a beverage for the morning", apis=("brew.read_recipe_csv",))

    index.examples.keep([solution])
    after = [hit.doc.path for hit in index.search(query, ["brew"], 5)]
    unlike = [hit.doc.path for hit in index.search("pour the tea into cups", ["brew"], 5)]
    own = index.view(left_out=solution.origin).search(query, ["brew"], 5)

    assert before[0] != "brew.read_recipe_csv"
    assert after[0] == "brew.read_recipe_csv"
    assert unlike[0] == "brew.pour"
    assert [hit.doc.path for hit in own] == before


def test_an_example_is_embedded_once_until_it_says_something_else(tmp_path: Path) -> None:
    embedder = CountingEmbedder()
    for _ in range(2):
        with Index.open(tmp_path / "index", embedder) as index:
            index.update(make_harvest(BREW))
            index.examples.keep([example()])
            index.search("tea", ["brew"], 5)
            index.search("tea", ["brew"], 5)
            index.examples.keep([example(title="Other")])
            index.search("tea", ["brew"], 5)
    titles = [text for text in embedder.texts if text in {"Fill the cups", "Other"}]

    assert titles == ["Fill the cups", "Other"] * 2
    home = tmp_path / "index" / "examples" / "brew"
    assert [file.stem.partition(".")[0] for file in home.iterdir()] == [example().id] * 2
    assert index.examples.forget("brew", [example().id]) == 1
    assert not list(home.iterdir())


def test_a_vector_that_is_damaged_is_made_again(index: Index, tmp_path: Path) -> None:
    index.examples.keep([example()])
    before = index.search("fill the cups", ["brew"], 5)
    (vector,) = (tmp_path / "index" / "examples" / "brew").glob("*.vector")
    vector.write_bytes(b"too short")
    # What is kept besides has all of them looked at again.
    index.examples.keep([example("brew.pour(2)", title="Something else")])
    index.search("fill the cups", ["brew"], 5)
    index.examples.forget("brew", [example("brew.pour(2)").id])

    assert index.search("fill the cups", ["brew"], 5) == before
    assert len(vector.read_bytes()) == 4 * MiniLmEmbedder.dimensions


def near(index: Index, task: str) -> list[tuple[str, bool, bool]]:
    examples = index.near_examples("brew", task, index.search(task, ["brew"], 5))
    return [(one.title, one.is_kept, one.fits) for one in examples]


def test_an_example_is_found_by_words_and_apis_and_another_version_ranks_lower(
    index: Index,
) -> None:
    code = "import brew\nkettle = brew.Kettle()\nkettle.boil()"
    index.examples.keep(
        [
            example(),
            example(code, title="Boil water", version="0", apis=("brew.Kettle.boil",)),
            example(f"{code}\n", title="Boil the water", apis=("brew.Kettle.boil",)),
            example("other.gone()", title="Boil water", apis=("brew.gone",)),
        ]
    )

    matches = near(index, "Bring water to the boil")

    assert [title for title, *_ in matches] == [
        "Boil the water",
        "Boil water (version 0)",
        "Fill the cups",
    ]
    assert matches[0][1:] == (True, True)
    assert not matches[2][2]


def test_an_index_that_is_thrown_away_leaves_the_examples(
    index: Index, tmp_path: Path, embedder: MiniLmEmbedder
) -> None:
    index.examples.keep([example()])
    (Files(tmp_path / "index").folder / "catalog.json").write_text("{")

    with Index.open(tmp_path / "index", embedder) as again:
        assert again.examples.of("brew") == (example(),)
