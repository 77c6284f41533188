"""`Blocking`: a cluster for plain tests, without `await`.

    def test_boats(cluster: Cluster) -> None:
        blocking = cluster.blocking
        blocking.apply("boats.yaml")
        blocking.settled()

Nothing runs between two calls: the event loop of the cluster runs only during a call.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar, overload

from sampan.resource import Object, ResourceInfo
from sampan.testing.operators.running import Running

T = TypeVar("T")


class Blocking:
    """The methods of a cluster. `run` also awaits any coroutine in the event loop of the cluster."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster
        self._runner = asyncio.Runner(loop_factory=asyncio.SelectorEventLoop)

    @overload
    def run(self, work: Coroutine[Any, Any, T]) -> T: ...

    @overload
    def run(self, work: Any, **options: Any) -> Running: ...

    def run(self, work: Any, **options: Any) -> Any:
        """Run an operator, as `Cluster.run` does. Or await a coroutine, and return its result."""
        if asyncio.iscoroutine(work):
            return self._runner.run(work)

        async def begin() -> Running:
            running: Running = self._cluster.run(work, **options)
            return running

        return self._runner.run(begin())

    def crds(self, *sources: Any) -> None:
        """Create CustomResourceDefinitions from files, folders, dicts or declared classes, and serve them."""
        self.run(self._cluster.crds(*sources))

    def apply(self, what: Any, **options: Any) -> Sequence[Object]:
        """Create or change objects with server-side apply, and return them."""
        found: Sequence[Object] = self.run(self._cluster.apply(what, **options))
        return found

    def create(self, what: Any) -> Sequence[Object]:
        """Create objects and return them."""
        found: Sequence[Object] = self.run(self._cluster.create(what))
        return found

    def build(self, kind: str | ResourceInfo | type[Any], name: str = "", **fields: Any) -> Any:
        """Return the smallest valid object of a kind, with these fields set."""
        return self._cluster.build(kind, name, **fields)

    def get(self, kind: str | ResourceInfo | type[Any], name: str = "", **options: Any) -> Any:
        """Return an object."""
        return self.run(self._cluster.get(kind, name, **options))

    def find(self, kind: str | ResourceInfo | type[Any], name: str = "", **options: Any) -> Any:
        """Return an object as `get` does, or None if it does not exist."""
        return self.run(self._cluster.find(kind, name, **options))

    def list(self, kind: str | ResourceInfo | type[Any], **options: Any) -> Any:
        """Return the objects of a kind, in the namespace or (with "") in all."""
        return self.run(self._cluster.list(kind, **options))

    def delete(self, *names: Any, **options: Any) -> None:
        """Request the deletion of objects."""
        self.run(self._cluster.delete(*names, **options))

    def patch(self, kind: Any, change: Any, **options: Any) -> Object:
        """Change an object (`"deploy/web"`)."""
        found: Object = self.run(self._cluster.patch(kind, change, **options))
        return found

    def start(self, operator: Any, **options: Any) -> Running:
        """Run an operator. See `Cluster.run`."""
        running: Running = self.run(operator, **options)
        return running

    def advance(self, **duration: float) -> None:
        """Advance the virtual clock."""
        self.run(self._cluster.advance(**duration))

    def eventually(self, what: Any, expected: Any = None, **options: Any) -> Any:
        """Wait until an object (`"deploy/web"`) meets a predicate, or until a function returns a true value."""
        return self.run(self._cluster.eventually(what, expected, **options))

    def consistently(self, what: Any, expected: Any = None, **options: Any) -> None:
        """Check that a predicate holds in each state during this time."""
        self.run(self._cluster.consistently(what, expected, **options))

    def never(self, what: Any, expected: Any = None, **options: Any) -> None:
        """Check that no state during this time meets a predicate."""
        self.run(self._cluster.never(what, expected, **options))

    def settled(self, **options: float) -> None:
        """Wait until nothing can run for `pause` seconds: no request, no reconcile, no short timer."""
        self.run(self._cluster.settled(**options))

    def assert_idempotent(self) -> None:
        """Restart all operators, with empty caches, and check that they change nothing."""
        self.run(self._cluster.assert_idempotent())

    def close(self) -> None:
        """End the cluster and its event loop. Raises the error of an operator that has failed."""
        try:
            self.run(self._cluster.aclose())
        finally:
            self._runner.close()
