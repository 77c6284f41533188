"""`ClusterObjects`: the Services, EndpointSlices and Namespaces of a cluster, in the form that the zone reads."""

import ipaddress
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, Protocol

import msgspec

from sampan.client.objects.partial_metadata import PartialObjectMetadata
from sampan.component_base.resources import ENDPOINT_SLICES, SERVICES
from sampan.informer.ref import Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.resource import ObjectMeta, ObjectType
from sampan.resource.view import view_decoder

SERVICE_NAME_LABEL: Final = "kubernetes.io/service-name"
_SERVICE: Final = "dns-service"
_ADDRESS: Final = "dns-address"
_DECODED_MAX: Final = 8192
"""Maximum number of decoded objects in the cache. Other objects are decoded for each query."""


class Port(msgspec.Struct, rename="camel", gc=False):
    """Port of a Service or an EndpointSlice."""

    port: int | None = None
    name: str | None = None
    protocol: str | None = None


class ServiceSpec(msgspec.Struct, rename="camel", gc=False):
    """Fields of a Service's spec that DNS records depend on."""

    type: str = ""
    cluster_ip: str = msgspec.field(name="clusterIP", default="")
    cluster_ips: list[str] | None = msgspec.field(name="clusterIPs", default=None)
    external_name: str = ""
    ports: list[Port] | None = None
    publish_not_ready_addresses: bool = False


class Service(msgspec.Struct, gc=False):
    """Fields of a Service that DNS records depend on."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: ServiceSpec = msgspec.field(default_factory=ServiceSpec)

    @property
    def is_headless(self) -> bool:
        """Return True if the Service has no cluster IP on purpose."""
        return self.spec.cluster_ip == "None"

    @property
    def addresses(self) -> list[str]:
        """Cluster IPs."""
        given = self.spec.cluster_ips or [self.spec.cluster_ip]
        return [address for address in given if address and address != "None"]


class Conditions(msgspec.Struct, gc=False):
    """Conditions of an endpoint."""

    ready: bool | None = None


class Endpoint(msgspec.Struct, gc=False):
    """Addresses of a Pod behind a Service, and its readiness."""

    addresses: list[str] | None = None
    hostname: str | None = None
    conditions: Conditions | None = None

    @property
    def is_ready(self) -> bool:
        """Return True if the endpoint is ready; without the condition, it counts as ready."""
        return self.conditions is None or self.conditions.ready is not False

    def names(self) -> Iterator[tuple[str, str]]:
        """Yield each address with the label that names it: the endpoint's hostname, or the address with dashes."""
        for address in self.addresses or ():
            yield address, (self.hostname or address.replace(".", "-").replace(":", "-")).lower()


class EndpointSlice(msgspec.Struct, rename="camel", gc=False, eq=False):
    """Fields of an EndpointSlice that DNS records depend on. Not equal to any other, so it is a key of caches."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    address_type: str = ""
    endpoints: list[Endpoint] | None = None
    """Endpoints; None for an empty list that a Go client has written as null."""
    ports: list[Port] | None = None

    @property
    def service(self) -> str:
        """Name of the Service."""
        return self.metadata.labels.get(SERVICE_NAME_LABEL, "")


def _read_only(obj: Any) -> bytes:
    raise ValueError("a view cannot be written")


SERVICE_VIEW: Final = ObjectType(SERVICES, view_decoder(Service), _read_only)
SLICE_VIEW: Final = ObjectType(ENDPOINT_SLICES, view_decoder(EndpointSlice), _read_only)


class ZoneObjects(Protocol):
    """Objects that a zone reads."""

    def has_namespace(self, name: str) -> bool:
        """Return True if the namespace exists."""
        ...

    def service(self, namespace: str, name: str) -> Service | None:
        """Return a Service, or None if it does not exist."""
        ...

    def slices(self, namespace: str, service: str) -> list[EndpointSlice]:
        """Return the EndpointSlices of a Service that have addresses of IPv4 or IPv6."""
        ...

    def services_at(self, address: str) -> list[Service]:
        """Return the Services with a cluster IP."""
        ...

    def slices_at(self, address: str) -> list[EndpointSlice]:
        """Return the EndpointSlices with an endpoint at an address."""
        ...


class ClusterObjects:
    """Reads the objects from informers, which have indexes for the queries of the zone."""

    def __init__(
        self,
        services: SharedInformer[Service],
        slices: SharedInformer[EndpointSlice],
        namespaces: SharedInformer[PartialObjectMetadata],
    ) -> None:
        self._services, self._slices, self._namespaces = services, slices, namespaces
        self._decoded_service = lru_cache(_DECODED_MAX)(_decode_service)
        self._decoded_slice = lru_cache(_DECODED_MAX)(_decode_slice)
        services.indexer.add_indexer(_ADDRESS, lambda ref: map(_canonical, _decode_service(ref).addresses))
        slices.indexer.add_indexer(_SERVICE, _service_key)
        slices.indexer.add_indexer(_ADDRESS, _endpoint_addresses)

    async def synced(self) -> None:
        """Wait until all caches are complete."""
        for informer in (self._services, self._slices, self._namespaces):
            await informer.synced()

    def has_namespace(self, name: str) -> bool:
        """Return True if the namespace exists."""
        return self._namespaces.indexer.get(name) is not None

    def service(self, namespace: str, name: str) -> Service | None:
        """Return a Service, or None if it does not exist."""
        ref = self._services.indexer.get(f"{namespace}/{name}")
        return None if ref is None else self._decoded_service(ref)

    def slices(self, namespace: str, service: str) -> list[EndpointSlice]:
        """Return the EndpointSlices of a Service that have addresses of IPv4 or IPv6."""
        found = map(self._decoded_slice, self._slices.indexer.by_index(_SERVICE, f"{namespace}/{service}"))
        return [slice for slice in found if slice.address_type in ("IPv4", "IPv6")]

    def services_at(self, address: str) -> list[Service]:
        """Return the Services with a cluster IP."""
        return list(map(self._decoded_service, self._services.indexer.by_index(_ADDRESS, address)))

    def slices_at(self, address: str) -> list[EndpointSlice]:
        """Return the EndpointSlices with an endpoint at an address."""
        return list(map(self._decoded_slice, self._slices.indexer.by_index(_ADDRESS, address)))


def _decode_service(ref: Ref[Service]) -> Service:
    return ref.decode()


def _decode_slice(ref: Ref[EndpointSlice]) -> EndpointSlice:
    return ref.decode()


def _service_key(ref: Ref[EndpointSlice]) -> Iterable[str]:
    service = ref.labels.get(SERVICE_NAME_LABEL)
    return (f"{ref.namespace}/{service}",) if service else ()


def _endpoint_addresses(ref: Ref[EndpointSlice]) -> Iterable[str]:
    slice = _decode_slice(ref)
    return {_canonical(address) for endpoint in slice.endpoints or () for address in endpoint.addresses or ()}


def _canonical(address: str) -> str:
    """Return the shortest form of an IPv6 address, so that different spellings are equal."""
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return address
