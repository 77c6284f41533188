"""Pytest plug-in: the fixtures `cluster` and `cluster_factory`. It imports the server only when a test uses them.

    async def test_boats(cluster: Cluster) -> None:
        await cluster.apply("boats.yaml")

The asynchronous test and its fixtures run in the event loop of pytest-asyncio, anyio, or this plug-in if no other
plug-in runs it. A plain test uses `cluster.blocking`.
"""

from collections.abc import Callable, Generator, Iterator
from importlib import import_module
from typing import Any

import pytest

_FIXTURES = frozenset({"cluster", "cluster_factory"})


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plug-in."""
    group = parser.getgroup("sampan", "clusters of Sampan")
    group.addoption(
        "--cluster",
        metavar="kubeconfig[:CONTEXT]",
        default="",
        help="Run the tests against the cluster of the kubeconfig, each in a new namespace.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker `cluster`."""
    config.addinivalue_line(
        "markers",
        "cluster(loops='gc,namespace', admission='', nodes=1, time='virtual', start=None): options of the fixture "
        "`cluster`: built-in control loops, admission plug-ins, number of simulated nodes, time ('real' or 'virtual')",
    )


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Iterator[Any]:
    """An isolated cluster in this process (`sampan.testing.Cluster`), with options of `@pytest.mark.cluster`."""
    with _sessions().session(request) as session:
        yield session.cluster()


@pytest.fixture
def cluster_factory(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Function that makes clusters, for tests with several clusters. It takes the options of `@pytest.mark.cluster`."""
    with _sessions().session(request) as session:
        yield session.cluster


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Wrap the call of a test that uses these fixtures, outside the wrappers of other plug-ins."""
    if isinstance(item, pytest.Function) and _FIXTURES.intersection(item.fixturenames):
        with _sessions().wrapped(item):
            return (yield)
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Let asynchronous fixtures use the clusters of their arguments after the test, before other plug-ins wrap them."""
    if _FIXTURES.intersection(fixturedef.argnames) and request.scope == "function":
        with _sessions().fixture_ends(fixturedef, request):
            return (yield)
    return (yield)


def _sessions() -> Any:
    """Return the module that implements the fixtures. It is imported on first use."""
    return import_module("sampan.testing.pytest_session")
