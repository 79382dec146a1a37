"""Describes compiled modules as stub source text; run as a cell, sandboxed, in the user's Python.

Standard library only, Python 3.9 and newer. `answer_all` writes one line of JSON for each module,
``{"name", "stub"}`` or ``{"name", "error"}``, so that a crash does not lose earlier answers.
"""

import importlib
import importlib.util
import inspect
import json
import keyword
import os
import sys
import types
import warnings
from pathlib import Path
from typing import Any


def answer_all(modules: dict[str, Any]) -> None:
    """Answer for each module, given by name with its file, or None to import it by name."""
    sys.stdout.flush()
    # Anything the modules print while they are imported must not mix with the answers.
    with os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace") as answers:
        os.dup2(2, 1)
        warnings.simplefilter("ignore")
        for name, path in modules.items():
            answers.write(json.dumps(answer(name, path)) + "\n")
            answers.flush()
        os.dup2(answers.fileno(), 1)


def answer(name: str, path: Any) -> dict[str, str]:
    try:
        module = importlib.import_module(name) if path is None else load_alone(name, path)
        return {"name": name, "stub": describe_module(module)}
    except BaseException as error:  # noqa: BLE001 - whatever an import raises is the answer
        return {"name": name, "error": f"{type(error).__name__}: {error}"[:300]}


def load_alone(name: str, path: str) -> Any:
    """Import an extension without running the __init__ of its parent packages."""
    parts = name.split(".")[:-1]
    folder = Path(path).parent
    for depth in range(len(parts), 0, -1):
        parent = ".".join(parts[:depth])
        if parent not in sys.modules:
            package = types.ModuleType(parent)
            package.__path__ = [str(folder)]
            sys.modules[parent] = package
        folder = folder.parent
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is no extension module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def describe_module(module: Any) -> str:
    lines = docstring(module, 0)
    for name, value in sorted(vars(module).items()):
        if not is_name(name) or name.startswith("__") or inspect.ismodule(value):
            continue
        # A Python function imported from elsewhere is described where it is defined.
        if inspect.isfunction(value) and value.__module__ != module.__name__:
            continue
        if inspect.isclass(value):
            lines += describe_class(name, value, 0, (value,))
        elif callable(value):
            lines += describe_function(name, value, 0, ())
        else:
            lines.append(f"{name}: {type_name(value)}")
    return "\n".join(lines) + "\n"


def describe_class(name: str, cls: Any, depth: int, owners: tuple[Any, ...]) -> list[str]:
    bases = [b.__name__ for b in cls.__bases__ if b is not object and is_name(b.__name__)]
    head = "class {}({}):".format(name, ", ".join(bases)) if bases else f"class {name}:"
    lines = [indent(depth) + head] + (docstring(cls, depth + 1) or [indent(depth + 1) + "pass"])
    call = signature_of(cls)
    if call is not None:
        lines.append("{}def __init__({}): ...".format(indent(depth + 1), join("self", call)))
    for member, value in sorted(vars(cls).items()):
        if is_name(member) and not member.startswith("_"):
            lines += describe_member(member, value, getattr(cls, member, value), depth + 1, owners)
    return lines


def describe_member(
    name: str, raw: Any, value: Any, depth: int, owners: tuple[Any, ...]
) -> list[str]:
    if isinstance(raw, staticmethod):
        return describe_function(name, value, depth, (), "@staticmethod")
    if isinstance(raw, (classmethod, types.ClassMethodDescriptorType)):
        return describe_function(name, value, depth, ("cls",), "@classmethod")
    if isinstance(raw, (property, types.GetSetDescriptorType, types.MemberDescriptorType)):
        head = [f"{indent(depth)}@property", f"{indent(depth)}def {name}(self):"]
        return head + (docstring(raw, depth + 1) or [indent(depth + 1) + "..."])
    if inspect.isclass(value):
        own = value.__qualname__.rpartition(".")[0] and value not in owners and len(owners) < 4
        return describe_class(name, value, depth, (*owners, value)) if own else []
    if callable(value):
        return describe_function(name, value, depth, ("self",))
    return [f"{indent(depth)}{name}: {type_name(value)}"]


def describe_function(
    name: str, value: Any, depth: int, receiver: tuple[str, ...], decorator: str = ""
) -> list[str]:
    call = signature_of(value)
    if call is None:
        call = "*args, **kwargs"
    elif receiver and call.split(",")[0].strip() in ("self", "cls", "$self", "$type"):
        receiver = ()
    head = [indent(depth) + decorator] if decorator else []
    head.append(f"{indent(depth)}def {name}({join(*receiver, call)}):")
    return head + (docstring(value, depth + 1) or [indent(depth + 1) + "..."])


def signature_of(value: Any) -> Any:
    """Parameters as source text, or None if the object does not reveal them."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return None
    if any(not is_name(p.name) for p in parameters):
        return None
    texts = []
    kinds = [p.kind for p in parameters]
    for number, parameter in enumerate(parameters):
        if parameter.kind is parameter.KEYWORD_ONLY and not {
            parameter.KEYWORD_ONLY,
            parameter.VAR_POSITIONAL,
        } & set(kinds[:number]):
            texts.append("*")
        texts.append(parameter_text(parameter))
        if parameter.kind is parameter.POSITIONAL_ONLY and (
            kinds[number + 1 : number + 2] != [parameter.POSITIONAL_ONLY]
        ):
            texts.append("/")
    return ", ".join(texts)


def parameter_text(parameter: inspect.Parameter) -> str:
    variadic = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}
    stars = variadic.get(parameter.kind.name, "")
    if parameter.default is parameter.empty:
        return f"{stars}{parameter.name}"
    plain = parameter.default is None or type(parameter.default) in (bool, int, float, str, bytes)
    text = repr(parameter.default) if plain else "..."
    return "{}={}".format(parameter.name, "..." if text in ("nan", "inf", "-inf") else text)


def docstring(value: Any, depth: int) -> list[str]:
    text = getattr(value, "__doc__", None)
    if not isinstance(text, str) or not text.strip():
        return []
    return [indent(depth) + repr(inspect.cleandoc(text))]


def type_name(value: Any) -> str:
    name = type(value).__name__
    return name if is_name(name) else "object"


def is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def indent(depth: int) -> str:
    return "    " * depth


def join(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
