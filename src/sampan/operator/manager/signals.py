"""Signals: the first stops the operator gracefully, the second ends the process.

Source: controller-runtime pkg/manager/signals/signal.go (0.24).
"""

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_log = logging.getLogger("sampan.manager")

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_EXIT_CODE: Final = 1


@contextmanager
def stop_on_signals(stop: Callable[[], object], *, exit_hard: Callable[[int], None] = os._exit) -> Iterator[None]:
    """Call `stop` on SIGTERM and SIGINT inside the block. A second signal ends the process at once with code 1."""
    loop = asyncio.get_running_loop()
    seen = False

    def received(number: int) -> None:
        nonlocal seen
        if seen:
            _log.warning("received %s again: ending at once", signal.Signals(number).name)
            exit_hard(_EXIT_CODE)
            return
        seen = True
        _log.info("received %s: shutting down; a second signal ends the process", signal.Signals(number).name)
        stop()

    for number in _SIGNALS:
        loop.add_signal_handler(number, received, number)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
