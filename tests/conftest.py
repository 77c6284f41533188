"""For all tests."""

import asyncio
import gc
import logging
from collections.abc import AsyncIterator, Generator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from sampan.testing.time.virtual_time import virtualized
from tests.marks import marks_of
from tests.progress import register

FIRST: Final = [
    "testing/explore/test_explore.py",
    "e2e/cri/test_two_nodes.py",
    "blocks/test_commands.py",
    "testing/campaign/test_campaign.py",
    "testing/own_loops/test_own_loops.py",
    "testing/plugin/test_six_steps.py",
]
"""Files that take minutes. At the end, the other processes would wait for them."""

_PLAIN = settings.get_profile("default")
settings.register_profile(
    "suite", _PLAIN, derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "fuzz", _PLAIN, max_examples=10 * _PLAIN.max_examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    """Show the progress instead of dots."""
    register(config)


def pytest_sessionstart() -> None:
    """Fix the constants of Hypothesis: it would take them from the loaded modules, which are not always the same.

    Turn garbage collection off until the tests are collected: all that collection makes stays.
    """
    gc.disable()
    if settings().derandomize:
        providers._get_local_constants = Constants


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files `FIRST` first, and mark the slow ones."""
    folder = Path(__file__).parent
    marks = {file: marks_of(file.relative_to(folder).as_posix()) for file in {item.path for item in items}}
    for item in items:
        for mark in marks[item.path]:
            item.add_marker(mark)
        if "etcd_pool" in getattr(item, "fixturenames", ()):
            item.add_marker("process")
    order = {folder / name: place for place, name in enumerate(FIRST)}
    items.sort(key=lambda item: order.get(item.path, len(order)))


def pytest_collection_finish() -> None:
    """Exclude loaded modules from garbage collection, which would examine them between thousands of tests."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Restore the log level after each test: commands and other people's operators set it for the whole process."""
    root = logging.getLogger()
    before = root.level
    try:
        return (yield)
    finally:
        root.setLevel(before)


@pytest.fixture
async def virtual_time() -> AsyncIterator[None]:
    """Let timers of the test end at once, in their order. The test must not use sockets or processes."""
    with virtualized(asyncio.get_running_loop()):
        yield
