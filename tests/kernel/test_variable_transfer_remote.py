"""Variables come along into a branch of another kernel, which shares no files with the first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel.arrivals import Arrivals
from exploracoder_kernel.kernel.branch_records import Records
from exploracoder_kernel.kernel.remote import RemoteSidecar
from exploracoder_kernel.kernel.request_contents import BadRequest
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar import Sidecar
from exploracoder_kernel.user_kernel import UserKernel
from exploracoder_kernel.variable_transfer import carry
from jupyter_client.asynchronous.client import AsyncKernelClient

from .conftest import attached

DEFINED = """
import threading
numbers = [1, 2]
alias = numbers
large = bytes(range(256)) * 4 * 4096 * 3
lock = threading.Lock()
def doubled():
    return [2 * n for n in numbers]
class Unmade:
    def __reduce__(self):
        return (open, ("/nowhere/at/all",))
unmade = Unmade()
"""


@pytest.fixture
async def remote(kernel_file: Path) -> AsyncIterator[RemoteSidecar]:
    """A client of the kernel that they go to; its branch is dropped afterwards."""
    async with attached(kernel_file) as sidecar:
        yield sidecar


async def test_they_are_there_also_after_the_branch_was_built_again(
    client: AsyncKernelClient, remote: RemoteSidecar
) -> None:
    transfer = await carry(
        UserKernel(client), ["numbers", "alias", "large", "doubled", "lock"], remote, remote.root
    )
    branch = await remote.fork(remote.root)
    look = "numbers, alias is numbers, len(large), large[255], doubled()"
    before = await remote.run(branch, look)
    await remote.run(branch, "import os; os._exit(1)")
    after = await remote.run(branch, look)

    assert [one.name for one in transfer.carried] == ["numbers", "alias", "large", "doubled"]
    assert [one.name for one in transfer.refused] == ["lock"]
    assert before.result == "([1, 2], True, 12582912, 255, [2, 4])"
    assert after.result == before.result


async def test_what_can_not_be_made_there_is_named_and_the_rest_goes(
    client: AsyncKernelClient, remote: RemoteSidecar
) -> None:
    transfer = await carry(UserKernel(client), ["unmade", "numbers"], remote, remote.root)

    assert [one.name for one in transfer.carried] == ["numbers"]
    assert [one.name for one in transfer.refused] == ["unmade"]
    assert (await remote.run(remote.root, "numbers")).result == "[1, 2]"


# What somebody may send as pieces of an upload, and what the answer has to say.
WRONG: tuple[tuple[str, dict[str, object], str], ...] = (
    ("upload", {"upload": "p", "offset": 5, "data": ""}, "0 bytes have come"),
    ("upload", {"upload": "p", "offset": 0, "data": "no base64!"}, "base64"),
    ("upload", {"upload": "p", "offset": -1, "data": ""}, "offset"),
    ("upload", {"upload": "", "offset": 0, "data": ""}, "upload"),
    ("upload", {"upload": "p", "offset": 0, "data": "A" * 12_000_000}, "at most"),
    (
        "unpickle",
        {"branch": "b0", "upload": "q", "report": {}},
        "Send it first",
    ),
)


@pytest.mark.parametrize(("verb", "content", "says"), WRONG)
async def test_pieces_that_make_no_upload_are_refused_in_words(
    remote: RemoteSidecar, verb: str, content: dict[str, object], says: str
) -> None:
    with pytest.raises(SidecarError, match=says):
        await remote._ask(verb, **content)

    assert (await remote.run(remote.root, "1 + 1", Limits())).result == "2"


async def test_only_so_many_uploads_wait_and_all_are_let_go(forking: Sidecar) -> None:
    arrivals = Arrivals(forking, Records(forking.root))

    for number in range(9):
        await arrivals.take(f"waiting {number}", 0, "AAAA")

    with pytest.raises(BadRequest, match="0 bytes have come"):
        await arrivals.take("waiting 0", 3, "AAAA")
    assert await arrivals.take("waiting 8", 3, "AAAA") == {"upload": "waiting 8", "size": 6}
    arrivals.close()
    with pytest.raises(BadRequest, match="0 bytes have come"):
        await arrivals.take("waiting 8", 6, "AAAA")
    arrivals.close()
