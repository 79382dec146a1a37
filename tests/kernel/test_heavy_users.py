"""What heavy users of a process observe is the same, however their branch was made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import pytest
from exploracoder_kernel.launch_command import Launcher
from exploracoder_kernel.observation import Observation
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sidecar import Sidecar
from exploracoder_kernel.sidecar_answers import Creation
from exploracoder_kernel.strategies import StrategyChoice

pytestmark = pytest.mark.thorough

TORCH = os.environ.get("EXPLORACODER_TEST_TORCH", "")
LIMITS = Limits(wall_seconds=3)
ALL = get_args(StrategyChoice)
# A forked child lacks what is named, and a fork that is insisted on does not ask.
NOT_FORCED = ("auto", "replay")


@dataclass(frozen=True)
class User:
    """Cells that use a process heavily, and what any branch of it is asked afterwards.

    ``made`` is how branches come about when the sidecar chooses.
    """

    name: str
    cells: tuple[str, ...]
    question: str
    answer: str
    made: Creation
    strategies: tuple[StrategyChoice, ...] = ALL
    environment: Mapping[str, str] = field(default_factory=dict)


LSTSQ = """
import numpy as np
rng = np.random.default_rng(7)
a, b = rng.normal(size=(600, 300)), rng.normal(size=600)
product = a.T @ a
solution = np.linalg.lstsq(a, b, rcond=None)[0]
"""
LSTSQ_AGAIN = (
    "(np.allclose(a.T @ a, product), np.allclose(np.linalg.lstsq(a, b, rcond=None)[0], solution))"
)
FRAME = """
import numpy as np, pandas as pd
rng = np.random.default_rng(7)
frame = pd.DataFrame({"key": rng.integers(0, 50, 20_000), "value": rng.normal(size=20_000)})
frame["when"] = pd.date_range("2024-01-01", periods=len(frame), freq="min")
means = frame.groupby("key")["value"].agg(["mean", "std", "count"])
merged = frame.merge(means, left_on="key", right_index=True).set_index("when").sort_index()
"""
FRAME_AGAIN = (
    "frame.loc[0, 'value'] = 0.0\n"
    "(len(merged.resample('1h')['value'].mean()), int(frame.groupby('key')['value'].count().sum()),"
    " round(float(frame.loc[0, 'value']), 3), merged.query('count > 0').shape)"
)
POOL = """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)
squares = list(pool.map(lambda n: n * n, range(50)))
"""
TICKER = """
import threading, time
ticks = []
def tick():
    while True:
        ticks.append(len(ticks)); time.sleep(0.01)
ticker = threading.Thread(target=tick, daemon=True); ticker.start()
"""
DATABASE = """
import sqlite3
base = sqlite3.connect({path!r})
for line in ("drop table if exists t", "create table t (n integer)"): base.execute(line)
many = base.executemany("insert into t values (?)", [(n,) for n in range(100)])
"""
ADD_A_ROW = "one = base.execute('insert into t values (1)')\n"
COUNT_ROWS = "base.execute('select count(*), sum(n) from t').fetchone()"
COUNT = ADD_A_ROW + COUNT_ROWS
LINES = "from pathlib import Path\nn = Path('in.txt').write_text('one\\ntwo\\nthree\\n' * 5000)"
TASKS = """
import asyncio
results = []
async def work(n):
    await asyncio.sleep(0.05 * n); results.append(n); return n
