"""Where a class goes in a file's text."""

from __future__ import annotations

import ast
import sys

import pytest
from exploracoder.engine.running.placing import placed

FILE = '''\
"""Brewing."""

from __future__ import annotations

import math


@final
class Kettle:
    """To be written."""


def steep(leaf):
    return math.ceil(leaf.strength)
'''
CLASS = "from tealeaf.leaves import Leaf\n\n\nclass Kettle:\n    size = 1\n"
TYPES_SINCE_3_12 = ["type Pots = list[Kettle]\n", "def brew[T: Kettle](pot):\n    pass\n"]


def test_a_class_that_is_there_is_replaced_with_its_decorators() -> None:
    text = placed(FILE, CLASS, "Kettle")

    assert "To be written" not in text
    assert "@final" not in text
    assert text.index("import math") < text.index("size = 1") < text.index("def steep")
    assert text.endswith("return math.ceil(leaf.strength)\n")


@pytest.mark.parametrize("source", ["", '"""Brewing."""\n', FILE])
def test_a_class_that_is_not_there_goes_to_the_end(source: str) -> None:
    text = placed(source, CLASS.replace("Kettle", "Pot"), "Pot")

    assert text.startswith(source.rstrip("\n"))
    assert text.endswith("class Pot:\n    size = 1\n")


@pytest.mark.parametrize(
    "need",
    [
        "@cache\nclass Samovar(Kettle):\n    pass\n",
        "def brew(pot=Kettle()):\n    pass\n",
        "async def brew() -> list[Kettle]:\n    pass\n",
        "if True:\n    spare = [lambda pot=Kettle: pot]\n",
        "spare: Kettle = None\n",
        "spare = " + "+".join(["0"] * 900) + "+ Kettle.size\n",
        "first = 1; spare = Kettle()\n",
        "@(\n    Kettle\n)\ndef brew():\n    pass\n",
        "# Spares.\nspare = Kettle()\n",
    ],
)
def test_a_class_that_is_not_there_goes_before_what_needs_it_on_import(need: str) -> None:
    source = f"from functools import cache\n\n\f\ndef late():\n    return Kettle()\n\n\f\n{need}"

    text = placed(source, CLASS, "Kettle")

    compile(text, "kettle.py", "exec")
    assert text.index("return Kettle()") < text.index("class Kettle") < text.index(need)


@pytest.mark.parametrize(
    "source",
    [
        "Kettle = None\n",
        "from __future__ import annotations\n\n\ndef brew(pot: Kettle) -> Kettle:\n    pass\n",
        "from __future__ import annotations\n\nspare: Kettle\n",
        "brew = lambda: Kettle()\n",
        "if TYPE_CHECKING:\n    Pots = list[Kettle]\n",
        "if typing.TYPE_CHECKING:\n    Pots = list[Kettle]\n",
        *(TYPES_SINCE_3_12 if sys.version_info >= (3, 12) else ()),
    ],
)
def test_what_only_later_needs_a_class_does_not_move_it_from_the_end(source: str) -> None:
    assert placed(source, CLASS, "Kettle").endswith("class Kettle:\n    size = 1\n")


def test_annotations_that_the_class_itself_defers_do_not_move_it_from_the_end() -> None:
    code = f"from __future__ import annotations\n{CLASS}"

    text = placed("def brew(pot: Kettle):\n    pass\n", code, "Kettle")

    assert text.endswith("class Kettle:\n    size = 1\n")


@pytest.mark.parametrize("source", ["", "import math\n", '"""Brewing."""\nimport math\n', FILE])
def test_imports_from_the_future_stay_where_python_wants_them(source: str) -> None:
    text = placed(source, f"from __future__ import annotations\n{CLASS}", "Kettle")

    compile(text, "kettle.py", "exec")
    assert text.count("from __future__") == 1
    assert ast.get_docstring(ast.parse(text)) == ("Brewing." if "Brewing" in source else None)


def test_what_is_not_python_is_put_in_as_it_is() -> None:
    assert "class Kettle(:" in placed(FILE, "class Kettle(:\n    pass", "Kettle")
