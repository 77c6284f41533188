"""Settings of a server from the configuration of `sampan up`."""

from dataclasses import replace
from typing import Any, Final

import click

from sampan.app.controller_manager.choice import UnknownController, chosen_controllers
from sampan.app.engines import ENGINES
from sampan.app.settings.up import UpSettings, check, without_loops
from sampan.cli.apiserver_options import ACCEPTED, ignored_note
from sampan.controllers.names import NAMES
from sampan.core.settings import settings_of
from sampan.core.settings.configuration import Configuration

UP_OPTIONS: Final[dict[str, Any]] = {"root": UpSettings(), "accepted": ACCEPTED}
"""Options of the commands with the settings of a server."""


def server_settings(configuration: Configuration) -> UpSettings:
    """Return the effective settings, with notes for the log.

    Raises `click.UsageError` for options that do not fit together.
    """
    settings: UpSettings = configuration.settings
    notes = notes_of(configuration)
    try:
        check(settings)
        chosen_controllers(settings.controllers, NAMES)
    except UnknownController as error:
        raise click.UsageError(f"--controllers: {error}") from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return replace(without_loops(settings) if settings.read_only else settings, notes=notes)


def notes_of(configuration: Configuration) -> tuple[str, ...]:
    """Return warnings about options without effect. Raises `click.UsageError`."""
    return (*ignored_note(configuration), *_engine_notes(configuration))


def _engine_notes(configuration: Configuration) -> tuple[str, ...]:
    """Return a note for each engine whose options are given without effect, because it is not the storage.

    Programs that start kube-apiserver, such as envtest, always pass --etcd-servers. Raises `click.UsageError` for other
    options of an engine if neither that option nor --storage is given.
    """
    notes = []
    used = configuration.settings.storage.name
    for name, make in ENGINES.items():
        engine = make()
        given = [option.name for option in settings_of(engine) if option.name in configuration.given]
        if not given or name == used:
            continue
        if engine.url_option not in given and "storage" not in configuration.given:
            raise click.UsageError(f"--{given[0]} needs --storage {name}: with {used} nothing is kept in {name}")
        names = ", ".join(f"--{option}" for option in given)
        notes.append(f"options without effect, as the storage is {used} (--storage {name} uses them): {names}")
    return tuple(notes)
