"""What code does beyond computing, as far as its text shows: a warning before it is adopted.

This is no protection: effects can be hidden on purpose, and libraries are not looked into.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from exploracoder.engine.reading import syntax
from exploracoder.state import State

EffectKind = Literal["deletes", "runs", "sends", "writes", "hidden"]

_WORDS: Mapping[EffectKind, str] = {
    "deletes": "deletes files",
    "runs": "runs other programs",
    "sends": "uses the network",
    "writes": "writes or changes files elsewhere, or where cannot be told",
    "hidden": "runs what cannot be told from its text",
}

_NETWORK = (
    *(
        "socket",
        "socketserver",
        "ssl",
        "urllib.request",
        "http.client",
        "http.server",
        "webbrowser",
    ),
    *("ftplib", "smtplib", "poplib", "imaplib", "telnetlib", "xmlrpc.client"),
    *("requests", "httpx", "aiohttp", "urllib3", "websockets", "websocket", "paramiko", "boto3"),
)
# Names by module; `*` stands for all of a module's names.
_NAMES: Mapping[EffectKind, Mapping[str, str]] = {
    "deletes": {
        "os": "remove unlink rmdir removedirs truncate ftruncate",
        "shutil": "rmtree move",
    },
    "runs": {
        "os": "system popen startfile fork forkpty posix_spawn posix_spawnp kill killpg"
        " execl execle execlp execlpe execv execve execvp execvpe"
        " spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe",
        "asyncio": "create_subprocess_exec create_subprocess_shell",
        **dict.fromkeys(("subprocess", "pty", "pexpect"), "*"),
    },
    "sends": dict.fromkeys(_NETWORK, "*"),
    "writes": {
        "os": "rename renames replace chmod chown symlink link mkfifo mknod",
        "shutil": "copy copy2 copyfile copyfileobj copytree chown unpack_archive",
    },
    "hidden": {
        "builtins": "eval exec compile __import__ globals __dict__",
        "importlib": "import_module",
        "sys": "modules",
        "runpy": "run_path run_module",
        **dict.fromkeys(("pickle", "cloudpickle", "dill", "marshal"), "load loads Unpickler"),
        "joblib": "load",
        "shelve": "open",
        "yaml": "unsafe_load full_load load",
        "torch": "load",
        **dict.fromkeys(("ctypes", "cffi"), "*"),
    },
}
_KINDS: Mapping[str, EffectKind] = {
    f"{module}.{name}": kind
    for kind, modules in _NAMES.items()
    for module, names in modules.items()
    for name in names.split()
}
_MODULES = {name.rpartition(".")[0] for name in _KINDS}
_BARE = {"eval", "exec", "compile", "__import__", "globals", "__builtins__", "get_ipython"}
_METHODS: Mapping[str, EffectKind] = {
    "unlink": "deletes",
    "rmdir": "deletes",
    "rmtree": "deletes",
    "write_text": "writes",
    "write_bytes": "writes",
}
_SAVES = re.compile(r"(to|save|write|dump)(_\w+)?|savefig|savez\w*|savetxt")
_ELSEWHERE = re.compile(r"(/|~|[A-Za-z]:[\\/]|(.*[\\/])?\.\.([\\/]|$))")
_ADDRESS = re.compile(r"(https?|ftp|s3|gs)://", re.IGNORECASE)
_MODE = re.compile(r"[rwxabtU+]{1,4}")
_MAGIC = re.compile(r"(?P<indent>\s*)(?:[\w, ]+=\s*)?(?P<what>!|%%?[A-Za-z]\w*)")
_SHELLS = {"!", "bash", "sh", "script", "sx", "system", "cmd", "perl", "ruby"}


class Effect(State):
    """One thing that code does beyond computing: ``what`` names it as it stands there."""

    kind: EffectKind
    line: int
    what: str

    def __str__(self) -> str:
        """Say it in a few words."""
        return f"{_WORDS[self.kind]} (line {self.line}: {self.what})"


def effects(code: str) -> tuple[Effect, ...]:
    """What code does beyond computing, by line; code that is not Python counts as hidden."""
    plain, findings = (code, []) if syntax.parsed(code) else _without_magics(code)
    tree = syntax.parsed(plain)
    if tree is None:
        return (*findings, Effect(kind="hidden", line=1, what="it is no Python"))
    names = _names(tree)
    for node in ast.walk(tree):
        findings += (
            Effect(kind=kind, line=getattr(node, "lineno", 1), what=what)
            for kind, what in _of_node(node, names)
        )
    return tuple(sorted(dict.fromkeys(findings), key=lambda one: (one.line, one.kind)))


def in_words(findings: tuple[Effect, ...]) -> str:
    """A sentence or two of warning; empty when nothing was found."""
    if not findings:
        return ""
    phrases = [str(one) for one in findings[:8]]
    more = [f"and {len(findings) - 8} more"] if len(findings) > 8 else []
    return (
        f"As far as the code shows, it {'; '.join((*phrases, *more))}. Read it before you run it"
        " outside the sandbox."
    )


def _without_magics(code: str) -> tuple[str, list[Effect]]:
    """The code with IPython's own lines replaced by ``pass``, and the effects of these lines."""
    lines, findings = code.split("\n"), []
    for number, line in enumerate(lines, start=1):
        match = _MAGIC.match(line)
        if match is None:
            continue
        what = match["what"]
        kind: EffectKind = "runs" if what.lstrip("%") in _SHELLS else "hidden"
        findings.append(Effect(kind=kind, line=number, what=what))
        lines[number - 1] = f"{match['indent']}pass"
        if what.startswith("%%"):
            return "\n".join(lines[:number]), findings
    return "\n".join(lines), findings


