"""The table of branches against fresh kernels: small, and with everything in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder_bench import branching
from exploracoder_bench.branching import Chain, chain_by, in_fresh_kernel, in_notebook, state_cell
from exploracoder_kernel.sidecar import Sidecar


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two steps of two candidates, and all else small."""
    small = {"STEPS": 2, "CANDIDATES": 2, "SIZES_MB": (0, 1), "SLEEP_S": 0.1, "ROUNDS": 1}
    for name, value in ({"SANDBOXES": ("off",)} | small).items():
        monkeypatch.setattr(branching, name, value)


async def test_the_chain_goes_on_from_the_first_candidate_of_each_step() -> None:
    async with Sidecar() as sidecar:
        chain = Chain(sidecar)
        await chain.begin()
        await chain.explore()
        back = await chain.go_back()
        last = sidecar.tree()[-1]

        assert (await sidecar.run(last.id, "values[-2:]")).result == "[0, 1]"
        assert [len(times) for times in back] == [1, 1]
        # The root and a branch for each step: what lost, and what went back, is gone.
        assert len(sidecar.tree()) == 3


async def test_the_other_ways_run_all_cells_before_each_candidate() -> None:
    ran: list[list[str]] = []

    async def note(cells: list[str]) -> float:
        ran.append(cells)
        return 1.0

    seconds = await chain_by(note)  # type: ignore[arg-type]

    assert seconds == 1.0
    assert [len(cells) for cells in ran] == [2, 2, 3, 3]
    assert ran[2][1] == ran[0][1]


@pytest.mark.parametrize("way", [in_fresh_kernel, in_notebook])
async def test_a_cell_that_fails_stops_the_measurement(way: branching.Way) -> None:
    with pytest.raises(RuntimeError, match="nothing was measured"):
        await way(["x = 1", "x / 0"])


def test_a_state_has_the_size_that_it_says() -> None:
    names: dict[str, bytearray] = {}
    exec(state_cell(2), names)

    assert names["state"] == b"x" * 2_000_000


@pytest.mark.thorough
@pytest.mark.slow
def test_one_run_measures_every_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert branching.main([]) == 0

    output = capsys.readouterr().out
    rows = [line.split(" | ") for line in output.splitlines() if line.startswith("| ")][2:]
    parts = [row[0].removeprefix("| ") for row in rows]
    assert parts == ["state"] * 6 + ["chain"] * 3 + ["back"] * 2 + ["sleep"]
    assert not any(row[3].startswith("0 ") for row in rows)
    assert "load average before" in output
