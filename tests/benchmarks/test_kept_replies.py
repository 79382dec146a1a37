"""Replies of a run as a text file, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from exploracoder.models.cache import ReplyCache
from exploracoder.models.chat import Reply
from exploracoder.models.usage import Usage
from exploracoder_bench.kept_replies import main, unpack

REPLY = Reply(texts=("### Done",), usage=Usage(calls=1, prompt_tokens=7), model="strong")


def test_replies_come_back_as_they_were(tmp_path: Path) -> None:
    ReplyCache(tmp_path / "run/replies/tea/exploration", is_free=False).put("k/1", REPLY)
    file = tmp_path / "replies.jsonl"

    assert main(["pack", str(tmp_path / "run"), str(file)]) == 0
    assert main(["unpack", str(file), str(tmp_path / "again")]) == 0

    kept = ReplyCache(tmp_path / "again/replies/tea/exploration", is_free=False)
    assert kept.get("k/1") == REPLY


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("tea", "holds no reply"),
        (json.dumps({"folder": "../../x", "key": "k", "reply": REPLY.model_dump()}), "leads out"),
    ],
)
def test_a_line_that_cannot_be_used_is_refused(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        unpack(iter([line]), tmp_path / "run")

    assert not (tmp_path / "x").exists()


def test_without_a_command_it_says_how(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "pack OUT FILE" in capsys.readouterr().err
