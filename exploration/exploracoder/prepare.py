"""Turn the user's input into what a session needs: interpreter, index, model, task."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from exploracoder_retrieval.errors import EmbeddingError, IndexUnavailable, RetrievalError
from exploracoder_retrieval.examples.kept import KeptExamples
from exploracoder_retrieval.facts.module_files import ModuleFinder
from exploracoder_retrieval.given_docs import GivenDocs
from exploracoder_retrieval.harvest.docs.source import ALONE
from exploracoder_retrieval.harvest.result import LibraryInfo
from exploracoder_retrieval.harvest.target import Target, find_target
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.library_python import Interpreter
from exploracoder_retrieval.web_access import without_credentials

from exploracoder.effort import find_effort
from exploracoder.errors import InputError, NoWeightsError, SetupError, raised_as
from exploracoder.folders import aside_of, cache_folder, can_keep, data_folder
from exploracoder.methods import DEFAULT, find_method
from exploracoder.models import suggested_models
from exploracoder.models.capabilities import UNKNOWN, Capabilities
from exploracoder.models.capabilities import capabilities_memory as remembered
from exploracoder.models.chat import ChatModel
from exploracoder.models.discovery import find_servers
from exploracoder.models.endpoint_memory import EndpointMemory
from exploracoder.models.keys import kept_key, key_in_environment
from exploracoder.models.model_choice import EMBEDDED, HOSTED_URL
from exploracoder.models.server_failures import checked_base_url
from exploracoder.models.weights import WeightsStore
from exploracoder.settings import Settings, changed_settings, make_settings
from exploracoder.state import Exploration, Library, Task
from exploracoder.suitable_profile import Fit, profile_for

if TYPE_CHECKING:
    from exploracoder.models.reply_cache import ReplyCache

Progress = Callable[[str], None]


def make_exploration(
    task: Task,
    *,
    profile: str | None = None,
    settings: Mapping[str, object] | None = None,
    is_embedded: bool,
    capabilities: Capabilities = UNKNOWN,
    method: str = DEFAULT,
    seed: int = 0,
) -> Exploration:
    """Create an exploration with the settings that `settings_for` finds.

    Raises InputError as that does, and if the method does not suit the task.
    """
    match = find_method(method)
    if match.writes_class != (task.target is not None):
        raise InputError(
            f"{match.name} writes a class into a repository: say where, with --repository and"
            " --file."
            if match.writes_class
            else f"{match.name} writes no class into a repository. Leave out --repository and"
            " --file, or choose a method that does: --method rrr."
        )
    full_settings = settings_for(
        match.name,
        profile=profile,
        settings=settings,
        is_embedded=is_embedded,
        capabilities=capabilities,
    )
    return Exploration(task=task, settings=full_settings, method=match.name, seed=seed)


def settings_for(
    method: str,
    *,
    profile: str | None = None,
    settings: Mapping[str, object] | None = None,
    is_embedded: bool,
    capabilities: Capabilities = UNKNOWN,
) -> Settings:
    """The settings for a method; without a profile, those that suit the model.

    Values that the method's source publishes override the profile, and the user's ``settings``
    override both. Raises InputError if there is no such profile, setting or method, or a value is
    out of range or contradicts the method.
    """
    from exploracoder.engine.knowing.lookup import open_web

    match = find_method(method)
    fit = profile_for(capabilities, is_embedded=is_embedded)
    fit_settings = {} if profile else dict(fit.settings)
    user_settings = {name: value for name, value in (settings or {}).items() if value is not None}
    values = fit_settings | dict(match.published) | user_settings
    profile_settings = make_settings(profile or fit.profile, **values)
    full_settings = profile_settings.model_copy(update=dict(match.overrides))
    for name in user_settings:
        final = getattr(full_settings, name, None)
        if final != getattr(profile_settings, name, None):
            raise InputError(
                f"The method {match.name} has {name} = {final}: that is what makes it this method."
                " Leave the setting out, or choose another method."
            )
    open_web(full_settings)  # fail now, not in the middle of the work
    return full_settings


def going_on(exploration: Exploration, **limits: object) -> Exploration:
    """Prepare an exploration to be resumed: with other limits, and without a failed solution.

    ``limits`` replace those that may have stopped it; None removes one. Failed texts of a class
    stay if there was no time for the next one. Raises InputError if a limit cannot be used.
    """
    settings = changed_settings(exploration.settings, **limits)
    exploration = exploration.model_copy(update={"settings": settings})
    is_at_its_end = exploration.status == "failed" and not exploration.reason
    if exploration.task.target is not None and not is_at_its_end:
        return exploration
    if exploration.solution is not None and not exploration.solution.final.is_good:
        return exploration.model_copy(update={"solution": None})
    return exploration


def interpreter_then(exploration: Exploration) -> str | None:
    """The interpreter that the exploration ran in, if it still exists."""
    return exploration.python if exploration.python and os.path.exists(exploration.python) else None


@contextmanager
def new_output(output: str | Path | None) -> Iterator[Path]:
    """Where to save: the file named, or ``exploration.ipynb`` here, numbered if that exists.

    An empty file reserves that name, and goes again if nothing was saved. Raises InputError if the
    name cannot be that of a notebook, or the folder cannot be written.
    """
    if output is not None:
        yield named_output(output)
        return
    path = _reserved_output()
    try:
        yield path
    finally:
        if path.is_file() and not has_content(path):
            path.unlink()


def _reserved_output() -> Path:
    number = 1
    while True:
        path = Path(f"exploration-{number}.ipynb" if number > 1 else "exploration.ipynb").absolute()
        try:
            path.open("x").close()
            return path
        except FileExistsError:
            number += 1
        except OSError as error:
            raise InputError(f"{path.parent} cannot be written: {error.strerror}.") from error


def named_output(output: str | Path) -> Path:
    """The absolute path of a notebook to write. Raises InputError unless it ends in ``.ipynb``."""
    path = full(output)
    if path.suffix != ".ipynb":
        raise InputError(f"--output must end in .ipynb, not {path.name!r}.")
    return path


def has_content(path: Path) -> bool:
    """Whether a file at ``path`` is not empty. Raises InputError if that cannot be told."""
    with raised_as(InputError, OSError):
        return path.is_file() and path.stat().st_size > 0


def make_room(path: Path) -> Path | None:
    """Move a file aside that would be overwritten, and return where it is now.

    Raises InputError if that is impossible.
    """
    if not has_content(path):
        return None
    with raised_as(InputError, OSError):
        return path.rename(aside_of(path))


def full(path: str | Path) -> Path:
    """The absolute path, with ``~`` expanded. Raises InputError if there is no such user."""
    with raised_as(InputError, RuntimeError, of=str(path)):
        return Path(path).expanduser().absolute()


def absolute_target(target: str) -> str:
    """A library's name unchanged, or its absolute path: work may resume from another folder."""
    is_file = target.endswith((".py", *ALONE))
    is_path = os.sep in target or target.startswith(("~", ".")) or is_file
    return str(full(target)) if is_path else target


