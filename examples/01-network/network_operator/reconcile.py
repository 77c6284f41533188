"""Reconciler of a Network, shared by both controllers: find, compare, change, report.

Guarantees, even if any process is killed at any time: an object has one network in the end, because each run finds the
networks of earlier runs by their identity. No network outlives its object, because the finalizer is set before the
first create and removed after the last delete.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from network_operator.backend import Backend, Refused, Unavailable
from network_operator.plan import (
    Action,
    ActualNetwork,
    CreateNetwork,
    CreateSubnet,
    DeleteNetwork,
    DeleteSubnet,
    Desired,
    RenameNetwork,
    UpdateGateway,
    desired_of,
    identity_of,
    plan,
)
from network_operator.types import FINALIZER, Network, NetworkStatus
from sampan.client import MergePatch, NotFound, ResourceClient
from sampan.core.time import Clock, SystemClock
from sampan.operator.conditions import Condition, ConditionStatus, is_true, set_condition
from sampan.operator.finalizers import Finalizing, finalizer
from sampan.operator.request import Request, Result, RetryLater

log = logging.getLogger("network_operator")

READY = "Ready"
READS_MAX = 5
"""Maximum number of reads of the backend in one reconcile. Changes follow each read.

A new network takes three reads: network, subnet, check.
"""


class Recorder(Protocol):
    """Records Events on objects, like `EventRecorder`."""

    def normal(self, obj: Network, reason: str, note: str) -> None:
        """Record a normal Event."""
        ...

    def warning(self, obj: Network, reason: str, note: str) -> None:
        """Record a warning Event."""
        ...


Read = Callable[[Request], Awaitable[Network | None]]
"""Read an object, possibly from a cache. Return None if it does not exist."""


class Outdated(RetryLater):
    """The spec of the object has changed, or the object is being deleted or no longer exists."""


@dataclass(frozen=True, slots=True)
class NetworkReconciler:
    """Makes Neutron match a Network. The object may come from a stale cache; the state of Neutron is always read.

    Before a change in Neutron, the object is read from the server. Otherwise, an old spec would replace the new subnet,
    and a network would be created again for an object that no longer exists. Nothing would delete that network.
    """

    networks: ResourceClient[Network]
    read: Read
    read_live: Read
    """Read an object from the server."""
    backend: Backend
    recorder: Recorder
    recheck_s: float = 60.0
    """Seconds between two checks, because Neutron sends no events."""
    clock: Clock = field(default_factory=SystemClock)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one object.

        Raises `Unavailable` if Neutron is unavailable, and `Outdated` if the cache is behind: retry.
        """
        network = await self.read(request)
        if network is None:
            return None
        return await finalizer(self.networks, network, FINALIZER, Finalizing(self._apply, self._clean_up))

    async def _apply(self, network: Network) -> Result | None:
        try:
            desired = desired_of(network)
        except ValueError as error:
            await self._write_status(network, _condition("False", "Invalid", str(error)))
            return None
        try:
            actual, done = await self._converge(network, desired)
        except Refused as error:
            await self._write_status(network, _condition("False", "Refused", str(error)))
            return Result(self.recheck_s)
        except Unavailable as error:
            await self._write_status(network, _condition("Unknown", "NeutronUnavailable", str(error)))
            raise
        self._record(network, done)
        await self._write_status(network, _condition("True", "InSync", "the network matches the spec"), actual)
        return Result(self.recheck_s)

    async def _clean_up(self, network: Network) -> Result | None:
        identity = identity_of(network)
        while found := await self.backend.find(identity):
            for each in found:
                await self.backend.delete_network(each.id)
        self.recorder.normal(network, "Deleted", "the network was deleted from Neutron")
        return None

    async def _converge(self, network: Network, desired: Desired) -> tuple[ActualNetwork, list[Action]]:
        """Act until the plan is empty."""
        done: list[Action] = []
        for _ in range(READS_MAX):
            actual = await self.backend.find(desired.identity)
            actions = plan(desired, actual)
            if not actions:
                return actual[0], done
            if not done:
                await self._check_current(network)
            for action in actions:
                log.info("changing network %s: %s", desired.name, action)
                await self._do(action, desired)
            done += actions
        raise Unavailable(f"Neutron does not converge: {done[-1]} is required again after it succeeded")

    async def _check_current(self, network: Network) -> None:
        metadata = network.metadata
        live = await self.read_live(Request(metadata.namespace, metadata.name))
        if (
            live is None
            or live.metadata.deletion_timestamp
            or (live.metadata.uid, live.metadata.generation) != (metadata.uid, metadata.generation)
        ):
            raise Outdated(f"{metadata.namespace}/{metadata.name} has changed since it was read")

    async def _do(self, action: Action, desired: Desired) -> None:
        match action:
            case CreateNetwork():
                await self.backend.create_network(desired)
            case RenameNetwork(network_id):
                await self.backend.rename_network(network_id, desired.name)
            case DeleteNetwork(network_id):
                await self.backend.delete_network(network_id)
            case CreateSubnet(network_id):
                await self.backend.create_subnet(network_id, desired)
            case UpdateGateway(subnet_id):
                await self.backend.update_gateway(subnet_id, desired)
            case DeleteSubnet(subnet_id):
                await self.backend.delete_subnet(subnet_id)

    def _record(self, network: Network, done: Sequence[Action]) -> None:
        """Record one Event for the actions: creation, update of the spec, or repair of drift."""
        status = network.status or NetworkStatus()
        if not status.network_id:
            reason = "Created" if CreateNetwork() in done else "Adopted"
            self.recorder.normal(network, reason, f"the network {_summary(done)}")
        elif done and is_true(status.conditions, READY, generation=network.metadata.generation):
            self.recorder.warning(network, "DriftRepaired", f"the network differed in Neutron: {_summary(done)}")
        elif done:
            self.recorder.normal(network, "Updated", f"the network {_summary(done)}")

    async def _write_status(self, network: Network, condition: Condition, actual: ActualNetwork | None = None) -> None:
        """Write the status if it changed. Raises `Conflict` if the object changed: a patch replaces all conditions."""
        before = network.status or NetworkStatus()
        status = msgspec.convert(msgspec.to_builtins(before), NetworkStatus)
        status.observed_generation = condition.observed_generation = network.metadata.generation
        if actual is not None:
            status.network_id, status.subnet_id = actual.id, actual.subnets[0].id
        set_condition(status.conditions, condition, self.clock)
        if status == before:
            return
        if condition.status != "True":
            self.recorder.warning(network, condition.reason, condition.message)
        client = self.networks.in_namespace(network.metadata.namespace)
        try:
            read = {"resourceVersion": network.metadata.resource_version}
            change = MergePatch({"metadata": read, "status": msgspec.to_builtins(status)})
            await client.status.patch(network.metadata.name, change)
        except NotFound:
            log.info("%s was deleted during its reconcile", network.metadata.name)


def _condition(status: ConditionStatus, reason: str, message: str) -> Condition:
    return Condition(type=READY, status=status, reason=reason, message=message)


_WORDS = {
    CreateNetwork: "was created",
    RenameNetwork: "was renamed",
    DeleteNetwork: "lost its duplicate",
    CreateSubnet: "got its subnet",
    UpdateGateway: "got its gateway",
    DeleteSubnet: "lost a subnet",
}


def _summary(done: Sequence[Action]) -> str:
    return ", ".join(_WORDS[type(action)] for action in done) or "already existed"
