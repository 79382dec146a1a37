"""ExploraCoder in Jupyter: the server side of the sidebar, and the location of its front end.

The Jupyter server imports this at startup, so nothing slow may happen here.
"""

from __future__ import annotations

from typing import Any


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Where JupyterLab finds the front end."""
    return [{"src": "labextension", "dest": "exploracoder"}]


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """The extension apps that a Jupyter server loads."""
    from exploracoder_jupyter.app import ExploraCoder

    return [{"module": "exploracoder_jupyter.app", "app": ExploraCoder}]
