"""Writes ``THIRD_PARTY_LICENSES``: what of a wheel others made, and under which licenses.

Run: ``python docs/licenses.py [--check]``, after the front end was built. The source of the
embedded model's arithmetic is fetched from the package index. With ``--check`` nothing is written
or fetched, and the exit code is 1 when the file is no longer right.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import ModuleType

import ziglang
from exploracoder.models.cpu_backends import XLLAMACPP_VERSION

ROOT = Path(__file__).parents[1]
FILE = ROOT / "THIRD_PARTY_LICENSES"
_FRONT_END = ROOT / "extension"
_LAB_EXTENSION = _FRONT_END / "exploracoder_jupyter/labextension"
_COMPILER = Path(ziglang.__file__).parent
_BACKENDS = "exploracoder/models/cpu_backends/*/*.so"
_GGML_VERSION = f"of llama.cpp, as in xllamacpp {XLLAMACPP_VERSION}, with changes of ours"
_HEAD = """\
ExploraCoder is under the license in the file LICENSE. A wheel carries the following, which others
made, and what it depends on is installed beside it under licenses of its own.
"""


@dataclass(frozen=True, slots=True)
class Part:
    """What somebody else made: ``place`` is where it is in a wheel."""

    name: str
    version: str
    license: str
    place: str
    text: str

    def __str__(self) -> str:
        line = "=" * 80
        head = f"{self.name} {self.version}\nLicense: {self.license}\nIn: {self.place}"
        return f"{line}\n{head}\n{line}\n\n{self.text.strip()}\n"


def front_end() -> Iterator[Part]:
    """The packages that JupyterLab's extension has in it.

    The bundler's report misses what it joins into one module: the dependencies that we say are not
    JupyterLab's own. Its own part is what loads the others.
    """
    report = json.loads((_LAB_EXTENSION / "static/third-party-licenses.json").read_text())
    ours = json.loads((_FRONT_END / "package.json").read_text(encoding="utf-8"))
    bundled_names = {
        name for name, is_shared in ours["jupyterlab"]["sharedPackages"].items() if not is_shared
    }
    names = {one["name"] for one in report["packages"]} | bundled_names | {"@rspack/core"}
    return map(_package, sorted(names))


def _package(name: str) -> Part:
    folder = _FRONT_END / "node_modules" / name
    about = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    text = (folder / "LICENSE").read_text(encoding="utf-8")
    place = "share/jupyter/labextensions/exploracoder/static"
    return Part(name, about["version"], about["license"], place, text)


def run_time() -> Iterator[Part]:
    """What the compiler links into each build of the arithmetic."""
    version = f"as in Zig {metadata.version('ziglang')}"
    llvm = (_COMPILER / "lib/libcxx/LICENSE.TXT").read_text(encoding="utf-8")
    yield Part(
        "LLVM's libc++, libc++abi and libunwind",
        version,
        "Apache-2.0 WITH LLVM-exception",
        _BACKENDS,
        llvm,
    )
    own = (_COMPILER / "LICENSE").read_text(encoding="utf-8")
    yield Part("Zig's compiler-rt", version, "MIT", _BACKENDS, own)


def vocabulary() -> Part:
    """The words that the model of texts knows."""
    folder = "retrieval/exploracoder_retrieval/data"
    notice = (ROOT / folder / "NOTICE").read_text(encoding="utf-8")
    text = f"{notice}\nThe text of the Apache License 2.0 stands above, with LLVM's exceptions."
    place = "exploracoder_retrieval/data/bert_uncased_vocab.txt"
    return Part("The vocabulary of BERT", "bert-base-uncased", "Apache-2.0", place, text)


def arithmetic() -> Part:
    """What the arithmetic is built of, as its source says, which is fetched."""
    build = _build_script()
    with tempfile.TemporaryDirectory() as folder:
        ggml: Path = build.fetch_source(Path(folder))
        cpu = ggml / "src/ggml-cpu"
        files = [*cpu.glob("*.*"), *(cpu / "llamafile").iterdir(), *(cpu / "amx").iterdir()]
        copyrights = {
            f"{match[0].strip()} ({file.name})"
            for file in files
            for match in re.finditer(r"Copyright.* 2\d{3} .*", file.read_text(encoding="utf-8"))
        }
        text = (ggml.parent / "LICENSE").read_text(encoding="utf-8")
    return Part(
        "ggml",
        _GGML_VERSION,
        "MIT",
        _BACKENDS,
        "\n".join(
            [text.strip(), "", "Under the same license, of others:", "", *sorted(copyrights)]
        ),
    )


def _build_script() -> ModuleType:
    path = ROOT / "exploration/build_cpu_backends.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Its dataclasses look their own module up.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def main() -> int:
    """Write the file, or check it as far as that needs no package index."""
    if sys.argv[1:] == ["--check"]:
        text = FILE.read_text(encoding="utf-8")
        known_parts = [
            *map(str, (*front_end(), *run_time(), vocabulary())),
            f"ggml {_GGML_VERSION}\n",
        ]
        missing = [part.strip("=\n").partition("\n")[0] for part in known_parts if part not in text]
        sys.stderr.writelines(f"{one}: run `make licenses`.\n" for one in missing)
        return 1 if missing else 0
    parts = [*front_end(), arithmetic(), *run_time(), vocabulary()]
    FILE.write_text("\n".join([_HEAD, *map(str, parts)]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
