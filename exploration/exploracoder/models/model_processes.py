"""Which of this user's processes are currently serving a model."""

from __future__ import annotations

from exploracoder.models.local import MAX_CONTEXT_TOKENS, ServerPlace
from exploracoder.models.weights import WeightsStore


def servers_of(store: WeightsStore) -> list[str]:
    """The servers of the model in words, including those with an adapter or other slot counts.

    One that is still loading counts, since it has not yet said which model it loads.
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
