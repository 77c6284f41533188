"""`read_configuration`: the settings of a program from its flags, environment variables and a file.

Flags override variables, and variables override the file. The variable of `--log-level` is `SAMPAN_LOG_LEVEL`; that of
the file is `SAMPAN_CONFIG`.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from sampan.core.settings import ListOf, Setting, settings_of
from sampan.core.settings.configuration import (
    COMMAND_LINE,
    ConfigFileError,
    Configuration,
    Given,
    configure,
    read_config_file,
)

_CONFIG: Final = "config"
_PREFIX: Final = "SAMPAN_"


class _Parser(argparse.ArgumentParser):
    """Parser whose errors begin with the cause instead of the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; --help lists the flags\n")


def read_configuration(
    root: Any, *, program: str, about: str, arguments: Sequence[str], environ: Mapping[str, str]
) -> Configuration:
    """Return the settings of a dataclass's instance. A mistake, and --help, end the process (`SystemExit`)."""
    options = settings_of(root)
    parser = _parser(options, program, about)
    parsed = vars(parser.parse_args(list(arguments)))
    try:
        file = parsed.pop(_CONFIG) or environ.get(variable_of(_CONFIG))
        from_file = read_config_file(Path(file), options) if file else {}
        given = {**_from_environment(options, environ), **_from_flags(options, parsed)}
        return configure(root, options, from_file, given)
    except (ConfigFileError, ValueError) as error:
        parser.error(str(error))


def variable_of(name: str) -> str:
    """Return the environment variable of a setting."""
    return _PREFIX + name.upper().replace("-", "_")


def _parser(options: Sequence[Setting], program: str, about: str) -> _Parser:
    parser = _Parser(program, description=about, allow_abbrev=False)
    help_text = f"YAML file with settings: names of these flags, without dashes [{variable_of(_CONFIG)}]"
    parser.add_argument(f"--{_CONFIG}", metavar="FILE", help=help_text)
    groups: dict[str, Any] = {}
    for option in options:
        if option.group not in groups:
            groups[option.group] = parser.add_argument_group(option.group or "Operator")
        names = [f"--{name}" for name in (option.name, *option.aliases)]
        shown: dict[str, Any] = {"dest": option.name, "metavar": option.kind.metavar, "help": _help(option)}
        if option.is_flag:
            shown |= {"nargs": "?", "const": option.kind.flag_value}
        groups[option.group].add_argument(*names, action="append", **shown)
    return parser


def _help(option: Setting) -> str:
    default = f" [default: {option.default_text}]" if option.default_text else ""
    return f"{option.help}{default} [{variable_of(option.name)}]".replace("%", "%%")


def _from_flags(options: Sequence[Setting], parsed: Mapping[str, list[str] | None]) -> dict[str, Given]:
    found = {}
    for option in options:
        texts = parsed[option.name]
        if texts is not None:
            found[option.name] = Given(_value(option, texts, f"--{option.name}"), COMMAND_LINE)
    return found


def _from_environment(options: Sequence[Setting], environ: Mapping[str, str]) -> dict[str, Given]:
    found = {}
    for option in options:
        variable = variable_of(option.name)
        if variable in environ:
            found[option.name] = Given(_value(option, [environ[variable]], variable), variable)
    return found


def _value(option: Setting, texts: list[str], place: str) -> Any:
    if isinstance(option.kind, ListOf) and not option.kind.repeat:
        texts = texts[-1:]
    try:
        return option.read(texts)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
