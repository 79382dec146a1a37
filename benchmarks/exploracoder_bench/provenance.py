"""What a run was made with: code, versions, model and server, sandbox, machine, settings.

A table means something only if its figures come from the same code; for results that do not record
it, nobody knows.
"""

from __future__ import annotations

import asyncio
import hashlib
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import exploracoder
import exploracoder_kernel
import exploracoder_retrieval
from exploracoder import prompts
from exploracoder.models import hardware
from exploracoder.models.cpu_backends import CPU_BACKENDS, best_backend, processor_flags
from exploracoder.models.endpoint import Endpoint
from exploracoder.models.server_answer import mapping
from exploracoder.settings import Settings
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.sandbox import choose
from exploracoder_retrieval.web_access import without_credentials
from pydantic import BaseModel, ConfigDict

# For results from before this was recorded.
UNKNOWN = "unknown"
_PACKAGES = ("bm25s", "chromadb", "ipykernel", "ipython", "jedi", "onnxruntime")
_SOURCES = {".py", ".md", ".json", ".txt"}
# The benchmark modules that a sample's result depends on, without those that only show it.
_HARNESS = (
    "api_names", "chains", "execution", "exploring", "judge", "mutants", "runs", "samples",
    "solved_others", "datasets/repository_tests", "api_use/recorded_values",
)  # fmt: skip
_GIT_S = 20
_SERVER_S = 5.0


class Code(BaseModel):
    """The code that ran. ``digest`` is of its files, wherever they are; ``commit`` and the files
    that differed from it are known only in a checkout."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    digest: str
    commit: str = ""
    changed: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Such as ``1a2b3c4``, with a note if files were changed."""
        label = self.commit[:7] or f"files {self.digest[:7]}"
        return f"{label} with changes ({self.digest[:7]})" if self.changed else label


class Machine(BaseModel):
    """Where it ran; ``processor`` is the class of its instructions for the embedded model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    system: str
    processor: str
    cores: int
    memory_gib: float

    def __str__(self) -> str:
        """In words."""
        return (
            f"{self.system}, {self.cores} cores ({self.processor}), {self.memory_gib:g} GiB memory"
        )


class Provenance(BaseModel):
    """What a run was made with.

    ``server`` says who answered: the library and its build of the arithmetic, or what the endpoint
    at ``endpoint`` says about itself. ``prompts`` are their fingerprints, ``settings`` those of
    each method that are not the default.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: Code
    versions: dict[str, str]
    model: str
    identity: str
    server: str
    endpoint: str = ""
    prompts: dict[str, str] = {}
    sandbox: str
    machine: Machine
    executor: str
    settings: dict[str, dict[str, Any]]

    @property
    def key(self) -> str:
        """The key by which results refer to it."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]


def provenance_of(
    settings: Mapping[str, Settings],
    *,
    model: str,
    identity: str,
    base_url: str | None,
    api_key: str,
    executor: str,
    server: str | None = None,
) -> Provenance:
    """What would run now; the endpoint is asked to identify itself unless ``server`` is given."""
    if server is None:
        server = _embedded_server() if base_url is None else _server(base_url, api_key)
    return Provenance(
        code=own_code(),
        versions={"python": platform.python_version()} | dict(_versions()),
        model=model,
        identity=identity,
        server=server,
        endpoint=without_credentials(base_url or ""),
        prompts=prompts.fingerprints(),
        sandbox=_sandbox(),
        machine=_machine(),
        executor=executor,
        settings={name: _unusual(one) for name, one in settings.items()},
    )


@lru_cache
def own_code() -> Code:
    """This code, as it was at the first call."""
    digest = code_digest()
    # Our environment may be inside somebody else's checkout.
    if _git("ls-files", "--error-unmatch", "__init__.py") is None:
        return Code(digest=digest)
    status_lines = (_git("status", "--porcelain") or "").splitlines()
    commit = (_git("rev-parse", "HEAD") or "").strip()
    return Code(
        digest=digest,
        commit=commit,
        changed=tuple(line[3:] for line in status_lines),
    )


def code_digest() -> str:
    """The first digits of the SHA-256 of this code's files, as they are now."""
    sums = hashlib.sha256()
    for name, file in _sources():
        sums.update(f"{name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return sums.hexdigest()[:16]


def _sources() -> Iterator[tuple[str, Path]]:
    for package in (exploracoder, exploracoder_kernel, exploracoder_retrieval):
        home = Path(package.__path__[0])
        files = (file for file in home.rglob("*") if file.suffix in _SOURCES)
        yield from ((f"{home.name}/{file.relative_to(home)}", file) for file in sorted(files))
    own_folder = Path(__file__).parent
    yield from ((name, own_folder / f"{name}.py") for name in _HARNESS)


def _git(*arguments: str) -> str | None:
    """Git's output for this file's folder; None if git is missing or fails."""
    try:
        process = subprocess.run(
            ["git", *arguments],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=_GIT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return process.stdout


def _versions() -> Iterator[tuple[str, str]]:
    for name in _PACKAGES:
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue


def _embedded_server() -> str:
    backend = best_backend()
    arithmetic = "the library's own arithmetic" if backend is None else backend.name
    return f"xllamacpp {metadata.version('xllamacpp')}, {arithmetic}"


def _server(base_url: str, api_key: str) -> str:
    """The address, and what llama.cpp and vLLM report about their build beside the API."""
    endpoint = Endpoint(base_url, api_key, "", timeout_s=_SERVER_S, max_retries=0)

    async def asked() -> list[object]:
        await endpoint.open()
        async with aclosing(endpoint):
            props = mapping(await endpoint.beside("props"))
            version = mapping(await endpoint.beside("version"))
            return [props.get("build_info"), version.get("version")]

    builds = [str(build)[:100] for build in asyncio.run(asked()) if build]
    return ", ".join([endpoint.url, *(builds or ["which says no build"])])


def _sandbox() -> str:
    try:
        return str(choose("auto", python=sys.executable, cwd=Path.cwd()))
    except SidecarError as error:
        return f"none: {error}"


def _machine() -> Machine:
    flags = processor_flags()
    own = (one for one in CPU_BACKENDS if one.architecture == platform.machine())
    return Machine(
        system=f"{platform.system()} {platform.machine()}",
        processor=next((one.name for one in own if one.flags <= flags), UNKNOWN),
        cores=hardware.physical_cores(),
        memory_gib=round(hardware.total_memory_bytes() / 2**30, 1),
    )


def _unusual(settings: Settings) -> dict[str, Any]:
    return settings.model_dump(mode="json", exclude_defaults=True)
