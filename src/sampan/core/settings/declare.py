"""`setting`, `nested`, `variants`: fields of settings dataclasses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.core.settings.kinds import ValueKind

DECLARATION: Final = "sampan"
"""Key of the declaration in the metadata of a field."""


@dataclass(frozen=True, slots=True)
class SettingDeclaration:
    """Metadata of a field that is a setting."""

    help: str
    kind: ValueKind | None
    name: str
    aliases: tuple[str, ...]
    group: str
    default: str
    negative: bool


@dataclass(frozen=True, slots=True)
class Nested:
    """Metadata of a field that contains the settings of another dataclass."""

    prefix: str
    group: str


@dataclass(frozen=True, slots=True)
class Variants:
    """Metadata of a field that contains an instance of one of several dataclasses, selected by name."""

    declaration: SettingDeclaration
    classes: Mapping[str, Callable[[], Any]]


def setting(
    value: object,
    help: str,
    *,
    kind: ValueKind | None = None,
    name: str = "",
    aliases: tuple[str, ...] = (),
    group: str = "",
    default: str = "",
    negative: bool = False,
) -> Any:
    """Return a field that is an option.

    `value` is its default; `help` its meaning. `kind` is required if `kind_of` cannot derive it from the default.
    `name` is the option's name without leading dashes, if it differs from the field's name. `default` is a text for
    --help, for a default that `value` does not express. `negative`: the command line accepts --NAME and --no-NAME.
    """
    declaration = SettingDeclaration(help, kind, name, aliases, group, default, negative)
    return field(default=value, metadata={DECLARATION: declaration})


def nested(make: Callable[[], Any], *, prefix: str = "", group: str = "") -> Any:
    """Return a field that contains further settings. The names of their options begin with `prefix`."""
    return field(default_factory=make, metadata={DECLARATION: Nested(prefix, group)})


def variants(
    classes: Mapping[str, Callable[[], Any]], default: str, help: str, *, kind: ValueKind, name: str, group: str = ""
) -> Any:
    """Return a field that contains an instance of one of `classes`. The option `name` selects the class by its key."""
    declaration = SettingDeclaration(help, kind, name, (), group, "", False)
    return field(default_factory=classes[default], metadata={DECLARATION: Variants(declaration, classes)})
