"""The settings of an exploration, and the profiles: sets of values that go together.

A setting that the paper names carries that name in its description; `--help` and the documentation
show it. Of the profiles, `standard` is ours for hosted models, `paper` has the paper's values and
procedures, and `small` helps a model of one or two billion parameters.
"""

from __future__ import annotations

from typing import Literal

from exploracoder_retrieval.apisearch.web_page import SITES
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from exploracoder.errors import InputError

ProfileName = Literal["standard", "paper", "small"]


class Settings(BaseModel):
    """The parameters of an exploration."""

    # JSON, and so a notebook, has no infinity.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    profile: ProfileName = "standard"
    few_shot_plans: int = Field(
        5,
        ge=0,
        description="k_D: example plans shown to the planner, after a summary of the library (s);"
        " with 0 it is shown neither",
    )
    max_subtasks: int = Field(12, ge=1, description="subtasks that a plan may have")
    example_arguments: bool = Field(
        True,
        description="give the parameters of a function that is asked for example values, their"
        " defaults or the model's: a first step that the others go on from",
    )
    retrieved_apis: int = Field(20, ge=1, description="k: APIs retrieved for each subtask")
    shown_apis: int = Field(10, ge=1, description="APIs kept for each subtask's prompt")
    overall_apis: int = Field(15, ge=0, description="k_G: APIs recommended for the whole task")
    shown_examples: int = Field(3, ge=0, description="example codes of the library shown")
    memory: bool = Field(
        True,
        description="keep accepted snippets, and solutions that pass a check, as examples of the"
        " library, on this machine; rank and show what is kept, the user's own code too",
    )
    sift: bool = Field(
        True,
        description="show a member that classes share once, and prefer those of live variables",
    )
    rerank: Literal["model", "none"] = Field(
        "model", description="who re-ranks and drops retrieved APIs"
    )
    candidates: int = Field(3, ge=1, description="m: candidates drafted for each subtask")
    temperature: float = Field(0.8, ge=0, le=2, description="temperature of drafts and solutions")
    top_p: float = Field(0.95, gt=0, le=1, description="top-p of drafts and solutions")
    candidate_style: Literal["live", "self_contained"] = Field(
        "live",
        description="live: a candidate holds only new lines; self_contained: all (the paper)",
    )
    stop_at_first: bool = Field(
        False, description="stop drafting at the first candidate with good evidence"
    )
    self_debug: bool = Field(True, description="ExploraCoder*: repair when no candidate ran")
    debug_rounds: int = Field(1, ge=1, description="repairs asked for in one subtask")
    backtracks: int = Field(
        3, ge=0, description="times that a failure sends the chain back to an earlier subtask"
    )
    selection: Literal["random", "evidence", "any"] = Field(
        "evidence",
        description="how the experience is chosen: the paper's is random, of those that ran, or"
        " of those that failed when none ran; any: random, of all",
    )
    repair_names: bool = Field(
        True,
        description="mend names without asking the model: add imports of those that the index"
        " knows; in the strict sandbox try the nearest real names in place of those that do not"
        " exist, and other retrieved APIs in place of those that a refused solution names",
    )
    existing_names: bool = Field(
        False,
        description="bind code to a grammar in which every attribute is a name of the libraries or"
        " of Python's own; for servers that take one, as the embedded model's does",
    )
    name_hints: bool = Field(
        True, description="say in a repair which names do not exist, and show the docs of near ones"
    )
    first_tries: int = Field(
        0,
        ge=0,
        description="solutions written from retrieved docs first; explored is what they fail at:"
        " to pass the check, or, without one, to give anything in at most three tries; one more is"
        " written from memory before, and what it calls that does not exist is looked up",
    )
    compose: bool = Field(
        True,
        description="try what the steps' candidates make together before asking for a solution",
    )
    solution_attempts: int = Field(
        1, ge=1, description="texts of the solution written from scratch (best-of-n: n)"
    )
    sample_tokens: int | None = Field(
        None,
        gt=0,
        description="best-of-n: in the place of n, as many texts as are begun before the"
        " exploration has taken so many tokens",
    )
    repair_rounds: int = Field(2, ge=0, description="repairs of each of them")
    oracle_calls: int = Field(
        5, ge=1, description="texts of a class that are checked (RRR: MAX_CALLS)"
    )
    prompt_chars: int = Field(
        24_000,
        ge=0,
        description="characters of a prompt on the libraries: overview, and all docs in full, or"
        " a line for each API and some docs",
    )
    cells: bool = Field(
        True,
        description="have all cells and the solution written in one request; otherwise plan, and"
        " explore each subtask (the paper)",
    )
    looks: int = Field(
        3, ge=0, description="looks at what came out before a failure is explored step by step"
    )
    write_tokens: int = Field(
        3000, ge=16, description="completion tokens of all cells and the solution together"
    )
    doc_chars: int = Field(1200, ge=0, description="characters of each ApiDoc shown in a prompt")
    source_chars: int = Field(
        1200,
        ge=0,
        description="characters, from the libraries' source, on the names in a line that failed",
    )
    tool_chars: int = Field(
        4000, ge=0, description="characters of each answer of a repository tool shown in a prompt"
    )
    output_chars: int = Field(1500, ge=100, description="characters of an output shown in a prompt")
    step_tokens: int = Field(800, ge=16, description="completion tokens of one candidate")
    solution_tokens: int = Field(1500, ge=16, description="completion tokens of one solution")
    run_seconds: float = Field(30.0, gt=0, description="wall seconds of one run")
    functions: Literal["off", "repairs", "always"] = Field(
        "always",
        description="let the model call find_apis, read_doc, read_source and try_code while a step"
        " is explored: when a candidate failed or no docs fit (repairs), or always; off: react asks"
        " for them in its text",
    )
    turns: int = Field(10, ge=2, description="turns in which react acts or answers")
    search_calls: Literal["auto", "text", "functions"] = Field(
        "auto",
        description="how toolcoder's model asks: in its text, by functions of the chat API, or"
        " (auto) in its text where the server goes on with texts",
    )
    web_search: str = Field(
        "off",
        pattern=r"^(off|duckduckgo|https?://[^\s@?#]+)$",
        description="whom APISearch asks on the web, too: nobody (off), duckduckgo, or a SearXNG"
        " server's address",
    )
    web_sites: str = Field(
        " ".join(SITES),
        pattern=r"^[\w.-]+( [\w.-]+)*$",
        description="sites that web search is restricted to",
    )
    max_seconds: float | None = Field(None, gt=0, description="wall seconds of the exploration")
    max_tokens: int | None = Field(None, gt=0, description="tokens of the exploration")


