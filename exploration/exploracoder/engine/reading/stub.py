"""Unfinished code that the solution must complete: found in a task, put back into a solution."""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from exploracoder.engine.reading import syntax
from exploracoder.engine.reading.syntax import FUNCTIONS, Function
from exploracoder.state import Task

_FENCE = re.compile(r"^(`{3,}|~{3,})[\w+-]*\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Split:
    """A text without its stub, and the stub."""

    text: str
    stub: str


def assignment_target(stub: str) -> str | None:
    """The left side of a stub that ends in ``target =``; None for any other stub."""
    lines = syntax.lines_of(stub.rstrip())
    return _target(lines[-1].strip()) if lines else None


def _target(line: str) -> str | None:
    """The left side of ``target =``, for any kind of target; None for any other line."""
    tree = syntax.parsed(f"{line} 0") if line.rstrip().endswith("=") else None
    statement = tree.body[0] if tree is not None else None
    # The value that was put there, and not one of a comparison.
    if not (isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None):
        return None
    return line.rstrip()[:-1].rstrip()


def target_names(stub: str) -> tuple[str, ...]:
    """The variables that a stub which ends in ``target =`` binds or changes; empty for others."""
    tree = syntax.tree(f"{assignment_target(stub) or 0} = 0")
    return tuple(dict.fromkeys(name for node in tree.body for name in _roots(node)))


def _roots(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Assign(targets=targets):
            for target in targets:
                yield from _roots(target)
        case ast.AnnAssign(target=target):
            yield from _roots(target)
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _roots(part)
        case ast.Starred(value=value) | ast.Subscript(value=value) | ast.Attribute(value=value):
            yield from _roots(value)


def function_name(stub: str) -> str | None:
    """The name of the last function that the stub begins; None when it begins none."""
    function = _function(stub)
    return function.name if function else None


def wanted_function(task: Task) -> str:
    """The name of the function that a task asks for; empty if it asks for none."""
    return task.entry_point or function_name(task.stub) or ""


def is_async(stub: str) -> bool:
    """Whether calling the last function that the stub begins gives a coroutine, as far as its head
    says: a decorator or an asynchronous generator may give something else.
    """
    function = _function(stub)
    if not isinstance(function, ast.AsyncFunctionDef) or function.decorator_list:
        return False
    return function.returns is None or "Async" not in ast.unparse(function.returns)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A function's parameter; ``default`` is an expression, or None if it has none."""

    name: str
    default: str | None
    is_keyword_only: bool = False


def parameters(stub: str) -> tuple[Parameter, ...]:
    """The parameters of the last function that the stub begins, without ``*args`` and the like."""
    function = _function(stub)
    if function is None:
        return ()
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    positional_parameters = [
        _parameter(one, default) for one, default in zip(positional, defaults, strict=True)
    ]
    keyword_only = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return (
        *positional_parameters,
        *(_parameter(one, default, is_keyword_only=True) for one, default in keyword_only),
    )


def reads_parameters(code: str, stub: str) -> bool:
    """Whether the function in ``code`` that completes the stub reads any of its parameters.

    Also True if it has no parameters, or if ``code`` has no such function.
    """
    names, name = {one.name for one in parameters(stub)}, function_name(stub)
    functions = [node for node in ast.walk(syntax.tree(code)) if isinstance(node, FUNCTIONS)]
    matches = [function for function in functions if function.name == name]
    if not (names and matches):
        return True
    return any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
        for statement in matches[-1].body
        for node in ast.walk(statement)
    )


def _parameter(
    argument: ast.arg, default: ast.expr | None, *, is_keyword_only: bool = False
) -> Parameter:
    default_text = ast.unparse(default) if default is not None else None
    return Parameter(argument.arg, default_text, is_keyword_only)


def in_task(text: str, entry_point: str | None) -> str:
    """The unfinished code in a task's text; empty if there is none."""
    for match in _FENCE.finditer(text):
        if _is_stub(match[2], entry_point):
            return match[2].rstrip()
    start = re.search(r"^(?:async )?def \w+\(", text, re.MULTILINE)
    if start and _is_stub(text[start.start() :], entry_point):
        return text[start.start() :].rstrip()
    last = "".join(syntax.lines_of(text.rstrip())[-1:]).strip()
    # In prose, what comes after a colon is no annotation.
    return last if _target(last) and not re.match(r"\w+\s*:", last) else ""


def head_in_words(text: str, name: str | None) -> str:
    """The head of a function that a task's text calls ``name(a, b)``; empty if it does not."""
    match = re.search(rf"\b{re.escape(name)}(\([^()]*\))", text) if name else None
    head = f"def {name}{match[1]}:" if match else ""
    return head if _parse_head(head) is not None else ""


def without_stub(text: str, stub: str) -> str:
    """A task's text with its unfinished code replaced by that code's docstring or comments."""
    if not stub or stub not in text:
        return text
    words = _docstring(stub)
    rest = _FENCE.sub(lambda match: "" if stub in match[0] else match[0], text)
    rest = rest.replace(stub, "").strip()
    return f"{rest}\n\n{words}".strip() or text


def _docstring(stub: str) -> str:
    function = _function(stub)
    if function is None:
        return ""
    comments = (line.strip() for line in syntax.lines_of(stub))
    text = " ".join(line.lstrip("# ") for line in comments if line.startswith("#"))
    return ast.get_docstring(function) or text


def in_context(code: str) -> Split:
    """Split the unfinished end off a context if that is what keeps it from parsing."""
    if syntax.parsed(code) is not None:
        return Split(code, "")
    lines = syntax.lines_of(code.rstrip())
    if lines and _target(lines[-1]) and syntax.parsed("\n".join(lines[:-1])) is not None:
        return Split("\n".join(lines[:-1]), lines[-1])
    for number in range(len(lines) - 1, -1, -1):
        if re.match(r"(?:async )?def \w+\(|@\w", lines[number]):
            head, tail = "\n".join(lines[:number]), "\n".join(lines[number:])
            if syntax.parsed(head) is not None and _parse_head(tail) is not None:
                return Split(head, tail)
    return Split(code, "")


def complete(code: str, stub: str) -> str:
    """Make ``code``, a model's answer, complete ``stub``.

    The user's function head is put back, defaults and annotations included; a bare expression
    becomes the right side of the assignment; a bare body goes under the head. Anything else is left
    as it is.
    """
    target = assignment_target(stub)
    if target is not None:
        return _complete_assignment(code, target)
    function = _function(stub)
    return _complete_function(code, stub, function) if function else code


def _complete_assignment(code: str, target: str) -> str:
    tree = syntax.parsed(code)
    if tree is None or len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
        return code
    lines, first = syntax.lines_of(code.rstrip()), tree.body[0].lineno - 1
    lines[first] = f"{target} = {lines[first]}"
    return "\n".join(lines).lstrip("\n")


def _complete_function(code: str, stub: str, head: Function) -> str:
    tree = syntax.parsed(code)
    functions = _functions(tree)
    function = next((one for one in functions if one.name == head.name), None)
    if tree is None or function is None:
        return code if functions else _under_head(code, stub)
    if ast.dump(head.args) == ast.dump(function.args):
        return code
    function.args, function.returns = head.args, head.returns
    lines, statement = syntax.lines_of(code), function.body[0]
    if lines[statement.lineno - 1].encode()[: statement.col_offset].strip():
        # It begins in a line of the head.
        return ast.unparse(tree)
    body = syntax.first_line(statement) - 1
    # The head's own last line is neither blank nor a comment.
    while not lines[body - 1].partition("#")[0].strip():
        body -= 1
    signature = syntax.lines_of(ast.unparse(function))
    start = next(line for line in signature if re.match(r"(?:async )?def ", line))
    return "\n".join([*lines[: function.lineno - 1], start, *lines[body:]])


def _under_head(code: str, stub: str) -> str:
    # An indented body is left as it is if it fits, which strings of several lines need.
    bodies = [code] if code[:1].isspace() else []
    for body in (*bodies, _indented(textwrap.dedent(code))):
        candidate = f"{stub.rstrip()}\n{body}"
        tree = syntax.parsed(candidate)
        # A `return` beside the function is parsed, too.
        if tree is not None and isinstance(tree.body[-1], FUNCTIONS):
            return candidate
    return code


def _indented(code: str) -> str:
    """Code four spaces further to the right, but not the continuation lines of its strings."""
    inside: set[int] = set()
    with suppress(tokenize.TokenError, SyntaxError):
        for one in tokenize.generate_tokens(io.StringIO(code).readline):
            inside |= set(range(one.start[0], one.end[0]))
    lines = enumerate(syntax.lines_of(code))
    return "\n".join(f"    {line}" if line and n not in inside else line for n, line in lines)


def _is_stub(code: str, entry_point: str | None) -> bool:
    name = function_name(code)
    if name is not None:
        return entry_point in (None, name)
    return assignment_target(code) is not None


def _parse_head(stub: str) -> ast.Module | None:
    """Parse a function whose body may be missing."""
    return syntax.parsed(stub) or syntax.parsed(stub.rstrip() + "\n    pass\n")


def _function(stub: str) -> Function | None:
    """The last function that a stub begins."""
    return next(reversed(_functions(_parse_head(stub))), None)


def _functions(tree: ast.Module | None) -> list[Function]:
    return [node for node in tree.body if isinstance(node, FUNCTIONS)] if tree else []
