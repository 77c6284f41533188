"""Shared parts of the commands that work on stores: options of the engines, and errors in one line."""

import functools
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from sampan import __version__
from sampan.app.engines import ENGINES, Engine
from sampan.app.errors import StartError
from sampan.app.storage.store_location import StoreLocation, parse_store
from sampan.cli.settings_command import SettingOption, parameter_of
from sampan.core.settings import Setting, build, settings_of
from sampan.core.settings.tree import Path
from sampan.storage.snapshot import SnapshotError
from sampan.storage.store import (
    OutcomeUnknown,
    StoreError,
    StoreFull,
    StoreIncomplete,
    StoreMisconfigured,
    StoreUnavailable,
)

MADE_BY = f"sampan {__version__}"
_SHOWN_IN_FULL = (StartError, SnapshotError, StoreIncomplete, StoreMisconfigured)
_FAULTS = (*_SHOWN_IN_FULL, OSError, sqlite3.Error, StoreError, StoreUnavailable, OutcomeUnknown)


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of all engines that store URLs can name; the command gets them by name, as `engines`."""
    engines = [make() for make in ENGINES.values()]
    options = [option for engine in engines for option in _options(engine)]

    @functools.wraps(command)
    def callback(**parameters: Any) -> Any:
        given = {option.path: parameters.pop(parameter_of(option)) for option in options}
        return command(engines={engine.name: _built(engine, given) for engine in engines}, **parameters)

    for option in reversed(options):
        callback = click.option(cls=SettingOption, setting=option)(callback)
    return callback


def _options(engine: Engine) -> tuple[Setting, ...]:
    return tuple(setting for setting in settings_of(engine) if engine.url_form and setting.name != engine.url_option)


def _built(engine: Engine, given: Mapping[Path, Any]) -> Engine:
    own = {option.path for option in _options(engine)}
    try:
        built: Engine = build(
            engine, {path: value for path, value in given.items() if value is not None and path in own}
        )
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    return built


def store_at(text: str, engines: Mapping[str, Engine]) -> StoreLocation:
    """Return the store at a URL. An unknown engine is a usage error."""
    try:
        return parse_store(text, engines)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


@contextmanager
def store_errors(target: object) -> Iterator[None]:
    """Turn errors of a store into one-line errors. `target` names the store in errors without a file name."""
    try:
        yield
    except ExceptionGroup as errors:
        raise click.ClickException(_message(errors.exceptions[0], target)) from errors
    except _FAULTS as error:
        raise click.ClickException(_message(error, target)) from error


def _message(error: Exception, target: object) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or target}: {error.strerror or error}"
    if isinstance(error, sqlite3.Error):
        return f"{target}: {error}"
    if isinstance(error, _SHOWN_IN_FULL):
        return str(error)
    if isinstance(error, StoreFull):
        return f"the store has no room: {error} (etcd: --quota-backend-bytes, or compact, defrag and alarm disarm)"
    return f"the store: {error or type(error).__name__}"
