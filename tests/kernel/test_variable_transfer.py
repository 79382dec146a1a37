"""Variables of a running kernel come along into a branch, and the kernel notices nothing."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from cloudpickle import cloudpickle
from exploracoder_kernel.branch.pickling import pickle_variables
from exploracoder_kernel.errors import KernelError
from exploracoder_kernel.pickled_variables import PickleRequest
from exploracoder_kernel.sidecar import Sidecar
from exploracoder_kernel.user_kernel import UserKernel, attach
from exploracoder_kernel.variable_transfer import VariableTransfer, carry
from jupyter_client.asynchronous.client import AsyncKernelClient

import __main__

DEFINED = """
import json, socket, sqlite3, threading
import numpy as np

numbers = [1, 2]
alias = numbers
table = {"numbers": numbers}
array = np.arange(6.0).reshape(2, 3)
RATE = 3

def scaled(n):
    return n * RATE

class Jar:
    def __init__(self, size):
        self.size = size

    def filled(self):
        return scaled(self.size)

jar = Jar(4)
filled = jar.filled
double = lambda n: 2 * n
def closes_over(n):
    return lambda: n + RATE
closure = closes_over(10)
"""


async def execute(client: AsyncKernelClient, code: str) -> None:
    reply = await client.execute(code, reply=True, timeout=60)
    assert reply["content"]["status"] == "ok", reply["content"]


async def evaluate(client: AsyncKernelClient, expression: str) -> Any:
    """What an expression is in the kernel, which must notice as little of this as of us."""
    expressions = {"it": expression}
    reply = await client.execute(
        "", silent=True, user_expressions=expressions, reply=True, timeout=60
    )
    return eval(reply["content"]["user_expressions"]["it"]["data"]["text/plain"])


async def reason(client: AsyncKernelClient, sidecar: Sidecar, name: str) -> str:
    """Why a name is refused."""
    transfer = await carry(UserKernel(client), [name], sidecar, sidecar.root)
    assert transfer.carried == ()
    return transfer.refused[0].reason


def names(transfer: VariableTransfer) -> list[str]:
    return [variable.name for variable in transfer.carried if variable.is_chosen]


async def test_what_comes_along_is_there_in_every_branch(
    client: AsyncKernelClient, sidecar: Sidecar
) -> None:
    chosen_names = [
        "numbers",
        "alias",
        "table",
        "array",
        "jar",
        "filled",
        "double",
        "closure",
        "np",
    ]

    transfer = await carry(UserKernel(client), chosen_names, sidecar, sidecar.root)
    branch = await sidecar.fork(sidecar.root)
    observation = await sidecar.run(
        branch,
        "numbers.append(3)\n"
        "print(table, alias is numbers, array.sum(), np.__name__, filled(), double(4), closure(),"
        " filled.__self__ is jar, isinstance(jar, Jar), Jar(1).filled())",
    )

    assert names(transfer) == chosen_names
    assert transfer.refused == ()
    assert {variable.name: variable.type for variable in transfer.carried}["jar"] == "Jar"
    assert all(variable.size_bytes > 0 for variable in transfer.carried if variable.is_chosen)
    assert observation.stdout == "{'numbers': [1, 2, 3]} True 15.0 numpy 12 8 13 True True 3\n"
    assert (await sidecar.run(sidecar.root, "numbers")).result == "[1, 2]"


async def test_a_function_brings_what_it_needs_and_sees_the_branchs_names(
    client: AsyncKernelClient, sidecar: Sidecar
) -> None:
    transfer = await carry(UserKernel(client), ["scaled"], sidecar, sidecar.root)
    before = await sidecar.run(sidecar.root, "scaled(2)")
    after = await sidecar.run(sidecar.root, "RATE = 100\nscaled(2)")
    round_trip = await sidecar.run(
        sidecar.root, "import pickle\npickle.loads(pickle.dumps(scaled)) is scaled"
    )

    assert [(one.name, one.is_chosen) for one in transfer.carried] == [
        ("scaled", True),
        ("RATE", False),
    ]
    assert (before.result, after.result) == ("6", "200")
    assert round_trip.result == "True"


async def test_tables_of_pandas_come_along(client: AsyncKernelClient, sidecar: Sidecar) -> None:
    await execute(
        client,
        "import pandas as pd\n"
        "frame = pd.DataFrame({'day': pd.date_range('2024-01-01', periods=4), 'kind': list('abab'),"
        " 'n': [1.5, 2, None, 4]}).astype({'kind': 'category'}).set_index('day')\n"
        "column = frame['n']\ngrouped = frame.groupby('kind', observed=True)",
    )

    transfer = await carry(
        UserKernel(client), ["frame", "column", "grouped", "pd"], sidecar, sidecar.root
    )
    observation = await sidecar.run(
        sidecar.root,
        "print(frame.dtypes['kind'], frame.index[-1].day, column.sum(), len(grouped), pd.NA)\n"
        "frame.loc['2024-01-02', 'n'] = 0; print(frame['n'].sum())",
    )

    assert names(transfer) == ["frame", "column", "grouped", "pd"]
    assert observation.stdout == "category 4 7.5 2 <NA>\n5.5\n", observation
    assert await evaluate(client, "float(frame['n'].sum())") == 7.5


async def test_a_branch_that_dies_is_built_again_with_them(
    client: AsyncKernelClient, sidecar: Sidecar
) -> None:
    await carry(UserKernel(client), ["numbers", "jar"], sidecar, sidecar.root)
    await sidecar.run(sidecar.root, "numbers.append(jar.filled())")
    observation = await sidecar.run(sidecar.root, "import os; os._exit(1)")

    assert observation.status == "killed"
    assert (await sidecar.run(sidecar.root, "numbers")).result == "[1, 2, 12]"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("(n for n in range(3))", "it is a generator, whose position can't be copied"),
        ("open(__import__('os').devnull)", "it is an open file"),
        ("[open(__import__('os').devnull, 'wb')]", "it holds an open file"),
        ("socket.socket()", "it is a network connection"),
        ("threading.Lock()", "it is a lock"),
        ("threading.Thread()", "it holds a lock"),
        ("sqlite3.connect(':memory:')", "it is a database connection"),
        ("{'c': sqlite3.connect(':memory:').cursor()}", "it holds a database cursor"),
        ("memoryview(b'x').__iter__()", "can't be"),
        ("type('Own', (), {'__reduce__': lambda s: 1 / 0})()", "ZeroDivisionError"),
        ("__import__('functools').reduce(lambda n, _: [n], range(100_000), [])", "too deeply"),
        (
            "type('Own', (), {'__setstate__': lambda s, t: 1 / 0, '__getstate__': lambda s: 1})()",
            "the branch's Python can't make it: ZeroDivisionError: division by zero",
        ),
    ],
)
async def test_what_cannot_go_is_refused_in_words(
    client: AsyncKernelClient, forking: Sidecar, value: str, words: str
) -> None:
    await execute(client, f"unfit = {value}\nalso_fit = [numbers]")

    transfer = await carry(
        UserKernel(client), ["numbers", "unfit", "also_fit"], forking, forking.root
    )

    assert [(one.name, words in one.reason) for one in transfer.refused] == [("unfit", True)], (
        transfer
    )
    assert names(transfer) == ["numbers", "also_fit"]
    observation = await forking.run(forking.root, "also_fit[0] is numbers, 'unfit' in dir()")
    assert observation.result == "(True, False)"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing", "the kernel has no variable of this name"),
        ("1 + 1", "it is not a name in Python"),
        ("class", "it is not a name in Python"),
        ("In", "it is IPython's own"),
        ("get_ipython", "it is IPython's own"),
    ],
)
async def test_what_is_no_variable_is_refused(
    client: AsyncKernelClient, forking: Sidecar, name: str, words: str
) -> None:
    assert await reason(client, forking, name) == words


async def test_more_than_the_limit_is_refused_and_shared_bytes_count_once(
    client: AsyncKernelClient, forking: Sidecar
) -> None:
    await execute(client, "big = bytes(600_000)\nsame = [big]\nother = bytes(bytearray(500_000))")

    transfer = await carry(
        UserKernel(client),
        ["big", "same", "other", "RATE"],
        forking,
        forking.root,
        limit_bytes=1_000_000,
    )
    alone = await carry(UserKernel(client), ["big"], forking, forking.root, limit_bytes=100_000)

    assert names(transfer) == ["big", "same", "RATE"]
    assert transfer.refused[0].reason == "with the others it is over 1,000,000 bytes"
    assert alone.refused[0].reason == "it is over 100,000 bytes"


async def test_what_a_refused_variable_shares_with_others_comes_along(
    client: AsyncKernelClient, forking: Sidecar
) -> None:
    await execute(client, "part = [1]\nwhole = [part, scaled, array, threading.Lock()]")

    transfer = await carry(
        UserKernel(client), ["whole", "part", "array", "scaled"], forking, forking.root
    )
    observation = await forking.run(forking.root, "part, array.size, scaled(2)")

    assert names(transfer) == ["part", "array", "scaled"]
    assert observation.result == "([1], 6, 6)"


@pytest.mark.parametrize("count", [1, 1_000_000], ids=["on flushing", "on writing"])
def test_a_full_disk_is_no_fault_of_a_variable(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(__main__, "kept", bytes(count), raising=False)
    request = PickleRequest(names=("kept",), python="3.0", limit_bytes=1 << 30).model_dump()

    with pytest.raises(OSError, match="space"), Path("/dev/full").open("wb") as file:
        pickle_variables(request, file, cloudpickle)


async def test_a_library_that_the_branch_lacks_is_named(
    client: AsyncKernelClient, plain_python: Path, tmp_path: Path
) -> None:
    async with Sidecar(plain_python, tmp_path) as plain:
        transfer = await carry(UserKernel(client), ["array", "table", "jar"], plain, plain.root)
        observation = await plain.run(plain.root, "table, jar.filled()")

    assert [(one.name, one.reason) for one in transfer.refused] == [
        ("array", "the branch's Python has no module 'numpy'")
    ]
    assert observation.result == "({'numbers': [1, 2]}, 12)"


async def test_what_another_version_of_a_library_lacks_takes_nothing_else_with_it(
    client: AsyncKernelClient, forking: Sidecar
) -> None:
    await execute(
        client,
        "json.Extra = type('Extra', (), {'__module__': 'json'})\nextra = json.Extra()\n"
        "holder = [numbers, extra]\nouter = [table, holder]",
    )
    chosen_names = ["numbers", "extra", "holder", "outer", "table"]

    transfer = await carry(UserKernel(client), chosen_names, forking, forking.root)
    observation = await forking.run(forking.root, "table['numbers'] is numbers, 'extra' in dir()")

    assert names(transfer) == ["numbers", "table"]
    assert [one.name for one in transfer.refused] == ["extra", "holder", "outer"]
    assert all("its library is not the same" in one.reason for one in transfer.refused)
    assert observation.result == "(True, False)"


async def test_another_version_of_python_gets_data_and_no_code(client: AsyncKernelClient) -> None:
    chosen_names = ("numbers", "array", "json", "scaled", "jar", "Jar")
    request = PickleRequest(names=chosen_names, python="3.9.2", limit_bytes=1 << 20)

    variables = await UserKernel(client).pickle(request)

    with variables.file as file:
        assert len(file.read()) == sum(one.size_bytes for one in variables.report.variables) > 0
    assert [one.name for one in variables.report.variables] == ["numbers", "array", "json"]
    reasons = {one.name: one.reason for one in variables.report.refused}
    own = "{}.{}".format(*sys.version_info)
    words = f"code that was compiled by Python {own}, which Python 3.9.2 can't run"
    assert reasons == {
        "scaled": f"it is {words}",
        "jar": f"it holds {words}",
        "Jar": f"it is {words}",
    }


async def test_the_kernel_notices_nothing_and_no_file_is_left(
    client: AsyncKernelClient, forking: Sidecar, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    await execute(client, "41 + 1")
    state = (
        "(sorted(globals()), sorted(__import__('sys').modules), __import__('sys').path,"
        " get_ipython().execution_count, _, _i, len(In), dict(Out))"
    )
    before = await evaluate(client, state)

    await carry(UserKernel(client), ["numbers", "jar", "missing"], forking, forking.root)

    assert await evaluate(client, state) == before
    assert list(temporary.iterdir()) == []


async def test_the_kernels_own_cloudpickle_stays_its_own(
    client: AsyncKernelClient, forking: Sidecar
) -> None:
    await execute(client, "import sys, types; sys.modules['cloudpickle'] = types.ModuleType('own')")
    try:
        transfer = await carry(UserKernel(client), ["jar"], forking, forking.root)

        assert names(transfer) == ["jar"]
        assert await evaluate(client, "sys.modules['cloudpickle'].__name__") == "own"
    finally:
        await execute(client, "del sys.modules['cloudpickle']")


async def test_what_imports_cloudpickle_while_it_is_made_finds_it(
    client: AsyncKernelClient, forking: Sidecar
) -> None:
    load = "__import__('cloudpickle').loads(b'I1\\n.')"
    reduce = f"lambda self: (eval, ({load!r},))"
    await execute(client, f"importing = type('Own', (), {{'__reduce__': {reduce}}})()")

    transfer = await carry(UserKernel(client), ["importing"], forking, forking.root)

    assert transfer.refused == ()
    assert (await forking.run(forking.root, "importing")).result == "1"


async def test_a_busy_kernel_is_waited_for_and_never_interrupted(
    client: AsyncKernelClient, forking: Sidecar
) -> None:
    client.execute("import time; time.sleep(2); slept = 'to the end'")

    with pytest.raises(KernelError, match=r"busy for 0\.5 s, and is not interrupted"):
        await carry(UserKernel(client, busy_seconds=0.5), ["numbers"], forking, forking.root)
    transfer = await carry(UserKernel(client), ["slept"], forking, forking.root)

    assert names(transfer) == ["slept"]
    assert (await forking.run(forking.root, "slept")).result == "'to the end'"


@pytest.fixture
def ended(connection_file: str, tmp_path: Path) -> str:
    """The connection file of a kernel that is not there any more."""
    info = json.loads(Path(connection_file).read_text()) | {"ip": str(tmp_path / "gone")}
    (tmp_path / "kernel.json").write_text(json.dumps(info))
    return str(tmp_path / "kernel.json")


async def test_a_kernel_that_has_ended_is_named(ended: str, forking: Sidecar) -> None:
    async with attach(ended) as client:
        with pytest.raises(KernelError, match="Has it ended"):
            await carry(UserKernel(client), ["x"], forking, forking.root)


async def test_a_file_that_names_no_kernel_is_refused(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "text.json").write_text("no")

    for name in ("list.json", "text.json"):
        with pytest.raises(KernelError, match="not a kernel's connection file"):
            async with attach(str(tmp_path / name)):
                pass
    with pytest.raises(KernelError, match="No connection file"):
        async with attach(str(tmp_path / "missing.json")):
            pass


async def test_a_cell_that_fails_meanwhile_stops_no_bringing(
    client: AsyncKernelClient, forking: Sidecar
) -> None:
    client.execute("import time; time.sleep(0.5); 1 / 0")

    assert names(await carry(UserKernel(client), ["numbers"], forking, forking.root)) == ["numbers"]


async def test_bringing_can_be_cancelled(client: AsyncKernelClient, forking: Sidecar) -> None:
    client.execute("import time; time.sleep(1)")
    bringing = asyncio.create_task(carry(UserKernel(client), ["numbers"], forking, forking.root))
    await asyncio.sleep(0.2)
    bringing.cancel()

    with pytest.raises(asyncio.CancelledError):
        await bringing
    assert names(await carry(UserKernel(client), ["numbers"], forking, forking.root)) == ["numbers"]
