"""`ClusterZone`: the records of a cluster's domain and of its addresses.

Source: kubernetes/dns docs/specification.md (1.1.0); CoreDNS plugin/kubernetes where the specification is silent.
"""

import ipaddress
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from sampan.dns.message import Rcode, Record, Response, Type
from sampan.dns.names import Address, MalformedName, Name, parse_name, read_name, reverse_name
from sampan.dns.objects import EndpointSlice, Port, Service, ZoneObjects
from sampan.dns.record_data import (
    address_record,
    name_record,
    service_record,
    start_of_authority,
    text_record,
)

SCHEMA_VERSION: Final = "1.1.0"
_ADDRESSES: Final = (Type.A, Type.AAAA)
_SRV_NUMBERS_BYTES: Final = 6
_WEIGHTS: Final = 100
"""Sum of the weights of all SRV records of a name."""


@dataclass(frozen=True, slots=True)
class Target:
    """Endpoint of a Service: the name and address of an SRV record, with its port."""

    label: str
    address: str
    port: int


class ClusterZone:
    """Answers questions for names of the cluster's domain. All answers are computed from the current objects."""

    def __init__(
        self,
        objects: ZoneObjects,
        domain: Name,
        *,
        ttl_s: int,
        servers: Callable[[], list[str]] = list,
        serial: Callable[[], int] = lambda: 1,
    ) -> None:
        """`servers` returns the addresses of the cluster's DNS servers, for the zone's NS record."""
        self._objects = objects
        self.domain = domain
        self._ttl = ttl_s
        self._servers = servers
        self._serial = serial

    def contains(self, name: Name) -> bool:
        """Return True if the name is below the cluster's domain."""
        return name[-len(self.domain) :] == self.domain

    def respond(self, name: Name, type: int) -> Response:
        """Return the answer for a name of the domain. A CNAME record is not followed."""
        found = self._records(name[: -len(self.domain)], name)
        if found is None:
            return self._negative(Rcode.NXDOMAIN)
        records = tuple(record for record in found if type in (record.type, Type.ANY) or record.type == Type.CNAME)
        if not records:
            return self._negative(Rcode.NOERROR)
        additional = tuple(self._additional(records)) if type in (Type.SRV, Type.NS) else ()
        return Response(answers=records, additional=additional, authoritative=True)

    def reverse(self, address: Address) -> Response | None:
        """Return the PTR records of an address, or None if it belongs to no Service of the cluster."""
        name, text = reverse_name(address), str(address)
        targets: list[Name] = [
            (service.metadata.name, service.metadata.namespace, "svc") for service in self._objects.services_at(text)
        ] or sorted(set(self._endpoint_names(address)))
        if not targets:
            return None
        records = (name_record(name, Type.PTR, self._ttl, (*target, *self.domain)) for target in targets)
        return Response(answers=tuple(records), authoritative=True)

    def _negative(self, rcode: Rcode) -> Response:
        """Return an answer without records. Its SOA record limits the time for which clients keep it."""
        authority = start_of_authority(self.domain, self._ttl, self._serial())
        return Response(rcode, authority=(authority,), authoritative=True)

    def _records(self, labels: Name, name: Name) -> list[Record] | None:
        """Return the records of a name; None if the name does not exist.

        `labels`: labels of the name without the domain.
        """
        match labels:
            case ():
                server = ("ns", "dns", *self.domain)
                soa = start_of_authority(self.domain, self._ttl, self._serial())
                return [soa, name_record(name, Type.NS, self._ttl, server)]
            case ("dns-version",):
                return [text_record(name, self._ttl, SCHEMA_VERSION)]
            case ("dns",) | ("svc",) | ("pod",):
                return []
            case ("ns", "dns"):
                return [address_record(name, self._ttl, address) for address in self._servers()]
            case (namespace, "svc" | "pod"):
                return [] if self._objects.has_namespace(namespace) else None
            case (address, namespace, "pod"):
                return self._pod(address, namespace, name)
            case (service, namespace, "svc"):
                found = self._objects.service(namespace, service)
                return None if found is None else self._service(found, name)
            case (first, service, namespace, "svc"):
                found = self._objects.service(namespace, service)
                return None if found is None else self._below_service(found, first, name)
            case (port, protocol, service, namespace, "svc") if port[0] == protocol[0] == "_":
                found = self._objects.service(namespace, service)
                return None if found is None else self._port(found, port[1:], protocol[1:], name)
        return None

    def _service(self, service: Service, name: Name) -> list[Record] | None:
        if service.spec.type == "ExternalName":
            return self._alias(service, name)
        if not service.is_headless:
            return [address_record(name, self._ttl, address) for address in service.addresses]
        found = {address for slice in self._slices(service) for address, _ in _ready(service, slice)}
        records = [address_record(name, self._ttl, address) for address in found]
        random.shuffle(records)
        return records or None

    def _alias(self, service: Service, name: Name) -> list[Record] | None:
        try:
            return [name_record(name, Type.CNAME, self._ttl, parse_name(service.spec.external_name))]
        except MalformedName:
            return None

    def _below_service(self, service: Service, label: str, name: Name) -> list[Record] | None:
        """Return the addresses of the endpoints with a name, or an empty list for a label such as `_tcp`, which has
        names below it. None if the name does not exist.
        """
        if label[0] == "_":
            return [] if self._has_port(service, None, label[1:]) else None
        found = {
            address for slice in self._slices(service) for address, named in _ready(service, slice) if named == label
        }
        return [address_record(name, self._ttl, address) for address in sorted(found)] or None

    def _port(self, service: Service, port: str, protocol: str, name: Name) -> list[Record] | None:
        """Return the SRV records of a port: one for the Service, or one for each endpoint if it is headless."""
        parent = name[2:]
        if not service.is_headless:
            found = [each for each in service.spec.ports or () if _matches(each, port, protocol)]
            numbers = [each.port for each in found if each.port]
            return [self._srv(name, number, parent, len(numbers)) for number in numbers] or None
        targets = {(each.label, each.port) for each in self._targets(service, port, protocol)}
        records = [self._srv(name, number, (label, *parent), len(targets)) for label, number in targets]
        random.shuffle(records)
        return records or None

    def _srv(self, name: Name, port: int, target: Name, count: int) -> Record:
        return service_record(name, self._ttl, weight=max(1, _WEIGHTS // count), port=port, target=target)

    def _has_port(self, service: Service, port: str | None, protocol: str) -> bool:
        if service.is_headless:
            return any(self._targets(service, port, protocol))
        return any(_matches(each, port, protocol) for each in service.spec.ports or ())

    def _targets(self, service: Service, port: str | None, protocol: str) -> Iterator[Target]:
        for slice in self._slices(service):
            numbers = [each.port for each in slice.ports or () if _matches(each, port, protocol) and each.port]
            for address, label in _ready(service, slice):
                yield from (Target(label, address, number) for number in numbers)

    def _slices(self, service: Service) -> list[EndpointSlice]:
        return self._objects.slices(service.metadata.namespace, service.metadata.name)

    def _additional(self, records: tuple[Record, ...]) -> Iterator[Record]:
        """Yield the addresses of the names in SRV and NS records."""
        names: dict[Name, None] = {}
        for record in records:
            if record.type in (Type.SRV, Type.NS):
                names[_target(record)] = None
        for name in names:
            found = self._records(name[: -len(self.domain)], name) or ()
            yield from (record for record in found if record.type in _ADDRESSES)

    def _pod(self, label: str, namespace: str, name: Name) -> list[Record] | None:
        """Return the address that a Pod's name contains. The Pod may not exist."""
        address = _dashed_address(label)
        if address is None or not self._objects.has_namespace(namespace):
            return None
        return [address_record(name, self._ttl, address)]

    def _endpoint_names(self, address: Address) -> Iterator[Name]:
        for slice in self._objects.slices_at(str(address)):
            namespace = slice.metadata.namespace
            service = self._objects.service(namespace, slice.service)
            if service is not None and service.is_headless:
                for found, label in _ready(service, slice):
                    if ipaddress.ip_address(found) == address:
                        yield label, slice.service, namespace, "svc"


def _ready(service: Service, slice: EndpointSlice) -> Iterator[tuple[str, str]]:
    """Yield address and label of the endpoints that are ready, or of all endpoints if the Service publishes addresses
    that are not ready.
    """
    for endpoint in slice.endpoints or ():
        if endpoint.is_ready or service.spec.publish_not_ready_addresses:
            yield from endpoint.names()


def _matches(port: Port, name: str | None, protocol: str) -> bool:
    """Return True if the port has a name and this protocol. If `name` is given, it must match too."""
    has_name = bool(port.name) if name is None else (port.name or "").lower() == name and bool(name)
    return has_name and (port.protocol or "TCP").lower() == protocol


def _dashed_address(label: str) -> str | None:
    """Return the address of a label such as `10-244-1-9` or `fd00--1`, or None."""
    for separator in (".", ":"):
        try:
            return str(ipaddress.ip_address(label.replace("-", separator)))
        except ValueError:
            continue
    return None


def _target(record: Record) -> Name:
    """Return the name in an SRV or NS record."""
    return read_name(record.data, _SRV_NUMBERS_BYTES if record.type == Type.SRV else 0)[0]
