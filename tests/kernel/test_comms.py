"""Widgets and their objects in a branch talk to each other."""

from __future__ import annotations

from typing import Any

import pytest
from exploracoder_kernel import messages
from exploracoder_kernel.connection import ProtocolError
from exploracoder_kernel.presentation import CellRequest
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar import Sidecar

ECHO = (
    "import comm\ndef opened(channel, message):\n"
    "    channel.on_msg(lambda m: channel.send(m['content']['data'], buffers=m['buffers']))\n"
    "    channel.send({'hello': message['content']['data']})\n"
    "comm.get_comm_manager().register_target('echo', opened)"
)


def message(kind: str, comm_id: str, data: Any, **more: Any) -> dict[str, Any]:
    buffers = more.pop("buffers", ())
    content = {"comm_id": comm_id, "data": data, **more}
    return {"msg_type": kind, "content": content, "metadata": {}, "buffers": list(buffers)}


async def test_a_channel_that_the_front_end_opens_reaches_its_target(
    sidecar: Sidecar, screen: Any
) -> None:
    await sidecar.run(sidecar.root, ECHO, front_end=screen)
    opening = message("comm_open", "c1", {"from": "front"}, target_name="echo")

    await sidecar.send_comm(sidecar.root, opening, front_end=screen)

    assert [m["output_type"] for m in screen.shown] == ["comm_msg"]
    assert screen.shown[0]["comm_id"] == "c1"
    assert screen.shown[0]["data"] == {"hello": {"from": "front"}}


async def test_binary_buffers_travel_both_ways(sidecar: Sidecar, screen: Any) -> None:
    await sidecar.run(sidecar.root, ECHO)
    await sidecar.send_comm(sidecar.root, message("comm_open", "c1", {}, target_name="echo"))

    await sidecar.send_comm(
        sidecar.root,
        message("comm_msg", "c1", {"n": 1}, buffers=[b"\x00\xff", memoryview(b"two")]),
        front_end=screen,
    )

    assert screen.shown[-1]["data"] == {"n": 1}
    assert screen.shown[-1]["buffers"] == [b"\x00\xff", b"two"]


async def test_a_channel_that_a_cell_opens_is_announced(sidecar: Sidecar, screen: Any) -> None:
    await sidecar.run(
        sidecar.root,
        "from comm import create_comm\nc = create_comm(target_name='mine', data={'a': 1})\n"
        "c.close()",
        front_end=screen,
    )

    assert screen.kinds() == ["comm_open", "comm_close"]
    assert screen.shown[0]["target_name"] == "mine"
    assert screen.shown[0]["data"] == {"a": 1}


async def test_data_of_a_channel_may_be_of_any_kind(sidecar: Sidecar, screen: Any) -> None:
    observation = await sidecar.run(
        sidecar.root,
        "from comm import create_comm\nc = create_comm(target_name='mine', data='opened')\n"
        "c.send([1, 'two'])\nc.send([])",
        front_end=screen,
    )

    assert observation.status == "ok"
    assert [shown["data"] for shown in screen.shown] == ["opened", [1, "two"], []]


def test_a_message_over_a_channel_has_data_of_some_kind() -> None:
    said = {"output_type": "comm_msg", "comm_id": "c1"}

    messages.check({"output": {**said, "data": None}})
    with pytest.raises(ProtocolError):
        messages.check({"output": said})


async def test_nobody_to_take_a_channel_closes_it(sidecar: Sidecar, screen: Any) -> None:
    await sidecar.send_comm(
        sidecar.root, message("comm_open", "c1", {}, target_name="nobody"), front_end=screen
    )

    assert screen.kinds() == ["comm_close"]
    assert (await sidecar.run(sidecar.root, "'comm' in __import__('sys').modules")).result == (
        "False"
    )


