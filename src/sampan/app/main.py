"""`up`: runs a server as the only task of the process, with logging, event loop and one-line errors."""

import asyncio
import logging
import sqlite3
import sys

import uvloop

from sampan.app.errors import StartError
from sampan.app.free_memory import limit_fragmentation
from sampan.app.input_files import naming_option
from sampan.app.settings.up import REQUESTS_VERBOSITY, UpSettings
from sampan.app.up import Announce, raise_open_files_limit, run
from sampan.core.telemetry.log import configure_logging
from sampan.server.admission.settings import BadConfiguration
from sampan.storage.store import (
    OutcomeUnknown,
    StoreIncomplete,
    StoreMisconfigured,
    StoreReplaced,
    StoreUnavailable,
    Untransformable,
)

EXPECTED = (
    OSError,
    sqlite3.Error,
    StoreUnavailable,
    StoreIncomplete,
    StoreMisconfigured,
    OutcomeUnknown,
    Untransformable,
    BadConfiguration,
)
"""Errors of the machine or the settings, which the administrator can fix."""

SWITCH_INTERVAL_S = 0.0001
"""Time that a thread keeps CPython's lock while another waits. With the default of 5 ms the thread that writes to
SQLite can starve for seconds next to a busy event loop; figures in docs/adr/0002-storage.md.
"""


_log = logging.getLogger("sampan.app")


def up(settings: UpSettings, announce: Announce) -> None:
    """Serve until a signal arrives. Start again if the store was replaced.

    Raises `StartError` with the cause of a failure.
    """
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    limit_fragmentation()
    configure_logging("debug" if settings.verbosity >= REQUESTS_VERBOSITY else settings.log.level, settings.log.format)
    raise_open_files_limit()
    for note in settings.notes:
        _log.warning(note)
    while True:
        try:
            _run_once(settings, announce)
            return
        except StoreReplaced as error:
            _log.error("%s: restarting the server with the current state of the store", error)


def _run_once(settings: UpSettings, announce: Announce) -> None:
    """Serve once. Raises `StoreReplaced`, `StartError`, which names the option of a file."""
    try:
        _run(settings, announce)
    except StartError as error:
        raise StartError(naming_option(settings, str(error))) from error


def _run(settings: UpSettings, announce: Announce) -> None:
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run(settings, announce))
    except StoreReplaced:
        raise
    except EXPECTED as error:
        raise StartError(error_line(error)) from error
    except BaseExceptionGroup as group:
        if (replaced := group.subgroup(StoreReplaced)) is not None:
            raise StoreReplaced(error_line(replaced)) from group
        expected, others = group.split((StartError, *EXPECTED))
        if others is not None or expected is None:
            raise
        raise StartError(error_line(expected)) from group


def error_line(error: BaseException) -> str:
    """Return the first leaf of an exception group in one line, with its file name if any."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__
