"""Downloads the embedded model in the background, with progress and cancellation."""

from __future__ import annotations

import threading
from logging import Logger

from exploracoder.errors import SetupError
from exploracoder.models.weights import WeightsStore

from exploracoder_jupyter.protocol import EmbeddedModel


class _CancelledError(Exception):
    """The download was cancelled."""


class WeightsDownload:
    """This server's only download; another process of the user may run one as well."""

    def __init__(self, log: Logger, store: WeightsStore | None = None) -> None:
        self._log = log
        self._fixed_store = store
        self._thread: threading.Thread | None = None
        self._is_unwanted = threading.Event()
        self._done_bytes = 0
        self._note = ""
        self._error = ""

    def state(self) -> EmbeddedModel:
        """How much of the model is on disk, and the progress of its download."""
        store = self._store
        model, status = store.model, store.status()
        is_pulling = self._is_wanted
        return EmbeddedModel(
            name=model.name,
            license=model.license,
            size_bytes=model.size_bytes,
            is_there=status.is_verified,
            is_pulling=is_pulling,
            done_bytes=self._done_bytes if is_pulling else min(status.size_bytes, model.size_bytes),
            note=self._note if is_pulling else "",
            error="" if is_pulling else self._error,
        )

    def start(self) -> None:
        """Start the download, or resume one that was ended; does nothing if it is running."""
        if self._is_wanted:
            return
        self._done_bytes, self._note, self._error = self._store.status().size_bytes, "", ""
        before, self._is_unwanted = self._thread, threading.Event()
        # A daemon, so that a stopping server need not wait: what was fetched stays on disk.
        self._thread = threading.Thread(
            target=self._pull, args=(before, self._is_unwanted), daemon=True
        )
        self._thread.start()

    def cancel(self) -> None:
        """Stop the download; what was fetched stays."""
        self._is_unwanted.set()

    @property
    def _store(self) -> WeightsStore:
        # `exploracoder model use` may choose another model while the server runs.
        return self._fixed_store or WeightsStore()

    @property
    def _is_wanted(self) -> bool:
        is_running = self._thread is not None and self._thread.is_alive()
        return is_running and not self._is_unwanted.is_set()

    def _pull(self, before: threading.Thread | None, is_unwanted: threading.Event) -> None:
        def hear_progress(done_bytes: int, total: int) -> None:
            if is_unwanted.is_set():
                raise _CancelledError
            self._done_bytes = done_bytes

        if before is not None:
            # It was cancelled, but may still hold the file.
            before.join()
        error = ""
        try:
            self._store.pull(hear_progress, self._hear_note)
        except _CancelledError:
            pass
        except SetupError as failure:
            error = str(failure)
        except Exception:  # noqa: BLE001  # it is the thread's outermost frame
            self._log.exception("The embedded model could not be fetched.")
            error = "Something went wrong in the server; its log says more."
        if not is_unwanted.is_set():
            self._error = error

    def _hear_note(self, note: str) -> None:
        self._note = note
