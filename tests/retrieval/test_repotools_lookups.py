"""What a person types is asked of the tool that is meant, on the tree as it is now."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder_retrieval.errors import LibraryNotFound, NameNotFound, QuestionError
from exploracoder_retrieval.harvest.target import find_target
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.repotools.repository import Repository
from exploracoder_retrieval.repotools.six_tools import RepositoryTools
from exploracoder_retrieval.repotools.user_lookups import LookupKind, found_in, look_up

from .conftest import WritePackage

TEA = {
    "tea/__init__.py": "from .pots import Pot, brew\n",
    "tea/pots.py": """
        class Pot:
            "Holds tea."
            def pour(self, cups: int = 1) -> str:
                "Fill cups."
                return "tea" * cups

        def brew(pot: Pot, minutes: float) -> Pot:
            "Let the leaves steep."
            return pot
    """,
}


@pytest.fixture
def root(write_package: WritePackage) -> Path:
    return write_package(TEA)


def opened(root: Path, interpreter: Interpreter) -> RepositoryTools:
    return RepositoryTools(Repository.open(root, interpreter))


@pytest.mark.parametrize(
    ("kind", "typed", "name", "part"),
    [
        ("class", "Pot", "tea.pots.Pot", "pour(self, cups: int = 1)"),
        ("class", "tea.Pot()", "tea.pots.Pot", "Holds tea."),
        ("signature", "brew", "tea.pots.brew", "minutes: float"),
        ("signature", "tea.brew", "tea.pots.brew", "minutes: float"),
        ("signature", "Pot.pour", "tea.pots.Pot.pour", "cups: int = 1"),
        ("signature", " tea.Pot.pour(2) ", "tea.pots.Pot.pour", "cups: int = 1"),
        ("source", "Pot.pour", "tea.pots.Pot.pour", 'return "tea" * cups'),
        ("source", "@brew", "tea.pots.brew", "return pot"),
        ("code", "let leaves steep", "brew", "def brew"),
    ],
)
def test_a_name_is_understood_as_it_stands_in_code(
    root: Path, interpreter: Interpreter, kind: LookupKind, typed: str, name: str, part: str
) -> None:
    first, *_ = found_in(look_up(opened(root, interpreter), kind, typed))

    assert first.name == name
    assert part in first.text
    assert (first.file, first.line > 1) == ("tea/pots.py", True)


def test_of_one_name_what_is_nearest_to_the_top_goes_first(
    write_package: WritePackage, interpreter: Interpreter
) -> None:
    pot = "class Pot:\n    def pour(self): ...\n"
    old = {"tea/a_v1/__init__.py": "", "tea/a_v1/pots.py": pot, "tea/pots.py": pot}
    tools = opened(write_package({"tea/__init__.py": "", **old}), interpreter)

    classes = found_in(look_up(tools, "class", "Pot"))
    methods = found_in(look_up(tools, "source", "Pot.pour"))

    assert [one.file for one in classes] == ["tea/pots.py", "tea/a_v1/pots.py"]
    assert [one.file for one in methods] == ["tea/pots.py", "tea/a_v1/pots.py"]


@pytest.mark.parametrize(
    ("kind", "typed", "said"),
    [
        ("class", "Pott", "no class 'Pott'.*nearest: Pot"),
        ("signature", "Pot.poor", "tea.pots.Pot has no method 'poor'.*nearest: pour"),
        ("source", "nowhere.brw", "no function 'nowhere.brw'.*nearest: brew"),
    ],
)
def test_of_a_name_that_is_not_there_the_nearest_are_named(
    root: Path, interpreter: Interpreter, kind: LookupKind, typed: str, said: str
) -> None:
    with pytest.raises(NameNotFound, match=said):
        look_up(opened(root, interpreter), kind, typed)


@pytest.mark.parametrize(("kind", "typed"), [("class", " "), ("code", ""), ("source", "()")])
def test_nothing_typed_is_said_to_be_nothing(
    root: Path, interpreter: Interpreter, kind: LookupKind, typed: str
) -> None:
    with pytest.raises(QuestionError, match="Type"):
        look_up(opened(root, interpreter), kind, typed)


def test_the_file_that_an_answer_names_can_be_opened(root: Path, interpreter: Interpreter) -> None:
    tools = opened(root, interpreter)

    assert tools.path("tea/pots.py") == (root / "tea" / "pots.py").resolve()
    assert tools.path("tea/nowhere.py") is None


def test_tools_notice_that_a_file_was_changed_added_or_removed(
    root: Path, interpreter: Interpreter
) -> None:
    file = root / "tea" / "pots.py"
    tools = opened(root, interpreter)
    assert tools.is_current()

    file.write_text("class Kettle: ...\n")
    is_current = tools.is_current()
    again = opened(root, interpreter)
    (root / "tea" / "more.py").write_text("")

    assert (is_current, again.is_current()) == (False, False)
    assert again.has_class("Kettle")


def test_a_library_that_was_found_is_opened_itself_and_not_a_folder_of_its_name(
    root: Path, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "__init__.py").write_text("class Impostor: ...\n")
    monkeypatch.chdir(tmp_path)
    target = find_target("json", interpreter)

    tools = RepositoryTools(Repository.open(target, interpreter))

    assert tools.has_class("JSONDecoder")
    assert not tools.has_class("Impostor")


def test_a_library_that_is_gone_is_said_to_be_gone(root: Path, interpreter: Interpreter) -> None:
    target = find_target(root / "tea", interpreter)
    (root / "tea").rename(root / "coffee")

    with pytest.raises(LibraryNotFound, match="tea is not there any more"):
        Repository.open(target, interpreter)


def test_an_editors_lock_that_leads_nowhere_is_no_file(
    root: Path, interpreter: Interpreter
) -> None:
    (root / "tea" / ".#pots.py").symlink_to("somebody@host.1")

    tools = opened(root, interpreter)

    assert tools.has_class("Pot")
    assert tools.is_current()
