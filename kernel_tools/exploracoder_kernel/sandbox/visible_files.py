"""What is visible in the sandbox, at the same paths as outside; everything else is absent."""

from __future__ import annotations

import contextlib
import functools
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from exploracoder_kernel.environment import network_variables, private_environment
from exploracoder_kernel.launch_command import ENTRY, Command
from exploracoder_kernel.sandbox import python_home, secrets
from exploracoder_kernel.sandbox.python_home import PythonHome

# Programs, libraries and their configuration; nobody's data.
_PROGRAMS = ("/usr", "/opt", "/nix/store", "/gnu/store", "/snap")
_LIBRARIES = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# The C library checks there whether huge pages are available.
_HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage"
_OTHER = ("/etc", "/sys/devices/system/cpu", _HUGE_PAGES, "/var/cache/fontconfig")
# What everybody may read there is no secret, whatever the name of a link to it.
_PUBLIC = {
    *map(Path, ("/usr", "/nix/store", "/gnu/store", "/snap")),
    *map(Path, ("/etc/ssl", "/etc/pki", "/etc/ca-certificates")),
}


@dataclass(frozen=True, slots=True)
class Place:
    """A path and how it appears: readable, or as if empty. The deepest place wins."""

    path: Path
    visibility: Literal["readable", "hidden folder", "hidden file"]


def confined(
    command: Command,
    *,
    home: str,
    temporary: str,
    inputs: tuple[Path, ...],
    has_network: bool,
) -> tuple[Command, tuple[Place, ...]]:
    """The command as it is started in the sandbox, and all places, from the top down.

    Args:
        command: The command as it is started outside.
        home: The home in the sandbox.
        temporary: The folder for temporary files there.
        inputs: More files and folders that the task reads, besides its folder.
        has_network: Whether to keep what proxies and name lookups need.
    """
    python = python_home.find(command.python, command.environment)
    environment = private_environment(
        command.environment, home=home, temporary=temporary, user_base=python.user_base
    )
    if has_network:
        environment |= network_variables(os.environ)
    inside = replace(command, python=python.executable, environment=environment)
    return inside, _places(python, inside, inputs, has_network)


def _places(
    home: PythonHome, command: Command, inputs: tuple[Path, ...], has_network: bool
) -> tuple[Place, ...]:
    task_paths = [command.cwd, *inputs]
    users = [*task_paths, *(path.resolve() for path in task_paths)]
    certificates = _certificates(command.environment)
    needs = [ENTRY.parent, *home.prefixes, *home.paths, *certificates]
    if has_network:
        needs.append(Path("/etc/resolv.conf").resolve())
    symlinks = _links() | {Path("/")}
    paths = {path for path in (*users, *needs) if is_there(path) and not _is_below(path, symlinks)}
    system = {Path(path) for path in (*_PROGRAMS, *_OTHER) if is_there(Path(path))}
    system |= {Path(path) for path in _LIBRARIES if Path(path).is_dir()} - _links()
    candidates = {*_hidden_in_system(), *_hidden_of_users({*users, *home.paths}, home.prefixes)}
    own = {*users, *(path for path in home.paths if not _is_installed(path, home.prefixes))}
    readable = {Place(path, "readable") for path in paths | system}
    asked_for = {*needs, *inputs, *map(_resolved, (*inputs, *certificates))}
    candidates = {place for place in candidates if place.path not in asked_for}
    through_links = {place for place in candidates if _resolved(place.path) != place.path}
    shown = {path: _resolved(path) for path in paths | system}
    behind_links = {
        path
        for target in {_resolved(place.path) for place in through_links}
        if is_there(target) and not _is_public(target, own)
        for path in _names(target, shown)
    }
    hidden_places = (candidates - through_links) | set(map(_hidden, behind_links - asked_for))
    return _without_unreachable(_without_needless(readable | hidden_places))


def _resolved(path: Path) -> Path:
    """Where a path leads; unlike ``Path.resolve``, this raises for no loop of links."""
    return Path(os.path.realpath(path))


def _is_public(target: Path, trees: Iterable[Path]) -> bool:
    """Whether a file or folder is the system's, outside the user's trees, and read by everybody."""
    around = {target, *target.parents}
    if not around & _PUBLIC or around & (set(trees) - {Path("/")} - _PUBLIC):
        return False
    try:
        return all(path.stat().st_mode & stat.S_IROTH for path in around)
    except OSError:
        return False


def _names(target: Path, trees: Mapping[Path, Path]) -> Iterator[Path]:
    """The names of a path in the trees, each given with where it leads, that show it."""
    for tree, resolved in trees.items():
        if resolved in (target, *target.parents):
            path = tree / target.relative_to(resolved)
            if path not in trees:
                yield path


