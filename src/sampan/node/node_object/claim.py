"""`NodeClaim`: ensures that one agent runs a node, even if several are configured with the node's name.

The node's Lease names its owner in an annotation, because holderIdentity is the node's name, as the kubelet sets it.
The owner renews the Lease (`heartbeats.py`). An agent that finds another owner stands by. It takes the node over when
the Lease has not changed for its duration, measured by its own clock, so clocks need not agree.

Guarantees: containers end with their agent, even if it is killed, so a node that is taken over runs no old containers.
An agent that cannot reach the API server keeps its containers running, as the kubelet does. When the server responds
again, the agent checks whether it still owns the node. If two agents use the same directory, only one of them can lock
its lock file.
Concurrency: no tasks.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

from sampan.client import AlreadyExists, Client, ClientError, Conflict, NotFound
from sampan.component_base.resources import LEASES
from sampan.core.time import Clock, format_micro_time
from sampan.kinds import coordination_v1
from sampan.resource import meta

ANNOTATION: Final = "sampan.dev/node-instance"
LEASE_NAMESPACE: Final = "kube-node-lease"
LEASE_DURATION_S: Final = 40
LOOK_S: Final = 2.0
"""Period at which a standby agent reads the Lease."""

_LOCKED_BY_SAME_INSTANCE: Final = "the same"
_log = logging.getLogger("sampan.node")


class NodeTaken(RuntimeError):
    """Another agent has taken the node over. This agent must end, with its Pods."""


class NodeClaim:
    """Claim of one agent, `instance`, to the node `name`.

    `won` is called once the agent owns the node. `lock_file`: only one agent of the instance may lock it.
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
        self._foreign: tuple[str, coordination_v1.LeaseSpec | None] | None = None
        """The last other owner, and the spec of its Lease."""
        self._foreign_since = 0.0
        self._logged = ""

    @property
    def annotations(self) -> dict[str, str]:
        """Annotations of the owner's Lease."""
        return {ANNOTATION: self._instance}

    async def obtain(self) -> None:
        """Wait until this agent owns the node.

        Returns at once if the node has no owner, or if this agent owned it before.
        """
        while True:
            # The lock first: it needs no network, and the agent that has it is certainly on this machine.
            if self._lock() and await self._tried():
                self._won()
                return
            await asyncio.sleep(LOOK_S)

    def release(self) -> None:
        """Release the file lock for another agent of this machine. The Lease stays. Idempotent."""
        if self._locked is not None:
            self._locked.close()
            self._locked = None

    def check(self, lease: coordination_v1.Lease) -> None:
        """Raise `NodeTaken` if the Lease names another owner."""
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
            if self._logged != _LOCKED_BY_SAME_INSTANCE:
                self._logged = _LOCKED_BY_SAME_INSTANCE
                _log.warning(
                    "node %s: another agent uses the directory %s; standing by", self._name, self._lock_file.parent
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
            _log.warning("cannot claim node %s, retrying: %s", self._name, error)
            return False

    async def _try(self) -> bool:
        try:
            lease = await self._leases.get(self._name)
        except NotFound:
            # The Lease was deleted, but its owner may still run Pods and create the Lease again.
            if self._foreign is not None and not self._is_over():
                return False
            await self._leases.create(self._lease())
            return True
        holder = meta(lease).annotations.get(ANNOTATION, self._instance)
        if holder != self._instance:
            self._look_at(lease, holder)
            if not self._is_over():
                return False
        # With the resourceVersion that was read, so only one of several standby agents takes the node over.
        await self._leases.update(self._taken(lease))
        if holder != self._instance:
            _log.warning("took over node %s from %s, which did not renew its lease", self._name, _machine(holder))
        return True

    def _look_at(self, lease: coordination_v1.Lease, holder: str) -> None:
        found = (holder, lease.get("spec"))
        if found != self._foreign:
            self._foreign, self._foreign_since = found, asyncio.get_running_loop().time()
        if holder != self._logged:
            self._logged = holder
            _log.warning(
                "node %s is run by %s; standing by until its lease is not renewed for %d s; "
                "to run another node, set sampan node --node-name",
                self._name,
                _machine(holder),
                LEASE_DURATION_S,
            )

    def _is_over(self) -> bool:
        return asyncio.get_running_loop().time() - self._foreign_since >= LEASE_DURATION_S

    def _taken(self, lease: coordination_v1.Lease) -> coordination_v1.Lease:
        """Return the Lease with this agent as its owner.

        Its resourceVersion makes all but one of several writers fail.
        """
        metadata = lease["metadata"].copy()
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **self.annotations}
        spec: coordination_v1.LeaseSpec = {**(lease.get("spec") or {}), **self._spec()}
        return {**lease, "metadata": metadata, "spec": spec}

    def _lease(self) -> coordination_v1.Lease:
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": self._name, "namespace": LEASE_NAMESPACE, "annotations": self.annotations},
            "spec": {"holderIdentity": self._name, **self._spec()},
        }

    def _spec(self) -> coordination_v1.LeaseSpec:
        return {"leaseDurationSeconds": LEASE_DURATION_S, "renewTime": format_micro_time(self._clock.now())}


def _machine(instance: str) -> str:
    return instance.partition("/")[0]
