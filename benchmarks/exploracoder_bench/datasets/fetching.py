"""Published files, fetched once and verified from then on."""

from __future__ import annotations

import hashlib
from pathlib import Path

from exploracoder.errors import InputError, SetupError
from exploracoder.folders import cache_folder
from exploracoder_retrieval.files import write_atomically
from exploracoder_retrieval.web_access import trusted, unusable_proxy, without_credentials

from exploracoder_bench.datasets.published import PUBLISHED, PublishedDataset

_TIMEOUT_S = 60.0


def home() -> Path:
    """The folder of what is fetched or made once."""
    return cache_folder() / "benchmarks"


def find_published(name: str) -> PublishedDataset:
    """The data set of this name, however it is spelled. Raises InputError."""
    data_sets = {_plain(one): data_set for one, data_set in PUBLISHED.items()}
    if _plain(name) not in data_sets:
        raise InputError(f"No published data set is named {name!r}: {', '.join(PUBLISHED)}.")
    return data_sets[_plain(name)]


def fetch(one: PublishedDataset, url: str | None = None) -> Path:
    """Fetch a data set, from ``url`` if it is mirrored there, and return the file.

    Raises SetupError when it cannot be fetched or kept, InputError when it has changed.
    """
    import httpx

    folder = home() / one.name
    file = folder / one.file_name
    try:
        with httpx.stream(
            "GET",
            url or one.url,
            # The file as it is, even if the file itself is compressed.
            headers={"Accept-Encoding": "identity"},
            timeout=_TIMEOUT_S,
            follow_redirects=True,
            verify=trusted(),
        ) as answer:
            answer.raise_for_status()
            content = b"".join(answer.iter_raw())
        _check(one, content, folder / "SHA256")
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(file, content)
        (folder / "SHA256").write_text(hashlib.sha256(content).hexdigest() + "\n")
    except (ImportError, ValueError) as error:
        raise SetupError(f"{unusable_proxy(error)}.") from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise SetupError(
            f"{one.name} could not be fetched from {without_credentials(url or one.url)}: {error}."
            f" Fetch it elsewhere and say --problems {one.name}=FILE."
        ) from error
    return file


def fetched(one: PublishedDataset) -> Path:
    """The file of a data set that was fetched. Raises InputError when it is missing or changed."""
    file = home() / one.name / one.file_name
    if not file.exists():
        raise InputError(
            f"{one.name} is not here. Fetch it: exploracoder bench fetch {one.name}; or say"
            f" --problems {one.name}=FILE."
        )
    _check(one, file.read_bytes(), file.with_name("SHA256"))
    return file


def _check(one: PublishedDataset, content: bytes, note: Path) -> None:
    record = note.read_text().strip() if note.exists() else None
    digest = hashlib.sha256(content).hexdigest()
    if record is not None and digest != record:
        raise InputError(
            f"{one.name} is not the file it was: its SHA-256 is {digest[:16]}…, not {record[:16]}…."
            f" If that is meant, remove {note.parent} and fetch it again."
        )


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
