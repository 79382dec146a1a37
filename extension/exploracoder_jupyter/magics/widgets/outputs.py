"""What a run showed, for the front end to show as outputs of a cell.

A front end trusts the outputs of widgets, scripts in them too, but this code was not run by the
user: pictures, text and HTML without scripts get through, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from exploracoder.exporting.outputs import harmless_outputs
from exploracoder_kernel.observation import Observation

from exploracoder_jupyter.magics.faces.text import plain

_MOST_CHARS = 20_000


def outputs_of(observation: Observation | None) -> tuple[dict[str, Any], ...]:
    """Outputs of nbformat 4.5, in order."""
    return tuple(_outputs(observation)) if observation is not None else ()


def _outputs(observation: Observation) -> Iterator[dict[str, Any]]:
    for output in harmless_outputs(observation):
        if "data" in output:
            data = output["data"]
            yield {**output, "data": {**data, "text/plain": plain(data["text/plain"])}}
        elif output["text"].strip():
            cut = plain(output["text"])[:_MOST_CHARS].rstrip("\n")
            yield {**output, "text": f"{cut}\n"}
