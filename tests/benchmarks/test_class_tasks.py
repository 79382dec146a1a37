"""Tasks made of packages that have a class and tests of it: fetched, cut, and told apart."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from exploracoder.errors import InputError, SetupError
from exploracoder_bench.class_tasks.cutting import cut
from exploracoder_bench.class_tasks.listing import OURS, read_rows, rows_of_repoclassbench
from exploracoder_bench.class_tasks.making import make_class_tasks
from exploracoder_bench.datasets.own_tasks import read_tasks
from exploracoder_bench.environments import environment_of, pip
from exploracoder_bench.mutants import class_mutants

from .class_repository import FILE, IMPORTS, POT, TELLING, write_repository

# What pip asks a package of: how it is built, and its name.
BACKEND = """\
def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(folder, config_settings=None):
    import os
    os.makedirs(os.path.join(folder, "tea-1.0.dist-info"))
    with open(os.path.join(folder, "tea-1.0.dist-info", "METADATA"), "w") as file:
        file.write("Metadata-Version: 2.1\\nName: tea\\nVersion: 1.0\\n")
    return "tea-1.0.dist-info"
"""
BUILD = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
ROW = {"name": "Pot", "file": "src/tea/pot.py", "class": "Pot", "tests": [FILE]}


@pytest.fixture(autouse=True)
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes packages from, and no other place; and a cache folder of our own."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path / "cache"))
    for name, value in (
        ("NO_INDEX", "1"),
        ("FIND_LINKS", str(folder)),
        ("CONFIG_FILE", "/dev/null"),
    ):
        monkeypatch.setenv(f"PIP_{name}", value)
    return folder


@pytest.fixture
def package(tmp_path: Path, index: Path) -> str:
    """The SHA-256 of a source distribution of ``tea==1.0`` in the index."""
    root = write_repository(tmp_path / "tea-1.0")
    (root / "backend.py").write_text(BACKEND)
    (root / "pyproject.toml").write_text(BUILD)
    file = index / "tea-1.0.tar.gz"
    with tarfile.open(file, "w:gz") as tar:
        tar.add(root, "tea-1.0")
        about = b"Metadata-Version: 2.1\nName: tea\nVersion: 1.0\n"
        head = tarfile.TarInfo("tea-1.0/PKG-INFO")
        head.size = len(about)
        tar.addfile(head, io.BytesIO(about))
    return hashlib.sha256(file.read_bytes()).hexdigest()


def listed(folder: Path, *rows: dict[str, object], **more: object) -> Path:
    file = folder / "classes.json"
    file.write_text(json.dumps({"classes": rows, **more}))
    return file


def test_a_package_becomes_a_task_that_lacks_the_class_and_has_the_tests_that_tell(
    package: str, plain_python: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pot = {**ROW, "package": "tea==1.0", "sha256": package}
    cup = {**pot, "name": "Cup", "class": "Cup"}
    rows, out = read_rows(listed(tmp_path, pot, cup)), tmp_path / "tasks"

    refusals = make_class_tasks(rows, out, plain_python, print)

    assert refusals == ["Cup: None of its tests needs what the class does."]
    assert [one.name for one in out.iterdir()] == ["Pot"]
    (problem,) = read_tasks(out, lambda _: plain_python)
    assert (problem.tests, problem.solution, problem.dataset) == (TELLING, POT, "tea")
    assert problem.place is not None
    text = (Path(problem.place.root) / problem.place.file).read_text()
    assert text.startswith(IMPORTS)
    assert "class Pot" not in text
    assert "What is poured then." in problem.task
    assert "leaf.name" not in problem.task
    assert "1/2  Pot  3 tests" in capsys.readouterr().out

    make_class_tasks(rows[:1], out, plain_python, print)
    assert capsys.readouterr().out == "1/1  Pot  was there\n"


def test_a_repository_that_is_not_there_costs_its_own_class_alone(
    plain_python: str, tmp_path: Path
) -> None:
    write_repository(tmp_path / "tea")
    rows = [{**ROW, "repository": "tea"}, {**ROW, "name": "Gone", "repository": "gone"}]
    out = tmp_path / "tasks"

    (refusal,) = make_class_tasks(
        read_rows(listed(tmp_path, *reversed(rows))), out, plain_python, print
    )

    assert refusal.startswith("Gone: [Errno 2] No such file or directory")
    assert [one.name for one in out.iterdir()] == ["Pot"]


def test_a_class_is_cut_by_the_lines_that_python_counts(tmp_path: Path) -> None:
    file = tmp_path / "pot.py"
    file.write_text("\ufeffimport json\n\x0c\n# \u2028\nclass Pot:\n    size = 1\n")

    pieces = cut(file, "Pot")

    assert pieces.code == "class Pot:\n    size = 1\n"
    assert pieces.rest == "import json\n\x0c\n# \u2028\n"


def test_a_package_that_is_not_what_it_was_costs_its_own_class_alone(
    package: str, plain_python: str, tmp_path: Path
) -> None:
    pot = {**ROW, "package": "tea==1.0", "sha256": package}
    other = {**pot, "name": "Other", "sha256": package[::-1]}
    out = tmp_path / "tasks"

    (refusal,) = make_class_tasks(read_rows(listed(tmp_path, other, pot)), out, plain_python, print)

    assert refusal.startswith("Other: pip download failed: ")
    assert package in refusal
    assert [one.name for one in out.iterdir()] == ["Pot"]


@pytest.mark.usefixtures("package")
def test_what_a_package_cannot_be_built_with_is_named(index: Path) -> None:
    archive = index / "tea-1.0.tar.gz"
    with tarfile.open(archive) as tar:
        tar.extractall(index, filter="data")
    (index / "tea-1.0" / "pyproject.toml").write_text(BUILD.replace("[]", '["no-such-part"]'))

    with pytest.raises(SetupError, match="ERROR: No matching distribution found for no-such-part"):
        pip("download", "--quiet", "--no-deps", "--dest", str(index), str(index / "tea-1.0"))


def test_a_class_whose_tests_do_not_run_here_is_refused_with_what_pytest_says(
    plain_python: str, tmp_path: Path
) -> None:
    root = write_repository(tmp_path / "own")
    (root / FILE).write_text("import no_such_module\n")
    rows = read_rows(listed(tmp_path, {**ROW, "repository": "own"}))

    (refusal,) = make_class_tasks(rows, tmp_path / "tasks", plain_python, print)

    assert refusal.startswith("Pot: None of its tests pass here:")
    assert "no_such_module" in refusal


def test_the_classes_of_repoclassbench_are_read_with_their_descriptions(tmp_path: Path) -> None:
    file = tmp_path / "python_data.json"
    task = {"task_id": "tea__tea-1", "class_name": "Pot", "file": "tea-1/src/tea/pot.py"}
    task |= {"detailed_description": "It brews.", "sketchy_description": "A pot."}
    task |= {"ground_truth_class_body": POT}
    rows = [{**task, "evaluation_metadata": {"test_directives": [FILE]}}]
    file.write_text(json.dumps(rows))

    (row,) = rows_of_repoclassbench(file, tmp_path)

    assert (row.name, row.class_name, row.tests) == ("tea__tea-1", "Pot", (FILE,))
    assert (row.file, row.description) == ("src/tea/pot.py", "It brews.")
    assert (row.repository, row.origin) == (str(tmp_path / "tea-1"), "tea-1")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"package": "tea==1.0"}, "no sha256"),
        ({"package": "tea", "sha256": "0"}, "'tea' is no pin"),
        ({}, "name a package, or a repository's folder"),
        ({"repository": "own", "name": "../Pot"}, "is none of a folder"),
        ({"repository": "own", "tests": []}, "tests"),
        ({"repository": "own", "kind": "class"}, "kind"),
        ({"package": "T_ea==1.0", "sha256": "0", "requires": ["t-ea==2"]}, "has the class itself"),
    ],
)
def test_a_list_that_cannot_be_used_is_refused(
    tmp_path: Path, row: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        read_rows(listed(tmp_path, ROW | row))


def test_our_own_list_is_of_pins_and_has_enough_of_them() -> None:
    rows = read_rows(OURS)

    assert len(rows) >= 6
    assert len({row.origin for row in rows}) >= 3
    assert [row.name for row in read_rows(OURS, [rows[2].name])] == [rows[2].name]
    with pytest.raises(InputError, match="has no class 'Nobody'"):
        read_rows(OURS, ["Nobody"])


def test_a_class_is_told_of_by_heads_and_docstrings_alone(tmp_path: Path) -> None:
    file = tmp_path / "pot.py"
    file.write_text(
        'import enum\n\n\n@register("pot")\nclass Pot(Base, metaclass=Meta):\n    """Brews."""\n\n'
        "    lid: bool = True\n"
        f"    words = {'tea ' * 40!r}\n\n"
        "    @property\n    async def heat(self, *, to: int = 80) -> float:\n"
        '        """Heat it.\n\n        Slowly.\n        """\n        return secret(to)\n\n'
        "    class Lid:\n        def lift(self):\n            return secret()\n\n\nlast = 1\n"
    )

    parts = cut(file, "Pot")

    assert parts.rest == "import enum\n\n\n\n\nlast = 1\n"
    assert parts.code.startswith('@register("pot")\nclass Pot(')
    assert parts.description.splitlines() == [
        "The class `Pot`, derived from `Base, metaclass=Meta`, decorated with `@register('pot')`.",
        "",
        "What it is for:",
        "",
        "    Brews.",
        "",
        "Its attributes:",
        "",
        "    lid: bool = True",
        "    words = ...",
        "",
        "What it defines, all of it to be written in full:",
        "",
        "- The coroutine `heat(self, *, to: int=80) -> float`, decorated with `@property`:",
        "",
        "    Heat it.",
        "",
        "    Slowly.",
        "",
        "- The class `Lid`.",
        "",
        "    What it defines, all of it to be written in full:",
        "",
        "    - The method `lift(self)`.",
    ]


def test_a_class_that_is_not_there_once_cannot_be_cut_out(tmp_path: Path) -> None:
    file = tmp_path / "pot.py"
    file.write_text("class Pot: pass\nclass Pot: pass\n")

    for name, count in (("Pot", 2), ("Cup", 0)):
        with pytest.raises(InputError, match=f"has {count} classes {name}"):
            cut(file, name)


def test_wrong_classes_keep_what_is_assigned_and_no_body() -> None:
    wrong = class_mutants("import os\n\n" + POT, "Pot")

    assert wrong["is missing"] == ""
    assert "litres: int = 1" in wrong["has methods that raise"]
    assert wrong["has no methods"].endswith("litres: int = 1\n")
    assert "raise RuntimeError" in wrong["has methods that raise"]
    assert not any("leaf.name" in one for one in wrong.values())
    assert list(class_mutants("class Size:\n    litres: int\n", "Size").values()) == [
        "",
        "class Size:\n    pass\n",
    ]


def test_an_environment_has_its_pins_and_is_made_once(index: Path) -> None:
    with zipfile.ZipFile(index / "leaf-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("leaf.py", "taste = 'green'\n")
        wheel.writestr(
            "leaf-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: leaf\nVersion: 1.0\n"
        )
        wheel.writestr(
            "leaf-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr("leaf-1.0.dist-info/RECORD", "")
    messages: list[str] = []

    python = environment_of(["leaf==1.0"], messages.append)

    command = [python, "-c", "import leaf; print(leaf.taste)"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "green\n"
    assert environment_of(["leaf==1.0"], messages.append) == python
    assert messages == ["making an environment of leaf==1.0"]


def test_an_environment_that_cannot_be_made_is_said_and_not_taken_for_one(index: Path) -> None:
    for _ in range(2):
        with pytest.raises(SetupError, match="No matching distribution found for leaf==9") as error:
            environment_of(["leaf==9"], print)
        assert "environment of leaf==9 cannot be made with Python 3." in str(error.value)
        assert "--pythons" in str(error.value)
    with pytest.raises(InputError, match="'leaf' is no pin"):
        environment_of(["leaf"], print)
