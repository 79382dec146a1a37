"""Does a name exist in the installed version? Without running the user's code."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder_kernel.sidecar import Sidecar
from exploracoder_kernel.sidecar_answers import ResolvedName

LIBRARY = '''
"""A library."""
import enum

class Reader:
    """Reads things.

    And more.
    """
    limit: int

    def __init__(self, path, *, encoding="utf-8"):
        """Open a path."""
        self.path = path

    @property
    def rows(self):
        raise SystemExit("a property was run")

    def read_rows(self, count=1):
        """Read some rows."""

    @staticmethod
    def open_default():
        """Open what is there."""

class Dynamic:
    def __getattr__(self, name):
        raise SystemExit("getattr was run")

class Colour(enum.Enum):
    RED = 1

def __getattr__(name):
    if name == "late":
        return 5
    raise AttributeError(name)
'''


@pytest.fixture(autouse=True)
def library(tmp_path: Path) -> None:
    """A package in the folder that snippets run in."""
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "__init__.py").write_text(LIBRARY)
    (tmp_path / "shelf" / "deep.py").write_text("def far(): ...\n")


async def resolved(sidecar: Sidecar, *names: str) -> list[ResolvedName]:
    await sidecar.run(
        sidecar.root, "import shelf\nreader = shelf.Reader('p')\ndynamic = shelf.Dynamic()"
    )
    return list(await sidecar.resolve(sidecar.root, names))


async def test_what_exists_has_a_signature_and_a_summary(forking: Sidecar) -> None:
    kind, method, static = await resolved(
        forking, "shelf.Reader", "reader.read_rows", "shelf.Reader.open_default"
    )

    assert (kind.exists, kind.signature) == (True, "(path, *, encoding='utf-8')")
    assert (kind.doc_summary, kind.owner, kind.owner_type) == ("Reads things.", "shelf", "module")
    assert (method.exists, method.doc_summary) == (True, "Read some rows.")
    assert method.owner_type == "shelf.Reader"
    assert (static.exists, static.signature) == (True, "()")


async def test_what_is_missing_comes_with_the_nearest_real_names(forking: Sidecar) -> None:
    spelling, words, module, deep = await resolved(
        forking, "reader.read_row", "shelf.Reader.rowsRead", "shelf.Raeder", "shelf.Nope.more"
    )

    assert (spelling.exists, spelling.nearest[0]) == (False, "read_rows")
    assert "read_rows" in words.nearest
    assert module.nearest == ("Reader",)
    assert (deep.exists, deep.owner) == (False, "shelf")


async def test_no_property_and_no_getattr_of_an_instance_is_run(forking: Sidecar) -> None:
    names = await resolved(
        forking, "reader.rows", "reader.rows.first", "dynamic.anything", "dynamic.a.b"
    )

    assert [name.exists for name in names] == [True, None, None, None]
    assert (await forking.run(forking.root, "1")).ran


async def test_attributes_that_instances_get_exist_on_the_class(forking: Sidecar) -> None:
    names = await resolved(
        forking, "shelf.Reader.path", "shelf.Reader.limit", "reader.path", "shelf.Reader.other"
    )

    assert [name.exists for name in names] == [True, True, True, False]


async def test_modules_are_imported_and_their_lazy_names_asked_for(forking: Sidecar) -> None:
    names = await resolved(
        forking, "shelf.deep.far", "shelf.late", "shelf.Colour.RED", "textwrap.dedent", "len"
    )

    assert [name.exists for name in names] == [True] * 5


async def test_unbound_names_are_compared_with_the_users(forking: Sidecar) -> None:
    typo, unknown = await resolved(forking, "raeder.path", "zzqx.y")

    assert (typo.exists, typo.nearest[0]) == (False, "reader")
    assert (unknown.exists, unknown.owner, unknown.nearest) == (False, "", ())


async def test_builtin_objects_answer_for_sure(forking: Sidecar) -> None:
    await forking.run(forking.root, "import numpy as np\nitems = []\ngrid = np.zeros(2)")

    names = await forking.resolve(forking.root, ["items.apend", "items.append", "grid.reshap"])

    assert [name.exists for name in names] == [False, True, False]
    assert names[2].nearest[0] == "reshape"


async def test_completions_replace_the_text_before_the_cursor(forking: Sidecar) -> None:
    await forking.run(forking.root, "import textwrap\nvalue = 1")
    code = "x = 1\ny = textwrap.ded"

    completions = await forking.complete(forking.root, code, len(code))

    texts = {code[: completions.start] + match for match in completions.matches}
    assert "x = 1\ny = textwrap.dedent" in texts


async def test_inspection_says_where_a_name_is_written(forking: Sidecar) -> None:
    (name,) = await resolved(forking, "shelf.Reader")

    inspection = await forking.inspect(forking.root, "shelf.Reader.read_rows")

    assert name.exists
    assert inspection.found
    assert (inspection.signature, inspection.line) == ("(self, count=1)", 20)
    assert inspection.file is not None
    assert inspection.file.endswith("shelf/__init__.py")
    assert not (await forking.inspect(forking.root, "shelf.nothing")).found
