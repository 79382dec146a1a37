"""The implementations of the ``exploracoder bench`` commands."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from exploracoder import prepare
from exploracoder.errors import BudgetError, InputError
from exploracoder.methods import DEFAULT
from exploracoder.models.keys import kept_key, key_in_environment
from exploracoder.models.model_choice import EMBEDDED
from exploracoder.models.model_cost import Price
from exploracoder.models.prices import price_of, prices_file
from exploracoder.settings import Settings
from exploracoder_retrieval.web_access import without_credentials

from exploracoder_bench.ablations import Ablation, find_ablations
from exploracoder_bench.datasets.interpreters import parse_pythons
from exploracoder_bench.datasets.problem_selection import of_split, select
from exploracoder_bench.datasets.problem_sets import open_problems
from exploracoder_bench.environments import with_environments
from exploracoder_bench.executors import open_pool
from exploracoder_bench.harness import Bench, judge_all, run_bench
from exploracoder_bench.kept_replies import ReplySource, about
from exploracoder_bench.plan import Plan, identity_of, now
from exploracoder_bench.problems import Problem, check_methods, check_names
from exploracoder_bench.progress_lines import say
from exploracoder_bench.provenance import Provenance, provenance_of
from exploracoder_bench.results import RunResult
from exploracoder_bench.runs import NO_MEMORY, ModelOptions
from exploracoder_bench.splits import Split, in_words, tally

_HOSTED_URL = "https://api.openai.com/v1"


def run_command(arguments: dict[str, Any], command: str) -> int:
    """``bench run``: return 0 if every requested sample counts, else 1, or 130 after Ctrl-C."""
    out: Path = arguments["out"].absolute()
    # Refuse what cannot be done before making environments and asking the model's server.
    origin = about(arguments["replies"]) if arguments["replies"] else None
    if origin is not None:
        arguments = arguments | {"model": origin.model, "base_url": origin.endpoint}
    settings = _settings(arguments)
    ablations = _ablations(arguments)
    settings |= {one.row: _settings_of(DEFAULT, arguments, one.settings) for one in ablations}
    problems = problems_of(arguments)
    plan, model_choice = _plan(arguments, command, out, tuple(settings), origin)
    plan = plan.model_copy(
        update={"provenance": _provenance(plan, model_choice, settings, arguments)}
    )
    check_methods(problems, (*_methods(arguments), *([DEFAULT] if ablations else [])))
    classes = [problem.name for problem in problems if problem.place is not None]
    if classes and plan.checks == "hidden":
        raise InputError(
            f"{classes[0]} is a class, whose methods work by its check: it cannot be hidden."
        )
    bench = Bench(
        plan,
        problems,
        model_choice,
        settings,
        out,
        arguments["executor"],
        arguments["jobs"],
        arguments["solved_others"],
        ablations,
        arguments["replies"],
        arguments["max_money"],
    )
    try:
        results = run_bench(bench, say)
    except BudgetError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say(f"Interrupted. What is finished is kept: the same command goes on with {out}.")
        return 130
    _print_tables(results, plan.price, {one.name: one.split for one in problems if one.split})
    count = sum(one.counts for one in results)
    say(f"{count} of {len(results)} samples count. Tables: exploracoder bench report {out}")
    return 0 if count == len(results) else 1


def _print_tables(results: Sequence[RunResult], price: Price, splits: Mapping[str, Split]) -> None:
    """Print a table of each split, and the samples that do not count."""
    from exploracoder_bench.report.tables import apart_table, methods_table

    for split in tally(splits, (one.problem for one in results)):
        group = [one for one in results if splits.get(one.problem) == split]
        names = {one.problem for one in group}
        click.echo(f"{in_words(tally(splits, names))}\n\n{methods_table(group, price)}\n")
    click.echo(apart_table(results), nl=False)


def check_command(arguments: dict[str, Any]) -> int:
    """``bench check``: return 0 if every problem counts, else 1."""
    problems = problems_of(arguments)
    check_names(problems)
    with open_pool(arguments["executor"], arguments["jobs"]) as pool:
        verdicts = list(
            judge_all(
                problems,
                arguments["out"].absolute(),
                pool,
                say,
                run_seconds=arguments["run_seconds"],
            )
        )
    sound = sum(one.is_sound for one in verdicts)
    click.echo(f"{sound} of {len(verdicts)} problems count.")
    for one in verdicts:
        if not one.is_sound:
            click.echo(f"excluded: {one.problem}: {one.reason}")
    return 0 if sound == len(verdicts) else 1


def class_tasks_command(arguments: dict[str, Any]) -> int:
    """``bench class-tasks``: return 0 if every class has its task, else 1."""
    from exploracoder_bench.class_tasks.listing import OURS, read_rows, rows_of_repoclassbench
    from exploracoder_bench.class_tasks.making import make_class_tasks

    folder: Path = arguments["folder"].absolute()
    file, names = arguments["classes"] or OURS, _names([arguments["select"] or ""])
    repositories = arguments["repositories"]
    rows = (
        rows_of_repoclassbench(file, repositories, names)
        if repositories
        else read_rows(file, names)
    )
    refusals = make_class_tasks(rows, folder, arguments["python"], say)
    click.echo(f"{len(rows) - len(refusals)} of {len(rows)} classes have a task in {folder}.")
    for line in refusals:
        click.echo(f"refused: {line}")
    return 1 if refusals else 0


def parse_price(text: str) -> Price:
    """The price in ``PROMPT,COMPLETION``. Raises InputError."""
    try:
        prompt, completion = (float(part) for part in text.split(","))
        return Price(prompt=prompt, completion=completion)
    except ValueError as error:
        raise InputError(f"--price takes PROMPT,COMPLETION in numbers, not {text!r}.") from error


def problems_of(arguments: dict[str, Any]) -> list[Problem]:
    """The problems that a command's options name, with their interpreters."""
    python_of = parse_pythons(arguments["pythons"])
    problems = open_problems(arguments["problems"], python_of, arguments["search_path"])
    names = _names(arguments["select"])
    selection = of_split(select(problems, names) if names else problems, arguments["split"])
    return with_environments(selection, say)


