"""`Transaction`: addresses and ports that one write of a Service allocates and releases.

It allocates before the write, and releases these allocations if the write fails. It releases what the old Service no
longer needs after the write has succeeded. Both happen in this server's memory and in the store.
Source: pkg/registry/core/service/storage/{storage,transaction}.go (1.36).
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn

from sampan.core import errors as status_errors
from sampan.core.event_loop.offload import offloaded
from sampan.core.field import FieldError, Path, invalid
from sampan.core.gvk import GroupKind, GroupResource
from sampan.core.object import Object
from sampan.patch.copying import copy_json
from sampan.registry.allocation.allocators import (
    Allocation,
    Allocators,
    Claims,
    Holder,
    TakenElsewhere,
    held_ips,
    held_ports,
)
from sampan.registry.allocation.ip_allocator import AllocationCounters, AllocationError, RangeFull
from sampan.registry.strategy import Release

_KIND = GroupKind("", "Service")
_RESOURCE = GroupResource("", "services")
_IPS = Path("spec", "clusterIPs")
_TRIES_MAX = 20
"""Maximum number of attempts. If another server claims first in all of them, the client gets a 409."""


@dataclass(slots=True)
class Transaction:
    """Allocations of one write, and the old allocations that it releases if it succeeds."""

    allocators: Allocators
    holder: Holder
    dry_run: bool
    taken_ips: list[str] = field(default_factory=list)
    taken_ports: list[int] = field(default_factory=list)
    released_ips: list[str] = field(default_factory=list)
    released_ports: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Name of the Service."""
        return self.holder.name

    async def claim(self, claims: Claims) -> None:
        """Claim the allocations in the store. Raises `TakenElsewhere`."""
        if not self.dry_run and (self.taken_ips or self.taken_ports):
            await claims.make(self.holder, self.taken_ips, self.taken_ports)

    async def finish(self, claims: Claims, success: bool) -> None:
        """Commit or revert, in this server's memory and in the store."""
        self.settle(success)
        ips = self.released_ips if success else self.taken_ips
        ports = self.released_ports if success else self.taken_ports
        if not self.dry_run and (ips or ports):
            await claims.drop(self.holder, ips, ports)

    def settle(self, success: bool) -> None:
        """Commit or revert, in this server's memory."""
        ips = self.released_ips if success else self.taken_ips
        ports = self.released_ports if success else self.taken_ports
        if self.dry_run:
            # A dry run allocates only to find out what a write would get, and keeps nothing.
            ips, ports = self.taken_ips, self.taken_ports
        for ip in ips:
            self.allocators.release_ip(ip)
        for port in ports:
            self.allocators.ports.release(port)

    def fail(self, fault: FieldError) -> NoReturn:
        """Raise a 422 with this fault."""
        raise status_errors.invalid(_KIND, self.name, [fault])

    def take_ip(self, family: str, ip: str, shown: list[str]) -> str:
        """Allocate the address `ip` of a family, or any free one if `ip` is empty. `shown`: value to show in a
        fault.
        """
        allocator = self.allocators.ips[family]
        scope = "static" if ip else "dynamic"
        try:
            if ip:
                allocator.allocate(ip)
            else:
                ip = allocator.allocate_next()
        except RangeFull as error:
            self._note(allocator.counters, "dynamic", done=False)
            text = f'failed to allocate a serviceIP for Service "{self.name}": {error}'
            raise status_errors.internal_error(text) from error
        except AllocationError as error:
            self._note(allocator.counters, "static", done=False)
            self.fail(invalid(_IPS, shown, f"failed to allocate IP {ip}: {error}"))
        self._note(allocator.counters, scope, done=True)
        self.taken_ips.append(ip)
        return ip

    def take_port(self, port: int, at: Path) -> None:
        """Allocate a port that the client chose. Raises 422."""
        try:
            self.take_this_port(port)
        except AllocationError as error:
            self.fail(invalid(at, port, str(error)))

    def take_this_port(self, port: int) -> None:
        """Allocate a port that the client chose. Raises `AllocationError`."""
        ports = self.allocators.ports
        try:
            ports.allocate(port)
        except AllocationError:
            self._note(ports.counters, "static", done=False)
            raise
        self._note(ports.counters, "static", done=True)
        self.taken_ports.append(port)

    def take_any_port(self, what: str = "a nodePort") -> int:
        """Allocate any free port. Raises 500 if none is free; `what`: name of the port in the error text."""
        try:
            port = self.allocators.ports.allocate_next()
        except RangeFull as error:
            self._note(self.allocators.ports.counters, "dynamic", done=False)
            raise status_errors.internal_error(f"failed to allocate {what}: {error}") from error
        self._note(self.allocators.ports.counters, "dynamic", done=True)
        self.taken_ports.append(port)
        return port

    def _note(self, counters: AllocationCounters, scope: str, *, done: bool) -> None:
        if not self.dry_run:
            counters.count(scope, done=done)

    def release_port(self, port: int) -> None:
        """Release a port after the write has succeeded."""
        self.released_ports.append(port)


async def hold(service: Object, claims: Claims, allocate: Callable[[], Transaction]) -> Release:
    """Allocate in this server's memory, then claim in the store. Select others if another server claims them first.

    Raises `StatusError`; nothing is allocated then.
    """
    spec = service["spec"]
    for _ in range(_TRIES_MAX):
        await claims.refresh(ports=spec.get("type") in ("NodePort", "LoadBalancer"))
        service["spec"] = await offloaded(copy_json, spec)
        txn = allocate()
        try:
            await txn.claim(claims)
        except TakenElsewhere:
            txn.settle(False)
            continue
        except BaseException:
            txn.settle(False)
            raise
        return partial(txn.finish, claims)
    raise status_errors.conflict(_RESOURCE, service["metadata"]["name"], "the addresses or ports were taken meanwhile")


async def hold_changes(service: Object, claims: Claims, allocate: Callable[[], Transaction]) -> Release:
    """Do the same as `hold`, for an update. If the update allocates nothing, as most do, it does not read the store."""
    spec = service["spec"]
    service["spec"] = await offloaded(copy_json, spec)
    with suppress(status_errors.StatusError):
        txn = allocate()
        if not txn.taken_ips and not txn.taken_ports:
            return partial(txn.finish, claims)
        txn.settle(False)
    service["spec"] = spec
    return await hold(service, claims, allocate)


async def give_back(service: Object, allocation: Allocation) -> None:
    """Release the addresses and ports of a deleted Service."""
    txn = Transaction(allocation.allocators, holder_of(service), dry_run=False)
    txn.released_ips.extend(held_ips(service))
    txn.released_ports.extend(held_ports(service))
    await txn.finish(allocation.claims, True)


def holder_of(service: Object) -> Holder:
    """Return the holder of a Service's claims."""
    metadata = service["metadata"]
    return Holder(metadata.get("namespace", ""), metadata.get("name", ""))
