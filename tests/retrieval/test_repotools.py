"""The repository tools on small trees: what they know of classes, signatures and bodies."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping

import pytest
from exploracoder_retrieval.errors import NameNotFound
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.repotools.repository import Repository
from exploracoder_retrieval.repotools.six_tools import Limits, RepositoryTools
from exploracoder_retrieval.repotools.tool_answers import MemberInfo
from exploracoder_retrieval.repotools.tool_text import answer_text

from .conftest import WritePackage

Open = Callable[..., RepositoryTools]

BASE = """
    import abc
    from collections import deque
    from functools import cached_property, partialmethod, wraps


    class Named(abc.ABC):
        kind = "named"
        __slots__ = ("label",)

        def __init__(self, label: str) -> None:
            self.label = label

        @property
        def title(self) -> str:
            return self.label

        @title.setter
        def title(self, value: str) -> None:
            self.label = value

        @abc.abstractmethod
        def describe(self, *, verbose: bool = False) -> str:
            "Say what this is."

        @classmethod
        def parse(cls, text: str, /, sep: str = ":") -> "Named":
            class Local:
                hidden = 1
            return cls(text.split(sep)[0])


    class Mixin:
        def describe(self, *, verbose: bool = False, prefix: str = "log") -> str:
            self.last = prefix
            return prefix


    class Ring(deque):
        pass
"""
SHAPES = """
    from contextlib import contextmanager
    from functools import cached_property, partialmethod
    from . import base as roots
    from .base import Mixin as Logging, Named


    class Polygon(Logging, Named):
        sides: int = 3

        class Corner:
            x = 1

        def __init__(self, label: str) -> None:
            super().__init__(label)
            self.label = label
            self.config, other = label, 2

        async def load(self, path: str) -> bytes:
            return b""

        def _resize(self, factor: float, keep: bool = True) -> float:
            return factor

        grow = partialmethod(_resize, 2.0)
        resize = _resize
        corners = property(lambda self: self.sides)

        @cached_property
        def area(self) -> float:
            return 1.0

        @contextmanager
        def editing(self, lock=True):
            yield self


    class Sub(roots.Named):
        pass
