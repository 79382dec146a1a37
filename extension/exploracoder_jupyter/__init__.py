"""ExploraCoder in Jupyter: the server's side of the sidebar, and where its front end lies.

The Jupyter server imports this at its start, so nothing slow may happen here.
"""

from __future__ import annotations

from typing import Any


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Where JupyterLab finds the front end."""
    return [{"src": "labextension", "dest": "exploracoder"}]


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """What a Jupyter server loads."""
    from exploracoder_jupyter.app import ExploraCoder

    return [{"module": "exploracoder_jupyter.app", "app": ExploraCoder}]
