"""`Configuration`: settings and their sources. `read_config_file` reads those of a file.

A file is a flat YAML mapping. Its keys are option names without leading dashes. Its values are the texts of the
options, or lists of such texts. So `port: 6443` is `--port=6443`. Relative paths are resolved against the file's
directory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from sampan.core.settings import ListOf, Setting, build
from sampan.core.suggestions import closest

COMMAND_LINE: Final = "command line"
DEFAULT: Final = "default"
_NULL: Final = frozenset(("", "~", "null", "Null", "NULL"))


class ConfigFileError(ValueError):
    """A configuration file cannot be used. The text names the file, the line and the key."""


@dataclass(frozen=True, slots=True)
class Given:
    """Value of a setting that the user has set, with its source."""

    value: Any
    source: str
    """`COMMAND_LINE`, or file and line."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings of a program."""

    settings: Any
    """Dataclass of the program."""
    options: tuple[Setting, ...]
    given: Mapping[str, Given]
    """Settings that the user has set, by name."""


def configure(
    root: Any, options: Sequence[Setting], from_file: Mapping[str, Given], from_command_line: Mapping[str, Given]
) -> Configuration:
    """Return the settings of the file and the command line, which overrides the file. Raises `ValueError`."""
    given = {**from_file, **from_command_line}
    values = {option.path: given[option.name].value for option in options if option.path and option.name in given}
    return Configuration(build(root, values), tuple(options), given)


def read_config_file(file: Path, options: Sequence[Setting]) -> dict[str, Given]:
    """Return the settings of a file by their names. Raises `ConfigFileError`."""
    by_name = {name: option for option in options for name in (option.name, *option.aliases)}
    found: dict[str, Given] = {}
    for key, node in _entries(file):
        line = f"{file}:{key.start_mark.line + 1}"
        option = by_name.get(key.value) if isinstance(key, yaml.ScalarNode) else None
        if option is None:
            raise ConfigFileError(f"{line}: {_unknown(key, list(by_name))}")
        if option.name in found:
            raise ConfigFileError(f"{line}: {key.value}: is set twice, first at {found[option.name].source}")
        try:
            value = _value(option, node)
        except ValueError as error:
            raise ConfigFileError(f"{line}: {key.value}: {error}") from None
        found[option.name] = Given(option.kind.relocate(value, file.parent), line)
    return found


def _entries(file: Path) -> list[tuple[yaml.Node, yaml.Node]]:
    try:
        document = yaml.compose(file.read_bytes(), Loader=yaml.CSafeLoader)
    except OSError as error:
        raise ConfigFileError(f"cannot read {file}: {error.strerror}") from error
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigFileError(f"{file}{line}: is not YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigFileError(f"{file}: is not YAML: {' '.join(str(error).split())}") from error
    if document is None:
        return []
    if not isinstance(document, yaml.MappingNode):
        where = f"{file}:{document.start_mark.line + 1}"
        raise ConfigFileError(f"{where}: is not a mapping: each line is an option and its value, as in `port: 6443`")
    entries: list[tuple[yaml.Node, yaml.Node]] = document.value
    return entries


def _unknown(key: yaml.Node, names: Sequence[str]) -> str:
    if not isinstance(key, yaml.ScalarNode):
        return "a key must be the name of an option"
    close = closest(key.value, names)
    hint = f"; did you mean {close}?" if close else "; `sampan config` prints all settings"
    return f"unknown setting {key.value!r}{hint}"


def _value(option: Setting, node: yaml.Node) -> Any:
    """Return the value of a setting. A list is read item by item, so its items may contain separators."""
    if isinstance(node, yaml.SequenceNode):
        if not isinstance(option.kind, ListOf):
            raise ValueError(f"expected {option.kind.metavar}, not a list")
        return option.kind.read_items([_text(item) for item in node.value])
    return option.read([_text(node)])


def _text(node: yaml.Node) -> str:
    """Return a scalar as it is written: `on`, 007 and 1e3 mean the same as on the command line."""
    if not isinstance(node, yaml.ScalarNode):
        raise ValueError(
            f"expected a plain value, not a {'list' if isinstance(node, yaml.SequenceNode) else 'mapping'}"
        )
    text: str = node.value
    if not node.style and text in _NULL:
        raise ValueError("has no value: remove the line for the default, or write '' for an empty text")
    return text