PROFILES: dict[ProfileName, Settings] = {
    "standard": Settings(),
    "paper": Settings(
        profile="paper",
        candidates=5,
        shown_apis=20,
        # As many repairs as subtasks (section 5.4): one each.
        debug_rounds=1,
        shown_examples=0,
        memory=False,
        example_arguments=False,
        sift=False,
        compose=False,
        backtracks=0,
        candidate_style="self_contained",
        selection="random",
        repair_names=False,
        name_hints=False,
        repair_rounds=0,
        source_chars=0,
        functions="off",
        cells=False,
    ),
    "small": Settings(
        profile="small",
        few_shot_plans=2,
        max_subtasks=5,
        retrieved_apis=20,
        shown_apis=6,
        overall_apis=6,
        rerank="none",
        candidates=3,
        temperature=0.6,
        stop_at_first=True,
        debug_rounds=2,
        existing_names=True,
        first_tries=5,
        solution_attempts=2,
        repair_rounds=2,
        doc_chars=420,
        cells=False,
        source_chars=600,
        tool_chars=1200,
        output_chars=500,
        step_tokens=220,
        solution_tokens=500,
        functions="off",
        run_seconds=15,
    ),
}


def make_settings(profile: str, **overrides: object) -> Settings:
    """The settings of ``profile`` with those ``overrides`` that are not None.

    Raises InputError if there is no such profile or a value is out of range.
    """
    if profile not in PROFILES:
        raise InputError(f"There is no profile {profile!r}. Profiles: {', '.join(PROFILES)}.")
    values = {name: value for name, value in overrides.items() if value is not None}
    return changed_settings(PROFILES[profile], **values)


def changed_settings(settings: Settings, **values: object) -> Settings:
    """The settings with these values. Raises InputError if one is out of range."""
    try:
        return Settings.model_validate(settings.model_dump() | values)
    except ValidationError as error:
        faults = (": ".join([*map(str, one["loc"]), one["msg"]]) for one in error.errors())
        raise InputError(f"A setting cannot be used: {'; '.join(faults)}.") from error
