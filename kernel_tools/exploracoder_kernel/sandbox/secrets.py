"""Which of the user's files hold secrets, by their names; a sandbox shows none of them."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

# These count at any depth.
_FOLDERS = re.compile(
    r"""\.(ssh|aws|azure|gcloud|oci|kube|docker|vault|terraform\.d|gnupg|pki|password-store|mozilla
    |thunderbird|kaggle|huggingface|wandb|streamlit|subversion)""",
    re.VERBOSE,
)
_FILES = re.compile(
    r"""\.netrc|_netrc|\.git-credentials|\.gitconfig|\.pypirc|\.npmrc|\.yarnrc(\.yml)?|\.pgpass
    |\.my\.cnf|\.s3cfg|\.databrickscfg|\.dockercfg|\.?pip\.conf|kaggle\.json|\.boto|\.htpasswd|\.vault-token|\.condarc|\.Renviron|\.\w+_history|\.token
    |id_(rsa|dsa|ecdsa|ed25519)\w*|.*\.(pem|key|p12|pfx|jks|keystore|keytab|kdbx|ovpn|ppk)
    |(.*[._-])?(credentials?|secrets?)(\.(json|ya?ml|toml|ini|env|txt))?
    |(application_default_)?(service[_-]account|client[_-]secret).*\.json""",
    re.VERBOSE | re.IGNORECASE,
)
# Only at the top: deeper down, such names mean other things, of tokenizers for example.
_FOLDERS_AT_THE_TOP = re.compile(
    r"\.(config|local|cache|jupyter|ipython|cargo|gem|m2|gradle|vscode-server|cursor|claude|codex)"
)
_FILES_AT_THE_TOP = re.compile(r"(.*[._-])?tokens?(\.(json|ya?ml|txt))?", re.IGNORECASE)
_ENV = re.compile(r"\.env(rc|\..+)?|.+\.env")
_EXAMPLE = re.compile(r".*\.(example|sample|template|dist|defaults?)", re.IGNORECASE)

# Installed packages and version control data, except the files that name its servers.
_NOT_LOOKED_INTO = {"node_modules", "__pycache__", "site-packages", "dist-packages", ".git"}
_MOST = 200_000
# Each takes a few words of a command that has room for some thousands.
_MOST_FOLDERS = 500


def find(folder: Path, *, is_home: bool = False) -> list[Path]:
    """Files and folders below ``folder`` that hold secrets, as far as their names say so.

    Links are not followed, but count by their names like what they may lead to. Folders that were
    not examined, since there are too many entries above them, count as secret, or the folders that
    they lie in.

    Args:
        folder: A tree of the user's.
        is_home: Whether every dotfile at the top counts, since programs keep their keys there.
    """
    paths: list[Path] = []
    queue = deque([folder])
    count = 0
    while queue and count < _MOST:
        place = queue.popleft()
        for entry in _entries(place):
            count += 1
            is_top = place == folder
            if (is_top and is_home and entry.name.startswith(".")) or _is_secret(entry, is_top):
                paths.append(Path(entry.path))
            elif entry.name == ".git":
                # `Path.glob` raises where it may not look.
                modules = os.walk(Path(entry.path, "modules"))
                repositories = [Path(entry.path), *(Path(place) for place, _, _ in modules)]
                paths += [one / "config" for one in repositories if _is_file(one / "config")]
            elif entry.is_dir(follow_symlinks=False) and not _is_installed(entry):
                queue.append(Path(entry.path))
    return _without_nested([*paths, *_gathered(queue, folder)])


def _gathered(folders: Iterable[Path], top: Path) -> list[Path]:
    """The folders, or, as long as they are too many, the folders below ``top`` that hold them."""
    gathered = dict.fromkeys(folders)
    while len(gathered) > _MOST_FOLDERS:
        parents = dict.fromkeys(one if one.parent == top else one.parent for one in gathered)
        if len(parents) == len(gathered) and parents == gathered:
            break
        gathered = parents
    return list(gathered)


def _without_nested(paths: Iterable[Path]) -> list[Path]:
    """The paths that lie in none of the others."""
    unique = dict.fromkeys(paths)
    return [one for one in unique if unique.keys().isdisjoint(one.parents)]


def _is_secret(entry: os.DirEntry[str], is_top: bool) -> bool:
    is_folder = entry.is_dir(follow_symlinks=False)
    if is_folder or entry.is_symlink():
        if entry.name.startswith("exploracoder-") or _FOLDERS.fullmatch(entry.name):
            return True
        if is_top and _FOLDERS_AT_THE_TOP.fullmatch(entry.name):
            return True
        if is_folder:
            return False
    if _FILES.fullmatch(entry.name) or (is_top and _FILES_AT_THE_TOP.fullmatch(entry.name)):
        return True
    return _ENV.fullmatch(entry.name) is not None and _EXAMPLE.fullmatch(entry.name) is None


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)


def _is_installed(entry: os.DirEntry[str]) -> bool:
    is_environment = os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))  # noqa: PTH118
    return entry.name in _NOT_LOOKED_INTO or is_environment


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from list(entries)
    except OSError:
        return
