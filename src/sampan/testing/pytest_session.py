"""The part of the pytest plug-in that needs the server: clusters of one test, from its start to its end.

Concurrency: a cluster lives in the event loop of the test. So the test function is wrapped: the clusters end in the
same loop, right after it. If an asynchronous fixture uses a cluster and continues after the test, it ends them.
"""

import asyncio
import datetime as dt
import functools
import inspect
import sys
import warnings
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from sampan.client import ClientError, ConfigError
from sampan.client.objects.manifests import ManifestError
from sampan.testing.awaited import NotAwaited
from sampan.testing.cluster import Cluster
from sampan.testing.cluster_options import ClusterOptions
from sampan.testing.kubeconfig_cluster import cluster_of
from sampan.testing.observations.leaks import Leak, leaked_tasks
from sampan.testing.requests import ServerWarning
from sampan.testing.rights.record import record_rights
from sampan.testing.rights.role_files import RoleFileError

_HIDDEN: Final = ("sampan.client.", "sampan.testing.")
_KEY: Final = pytest.StashKey["ClusterSession"]()


def hides(caught: pytest.ExceptionInfo[BaseException]) -> bool:
    """Return True for an error whose cause is in the test or the operator, not in the code of the cluster."""
    return isinstance(caught.value, AssertionError | ClientError | ManifestError)


def hide_frames() -> None:
    """Leave the code of clusters and clients out of tracebacks of such errors; `--full-trace` shows it."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_HIDDEN):
            vars(module)["__tracebackhide__"] = hides


class ClusterSession:
    """Clusters of one test."""

    def __init__(self, options: dict[str, Any], place: str = "", rights: str = "") -> None:
        """`place`: location of the clusters, as in `--cluster`; empty: this process.

        `rights`: directory for the rights that the operators use; empty: they are not recorded.
        """
        self._options = options
        self._place = place
        self._rights = rights
        self._clusters: list[Cluster] = []
        self.had_operators = False
        self.is_in_fixture = False
        """True if an asynchronous fixture uses the clusters after the test, and then ends them."""

    def cluster(self, **options: Any) -> Cluster:
        """Return a new cluster. Options override those of the mark. Raises `pytest.UsageError` for an unknown one."""
        try:
            chosen = options_of({**self._options, **options})
            if self._place and chosen.roles:
                raise pytest.UsageError("roles need a server in this process: run the tests without --cluster")
            chosen.authorizers()
            made: Cluster = cluster_of(self._place, chosen) if self._place else Cluster(chosen)
        except (RoleFileError, OSError) as error:
            raise pytest.UsageError(f"roles: {error}") from None
        except ConfigError as error:
            raise pytest.UsageError(f"--cluster={self._place}: {error}") from None
        except ValueError as error:
            raise pytest.UsageError(f"mark cluster: {error}") from None
        self._clusters.append(made)
        return made

    async def begin(self) -> None:
        """Start the clusters that the fixtures have made."""
        for cluster in self._clusters:
            await cluster.begin()

    async def check_leaks(self) -> None:
        """Check that the operators of all clusters left nothing behind. Raises `Leak`."""
        for cluster in self._clusters:
            self.had_operators = self.had_operators or cluster.has_operators
            await cluster.check_leaks()

    def check_awaited(self) -> None:
        """Check that the test has awaited all calls of its clusters. Raises `NotAwaited`."""
        if calls := self._not_awaited():
            raise NotAwaited("\n".join(calls))

    def _not_awaited(self) -> list[str]:
        return [
            f"{each} was not awaited, so it did nothing: write await, or cluster.blocking in a test without async"
            for cluster in self._clusters
            for each in cluster.not_awaited
        ]

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Add the calls that were not awaited to an error of the block: they may be its cause."""
        try:
            yield
        except Exception as error:
            for each in self._not_awaited():
                error.add_note(each)
            raise

    def warn(self) -> None:
        """Issue each warning of the server to an operator as a warning of the test.

        Raises the warning with `-W error`.
        """
        for cluster in self._clusters:
            for text in cluster.warnings():
                warnings.warn(text, ServerWarning, stacklevel=2)

    async def end(self, before: Collection[asyncio.Task[Any]]) -> None:
        """End all clusters. Raises the first error, or `Leak` for tasks of operators that did not run `before`."""
        errors = []
        for cluster in self._clusters:
            self._record(cluster)
            try:
                await cluster.aclose()
            except Exception as error:
                errors.append(error)
        self._clusters.clear()
        if errors:
            raise errors[0]
        if self.had_operators and (leaks := leaked_tasks(before)):
            raise Leak("\n".join(["the test left behind:", *(f"  {each}" for each in leaks)]))

    def end_blocking(self) -> None:
        """End the clusters of a plain test."""
        for cluster in self._clusters:
            self._record(cluster)
            cluster.close_blocking()
        self._clusters.clear()

    def _record(self, cluster: Cluster) -> None:
        if self._rights:
            record_rights(Path(self._rights), {name: cluster.privileges(name) for name in cluster.operators})


