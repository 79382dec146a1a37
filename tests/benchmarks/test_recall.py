"""The measure of retrieval: its figures, and that nothing leaks between what teaches and tests."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from exploracoder.testing import ScriptedModelServer
from exploracoder_bench import kit_of_tasks, kit_plans
from exploracoder_bench.recall import main
from exploracoder_bench.recall_scores import by_dataset, macro, recall
from exploracoder_bench.retrieval_kit import Question, read_pool, read_questions
from exploracoder_bench.subtask_search import read_subtasks
from exploracoder_bench.weight_learning import FIXED, Lesson, learn, learn_elsewhere
from exploracoder_retrieval.ranking.candidates import FEATURES

from .conftest import write_kit

APIS = {
    "brew.steep": "Steep the leaves in hot water.",
    "brew.pour": "Pour the tea into cups.",
    "brew.boil": "Bring the water to the boil.",
    "brew.count": "Count the cups.",
}


def question(number: int, library: str, *gold: str, dataset: str = "") -> Question:
    return Question(
        id=f"{library}/{number}",
        query="?",
        gold=gold or (f"{library}.x",),
        library=library,
        dataset=dataset or library,
    )


def lesson(question: Question, column: int) -> Lesson:
    """One in which a single feature tells the gold API from the others."""
    features = np.zeros((4, len(FEATURES)), dtype=np.float32)
    features[0, column] = 1.0
    return Lesson(question, features, np.asarray([True, False, False, False]))


def test_recall_counts_the_gold_paths_within_each_cut() -> None:
    assert recall(["a", "b"], ["a", "a", "x", "y", "b"]) == (50.0, 100.0, 100.0, 100.0)


def test_every_data_set_counts_the_same_and_what_is_missing_is_not_found() -> None:
    questions = [question(n, "one", "a") for n in range(3)] + [question(0, "two", "a")]
    scores = by_dataset(questions, {q.id: ["a"] for q in questions if q.library == "one"})

    assert scores["one"] == (100.0,) * 4
    assert scores["two"] == (0.0,) * 4
    assert macro(scores) == (50.0,) * 4


def test_what_tells_gold_apart_gets_the_weight() -> None:
    lessons = [lesson(question(n, "one"), column=1) for n in range(5)]

    weights = dict(zip(FEATURES, learn(lessons), strict=True))

    assert weights.pop("hybrid_where_unused") == FIXED["hybrid_where_unused"]
    assert max(weights, key=weights.__getitem__) == FEATURES[1]
    assert learn(lessons, without=FEATURES[1])[1] == 0


def test_a_library_is_judged_by_weights_that_its_family_had_no_part_in() -> None:
    lessons = [
        *(lesson(question(n, "pandas"), column=0) for n in range(3)),
        *(lesson(question(n, "monkey"), column=0) for n in range(3)),
        *(lesson(question(n, "bcb", "pandas.x"), column=0) for n in range(3)),
        *(lesson(question(n, "torchdata"), column=1) for n in range(3)),
    ]

    weights = learn_elsewhere(lessons)

    assert weights["pandas"][1] > 0 >= weights["pandas"][0]
    assert weights["torchdata"][0] > 0 >= weights["torchdata"][1]


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    pool = [
        {"path": path, "library": "brew", "kind": "function", "summary": text, "doc": text}
        for path, text in APIS.items()
    ]
    questions = [
        question(0, "brew", "brew.pour").model_copy(update={"query": "fill cups with tea"}),
        question(1, "brew", "brew.boil", dataset="more").model_copy(update={"query": "boil it"}),
    ]
    return write_kit(tmp_path, pool, [one.model_dump() for one in questions])


def test_one_command_prints_one_table_for_all_recipes(
    kit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plans = tmp_path / "plans.jsonl"
    plans.write_text(json.dumps({"id": "brew/0", "subtasks": ["pour tea into cups"]}) + "\n")
    options = ["--cache", str(tmp_path / "cache"), "--subtasks", str(plans)]

    code = main(["--kit", str(kit), *options])

    whole, _, subtask_part = capsys.readouterr().out.partition("On the 1 questions with subtasks")
    assert code == 0
    for recipe in ("BM25 | Path+Desc*", "MiniLM | Fields", "naive hybrid", "ours | Fields"):
        assert f"| {recipe} |" in whole
        assert f"| {recipe} |" in subtask_part
    assert "| MT |" not in whole
    assert "| ours + memory | Fields | ST |" in whole
    # With a memory nobody plans.
    assert subtask_part.count("| MT |") == subtask_part.count("| ST |") - 1 == 7


def test_a_planners_subtasks_are_asked_for_once(kit: Path, tmp_path: Path) -> None:
    out = tmp_path / "plans.jsonl"
    options = ["--kit", str(kit), "--sets", "brew,more", "--out", str(out)]
    reply = json.dumps({"subtasks": ["Boil water", "Pour tea into cups"]})

    with ScriptedModelServer(reply) as server:
        model = ["--model", server.model, "--base-url", server.base_url]
        first = kit_plans.main([*options, *model])
        request_count = len(server.requests)
        again = kit_plans.main([*options, *model])

    assert (first, again, len(server.requests)) == (0, 0, request_count)
    subtasks = ["Boil water", "Pour tea into cups"]
    assert read_subtasks(out) == {"brew/0": subtasks, "brew/1": subtasks}


def test_a_set_that_the_kit_has_not_cannot_be_planned(
    kit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--kit", str(kit), "--sets", "coffee", "--out", str(tmp_path / "plans.jsonl")]

    assert kit_plans.main(options) == 2
    assert "no set named coffee" in capsys.readouterr().err


def test_a_folder_that_is_no_kit_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--kit", str(tmp_path), "--cache", str(tmp_path / "cache")]) == 2
    assert "is not a kit" in capsys.readouterr().err


def test_a_question_that_no_api_answers_is_refused(
    kit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = kit / "dev" / "brew.jsonl"
    row = json.loads(file.read_text(encoding="utf-8").splitlines()[0]) | {"gold": []}
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")

    assert main(["--kit", str(kit), "--cache", str(tmp_path / "cache")]) == 2
    assert "line 1, is no query: gold" in capsys.readouterr().err


def test_tasks_with_an_installed_library_become_a_kit(tmp_path: Path) -> None:
    package = tmp_path / "brewery"
    package.mkdir()
    source = 'class Pot:\n    """A pot."""\n    def pour(self):\n        """Fill a cup."""\n'
    (package / "__init__.py").write_text(source)
    task = {
        "id": "T1",
        "library": str(package),
        "requirement": "Fill it",
        "apis_used": ["Pot.pour"],
    }
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text(json.dumps(task) + "\n")

    code = kit_of_tasks.main(["--tasks", str(tasks), "--out", str(tmp_path / "kit")])

    (question,) = read_questions(tmp_path / "kit")
    assert code == 0
    assert question.gold == ("brewery.Pot.pour",)
    assert {"brewery.Pot", "brewery.Pot.pour"} <= {
        doc.path for doc in read_pool(tmp_path / "kit", question.library).docs
    }
