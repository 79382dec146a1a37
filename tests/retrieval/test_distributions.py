"""Which distribution a library's name means, and which packages are that distribution's own."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest
from exploracoder_retrieval.errors import LibraryNotFound
from exploracoder_retrieval.examples.uses import read_uses
from exploracoder_retrieval.files import entries
from exploracoder_retrieval.harvest import harvest
from exploracoder_retrieval.harvest.docs.source import DocsSource
from exploracoder_retrieval.harvest.mentions import ApiNames
from exploracoder_retrieval.harvest.reader import read
from exploracoder_retrieval.harvest.target import find_target
from exploracoder_retrieval.library_python import Interpreter

from .conftest import WritePackage, by_path
from .sphinx_site import inventory

Install = Callable[..., None]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "site-packages"


@pytest.fixture
def python(site: Path, interpreter: Interpreter) -> Interpreter:
    """An interpreter with nothing but what a test installs."""
    return replace(interpreter, search_paths=(site,))


@pytest.fixture
def install(site: Path) -> Install:
    """Installs a distribution as pip does, with its files' texts by path."""

    def write(name: str, files: Mapping[str, str], version: str = "1.0") -> None:
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nAbout {name}.\n"
        texts = {**files, f"{info}/METADATA": metadata}
        texts[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in texts)
        for path, text in texts.items():
            (site / path).parent.mkdir(parents=True, exist_ok=True)
            (site / path).write_text(text, encoding="utf-8")

    return write


def test_a_distribution_in_a_namespace_is_read_without_what_others_add_to_it(
    install: Install, python: Interpreter
) -> None:
    install("acme-auth", {"acme/auth/__init__.py": "def sign(): ...\n"}, "7")
    install(
        "acme-cloud-tea",
        {
            "acme/cloud/tea/__init__.py": "def steep(): ...\n",
            "acme/cloud/tea/pots.py": "class Pot: ...\n",
            "acme/cloud/_tea_v1/__init__.py": "def raw(): ...\n",
            "acme_cloud_tea-1.0.dist-info/top_level.txt": "acme\n",
        },
    )

    by_distribution = harvest("acme-cloud-tea", python)
    by_import = harvest("acme.cloud.tea", python)

    library = by_distribution.library
    assert (library.name, library.version) == ("acme-cloud-tea", "1.0")
    assert (library.import_name, library.overview) == ("acme.cloud.tea", "About acme-cloud-tea.")
    assert set(by_path(by_distribution)) == {"acme.cloud.tea.steep", "acme.cloud.tea.pots.Pot"}
    assert by_import == by_distribution
    assert python.import_names("acme-cloud-tea") == ("acme.cloud.tea",)


def test_several_packages_of_a_distribution_are_read_by_the_namespace_they_share(
    install: Install, python: Interpreter
) -> None:
    install("acme-auth", {"acme/auth/__init__.py": "def sign(): ...\n"})
    install(
        "acme-kitchen",
        {
            "acme/cups/__init__.py": "def wash(): ...\n",
            "acme/pans/__init__.py": "def fry(): ...\n",
            "acme/knives.py": "def cut(): ...\n",
        },
    )

    result = harvest("acme-kitchen", python)

    assert (result.library.name, result.library.import_name) == ("acme-kitchen", "acme")
    assert set(by_path(result)) == {"acme.cups.wash", "acme.pans.fry", "acme.knives.cut"}


def test_a_namespace_by_itself_is_read_whole_and_is_nobody_s(
    install: Install, python: Interpreter
) -> None:
    install("acme-auth", {"acme/auth/__init__.py": "def sign(): ...\n"}, "7")
    alone = find_target("acme", python)
    install("acme-cloud-tea", {"acme/cloud/tea/__init__.py": "def steep(): ...\n"})
    result = harvest("acme", python)

    assert (alone.name, alone.version) == ("acme-auth", "7")
    assert (result.library.name, result.library.version) == ("acme", "")
    assert set(by_path(result)) == {"acme.auth.sign", "acme.cloud.tea.steep"}


def test_of_two_distributions_with_one_module_the_named_one_is_meant(
    install: Install, python: Interpreter
) -> None:
    files = {"kettle/__init__.py": "def boil(): ...\n"}
    install("kettle-full", files, "1")
    install("kettle-headless", files, "2")

    assert find_target("kettle-headless", python).version == "2"
    assert find_target("kettle-full", python).version == "1"


