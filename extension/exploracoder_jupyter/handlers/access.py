"""What the server's authorizer is asked before something is done."""

from __future__ import annotations

from jupyter_core.utils import ensure_async
from jupyter_server.base.handlers import JupyterHandler
from tornado.web import HTTPError

# Actions, each with what it is done to. What has code run is `execute`, of ours and of kernels: who
# may not run cells in this server may not have ours run them either.
Permissions = tuple[tuple[str, str], ...]
READS: Permissions = (("read", "exploracoder"),)
WRITES: Permissions = (("write", "exploracoder"),)
# Whoever may save a notebook of ours may save any.
SAVES: Permissions = (("write", "exploracoder"), ("write", "contents"))
RUNS_CODE: Permissions = (("execute", "exploracoder"), ("execute", "kernels"))


async def check(handler: JupyterHandler, permissions: Permissions) -> None:
    """Raise HTTPError 403 when the user of a request has not got all permissions."""
    user, authorizer = handler.current_user, handler.authorizer
    for action, resource in permissions:
        if not await ensure_async(authorizer.is_authorized(handler, user, action, resource)):
            actions = " and ".join(" ".join(one) for one in permissions)
            raise HTTPError(403, f"This user is not allowed to {actions}.")
