"""`NodeClaim`: a node of processes is run by one agent, though several would take its name.

Who runs it is written on the node's Lease, which that one renews (`heartbeats.py`). holderIdentity is the node's name
there, as a kubelet has it, so it is an annotation. Whoever finds another agent's name stands by, and takes the node
over when the Lease has not changed for as long as it lasts; by the own clock, so clocks need not agree.

Guarantees: an agent that ended, also by kill -9, runs nothing any more, as containers end with their agent. One that
lives but reaches no API server goes on, as a kubelet does, and learns that the node is another's when it is back.
Of two agents that keep one directory, and so are one instance, one has the lock of its file.
Concurrency: no tasks of its own.
"""

import asyncio
import fcntl
import logging
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

from sampan.client import AlreadyExists, Client, ClientError, Conflict, NotFound
from sampan.core.time import Clock, format_micro_time
from sampan.loops.resources import LEASES
from sampan.resource import Object, meta

ANNOTATION: Final = "sampan.dev/node-instance"
LEASE_NAMESPACE: Final = "kube-node-lease"
LEASE_DURATION_S: Final = 40
LOOK_S: Final = 2.0
"""How often an agent that stands by looks."""

_SAME: Final = "the same"
_log = logging.getLogger("sampan.node")


class NodeTaken(RuntimeError):
    """Another agent has taken the node over: this one has to end, and its Pods with it."""


class NodeClaim:
    """The claim of one agent, `instance`, to the node `name`. `won` is called once the node is its own. `lock_file`: a
    file that only one agent of the instance may have locked.
    """

    def __init__(
        self,
        client: Client,
        name: str,
        instance: str,
        *,
        clock: Clock,
        won: Callable[[], None] = lambda: None,
        lock_file: Path | None = None,
    ) -> None:
        self._leases = client.resource(LEASES, namespace=LEASE_NAMESPACE)
        self._name = name
        self._instance = instance
        self._clock = clock
        self._won = won
        self._lock_file = lock_file
        self._locked: BinaryIO | None = None
        self._seen: Object | None = None
        """What another agent wrote on the Lease."""
        self._seen_at = 0.0
        self._said = ""

    @property
    def annotations(self) -> dict[str, str]:
        """What is on the Lease of whoever has won."""
        return {ANNOTATION: self._instance}

    async def obtain(self) -> None:
        """Return when the node is this agent's: at once if nobody has it, or it was so before."""
        while True:
            if self._lock() and await self._tried():
                self._won()
                return
            await asyncio.sleep(LOOK_S)

    def release(self) -> None:
        """Let another agent of the instance have the lock. The Lease stays: nodes are their machine's. Idempotent."""
        if self._locked is not None:
            self._locked.close()
            self._locked = None

    def check(self, lease: Object) -> None:
        """Raises `NodeTaken` when the Lease, as it is now, is another agent's."""
        holder = meta(lease).annotations.get(ANNOTATION, self._instance)
        if holder != self._instance:
            raise NodeTaken(
                f"the node {self._name} was taken over by {_machine(holder)}: this agent ends, with its Pods"
            )

    def _lock(self) -> bool:
        if self._lock_file is None or self._locked is not None:
            return True
        file = self._lock_file.open("rb")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            if self._said != _SAME:
                self._said = _SAME
                _log.warning(
                    "node %s: another agent has the directory %s: stands by", self._name, self._lock_file.parent
                )
            return False
        self._locked = file
        return True

    async def _tried(self) -> bool:
        try:
            return await self._try()
        except (Conflict, AlreadyExists):
            return False
        except ClientError as error:
            _log.warning("node %s: %s", self._name, error)
            return False

    async def _try(self) -> bool:
        try:
            lease = await self._leases.get(self._name)
        except NotFound:
            if self._seen is not None and not self._is_over():
                return False
            await self._leases.create(self._lease())
            return True
        holder = meta(lease).annotations.get(ANNOTATION, self._instance)
        if holder != self._instance:
            self._look_at(lease, holder)
            if not self._is_over():
                return False
        await self._leases.update(self._taken(lease))
        if holder != self._instance:
            _log.warning("node %s is taken over from %s, which is gone", self._name, _machine(holder))
        return True

    def _look_at(self, lease: Object, holder: str) -> None:
        spec = dict(lease.get("spec", {}), holder=holder)
        if spec != self._seen:
            self._seen, self._seen_at = spec, asyncio.get_running_loop().time()
        if holder != self._said:
            self._said = holder
            _log.warning(
                "node %s is run by %s: this agent stands by, and takes it over when that one has not told for %d s "
                "that it lives; a node of another name is had by sampan node --node-name",
                self._name,
                _machine(holder),
                LEASE_DURATION_S,
            )

    def _is_over(self) -> bool:
        return asyncio.get_running_loop().time() - self._seen_at >= LEASE_DURATION_S

    def _taken(self, lease: Object) -> Object:
        """The Lease as its new holder writes it, with its resourceVersion: of two one succeeds."""
        metadata = {**lease["metadata"]}
        metadata["annotations"] = {**metadata.get("annotations", {}), **self.annotations}
        return {**lease, "metadata": metadata, "spec": {**lease.get("spec", {}), **self._spec()}}

    def _lease(self) -> Object:
        metadata = {"name": self._name, "namespace": LEASE_NAMESPACE, "annotations": self.annotations}
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": metadata,
            "spec": {"holderIdentity": self._name, **self._spec()},
        }

    def _spec(self) -> Object:
        return {"leaseDurationSeconds": LEASE_DURATION_S, "renewTime": format_micro_time(self._clock.now())}


def _machine(instance: str) -> str:
    return instance.partition("/")[0]
