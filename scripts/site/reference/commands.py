"""Pages of the commands, from click: one for each command and an index for each program."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

import click
from scripts.site.reference.markdown import code, document, link, plain, table

from sampan.cli.kubectl.main import cli as kubectl_cli
from sampan.cli.main import cli, delete_api
from sampan.cli.settings_command import SettingOption, SettingsCommand
from sampan.core.settings import Setting

FOLDER: Final = "reference/cli"
PROGRAMS: Final = {"sampan": cli, "kubectl sampan": kubectl_cli}
"""Programs with their commands. The second is a plug-in of kubectl."""
_HEAD: Final = ("option", "meaning")
_VERBATIM: Final = "\b\n"
"""Begins a paragraph of help that keeps its lines."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command with its place in the program."""

    context: click.Context
    summary: str = ""
    """Line of the program's --help. Empty: the first sentence of the command's help."""

    @property
    def command(self) -> click.Command:
        """The command itself."""
        return self.context.command

    @property
    def name(self) -> str:
        """Full name, such as `sampan create api`."""
        above = self.context.parent
        return f"{Command(above).name} {self.context.info_name}" if above is not None else str(self.context.info_name)

    @property
    def page(self) -> str:
        """Path of the page."""
        name = self.name.removeprefix("sampan ").replace(" ", "-")
        return f"{FOLDER}/{name}.md" if self.context.parent is not None else f"{FOLDER}/{name}-program.md"

    @property
    def purpose(self) -> str:
        """One sentence."""
        return self.summary or _paragraphs(self.command)[0].partition(". ")[0].removesuffix(".") + "."

    def children(self) -> Iterator["Command"]:
        """Yield the subcommands in the order of --help. Hidden ones are omitted."""
        if self.name == "sampan delete":
            yield Command(click.Context(delete_api(), info_name="api", parent=self.context))
        if not isinstance(self.command, click.Group):
            return
        summaries: dict[str, str] = getattr(self.command, "_summaries", {})
        for name in [*summaries, *(each for each in self.command.list_commands(self.context) if each not in summaries)]:
            found = self.command.get_command(self.context, name)
            if found is not None and not found.hidden:
                yield Command(click.Context(found, info_name=name, parent=self.context), summaries.get(name, ""))

    def options(self) -> list[click.Option]:
        """Return the options that --help shows."""
        found = self.command.get_params(self.context)
        return [each for each in found if isinstance(each, click.Option) and not each.hidden]


def commands() -> list[Command]:
    """Return the commands of all programs; each is before its subcommands."""
    roots = [Command(click.Context(command, info_name=name)) for name, command in PROGRAMS.items()]
    return [found for root in roots for found in _below(root)]


def _below(parent: Command) -> Iterator[Command]:
    yield parent
    for child in parent.children():
        yield from _below(child)


def pages() -> dict[str, str]:
    """Return the pages of all commands by their paths, and the index."""
    found = commands()
    roots = [each for each in found if each.context.parent is None]
    written = {each.page: document(_page(each)) for each in found if each not in roots}
    return {f"{FOLDER}/index.md": document(_index(roots)), **written}


def _index(roots: list[Command]) -> Iterator[str]:
    page = f"{FOLDER}/index.md"
    yield from ("# Commands", "", "Every command has `--help` with the same text.", "")
    for root in roots:
        yield from (f"## {root.name}", "", plain(_paragraphs(root.command)[0]), "")
        rows = [(link(code(each.name), each.page, page), plain(each.purpose)) for each in _below(root) if each != root]
        yield from table(("command", "purpose"), rows)
        yield ""


def _page(command: Command) -> Iterator[str]:
    yield from (f"# {command.name}", "")
    for paragraph in _paragraphs(command.command):
        yield from (*_paragraph(paragraph), "")
    pieces = command.command.collect_usage_pieces(command.context)
    yield from ("## Usage", "", "```text", " ".join([command.name, *pieces]), "```", "")
    children = list(command.children())
    if children:
        yield from ("## Commands", "")
        rows = [(link(code(each.name), each.page, command.page), plain(each.purpose)) for each in children]
        yield from (*table(("command", "purpose"), rows), "")
    yield from _options(command)
    parent = command.context.parent
    if parent is not None:
        index = f"{FOLDER}/index.md"
        above = Command(parent).page if parent.parent is not None else index
        yield f"See also: {link(Command(parent).name if above != index else 'all commands', above, command.page)}"


def _options(command: Command) -> Iterator[str]:
    """Yield the tables of options. Those of settings have groups."""
    settings = [each for each in command.options() if isinstance(each, SettingOption)]
    plain_options = [each for each in command.options() if each not in settings]
    if plain_options:
        yield from ("## Options", "", *table(_HEAD, [row(each, command.context) for each in plain_options]), "")
    if isinstance(command.command, SettingsCommand):
        yield from (f"The file of `--config` takes {link('settings', 'reference/settings.md', command.page)}.", "")
    titles = list(dict.fromkeys(each.setting.group for each in settings))
    ordered = sorted(settings, key=lambda each: titles.index(each.setting.group))
    for title, members in groupby(ordered, key=lambda each: each.setting.group):
        yield from (f"## {title}", "", *table(_HEAD, [row(each, command.context) for each in members]), "")


def row(option: click.Option, context: click.Context) -> tuple[str, str]:
    """Return names with the value, and meaning with the default, of an option."""
    names = ", ".join(map(code, [*option.opts, *option.secondary_opts]))
    if isinstance(option, SettingOption):
        return setting_row(names, option.setting)
    value, choices = _value("" if option.is_flag or option.count else option.make_metavar(context))
    meaning = f"{plain(option.help or '')}{choices}{' Required.' if option.required else ''}".strip()
    if option.multiple and "repeat" not in meaning:
        meaning += " Can be repeated."
    return f"{names} {value}", f"{meaning}{_sentence(_default(option, context))}"


def setting_row(names: str, setting: Setting) -> tuple[str, str]:
    """Return names with the value, and meaning with the default, of a setting."""
    value, choices = _value("" if setting.negative else setting.kind.metavar)
    return f"{names} {value}", f"{plain(setting.help)}{choices}{_sentence(plain(setting.default_text))}"


def _value(placeholder: str) -> tuple[str, str]:
    """Return the placeholder of a value, or a sentence with all its values: they would widen the column."""
    if placeholder.startswith("[") and "|" in placeholder:
        return "", f" One of {', '.join(map(code, placeholder.strip('[]').split('|')))}."
    return code(placeholder), ""


def _sentence(default: str) -> str:
    return f" Default: {default}." if default else ""


def _default(option: click.Option, context: click.Context) -> str:
    """Return the default as text. An absent or empty value, and that of a flag without an opposite, is not shown."""
    value: Any = option.get_default(context, call=False)
    if option.secondary_opts and isinstance(value, bool):
        return code((option.opts if value else option.secondary_opts)[0])
    if option.is_flag or callable(value) or value in (None, "", ()) or repr(value).startswith("Sentinel"):
        return ""
    return code(", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))


def _paragraphs(command: click.Command) -> list[str]:
    text = inspect.cleandoc(command.help or command.short_help or "").partition("\f")[0]
    return [part.strip("\n") for part in text.split("\n\n")]


def _paragraph(text: str) -> Iterator[str]:
    if text.startswith(_VERBATIM):
        yield from ("```text", inspect.cleandoc(text.removeprefix(_VERBATIM)), "```")
    else:
        yield plain(" ".join(text.split()))
