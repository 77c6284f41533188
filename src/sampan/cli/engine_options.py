"""What the commands share that work on stores: how etcd is reached, and how errors are said."""

import functools
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from sampan import __version__
from sampan.app.engine import EtcdAccess, parse_engine
from sampan.app.errors import StartError
from sampan.app.settings import UpSettings
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
_FILE = click.Path(dir_okay=False, exists=True, path_type=Path)
_SAID_IN_FULL = (StartError, SnapshotError, StoreIncomplete, StoreMisconfigured)
_FAULTS = (*_SAID_IN_FULL, OSError, sqlite3.Error, StoreError, StoreUnavailable, OutcomeUnknown)
_OPTIONS = (
    click.option("--etcd-cafile", type=_FILE, help="Who signs the certificates of etcd's servers."),
    click.option("--etcd-certfile", type=_FILE, help="What etcd is shown."),
    click.option("--etcd-keyfile", type=_FILE, help="The key of --etcd-certfile."),
    click.option(
        "--etcd-prefix", default=EtcdAccess().prefix, show_default=True, help="What the keys in etcd begin with."
    ),
)


def etcd_access_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command gets them as `access`."""

    @functools.wraps(command)
    def callback(
        etcd_cafile: Path | None, etcd_certfile: Path | None, etcd_keyfile: Path | None, etcd_prefix: str, **more: Any
    ) -> Any:
        return command(access=EtcdAccess(etcd_cafile, etcd_certfile, etcd_keyfile, etcd_prefix), **more)

    for option in reversed(_OPTIONS):
        callback = option(callback)
    return callback


def engine_of(text: str, access: EtcdAccess) -> UpSettings:
    """The store that is named. A name that is none is a mistake in the command line."""
    try:
        return parse_engine(text, access)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


@contextmanager
def store_errors(target: object) -> Iterator[None]:
    """What goes wrong is one line. `target`: what is written to, or read, for errors that name no file."""
    try:
        yield
    except ExceptionGroup as errors:
        raise click.ClickException(_said(errors.exceptions[0], target)) from errors
    except _FAULTS as error:
        raise click.ClickException(_said(error, target)) from error


def _said(error: Exception, target: object) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or target}: {error.strerror or error}"
    if isinstance(error, sqlite3.Error):
        return f"{target}: {error}"
    if isinstance(error, _SAID_IN_FULL):
        return str(error)
    if isinstance(error, StoreFull):
        return f"the store has no room: {error} (etcd: --quota-backend-bytes, or compact, defrag and alarm disarm)"
    return f"the store: {error or type(error).__name__}"
