"""For all tests."""

import asyncio
import gc
import logging
from collections.abc import AsyncIterator, Generator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from sampan.testing.time.virtual_time import virtualized
from tests.marks import ETCD, MARKS, PARTS, in_part, marks_of, matches
from tests.progress import register

TESTS: Final = Path(__file__).parent
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


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that `make test` and `make test-rest` use."""
    parser.addoption(
        "--part", choices=PARTS, default="", help="run the tests without a mark of tests/marks.py, or the rest"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Show the progress instead of dots."""
    register(config)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Fix the constants of Hypothesis: it would take them from the loaded modules, which are not always the same.

    Turn garbage collection off until the tests are collected: all that collection makes stays.
    """
    gc.disable()
    if settings().derandomize:
        providers._get_local_constants = Constants
    _import_share(session.config)


def _import_share(config: pytest.Config) -> None:
    """Import this process's share of the files before all processes import all of them.

    In a new clone the import of a test takes several times as long, because pytest compiles it. Processes that import
    the files in the same order would each compile all of them.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or not config.option.part:
        return
    files = [file for file in sorted(TESTS.rglob("test_*.py")) if in_part(_name(file), config.option.part)]
    for file in files[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        # The collection imports it again, and reports what it raises.
        with suppress(Exception, pytest.skip.Exception):
            import_module(".".join(("tests", *file.relative_to(TESTS).with_suffix("").parts)))


def _name(file: Path) -> str:
    return file.relative_to(TESTS).as_posix()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import the files of the other part."""
    name = collection_path.name
    if name.startswith("test_") and name.endswith(".py") and not in_part(_name(collection_path), config.option.part):
        return True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the files `FIRST` first, mark the slow ones, and deselect tests of the other part."""
    part = config.option.part
    marks = {file: marks_of(_name(file)) for file in {item.path for item in items}}
    deselected = []
    for item in items:
        for mark in marks[item.path]:
            item.add_marker(mark)
        if "etcd_pool" in getattr(item, "fixturenames", ()):
            item.add_marker("process")
        slow = any(item.get_closest_marker(mark) for mark in MARKS)
        if slow and not marks[item.path] and not matches(_name(item.path), ETCD):
            raise pytest.UsageError(f"{item.nodeid} has a slow mark: add its file to tests/marks.py")
        if part and slow != (part == "rest"):
            deselected.append(item)
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        dropped = set(deselected)
        items[:] = [item for item in items if item not in dropped]
    order = {TESTS / name: place for place, name in enumerate(FIRST)}
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
