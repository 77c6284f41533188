"""`RestoreDetector`: detects that etcd was restored from a backup, or replaced by another cluster.

After a restore the cluster id differs (depending on the options of the restore), or the revision is lower than one
already observed. Nothing in the server's caches is valid then, because revisions start again with other contents.
"""

from collections.abc import Callable
from typing import Any

from sampan.storage.store import StoreReplaced, StoreUnreachable


class RestoreDetector:
    """Cluster id and newest revision observed by one client."""

    def __init__(self) -> None:
        self.revision = 0
        self.listeners: list[Callable[[StoreReplaced], None]] = []
        """Called once, when etcd turns out to be restored or replaced."""
        self.fault = ""
        """Reason why etcd counts as restored or replaced; empty if it does not."""
        self._cluster = 0

    def check(self) -> None:
        """Raise `StoreUnreachable` if etcd was found to be restored or replaced."""
        if self.fault:
            raise StoreUnreachable(self.fault)

    def observe(self, header: Any, before: int) -> None:
        """Record the header of a linearizable response. `before`: the newest revision when the request was sent.

        Raises `StoreUnreachable` if etcd was restored or replaced.
        """
        cluster, revision = header.cluster_id, header.revision
        if self._cluster and cluster != self._cluster:
            self._end(f"etcd is another cluster: {cluster:x}, before {self._cluster:x}")
        if revision < before:
            self._end(f"etcd has gone back from revision {before} to {revision}")
        self._cluster = cluster
        self.revision = max(self.revision, revision)

    def observe_revision(self, revision: int) -> None:
        """Record a revision received from a watch."""
        self.revision = max(self.revision, revision)

    def _end(self, what: str) -> None:
        self.fault = f"{what}; a backup was restored, or its data is lost"
        for listener in self.listeners:
            listener(StoreReplaced(self.fault))
        self.check()
