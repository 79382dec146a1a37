"""Which APIs a library publishes, and what is said of each."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from exploracoder_retrieval.errors import LibraryNotFound, UnreadableSource
from exploracoder_retrieval.harvest import harvest
from exploracoder_retrieval.library_python import Interpreter

from .conftest import ReadPackage, WritePackage, by_path


def test_a_function_is_described_with_signature_summary_examples_and_place(
    read_package: ReadPackage,
) -> None:
    result = read_package(
        {
            "brew/__init__.py": '''
            """Makes tea."""

            def steep(leaves, minutes: float = 3.5, *, water="hot", **more) -> str:
                """Steep :class:`Leaves` in ``water``, e.g. green
                tea. Then wait.

                >>> steep("oolong",
                ...       minutes=2)
                'tea'
                """
            '''
        }
    )

    doc = by_path(result)["brew.steep"]
    assert doc.kind == "function"
    assert doc.signature == "steep(leaves, minutes: float = 3.5, *, water='hot', **more) -> str"
    assert doc.summary == "Steep Leaves in water, e.g. green tea."
    assert doc.examples == ('steep("oolong",\n      minutes=2)',)
    assert doc.file is not None
    assert Path(doc.file).name == "__init__.py"
    assert doc.line == 4


def test_a_reexported_name_is_one_api_under_its_shortest_public_path(
    read_package: ReadPackage,
) -> None:
    result = read_package(
        {
            "brew/__init__.py": "from .pots import Pot as Pot\nfrom .pots import TeaPot\n",
            "brew/pots.py": "class Pot: ...\nclass TeaPot(Pot): ...\nclass Cup: ...\n",
            "brew/_hidden.py": "def secret(): ...\n",
        }
    )

    docs = by_path(result)
    assert set(docs) == {"brew.Pot", "brew.TeaPot", "brew.pots.Cup"}
    assert docs["brew.TeaPot"].aliases == ("brew.pots.TeaPot",)


def test_a_module_without_a_definition_publishes_what_it_imports_of_its_library(
    read_package: ReadPackage,
) -> None:
    result = read_package(
        {
            "brew/__init__.py": "",
            "brew/_pots.py": "class Pot: ...\n",
            "brew/pots.py": "from json import dumps\nfrom brew._pots import Pot\n",
            "brew/limits.py": "from brew._pots import Pot\nLIMIT = 3\n",
            "brew/a.py": "from brew.text import read as read\n",
            "brew/before.py": "from brew.text import read\n",
            "brew/private.py": "from brew._pots import Pot\ndef _f(): ...\n",
            "brew/hook.py": "from brew._hooks import hook\n__getattr__ = hook(__name__)\n",
            "brew/_hooks.py": "def hook(name): ...\n",
            "brew/text.py": """
            from json import dumps as dumps
            from pytest import approx as approx, fixture
            def read(): ...
            """,
        }
    )

    docs = by_path(result)
    assert set(docs) == {"brew.pots.Pot", "brew.limits.LIMIT", "brew.text.approx", "brew.text.read"}
    assert docs["brew.pots.Pot"].aliases == ()
    assert docs["brew.text.read"].aliases == ("brew.a.read", "brew.before.read")


def test_dunder_all_decides_what_a_module_publishes(read_package: ReadPackage) -> None:
    result = read_package(
        {
            "brew/__init__.py": """
            from .pots import *
            from . import pots
            from json import dumps
            __all__ = ["dumps"]
            __all__ += pots.__all__
            __all__.extend(["whisk"])
            def whisk(): ...
            def helper(): ...
            """,
            "brew/pots.py": "__all__ = ['Pot']\nclass Pot: ...\nclass Cup: ...\n",
        }
    )

    assert set(by_path(result)) == {"brew.Pot", "brew.dumps", "brew.whisk"}


def test_a_name_that_a_decorator_registers_becomes_an_alias(read_package: ReadPackage) -> None:
    result = read_package(
        {
            "pipes.py": """
            def functional(name): return lambda cls: cls

            @functional("batch")
            class Batcher:
                def __init__(self, datapipe, batch_size: int, drop_last: bool = False) -> None:
                    \"\"\"Make it.\"\"\"

            @functional("two words")
            class Other: ...
            """
        }
    )

    docs = by_path(result)
    assert docs["pipes.Batcher"].aliases == (".batch",)
    assert (
        docs["pipes.Batcher"].signature
        == "Batcher(datapipe, batch_size: int, drop_last: bool = False) -> None"
    )
    assert docs["pipes.Other"].aliases == ()


def test_data_classes_have_their_fields_as_parameters_and_attributes(
    read_package: ReadPackage,
) -> None:
    result = read_package(
        {
            "orders.py": """
            from dataclasses import dataclass, field
            from enum import Enum
            from typing import ClassVar
            from pydantic import BaseModel, Field

            @dataclass
            class Order:
                item: str
                tags: list[str] = field(default_factory=list)
                total: int = field(init=False)
                currency: ClassVar[str] = "EUR"

            @dataclass(kw_only=True)
            class Rush(Order):
                hours: int = 2

            class Reply(BaseModel):
                text: str = Field(description="what was said")
                score: float = 0.0

            class Size(Enum):
                SMALL = 1

            class Plain:
                bookkeeping: int
            """
        }
    )

    docs = by_path(result)
    assert docs["orders.Order"].signature == "Order(item: str, tags: list[str] = ...)"
    assert (
        docs["orders.Rush"].signature == "Rush(item: str, tags: list[str] = ..., *, hours: int = 2)"
    )
    assert docs["orders.Reply"].signature == "Reply(*, text: str, score: float = 0.0)"
    assert docs["orders.Order.item"].kind == "attribute"
    assert docs["orders.Order.item"].signature == "Order.item: str"
    assert "orders.Size.SMALL" in docs
    assert "orders.Plain.bookkeeping" not in docs


def test_constants_of_an_ordinary_class_are_attributes(read_package: ReadPackage) -> None:
    result = read_package(
        {
            "brew.py": """
            class By:
                NAME = "name"
                T = TypeVar("T")
                LOGGER = getLogger(__name__)
                _KEY = cache = None

            class ByNow(By): ...
            """
        }
    )

    docs = by_path(result)
    assert set(docs) == {"brew.By", "brew.By.NAME", "brew.ByNow"}
    assert docs["brew.By.NAME"].signature == "By.NAME = 'name'"


@pytest.mark.parametrize(
    ("source", "call"),
    [
        (
            """
            @attr.s(kw_only=False)
            class Tea:
                LIMIT = 3
                origin: str = "anywhere"
                kind = attr.ib()
                grams = attr.ib(default=2.5, type=float)
                _pot = attr.ib(factory=dict, kw_only=True)
                size = attr.ib()
                @size.default
                def _size(self): ...
            """,
            "Tea(kind, grams: float = 2.5, size=..., *, pot=...)",
        ),
        (
            """
            @attrs.define
            class Tea:
                kind: str
                grams: int = attrs.field(default=3, alias="weight")
            """,
            "Tea(kind: str, weight: int = 3)",
        ),
        (
            """
            @attrs.define
            class Tea:
                origin: str = "anywhere"
                kind = attrs.field()
            """,
            "Tea(kind)",
        ),
        ("class Tea(namedtuple('Tea', 'kind, grams', defaults=[3])): ...", "Tea(kind, grams=3)"),
        ("class Tea(namedtuple('Tea', ('kind', 'grams'))): ...", "Tea(kind, grams)"),
        (
            "class Tea(typing.NamedTuple('Tea', [('kind', str), ('grams', int)])): ...",
            "Tea(kind: str, grams: int)",
        ),
        (
            """
            class Tea(pydantic.BaseModel):
                kind: str = pydantic.Field(alias="sort")
                grams: int = pydantic.Field(3, validation_alias="weight", alias="mass")
                sugar: int = pydantic.Field(0, alias="no-name")
            """,
            "Tea(*, sort: str, weight: int = 3, sugar: int = 0)",
        ),
        (
            """
            class Tea(pydantic.BaseModel):
                origin: str = pydantic.Field(alias="from")
                kind: str = pydantic.Field("green", validation_alias="class")
                pot: str = pydantic.Field("", alias=Pot)
                mug: str = pydantic.Field("", alias=True)
            """,
            "Tea(*, origin: str, kind: str = 'green', pot: str = '', mug: str = '')",
        ),
    ],
    ids=[
        *("attr.s", "define", "define without types", "text", "names", "typed", "pydantic"),
        "aliases that Python cannot call by",
    ],
)
def test_a_generated_constructor_takes_what_its_maker_says(
    source: str, call: str, read_package: ReadPackage
) -> None:
    docs = by_path(read_package({"brew.py": "import attr, attrs\n" + textwrap.dedent(source)}))

    assert docs["brew.Tea"].signature == call


@pytest.mark.parametrize(
    ("source", "call"),
    [
        ("class Tea(dict): ...", "Tea(*args, **kwargs)"),
        ("class Tea(nowhere.Base): ...", "Tea(*args, **kwargs)"),
        ("class Tea(dict):\n    'Tea(kind)\\n\\nA tea.'", "Tea(kind)"),
        ("class Tea(dict):\n    def __init__(self, kind): ...", "Tea(kind)"),
        ("class Tea(abc.ABC): ...", "Tea()"),
        ("class Tea(typing.TypedDict):\n    kind: str", "Tea(*, kind: str)"),
    ],
)
def test_a_class_is_called_with_what_is_known_of_its_arguments(
    source: str, call: str, read_package: ReadPackage
) -> None:
    result = read_package({"brew.py": f"import abc, nowhere, typing\n{source}\n"})

    assert by_path(result)["brew.Tea"].signature == call


def test_a_result_has_its_fields_whatever_its_constructor_calls_them(
    read_package: ReadPackage,
) -> None:
    result = read_package(
        {
            "brew.py": """
            class Tea(pydantic.BaseModel):
                kind: str = pydantic.Field(alias="sort")

            def steep() -> Tea: ...
            """
        }
    )

    assert by_path(result)["brew.steep"].notes == ("Tea has: kind: str",)


def test_a_class_with_two_bases_is_made_as_python_makes_it(read_package: ReadPackage) -> None:
    result = read_package(
        {
            "brew/__init__.py": """
            class Vessel:
                def __init__(self, size): ...
                def pour(self): "Pour out of a vessel."

            class Warm(Vessel): ...

            class Painted:
                def __init__(self, colour): ...
                def pour(self): "Pour without a drop on the paint."

            class PaintedVessel(Painted, Vessel): ...

            class Pot(Warm, Painted): ...

            class TeaPot(Warm, PaintedVessel): ...

            class Impossible(Vessel, Warm): ...
            """
        }
    )

    docs = by_path(result)
    assert docs["brew.Pot"].signature == "Pot(size)"
    assert docs["brew.Pot.pour"].summary == "Pour out of a vessel."
    assert docs["brew.TeaPot"].signature == "TeaPot(colour)"
    assert docs["brew.Impossible"].signature == "Impossible(size)"
    (problem,) = docs["brew.Impossible"].notes
    assert "the bases of brew.Impossible have no order" in problem


def test_the_init_of_a_class_is_the_one_that_python_calls(read_package: ReadPackage) -> None:
    result = read_package(
        {
            "brew.py": """
            from dataclasses import dataclass, field

            class Named:
                def __init__(self, name): ...

            @dataclass
            class Leaf:
                kind: str
                grams: float = field(default=2.5, repr=False)

            class Blend(Leaf):
                parts: int

            @dataclass
            class Sample(Named, Leaf):
                number: int = 0

            class Label(Named, Leaf): ...

            class Round(Square): ...
            class Square(Round): ...
            """
        }
    )

    docs = by_path(result)
    assert docs["brew.Leaf"].signature == "Leaf(kind: str, grams: float = 2.5)"
    assert docs["brew.Blend"].signature == "Blend(kind: str, grams: float = 2.5)"
    assert docs["brew.Sample"].signature == "Sample(kind: str, grams: float = 2.5, number: int = 0)"
    assert docs["brew.Label"].signature == "Label(name)"
    assert "inherits from itself" in docs["brew.Round"].notes[0]


def test_notes_say_what_source_says_beside_the_text(read_package: ReadPackage) -> None:
    result = read_package(
        {
            "brew.py": """
            from dataclasses import dataclass
            from enum import Enum
            from typing import Literal

            Heat = Literal["low", "high"]
            _METHODS = {"western": 1, "gongfu": 2}

            class Colour(Enum):
                GREEN = 1
                BLACK = "b"

            @dataclass
            class Cup:
                volume: float
                colour: Colour = Colour.GREEN

            class Pot:
                size: int
                def __init__(self, label: str, size):
                    self.label = label
                    self.size, self._lid = size, None
                @property
                def cups(self) -> list[Cup]: ...
                def pour(self, how="slow") -> "Cup":
                    if how not in ("slow", "fast"):
                        raise ValueError(how)

            def steep(pot: Pot, heat: Heat | None = None, method="western", mode="a") -> Pot:
                if mode == "a":
                    return pot
                elif mode == "b":
                    raise KeyError
                return _METHODS[method]
            """
        }
    )

    docs = by_path(result)
    assert docs["brew.Colour"].notes == ("Members: GREEN = 1, BLACK = 'b'",)
    assert docs["brew.Pot"].notes == ("Attributes: size: int, cups: list[Cup], label: str",)
    assert docs["brew.Pot.pour"].notes == (
        "how is one of: 'slow', 'fast'",
        "Raises: ValueError",
        "Cup has: volume: float, colour: Colour",
    )
    assert docs["brew.steep"].notes == (
        "heat is one of: 'low', 'high'",
        "method is one of: 'western', 'gongfu'",
        "mode is one of: 'a', 'b'",
        "Raises: KeyError",
        "Pot has: size: int, cups: list[Cup], label",
    )


def test_signatures_and_notes_tell_what_is_awaited_and_entered(read_package: ReadPackage) -> None:
    result = read_package(
        {
            "radio/__init__.py": """
            from contextlib import asynccontextmanager, contextmanager
            from typing import AsyncIterator, Generator, Iterator

            class Set:
                async def __aenter__(self): ...
                async def tune(self): ...
                async def strength(self, lock) -> "float": ...
                async def listen(self, hours):
                    def inner():
                        yield 1
                    async for tick in self.ticks():
                        yield tick
                async def ticks(self) -> AsyncIterator[int]:
                    yield 1
                async def made(self):
                    return (lambda: (yield))

            class File:
                def __enter__(self): ...

            class Session:
                def __enter__(self):
                    raise TypeError("Use async with instead")
                async def __aenter__(self): ...
                @property
                async def level(self) -> float: ...

            @async_to_sync
            async def count() -> int: ...

            @asynccontextmanager
            async def session(url) -> AsyncIterator[dict[str, int]]:
                yield {}

            @contextmanager
            def muted() -> Generator[None, None, None]:
                yield

            @contextmanager
            def loud():
                yield
            """
        }
    )

    docs = by_path(result)
    assert {path: doc.signature for path, doc in docs.items() if doc.kind != "class"} == {
        "radio.Set.tune": "Set.tune() -> Awaitable",
        "radio.Set.strength": "Set.strength(lock) -> Awaitable[float]",
        "radio.Set.listen": "Set.listen(hours) -> AsyncIterator",
        "radio.Set.ticks": "Set.ticks() -> AsyncIterator[int]",
        "radio.Set.made": "Set.made() -> Awaitable",
        "radio.session": "session(url) -> AsyncContextManager[dict[str, int]]",
        "radio.muted": "muted() -> ContextManager[None]",
        "radio.loud": "loud() -> ContextManager",
        "radio.count": "count() -> int",
        "radio.Session.level": "Session.level: Awaitable[float]",
    }
    assert docs["radio.Set"].notes == ("Use with: async with",)
    assert docs["radio.File"].notes == ("Use with: with",)
    assert "Use with: async with" in docs["radio.Session"].notes


def test_notes_are_short(read_package: ReadPackage) -> None:
    fields = "\n".join(f"        self.attribute_number_{number} = 0" for number in range(90))
    result = read_package({"brew.py": f"class Pot:\n    def __init__(self):\n{fields}\n"})

    (note,) = by_path(result)["brew.Pot"].notes
    assert note.endswith(", …")
    assert len(note) < 310


def test_methods_properties_and_inherited_members_are_listed_under_the_public_class(
    read_package: ReadPackage,
) -> None:
    result = read_package(
        {
            "brew/__init__.py": "from ._pots import Pot\n",
            "brew/_pots.py": '''
            import functools
            from ._base import _Vessel
            from collections import UserDict

            class Pot(_Vessel, UserDict):
                @property
                def volume(self) -> float:
                    """How much fits in."""

                @functools.cached_property
                def label(self): ...

                def pour(self): ...

                decant = pour

                @classmethod
                def of(cls, size: int) -> "Pot": ...

                @staticmethod
                def largest(*pots): ...
            ''',
            "brew/_base.py": '''
            class _Vessel:
                def fill(self, litres: float) -> None:
                    """Fill it up."""
                def pour(self):
                    """Pour it out."""
            ''',
        }
    )

    docs = by_path(result)
    assert set(docs) == {
        "brew.Pot",
        "brew.Pot.fill",
        "brew.Pot.label",
        "brew.Pot.largest",
        "brew.Pot.of",
        "brew.Pot.pour",
        "brew.Pot.volume",
    }
    assert docs["brew.Pot.volume"].kind == "property"
    assert docs["brew.Pot.volume"].signature == "Pot.volume: float"
    assert docs["brew.Pot.fill"].signature == "Pot.fill(litres: float) -> None"
    assert docs["brew.Pot.of"].signature == "Pot.of(size: int) -> Pot"
    assert docs["brew.Pot.largest"].signature == "Pot.largest(*pots)"
    assert docs["brew.Pot.pour"].summary == "Pour it out."
    assert docs["brew.Pot.pour"].aliases == ("brew.Pot.decant",)


def test_overloads_in_a_stub_are_shown_one_a_line(read_package: ReadPackage) -> None:
    result = read_package(
        {
            "brew/__init__.py": "",
            "brew/__init__.pyi": """
            from typing import overload
            from ._cups import Cup as Cup, Saucer
            @overload
            def steep(leaves: int) -> int: ...
            @overload
            def steep(leaves: str) -> str: ...
            _private: int
            """,
            "brew/_cups.pyi": "class Cup: ...\nclass Saucer: ...\n",
        }
    )

    docs = by_path(result)
    assert set(docs) == {"brew.steep", "brew.Cup"}
    assert docs["brew.steep"].signature == "steep(leaves: int) -> int\nsteep(leaves: str) -> str"


def test_code_gives_the_docstring_and_its_stub_the_types(read_package: ReadPackage) -> None:
    result = read_package(
        {
            "brew.py": 'def steep(leaves, minutes=3):\n    """Steep the leaves."""\n',
            "brew.pyi": "def steep(leaves: str, minutes: int = ...) -> str: ...\n",
        }
    )

    doc = by_path(result)["brew.steep"]
    assert doc.signature == "steep(leaves: str, minutes: int = 3) -> str"
    assert doc.summary == "Steep the leaves."


def test_a_stub_says_what_is_awaited_if_it_gives_the_types(read_package: ReadPackage) -> None:
    result = read_package(
        {
            "brew.py": "async def steep(leaves): ...\ndef pour(): ...\n",
            "brew.pyi": (
                "def steep(leaves: str) -> Coroutine[None, None, int]: ...\n"
                "async def pour() -> int: ...\n"
            ),
        }
    )

    docs = by_path(result)
    assert docs["brew.steep"].signature == "steep(leaves: str) -> Coroutine[None, None, int]"
    assert docs["brew.pour"].signature == "pour() -> Awaitable[int]"


def test_names_fetched_on_demand_are_documented_from_where_they_are_defined(
    read_package: ReadPackage,
) -> None:
    result = read_package(
        {
            "brew/__init__.py": "def __getattr__(name): ...\n__all__ = ('Pot',)\n",
            "brew/__init__.pyi": "class Pot:\n    def pour(self, cups: int) -> None: ...\n",
            "brew/_pots.py": 'class Pot:\n    """A pot."""\n    def pour(self, cups):\n'
            '        """Pour it."""\n',
        }
    )

    docs = by_path(result)
    assert docs["brew.Pot"].summary == "A pot."
    assert docs["brew.Pot.pour"].summary == "Pour it."
    assert docs["brew.Pot.pour"].signature == "Pot.pour(cups: int) -> None"


def test_names_that_lists_hide_are_published_when_a_stub_declares_them(
    read_package: ReadPackage,
) -> None:
    result = read_package(
        {
            "brew/__init__.py": "from ._core import *\n__all__ = list({*_core.__all__, 'Pot'})\n",
            "brew/__init__.pyi": "from ._core import steep as steep\nclass Pot:\n    size: int\n",
            "brew/_core.py": "from ._leaves import *\n__all__ = []\nextend(__all__)\n",
            "brew/_core.pyi": "from ._leaves import steep as steep\n",
            "brew/_leaves.py": "__all__ = ['steep']\ndef steep(leaves):\n    'Steep them.'\n",
            "brew/_leaves.pyi": "def steep(leaves: str) -> str: ...\n",
        }
    )

    docs = by_path(result)
    assert docs["brew.steep"].signature == "steep(leaves: str) -> str"
    assert docs["brew.steep"].summary == "Steep them."
    assert docs["brew.Pot.size"].signature == "Pot.size: int"


def test_methods_that_calls_make_are_known_by_their_stub(read_package: ReadPackage) -> None:
    result = read_package(
        {
            "brew.py": "class Pot:\n    pour, fill = make(2)\n    heat = wrap(other)\n",
            "brew.pyi": "class Pot:\n    def pour(self) -> None: ...\n"
            "    def heat(self, degrees: int) -> None: ...\n",
        }
    )

    docs = by_path(result)
    assert docs["brew.Pot.pour"].kind == "method"
    assert docs["brew.Pot.heat"].signature == "Pot.heat(degrees: int) -> None"


def test_docstrings_that_decorators_give_are_found(read_package: ReadPackage) -> None:
    result = read_package(
        {
            "brew.py": '''
            _text = "Brew a {drink} slowly."
            _texts = {}
            _texts["pour"] = "Pour %(what)s out."
            def doc(*parts, **words): return lambda f: f

            @doc(_text, drink="tea")
            def steep(): ...

            @doc(_texts["pour"] % {"what": "it"})
            def pour(): ...

            @doc(steep)
            def again(): ...

            class Methods:
                def upper(self):
                    """In capitals."""

            class Label:
                text = Accessor("text", Methods)
            '''
        }
    )

    docs = by_path(result)
    assert docs["brew.steep"].summary == "Brew a tea slowly."
    assert docs["brew.pour"].summary == "Pour out."
    assert docs["brew.Label.text"].kind == "property"
    assert docs["brew.Label.text.upper"].signature == "Label.text.upper()"


def test_private_tests_vendored_and_type_checking_names_are_left_out(
    read_package: ReadPackage,
) -> None:
    result = read_package(
        {
            "brew/__init__.py": """
            from typing import TYPE_CHECKING, TypeVar
            import logging
            if TYPE_CHECKING:
                from .pots import Pot
            T = TypeVar("T")
            logger = logging.getLogger(__name__)
            LIMIT = 3
            """,
            "brew/pots.py": "class Pot: ...\n",
            "brew/tests/test_pots.py": "def test_it(): ...\n",
            "brew/_vendor/six.py": "def u(): ...\n",
            "brew/conftest.py": "def fixture(): ...\n",
        }
    )

    assert set(by_path(result)) == {"brew.LIMIT", "brew.pots.Pot"}


def test_modules_that_a_package_does_not_list_are_its_own_business(
    read_package: ReadPackage,
) -> None:
    result = read_package(
        {
            "brew/__init__.py": "__all__ = ['api']\n",
            "brew/api.py": "def steep(): ...\n",
            "brew/core/__init__.py": "",
            "brew/core/engine.py": "def turn(): ...\n",
            "brew/extra.py": "__all__ = ['more']\ndef more(): ...\n",
        }
    )

    assert set(by_path(result)) == {"brew.api.steep", "brew.extra.more"}


def test_unicode_names_and_texts_survive(read_package: ReadPackage) -> None:
    result = read_package({"café.py": 'def brühe(größe=1):\n    """Brüht 茶 auf."""\n'})

    doc = by_path(result)["café.brühe"]
    assert doc.signature == "brühe(größe=1)"
    assert doc.summary == "Brüht 茶 auf."


def test_a_library_without_any_docstring_is_harvested(read_package: ReadPackage) -> None:
    result = read_package({"brew.py": "def steep_leaves(minutes): ...\n"})

    assert result.library.overview == ""
    assert by_path(result)["brew.steep_leaves"].summary == ""


def test_a_src_layout_has_the_version_and_readme_of_its_project(
    read_package: ReadPackage,
) -> None:
    result = read_package(
        {
            "pyproject.toml": '[project]\nname = "tea-brew"\nversion = "2.1"\n[tool.x]\n',
            "README.md": "# Brew\n\nSteep some tea:\n\n```python\nimport brew\nbrew.steep()\n```\n",
            "src/brew/__init__.py": 'def steep():\n    """Steep.\n\n    >>> steep()\n    """\n',
            "tests/test_brew.py": "",
            "examples/two_cups.py": "import brew\nbrew.steep()\nbrew.steep()\n",
        }
    )

    library = result.library
    assert (library.name, library.import_name, library.version) == ("brew", "brew", "2.1")
    assert library.source == "folder"
    assert library.overview.startswith("# Brew")
    assert [(each.title, each.origin) for each in library.examples] == [
        ("Steep some tea", "README"),
        ("two cups", "examples/two_cups.py"),
        ("Steep.", "brew.steep"),
    ]


def test_deprecated_is_what_a_decorator_or_a_directive_calls_so(
    read_package: ReadPackage,
) -> None:
    docs = by_path(
        read_package(
            {
                "brew.py": """
                    import typing_extensions as te
                    from warnings import deprecated

                    @deprecated("Use pour_all.")
                    def pour(): ...

                    @te.deprecated("Made " + "up.")
                    class Pot:
                        def fill(self):
                            '''Fill it.

                            .. deprecated:: 2.0
                                Use pour.
                            '''

                    def stir(cups):
                        '''Stir, as the deprecated whisk did.

                        Parameters
                        ----------
                        cups : int
                            .. deprecated:: 1.0
                        '''
                """
            }
        )
    )

    assert docs["brew.pour"].notes[0] == "Deprecated: Use pour_all."
    assert {path for path, doc in docs.items() if doc.is_deprecated} == {
        "brew.pour",
        "brew.Pot",
        "brew.Pot.fill",
    }


def test_an_example_for_another_version_names_what_is_not_there(
    read_package: ReadPackage,
) -> None:
    result = read_package(
        {
            "pyproject.toml": '[project]\nname = "brew"\nversion = "2"\n',
            "src/brew/__init__.py": """
                import json
                from brew import core
                from brew.core import Pot, pour
                _SECRET = 1
                LIMIT = 2
            """,
            "src/brew/core.py": """
                class Pot: ...
                def pour(cups):
                    '''Pour.'''
            """,
            "src/brew/late.py": """
                def __getattr__(name): ...
            """,
            "examples/old.py": """
                import brew
                import brew.late
                from brew.core import pour, pour_all
                pour(brew.LIMIT + brew._SECRET)
                brew.steep(brew.Pot().lid, brew.core.Pot, brew.json, brew.late.any)
            """,
            "examples/new.py": """
                from brew import core, pour
                pour(core.Pot().no_matter)
            """,
        }
    )

    missing = {each.origin: each.missing for each in result.library.examples}
    assert missing["examples/old.py"] == ("brew.core.pour_all", "brew.steep")
    assert missing["examples/new.py"] == ()
    mentions = by_path(result)["brew.pour"].mentions
    assert {each.missing for each in mentions} == {(), ("brew.core.pour_all", "brew.steep")}


def test_a_single_file_is_a_library(write_package: WritePackage, interpreter: Interpreter) -> None:
    root = write_package({"brew.py": '"""Makes tea."""\n__version__ = "7"\ndef steep(): ...\n'})

    library = harvest(root / "brew.py", interpreter).library

    assert (library.source, library.version, library.overview) == ("module", "7", "Makes tea.")


def test_an_installed_distribution_is_found_by_both_of_its_names(interpreter: Interpreter) -> None:
    by_distribution = harvest("PyStemmer", interpreter).library
    by_import = harvest("Stemmer", interpreter).library

    assert by_distribution == by_import
    assert by_import.import_name == "Stemmer"
    assert by_import.version


@pytest.mark.parametrize("module", ["math", "zlib", "_json"])
def test_a_compiled_module_is_asked_in_a_process(module: str, interpreter: Interpreter) -> None:
    result = harvest(module, interpreter)

    assert result.docs
    assert any(doc.summary for doc in result.docs)


def test_signatures_of_compiled_functions_are_kept(interpreter: Interpreter) -> None:
    doc = by_path(harvest("math", interpreter))["math.isclose"]

    assert doc.signature == "isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0)"


def test_a_damaged_compiled_module_is_skipped(
    write_package: WritePackage, interpreter: Interpreter
) -> None:
    interpreter = replace(interpreter, imports_named=True)
    root = write_package({"brew/__init__.py": "def steep(): ...\nfrom ._fast import whirl\n"})
    (root / "brew" / "_fast.so").write_bytes(b"not a library")

    result = harvest(root, interpreter)

    assert [doc.path for doc in result.docs] == ["brew.steep"]
    assert result.skipped[0].name == "brew._fast"
    assert "cannot be imported" in result.skipped[0].reason


def test_an_unknown_library_names_the_nearest_installed_ones(interpreter: Interpreter) -> None:
    with pytest.raises(LibraryNotFound, match=r"Did you mean .*pydantic.*--python"):
        harvest("pydantik", interpreter)


def test_a_missing_path_is_said_to_be_missing(interpreter: Interpreter, tmp_path: Path) -> None:
    with pytest.raises(LibraryNotFound, match="There is no "):
        harvest(tmp_path / "nowhere", interpreter)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"notes.txt": "hello"}, "holds no Python package"),
        ({"a/__init__.py": "", "b/__init__.py": ""}, r"several libraries \(a, b\)"),
        ({"brew/__init__.py": "def (:\n"}, "brew cannot be read: .*line 1"),
    ],
)
def test_a_folder_that_is_no_readable_library_is_refused(
    files: dict[str, str], message: str, read_package: ReadPackage
) -> None:
    with pytest.raises(UnreadableSource, match=message):
        read_package(files)


LAZY_CLIENT = {
    "brew/_client.py": """
    class Client:
        def steep(self): ...
    def connect(): ...
    def hidden(): ...
    """,
}


@pytest.mark.parametrize(
    "source",
    [
        """
        __all__ = ["Client", "connect"]
        _PLACES = {"Client": "._client", "connect": "._client"}
        def __getattr__(name):
            return getattr(import_module(_PLACES[name], __name__), name)
        """,
        """
        _PLACES: dict[str, tuple[str, str]] = {
            "Client": ("_client", "Client"), "connect": ("brew._client", "connect"),
        }
        __all__ = list(_PLACES.keys())
        def __getattr__(name):
            module, attribute = _PLACES[name]
            return getattr(import_module(module, __name__), attribute)
        """,
        """
        __all__ = ("Client", "connect")
        __getattr__ = lazily(__name__, {"Client": "brew._client:Client",
                                        "connect": "brew._client.connect"})
        """,
        """
        import lazy_loader as lazy
        __getattr__, __dir__, __all__ = lazy.attach(
            __name__, submodules={"pots"}, submod_attrs={"_client": ["Client", "connect"]}
        )
        """,
        """
        import sys
        from typing import TYPE_CHECKING
        _import_structure = {"_client": ["Client", "connect"]}
        if TYPE_CHECKING:
            from ._client import Client, connect
        else:
            sys.modules[__name__] = _LazyModule(__name__, _import_structure)
        """,
    ],
    ids=["names", "pairs", "call", "lazy_loader", "lazy module"],
)
def test_what_a_package_loads_when_it_is_asked_for_is_public(
    source: str, read_package: ReadPackage
) -> None:
    result = read_package({"brew/__init__.py": source, **LAZY_CLIENT})

    assert set(by_path(result)) == {"brew.Client", "brew.Client.steep", "brew.connect"}
