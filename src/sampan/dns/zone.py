"""`ClusterZone`: the records of a cluster's domain and of its addresses.

Source: kubernetes/dns docs/specification.md (1.1.0); CoreDNS plugin/kubernetes where the specification is silent.
"""

import ipaddress
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from sampan.dns.endpoints import (
    SliceNames,
    addresses_at,
    addresses_of,
    has_port,
    names_of,
    random_addresses,
    targets_of,
    weight_of,
)
from sampan.dns.message import Rcode, ResourceRecord, ResponseSections, Type
from sampan.dns.names import Address, MalformedName, Name, encode_name, parse_name, reverse_name
from sampan.dns.objects import Port, Service, ZoneObjects

SCHEMA_VERSION: Final = "1.1.0"
_ADDRESSES: Final = (Type.A, Type.AAAA)
_SLICES_MAX: Final = 4096
"""Maximum number of slices whose names are kept. The names of other slices are prepared for each query."""


class ClusterZone:
    """Resolves names of the cluster's domain. All responses are computed from the current objects.

    Responses with the endpoints of a Service are lazy: a record is made when the response is encoded, if it fits.
    """

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
        self._names_of = lru_cache(_SLICES_MAX)(names_of)

    def contains(self, name: Name) -> bool:
        """Return True if the name is below the cluster's domain."""
        return name[-len(self.domain) :] == self.domain

    def respond(self, name: Name, type: int) -> ResponseSections:
        """Return the answer for a name of the domain. A CNAME record is not followed."""
        labels = name[: -len(self.domain)]
        match labels:
            case (service, namespace, "svc"):
                found = self._objects.service(namespace, service)
                if found is not None and found.spec.type == "ExternalName":
                    return self._alias(found, name)
                if found is not None and found.is_headless:
                    return self._headless(found, name, type)
            case (port, protocol, service, namespace, "svc") if port[0] == protocol[0] == "_":
                found = self._objects.service(namespace, service)
                if found is not None and found.is_headless:
                    return self._srv_of_endpoints(found, port[1:], protocol[1:], name, type)
        records = self._records(labels, name)
        if records is None:
            return self._negative(Rcode.NXDOMAIN)
        desired = tuple(record for record in records if type in (record.type, Type.ANY))
        if not desired:
            return self._negative(Rcode.NOERROR)
        additional = self._targets(labels, name) if type in (Type.SRV, Type.NS) else ()
        return ResponseSections(answers=desired, additional=additional, authoritative=True)

    def reverse(self, address: Address) -> ResponseSections | None:
        """Return the PTR records of an address, or None if it belongs to no Service of the cluster."""
        name, text = reverse_name(address), str(address)
        targets: list[Name] = [
            (service.metadata.name, service.metadata.namespace, "svc") for service in self._objects.services_at(text)
        ] or sorted(set(self._endpoint_names(address)))
        if not targets:
            return None
        records = (name_record(name, Type.PTR, self._ttl, (*target, *self.domain)) for target in targets)
        return ResponseSections(answers=records, authoritative=True)

    def _negative(self, rcode: Rcode) -> ResponseSections:
        """Return an answer without records. Its SOA record limits the time for which clients keep it."""
        authority = start_of_authority(self.domain, self._ttl, self._serial())
        return ResponseSections(rcode, authority=(authority,), authoritative=True)

    def _records(self, labels: Name, name: Name) -> list[ResourceRecord] | None:
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
                return self._at(name, self._servers())
            case (namespace, "svc" | "pod"):
                return [] if self._objects.has_namespace(namespace) else None
            case (address, namespace, "pod"):
                return self._pod(address, namespace, name)
            case (service, namespace, "svc"):
                found = self._objects.service(namespace, service)
                return None if found is None else self._at(name, found.addresses)
            case (first, service, namespace, "svc"):
                found = self._objects.service(namespace, service)
                return None if found is None else self._below_service(found, first, name)
            case (port, protocol, service, namespace, "svc") if port[0] == protocol[0] == "_":
                found = self._objects.service(namespace, service)
                return None if found is None else self._port(found, port[1:], protocol[1:], name)
        return None

    def _at(self, name: Name, addresses: Iterable[str]) -> list[ResourceRecord]:
        return [address_record(name, self._ttl, address) for address in addresses]

    def _headless(self, service: Service, name: Name, type: int) -> ResponseSections:
        """Return the addresses of the endpoints, in random order."""
        slices = self._slices(service)
        if not any(each.labels for each in slices):
            return self._negative(Rcode.NXDOMAIN)
        types = [each for each in _ADDRESSES if type in (each, Type.ANY)]
        if not any(each.addresses[desired] for each in slices for desired in types):
            return self._negative(Rcode.NOERROR)
        records = (
            ResourceRecord(name, each, self._ttl, data) for each in types for data in random_addresses(slices, each)
        )
        return ResponseSections(answers=records, authoritative=True)

    def _alias(self, service: Service, name: Name) -> ResponseSections:
        try:
            target = parse_name(service.spec.external_name)
        except MalformedName:
            return self._negative(Rcode.NXDOMAIN)
        record = name_record(name, Type.CNAME, self._ttl, target)
        return ResponseSections(answers=(record,), authoritative=True, alias=target)

    def _below_service(self, service: Service, label: str, name: Name) -> list[ResourceRecord] | None:
        """Return the addresses of the endpoints with a name, or an empty list for a label such as `_tcp`, which has
        names below it. None if the name does not exist.
        """
        if label[0] == "_":
            return [] if self._has_port(service, label[1:]) else None
        found = sorted(addresses_at(self._slices(service), label))
        return [ResourceRecord(name, type, self._ttl, data) for type, data in found] or None

    def _port(self, service: Service, port: str, protocol: str, name: Name) -> list[ResourceRecord] | None:
        """Return the SRV records of a port of a Service with an address."""
        found = [each for each in service.spec.ports or () if _matches(each, port, protocol)]
        numbers = [each.port for each in found if each.port]
        weight = weight_of(len(numbers))
        target = name[2:]
        return [service_record(name, self._ttl, weight=weight, port=each, target=target) for each in numbers] or None

    def _srv_of_endpoints(self, service: Service, port: str, protocol: str, name: Name, type: int) -> ResponseSections:
        """Return the SRV records of a port of a headless Service, with the addresses of their names."""
        slices = self._slices(service)
        targets = targets_of(slices, port, protocol)
        if not targets:
            return self._negative(Rcode.NXDOMAIN)
        if type not in (Type.SRV, Type.ANY):
            return self._negative(Rcode.NOERROR)
        written: list[str] = []

        def numbered() -> Iterator[ResourceRecord]:
            weight = targets.weight
            for label, number in targets.in_random_order():
                target = label, *name[2:]
                yield service_record(name, self._ttl, weight=weight, port=number, target=target)
                written.append(label)

        def addressed() -> Iterator[ResourceRecord]:
            for label, (found, data) in addresses_of(slices, written):
                yield ResourceRecord((label, *name[2:]), found, self._ttl, data)

        additional = addressed() if type == Type.SRV else ()
        return ResponseSections(answers=numbered(), additional=additional, authoritative=True)

    def _has_port(self, service: Service, protocol: str) -> bool:
        if service.is_headless:
            return has_port(self._slices(service), protocol)
        return any(_matches(each, None, protocol) for each in service.spec.ports or ())

    def _slices(self, service: Service) -> Sequence[SliceNames]:
        found = self._objects.slices(service.metadata.namespace, service.metadata.name)
        return [self._names_of(each, service.spec.publish_not_ready_addresses) for each in found]

    def _targets(self, labels: Name, name: Name) -> list[ResourceRecord]:
        """Return the addresses of the name in SRV and NS records that do not name endpoints."""
        target = ("ns", "dns", *self.domain) if not labels else name[2:]
        found = self._records(target[: -len(self.domain)], target) or ()
        return [record for record in found if record.type in _ADDRESSES]

    def _pod(self, label: str, namespace: str, name: Name) -> list[ResourceRecord] | None:
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
                found = self._names_of(slice, service.spec.publish_not_ready_addresses)
                for label in found.by_address.get(address.packed, ()):
                    yield label, slice.service, namespace, "svc"


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


