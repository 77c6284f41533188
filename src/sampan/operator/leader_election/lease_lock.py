"""`LeaseLock`: the Lease object into which candidates write their names.

Source: client-go tools/leaderelection/resourcelock/leaselock.go (1.36).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from sampan.client.client import Client
from sampan.client.errors import NotFound
from sampan.core.gvk import GroupVersionResource
from sampan.core.time import Clock, format_micro_time
from sampan.operator.rights import Right, rights_on
from sampan.resource import Object, ResourceInfo

LEASES: Final = ResourceInfo(GroupVersionResource("coordination.k8s.io", "v1", "leases"), "Lease", namespaced=True)


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """Content of a Lease. Times are text, because they are never compared with a clock."""

    holder: str
    duration_s: int
    acquire_time: str = ""
    renew_time: str = ""
    transitions: int = 0


@dataclass(frozen=True, slots=True)
class LeaseNote:
    """Labels and annotations that a holder adds to its Lease."""

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


class ResourceLock(Protocol):
    """Lock that candidates share. All methods raise `ClientError`."""

    async def get(self) -> LeaseRecord | None:
        """Return the content of the lease; None if the lease does not exist."""
        ...

    async def create(self, record: LeaseRecord) -> None:
        """Create the lease. Raises `AlreadyExists`."""
        ...

    async def update(self, record: LeaseRecord) -> None:
        """Write the lease. Raises `Conflict` if it has changed since this object last read or wrote it."""
        ...

    def time(self) -> str:
        """Return the current time in the format of records."""
        ...


class LeaseLock:
    """Lease with a name in a namespace. Labels and annotations of other writers are kept."""

    def __init__(self, client: Client, namespace: str, name: str, clock: Clock) -> None:
        self.note: Callable[[], LeaseNote] = LeaseNote
        """Returns the labels and annotations of a Lease that this candidate writes."""
        self._leases = client.resource(LEASES, namespace=namespace)
        self._name = name
        self._clock = clock
        self._lease: Object | None = None

    def __str__(self) -> str:
        return f"{self._leases.namespace}/{self._name}"

    def rights(self) -> list[Right]:
        """Return the rights that a candidate needs. No role can limit `create` to a name."""
        places = (self._leases.namespace,)
        return [*rights_on(LEASES, ("create",), places), *rights_on(LEASES, ("get", "update"), places, name=self._name)]

    def time(self) -> str:
        """Return the current time as a MicroTime."""
        return format_micro_time(self._clock.now())

    async def get(self) -> LeaseRecord | None:
        """Read the Lease."""
        try:
            self._lease = await self._leases.get(self._name)
        except NotFound:
            return None
        return _record_of(self._lease.get("spec") or {})

    async def create(self, record: LeaseRecord) -> None:
        """Create the Lease with a record of its first holder. Raises `AlreadyExists` if another process was faster."""
        lease = {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": self._noted({"name": self._name, "namespace": self._leases.namespace}),
            "spec": _spec_of(record, {}),
        }
        self._lease = await self._leases.create(lease)

    async def update(self, record: LeaseRecord) -> None:
        """Write the Lease. The resourceVersion of the last read or write guards it."""
        assert self._lease is not None, "a lease is read before it is written"
        spec = _spec_of(record, self._lease.get("spec") or {})
        self._lease = await self._leases.update(
            {**self._lease, "metadata": self._noted(self._lease["metadata"]), "spec": spec}
        )

    def _noted(self, metadata: dict[str, Any]) -> dict[str, Any]:
        """Return metadata with the note. An empty note changes nothing."""
        note, changed = self.note(), dict(metadata)
        for name, values in (("labels", note.labels), ("annotations", note.annotations)):
            if values:
                changed[name] = {**(metadata.get(name) or {}), **values}
        return changed


def _record_of(spec: dict[str, Any]) -> LeaseRecord:
    return LeaseRecord(
        spec.get("holderIdentity") or "",
        spec.get("leaseDurationSeconds") or 0,
        spec.get("acquireTime") or "",
        spec.get("renewTime") or "",
        spec.get("leaseTransitions") or 0,
    )


def _spec_of(record: LeaseRecord, others: dict[str, Any]) -> dict[str, Any]:
    return {
        **others,
        "holderIdentity": record.holder,
        "leaseDurationSeconds": record.duration_s,
        "acquireTime": record.acquire_time or None,
        "renewTime": record.renew_time or None,
        "leaseTransitions": record.transitions,
    }