"""
TREE = {
    "zoo/__init__.py": "from .impl.shapes import Polygon as Shape\nfrom .impl import *\n",
    "zoo/impl/__init__.py": "from .base import Named\n__all__ = ['Named']\n",
    "zoo/impl/base.py": BASE,
    "zoo/impl/shapes.py": SHAPES,
}


@pytest.fixture
def open_tools(write_package: WritePackage, interpreter: Interpreter) -> Open:
    """Writes files and opens the tools on them."""

    def opened(files: Mapping[str, str], limits: Limits | None = None) -> RepositoryTools:
        return RepositoryTools(Repository.open(write_package(files), interpreter), limits)

    return opened


def members_of(tools: RepositoryTools, name: str) -> dict[str, MemberInfo]:
    (class_info,) = tools.get_class_info(name).classes
    assert len({member.name for member in class_info.members}) == len(class_info.members)
    return {member.name: member for member in class_info.members}


def test_a_class_has_inherited_members_of_other_files_where_python_finds_them(
    open_tools: Open,
) -> None:
    members = members_of(open_tools(TREE), "Polygon")

    assert members["describe"].defined_in == "zoo.impl.base.Mixin"
    assert members["describe"].params == ("self", "verbose", "prefix")
    assert members["parse"].kind == "classmethod"
    assert members["title"].settable
    assert members["load"].is_async
    assert members["last"].kind == "instance_var"
    assert members["label"].defined_in == "zoo.impl.base.Named"
    assert not {"hidden", "Local", "other"} & members.keys()


def test_a_class_has_what_its_body_makes_of_other_things(open_tools: Open) -> None:
    members = members_of(open_tools(TREE), "Polygon")

    assert members["grow"].kind == "method"
    assert members["resize"].params == ("self", "factor", "keep")
    assert members["corners"].kind == "property"
    assert members["area"].kind == "cached_property"
    assert members["editing"].decorators == ("contextmanager",)
    assert members["Corner"].kind == "class"
    assert (members["sides"].kind, members["sides"].default) == ("class_var", "3")
    assert members["config"].kind == "instance_var"


def test_an_alias_made_in_an_init_names_the_class(open_tools: Open) -> None:
    (class_info,) = open_tools(TREE).get_class_info("Shape").classes
    (nested,) = open_tools(TREE).get_class_info("Polygon.Corner").classes

    assert class_info.qualname == "zoo.impl.shapes.Polygon"
    assert class_info.file == "zoo/impl/shapes.py"
    assert nested.qualname == "zoo.impl.shapes.Polygon.Corner"


def test_a_base_that_is_an_attribute_of_a_module_is_followed(open_tools: Open) -> None:
    (class_info,) = open_tools(TREE).get_class_info("Sub").classes

    assert class_info.lineage[:2] == ("zoo.impl.shapes.Sub", "zoo.impl.base.Named")


def test_a_method_of_a_type_written_in_c_has_a_signature(open_tools: Open) -> None:
    (signature,) = open_tools(TREE).get_signature("Ring", "rotate").signatures
    (body,) = open_tools(TREE).get_method_body("Ring", "rotate").bodies

    assert signature.path == "collections.deque.rotate"
    assert [one.name for one in signature.params] == ["self", "n"]
    assert body.source == ""
    assert "written in C" in answer_text(open_tools(TREE).get_method_body("Ring", "rotate"))
    assert body.signature.startswith("def rotate(")


def test_members_of_an_installed_library_are_inherited(open_tools: Open) -> None:
    tools = open_tools({"lib/__init__.py": "import click\nclass Own(click.Command):\n    pass\n"})
    members = members_of(tools, "Own")

    assert members["get_help"].defined_in == "click.core.Command"
    assert tools.get_method_body("Own", "get_help").bodies[0].source.startswith("def get_help(")


def test_a_stub_tells_what_the_source_beside_it_leaves_to_c(open_tools: Open) -> None:
    tools = open_tools({"lib.py": "import numpy as np\nclass Own(np.ndarray):\n    pass\n"})
    signatures = tools.get_signature("Own", "argsort").signatures

    assert signatures[0].path.startswith("numpy.")
    assert signatures[0].file == "numpy/__init__.pyi"
    assert tools.get_method_body("Own", "argsort").bodies[0].source == ""


def test_overloads_come_with_their_implementation(open_tools: Open) -> None:
    tools = open_tools(
        {
            "lib.py": """
                from typing import overload
                @overload
                def convert(value: int) -> str: ...
                @overload
                def convert(value: str, base: int = ...) -> int: ...
                def convert(value, base=10):
                    return value
            """
        }
    )
    signatures = tools.get_signature(None, "convert").signatures

    assert [one.line for one in signatures] == [4, 6, 7]
    assert [one.decorators for one in signatures] == [("overload",), ("overload",), ()]
    assert signatures[1].params[1].default == "..."


def test_the_branch_for_this_python_is_the_one_that_counts(open_tools: Open) -> None:
    tools = open_tools(
        {
            "lib.py": """
                import sys
                if sys.version_info >= (3, 9):
                    def register(name, /, *, weight=1): ...
                else:
                    def register(name): ...
                try:
                    from fast import loads as load
                except ImportError:
                    def load(text): ...
            """
        }
    )
    (signature,) = tools.get_signature(None, "register").signatures
    (load,) = tools.get_signature(None, "load").signatures

    assert [(one.name, one.kind) for one in signature.params] == [
        ("name", "posonly"),
        ("weight", "kwonly"),
    ]
    assert [one.name for one in load.params] == ["text"]


FIELDS = """
    from dataclasses import KW_ONLY, InitVar, dataclass, field
    from typing import ClassVar, NamedTuple


    @dataclass
    class Point:
        x: float
        y: float = 0.0
        tags: list = field(default_factory=list)
        scale: InitVar[float] = 1.0
        origin: ClassVar[int] = 0
        cache: dict = field(init=False)


    @dataclass(kw_only=True)
    class Point3D(Point):
        z: float = 0.0
        tags: tuple = ()


    class Entry(NamedTuple):
        key: str
        weight: int = 1
"""


def test_fields_have_defaults_and_are_told_from_class_variables(open_tools: Open) -> None:
    members = members_of(open_tools({"lib.py": FIELDS}), "Point3D")

    assert (members["y"].kind, members["y"].default) == ("field", "0.0")
    assert (members["tags"].defined_in, members["tags"].default) == ("lib.Point3D", "()")
    assert members["scale"].kind == "initvar"
    assert members["origin"].kind == "class_var"
    assert members_of(open_tools({"lib.py": FIELDS}), "Entry")["weight"].default == "1"


def test_the_init_of_a_dataclass_is_the_one_that_it_generates(open_tools: Open) -> None:
    namespace: dict[str, object] = {}
    exec(compile(textwrap.dedent(FIELDS), "fields", "exec", dont_inherit=True), namespace)
    real = inspect.signature(namespace["Point3D"])  # type: ignore[arg-type]
    (signature,) = open_tools({"lib.py": FIELDS}).get_signature("Point3D", "__init__").signatures

    assert [one.name for one in signature.params[1:]] == list(real.parameters)
    kinds = [
        "kwonly" if one.kind == one.KEYWORD_ONLY else "pos" for one in real.parameters.values()
    ]
    assert [one.kind for one in signature.params[1:]] == kinds
    assert signature.note == "It is generated from the fields."


TUPLES = """
    from collections import namedtuple
    from typing import NamedTuple


    class Entry(NamedTuple):
        key: str
        weight: int = 1


    class Parsed(Entry):
        def __new__(cls, line: str): ...


    class Trimmed(Parsed):
        pass


    class Point(namedtuple("Point", "x y")):
        def __new__(cls, text: str): ...


    class Pair(namedtuple("Pair", "a b")):
        pass
