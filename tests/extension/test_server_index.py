"""One index for all explorations of a server, and each with its own libraries in it."""

from __future__ import annotations

import sys
from pathlib import Path

from exploracoder_jupyter.eventlog import EventLog
from exploracoder_jupyter.server_index import ServerIndex
from exploracoder_retrieval.embeddings import MiniLmEmbedder
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.library_python import Interpreter


async def test_two_kernels_have_libraries_of_one_name_from_two_places(tmp_path: Path) -> None:
    interpreter = Interpreter.inspect(sys.executable)
    index = ServerIndex(lambda: Index.open(tmp_path / "index", MiniLmEmbedder()), EventLog())
    try:
        views = {}
        for place, function in (("old", "steep"), ("new", "brew")):
            (tmp_path / place).mkdir()
            module = tmp_path / place / "teapot.py"
            module.write_text(f'def {function}():\n    """Make the tea."""\n')
            view = await index.view()
            await index.put(str(module), interpreter, view)
            views[function] = view

        for function, view in views.items():
            (hit,) = view.search("make tea", ["teapot"], 5)
            assert hit.doc.path == f"teapot.{function}"
    finally:
        index.close()
