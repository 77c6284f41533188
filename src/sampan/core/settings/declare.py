"""`setting`, `nested`, `variants`: fields of settings dataclasses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.core.settings.kinds import Kind

DECLARATION: Final = "sampan"
"""Key of the declaration in the metadata of a field."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """Metadata of a field that is a setting."""

    help: str
    kind: Kind | None
    name: str
    aliases: tuple[str, ...]
    group: str
    default: str
    negative: bool


@dataclass(frozen=True, slots=True)
class Nested:
    """A field that holds settings of another dataclass."""

    prefix: str
    group: str


@dataclass(frozen=True, slots=True)
class Variants:
    """A field that holds one of several dataclasses, selected by the name of its class."""

    declaration: Declaration
    classes: Mapping[str, Callable[[], Any]]


def setting(
    value: object,
    help: str,
    *,
    kind: Kind | None = None,
    name: str = "",
    aliases: tuple[str, ...] = (),
    group: str = "",
    default: str = "",
    negative: bool = False,
) -> Any:
    """Return a field that is an option.

    `value` is its default; `help` its meaning. `kind` is needed where the default does not show it (`kind_of`).
    `name` is the option's name, without dashes before it, if it is not the field's. `default` describes a default that
    the value does not show. `negative`: the command line has --NAME and --no-NAME.
    """
    declaration = Declaration(help, kind, name, aliases, group, default, negative)
    return field(default=value, metadata={DECLARATION: declaration})


def nested(make: Callable[[], Any], *, prefix: str = "", group: str = "") -> Any:
    """Return a field that holds further settings. Their options get the prefix."""
    return field(default_factory=make, metadata={DECLARATION: Nested(prefix, group)})


def variants(
    classes: Mapping[str, Callable[[], Any]], default: str, help: str, *, kind: Kind, name: str, group: str = ""
) -> Any:
    """Return a field that holds an object of one of the classes. Each of them is named; `name` is its option."""
    declaration = Declaration(help, kind, name, (), group, "", False)
    return field(default_factory=classes[default], metadata={DECLARATION: Variants(declaration, classes)})
