"""What a folder of runs was started with; continuing with anything else would mix two tables."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

from exploracoder import __version__
from exploracoder.errors import InputError, ModelError, SetupError
from exploracoder.models.model_cost import Price, Usage
from exploracoder.models.openai_client import fingerprint_of
from exploracoder.models.server_answer import read_cards
from exploracoder_retrieval.web_access import (
    below,
    is_loopback,
    trusted,
    without_credentials,
)
from pydantic import BaseModel, ConfigDict

from exploracoder_bench.datasets.json_lines import read_json
from exploracoder_bench.judge import Verdict
from exploracoder_bench.problems import Problem
from exploracoder_bench.provenance import UNKNOWN, Code, Provenance
from exploracoder_bench.splits import Split

FILE = "plan.json"
# Whether the methods are given a problem's check, or it only runs afterwards.
Checks = Literal["shown", "hidden"]


class Plan(BaseModel):
    """What was asked for, and with what it was answered.

    ``identity`` is the SHA-256 of the embedded model's file, or of what the endpoint says about its
    model; ``lora`` that of the adapter's file, which goes into the identity. ``checks`` says
    whether the methods saw them. ``problems`` maps each problem that counts to its digest,
    ``excluded`` each other one to the reason, ``splits`` those that were in a split when they ran
    to that split. ``briefing`` is what the model's briefings on libraries cost before the first
    sample. ``provenance`` says what it was run with, by the keys that results have; empty in a plan
    that an earlier version wrote. ``also_with`` are other versions of Python that the runs were
    continued with, and of ExploraCoder in such a plan.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str = __version__
    python: str = platform.python_version()
    created: datetime
    command: str
    model: str
    identity: str
    lora: str = ""
    options: tuple[str, ...]
    timeout_s: float
    methods: tuple[str, ...]
    samples: int
    checks: Checks = "shown"
    price: Price = Price()
    problems: dict[str, str] = {}
    excluded: dict[str, str] = {}
    splits: dict[str, Split] = {}
    briefing: Usage = Usage()
    provenance: dict[str, Provenance] = {}
    also_with: tuple[str, ...] = ()

    @property
    def code(self) -> Code | None:
        """The code that ran, which is the same for all results; None if it was not recorded."""
        return next((one.code for one in self.provenance.values()), None)

    def judged(self, verdict: Verdict) -> Plan:
        """The plan with a problem among those that count, or excluded with the reason."""
        if not verdict.is_sound:
            return self.model_copy(
                update={"excluded": self.excluded | {verdict.problem: verdict.reason}}
            )
        excluded = {name: why for name, why in self.excluded.items() if name != verdict.problem}
        problems = self.problems | {verdict.problem: verdict.digest}
        return self.model_copy(update={"problems": problems, "excluded": excluded})

    def with_splits(self, problems: Iterable[Problem]) -> Plan:
        """The plan with the problems' splits. Raises InputError when one has changed its split."""
        splits = {one.name: one.split for one in problems if one.split is not None}
        movers = [name for name, split in splits.items() if self.splits.get(name, split) != split]
        if movers:
            raise InputError(
                f"{movers[0]} was {self.splits[movers[0]]} when the runs kept here were begun, and"
                f" is {splits[movers[0]]} now: a table of both says nothing of either. Use another"
                " --out."
            )
        return self.model_copy(update={"splits": self.splits | splits})


def now() -> datetime:
    """Now, to the second."""
    return datetime.now(timezone.utc).replace(microsecond=0)


def identity_of(model: str, base_url: str | None, api_key: str, lora_sha256: str = "") -> str:
    """A fingerprint that tells this model from another that might answer under its name.

    The embedded model with an adapter, whose SHA-256 is given, counts as a different one.

    Raises ModelError when the endpoint cannot be asked.
    """
    if base_url is None:
        from exploracoder.models.weights import WeightsStore

        sha256 = WeightsStore().model.sha256
        if not lora_sha256:
            return sha256
        return hashlib.sha256(f"{sha256}+{lora_sha256}".encode()).hexdigest()
    import httpx

    url = below(base_url, "models")
    shown_url = without_credentials(base_url)
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    try:
        reply = httpx.get(
            url,
            headers=headers,
            timeout=60,
            trust_env=not is_loopback(base_url),
            verify=trusted(),
        )
        if reply.status_code not in (httpx.codes.OK, httpx.codes.NOT_FOUND):
            raise ModelError(f"{shown_url} names no models: it answered {reply.status_code}.")
        cards = read_cards(reply.json()) if reply.is_success else []
    except (httpx.HTTPError, ValueError) as error:
        raise ModelError(f"{shown_url} cannot be asked for its models: {error}") from error
    return fingerprint_of(model, cards)


def read_plan(out: Path) -> Plan | None:
    """The plan of a folder, if it has one. Raises InputError when it is damaged."""
    file = out / FILE
    return read_json(file, Plan, "plan of a bench run") if file.exists() else None


def write_plan(out: Path, plan: Plan) -> None:
    """Write the plan atomically. Raises SetupError when it cannot be written."""
    beside = out / f".{FILE}"
    try:
        out.mkdir(parents=True, exist_ok=True)
        beside.write_text(plan.model_dump_json(indent=1) + "\n", encoding="utf-8")
        beside.replace(out / FILE)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise SetupError(
            f"{out / FILE} cannot be written: {error.strerror or error}. Make room and give the"
            " same command again."
        ) from error


def going_on(before: Plan, plan: Plan, problems: list[Problem]) -> Plan:
    """The earlier plan, extended by what is asked for now.

    Raises InputError when the model, the code, the options, or a problem has changed.
    """
    if before.identity != plan.identity:
        raise InputError(
            f"The model changed under the runs kept here: it was {before.model}"
            f" ({before.identity[:12]}), now it is {plan.model} ({plan.identity[:12]}). Use"
            " another --out, and 'exploracoder bench compare' for the two."
        )
    if _digest(before.code) != _digest(plan.code):
        raise InputError(
            f"The runs kept here were made with code {before.code or UNKNOWN}, and what would go on"
            f" is {plan.code or UNKNOWN}: no figure would be of either. Use another --out, or that"
            " code."
        )
    if before.checks != plan.checks:
        raise InputError(
            f"The methods of the runs kept here had the checks {before.checks}. Use --checks"
            f" {before.checks}, or another --out."
        )
    if (before.options, before.timeout_s) != (plan.options, plan.timeout_s):
        raise InputError(
            f"The runs kept here had the options {' '.join(before.options) or 'of the profile'} and"
            f" {before.timeout_s:g} s for a sample. Use the same, or another --out."
        )
    changed_names = [
        problem.name
        for problem in problems
        if before.problems.get(problem.name, problem.digest) != problem.digest
    ]
    if changed_names:
        raise InputError(
            f"{', '.join(changed_names[:5])}: the problem or its data changed since these runs were"
            " begun. Put back what was there, or use another --out."
        )
    if (before.version, before.python) != (plan.version, plan.python):
        other = f"ExploraCoder {plan.version}, Python {plan.python}"
        also_with = tuple(dict.fromkeys([*before.also_with, other]))
        before = before.model_copy(update={"also_with": also_with})
    methods = tuple(dict.fromkeys([*before.methods, *plan.methods]))
    samples = max(before.samples, plan.samples)
    return before.model_copy(
        update={
            "methods": methods,
            "samples": samples,
            "price": plan.price,
            "command": plan.command,
            "provenance": before.provenance | plan.provenance,
        }
    )


def _digest(code: Code | None) -> str:
    return code.digest if code is not None else UNKNOWN
