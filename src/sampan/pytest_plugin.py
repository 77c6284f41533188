"""Pytest plug-in: the fixtures `cluster` and `cluster_factory`. It imports the server only when a test uses them.

    async def test_boats(cluster: Cluster) -> None:
        await cluster.apply("boats.yaml")

The asynchronous test and its fixtures run in the event loop of pytest-asyncio, anyio, or this plug-in if no other
plug-in runs it. A plain test uses `cluster.blocking`.

Cost: an environment with Sampan pays for the import of this module, and the first test with a cluster for the import of
the server. Pytest rewrites the assertions of every module in the distribution of a plug-in, which here is the server.
That would take seconds of processor time, in a container in every run; `_PlainImport` avoids it. See ADR 30.
"""

import gc
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

import pytest

_FIXTURES = frozenset({"cluster", "cluster_factory"})


class _LastingImport(SourceFileLoader):
    """Loader of a package whose import loads the server. It exempts the modules from garbage collection.

    They live until the process ends. Otherwise, collections traverse 100,000 objects that are no garbage: some during
    the import, and five in full when pytest ends. The garbage of earlier tests is collected first, so that no warning
    of an unclosed resource is lost.
    """

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module."""
        gc.collect()
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            super().exec_module(module)
        finally:
            gc.freeze()
            if was_enabled:
                gc.enable()


class _PlainImport:
    """Finder that imports the modules of Sampan as Python does, from compiled files, before pytest's finder sees them.

    It is a plug-in too, which ends with the run of pytest.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the module's specification; None for modules of other packages."""
        if not name.startswith("sampan."):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if name == "sampan.testing" and spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _LastingImport(spec.loader.name, spec.loader.path)
        return spec

    def pytest_unconfigure(self) -> None:
        """Remove the finder at the end of the run."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options of the plug-in, and its finder: this hook runs before the imports of conftest files."""
    finder = _PlainImport()
    sys.meta_path.insert(0, finder)
    pluginmanager.register(finder)
    group = parser.getgroup("sampan", "clusters of Sampan")
    group.addoption(
        "--cluster",
        metavar="kubeconfig[:CONTEXT]",
        default="",
        help="Run the tests against the cluster of the kubeconfig, each in a new namespace.",
    )
    group.addoption(
        "--operator-roles",
        metavar="FILE",
        default="",
        help="Give the operators only the rights of this file, which `sampan test privileges` has written.",
    )
    group.addoption(
        "--operator-rights",
        metavar="DIR",
        default="",
        help="Record in files of this directory which rights the operators use.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker `cluster`."""
    config.addinivalue_line(
        "markers",
        "cluster(loops='gc,namespace', admission='', nodes=1, time='virtual', start=None, leaks=(), "
        "allow_errors=False, roles=()): options of the fixture `cluster`: built-in control loops, admission plug-ins, "
        "nodes, time ('real' or 'virtual'), first time, allowed leaks, allowed errors of operators, their roles",
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
    """Keep the clusters of an asynchronous fixture open until its teardown.

    A fixture that yields uses its cluster again after the test. The hook comes first, as other plug-ins wrap the
    fixture's function.
    """
    if _FIXTURES.intersection(fixturedef.argnames) and request.scope == "function":
        with _sessions().fixture_ends(fixturedef, request):
            return (yield)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to a failed test the command that explains its error, and the reports of explorations and campaigns.

    The reports are in variables of the test, of which pytest shows a part.
    """
    if call.excinfo is not None and (text := _hint(call.excinfo.value)) not in ("", *_notes(call.excinfo.value)):
        call.excinfo.value.add_note(text)
    report = yield
    if call.excinfo is not None and report.failed:
        found = [value for entry in call.excinfo.traceback for value in entry.locals.values()]
        titled = {id(each): (title, each) for each in found if (title := getattr(type(each), "pytest_section", None))}
        report.sections += [(title, str(each)) for title, each in titled.values()]
    return report


def _hint(error: BaseException) -> str:
    """Return the command that explains an error of Sampan; an empty text for other errors, without an import."""
    if not any(each.__module__.startswith("sampan.") for each in type(error).__mro__):
        return ""
    text: str = import_module("sampan.core.explanations.entries").hint(error)
    return text


def _notes(error: BaseException) -> list[str]:
    return getattr(error, "__notes__", [])


def _sessions() -> Any:
    """Return the module that implements the fixtures. It is imported on first use."""
    return import_module("sampan.testing.pytest_session")
