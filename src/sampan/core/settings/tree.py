"""`settings_of`, `build`: from nested dataclasses to a flat list of settings, and back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from sampan.core.settings.declare import DECLARATION, Nested, SettingDeclaration, Variants
from sampan.core.settings.kinds import ListOf, ValueKind, kind_of

Path = tuple[str, ...]
"""Names of the fields that lead to a setting; after a field with variants, the name of the variant."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a program."""

    path: Path
    """Path of the field. Empty if the setting is accepted but has no value."""
    name: str
    """Name of the option, without leading dashes, and of the key in a file."""
    aliases: tuple[str, ...]
    kind: ValueKind
    help: str
    group: str
    default: Any
    default_text: str
    """Description of the default, empty if there is none."""
    negative: bool = False
    """True if the command line accepts --NAME and --no-NAME."""
    hidden: bool = False
    is_flag: bool = False
    """True if the option without a value means true."""

    def read(self, texts: Sequence[str]) -> Any:
        """Parse the texts of one or several occurrences of the option. Raises `ValueError`."""
        if isinstance(self.kind, ListOf):
            used = texts if self.kind.repeat else texts[-1:]
            return self.kind.read_items([item for text in used for item in self.kind.split(text)])
        return self.kind.read(texts[-1])


def settings_of(root: Any) -> tuple[Setting, ...]:
    """Return the settings of an instance of a dataclass, in the order of the fields. Its values are the defaults."""
    return tuple(_walk(root, (), "", ""))


def _walk(owner: Any, path: Path, prefix: str, group: str) -> Iterator[Setting]:
    for member in fields(owner):
        declared = member.metadata.get(DECLARATION)
        value, here = getattr(owner, member.name), (*path, member.name)
        if isinstance(declared, SettingDeclaration):
            yield _setting(declared, here, value, prefix, group)
        elif isinstance(declared, Nested):
            yield from _walk(value, here, prefix + declared.prefix, declared.group or group)
        elif isinstance(declared, Variants):
            yield _setting(declared.declaration, here, value.name, prefix, group)
            for name, make in declared.classes.items():
                variant = value if value.name == name else make()
                yield from _walk(variant, (*here, name), prefix, declared.declaration.group or group)


def _setting(declared: SettingDeclaration, path: Path, value: Any, prefix: str, group: str) -> Setting:
    kind = declared.kind or kind_of(path[-1], value)
    return Setting(
        path,
        prefix + (declared.name or path[-1].removesuffix("_s").replace("_", "-")),
        declared.aliases,
        kind,
        declared.help,
        declared.group or group,
        value,
        declared.default or ("" if value in (None, "", ()) else kind.write(value)),
        declared.negative,
        is_flag=bool(kind.flag_value),
    )


def build(root: Any, values: Mapping[Path, Any]) -> Any:
    """Return a copy of the dataclass's instance with other values. Raises `ValueError` if a dataclass refuses them."""
    changes: dict[str, Any] = {}
    for member in fields(root):
        declared, value = member.metadata.get(DECLARATION), getattr(root, member.name)
        if isinstance(declared, SettingDeclaration) and (member.name,) in values:
            changes[member.name] = values[(member.name,)]
        elif isinstance(declared, Nested):
            changes[member.name] = build(value, _below(values, member.name))
        elif isinstance(declared, Variants):
            name = values.get((member.name,), value.name)
            chosen = value if name == value.name else declared.classes[name]()
            changes[member.name] = build(chosen, _below(_below(values, member.name), name))
    return replace(root, **changes) if changes else root


def value_at(root: Any, path: Path) -> Any:
    """Return the value of a setting. Raises `LookupError` if it belongs to a variant that is not selected."""
    name, *rest = path
    member = next(member for member in fields(root) if member.name == name)
    value = getattr(root, name)
    if isinstance(member.metadata.get(DECLARATION), Variants):
        if not rest:
            return value.name
        if rest[0] != value.name:
            raise LookupError(f"{name} is {value.name}, not {rest[0]}")
        rest = rest[1:]
    return value_at(value, tuple(rest)) if rest else value


def _below(values: Mapping[Path, Any], name: str) -> dict[Path, Any]:
    return {path[1:]: value for path, value in values.items() if len(path) > 1 and path[0] == name}
