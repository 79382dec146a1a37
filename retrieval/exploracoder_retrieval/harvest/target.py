"""What a person means by a library: an installed one, a source tree, or a single file."""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from exploracoder_retrieval.errors import LibraryNotFound, UnreadableSource
from exploracoder_retrieval.facts.module_files import (
    ModuleFiles,
    ModuleFinder,
    has_init,
    is_in_package,
    libraries_in,
)
from exploracoder_retrieval.files import read_bytes
from exploracoder_retrieval.harvest.docs.source import ALONE, DocsSource
from exploracoder_retrieval.harvest.result import LibrarySource
from exploracoder_retrieval.installed_distributions import normalise
from exploracoder_retrieval.library_python import Interpreter

if TYPE_CHECKING:
    from exploracoder_retrieval.given_docs import DocsRecord, GivenDocs

_VERSION = re.compile(r"^__version__\s*(?::\s*\w+\s*)?=\s*['\"]([^'\"]+)['\"]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Target:
    """A library that was found: what to import, where from, and its documentation.

    ``packages`` are the packages and modules of the distribution that it is from, ``import_name``
    is one of them, or in one, or the namespace that they share. ``root`` is its folder or file;
    ``tree`` the top folder of a source tree, with README and examples. ``docs`` is its
    documentation; if ``source`` is ``docs``, there is nothing else.
    """

    name: str
    import_name: str
    version: str
    source: LibrarySource
    root: Path
    tree: Path | None = None
    readme: str = ""
    docs: tuple[DocsSource, ...] = ()
    packages: tuple[str, ...] = ()

    @property
    def modules(self) -> tuple[str, ...]:
        """The packages and modules to read: of a namespace, only what is the distribution's own."""
        return _within(self.packages, self.import_name) or (self.import_name,)

    @property
    def home(self) -> Path | None:
        """The folder to import it from; None if it is installed or has no code."""
        return self.root.parent if self.source in ("folder", "module") else None

    @property
    def named(self) -> Path | None:
        """The folder or file that was named, which links must not lead out of, or None."""
        return (self.tree or self.root) if self.home is not None else None

    def border(self, path: Path) -> Path | None:
        """What links must not lead out of, for a path in or beside the named library; or None."""
        if self.named is None or self.home is None or not path.is_relative_to(self.home):
            return None
        return self.named if path.is_relative_to(self.named) else path.parent


def find_target(
    target: str | Path, interpreter: Interpreter, given_docs: GivenDocs | None = None
) -> Target:
    """Resolve a name or path; an installed library takes precedence over a folder of that name.

    ``given_docs`` holds the documentation given for libraries: a name that stands for documentation
    alone takes precedence over both.

    Raises:
        LibraryNotFound: nothing matches; the message gives the closest installed names.
        UnreadableSource: the path exists but contains no Python library, or several.
        DocsUnavailable: the documentation given for it cannot be read.
    """
    record = given_docs.find(str(target)) if given_docs is not None else None
    if given_docs is not None and record is not None and record.stands_alone:
        return docs_target(record, given_docs)
    library = _find(target, interpreter)
    if given_docs is not None and library.source != "docs":
        record = given_docs.find(library.name)
        if record is not None and not record.stands_alone:
            library = replace(library, docs=given_docs.sources(record))
    return library


def docs_target(record: DocsRecord, given_docs: GivenDocs) -> Target:
    """The target of a library known only from its documentation."""
    return _documented(record.library, given_docs.sources(record))


def _documented(name: str, docs: tuple[DocsSource, ...]) -> Target:
    return Target(
        name=name,
        import_name=name,
        version="",
        source="docs",
        root=docs[0].path,
        docs=docs,
    )


def is_docs_file(path: Path) -> bool:
    """Whether a file can stand for a library without code."""
    return path.name.lower().endswith(ALONE)


def docs_name(path: Path) -> str:
    """The default name of a library whose documentation is this file."""
    return path.name.split(".", 1)[0]


def _find(target: str | Path, interpreter: Interpreter) -> Target:
    text = str(target)
    looks_like_path = isinstance(target, Path) or os.sep in text or text.startswith((".", "~"))
    path = Path(os.path.expanduser(text))
    if not looks_like_path and not text.endswith((".py", *ALONE)):
        library = _find_installed(text, interpreter)
        if library is not None:
            return library
    if not os.path.exists(path):
        raise LibraryNotFound(_not_found(text, looks_like_path, interpreter))
    return _find_path(path.resolve())


def _find_installed(name: str, interpreter: Interpreter) -> Target | None:
    if not name.strip():
        return None
    finder = ModuleFinder(
        interpreter.search_paths,
        interpreter.builtin_modules,
        mapped=interpreter.mapped_modules(),
    )
    for import_name in (name, *interpreter.import_names(name), name.replace("-", "_")):
        files = finder.find(import_name) if _is_dotted_name(import_name) else None
        if files is not None or finder.is_builtin(import_name):
            return _installed(import_name, files, interpreter, named=name)
    return None


def _installed(
    name: str, files: ModuleFiles | None, interpreter: Interpreter, *, named: str
) -> Target:
    top = name.split(".", 1)[0]
    is_standard = top in interpreter.standard_modules
    distribution = None if is_standard else interpreter.distribution_of(name, named)
    own_packages = distribution.packages if distribution else ()
    packages = own_packages if _within(own_packages, top) else (top,)
    standard = ".".join(map(str, interpreter.version))
    root = _root(files) if files else Path(interpreter.executable)
    version = standard if is_standard else read_version(root, None)
    return Target(
        name=distribution.name if distribution and _within(packages, name) else name,
        import_name=name,
        version=distribution.version if distribution else version,
        source="installed",
        root=root,
        readme=distribution.readme if distribution else "",
        packages=packages,
    )


def _within(packages: tuple[str, ...], namespace: str) -> tuple[str, ...]:
    return tuple(each for each in packages if is_in_package(each, namespace))


def _root(files: ModuleFiles) -> Path:
    return next(filter(None, (*files.folders, files.source, files.binary, files.stub)))


def _find_path(path: Path) -> Target:
    if path.is_file():
        if is_docs_file(path):
            return _documented(docs_name(path), (DocsSource(str(path), path),))
        if path.suffix not in {".py", ".pyi"} or not path.stem.isidentifier():
            raise UnreadableSource(
                f"{path} is not a Python module. Give a .py file, a folder, or a file of docs:"
                " .jsonl, .jsonl.gz, objects.inv, or OpenAPI in .json or .yaml."
            )
        return _local(path.stem, path, None, "module")
    try:
        top = path.parent if has_init(path) else path
        package = path if has_init(path) else _package_in(path)
    except OSError as error:
        raise UnreadableSource(f"{path} cannot be read: {error.strerror}.") from None
    tree = top if package.parent.name != "src" else package.parent.parent
    return _local(package.stem, package, tree, "folder")


def _local(name: str, root: Path, tree: Path | None, source: LibrarySource) -> Target:
    project = _project(tree) if tree else {}
    # The folder above a bare package may belong to another project.
    own_project = _same(project.get("name", ""), name) or (
        tree is not None and tree in _homes(root)
    )
    return Target(
        name=name,
        import_name=name,
        version=(project.get("version", "") if own_project else "") or read_version(root, root),
        source=source,
        root=root,
        tree=tree if own_project else None,
        packages=(name,),
    )


def _homes(root: Path) -> tuple[Path, ...]:
    """Folders that certainly are the package's project, as they hold a project file."""
    return tuple(
        folder
        for folder in (root.parent, root.parent.parent)
        if (folder / "pyproject.toml").is_file() or (folder / "setup.py").is_file()
    )


def _package_in(folder: Path) -> Path:
    for place in (folder / "src", folder):
        if not place.is_dir():
            continue
        if candidates := libraries_in(place):
            return _choose(folder, candidates)
    raise UnreadableSource(
        f"{folder} holds no Python package. Give a folder with an __init__.py or a .py file in it."
        f" If it holds docs: exploracoder index {folder} --name NAME"
    )


def _choose(folder: Path, candidates: list[Path]) -> Path:
    names = {_project(folder).get("name", ""), folder.name}
    matches = [each for each in candidates if any(_same(name, each.stem) for name in names)]
    if len(candidates) == 1 or matches:
        return (matches or candidates)[0]
    raise UnreadableSource(
        f"{folder} holds several libraries ({', '.join(each.stem for each in candidates[:6])}). "
        "Give the path of one of them."
    )


def _project(folder: Path) -> dict[str, str]:
    """The name and version in pyproject.toml's [project] table, matched line by line."""
    try:
        text = read_bytes(folder / "pyproject.toml", inside=folder).decode()
    except (UnreadableSource, UnicodeDecodeError):
        return {}
    table = text.partition("[project]")[2].partition("\n[")[0]
    return dict(re.findall(r"^(name|version)\s*=\s*['\"]([^'\"]+)['\"]", table, re.MULTILINE))


def read_version(root: Path, inside: Path | None) -> str:
    """``__version__`` if the source gives it as a literal, else empty."""
    candidates = [root] if root.is_file() else [root / "__init__.py", root / "_version.py"]
    for file in candidates:
        try:
            text = read_bytes(file, inside=inside).decode(errors="replace")
        except UnreadableSource:
            continue
        if match := _VERSION.search(text):
            return match[1]
    return ""


def _same(one: str, other: str) -> bool:
    return normalise(one) == normalise(other)


def _is_dotted_name(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _not_found(text: str, looks_like_path: bool, interpreter: Interpreter) -> str:
    if looks_like_path:
        return f"There is no {text}. Give the path of a package folder or of a .py file."
    if interpreter.has_distribution(text):
        return (
            f"{text} is installed for {interpreter.executable}, but no module of it was found"
            " there. Give the path of its source instead, or another interpreter with --python."
        )
    names = interpreter.library_names() - {text}
    near = difflib.get_close_matches(text, sorted(names), n=3, cutoff=0.6)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return (
        f"No library {text!r} is installed for {interpreter.executable}.{hint} "
        "Give the path of its source instead, or another interpreter with --python."
    )
