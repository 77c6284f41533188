"""`Transaction`: what one write of a Service takes and gives back, in this server's memory and for all servers.

What it takes is taken before the Service is written, and given back when that fails; what the old Service no longer
needs is given back when the write has succeeded.
Source: pkg/registry/core/service/storage/{storage,transaction}.go (1.36).
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NoReturn

from sampan.core import errors as status_errors
from sampan.core.field import FieldError, Path, invalid
from sampan.core.gvk import GroupKind, GroupResource
from sampan.core.object import Object
from sampan.core.offload import offloaded
from sampan.patch.copying import copy_json
from sampan.registry.allocation.allocators import (
    Allocators,
    Claims,
    Holder,
    TakenElsewhere,
    held_ips,
    held_ports,
)
from sampan.registry.allocation.ip_allocator import AllocationError, Given, RangeFull
from sampan.registry.strategy import Release

_KIND = GroupKind("", "Service")
_RESOURCE = GroupResource("", "services")
_IPS = Path("spec", "clusterIPs")
_TRIES_MAX = 20
"""A Service whose choices are claimed by others so often in a row is told to come again."""


@dataclass(slots=True)
class Transaction:
    """What one write has taken, and what it will give back."""

    allocators: Allocators
    holder: Holder
    dry_run: bool
    taken_ips: list[str] = field(default_factory=list)
    taken_ports: list[int] = field(default_factory=list)
    released_ips: list[str] = field(default_factory=list)
    released_ports: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The Service's name."""
        return self.holder.name

    async def claim(self) -> None:
        """Have it hold for all servers. Raises `TakenElsewhere`."""
        if not self.dry_run and (self.taken_ips or self.taken_ports):
            await self.allocators.claims.make(self.holder, self.taken_ips, self.taken_ports)

    async def finish(self, success: bool) -> None:
        """Make it final, or undo it, for all servers."""
        self.settle(success)
        ips = self.released_ips if success else self.taken_ips
        ports = self.released_ports if success else self.taken_ports
        if not self.dry_run and (ips or ports):
            await self.allocators.claims.drop(self.holder, ips, ports)

    def settle(self, success: bool) -> None:
        """Make it final, or undo it, in this server's memory."""
        ips = self.released_ips if success else self.taken_ips
        ports = self.released_ports if success else self.taken_ports
        if self.dry_run:
            # A dry run keeps nothing; what it took to find out is given back at once.
            ips, ports = self.taken_ips, self.taken_ports
        for ip in ips:
            self.allocators.release_ip(ip)
        for port in ports:
            self.allocators.ports.release(port)

    def fail(self, fault: FieldError) -> NoReturn:
        """Give up: 422."""
        raise status_errors.invalid(_KIND, self.name, [fault])

    def take_ip(self, family: str, ip: str, shown: list[str]) -> str:
        """An address of a family: the given one, or any if it is empty."""
        allocator = self.allocators.ips[family]
        scope = "static" if ip else "dynamic"
        try:
            if ip:
                allocator.allocate(ip)
            else:
                ip = allocator.allocate_next()
        except RangeFull as error:
            self._note(allocator.given, "dynamic", done=False)
            text = f'failed to allocate a serviceIP for Service "{self.name}": {error}'
            raise status_errors.internal_error(text) from error
        except AllocationError as error:
            self._note(allocator.given, "static", done=False)
            self.fail(invalid(_IPS, shown, f"failed to allocate IP {ip}: {error}"))
        self._note(allocator.given, scope, done=True)
        self.taken_ips.append(ip)
        return ip

    def take_port(self, port: int, at: Path) -> None:
        """One port that was asked for."""
        try:
            self.take_this_port(port)
        except AllocationError as error:
            self.fail(invalid(at, port, str(error)))

    def take_this_port(self, port: int) -> None:
        """The same. Raises `AllocationError`."""
        ports = self.allocators.ports
        try:
            ports.allocate(port)
        except AllocationError:
            self._note(ports.given, "static", done=False)
            raise
        self._note(ports.given, "static", done=True)
        self.taken_ports.append(port)

    def take_any_port(self, what: str = "a nodePort") -> int:
        """Any free port."""
        try:
            port = self.allocators.ports.allocate_next()
        except RangeFull as error:
            self._note(self.allocators.ports.given, "dynamic", done=False)
            raise status_errors.internal_error(f"failed to allocate {what}: {error}") from error
        self._note(self.allocators.ports.given, "dynamic", done=True)
        self.taken_ports.append(port)
        return port

    def _note(self, given: Given, scope: str, *, done: bool) -> None:
        if not self.dry_run:
            given.took(scope, done=done)

    def release_port(self, port: int) -> None:
        """Give a port back once the write has succeeded."""
        self.released_ports.append(port)


async def hold(service: Object, claims: Claims, allocate: Callable[[], Transaction]) -> Release:
    """Allocate, for all servers: choose by what this one knows, claim it, choose anew when others were faster.

    Raises `StatusError`, having taken nothing.
    """
    spec = service["spec"]
    for _ in range(_TRIES_MAX):
        await claims.refresh(ports=spec.get("type") in ("NodePort", "LoadBalancer"))
        service["spec"] = await offloaded(copy_json, spec)
        txn = allocate()
        try:
            await txn.claim()
        except TakenElsewhere:
            txn.settle(False)
            continue
        except BaseException:
            txn.settle(False)
            raise
        return txn.finish
    raise status_errors.conflict(_RESOURCE, service["metadata"]["name"], "the addresses or ports were taken meanwhile")


async def hold_changes(service: Object, claims: Claims, allocate: Callable[[], Transaction]) -> Release:
    """The same for an update, of which most take nothing: what is claimed is then not asked for."""
    spec = service["spec"]
    service["spec"] = await offloaded(copy_json, spec)
    with suppress(status_errors.StatusError):
        txn = allocate()
        if not txn.taken_ips and not txn.taken_ports:
            return txn.finish
        txn.settle(False)
    service["spec"] = spec
    return await hold(service, claims, allocate)


async def give_back(service: Object, allocators: Allocators) -> None:
    """Free what a Service had that is gone."""
    txn = Transaction(allocators, holder_of(service), dry_run=False)
    txn.released_ips.extend(held_ips(service))
    txn.released_ports.extend(held_ports(service))
    await txn.finish(True)


def holder_of(service: Object) -> Holder:
    """Who claims what a Service gets."""
    metadata = service["metadata"]
    return Holder(metadata.get("namespace", ""), metadata.get("name", ""))
