"""Imports run one way, and importing us is quick."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Which of our packages a package may import, itself apart.
MAY_IMPORT = {
    "retrieval/exploracoder_retrieval": set(),
    "kernel_tools/exploracoder_kernel": set(),
    "exploration/exploracoder": {"exploracoder_retrieval", "exploracoder_kernel"},
    "benchmarks/exploracoder_bench": {
        "exploracoder",
        "exploracoder_retrieval",
        "exploracoder_kernel",
    },
    "extension/exploracoder_jupyter": {
        "exploracoder",
        "exploracoder_retrieval",
        "exploracoder_kernel",
    },
}
OURS = {folder.rpartition("/")[2] for folder in MAY_IMPORT}
BRANCH = ROOT / "kernel_tools/exploracoder_kernel/branch"
HEAVY = ["chromadb", "onnxruntime", "numpy", "bm25s", "tokenizers"]
HEAVY += ["IPython", "pydantic", "nbformat", "jinja2"]


def sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def imports(file: Path) -> Iterator[tuple[str, int]]:
    """The absolute modules that a file imports anywhere, functions included, with their depth."""
    tree = ast.parse(file.read_text(encoding="utf-8"), file.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.level


def top_levels(file: Path) -> set[str]:
    return {name.partition(".")[0] for name, level in imports(file) if level == 0}


def test_every_package_of_the_house_is_held_to_a_direction() -> None:
    packages = {
        str(init.parent.relative_to(ROOT))
        for room in ("exploration", "retrieval", "kernel_tools", "extension", "benchmarks")
        for init in (ROOT / room).glob("*/__init__.py")
        if "node_modules" not in init.parts
    }

    assert packages
    assert packages <= set(MAY_IMPORT)


@pytest.mark.parametrize("folder", [name for name in MAY_IMPORT if (ROOT / name).is_dir()])
def test_a_package_imports_only_what_lies_before_it(folder: str) -> None:
    files = sources(ROOT / folder)
    allowed_modules = MAY_IMPORT[folder] | {folder.rpartition("/")[2]}
    wrong = {
        str(file.relative_to(ROOT)): sorted((top_levels(file) & OURS) - allowed_modules)
        for file in files
    }

    assert files
    assert {file: names for file, names in wrong.items() if names} == {}


def test_the_engine_s_packages_import_only_what_comes_before_them() -> None:
    bench = ["libraries", "limits", "model_requests", "branches", "workbench"]
    order = ["reading", *bench, "knowing", "running", "exploring", "finishing", "writing"]
    engine = ROOT / "exploration/exploracoder/engine"
    wrong = []
    for file in sources(engine):
        own = file.relative_to(engine).parts[0].removesuffix(".py")
        names = re.findall(
            r"^from exploracoder\.engine\.(\w+)", file.read_text(encoding="utf-8"), re.MULTILINE
        )
        wrong += [f"{file.name}: {name}" for name in names if not _comes_before(name, own, order)]

    assert {path.name for path in engine.iterdir() if path.is_dir()} - {"__pycache__"} <= set(order)
    assert wrong == []


def _comes_before(name: str, own: str, order: list[str]) -> bool:
    return own == "__init__" or order.index(name) <= order.index(own)


def test_the_branch_process_imports_only_the_standard_library_and_ipython() -> None:
    # IPython stands on traitlets: where the one is, the other is.
    allowed_modules = sys.stdlib_module_names | {"IPython", "traitlets"}
    wrong = {file.name: sorted(top_levels(file) - allowed_modules) for file in sources(BRANCH)}

    assert wrong
    assert {file: names for file, names in wrong.items() if names} == {}


def test_the_branch_process_does_not_reach_out_of_its_folder() -> None:
    for file in sources(BRANCH):
        depth = len(file.relative_to(BRANCH).parts)

        assert [name for name, level in imports(file) if level > depth] == []


def modules() -> dict[str, Path]:
    """All modules of the house, by their names."""
    module_files = {}
    for folder in MAY_IMPORT:
        for file in sources(ROOT / folder):
            parts = file.relative_to((ROOT / folder).parent).with_suffix("").parts
            module_files[".".join(parts).removesuffix(".__init__")] = file
    return module_files


def modules_imported(name: str, file: Path, module_files: Mapping[str, Path]) -> set[str]:
    """The modules that one imports when it runs, functions included, types left out."""
    tree = ast.parse(file.read_text(encoding="utf-8"), file.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            whole = {alias.name: f"{base}.{alias.name}" for alias in node.names}
            names |= {path if path in module_files else base for path in whole.values()}
    return names & set(module_files) - {name}


def test_no_file_imports_itself_through_others() -> None:
    module_files = modules()
    graph = {
        name: modules_imported(name, file, module_files) for name, file in module_files.items()
    }

    assert "exploracoder.state" in graph["exploracoder.document"]
    graphlib.TopologicalSorter(graph).prepare()  # says which files are a circle


def test_tests_and_examples_are_imported_by_nobody() -> None:
    files = [file for folder in MAY_IMPORT for file in sources(ROOT / folder)]

    assert not any(top_levels(file) & {"tests", "examples", "conftest"} for file in files)


def loaded_by(code: str) -> set[str]:
    """The heavy modules that a fresh process has loaded after some code."""
    report = f"{code}\nimport sys\nprint(*(set({HEAVY!r}) & set(sys.modules)))"
    process = subprocess.run(
        [sys.executable, "-c", report], capture_output=True, text=True, timeout=60, check=True
    )
    return set(process.stdout.splitlines()[-1].split()) if process.stdout.strip() else set()


def test_a_heavy_module_would_be_seen() -> None:
    assert loaded_by("import nbformat") >= {"nbformat"}


@pytest.mark.parametrize(
    "code",
    [
        "import exploracoder",
        "import exploracoder.cli",
        "import exploracoder_jupyter.magics.registry",
        "import exploracoder_kernel",
        "import exploracoder_retrieval",
        "import exploracoder.errors, exploracoder.models, exploracoder.prompts",
    ],
)
def test_importing_us_loads_nothing_heavy(code: str) -> None:
    heavy = loaded_by(code)

    # Asking for the models brings the values that travel, and no client.
    assert heavy <= ({"pydantic"} if "models" in code else set())


@pytest.mark.parametrize(
    "module",
    [
        "exploracoder.state",
        "exploracoder.session",
        "exploracoder.prepare",
        "exploracoder.cli.explore",
        "exploracoder_retrieval.embeddings",
        "exploracoder_retrieval.ensure",
        "exploracoder_retrieval.index",
        "exploracoder_kernel.sidecar",
    ],
)
def test_what_is_heavy_waits_for_its_first_use(module: str) -> None:
    assert loaded_by(f"import {module}") <= {"pydantic"}


def test_help_loads_nothing_heavy() -> None:
    code = "from exploracoder.cli import cli\ncli.main(['--help'], standalone_mode=False)"

    assert loaded_by(code) == set()
