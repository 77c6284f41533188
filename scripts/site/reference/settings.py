"""Page of the settings: keys of the files of `--config`, from the dataclasses of the commands."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from scripts.site.reference.commands import Command, commands, setting_row
from scripts.site.reference.markdown import code, document, link, table

from sampan.cli.settings_command import SettingsCommand
from sampan.core.settings import Setting

PAGE: Final = "reference/settings.md"
_ABOUT: Final = """
Settings are options of a command, and keys of the YAML file of `--config` without the dashes. An option takes
precedence over the file.
"""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A setting and the commands that have it with this meaning and default."""

    setting: Setting
    commands: list[Command]


def settings_commands() -> list[Command]:
    """Return the commands that have settings."""
    return [each for each in commands() if isinstance(each.command, SettingsCommand)]


def settings_page() -> str:
    """Return the page: a section for each group, in the order of `sampan up`."""
    groups: dict[str, dict[tuple[str, ...], _Entry]] = {}
    for command in settings_commands():
        assert isinstance(command.command, SettingsCommand)
        for setting in command.command.options:
            if not setting.hidden:
                key = (setting.name, setting.help, setting.default_text, setting.kind.metavar)
                entry = groups.setdefault(setting.group, {}).setdefault(key, _Entry(setting, []))
                entry.commands.append(command)
    lines = ["# Settings", "", " ".join(_ABOUT.split()), ""]
    lines += [f"See {link('Configuration', 'configuration.md', PAGE)} for an example of a file.", ""]
    for title, entries in groups.items():
        lines += [f"## {title}", "", *table(("setting", "meaning"), [_row(each) for each in _ordered(entries)]), ""]
    return document(lines)


def _ordered(entries: dict[tuple[str, ...], _Entry]) -> Iterator[_Entry]:
    """Yield the entries in their order, but those of one name after each other."""
    names = dict.fromkeys(name for name, *_ in entries)
    for name in names:
        yield from (each for key, each in entries.items() if key[0] == name)


def _row(entry: _Entry) -> tuple[str, str]:
    names, meaning = setting_row(", ".join(map(code, (entry.setting.name, *entry.setting.aliases))), entry.setting)
    places = ", ".join(link(each.name.removeprefix("sampan "), each.page, PAGE) for each in entry.commands)
    return names, f"{meaning} For {places}."
