"""Encoders of A, AAAA, CNAME, PTR, SRV, TXT and SOA records."""

import ipaddress
import struct

from sampan.dns.message import ResourceRecord, Type
from sampan.dns.names import Name, encode_name


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
