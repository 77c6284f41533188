"""Run a server as the process's only business: logging, event loop, and what prevents it in one line."""

import asyncio
import logging
import sqlite3
import sys

import uvloop

from sampan.app.errors import StartError
from sampan.app.log import configure_logging
from sampan.app.settings import UpSettings
from sampan.app.up import Announce, raise_open_files_limit, run
from sampan.server.admission.settings import BadConfiguration
from sampan.storage.store import (
    OutcomeUnknown,
    StoreIncomplete,
    StoreMisconfigured,
    StoreReplaced,
    StoreUnavailable,
    Untransformable,
)

_EXPECTED = (
    OSError,
    sqlite3.Error,
    StoreUnavailable,
    StoreIncomplete,
    StoreMisconfigured,
    OutcomeUnknown,
    Untransformable,
    BadConfiguration,
)
"""Faults of the machine or of what it was told: the person who started it can do something about them."""

SWITCH_INTERVAL_S = 0.0001
"""How long a thread keeps CPython's lock while another waits. With the default of 5 ms the thread that writes to SQLite
can starve for seconds beside an event loop that never idles; figures in docs/adr/0002-storage.md.
"""


_log = logging.getLogger("sampan.app")


def up(settings: UpSettings, announce: Announce) -> None:
    """Serve until the end; from the beginning when the store is not the one any more that it was. Raises `StartError`
    with what prevented it.
    """
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    configure_logging(settings.log.level, settings.log.format)
    raise_open_files_limit()
    for note in settings.notes:
        _log.warning(note)
    while True:
        try:
            _run_once(settings, announce)
            return
        except StoreReplaced as error:
            _log.error("%s: this server begins anew, with what is there now", error)


def _run_once(settings: UpSettings, announce: Announce) -> None:
    """Raises `StoreReplaced`, `StartError`."""
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run(settings, announce))
    except StoreReplaced:
        raise
    except _EXPECTED as error:
        raise StartError(_line(error)) from error
    except BaseExceptionGroup as group:
        if (replaced := group.subgroup(StoreReplaced)) is not None:
            raise StoreReplaced(_line(replaced)) from group
        expected, others = group.split((StartError, *_EXPECTED))
        if others is not None or expected is None:
            raise
        raise StartError(_line(expected)) from group


def _line(error: BaseException) -> str:
    """First leaf of a group of errors, in one line; with the file that it is about."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__
