"""A notebook that this server did not make runs only after its user has seen what it would run."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from exploracoder import document
from exploracoder.state import Task
from exploration.samples import exploration

from .server import Answer, Client

SOME_ID = "0" * 32
CONTEXT = 'text = "assam 5"'


@dataclass(frozen=True, slots=True)
class Notebook:
    """A stranger's, which names a folder of the user's as library."""

    file: Path
    client: Client

    @property
    def text(self) -> str:
        return self.file.read_text(encoding="utf-8")

    def replace(self, before: str, after: str) -> None:
        assert before in self.text
        self.file.write_text(self.text.replace(before, after), encoding="utf-8")

    async def ask(self, verb: str, digest: str = "") -> Answer:
        body = {"path": self.file.name, "agreed": digest}
        return await self.client.post(f"explorations/{verb}", body)

    async def resume_and_close(self) -> Answer:
        """Agree to what is shown."""
        preview = (await self.ask("open")).json["preview"]
        answer = await self.ask("open", preview["digest"])
        await self.client.rested(answer.json["exploration"]["id"])
        await self.client.ask("DELETE", f"explorations/{answer.json['exploration']['id']}")
        return answer


@pytest.fixture
def foreign(client: Client) -> Notebook:
    root, id_ = client.server.root, uuid4().hex
    library = str(root / "project" / "tealeaf")
    task = Task(text=f"Name {id_}", libraries=(library,), context=CONTEXT)
    sample = exploration(id=id_, task=task, steps=(), solution=None, is_planned=False)
    file = root / f"{id_}.ipynb"
    file.write_text(json.dumps(document.to_notebook(sample, 3)), encoding="utf-8")
    return Notebook(file, client)


@pytest.mark.parametrize("verb", ["open", "replay"])
async def test_what_it_would_run_and_read_is_shown_before_anything_is_started(
    client: Client, foreign: Notebook, verb: str
) -> None:
    before = foreign.text
    kernels = await client.jupyter("GET", "kernels")
    async with client.tab() as tab:
        await tab.read()
        answer = await foreign.ask(verb)
        with pytest.raises(asyncio.TimeoutError):
            await tab.read(1)

    preview, root = answer.json["preview"], str(client.server.root)
    assert answer.status == 409
    assert "was not made here by you" in answer.message
    assert preview["code"] == f"# context\n{CONTEXT}"
    assert (preview["cells"], preview["check"]) == (1, False)
    assert preview["reads"] == [root, f"{root}/project/tealeaf"]
    assert preview["python"] and preview["sandbox"]
    assert await client.jupyter("GET", "kernels") == kernels
    assert foreign.text == before


async def test_a_model_that_it_names_is_not_asked(client: Client, foreign: Notebook) -> None:
    choice = {"name": "tea", "base_url": "http://127.0.0.1:9/v1"}
    content = json.loads(foreign.text)
    content["metadata"]["exploracoder"]["choice"] = choice
    foreign.file.write_text(json.dumps(content), encoding="utf-8")

    answer = await foreign.resume_and_close()

    assert answer.status == 200, answer.text
    assert answer.json["exploration"]["choice"] == {"name": "", "base_url": ""}


async def test_agreeing_to_what_was_shown_resumes_it_and_is_remembered(foreign: Notebook) -> None:
    answer = await foreign.resume_and_close()
    again = await foreign.ask("replay")

    assert answer.status == 200, answer.text
    assert again.status == 200, again.text


async def test_what_changed_after_it_was_shown_is_shown_again(foreign: Notebook) -> None:
    preview = (await foreign.ask("replay")).json["preview"]
    foreign.replace("assam 5", "assam 6")

    guess = await foreign.ask("replay", "a guess")
    again = await foreign.ask("replay", preview["digest"])

    assert (guess.status, again.status) == (409, 409)
    assert "assam 6" in again.json["preview"]["code"]


async def test_ones_own_notebook_that_comes_back_with_other_code_is_asked_about(
    foreign: Notebook,
) -> None:
    await foreign.resume_and_close()
    revision = json.loads(foreign.text)["metadata"]["exploracoder"]["revision"]
    foreign.replace(f'"revision": {revision}', '"revision": 1000000')
    foreign.replace("assam 5", "assam 6")

    answer = await foreign.ask("open")

    assert answer.status == 409
    assert "assam 6" in answer.json["preview"]["code"]
