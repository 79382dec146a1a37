"""Figures of matplotlib become pictures among the outputs, as in any notebook."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar import Sidecar

PATIENT = Limits(wall_seconds=120)  # the first import may have to make a cache of fonts
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
async def plotting(forking: Sidecar) -> Sidecar:
    """A sidecar whose root has imported the library."""
    await forking.run(forking.root, "import matplotlib.pyplot as plt", PATIENT)
    return forking


def pictures(outputs: Any) -> list[bytes]:
    return [
        base64.b64decode(output["data"]["image/png"])
        for output in outputs
        if "image/png" in output.get("data", {})
    ]


async def test_a_figure_is_shown_when_its_cell_ends(plotting: Sidecar, screen: Any) -> None:
    observation = await plotting.run(
        plotting.root, "lines = plt.plot([1, 2])\nprint('drawn')", PATIENT, front_end=screen
    )

    assert screen.kinds()[-1] == "display_data"
    for images in (pictures(screen.shown), pictures(observation.outputs)):
        assert len(images) == 1
        assert images[0].startswith(PNG)


async def test_show_puts_the_figure_where_it_is_called(plotting: Sidecar) -> None:
    observation = await plotting.run(
        plotting.root, "lines = plt.plot([1, 2])\nplt.show()\nprint('after')", PATIENT
    )

    kinds = [output["output_type"] for output in observation.outputs]
    assert kinds == ["display_data", "stream"]
    assert (await plotting.run(plotting.root, "plt.get_fignums()")).result == "[]"


async def test_the_magic_says_what_is_so_already(plotting: Sidecar) -> None:
    magic = await plotting.run(plotting.root, "%matplotlib inline", PATIENT)
    plot = await plotting.run(plotting.root, "lines = plt.plot([1, 2])", PATIENT)

    assert magic.ran
    assert len(pictures(plot.outputs)) == 1


async def test_a_figure_drawn_before_an_error_is_shown(plotting: Sidecar) -> None:
    observation = await plotting.run(plotting.root, "lines = plt.plot([1, 2])\n1 / 0", PATIENT)

    assert observation.status == "error"
    assert len(pictures(observation.outputs)) == 1


async def test_children_draw_on_their_own(plotting: Sidecar) -> None:
    one, two = await plotting.fork(plotting.root), await plotting.fork(plotting.root)

    observations = [
        await plotting.run(branch, f"lines = plt.plot([1, {n}])", PATIENT)
        for n, branch in enumerate((one, two))
    ]

    first, second = (pictures(observation.outputs) for observation in observations)
    assert len(first) == len(second) == 1
    assert first != second