def setting_of(assignment: str) -> tuple[str, str]:
    """The name and value of ``NAME=VALUE``. Raises InputError when no setting has that name."""
    name, equals, value = assignment.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or name not in Settings.model_fields or name == "profile":
        raise InputError(
            f"--set takes NAME=VALUE with the name of a setting, not {assignment!r}."
            " 'exploracoder explore --list-settings' names them."
        )
    return name, value.strip()


def read_code(path: Path, option: str) -> str:
    """The code of a .py file, or of a notebook's code cells. Raises InputError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{option}: {path} is not a text file in UTF-8.") from error
    except OSError as error:
        raise InputError(f"{option}: {path} cannot be read: {error.strerror}.") from error
    if path.suffix != ".ipynb":
        return text
    from exploracoder_kernel import notebook

    with raised_as(InputError, notebook.NotebookError, of=option):
        contents = notebook.read(path)
    cells = (cell.source for cell in contents.cells if cell.cell_type == "code")
    return "\n\n".join(cell for cell in cells if cell.strip())


def index_folder() -> Path:
    """The folder of the user's index."""
    return cache_folder() / "index"


def user_folder() -> Path:
    """The folder of what the user gave or accepted. Raises SetupError when it cannot be used.

    What an index's folder has of it is moved there.
    """
    folder = data_folder()
    places = [
        (index_folder() / name, folder / name) for name in (KeptExamples.FOLDER, GivenDocs.FOLDER)
    ]
    if any(old.is_dir() and not new.exists() for old, new in places):
        from filelock import FileLock

        with raised_as(SetupError, OSError, of=f"{folder} (set EXPLORACODER_DATA to use another)"):
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(folder / ".lock"):
                for old, new in places:
                    if old.is_dir() and not new.exists():
                        # The folders may be on two disks, and a copy may be cut off.
                        copy = new.with_name(f".{new.name}")
                        shutil.copytree(old, copy, dirs_exist_ok=True)
                        copy.rename(new)
                        shutil.rmtree(old)
    return folder


