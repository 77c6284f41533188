"""Pages of commands: each command, option and setting has its place."""

from collections.abc import Iterator

import click
import pytest
from scripts.site.reference.commands import FOLDER, PROGRAMS

from sampan.app.settings.up import UpSettings
from sampan.cli.apiserver_options import ACCEPTED
from sampan.cli.main import delete_api
from sampan.core.settings import settings_of
from tests.cli.configuration_reference import ROOTS
from tests.site_reference.generated import generated, names

SETTINGS_ROOTS = {"sampan up": UpSettings(), **ROOTS}


def visible(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """Yield all commands with their names, as click finds them."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name)
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            if found is not None and not found.hidden:
                yield from visible(f"{name} {each}", found)


def page_of(name: str) -> str:
    return generated()[f"{FOLDER}/{name.removeprefix('sampan ').replace(' ', '-')}.md"]


def all_commands() -> dict[str, click.Command]:
    found = {name: each for program, root in PROGRAMS.items() for name, each in visible(program, root)}
    return {name: each for name, each in found.items() if name not in PROGRAMS} | {"sampan delete api": delete_api()}


@pytest.fixture(scope="module", name="commands")
def _commands() -> dict[str, click.Command]:
    return all_commands()


def test_each_command_has_a_page_with_its_usage(commands: dict[str, click.Command]) -> None:
    assert len(commands) > 50
    assert [name for name in commands if f"\n{name} [OPTIONS]" not in page_of(name)] == []


def test_each_option_is_on_the_page_of_its_command(commands: dict[str, click.Command]) -> None:
    missing = {
        (name, option)
        for name, command in commands.items()
        for each in command.params
        if isinstance(each, click.Option) and not each.hidden
        for option in (*each.opts, *each.secondary_opts)
        if option not in names(page_of(name))
    }
    assert missing == set()


def test_the_index_links_each_command(commands: dict[str, click.Command]) -> None:
    index = generated()[f"{FOLDER}/index.md"]
    assert [name for name in commands if f"[`{name}`](" not in index] == []


def test_a_group_lists_its_commands() -> None:
    assert {"sampan create api", "sampan create webhook"} <= names(page_of("sampan create"))
    assert "sampan delete api" in names(page_of("sampan delete"))


def test_an_example_keeps_its_lines() -> None:
    assert "```text\nsampan get networks\nsampan get pods -A -o wide\n" in page_of("sampan get")


def test_a_pair_of_flags_shows_its_default() -> None:
    assert "(finalizers have run). Default: `--wait`. |" in page_of("sampan delete")


def test_each_setting_is_on_the_page_of_settings() -> None:
    text = generated()["reference/settings.md"]
    found = names(text)
    settings = [each for root in SETTINGS_ROOTS.values() for each in settings_of(root)] + list(ACCEPTED)
    assert [each.name for each in settings if not each.hidden and each.name not in found] == []


def test_a_setting_names_the_commands_that_have_it() -> None:
    row = next(line for line in generated()["reference/settings.md"].splitlines() if line.startswith("| `simulated` "))
    assert row.endswith("Default: 1. For [node](cli/node.md). |")


def test_the_values_of_an_option_are_in_its_meaning() -> None:
    assert "| `--cascade` | One of `background`, `foreground`, `orphan`. Default: `background`. |" in page_of(
        "sampan delete"
    )
