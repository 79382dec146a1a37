"""Which processes serve a model just now, whoever of this user's started them."""

from __future__ import annotations

from exploracoder.models.local import MAX_CONTEXT_TOKENS, ServerPlace
from exploracoder.models.weights import WeightsStore


def servers_of(store: WeightsStore) -> list[str]:
    """Those that serve the model, also with an adapter or other slots than the usual, in words.

    One that is still loading has not said yet what it loads, and counts.
    """
    folder = ServerPlace.for_model(store, MAX_CONTEXT_TOKENS).socket_path.parent
    servers = []
    for path in sorted(folder.glob("*.sock")):
        place = ServerPlace(path)
        announcement = place.announcement()
        if announcement is None:
            servers += ["a server that is starting"] if place.is_answered() else []
        # An adapter's name follows a plus sign. One that failed to load has no name.
        elif announcement.model.partition("+")[0] == store.model.name:
            servers.append(f"process {announcement.pid}")
    return servers
