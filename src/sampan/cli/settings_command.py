"""`SettingsCommand`: a command whose options are made from a settings dataclass, and from a file with --config."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from sampan.app.errors import StartError
from sampan.core.settings import ListOf, Setting, settings_of
from sampan.core.settings.configuration import (
    COMMAND_LINE,
    ConfigFileError,
    Configuration,
    Given,
    configure,
    read_config_file,
)
from sampan.core.settings.kinds import BOOLEAN, FILE

_CONFIG: Final = "config"


class _SettingType(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """Type of the values of an option."""

    def __init__(self, setting: Setting) -> None:
        self.name = setting.name
        self._setting = setting

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse a text and return its value. The empty name of a file is that of no file: None."""
        if value == "" and self._setting.kind is FILE:
            return None
        try:
            return self._setting.read([value])
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the possible values, or a directive that makes the shell complete paths."""
        kind = self._setting.kind
        if kind.completion:
            return [CompletionItem(incomplete, type=kind.completion)]
        choices = kind.choices or (("true", "false") if kind is BOOLEAN else ())
        return [CompletionItem(choice) for choice in choices if choice.startswith(incomplete)]


class SettingOption(click.Option):
    """Option of one setting. Its value is None if it is not on the command line."""

    def __init__(self, param_decls: Sequence[str] = (), *, setting: Setting) -> None:
        self.setting = setting
        names = [_dashes(name) for name in (setting.name, *setting.aliases)]
        if len(setting.name) == 1:
            names.append(f"-{setting.name}")
        parameter = parameter_of(setting)
        if setting.negative:
            super().__init__([f"{names[0]}/--no-{setting.name}", parameter], default=None, help=_help(setting))
            return
        optional: dict[str, Any] = (
            {"is_flag": False, "flag_value": setting.kind.flag_value or "true"} if setting.is_flag else {}
        )
        super().__init__(
            [*names, parameter],
            type=_SettingType(setting),
            metavar=setting.kind.metavar,
            multiple=isinstance(setting.kind, ListOf) and setting.kind.repeat,
            hidden=setting.hidden,
            help=_help(setting),
            **optional,
        )


def parameter_of(setting: Setting) -> str:
    """Return the name under which click stores the value of an option."""
    return setting.name.replace("-", "_")


def _dashes(name: str) -> str:
    return f"--{name}"


def _help(setting: Setting) -> str:
    return f"{setting.help}  [default: {setting.default_text}]" if setting.default_text else setting.help


class SettingsCommand(click.Command):
    """Command that calls its function with a `Configuration` of `root` and the arguments. --help groups the options.

    `accepted` are further options without a value in the dataclass.
    """

    def __init__(self, *arguments: Any, root: Any, accepted: Sequence[Setting] = (), **more: Any) -> None:
        self.root = root
        self.options = (*settings_of(root), *accepted)
        config = click.Option(
            [_dashes(_CONFIG)],
            type=click.Path(dir_okay=False, path_type=Path),
            help="YAML file with settings: names of these options, without dashes. Options override it.",
        )
        more["params"] = [*more.get("params", ()), config, *(SettingOption(setting=option) for option in self.options)]
        super().__init__(*arguments, **more)

    def invoke(self, ctx: click.Context) -> Any:
        """Read the file and the options, and run the command."""
        own = {_CONFIG, *map(parameter_of, self.options)}
        others = {name: value for name, value in ctx.params.items() if name not in own}
        ctx.params = {**others, "configuration": self._configuration(ctx.params)}
        return super().invoke(ctx)

    def _configuration(self, parameters: dict[str, Any]) -> Configuration:
        given: dict[str, Given] = {}
        for option in self.options:
            value = parameters[parameter_of(option)]
            if isinstance(option.kind, ListOf) and option.kind.repeat:
                value = tuple(item for items in value for item in items) or None
            if value is not None:
                given[option.name] = Given(value, COMMAND_LINE)
        file: Path | None = parameters[_CONFIG]
        try:
            from_file = {} if file is None else read_config_file(file, self.options)
        except ConfigFileError as error:
            raise click.UsageError(str(error)) from error
        try:
            return configure(self.root, self.options, from_file, given)
        except ValueError as error:  # a dataclass such as that of etcd rejects its values
            raise StartError(str(error)) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of each group."""
        params = [param for param in self.get_params(ctx) if not getattr(param, "hidden", False)]
        settings = [param for param in params if isinstance(param, SettingOption)]
        others = [param for param in params if not isinstance(param, SettingOption)]
        names = list(dict.fromkeys(option.setting.group for option in settings))
        groups = groupby(sorted(settings, key=lambda option: names.index(option.setting.group)), _group_of)
        sections: list[tuple[str, list[click.Parameter]]] = [("Options", others)]
        sections += [(name, list(found)) for name, found in groups]
        for title, members in sections:
            records = [record for param in members if (record := param.get_help_record(ctx)) is not None]
            with formatter.section(title):
                formatter.write_dl(records)


def _group_of(option: SettingOption) -> str:
    return option.setting.group