tasks = [asyncio.create_task(work(n)) for n in (3, 1, 2)]
await asyncio.sleep(0)
"""

TORCH_STEP = """
import torch
torch.manual_seed(7)
x, y = torch.randn(2000, 400), torch.randn(2000, 1)
net = torch.nn.Sequential(torch.nn.Linear(400, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
optimizer = torch.optim.Adam(net.parameters())
def train(steps):
    for step in range(steps):
        optimizer.zero_grad(); loss = ((net(x) - y) ** 2).mean(); loss.backward(); optimizer.step()
    return float(loss.detach())
first = train(3)
product = x.T @ x
"""
TORCH_AGAIN = "(train(3) < first, bool(torch.allclose(x.T @ x, product)))"

USERS = [
    User("numpy", (LSTSQ,), LSTSQ_AGAIN, "(True, True)", "fork"),
    User(
        "numpy-with-threads-of-openblas",
        (LSTSQ,),
        LSTSQ_AGAIN,
        "(True, True)",
        "fork",
        environment={"OPENBLAS_NUM_THREADS": "4"},
    ),
    User("pandas", (FRAME,), FRAME_AGAIN, "(334, 20000, 0.0, (20000, 5))", "fork"),
    User("thread-pool", (POOL,), "pool.submit(pow, 2, 10).result(), squares[-1]", "(1024, 2401)",
         "replay"),
    User("ticking-thread", (TICKER,), "before = len(ticks); time.sleep(0.3)\n"
         "ticker.is_alive() and len(ticks) > before", "True", "replay", NOT_FORCED),
    User("sqlite-in-memory", (DATABASE.format(path=":memory:") + "base.commit()",), COUNT,
         "(101, 4951)", "fork"),
    User("sqlite-in-memory-in-a-transaction", (DATABASE.format(path=":memory:"),),
         f"{COUNT}, base.in_transaction, base.rollback()", "((101, 4951), True, None)", "fork"),
    User("file-being-read", (LINES, "file = open('in.txt'); head = file.readline()"),
         "len(file.read()), file.tell()", "(69996, 70000)", "fork"),
    User("file-being-written", ("file = open('out.txt', 'w'); n = file.write('head ')",),
         "n = file.write('tail'); file.flush(); open('out.txt').read()", "'head tail'", "fork"),
    User("file-being-appended-to", ("file = open('out.txt', 'w+b'); n = file.write(b'head ')",
         "file.flush()"), "n = file.write(b'tail'); n = file.seek(0); file.read()", "b'head tail'",
         "fork"),
    User("event-loop-with-tasks", (TASKS,), "(await asyncio.gather(*tasks)), results",
         "([3, 1, 2], [1, 2, 3])", "replay"),
]  # fmt: skip


async def observe(
    sidecar: Sidecar, user: User
) -> tuple[list[tuple[str, str | None, str | None]], set[Creation]]:
    """What two children, their parent and a grandchild answer, and how the branches were made."""
    for cell in user.cells:
        observation = await sidecar.run(sidecar.root, cell)
        assert observation.ran, observation.error
    one, two = await sidecar.fork(sidecar.root), await sidecar.fork(sidecar.root)
    below = await sidecar.fork(one)
    creations = {info.created for info in sidecar.tree()[1:3]}
    observations = [
        await sidecar.run(branch, user.question, LIMITS)
        for branch in (one, two, sidecar.root, below)
    ]
    return [seen(observation) for observation in observations], creations


def seen(observation: Observation) -> tuple[str, str | None, str | None]:
    error = observation.error
    return observation.status, observation.result, error and f"{error.ename}: {error.evalue}"


@pytest.mark.parametrize(
    ("user", "choice"),
    [
        pytest.param(user, choice, id=f"{user.name}-{choice}")
        for user in USERS
        for choice in user.strategies
    ],
)
async def test_a_heavy_user_observes_the_same_in_every_branch(
    user: User, choice: StrategyChoice, tmp_path: Path, launcher: Launcher
) -> None:
    async with Sidecar(
        cwd=tmp_path, strategy=choice, env=user.environment, launcher=launcher
    ) as sidecar:
        answers, creations = await observe(sidecar, user)

    assert answers == [("ok", user.answer, None)] * 4
    assert creations == {user.made if choice == "auto" else choice}


@pytest.mark.levels("strict", "network", reason="elsewhere all branches write to one file")
@pytest.mark.parametrize(("end", "is_open"), [("base.commit()", False), ("", True)])
@pytest.mark.parametrize("choice", NOT_FORCED)
async def test_a_database_file_is_each_branchs_own(
    end: str, is_open: bool, choice: StrategyChoice, tmp_path: Path, launcher: Launcher
) -> None:
    user = User(
        "sqlite-file",
        (DATABASE.format(path="x.db") + end, "was_open = base.in_transaction"),
        f"{ADD_A_ROW}was_open, {COUNT_ROWS}",
        f"({is_open}, (101, 4951))",
        "replay",
    )
    async with Sidecar(cwd=tmp_path, strategy=choice, launcher=launcher) as sidecar:
        answers, creations = await observe(sidecar, user)

    assert answers == [("ok", user.answer, None)] * 4
    assert creations == {"replay"}


async def test_openblas_has_threads_before_it_is_forked(tmp_path: Path, launcher: Launcher) -> None:
    """Otherwise the user above would show nothing."""
    threads = "import os\nlen(os.listdir('/proc/self/task'))"
    environment = {"OPENBLAS_NUM_THREADS": "4"}
    async with Sidecar(cwd=tmp_path, env=environment, launcher=launcher) as sidecar:
        await sidecar.run(sidecar.root, LSTSQ)
        before = await sidecar.run(sidecar.root, threads)
        child = await sidecar.fork(sidecar.root)
        after = await sidecar.run(sidecar.root, threads)
        await sidecar.run(child, LSTSQ_AGAIN)
        again = await sidecar.run(child, threads)

    several = min(4, len(os.sched_getaffinity(0)))
    counts = (before.result, after.result, again.result)
    assert counts == (str(several), "1", str(several))


@pytest.mark.torch
@pytest.mark.parametrize(
    ("threads", "made"), [("1", "fork"), ("4", "replay")], ids=["one-thread", "four-threads"]
)
@pytest.mark.parametrize("choice", ALL)
async def test_pytorch_observes_the_same_after_a_parallel_region(
    threads: str, made: Creation, choice: StrategyChoice, tmp_path: Path, launcher: Launcher
) -> None:
    environment = {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
    user = User("torch", (TORCH_STEP,), TORCH_AGAIN, "(True, True)", made)
    async with Sidecar(
        TORCH,
        tmp_path,
        strategy=choice,
        env=environment,
        launcher=launcher,
        limits=Limits(wall_seconds=60),
    ) as sidecar:
        answers, creations = await observe(sidecar, user)

    assert answers == [("ok", user.answer, None)] * 4
    assert creations == {made if choice == "auto" else choice}