def _names(parts: Sequence[str]) -> list[str]:
    return [name.strip() for part in parts for name in part.split(",") if name.strip()]


def _plan(
    arguments: dict[str, Any],
    command: str,
    out: Path,
    methods: tuple[str, ...],
    origin: ReplySource | None,
) -> tuple[Plan, ModelOptions]:
    options = [f"--set={assignment}" for assignment in _assignments(arguments)]
    options += [f"--profile={arguments['profile']}"] if arguments["profile"] else []
    model, base_url = _model(arguments["model"], arguments["base_url"])
    if base_url is not None:
        command = command.replace(base_url, without_credentials(base_url))
    lora: Path | None = arguments["lora"]
    lora_sha256 = _adapter_sha256(lora, base_url) if lora is not None else ""
    identity = (
        origin.identity if origin else identity_of(model, base_url, _key(base_url), lora_sha256)
    )
    plan = Plan(
        created=now(),
        command=command,
        model=model if lora is None else f"{model}+{lora.stem}",
        identity=identity,
        lora=lora_sha256,
        options=tuple(options),
        timeout_s=arguments["timeout"],
        methods=methods,
        samples=arguments["samples"],
        checks=arguments["checks"],
        price=_price(arguments, model),
    )
    # One folder per model: a reply of another model can never be taken for this one's.
    replies = out / "replies" / identity[:16]
    return plan, ModelOptions(
        model, base_url, replies, lora, arguments["share_replies"], bool(origin)
    )


def _provenance(
    plan: Plan,
    model_choice: ModelOptions,
    settings: Mapping[str, Settings],
    arguments: dict[str, Any],
) -> dict[str, Provenance]:
    provenance = provenance_of(
        settings,
        model=plan.model,
        identity=plan.identity,
        base_url=model_choice.base_url,
        api_key="" if model_choice.answers_kept else _key(model_choice.base_url),
        executor=f"{arguments['executor']}, {arguments['jobs']} at a time",
        server=f"kept replies of {model_choice.base_url}" if model_choice.answers_kept else None,
    )
    return {provenance.key: provenance}


def _key(base_url: str | None) -> str:
    """The key that 'exploracoder explore' would use."""
    return (key_in_environment(base_url) or kept_key(base_url)) if base_url else ""


def _price(arguments: dict[str, Any], model: str) -> Price:
    """The model's price: from the command line, or else from the user's price table."""
    price = parse_price(arguments["price"]) if arguments["price"] else price_of(model) or Price()
    if arguments["max_money"] is not None and not price.prompt + price.completion:
        raise InputError(
            f"--max-money needs the price of {model}: say --price PROMPT,COMPLETION, or put it into"
            f" {prices_file()}."
        )
    return price


def _adapter_sha256(lora: Path, base_url: str | None) -> str:
    """The hash of an adapter. Raises InputError when it cannot be used with the model."""
    from exploracoder.models.adapter import check_adapter, file_sha256
    from exploracoder.models.gguf_header import read_header
    from exploracoder.models.weights import WeightsStore

    if base_url is not None:
        raise InputError("--lora is for the embedded model: add --model embedded, or leave it out.")
    sha256, store = file_sha256(lora), WeightsStore()
    if store.is_verified:
        check_adapter(lora, store.path, store.model.sha256)
    else:
        read_header(lora)
    return sha256


def _assignments(arguments: dict[str, Any]) -> list[str]:
    return [*arguments["assignments"], *(["memory=true"] if arguments["solved_others"] else [])]


def _methods(arguments: dict[str, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_names([arguments["methods"]])))


def _settings(arguments: dict[str, Any]) -> dict[str, Settings]:
    """The settings of each method, as 'exploracoder explore' will resolve them.

    Raises InputError when there is no such method, or one of them refuses a setting.
    """
    if not _methods(arguments):
        raise InputError("--method names no method: see 'exploracoder explore --list-methods'.")
    return {name: _settings_of(name, arguments) for name in _methods(arguments)}


def _settings_of(
    method: str, arguments: dict[str, Any], overrides: Mapping[str, object] | None = None
) -> Settings:
    settings = dict(map(prepare.setting_of, (NO_MEMORY, *_assignments(arguments))))
    return prepare.settings_for(
        method,
        profile=arguments["profile"],
        settings={**settings, **(overrides or {})},
        is_embedded=_model(arguments["model"], arguments["base_url"])[0] == EMBEDDED,
        capabilities=prepare.known_capabilities(arguments["model"], arguments["base_url"]),
    )


def _ablations(arguments: dict[str, Any]) -> tuple[Ablation, ...]:
    """The ablations that ``--ablate`` asks for. Raises InputError as `find_ablations` does."""
    names = _names(arguments["ablate"])
    return find_ablations(names, _settings_of(DEFAULT, arguments)) if names else ()


def _model(model: str | None, base_url: str | None) -> tuple[str, str | None]:
    """The model's name and address, as 'exploracoder explore' would resolve them."""
    if prepare.wants_embedded(model, base_url):
        return EMBEDDED, None
    name = model or os.environ.get("EXPLORACODER_MODEL")
    if not name:
        raise InputError("An endpoint is configured, but no model. Name one with --model.")
    return name, base_url or os.environ.get("OPENAI_BASE_URL") or _HOSTED_URL
