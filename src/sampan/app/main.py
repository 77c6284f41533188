"""Run a server as the process's only business: logging, event loop, exit code."""

import asyncio
import sqlite3

import uvloop

from sampan.app.errors import StartError
from sampan.app.log import configure_logging
from sampan.app.settings import UpSettings
from sampan.app.up import Announce, raise_open_files_limit, run


def up(settings: UpSettings, announce: Announce) -> None:
    """Serve until the end. Raises `StartError` with what prevented it."""
    configure_logging(settings.log_level, settings.log_format)
    raise_open_files_limit()
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run(settings, announce))
    except* (StartError, OSError, sqlite3.Error) as group:
        raise StartError(_reason(group)) from group


def _reason(error: BaseException) -> str:
    """The first leaf of a group of errors, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(str(error).split()) or type(error).__name__
