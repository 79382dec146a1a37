from __future__ import annotations

import json
from pathlib import Path

import pytest
from exploracoder.errors import InputError, SetupError
from exploracoder_bench.ledger import Ledger, alone_in
from exploracoder_bench.plan import read_plan, write_plan

from .made_results import apart, made, plan


def test_what_was_kept_is_there_again_and_the_later_of_two_counts(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    ledger = Ledger(file)
    for result in (apart(), made(), made(seed=1)):
        ledger.append(result)

    again = Ledger(file)

    assert list(again) == [made(), made(seed=1)]
    assert again.is_finished(made().key)


def test_a_set_up_that_failed_finishes_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "results.jsonl")

    ledger.append(apart())

    assert not ledger.is_finished(apart().key)


def test_another_seed_or_setting_is_another_sample(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "results.jsonl")
    ledger.append(made())

    assert not ledger.is_finished(made(seed=1).key)
    assert not ledger.is_finished(made(options=("--set=m=1",)).key)


@pytest.mark.parametrize("kept_bytes", [1, 40, -1])
def test_half_a_line_that_a_kill_left_is_cut_off(tmp_path: Path, kept_bytes: int) -> None:
    file = tmp_path / "results.jsonl"
    Ledger(file).append(made())
    whole = file.read_bytes()
    file.write_bytes(whole + made(seed=1).model_dump_json().encode()[:kept_bytes])

    ledger = Ledger(file)
    half = file.read_bytes()
    ledger.append(made(seed=2))

    assert len(half) > len(whole)  # who reads changes nothing: another may be writing
    assert [one.seed for one in Ledger(file)] == [0, 2]
    assert file.read_bytes().startswith(whole)


def test_a_full_disk_is_said_and_leaves_no_half_line(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    ledger = Ledger(file)
    # The kernel's own full disk: every write to it fails.
    file.symlink_to("/dev/full")

    with pytest.raises(SetupError, match=r"cannot be written: No space left .* goes on"):
        ledger.append(made())
    assert ledger.find(made().key) is None


def test_a_folder_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "out/.lock").mkdir(parents=True)

    for folder in (tmp_path / "file/out", tmp_path / "out"):
        with (
            pytest.raises(SetupError, match=r"out cannot be used: .* another --out"),
            alone_in(folder),
        ):
            pass


def test_a_plan_that_does_not_fit_on_the_disk_is_said_and_leaves_the_one_before(
    tmp_path: Path,
) -> None:
    write_plan(tmp_path, plan())
    # The kernel's own full disk: every write to it fails.
    (tmp_path / ".plan.json").symlink_to("/dev/full")

    with pytest.raises(SetupError, match=r"plan\.json cannot be written: No space left .* room"):
        write_plan(tmp_path, plan(samples=2))
    assert read_plan(tmp_path) == plan()
    assert not (tmp_path / ".plan.json").is_symlink()

    write_plan(tmp_path, plan(samples=2))


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_text(json.dumps({"id": 1}) + "\n")

    with pytest.raises(InputError, match="holds a line that is no result"):
        Ledger(file)


def test_two_harnesses_do_not_work_in_one_folder(tmp_path: Path) -> None:
    with (
        alone_in(tmp_path),
        pytest.raises(InputError, match="Another bench run works in"),
        alone_in(tmp_path),
    ):
        pass
    with alone_in(tmp_path):
        pass
