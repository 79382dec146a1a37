"""Notebooks that several people edit at once, with jupyter-collaboration.

Everybody sees its shared document, and only that is written to the file, so the server makes its
changes in the document.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exploracoder.errors import SetupError
from exploracoder.merging import with_ids

_COLLABORATION = "jupyter_server_ydoc"
# It has documents of its own, where every tab would repeat what the server has already written.
_UNSUPPORTED = "jupyter_server_documents"

Change = Callable[[list[Any]], list[Any]]


class Rooms:
    """Finds the documents that are currently shared.

    Args:
        extensions: Returns the server's extensions by name.
    """

    def __init__(self, extensions: Callable[[], Any]) -> None:
        self._extensions = extensions

    def check(self) -> None:
        """Raise SetupError when notebooks are shared in an unsupported way."""
        if self._extensions().get(_UNSUPPORTED):
            raise SetupError(
                "jupyter-server-documents is enabled, with which explorations do not work: both"
                " would write the notebook. Disable it (jupyter server extension disable"
                f" {_UNSUPPORTED}), or share notebooks with jupyter-collaboration."
            )
        # Its part in the tabs still saves notebooks then, but shares none.
        sharing = self._extensions().get(_COLLABORATION) or ()
        if any(getattr(extension, "disable_rtc", False) for extension in sharing):
            raise SetupError(
                "jupyter-collaboration is switched off by its option disable_rtc, with which"
                " explorations do not work: nothing would merge what is written in the notebook."
                " Remove the option, or uninstall jupyter-collaboration."
            )

    async def find(self, path: str) -> Room | None:
        """The shared document of the notebook at ``path``; None if nobody has it open."""
        for extension in self._extensions().get(_COLLABORATION) or ():
            document = await extension.get_document(
                path=path, content_type="notebook", file_format="json", copy=False
            )
            # A document without cells is still being loaded.
            if document is not None and document.cell_number:
                return Room(document)
        return None


class Room:
    """A notebook that people have open."""

    def __init__(self, document: Any) -> None:
        self._document = document

    @property
    def metadata(self) -> dict[str, Any]:
        """The notebook's metadata."""
        return dict(self._document.get()["metadata"])

    def update(self, change: Change, metadata: dict[str, Any]) -> None:
        """Change all its cells at once, except those that are running."""
        running_ids = {
            cell.get("id")
            for cell in self._document.ycells
            if cell.get("execution_state") == "running"
        }
        value = self._document.get()
        value["cells"], value["nbformat_minor"] = with_ids(value["cells"]), 5
        by_id = {cell["id"]: cell for cell in value["cells"]}
        value["cells"] = [
            by_id[cell["id"]] if cell["id"] in running_ids & by_id.keys() else _over(by_id, cell)
            for cell in change(value["cells"])
        ]
        value["metadata"] = {**value["metadata"], **metadata}
        self._document.set(value)


def _over(by_id: dict[str, Any], cell: Any) -> Any:
    """A cell that keeps the metadata others have given it."""
    before = by_id.get(cell["id"], {})
    return {**cell, "metadata": {**before.get("metadata", {}), **cell["metadata"]}}
