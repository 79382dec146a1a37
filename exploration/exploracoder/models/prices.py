"""What models cost, according to a table that the user writes: no prices are built in."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import Field, TypeAdapter, ValidationError

from exploracoder.errors import InputError, SetupError
from exploracoder.folders import config_folder
from exploracoder.models.model_cost import Price

TEMPLATE = """\
# What models cost. An entry each, of which the first counts that a model's name fits; * stands for
# any part of a name. Prices are for a million tokens, in the currency that you name.
#
# - model: name-of-a-model-*
#   prompt: 0.50
#   completion: 1.50
#   currency: USD
"""


class _Row(Price):
    model: str = Field(min_length=1, max_length=500)


_TABLE = TypeAdapter(list[_Row])


def prices_file() -> Path:
    """Path of the price table, which may not exist."""
    return config_folder() / "prices.yaml"


def price_of(model: str) -> Price | None:
    """The price of a model; None if the table has no entry for it.

    Raises:
        InputError: The table cannot be read.
    """
    rows = (row for row in _rows(prices_file()) if fnmatchcase(model, row.model))
    return next(rows, None)


def make_table() -> Path:
    """The table's path; a missing file is created with an example in comments.

    Raises:
        SetupError: The file cannot be written.
    """
    file = prices_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as stream:
            stream.write(TEMPLATE)
    except FileExistsError:
        pass
    except OSError as error:
        raise SetupError(f"{file} cannot be written: {error.strerror}.") from error
    return file


def _rows(file: Path) -> list[_Row]:
    if not file.is_file():
        return []
    import yaml

    try:
        return _TABLE.validate_python(yaml.safe_load(file.read_text(encoding="utf-8")) or [])
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ", ".join(
            f"entry {part + 1}" if isinstance(part, int) else part for part in fault["loc"]
        )
        raise InputError(f"{file}: {place or 'the table'}: {fault['msg']}.") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{file} cannot be read as a table of prices: {error}") from error
