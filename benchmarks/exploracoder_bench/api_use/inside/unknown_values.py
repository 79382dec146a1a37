"""The class of unknown values: operations are recorded, anything else ends the run."""

from __future__ import annotations

import random
import string
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from exploracoder_bench.api_use.inside.syntax_guard import FILE

if TYPE_CHECKING:
    from exploracoder_bench.api_use.inside.recorder import Recorder

# The number of ways values can look, one per run: a program's behaviour must not depend on it.
LOOKS = 3
# Operations that may be turned around (__radd__), and those that may not.
_TURNED = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift"
_OTHERS = "eq ne lt le gt ge getitem neg pos abs invert round trunc floor ceil"
# A real value would answer these or raise an error; which of the two is unknown.
_ASKED = (
    "float int complex index bytes hash len length_hint iter next reversed contains divmod rdivmod"
    " call enter exit setattr delattr setitem delitem instancecheck subclasscheck"
)
# What inserting a text into another one needs, and what Python needs of any object.
_FINE_OF_TEXTS = (
    "class delattr dir doc getattribute getnewargs getstate init init_subclass mod new reduce"
    " reduce_ex rmod setattr sizeof subclasshook"
)


def value_class(recorder: Recorder) -> type:
    """The class of one run's values. Its state lives in the recorder, not in the values."""
    text_type = text_class(recorder)

    def text(self: object, *_: object) -> str:
        return text_type(_looks(recorder, self))  # type: ignore[no-any-return] # it is a kind of str

    members: dict[str, Any] = {
        "__slots__": (),
        "__repr__": text,
        "__str__": text,
        "__format__": text,
        "__bool__": lambda self: recorder.decide(self),
        "__getattribute__": _attribute(recorder),
        "__copy__": lambda self: self,
        "__deepcopy__": lambda self, memo: self,
    }
    for name in f"{_TURNED} {_OTHERS}".split():
        members[f"__{name}__"] = _operation(recorder, name)
    for name in _TURNED.split():
        members[f"__r{name}__"] = _operation(recorder, name, is_turned=True)
    for name in _ASKED.split():
        members[f"__{name}__"] = _unknown(recorder, name)
    return type("value", (), members)


def text_class(recorder: Recorder) -> Any:
    """The class of values' texts: they may be shown and joined, but not inspected.

    A text that Python itself joins with others becomes a plain string; then only the looks, which
    differ from run to run, reveal that something was computed from it.
    """
    fine_names = {f"__{name}__" for name in _FINE_OF_TEXTS.split()}
    members: dict[str, Any] = {
        name: _unknown(recorder, f"text's {name.strip('_')}")
        for name in dir(str)
        if name not in fine_names
    }

    def joined(self: str, other: object) -> object:
        return text(str.__add__(self, other)) if isinstance(other, str) else NotImplemented

    def joined_after(self: str, other: object) -> object:
        return text(str.__add__(other, self)) if isinstance(other, str) else NotImplemented

    members |= {
        "__slots__": (),
        "__add__": joined,
        "__radd__": joined_after,
        "__str__": lambda self: self,
        "__repr__": lambda self: text(str.__repr__(self)),
        "__format__": lambda self, how: text(str.__format__(self, how)),
    }
    text: Any = type("text", (str,), members)
    return text


def _looks(recorder: Recorder, value: object) -> str:
    """A value's text: random, and of a different kind for each look.

    A negative number with a fraction, shared by all values; whole numbers; and no numbers.
    """
    number = 0 if recorder.look == 0 else recorder.number(value)
    rng = random.Random(f"{recorder.secret} {number}")
    if recorder.look == 0:
        return f"-{rng.randint(100, 999)}.{rng.randint(1000, 9999)}"
    if recorder.look == 1:
        return str(rng.randint(10**4, 10**5 - 1))
    letters = string.ascii_letters + string.punctuation
    return f"<{''.join(rng.choices(letters, k=rng.randint(20, 90)))}>"


def _operation(recorder: Recorder, name: str, *, is_turned: bool = False) -> Callable[..., object]:
    def operation(self: object, *others: object) -> object:
        operands = (*others, self) if is_turned else (self, *others)
        inputs = [[str(at), recorder.number(one)] for at, one in enumerate(operands)]
        return recorder.value("operation", name, inputs, "any")

    return operation


def _unknown(recorder: Recorder, what: str) -> Callable[..., object]:
    def ask(self: object, *_: object, **__: object) -> object:
        recorder.ask(what)

    return ask


def _attribute(recorder: Recorder) -> Callable[[object, str], object]:
    def find(self: object, name: str) -> object:
        # Standard modules such as copy need these names. A candidate can reach them only through
        # formats and patterns, and would see that the value is not real.
        if name.startswith("__") and sys._getframe(1).f_code.co_filename != FILE:
            return object.__getattribute__(self, name)
        return recorder.member(self, name)

    return find
