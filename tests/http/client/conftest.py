"""The transport's tests run on both event loops."""

import asyncio
from collections.abc import Callable, Mapping

import uvloop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loops, by name."""
    return {"asyncio": asyncio.SelectorEventLoop, "uvloop": uvloop.new_event_loop}
