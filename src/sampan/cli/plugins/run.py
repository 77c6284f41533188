"""Run a plugin: its program replaces this process (`exec`)."""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from sampan.cli.plain_error import PlainError
from sampan.cli.plugins.find import Invocation, find_plugin


def run_plugin(arguments: Sequence[str]) -> None:
    """Replace this process by the plugin of a command line. Returns if there is no such plugin. Raises `PlainError` if
    it cannot run.
    """
    invocation = find_plugin(arguments, os.environ.get("PATH", ""))
    if invocation is not None:
        _become(invocation)


def _become(invocation: Invocation) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execve(invocation.path, [invocation.path, *invocation.arguments], os.environ)
    except OSError as error:
        raise PlainError(f"error: cannot run {invocation.path}: {error.strerror}") from error