async def test_a_module_of_the_users_by_that_name_is_left_alone(
    sidecar: Sidecar, screen: Any
) -> None:
    await sidecar.run(
        sidecar.root,
        "from pathlib import Path\nn = Path('comm.py').write_text('mine = 1')\n"
        "import sys; sys.path.insert(0, '.')",
    )

    observation = await sidecar.run(sidecar.root, "import comm\ncomm.mine, comm.__loader__")
    await sidecar.send_comm(
        sidecar.root, message("comm_open", "c1", {}, target_name="x"), front_end=screen
    )

    assert observation.result is not None
    assert observation.result.startswith("(1, <_frozen_importlib_external.SourceFileLoader")
    assert screen.kinds() == ["comm_close"]


async def test_what_a_callback_prints_and_raises_is_shown(sidecar: Sidecar, screen: Any) -> None:
    await sidecar.run(
        sidecar.root,
        "import comm\nc = comm.create_comm(target_name='t', comm_id='c1')\n"
        "@c.on_msg\ndef got(message):\n    print('got', message['content']['data'])\n"
        "    display('shown')\n    1 / 0",
    )

    observation = await sidecar.send_comm(
        sidecar.root, message("comm_msg", "c1", 5), front_end=screen
    )

    assert screen.text() == "got 5\n"
    assert "display_data" in screen.kinds()
    assert "ZeroDivisionError" in screen.text("stderr")
    assert observation.ran


async def test_a_callback_is_held_to_the_limit_of_time(sidecar: Sidecar) -> None:
    await sidecar.run(
        sidecar.root,
        "import comm\nc = comm.create_comm(target_name='t', comm_id='c1')\n"
        "@c.on_msg\ndef got(message):\n    while True: pass",
    )

    observation = await sidecar.send_comm(
        sidecar.root, message("comm_msg", "c1", {}), Limits(wall_seconds=0.5)
    )

    assert observation.status == "timeout"
    assert (await sidecar.run(sidecar.root, "c.comm_id")).result == "'c1'"


class TestWidgets:
    async def test_a_slider_is_moved_from_either_side(self, sidecar: Sidecar, screen: Any) -> None:
        await sidecar.run(
            sidecar.root,
            "import ipywidgets\nslider = ipywidgets.IntSlider(3)\n"
            "slider.observe(lambda change: print('now', change['new']), 'value')\nslider",
            front_end=screen,
        )
        view = screen.shown[-1]["data"]["application/vnd.jupyter.widget-view+json"]

        await sidecar.run(sidecar.root, "slider.value = 4", front_end=screen)
        states = [m["data"]["state"] for m in screen.shown if m["output_type"] == "comm_msg"]
        data = {"method": "update", "state": {"value": 7}, "buffer_paths": []}
        await sidecar.send_comm(
            sidecar.root, message("comm_msg", view["model_id"], data), front_end=screen
        )

        assert states == [{"value": 4}]
        assert screen.text() == "now 4\nnow 7\n"
        assert (await sidecar.run(sidecar.root, "slider.value")).result == "7"

    async def test_an_output_widget_names_the_message_whose_outputs_it_wants(
        self, sidecar: Sidecar, screen: Any
    ) -> None:
        request = CellRequest(parent={"header": {"msg_id": "m1"}})

        await sidecar.run(
            sidecar.root,
            "import ipywidgets\nout = ipywidgets.Output()\nwith out: print('inside')",
            front_end=screen,
            request=request,
        )

        states = [m["data"]["state"] for m in screen.shown if m["output_type"] == "comm_msg"]
        assert [state["msg_id"] for state in states] == ["m1", ""]
        text_at = screen.kinds().index("stream")
        assert screen.shown[text_at - 1]["data"]["state"] == {"msg_id": "m1"}

    async def test_without_a_front_end_widgets_are_made_and_shown_as_text(
        self, sidecar: Sidecar
    ) -> None:
        observation = await sidecar.run(sidecar.root, "import ipywidgets\nipywidgets.IntSlider(3)")

        assert observation.result == "IntSlider(value=3)"
        assert len(observation.outputs) == 1