def test_what_is_upgraded_or_removed_is_seen_without_asking_the_interpreter_again(
    install: Install, python: Interpreter, site: Path
) -> None:
    install("tea", {"tea/__init__.py": "def steep(): ...\n"}, "1")
    before = find_target("tea", python)
    shutil.rmtree(site / "tea-1.dist-info")
    meanwhile = find_target("tea", python)
    install("tea", {"tea/__init__.py": "def steep(): ...\n"}, "2")

    assert before.version == "1"
    assert (meanwhile.name, meanwhile.version) == ("tea", "")
    assert harvest("tea", python).library.version == "2"


def test_an_egg_is_a_distribution_and_a_later_one_is_seen(python: Interpreter, site: Path) -> None:
    python = replace(python, search_paths=(site, site / "tea-1.egg", site / "pot-1.egg"))

    def lay(name: str) -> None:
        info = {"PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"}
        info["top_level.txt"] = f"{name}\n"
        texts = {f"{name}-1.egg/EGG-INFO/{file}": text for file, text in info.items()}
        _written(site, {**texts, f"{name}-1.egg/{name}/__init__.py": ""})

    lay("tea")
    assert find_target("tea", python).version == "1"
    lay("pot")
    assert find_target("pot", python).version == "1"


def test_all_that_can_be_imported_is_listed_after_one_look_at_the_installation(
    install: Install, python: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("green-tea", {"tea/__init__.py": "", "tea_tools/__init__.py": ""}, "2")
    install("pots", {"pots.py": ""})
    install("Cups", {"cups.py": ""})
    install("no-modules", {})
    looked: list[Path] = []

    def look(path: Path) -> list[os.DirEntry[str]]:
        looked.append(path)
        return entries(path)

    monkeypatch.setattr("exploracoder_retrieval.installed_distributions.entries", look)

    assert [(one.name, one.version, one.import_name) for one in python.importable()] == [
        ("Cups", "1.0", "cups"),
        ("green-tea", "2", "tea"),
        ("pots", "1.0", "pots"),
    ]
    assert looked == list(python.search_paths)


def test_a_distribution_whose_metadata_is_gone_counts_as_none(
    install: Install, python: Interpreter, site: Path
) -> None:
    install("green-tea", {"tea/__init__.py": "def steep(): ...\n"}, "1")
    assert find_target("tea", python).name == "green-tea"
    # The folder's time is the same, as when its files are removed after it was looked at.
    status = (site / "green_tea-1.dist-info").stat()
    (site / "green_tea-1.dist-info/METADATA").unlink()
    os.utime(site / "green_tea-1.dist-info", ns=(status.st_atime_ns, status.st_mtime_ns))

    assert harvest("tea", python).library.name == "tea"


@pytest.mark.parametrize("top", ["brew", "acme.brew"])
def test_a_package_in_a_library_has_what_it_inherits_and_imports_from_the_rest_of_it(
    top: str, install: Install, python: Interpreter
) -> None:
    folder = top.replace(".", "/")
    install(
        "brew",
        {
            f"{folder}/__init__.py": "",
            f"{folder}/_base.py": """
class Vessel:
    def fill(self): ...
def wash(vessel) -> "Report": ...
class Report:
    def __init__(self): self.spots: int = 0
""",
            f"{folder}/pots/__init__.py": f"""
from {top}._base import Vessel, wash
class Pot(Vessel):
    def pour(self): ...
""",
        },
    )

    docs = by_path(harvest(f"{top}.pots", python))

    pots = f"{top}.pots"
    assert set(docs) == {
        *(f"{pots}.{name}" for name in ("Pot", "Pot.fill", "Pot.pour")),
        *(f"{pots}.{name}" for name in ("Vessel", "Vessel.fill", "wash")),
    }
    assert docs[f"{pots}.wash"].notes == ("Report has: spots: int",)


def test_what_a_package_brings_in_from_another_of_its_distribution_is_its_own(
    install: Install, python: Interpreter
) -> None:
    install("leaf", {"leaf.py": "def dry(): ...\n"})
    install(
        "teas",
        {
            "tea/checks.py": "def is_hot(): ...\n",
            "teas/__init__.py": "",
            "teas/checks.py": "from tea.checks import *\nfrom leaf import dry\n",
        },
    )

    assert set(by_path(harvest("teas", python))) == {"teas.checks.is_hot"}


def test_docs_and_uses_of_a_library_in_a_namespace_are_recognised(
    install: Install, python: Interpreter, tmp_path: Path
) -> None:
    install("acme-tea", {"acme/tea/__init__.py": "def steep(): ...\n"})
    (tmp_path / "docs").mkdir()
    names = inventory({"acme.tea.pour": ("function", "api.html#$")})
    (tmp_path / "docs/objects.inv").write_bytes(names)
    (tmp_path / "use.py").write_text("from acme import tea\ntea.steep()\n", encoding="utf-8")
    target = find_target("acme-tea", python)
    docs = DocsSource(str(tmp_path / "docs"), tmp_path / "docs")

    result = read(replace(target, docs=(docs,)), python)
    api_names = ApiNames(result.docs)
    (use,) = read_uses([tmp_path / "use.py"], result.library, api_names, lambda *_: None)

    assert set(by_path(result)) == {"acme.tea.steep", "acme.tea.pour"}
    assert use.apis == ("acme.tea.steep",)


EDITABLE = '{"url": "file:///somewhere", "dir_info": {"editable": true}}'
# As setuptools writes it, where the call at the end would put the hook in place.
HOOK = """
from __future__ import annotations
import sys
MAPPING: dict[str, str] = {places}
NAMESPACES: dict[str, list[str]] = {{}}
raise SystemExit("it ran")
"""


def test_what_an_import_hook_of_setuptools_finds_is_installed(
    install: Install, python: Interpreter, write_package: WritePackage
) -> None:
    source = write_package(
        {
            "lib/__init__.py": "from .pots import Pot\ndef steep(): ...\n",
            "lib/pots.py": "class Pot: ...\n",
            "lib/one.py": "def pour(): ...\n",
        }
    )
    places = {
        "brew": str(source / "lib"),
        "acme.brew": str(source / "lib"),
        "brew_one": str(source / "lib/one"),
    }
    install(
        "brew",
        {
            "__editable___brew_1_0_finder.py": HOOK.format(places=places),
            "brew-1.0.dist-info/direct_url.json": EDITABLE,
            "brew-1.0.dist-info/top_level.txt": "brew\nacme\nbrew_one\n",
        },
    )

    result = harvest("brew", python)

    assert (result.library.name, result.library.version) == ("brew", "1.0")
    assert {"brew.steep", "brew.Pot", "brew.one.pour"} == set(by_path(result))
    assert "acme.brew.Pot" in by_path(harvest("acme.brew", python))
    assert set(by_path(harvest("brew_one", python))) == {"brew_one.pour"}
    assert python.import_names("brew") == ("brew", "brew_one", "acme.brew")


def test_an_editable_distribution_is_known_by_the_packages_in_its_folder(
    install: Install, python: Interpreter, write_package: WritePackage
) -> None:
    source = write_package(
        {"src/brew/__init__.py": "def steep(): ...\n", "src/tests/__init__.py": ""}
    )
    install(
        "green-tea",
        {
            "_green_tea.pth": f"{source / 'src'}\n",
            "green_tea-1.0.dist-info/direct_url.json": EDITABLE,
        },
    )
    python = replace(python, search_paths=(*python.search_paths, source / "src"))

    by_distribution = find_target("green-tea", python)

    assert (by_distribution.import_name, by_distribution.version) == ("brew", "1.0")
    assert find_target("brew", python) == by_distribution


def without_record(site: Path, source: Path) -> Path:
    texts = {"acme/tea/__init__.py": "", "acme_tea-1.0.dist-info/top_level.txt": "acme\n"}
    return _written(site, texts | {"acme_tea-1.0.dist-info/METADATA": NAMED})


def developed(site: Path, source: Path) -> Path:
    info = "src/acme_tea.egg-info"
    texts = {"src/acme/tea/__init__.py": "", f"{info}/top_level.txt": "acme\n"}
    listed = f"src/acme/tea/__init__.py\n{info}/top_level.txt\n"
    _written(source, texts | {f"{info}/PKG-INFO": NAMED, f"{info}/SOURCES.txt": listed})
    return source / "src"


def editable(site: Path, source: Path) -> Path:
    info = "acme_tea-1.0.dist-info"
    texts = {f"{info}/METADATA": NAMED, f"{info}/direct_url.json": EDITABLE}
    texts |= {f"{info}/RECORD": "acme_tea.pth,,\n", f"{info}/top_level.txt": "acme\n"}
    _written(site, texts | {"acme_tea.pth": f"{source}\n"})
    return _written(source, {"acme/tea/__init__.py": ""})


NAMED = "Metadata-Version: 2.1\nName: acme-tea\nVersion: 1.0\n"


def _written(folder: Path, texts: Mapping[str, str]) -> Path:
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("install_one", [without_record, developed, editable])
def test_a_distribution_in_a_namespace_that_lists_no_files_of_it_is_known_by_the_namespace(
    install_one: Callable[[Path, Path], Path],
    install: Install,
    python: Interpreter,
    site: Path,
    tmp_path: Path,
) -> None:
    install("acme-auth", {"acme/auth/__init__.py": "def sign(): ...\n"}, "7")
    added = install_one(site, tmp_path / "source")
    python = replace(python, search_paths=(site, added))

    target = find_target("acme-tea", python)

    assert (target.name, target.import_name, target.version) == ("acme-tea", "acme", "1.0")
    assert find_target("acme.auth", python).name == "acme-auth"


def test_a_distribution_that_says_of_nothing_what_it_provides_is_known_by_its_own_name(
    install: Install, python: Interpreter, site: Path
) -> None:
    install("acme-tea", {})
    _written(site, {"acme/tea/__init__.py": "def steep(): ...\n"})

    assert find_target("acme.tea", python).version == "1.0"


ODD = {
    "size": {"RECORD": "odd/__init__.py,,many\n"},
    "empty line": {"RECORD": "\nodd/__init__.py,,\n"},
    "no path": {"RECORD": ",,\n"},
    "bytes": {"RECORD": "odd/__init__.py,,\n", "top_level.txt": "\udcff"},
    "no name": {"METADATA": "Name:\n"},
    "metadata is not text": {"METADATA": "\udcff"},
}


@pytest.mark.parametrize("texts", ODD.values(), ids=ODD)
def test_one_odd_distribution_does_not_hide_the_others(
    texts: Mapping[str, str], install: Install, python: Interpreter, site: Path
) -> None:
    install("odd", {"odd/__init__.py": "def warp(): ...\n"})
    for name, text in texts.items():
        (site / "odd-1.0.dist-info" / name).write_text(text, "utf-8", "surrogateescape")
    install("tea", {"tea/__init__.py": "def steep(): ...\n"})

    assert find_target("odd", python).import_name == "odd"
    assert find_target("tea", python).version == "1.0"
    assert "tea" in python.library_names()


def test_a_distribution_without_metadata_does_not_hide_the_others(
    install: Install, python: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("odd", {})
    install("tea", {"tea/__init__.py": "def steep(): ...\n"})
    read = PathDistribution.metadata.fget  # type: ignore[attr-defined]

    def read_as_newer_pythons(dist: PathDistribution) -> object:
        fields = read(dist)
        if fields["Name"] == "odd":
            raise FileNotFoundError("No package metadata was found.")
        return fields

    monkeypatch.setattr(PathDistribution, "metadata", property(read_as_newer_pythons))

    assert find_target("tea", python).version == "1.0"


@pytest.mark.parametrize("name", ["green-tea", "Green_Tea"])
def test_an_installed_distribution_without_modules_is_not_called_missing(
    name: str, install: Install, python: Interpreter
) -> None:
    install("green-tea", {"green_tea-1.0.dist-info/direct_url.json": EDITABLE})
    said = (
        f"{name} is installed for {python.executable}, but no module of it was found there."
        " Give the path of its source instead, or another interpreter with --python."
    )

    with pytest.raises(LibraryNotFound, match=f"^{re.escape(said)}$"):
        find_target(name, python)


def test_a_standard_module_that_this_python_lacks_is_not_called_installed(
    python: Interpreter,
) -> None:
    python = replace(python, standard_modules=frozenset({"winreg"}))

    with pytest.raises(LibraryNotFound, match="No library 'winreg' is installed"):
        find_target("winreg", python)
