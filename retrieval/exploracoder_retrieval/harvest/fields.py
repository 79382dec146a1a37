"""Fields of classes that are made of annotations: dataclasses, attrs, pydantic, named tuples."""

from __future__ import annotations

from exploracoder_retrieval.harvest.names import Definition, Names
from exploracoder_retrieval.harvest.signatures import Field

_DECORATORS = frozenset(
    {"dataclass", "define", "frozen", "mutable", "attrs", "dataclass_transform"}
)
_BASES = frozenset({"BaseModel", "NamedTuple", "TypedDict", "Struct", "BaseSettings", "SQLModel"})
_ENUMERATIONS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})


def data_fields(cls: Definition, names: Names) -> tuple[Field, ...]:
    """The fields that a data class's call takes, bases' first; empty for any other class."""
    if not is_data_class(cls, names):
        return ()
    fields: dict[str, Field] = {}
    for base in reversed(names.mro(cls)):
        for field in _own_fields(base):
            fields[field.name] = field
    return tuple(fields.values())


def is_data_class(cls: Definition, names: Names) -> bool:
    """Whether annotations make the class, by a decorator or a base of it or of one of its bases."""
    return any(_is_made_of_fields(base) for base in names.mro(cls))


def is_enumeration(cls: Definition, names: Names) -> bool:
    """Whether a class is an Enum, as far as its bases can be read."""
    return bool(_base_names(cls, names) & _ENUMERATIONS)


def _base_names(cls: Definition, names: Names) -> set[str]:
    found: set[str] = set()
    for base in names.mro(cls):
        found |= {_last_name(str(each)) for each in getattr(base.obj, "bases", ())}
    return found


def _is_made_of_fields(cls: Definition) -> bool:
    decorated = {_last_name(str(each.value)) for each in getattr(cls.obj, "decorators", ())}
    bases = {_last_name(str(each)) for each in getattr(cls.obj, "bases", ())}
    return bool(decorated & _DECORATORS or bases & _BASES)


def _last_name(source: str) -> str:
    return source.split("(", 1)[0].split("[", 1)[0].rpartition(".")[2]


def _own_fields(cls: Definition) -> list[Field]:
    fields = []
    decorators = " ".join(str(each.value) for each in getattr(cls.obj, "decorators", ()))
    keyword_only = "kw_only=True" in decorators.replace(" ", "")
    for member in cls.obj.members.values():
        annotation = None if member.is_alias else getattr(member, "annotation", None)
        if annotation is None or not member.is_attribute or member.name.startswith("_"):
            continue
        if _last_name(str(annotation)) == "KW_ONLY":
            keyword_only = True
            continue
        default = str(getattr(member, "value", None) or "")
        is_class_variable = member.labels == {"class-attribute"}
        if is_class_variable or "property" in member.labels or "init=False" in default:
            continue
        fields.append(Field(member.name, str(annotation), _plain(default), keyword_only))
    return fields


def _plain(default: str) -> str:
    """A default as the caller sees it: ``field(...)`` may say that the field is required."""
    if _last_name(default) in {"field", "Field", "attrib", "ib"}:
        required = "default" not in default and "factory" not in default
        first = default.split("(", 1)[1].split(",")[0].strip(" )")
        if first == "..." or (required and ("=" in first or not first)):
            return ""
    return default
