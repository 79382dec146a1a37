"""Which of the user's files hold secrets, by their names; a sandbox shows none of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

# Looked for at the top of a folder: it may be the user's home.
_FOLDERS = re.compile(
    r"""\.(ssh|aws|azure|gcloud|oci|kube|docker|vault|terraform\.d|config|local|cache|gnupg|pki
    |password-store|mozilla|thunderbird|jupyter|ipython|kaggle|huggingface|wandb|streamlit
    |cargo|gem|m2|gradle|subversion|vscode-server|cursor|claude|codex)""",
    re.VERBOSE,
)
_FILES = re.compile(
    r"""\.netrc|_netrc|\.git-credentials|\.gitconfig|\.pypirc|\.npmrc|\.yarnrc(\.yml)?|\.pgpass
    |\.my\.cnf|\.s3cfg|\.boto|\.htpasswd|\.vault-token|\.condarc|\.Renviron|\.\w+_history|\.token
    |id_(rsa|dsa|ecdsa|ed25519)\w*|.*\.(pem|key|p12|pfx|keytab|kdbx|ovpn)
    |(.*[._-])?(credentials?|secrets?)(\.(json|ya?ml|toml|ini|env|txt))?
    |(.*[._-])?tokens?(\.(json|ya?ml|txt))?|service[_-]account.*\.json""",
    re.VERBOSE | re.IGNORECASE,
)
_ENV = re.compile(r"\.env(rc|\..+)?|.+\.env")
_EXAMPLE = re.compile(r".*\.(example|sample|template|dist|defaults?)", re.IGNORECASE)
_MOST = 20_000


def find(folder: Path) -> list[Path]:
    """Files and folders below ``folder`` that hold secrets, as far as their names say so.

    At the top all kinds are looked for; down to the second level of folders below, files with
    variables (``.env``). Links are not followed: what they lead to is not shown anyway.
    """
    found = [Path(entry.path) for entry in _entries(folder) if _is_secret(entry)]
    git = folder / ".git" / "config"
    found += [git] if git.is_file() else []
    return found + [Path(entry.path) for entry in _below(folder) if _holds_variables(entry)]


def _is_secret(entry: os.DirEntry[str]) -> bool:
    if entry.is_dir(follow_symlinks=False):
        is_named = _FOLDERS.fullmatch(entry.name) is not None
        return is_named or entry.name.startswith("exploracoder-")
    return _FILES.fullmatch(entry.name) is not None or _holds_variables(entry)


def _holds_variables(entry: os.DirEntry[str]) -> bool:
    """Whether it is called as such files are, and is not a virtual environment."""
    if _ENV.fullmatch(entry.name) is None or _EXAMPLE.fullmatch(entry.name) is not None:
        return False
    return not entry.is_dir(follow_symlinks=False)


def _below(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The entries of the folders one and two levels down; not without end."""
    seen = 0
    level = [folder]
    for _depth in range(2):
        below = [e.path for one in level for e in _entries(one) if e.is_dir(follow_symlinks=False)]
        for path in below:
            for entry in _entries(Path(path)):
                seen += 1
                if seen > _MOST:
                    return
                yield entry
        level = [Path(path) for path in below]


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
