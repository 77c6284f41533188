"""`Family`: the keywords of nftables for IPv4 and IPv6. Each family has its own table."""

import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Family:
    """IPv4 or IPv6, with its names in rules, sets and sockets."""

    version: int
    name: str
    """Family of tables, and keyword of the header: `ip` or `ip6`."""
    address_type: str
    """Type of addresses in sets."""
    loopback: str
    socket_family: socket.AddressFamily

    def same(self, addresses: Iterable[str]) -> tuple[str, ...]:
        """Return the addresses or networks of this family in canonical form. Invalid ones are omitted."""
        return tuple(found for address in addresses if (found := self._canonical(address)))

    def ranges(self, networks: Iterable[str]) -> tuple[str, ...]:
        """Return the networks of this family.

        Overlapping or adjacent networks are merged, because nftables rejects overlaps.
        """
        found = [ipaddress.ip_network(each) for each in self.same(networks)]
        if self.version == 4:
            merged: Iterable[object] = ipaddress.collapse_addresses(each for each in found if each.version == 4)
        else:
            merged = ipaddress.collapse_addresses(each for each in found if each.version == 6)
        return tuple(str(each) for each in merged)

    def endpoint(self, address: str, port: int) -> str:
        """Return an address and a port in the form that `dnat to` requires."""
        return f"{address}:{port}" if self.version == 4 else f"[{address}]:{port}"

    def _canonical(self, text: str) -> str:
        try:
            if "/" in text:
                network = ipaddress.ip_network(text, strict=False)
                return str(network) if network.version == self.version else ""
            # There are thousands of addresses, and these two functions are ten times faster than `ipaddress`.
            return socket.inet_ntop(self.socket_family, socket.inet_pton(self.socket_family, text))
        except (ValueError, OSError):
            return ""


IPV4: Final = Family(4, "ip", "ipv4_addr", "127.0.0.0/8", socket.AF_INET)
IPV6: Final = Family(6, "ip6", "ipv6_addr", "::1", socket.AF_INET6)
FAMILIES: Final = (IPV4, IPV6)
ADDRESS_TYPES: Final = {"IPv4": IPV4, "IPv6": IPV6}
"""Family for each address type of EndpointSlices."""
