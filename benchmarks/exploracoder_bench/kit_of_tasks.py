"""Makes a kit that `recall` reads of tasks with libraries that are installed.

Run: ``python -m exploracoder_bench.kit_of_tasks --tasks FILE.jsonl --python PYTHON --out KIT``

PYTHON has the libraries. Each line of the tasks names its ``id``, its ``library``, its
``requirement``, which is the query, and in ``apis_used``, by the last parts of their paths, the
APIs that answer it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from exploracoder.errors import InputError
from exploracoder.prepare import index_libraries
from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.errors import RetrievalError
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.library_python import Interpreter

_FIELDS = {"path", "kind", "signature", "summary", "doc", "aliases"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the kit; exit code 2 when a file or a library cannot be used."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=Path, required=True, metavar="FILE.jsonl")
    parser.add_argument("--python", default=sys.executable, help="default: this one")
    parser.add_argument("--out", type=Path, required=True, metavar="KIT")
    options = parser.parse_args(arguments)
    try:
        rows = [json.loads(line) for line in options.tasks.read_text(encoding="utf-8").splitlines()]
        with (
            tempfile.TemporaryDirectory() as folder,
            Index.open(Path(folder), MiniLmEmbedder()) as index,
        ):
            targets = sorted({row["library"] for row in rows})
            libraries = index_libraries(index, targets, Interpreter.inspect(options.python))
            docs = {one.name: index.docs(one.name) for one in libraries}
        names = {target: one.name for target, one in zip(targets, libraries, strict=True)}
        _write(options.out, [row | {"library": names[row["library"]]} for row in rows], docs)
    except (OSError, ValueError, KeyError, InputError, RetrievalError) as error:
        print(f"Error: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return 0


def _write(kit: Path, rows: Sequence[dict[str, Any]], docs: dict[str, Sequence[ApiDoc]]) -> None:
    (kit / "dev").mkdir(parents=True, exist_ok=True)
    (kit / "pools").mkdir(exist_ok=True)
    for library, apis in docs.items():
        lines = [each.model_dump_json(include=_FIELDS) + "\n" for each in apis]
        with gzip.open(kit / "pools" / f"{library}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(lines)
        questions = [_question(row, apis) for row in rows if row["library"] == library]
        text = "".join(json.dumps(each) + "\n" for each in questions)
        (kit / "dev" / f"{library}.jsonl").write_text(text, encoding="utf-8")


def _question(row: dict[str, Any], apis: Sequence[ApiDoc]) -> dict[str, Any]:
    gold = {
        each.path
        for each in apis
        for name in row["apis_used"]
        if any(f".{path}".endswith(f".{name}") for path in (each.path, *each.aliases))
    }
    query, library = row["requirement"], row["library"]
    return {
        "id": row["id"],
        "query": query,
        "gold": sorted(gold),
        "library": library,
        "dataset": library,
    }


if __name__ == "__main__":
    sys.exit(main())
