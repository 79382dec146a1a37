"""What the commands of ``exploracoder bench`` do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from exploracoder import prepare
from exploracoder.config import make_settings
from exploracoder.errors import InputError
from exploracoder.methods import find_method

from exploracoder_bench.datasets.fetching import fetch, find_published
from exploracoder_bench.datasets.interpreters import parse_pythons
from exploracoder_bench.datasets.opening import open_problems
from exploracoder_bench.datasets.own_tasks import init_tasks
from exploracoder_bench.datasets.selection import select
from exploracoder_bench.environments import with_environments
from exploracoder_bench.executors import open_pool
from exploracoder_bench.harness import Bench, judge_all, run_bench
from exploracoder_bench.plan import Plan, Price, identity_of, now
from exploracoder_bench.problems import Problem, check_methods, check_names
from exploracoder_bench.runs import Asked

_HOSTED_URL = "https://api.openai.com/v1"


def run_command(given: dict[str, Any], command: str) -> int:
    """``bench run``: 0 when every sample that was asked for counts, or 1."""
    out: Path = given["out"].absolute()
    problems = _problems(given)
    plan, asked = _plan(given, command, out)
    check_methods(problems, plan.methods)
    classes = [problem.name for problem in problems if problem.place is not None]
    if classes and plan.checks == "hidden":
        raise InputError(
            f"{classes[0]} is a class, whose methods work by its check: it cannot be hidden."
        )
    bench = Bench(plan, problems, asked, out, given["executor"], given["jobs"], _run_seconds(given))
    results = run_bench(bench, _say)
    from exploracoder_bench.report.tables import apart_table, methods_table

    click.echo(
        "\n\n".join(filter(None, (methods_table(results, plan.price), apart_table(results))))
    )
    counted = sum(one.counts for one in results)
    _say(f"{counted} of {len(results)} samples count. Tables: exploracoder bench report {out}")
    return 0 if counted == len(results) else 1


def check_command(given: dict[str, Any]) -> int:
    """``bench check``: 0 when every problem counts, or 1."""
    problems = _problems(given)
    check_names(problems)
    with open_pool(given["executor"], given["jobs"]) as pool:
        verdicts = judge_all(
            problems, given["out"].absolute(), pool, _say, run_seconds=given["run_seconds"]
        )
    sound = sum(one.is_sound for one in verdicts.values())
    click.echo(f"{sound} of {len(verdicts)} problems count.")
    for name, one in verdicts.items():
        if not one.is_sound:
            click.echo(f"excluded: {name}: {one.reason}")
    return 0 if sound == len(verdicts) else 1


def report_command(given: dict[str, Any]) -> int:
    """``bench report``: writes the report and prints its tables."""
    from exploracoder_bench.report.writing import write_report

    price = parse_price(given["price"]) if given["price"] else None
    folders = [folder.absolute() for folder in given["folders"]]
    out = (given["out"] or folders[0] / "report").absolute()
    click.echo(write_report(folders, out, price, _say))
    _say(f"Written to {out}")
    return 0


def compare_command(first: str, second: str) -> int:
    """``bench compare``: prints the table."""
    from exploracoder_bench.report.comparing import comparison

    click.echo(comparison(first, second))
    return 0


def init_command(folder: Path) -> int:
    """``bench init``: says what was written, and what to do with it."""
    for file in init_tasks(folder):
        click.echo(str(file))
    _say(
        "Change it to your own. Then: exploracoder bench check --problems"
        f" {folder} --out bench-output"
    )
    return 0


def fetch_command(name: str, url: str | None) -> int:
    """``bench fetch``: prints the file's place."""
    click.echo(str(fetch(find_published(name), url)))
    return 0


def private_libraries_command(folder: Path, python: str | None, mapping: Path) -> int:
    """``bench private-libraries``: prints what was made."""
    from exploracoder_bench.datasets.private_libraries import make_libraries, read_mapping

    for made in make_libraries(folder.absolute(), read_mapping(mapping), python):
        click.echo(str(made))
    return 0


def class_tasks_command(given: dict[str, Any]) -> int:
    """``bench class-tasks``: 0 when every class has its task, or 1."""
    from exploracoder_bench.class_tasks.listing import OURS, read_rows, rows_of_repoclassbench
    from exploracoder_bench.class_tasks.making import make_class_tasks

    folder: Path = given["folder"].absolute()
    file, names = given["classes"] or OURS, _names([given["select"] or ""])
    repositories = given["repositories"]
    rows = (
        rows_of_repoclassbench(file, repositories, names)
        if repositories
        else read_rows(file, names)
    )
    refused = make_class_tasks(rows, folder, given["python"], _say)
    click.echo(f"{len(rows) - len(refused)} of {len(rows)} classes have a task in {folder}.")
    for line in refused:
        click.echo(f"refused: {line}")
    return 1 if refused else 0


def parse_price(text: str | None) -> Price:
    """The price in ``PROMPT,COMPLETION``. Raises InputError."""
    if not text:
        return Price()
    try:
        prompt, completion = (float(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(f"--price takes PROMPT,COMPLETION in numbers, not {text!r}.") from error
    return Price(prompt=prompt, completion=completion)


def _problems(given: dict[str, Any]) -> list[Problem]:
    python_of = parse_pythons(given["pythons"])
    problems = open_problems(given["problems"], python_of, given["search_path"])
    names = _names(given["select"])
    return with_environments(select(problems, names) if names else problems, _say)


def _names(parts: Sequence[str]) -> list[str]:
    return [name.strip() for part in parts for name in part.split(",") if name.strip()]


def _plan(given: dict[str, Any], command: str, out: Path) -> tuple[Plan, Asked]:
    methods = [name.strip() for name in given["methods"].split(",") if name.strip()]
    for name in methods:
        find_method(name)
    for assignment in given["assignments"]:
        prepare.setting_of(assignment)
    options = [f"--set={assignment}" for assignment in given["assignments"]]
    options += [f"--profile={given['profile']}"] if given["profile"] else []
    model, base_url = _model(given["model"], given["base_url"])
    identity = identity_of(model, base_url, os.environ.get("OPENAI_API_KEY", ""))
    plan = Plan(
        created=now(),
        command=command,
        model=model,
        identity=identity,
        options=tuple(options),
        timeout_s=given["timeout"],
        methods=tuple(dict.fromkeys(methods)),
        samples=given["samples"],
        checks=given["checks"],
        price=parse_price(given["price"]),
    )
    # The folder is of this model alone: a reply of another can never be taken for one of its own.
    return plan, Asked(model, base_url, out / "replies" / identity[:16])


def _run_seconds(given: dict[str, Any]) -> float | None:
    """The limit of a run that was set for candidates: known solutions have the same."""
    assigned = dict(prepare.setting_of(one) for one in given["assignments"])
    if "run_seconds" not in assigned:
        return None
    return make_settings("standard", run_seconds=assigned["run_seconds"]).run_seconds


def _model(model: str | None, base_url: str | None) -> tuple[str, str | None]:
    """The model's name and address, as 'exploracoder explore' would find them."""
    if prepare.wants_embedded(model, base_url):
        return prepare.EMBEDDED, None
    name = model or os.environ.get("EXPLORACODER_MODEL")
    if not name:
        raise InputError("An endpoint is configured, but no model. Name one with --model.")
    return name, base_url or os.environ.get("OPENAI_BASE_URL") or _HOSTED_URL


def _say(text: str) -> None:
    click.echo(text, err=True)