def find_library(target: str | Path, interpreter: Interpreter) -> Target:
    """Resolve a library's name or path, including docs that were given for it.

    Raises RetrievalError if there is no such library.
    """
    return find_target(target, interpreter, GivenDocs(user_folder()))


def open_index(
    *, chroma_url: str | None = None, embeddings_url: str | None = None, embeddings_model: str = ""
) -> Index:
    """The user's index. Raises SetupError when it cannot be opened."""
    from exploracoder_retrieval.embeddings import EndpointEmbedder, MiniLmEmbedder

    if embeddings_url:
        with raised_as(SetupError, InputError, of="--embeddings-url"):
            embeddings_url = checked_base_url(embeddings_url)
    embedder = (
        EndpointEmbedder(
            base_url=embeddings_url,
            api_key=key_in_environment(embeddings_url),
            model=embeddings_model,
        )
        if embeddings_url
        else MiniLmEmbedder()
    )
    folder = index_folder()
    try:
        return Index.open(folder, embedder, chroma_url, user_folder=user_folder())
    except RetrievalError as error:
        advice = "" if can_keep(folder) else " Name another folder: EXPLORACODER_CACHE=FOLDER"
        raise SetupError(f"{error}{advice}") from error


def index_libraries(
    index: Index,
    targets: Sequence[str],
    interpreter: Interpreter,
    *,
    progress: Progress | None = None,
    option: str = "--library ",
) -> tuple[Library, ...]:
    """Bring the index up to date for each library, and say what it holds.

    ``option`` precedes the library's name in error messages.

    Raises InputError when a library cannot be found or read, or has no public API, SetupError when
    the index or the model that embeds cannot be used.
    """
    from exploracoder_retrieval.ensure import ensure

    tell, libraries = progress or (lambda message: None), []
    for target in dict.fromkeys(targets):
        tell(f"Reading the docs of {target}")
        with (
            raised_as(InputError, RetrievalError, of=f"{option}{target}"),
            raised_as(SetupError, EmbeddingError, IndexUnavailable),
        ):
            info = ensure(target, interpreter, index)
        if info.skipped:
            tell(
                f"Of {info.name} {info.skipped[0].name} was left out: {info.skipped[0].reason}"
                f" (and {len(info.skipped) - 1} more: exploracoder index {target})"
            )
        libraries.append(
            Library(
                name=info.name,
                import_name=info.import_name,
                version=info.version,
                apis=len(index.docs(info.name)),
            )
        )
    return tuple(libraries)


def without_code(info: LibraryInfo, index: Index, interpreter: Interpreter) -> str:
    """A warning about a library that is only known from documentation; empty for any other.

    Server operations need no import, so nothing is missing for those.
    """
    if info.source != "docs" or all(doc.kind == "operation" for doc in index.docs(info.name)):
        return ""
    finder = ModuleFinder(
        interpreter.search_paths,
        interpreter.builtin_modules,
        mapped=interpreter.mapped_modules(),
    )
    if finder.find(info.import_name) is not None:
        return ""
    return (
        f"{info.name} is known from its docs alone: {info.import_name} is not installed for"
        f" {interpreter.executable}, so nothing that imports it runs there."
    )


def with_libraries(
    exploration: Exploration,
    index: Index,
    interpreter: Interpreter,
    *,
    progress: Progress | None = None,
) -> Exploration:
    """Index the exploration's libraries, and keep the summaries it already has of them.

    Raises InputError when a library cannot be found or read, or has no public API.
    """
    targets = exploration.task.libraries
    summaries = {library.name: library.summary for library in exploration.libraries}
    libraries = tuple(
        library.model_copy(update={"summary": summaries.get(library.name, "")})
        for library in index_libraries(index, targets, interpreter, progress=progress)
    )
    for library in libraries:
        note = without_code(index.info(library.name), index, interpreter)
        if note and progress is not None:
            progress(note)
    return exploration.model_copy(update={"libraries": libraries})