def _names(tree: ast.AST) -> dict[str, str]:
    """What names stand for: the path of an imported name, nothing for one that code binds."""
    nodes = list(ast.walk(tree))
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return dict.fromkeys(own, "") | syntax.imports(tree)


def _of_node(node: ast.AST, names: Mapping[str, str]) -> Iterator[tuple[EffectKind, str]]:
    if isinstance(node, ast.Name | ast.Attribute):
        yield from _of_name(node, names)
    elif isinstance(node, ast.ImportFrom) and node.module in _MODULES:
        if any(one.name == "*" for one in node.names):
            yield "hidden", f"from {node.module} import *"
    elif isinstance(node, ast.Call):
        yield from _of_call(node, names)


def _of_name(node: ast.expr, names: Mapping[str, str]) -> Iterator[tuple[EffectKind, str]]:
    """The effect of a name, even uncalled: it may be called later under another name."""
    path = _dotted(node, names)
    kind = "hidden" if path in _BARE else _kind_of(path)
    if kind is not None:
        yield kind, ".".join(path.split(".")[:3])


def _of_call(node: ast.Call, names: Mapping[str, str]) -> Iterator[tuple[EffectKind, str]]:
    function, path = node.func, _dotted(node.func, names)
    texts = [_text(one) for one in node.args]
    if path == "open" or (isinstance(function, ast.Attribute) and function.attr == "open"):
        yield from _of_open(node, names)
    elif path == "getattr" and node.args and _dotted(node.args[0], names) in _MODULES:
        member = f"{_dotted(node.args[0], names)}.{texts[1]}" if texts[1:] and texts[1] else None
        yield (_kind_of(member) if member else "hidden") or "hidden", "getattr"
    elif isinstance(function, ast.Attribute) and _kind_of(path) is None:
        yield from _of_method(function, texts[0] if texts else None, names)


def _of_open(node: ast.Call, names: Mapping[str, str]) -> Iterator[tuple[EffectKind, str]]:
    """The effect of ``open(path, mode)``, from any module, or of ``path.open(mode)``."""
    function, arguments = node.func, list(node.args)
    first = _text(arguments[0]) if arguments else None
    if isinstance(function, ast.Attribute) and (not arguments or _MODE.fullmatch(first or "")):
        modes, is_here = arguments, _is_here(function.value, names)
    else:
        modes, is_here = arguments[1:], first is not None and not _ELSEWHERE.match(first)
    modes = [*modes[:1], *(one.value for one in node.keywords if one.arg == "mode")]
    mode = _text(modes[0]) or "?" if modes else "r"
    if not is_here and re.search(r"[wax+?]", mode):
        yield "writes", f"open(…, {mode!r})"


def _of_method(
    function: ast.Attribute, first: str | None, names: Mapping[str, str]
) -> Iterator[tuple[EffectKind, str]]:
    """The effect of an unknown object's method, judged by its name, or its path or address."""
    kind = _METHODS.get(function.attr)
    if kind == "deletes" or (kind == "writes" and not _is_here(function.value, names)):
        yield kind, f".{function.attr}"
    elif first and _SAVES.fullmatch(function.attr) and _ELSEWHERE.match(first):
        yield "writes", f".{function.attr}"
    elif first and function.attr.startswith("read_") and _ADDRESS.match(first):
        yield "sends", f".{function.attr}"


def _is_here(value: ast.expr, names: Mapping[str, str]) -> bool:
    """Whether it is a ``Path`` of literals that stays in the working folder."""
    if not isinstance(value, ast.Call) or _dotted(value.func, names) != "pathlib.Path":
        return False
    texts = [_text(one) for one in value.args]
    return bool(texts) and all(text and not _ELSEWHERE.match(text) for text in texts)


def _kind_of(path: str) -> EffectKind | None:
    """The kind of a dotted name, or of its shortest prefix that has one."""
    parts = path.split(".")
    for end in range(2, len(parts) + 1):
        module = ".".join(parts[: end - 1])
        kind = _KINDS.get(".".join(parts[:end])) or _KINDS.get(f"{module}.*")
        if kind is not None:
            return kind
    return None


def _dotted(node: ast.expr, names: Mapping[str, str]) -> str:
    """``a.b.c`` with ``a`` replaced by what it was imported from; empty for anything else."""
    root, dot, rest = syntax.chain_of(node).partition(".")
    origin = names.get(root, root)
    return origin + dot + rest if origin else ""


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
