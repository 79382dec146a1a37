"""The kernel's start options: its arguments and an environment variable.

A kernel manager that starts kernels through a gateway passes on no arguments, but every variable
whose name starts with ``KERNEL_``. So ``KERNEL_EXPLORACODER`` holds the same options as JSON.
Whoever can set it can start kernels anyway; a notebook can't.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.kernel.request_contents import problems_of
from exploracoder_kernel.sandbox.sandbox_choice import LevelChoice
from exploracoder_kernel.strategies import StrategyChoice

VARIABLE = "KERNEL_EXPLORACODER"


def _some(text: str) -> str:
    if not text.strip() or "\0" in text:
        raise ValueError("must name something")
    return text


_Text = Annotated[str, AfterValidator(_some)]


class StartOptions(BaseModel):
    """How the kernel is to be started; what is left out is as usual.

    Attributes:
        python: The interpreter that cells run in.
        sandbox: What cells are kept from.
        strategy: How branches are made.
        cwd: The folder that cells run in, or see.
        memory_budget: What idle branches may hold together, in MB.
        readable: More files and folders that cells may read in a sandbox.
        import_paths: Folders in which cells find libraries that nothing has installed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    python: _Text = sys.executable
    sandbox: LevelChoice = "auto"
    strategy: StrategyChoice = "auto"
    cwd: _Text = "."
    memory_budget: int | None = Field(default=None, gt=0)
    readable: tuple[_Text, ...] = ()
    import_paths: tuple[_Text, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder that cells run in."""
        return Path(self.cwd).absolute()

    def environment(self, surroundings: Mapping[str, str]) -> dict[str, str]:
        """Variables for the interpreter besides its surroundings. The kernel's own process never
        looks in these folders: it runs no user code."""
        if not self.import_paths:
            return {}
        own = surroundings.get("PYTHONPATH")
        paths = [*self.import_paths, own] if own else self.import_paths
        return {"PYTHONPATH": os.pathsep.join(paths)}


def options_from(environment: MutableMapping[str, str], arguments: dict[str, Any]) -> StartOptions:
    """The options in the environment, overridden by the arguments that are not None.

    The variable is removed from the environment, so that nothing the kernel starts inherits it.

    Raises:
        SidecarError: The variable holds no valid options.
    """
    text = environment.pop(VARIABLE, "") or "{}"
    try:
        options = StartOptions.model_validate_json(text)
    except ValidationError as error:
        raise SidecarError(
            f"The variable {VARIABLE} can't be used: {problems_of(error)}. It is a JSON object "
            'such as {"python": "/usr/bin/python3", "sandbox": "strict"}.'
        ) from error
    overrides = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in arguments.items()
        if value is not None
    }
    return options.model_copy(update=overrides)
