"""`UdpFlows`: lists and deletes tracked UDP flows over netlink.

A UDP client may send from the same port without a time limit, and each packet renews the flow. Without a clean-up, its
packets would be sent to an endpoint that no longer exists. A TCP connection ends by itself.
Source: include/uapi/linux/netfilter/nfnetlink_conntrack.h; pkg/proxy/conntrack/cleanup.go (1.36).
"""

import ipaddress
import socket
import struct
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Final, NamedTuple

from sampan.service_proxy.family import Family

_NETLINK_NETFILTER: Final = 12
_GET: Final = 0x101
"""Type of the message that lists entries, in the connection tracking subsystem (1)."""
_DELETE: Final = 0x102
_REQUEST: Final = 0x1
_ACK: Final = 0x4
_DUMP: Final = 0x300
_ERROR: Final = 2
_DONE: Final = 3
_ORIGINAL: Final = 1
_REPLY: Final = 2
_IP: Final = 1
_PROTOCOL: Final = 2
_TYPE_MASK: Final = 0x3FFF
"""Mask that removes the flags for nested attributes and byte order from an attribute's type."""
_UDP: Final = socket.IPPROTO_UDP
_BUFFER_BYTES: Final = 1 << 16
_RECEIVE_BUFFER_BYTES: Final = 1 << 22
_TIMEOUT_S: Final = 5.0


class Socket(NamedTuple):
    """One end of a flow, as the kernel reports it."""

    address: str
    port: int


@dataclass(frozen=True, slots=True)
class TrackedFlow:
    """A tracked UDP flow."""

    destination: Socket
    """Address to which the client sends."""
    endpoint: Socket
    """Address that receives the packets, which is the source of the replies."""
    original: bytes
    """The attribute that identifies the flow, as the kernel sent it."""


@dataclass(frozen=True, slots=True)
class UdpTargets:
    """Endpoints of UDP ports. Flows to other destinations do not belong to a Service."""

    by_destination: Mapping[Socket, Set[Socket]]
    by_node_port: Mapping[int, Set[Socket]]

    def is_stale(self, flow: TrackedFlow) -> bool:
        """Return True if the flow's destination is no longer an endpoint of the Service port."""
        endpoints = self.by_destination.get(flow.destination)
        if endpoints is None:
            endpoints = self.by_node_port.get(flow.destination.port)
        # Without any endpoint the flow stays: new packets are rejected by the rules, and a new endpoint may appear
        # soon.
        return bool(endpoints) and flow.endpoint not in (endpoints or ())


def delete_flows(family: Family, is_stale: Callable[[TrackedFlow], bool]) -> int:
    """Delete the stale UDP flows and return their number. Raises `OSError`."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_NETFILTER) as netlink:
        netlink.settimeout(_TIMEOUT_S)
        # A node may have 100,000 flows. The kernel drops what does not fit, and the list would be incomplete.
        netlink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES)
        netlink.bind((0, 0))
        # A list first: requests on the same socket would mix their replies with the rest of the dump.
        stale = [flow for flow in _flows(netlink, family) if is_stale(flow)]
        for flow in stale:
            netlink.send(_message(_DELETE, _REQUEST | _ACK, family, flow.original))
            for _ in _messages(netlink):
                pass
    return len(stale)


def _flows(netlink: socket.socket, family: Family) -> Iterator[TrackedFlow]:
    netlink.send(_message(_GET, _REQUEST | _DUMP, family, b""))
    for body in _messages(netlink):
        attributes = dict(_attributes(body[4:]))
        if _ORIGINAL not in attributes or _REPLY not in attributes:
            continue
        original, reply = _ends(attributes[_ORIGINAL]), _ends(attributes[_REPLY])
        if original is not None and reply is not None:
            # 0x8000 marks a nested attribute, which the kernel requires in a request but need not send.
            yield TrackedFlow(original[1], reply[0], _attribute(_ORIGINAL | 0x8000, attributes[_ORIGINAL]))


def _message(kind: int, flags: int, family: Family, attributes: bytes) -> bytes:
    body = struct.pack("=BBH", family.socket_family, 0, 0) + attributes
    return struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body


def _messages(netlink: socket.socket) -> Iterator[bytes]:
    """Return the bodies of a response until its end. Raises `OSError`, except for an entry that was already deleted."""
    while True:
        data = netlink.recv(_BUFFER_BYTES)
        while len(data) >= 16:
            length, kind = struct.unpack_from("=IH", data)
            if kind == _DONE:
                return
            if kind == _ERROR:
                code = -struct.unpack_from("=i", data, 16)[0]
                # 0 is the acknowledgement. 2 (ENOENT): the flow has ended by itself in the meantime.
                if code not in (0, 2):
                    raise OSError(code, "the kernel refused a request for connection tracking")
                return
            yield data[16:length]
            data = data[_aligned(length) :]


def _ends(tuple_: bytes) -> tuple[Socket, Socket] | None:
    """Return source and destination of a UDP tuple; None for other protocols."""
    parts = dict(_attributes(tuple_))
    addresses, protocol = dict(_attributes(parts[_IP])), dict(_attributes(parts[_PROTOCOL]))
    if protocol[1][0] != _UDP:
        return None
    source = addresses.get(1) or addresses[3]
    destination = addresses.get(2) or addresses[4]
    ports = [struct.unpack(">H", protocol[number][:2])[0] for number in (2, 3)]
    return Socket(_address(source), ports[0]), Socket(_address(destination), ports[1])


def _address(packed: bytes) -> str:
    return str(ipaddress.ip_address(packed))


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            return
        yield kind & _TYPE_MASK, data[4:length]
        data = data[_aligned(length) :]


def _attribute(kind: int, value: bytes) -> bytes:
    padding = b"\0" * (_aligned(len(value)) - len(value))
    return struct.pack("=HH", 4 + len(value), kind) + value + padding


def _aligned(length: int) -> int:
    # Netlink aligns messages and attributes to four bytes.
    return (length + 3) & ~3
