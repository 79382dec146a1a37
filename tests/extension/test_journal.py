"""What a server's journal gives back after the server was upgraded."""

from __future__ import annotations

import json
from pathlib import Path

from exploracoder_jupyter.journal import Journal, JournalEntry, heading_of
from exploration.samples import exploration


def test_an_entry_with_a_setting_that_is_gone_is_read_like_such_a_notebook(tmp_path: Path) -> None:
    whole = exploration()
    journal = Journal(tmp_path, tmp_path)
    journal.write(JournalEntry(heading_of(whole, "tea.ipynb", 7), whole))
    (file,) = tmp_path.glob("*.json")
    heading, rest = file.read_text(encoding="utf-8").splitlines()
    older = json.loads(rest)
    older["settings"]["steeping"] = "long"
    file.write_text(f"{heading}\n{json.dumps(older)}\n", encoding="utf-8")

    entry = journal.read(whole.id)

    assert entry is not None
    assert entry.heading.revision == 7
    assert entry.exploration == whole


def test_an_entry_that_cannot_be_read_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    whole = exploration()
    journal = Journal(tmp_path, tmp_path)
    journal.write(JournalEntry(heading_of(whole, "tea.ipynb", 7), whole))
    (file,) = tmp_path.glob("*.json")
    for rest in ("", "[]", "{", '{"schema_version": 99}', '"tea"'):
        file.write_text(f"{heading_line(file)}\n{rest}\n", encoding="utf-8")

        assert journal.read(whole.id) is None


def test_servers_in_other_folders_see_what_they_can_open(tmp_path: Path) -> None:
    whole = exploration()
    tea, coffee = tmp_path / "tea", tmp_path / "coffee"
    folder = tmp_path / "journal"
    heading = heading_of(whole, "green/tea.ipynb", 7)
    Journal(folder, tea).write(
        JournalEntry(heading.model_copy(update={"source_path": "a.ipynb"}), whole)
    )
    above, beside, within = (Journal(folder, root) for root in (tmp_path, coffee, tea / "green"))

    assert [one.path for one in above.headings()] == ["tea/green/tea.ipynb"]
    assert [one.source_path for one in above.headings()] == ["tea/a.ipynb"]
    assert [one.path for one in within.headings()] == ["tea.ipynb"]
    assert beside.headings() == ()
    assert above.find("tea/green/tea.ipynb") is not None
    assert beside.find("green/tea.ipynb") is None
    (entry,) = [beside.read(whole.id)]
    assert entry is not None
    assert entry.heading.path == str(tea / "green" / "tea.ipynb")


def heading_line(file: Path) -> str:
    return file.read_text(encoding="utf-8").splitlines()[0]