def wants_embedded(model: str | None, base_url: str | None) -> bool:
    """Whether the embedded model is meant: by name, or because nothing else is configured."""
    if model is None and base_url is None:
        model = os.environ.get("EXPLORACODER_MODEL")
    if model == EMBEDDED:
        return True
    model = model or os.environ.get("EXPLORACODER_MODEL")
    base_url = base_url or os.environ.get("OPENAI_BASE_URL")
    return not (model or base_url or os.environ.get("OPENAI_API_KEY"))


def capabilities_memory(
    model: str | None, base_url: str | None, reasoning_effort: str | None = None
) -> EndpointMemory[Capabilities] | None:
    """The store for what the model named by flags or environment can do; None without a name.

    Raises InputError if there is no such effort, or the address is not valid.
    """
    file = cache_folder() / "capabilities.json"
    if wants_embedded(model, base_url):
        return remembered(file, EMBEDDED, WeightsStore().model.sha256)
    name = model or os.environ.get("EXPLORACODER_MODEL")
    if not name:
        return None
    url = without_credentials(checked_base_url(endpoint_url(base_url)))
    return remembered(file, url.rstrip("/"), name, find_effort(reasoning_effort) or "")


def known_capabilities(
    model: str | None, base_url: str | None, reasoning_effort: str | None = None
) -> Capabilities:
    """What `exploracoder model test` found out about that model; makes no request."""
    memory = capabilities_memory(model, base_url, reasoning_effort)
    return (memory.recall() if memory is not None else None) or UNKNOWN


def fit_of(model: str | None, base_url: str | None, reasoning_effort: str | None = None) -> Fit:
    """The profile and settings that suit the model named by flags or environment."""
    return profile_for(
        known_capabilities(model, base_url, reasoning_effort),
        is_embedded=wants_embedded(model, base_url),
    )


def endpoint_url(base_url: str | None) -> str:
    """The address of the endpoint that a flag or the environment names, or else the hosted one."""
    return base_url or os.environ.get("OPENAI_BASE_URL") or HOSTED_URL


@asynccontextmanager
async def open_model(
    model: str | None,
    base_url: str | None,
    *,
    api_key: str | None = None,
    cache: bool = False,
    replies: ReplyCache | None = None,
    lora: Path | None = None,
    reasoning_effort: str | None = None,
) -> AsyncIterator[ChatModel]:
    """Open the model named by flags or environment, or the embedded one.

    ``api_key`` overrides the environment's; if there is neither, the keyring may have one.
    ``cache`` uses the user's reply cache, ``replies`` another. ``lora`` is an adapter for the
    embedded model. ``reasoning_effort`` is for reasoning models; others, and the embedded one, are
    asked without it. What servers refuse is kept in ``dialects.json`` in the user's cache folder.

    Raises InputError if a model is only half configured or there is no such effort, SetupError or
    ModelError if it is not available.
    """
    from exploracoder.models.reply_cache import ReplyCache

    if replies is None and cache:
        replies = ReplyCache(cache_folder() / "replies")
    if wants_embedded(model, base_url):
        from exploracoder.models.local import EmbeddedModel

        async with AsyncExitStack() as stack:
            try:
                manager = EmbeddedModel(cache=replies, lora=lora)
                embedded_model = await stack.enter_async_context(manager)
            except NoWeightsError as error:
                others = suggested_models.in_words(await suggested_models.offered())
                raise NoWeightsError(f"{error}{others}") from None
            yield embedded_model
        return
    if lora is not None:
        raise InputError("--lora is for the embedded model: add --model embedded, or leave it out.")
    name, url = model or os.environ.get("EXPLORACODER_MODEL"), endpoint_url(base_url)
    if not name:
        servers = await find_servers({"It has": url})
        raise InputError(
            "An endpoint is configured, but no model. Name one with --model or EXPLORACODER_MODEL;"
            " --model embedded uses the one that comes with ExploraCoder."
            + suggested_models.in_words(suggested_models.of_servers(servers))
        )
    from exploracoder.models.openai_client import OpenAIChatModel

    key = key_in_environment(url) if api_key is None else api_key
    async with OpenAIChatModel(
        url,
        key or await asyncio.to_thread(kept_key, url),
        name,
        cache=replies,
        reasoning_effort=find_effort(reasoning_effort),
        dialects=cache_folder() / "dialects.json",
    ) as client:
        yield client