def _without_unreachable(places: tuple[Place, ...]) -> tuple[Place, ...]:
    """Drop what would be hidden through a link: nothing is mounted there but where it leads."""
    readable = {place.path for place in places if place.visibility == "readable"}
    return tuple(
        place
        for place in places
        if place.visibility == "readable" or not _is_through_link(place.path, readable)
    )


def _is_through_link(path: Path, readable: set[Path]) -> bool:
    tree = next((folder for folder in path.parents if folder in readable), None)
    return tree is not None and _resolved(path) != _resolved(tree) / path.relative_to(tree)


def _without_needless(places: Iterable[Place]) -> tuple[Place, ...]:
    """Sort from the top down, and drop places that look the same due to the one around them."""
    by_path: dict[Path, Place] = {}
    for place in sorted(places, key=lambda place: (len(place.path.parts), place.path)):
        around = next((by_path[path] for path in place.path.parents if path in by_path), None)
        is_shown_already = (
            around is not None and around.visibility == "readable" == place.visibility
        )
        is_hidden_already = "readable" not in (
            place.visibility,
            around.visibility if around else "readable",
        )
        if not is_shown_already and not is_hidden_already:
            by_path[place.path] = place
    return tuple(by_path.values())


def is_there(path: Path) -> bool:
    """Whether a path exists; False if it can't be examined, where ``Path.exists`` may raise."""
    return os.path.exists(path)


def links() -> list[tuple[str, Path]]:
    """The top-level folders that are links on this system, as (target, link)."""
    return [(str(path.readlink()), path) for path in sorted(_links())]


def _links() -> set[Path]:
    return {Path(path) for path in _LIBRARIES if Path(path).is_symlink()}


def _is_below(path: Path, links: set[Path]) -> bool:
    """Whether a path is the root, or reached through a link that the sandbox has as well."""
    return path in links or any(link in path.parents for link in links - {Path("/")})


def home_folders() -> set[Path]:
    """The user's homes: the one in the environment, and the one that the system knows."""
    names = [os.environ.get("HOME", "")]
    with contextlib.suppress(KeyError, ImportError):
        import pwd  # Windows has none

        names.append(pwd.getpwuid(os.geteuid()).pw_dir)
    return {Path(name).resolve() for name in names if name.startswith("/")} - {Path("/")}


def _hidden_of_users(trees: set[Path], prefixes: Iterable[Path]) -> Iterator[Place]:
    """Secrets in trees that may hold the user's files, and homes inside such trees."""
    homes = home_folders()
    above = {home for home in homes for prefix in prefixes if home == prefix}
    for tree in (trees | above) - {Path("/")}:
        if _is_installed(tree, prefixes) or not os.path.isdir(tree):
            continue
        yield from map(_hidden, secrets.find(tree, is_home=tree in homes))
        yield from (Place(home, "hidden folder") for home in homes if tree in home.parents)


def _is_installed(tree: Path, prefixes: Iterable[Path]) -> bool:
    is_packages = tree.name in ("site-packages", "dist-packages")
    return is_packages or any(prefix in tree.parents for prefix in prefixes)


def _hidden(path: Path) -> Place:
    return Place(path, "hidden folder" if os.path.isdir(path) else "hidden file")


@functools.cache
def _hidden_in_system() -> frozenset[Place]:
    """What is not world-readable: root's own permissions would hide nothing."""
    deep = [place for top in ("/etc", "/usr/local/etc") for place in _private(Path(top), 8)]
    return frozenset([*deep, *_private(Path("/opt"), 2)])


def _private(folder: Path, depth: int) -> Iterator[Place]:
    try:
        with os.scandir(folder) as entries:
            children = list(entries)
    except OSError:
        return
    for entry in children:
        if entry.is_symlink():
            continue
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            if not mode & stat.S_IROTH or not mode & stat.S_IXOTH:
                yield Place(Path(entry.path), "hidden folder")
            elif depth:
                yield from _private(Path(entry.path), depth - 1)
        elif not mode & stat.S_IROTH:
            yield Place(Path(entry.path), "hidden file")


def _certificates(environment: Mapping[str, str]) -> list[Path]:
    names = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
    values = [environment.get(name, "") for name in names]
    return [Path(name) for name in values if name.startswith("/")]


def caches() -> dict[str, Path]:
    """The files in the user's caches that libraries would be slow to rebuild.

    These are Matplotlib's lists of the machine's fonts.

    Returns:
        Each file, by its place below a home.
    """
    files = {}
    usual = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for folder in (f"{usual}/matplotlib", os.environ.get("MPLCONFIGDIR")):
        with contextlib.suppress(OSError):
            for file in Path(folder).glob("fontlist-*.json") if folder else ():
                files[f".cache/matplotlib/{file.name}"] = file
    return files
