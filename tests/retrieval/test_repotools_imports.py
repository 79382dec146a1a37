"""``get_imports``: which names are undefined, and what would define them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

import pytest
from exploracoder_retrieval.errors import UnreadableSource
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.repotools.repository import Repository
from exploracoder_retrieval.repotools.six_tools import RepositoryTools
from exploracoder_retrieval.repotools.undefined import undefined_names

TREE: Mapping[str, str] = {
    "zoo/__init__.py": """
        from ._impl.shapes import Polygon as Shape, area_of
        from .registry import *
        from . import compat

        def __getattr__(name):
            if name == "OldShape":
                from ._impl.shapes import Polygon
                return Polygon
            raise AttributeError(name)
    """,
    "zoo/registry.py": """
        __all__ = ["register"]
        def register(name): ...
        class Entry: ...
        class Registry:
            class Config: ...
        def _make():
            class Config: ...
    """,
    "zoo/compat.py": """
        try:
            from tomllib import loads as load_toml
        except ImportError:
            def load_toml(text): ...
        from ._impl.base import Config as OldConfig
        import numpy.linalg as la
    """,
    "zoo/_impl/__init__.py": "",
    "zoo/_impl/base.py": "class Config: ...\nLIMIT = 3\n",
    "zoo/_impl/shapes.py": "class Polygon: ...\ndef area_of(shape): ...\nclass Media: ...\n",
    "zoo/json.py": "def encode(value): ...\n",
    "zoo/spec.py": "class Media: ...\n",
    "zoo/app.py": """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from zoo.kinds.base import Kind
    """,
    "zoo/kinds/__init__.py": "from .base import Kind\n",
    "zoo/kinds/base.py": "class Kind: ...\n",
}
CODE = """
def build(name: 'Entry', *args):
    total = [x for x in args if (n := len(x))]
    s = Shape(total, n)
    register(s)
    e: OldConfig = compat.OldConfig()
    load_toml('')
    json.loads('{}')
    la.norm(np.zeros(3))
    Kind()
    return area_of(s), Config, Media, OldShape, LIMIT, defaultdict(Path), undefined_thing, __name__
"""


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory, interpreter: Interpreter) -> RepositoryTools:
    root = tmp_path_factory.mktemp("zoo")
    for name, text in TREE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(textwrap.dedent(text), encoding="utf-8")
    return RepositoryTools(Repository.open(root, interpreter))


@pytest.fixture(scope="module")
def symbols(tools: RepositoryTools) -> dict[str, tuple[str, ...]]:
    return tools.get_imports(CODE, "zoo/new.py").symbols


@pytest.mark.parametrize(
    ("name", "statement"),
    [
        ("Shape", "from zoo import Shape"),
        ("register", "from zoo import register"),
        ("Entry", "from zoo.registry import Entry"),
        ("compat", "from zoo import compat"),
        ("OldConfig", "from zoo.compat import OldConfig"),
        ("load_toml", "from zoo.compat import load_toml"),
        ("area_of", "from zoo import area_of"),
        ("Config", "from zoo._impl.base import Config"),
        ("OldShape", "from zoo import OldShape"),
        ("Kind", "from zoo.kinds import Kind"),
        ("LIMIT", "from zoo._impl.base import LIMIT"),
        ("json", "import json"),
        ("la", "import numpy.linalg as la"),
        ("np", "import numpy as np"),
        ("defaultdict", "from collections import defaultdict"),
        ("Path", "from pathlib import Path"),
    ],
)
def test_the_best_import_comes_first(
    symbols: dict[str, tuple[str, ...]], name: str, statement: str
) -> None:
    assert symbols[name][0] == statement


def test_nested_and_local_things_are_not_offered(symbols: dict[str, tuple[str, ...]]) -> None:
    assert symbols["Config"] == ("from zoo._impl.base import Config",)


def test_all_sources_of_an_ambiguous_name_are_offered(
    symbols: dict[str, tuple[str, ...]],
) -> None:
    assert set(symbols["Media"]) == {
        "from zoo.spec import Media",
        "from zoo._impl.shapes import Media",
    }


def test_what_only_type_checkers_import_is_not_offered(
    symbols: dict[str, tuple[str, ...]],
) -> None:
    assert symbols["Kind"] == ("from zoo.kinds import Kind", "from zoo.kinds.base import Kind")


def test_what_nothing_defines_is_said(symbols: dict[str, tuple[str, ...]]) -> None:
    assert symbols["undefined_thing"] == ()


def test_names_that_the_code_binds_itself_are_not_reported() -> None:
    code = """
import os as system
class A:
    def f(self, a, /, b=1, *c, d, **e):
        global g
        g = 1
        with open(a) as (h, i):
            pass
        try:
            j = lambda k: k
        except (ValueError, OSError) as err:
            print(err, system, __file__)
        for l in b: del l
        match a:
            case {"x": m, **n}: return m, n
        return {o: p for o, p in c}, f"{self.z} {g} {missing!r}"
"""

    assert [one.name for one in undefined_names(code)] == ["missing"]
    assert [one.name for one in undefined_names("    def f():\n        g()")] == ["g"]


def test_code_that_is_not_python_is_refused(tools: RepositoryTools) -> None:
    with pytest.raises(UnreadableSource, match="The code is not Python: line 1"):
        tools.get_imports("def (")