"""


def test_a_named_tuple_that_is_made_in_its_own_way_is_not_made_from_its_elements(
    open_tools: Open,
) -> None:
    tools = open_tools({"lib.py": TUPLES})

    for name in ("Parsed", "Trimmed", "Point"):
        assert tools.get_class_info(name).classes[0].init is None
        with pytest.raises(NameNotFound):
            tools.get_signature(name, "__init__")
    (signature,) = tools.get_signature("Pair", "__init__").signatures
    assert [one.name for one in signature.params[1:]] == ["a", "b"]


def test_a_body_is_whole_and_its_cut_is_counted(open_tools: Open) -> None:
    files = {"lib.py": "class A:\n    def go(self):\n        a = 1\n\n        return a\n"}
    (whole,) = open_tools(files).get_method_body("A", "go").bodies
    (short,) = open_tools(files, Limits(lines=2)).get_method_body("A", "go").bodies

    assert whole.source == "def go(self):\n    a = 1\n\n    return a"
    assert short.left_out == 2
    assert "2 more lines" in answer_text(
        open_tools(files, Limits(lines=2)).get_method_body("A", "go")
    )


def test_what_is_left_out_is_counted(open_tools: Open) -> None:
    lines = "\n".join(f"    def m{number}(self): ..." for number in range(9))
    answer = open_tools({"lib.py": f"class A:\n{lines}\n"}, Limits(members=4)).get_class_info("A")

    assert len(answer.classes[0].members) == 4
    assert answer.classes[0].left_out == 5
    assert "5 more members" in answer_text(answer)


@pytest.mark.parametrize(
    ("class_name", "method", "said"),
    [
        ("Poligon", "load", "The nearest: Polygon"),
        ("Polygon", "lode", "The nearest: load"),
        (None, "no_such", "no function 'no_such'"),
    ],
)
def test_a_name_that_is_not_there_is_said_with_the_nearest(
    open_tools: Open, class_name: str | None, method: str, said: str
) -> None:
    with pytest.raises(NameNotFound, match=said):
        open_tools(TREE).get_signature(class_name, method)


def test_a_class_that_inherits_in_a_circle_is_answered(open_tools: Open) -> None:
    files = {
        "a.py": "from b import B\nclass A(B):\n    one = 1\n",
        "b.py": "from a import A\nclass B(A):\n    two = 2\n",
    }

    assert members_of(open_tools(files), "A").keys() == {"one", "two"}
    (class_info,) = open_tools(files).get_class_info("A").classes
    assert class_info.lineage == ("a.A", "b.B")
    assert class_info.problem == "a.A inherits from itself"


def test_a_class_whose_bases_have_no_order_says_so(open_tools: Open) -> None:
    tools = open_tools({"lib.py": "class A: ...\nclass B(A): ...\nclass C(A, B): ...\n"})

    assert "the bases of lib.C have no order" in answer_text(tools.get_class_info("C"))
    assert "cannot be made" not in answer_text(tools.get_class_info("B"))


def test_a_base_that_is_not_found_is_named(open_tools: Open) -> None:
    tools = open_tools({"lib.py": "from gone import Base\nclass A(Base):\n    pass\n"})

    assert tools.get_class_info("A").classes[0].unknown_bases == ("Base",)
    assert "Not found" in answer_text(tools.get_class_info("A"))


def test_code_is_found_by_what_it_is_about(open_tools: Open) -> None:
    tools = open_tools(
        {
            "lib/brew.py": "def steep(leaf, minutes):\n    'Steep a tea leaf in hot water.'\n",
            "lib/rate.py": "class RateLimiter:\n    'Limits requests.'\n    def wait(self): ...\n",
            "tests/test_brew.py": "def test_steep():\n    assert 'tea leaf in hot water'\n    1\n",
        }
    )

    assert tools.get_relevant_code("limit the rate of requests").snippets[0].name == "RateLimiter"
    snippets = tools.get_related_snippets("tea leaves steeped in water").snippets
    assert (snippets[0].file, snippets[0].start_line) == ("lib/brew.py", 1)
    assert "Steep a tea leaf" in snippets[0].source
    assert tools.get_relevant_code("zzz").snippets == ()


def test_orders_to_a_terminal_are_shown_and_not_obeyed(open_tools: Open) -> None:
    tools = open_tools({"lib.py": 'def go():\n    return "\x1b[31mred"\n'})

    text = answer_text(tools.get_method_body(None, "go"))

    assert "\\x1b[31mred" in text
    assert "\x1b" not in text
