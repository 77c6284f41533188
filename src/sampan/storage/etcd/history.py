"""`History`: whether etcd is still the one that it was, further on. After a backup was restored it is not.

Its revision is then lower than what was seen, or the cluster has another id (which depends on how it was restored), or
what was seen is not there (`witness.py`).
Nothing that is cached fits any more: revisions begin again with other contents.
"""

from collections.abc import Callable
from typing import Any

from sampan.storage.store import StoreReplaced, StoreUnreachable


class History:
    """What one client has seen."""

    def __init__(self) -> None:
        self.revision = 0
        """The newest that etcd has told."""
        self.replaced: Callable[[StoreReplaced], None] | None = None
        """Told once that etcd is not the one that it was."""
        self._cluster = 0
        self.fault = ""
        """Why etcd is not the one that it was; empty: it is."""

    def check(self) -> None:
        """Raises `StoreUnreachable` when etcd is known to be another one."""
        if self.fault:
            raise StoreUnreachable(self.fault)

    def saw(self, header: Any, before: int) -> None:
        """An answer has come to a question that was put when `before` was the newest revision.

        Raises `StoreUnreachable` when another etcd gave it.
        """
        cluster, revision = header.cluster_id, header.revision
        if self._cluster and cluster != self._cluster:
            self._end(f"etcd is another cluster: {cluster:x}, before {self._cluster:x}")
        if revision < before:
            self._end(f"etcd has gone back from revision {before} to {revision}")
        self._cluster = cluster
        self.revision = max(self.revision, revision)

    def reached(self, revision: int) -> None:
        """A watch has told of this revision."""
        self.revision = max(self.revision, revision)

    def differs(self, revision: int) -> None:
        """What was seen at this revision is not what etcd has there. Raises `StoreUnreachable`."""
        self._end(f"etcd has another history: what was written at revision {revision} is not there")

    def _end(self, what: str) -> None:
        self.fault = f"{what}; a backup was restored, or its data is lost"
        if self.replaced is not None:
            self.replaced(StoreReplaced(self.fault))
        self.check()