def options_of(words: dict[str, Any]) -> ClusterOptions:
    """Return the options of a mark. Raises `pytest.UsageError` for an unknown name or value."""
    known = {"loops", "admission", "nodes", "time", "start", "leaks", "allow_errors", "roles"}
    if unknown := sorted(set(words) - known):
        raise pytest.UsageError(f"mark cluster: {unknown[0]!r} is unknown; it takes {', '.join(sorted(known))}")
    words = dict(words)
    time, start = words.pop("time", "virtual"), words.pop("start", None)
    if time not in ("virtual", "real"):
        raise pytest.UsageError(f"mark cluster: time is 'virtual' or 'real', not {time!r}")
    if start is not None:
        words["start"] = dt.datetime.fromisoformat(start) if isinstance(start, str) else start
    return ClusterOptions(virtual=time == "virtual", **words)


@contextmanager
def session(request: pytest.FixtureRequest) -> Iterator[ClusterSession]:
    """Return the session of a test: one for all its fixtures."""
    item = request.node
    if _KEY in item.stash:
        yield item.stash[_KEY]
        return
    hide_frames()
    mark, option = item.get_closest_marker("cluster"), request.config.getoption
    options = dict(mark.kwargs) if mark else {}
    if roles := option("--operator-roles"):
        options.setdefault("roles", roles)
    made = item.stash[_KEY] = ClusterSession(options, option("--cluster"), option("--operator-rights"))
    try:
        yield made
    finally:
        made.end_blocking()


@contextmanager
def fixture_ends(fixture: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Iterator[None]:
    """Set up a fixture in the block. The first asynchronous generator of a test ends the clusters after its end."""
    made: ClusterSession | None = request.node.stash.get(_KEY, None)
    function: Callable[..., Any] = fixture.func
    if made is None or made.is_in_fixture or not inspect.isasyncgenfunction(function):
        yield
        return
    made.is_in_fixture = True

    @functools.wraps(function)
    async def ending(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        try:
            async with asynccontextmanager(function)(*args, **kwargs) as value:
                yield value
            made.check_awaited()
        finally:
            # Tasks are not checked: other plug-ins run a fixture in tasks that they make later.
            await made.end(asyncio.all_tasks())

    fixture.func = ending  # type: ignore[misc]  # final for users
    try:
        yield
    finally:
        fixture.func = function  # type: ignore[misc]  # as above


@contextmanager
def wrapped(item: pytest.Function) -> Iterator[None]:
    """Wrap the test function during the block, so that it ends its clusters."""
    test = item.obj
    if _KEY not in item.stash:
        yield
        return
    made = item.stash[_KEY]
    if not inspect.iscoroutinefunction(test):
        with made.noting():
            yield
        made.check_awaited()
        made.warn()
        return

    @functools.wraps(test)
    async def run(*args: Any, **kwargs: Any) -> None:
        before = asyncio.all_tasks()
        # Before the test reads the clock: deadlines of real time mean nothing in virtual time.
        await made.begin()
        try:
            with made.noting():
                await test(*args, **kwargs)
            made.check_awaited()
            await made.check_leaks()
            made.warn()
        finally:
            if not made.is_in_fixture:
                await made.end(before)

    item.obj = run if _has_runner(item) else _in_own_loop(run)
    try:
        yield
    finally:
        item.obj = test


def _has_runner(item: pytest.Function) -> bool:
    """Return True if pytest-asyncio or anyio runs the test."""
    return type(item) is not pytest.Function or "anyio_backend" in item.fixturenames


def _in_own_loop(test: Callable[..., Any]) -> Callable[..., None]:
    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            runner.run(test(*args, **kwargs))

    # functools.wraps sets __wrapped__, which pytest would follow to the coroutine function.
    del run.__wrapped__
    run.__signature__ = inspect.signature(test)  # type: ignore[attr-defined]  # for the fixtures of the test
    return run