def address_record(name: Name, ttl: int, address: str) -> ResourceRecord:
    """Return the A or AAAA record of an address. Raises `ValueError`."""
    parsed = ipaddress.ip_address(address)
    return ResourceRecord(name, Type.A if parsed.version == 4 else Type.AAAA, ttl, parsed.packed)


def name_record(name: Name, type: Type, ttl: int, target: Name) -> ResourceRecord:
    """Return a CNAME, NS or PTR record. Raises `MalformedName`."""
    return ResourceRecord(name, type, ttl, encode_name(target))


def service_record(name: Name, ttl: int, *, weight: int, port: int, target: Name) -> ResourceRecord:
    """Return an SRV record with priority 0."""
    return ResourceRecord(name, Type.SRV, ttl, struct.pack("!HHH", 0, weight, port) + encode_name(target))


def text_record(name: Name, ttl: int, text: str) -> ResourceRecord:
    """Return a TXT record of one short ASCII text."""
    encoded = text.encode("ascii")
    return ResourceRecord(name, Type.TXT, ttl, bytes([len(encoded)]) + encoded)


def start_of_authority(zone: Name, ttl: int, serial: int) -> ResourceRecord:
    """Return the SOA record of a zone. Clients keep negative answers for `ttl` seconds."""
    names = encode_name(("ns", "dns", *zone)) + encode_name(("hostmaster", *zone))
    return ResourceRecord(zone, Type.SOA, ttl, names + struct.pack("!5I", serial, 7200, 1800, 86400, ttl))
