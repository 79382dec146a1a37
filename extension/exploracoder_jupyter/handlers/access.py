"""The permissions that we check with the server's authorizer before acting."""

from __future__ import annotations

from jupyter_core.utils import ensure_async
from jupyter_server.base.handlers import JupyterHandler
from tornado.web import HTTPError

# Pairs of action and resource. Whatever runs code requires `execute` on both our resource and
# kernels: a user who may not run cells in this server may not have us run them either.
Permissions = tuple[tuple[str, str], ...]
READS: Permissions = (("read", "exploracoder"),)
WRITES: Permissions = (("write", "exploracoder"),)
# Saving one of our notebooks requires the permission to save any.
SAVES: Permissions = (("write", "exploracoder"), ("write", "contents"))
RUNS_CODE: Permissions = (("execute", "exploracoder"), ("execute", "kernels"))


async def check(handler: JupyterHandler, permissions: Permissions) -> None:
    """Raise HTTPError 403 unless the user of a request has all permissions."""
    user, authorizer = handler.current_user, handler.authorizer
    for action, resource in permissions:
        if not await ensure_async(authorizer.is_authorized(handler, user, action, resource)):
            actions = " and ".join(" ".join(one) for one in permissions)
            raise HTTPError(403, f"This user is not allowed to {actions}.")
