"""Replies of a run as a text file, and the run again without a model."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from exploracoder import prompts
from exploracoder.errors import InputError, ModelError
from exploracoder.models.chat import Reply
from exploracoder.models.model_cost import Usage
from exploracoder.models.reply_cache import ReplyCache
from exploracoder.testing import ScriptedModelServer
from exploracoder_bench.cli import bench
from exploracoder_bench.kept_replies import ReplySource, about, keep, unpack
from exploracoder_bench.ledger import Ledger
from exploracoder_bench.plan import write_plan

from .made_results import NOT_COMPARED, plan, provenance

REPLY = Reply(texts=("### Done",), usage=Usage(calls=1, prompt_tokens=7), model="strong")
ANSWER = "```python\ndef spell(numbers):\n    return [frumpkin.frumple(n) for n in numbers]\n```"
WHOSE = ReplySource(
    model="strong", identity="0", endpoint="http://127.0.0.1:1/v1"
).model_dump_json()


def bench_run(kit: Path, out: Path, *words: str) -> Result:
    arguments = ["run", "--problems", str(kit), "--select", "Tiny/0", "--out", str(out)]
    arguments += ["--pythons", sys.executable, "--checks", "hidden"]
    return CliRunner().invoke(bench, [*arguments, *words], standalone_mode=False)


def a_run(folder: Path, **about_it: str) -> Path:
    """A run with one kept reply."""
    record = provenance(endpoint="http://127.0.0.1:1/v1", prompts=prompts.fingerprints())
    write_plan(folder, plan(model="strong", provenance=record, **about_it))
    ReplyCache(folder / "replies/tea/exploration", is_free=False).put("k/1", REPLY)
    return folder


def test_replies_come_back_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"

    assert keep(a_run(tmp_path / "run"), file) == 1
    assert about(file).model == "strong"
    assert unpack(file, tmp_path / "again") == 1

    cache = ReplyCache(tmp_path / "again/replies/tea/exploration", is_free=False)
    assert cache.get("k/1") == REPLY


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("tea", "line 2, holds no reply"),
        (json.dumps({"folder": "../../x", "key": "k", "reply": REPLY.model_dump()}), "leads out"),
    ],
)
def test_a_line_that_cannot_be_used_is_refused(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "file").write_text(f"{WHOSE}\n{line}\n")

    with pytest.raises(InputError, match=said):
        unpack(tmp_path / "file", tmp_path / "run")

    assert not (tmp_path / "x").exists()


def test_replies_to_other_prompts_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    keep(a_run(tmp_path / "run"), file)
    file.write_text(file.read_text().replace(prompts.fingerprint("cells"), "1:0"))

    with pytest.raises(InputError, match=r"to other prompts: cells changed since.*code of then"):
        about(file)


def test_a_run_that_has_no_endpoint_and_a_file_without_a_head_are_refused(tmp_path: Path) -> None:
    write_plan(tmp_path, plan(provenance=provenance()))
    (tmp_path / "file").write_text("{}\n")

    with pytest.raises(InputError, match="a run of the embedded model"):
        keep(tmp_path, tmp_path / "replies.jsonl")
    with pytest.raises(InputError, match="does not say whose replies"):
        about(tmp_path / "file")


def test_a_closed_cache_asks_nobody(tmp_path: Path) -> None:
    ReplyCache(tmp_path).put("k", REPLY)
    cache = ReplyCache(tmp_path, is_closed=True)

    assert cache.get("k") == REPLY.model_copy(update={"from_cache": True})
    with pytest.raises(ModelError, match="has no reply to what is asked now"):
        cache.get("other")


def test_the_kept_replies_of_the_repository_say_whose_they_are() -> None:
    files = list((Path(__file__).parents[2] / "benchmarks/results").rglob("replies.jsonl"))

    origins = [
        ReplySource.model_validate_json(file.read_text().partition("\n")[0]) for file in files
    ]
    assert len(origins) >= 4
    assert {one.model for one in origins} == {"strong"}


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_a_run_is_repeated_from_its_kept_replies_without_a_model(kit: Path, tmp_path: Path) -> None:
    first, again, file = tmp_path / "first", tmp_path / "again", tmp_path / "replies.jsonl"
    with ScriptedModelServer(lambda _: ANSWER) as server:
        options = ["--model", server.model, "--base-url", server.base_url, "--method", "direct"]
        result = bench_run(kit, first, *options)
    assert result.return_value == 0, result.output

    keep(first, file)
    rerun = bench_run(kit, again, "--method", "direct", "--replies", str(file))

    assert rerun.return_value == 0, rerun.output
    rows = [
        [
            one.model_dump(exclude=NOT_COMPARED | {"provenance"})
            for one in Ledger(out / "results.jsonl")
        ]
        for out in (first, again)
    ]
    assert rows[0] == rows[1]
    assert rows[0][0]["status"] == "solved"
