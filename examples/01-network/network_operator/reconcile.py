"""The reconcile of one Network, the same in both styles of controller: find, compare, act, tell.

Guarantees, whatever is killed and whenever: an object never has more than one network in the end (what an earlier run
made is found again by its identity); nothing in Neutron outlives its object (the finalizer is on before anything is
made, and goes after everything is deleted).
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
from sampan.operator.request import Request, Result

log = logging.getLogger("network_operator")

READY = "Ready"
ROUNDS_MAX = 5
"""Rounds of looking and acting in one reconcile; a new network takes three: network, subnet, nothing left to do."""


class Recorder(Protocol):
    """Records events on objects, as `EventRecorder` does."""

    def normal(self, obj: Network, reason: str, note: str) -> None:
        """Something went as it should."""
        ...

    def warning(self, obj: Network, reason: str, note: str) -> None:
        """Something went wrong."""
        ...


Read = Callable[[Request], Awaitable[Network | None]]
"""Reads an object, from a cache perhaps; None when there is none."""


@dataclass(frozen=True, slots=True)
class NetworkReconciler:
    """Makes what a Network says. Reads may be stale: what is there in Neutron is always asked for anew."""

    networks: ResourceClient[Network]
    read: Read
    backend: Backend
    recorder: Recorder
    recheck_s: float = 60.0
    """Neutron tells nobody what happens in it: it is looked at again after so many seconds."""
    clock: Clock = field(default_factory=SystemClock)

    async def reconcile(self, request: Request) -> Result | None:
        """One look at one object. Raises `Unavailable` when Neutron is, to be called again later."""
        network = await self.read(request)
        if network is None:
            return None
        return await finalizer(self.networks, network, FINALIZER, Finalizing(self._apply, self._clean_up))

    async def _apply(self, network: Network) -> Result | None:
        try:
            desired = desired_of(network)
        except ValueError as error:
            await self._tell(network, _condition("False", "Invalid", str(error)))
            return None
        try:
            actual, done = await self._converge(desired)
        except Refused as error:
            await self._tell(network, _condition("False", "Refused", str(error)))
            return Result(self.recheck_s)
        except Unavailable as error:
            await self._tell(network, _condition("Unknown", "NeutronUnavailable", str(error)))
            raise
        self._record(network, done)
        await self._tell(network, _condition("True", "InSync", "the network is as it should be"), actual)
        return Result(self.recheck_s)

    async def _clean_up(self, network: Network) -> Result | None:
        identity = identity_of(network)
        while found := await self.backend.find(identity):
            for each in found:
                await self.backend.delete_network(each.id)
        self.recorder.normal(network, "Deleted", "the network is gone from Neutron")
        return None

    async def _converge(self, desired: Desired) -> tuple[ActualNetwork, list[Action]]:
        """Act until nothing is left to do."""
        done: list[Action] = []
        for _ in range(ROUNDS_MAX):
            actual = await self.backend.find(desired.identity)
            actions = plan(desired, actual)
            if not actions:
                return actual[0], done
            for action in actions:
                log.info("%s: %s", desired.name, action)
                await self._do(action, desired)
            done += actions
        raise Unavailable(f"Neutron does not come to rest: {done[-1]} was done and is to be done again")

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
        """One event for what was done: creation, an update that the spec asked for, or the repair of a drift."""
        status = network.status or NetworkStatus()
        if not status.network_id:
            reason = "Created" if CreateNetwork() in done else "Adopted"
            self.recorder.normal(network, reason, f"the network {_said(done)}")
        elif done and is_true(status.conditions, READY, generation=network.metadata.generation):
            self.recorder.warning(network, "DriftRepaired", f"someone changed it in Neutron: {_said(done)}")
        elif done:
            self.recorder.normal(network, "Updated", f"the network {_said(done)}")

    async def _tell(self, network: Network, condition: Condition, actual: ActualNetwork | None = None) -> None:
        """Write the status, if it has changed. It is ours alone, so it is patched whatever version the object has."""
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
            await client.status.patch(network.metadata.name, MergePatch({"status": msgspec.to_builtins(status)}))
        except NotFound:
            log.info("%s went while it was looked at", network.metadata.name)


def _condition(status: ConditionStatus, reason: str, message: str) -> Condition:
    return Condition(type=READY, status=status, reason=reason, message=message)


_WORDS = {
    CreateNetwork: "was created",
    RenameNetwork: "was renamed",
    DeleteNetwork: "lost its double",
    CreateSubnet: "got its subnet",
    UpdateGateway: "got its gateway",
    DeleteSubnet: "lost a subnet",
}


def _said(done: Sequence[Action]) -> str:
    return ", ".join(_WORDS[type(action)] for action in done) or "was there already"
