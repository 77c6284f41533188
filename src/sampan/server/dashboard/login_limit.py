"""`LoginLimit`: bounds the failed logins of each client: guesses of credentials, and lines of logs.

Clients behind one address share its bound. A login that succeeds does not count.
"""

import ipaddress
from collections import OrderedDict
from typing import Final

from sampan.core.clock import unix_time
from sampan.core.errors import too_many_requests

FAILURES_MAX: Final = 20
"""Failed logins of an address in a row."""
INTERVAL_S: Final = 3.0
"""Time after which one more is allowed."""
ADDRESSES_MAX: Final = 10_000
"""Addresses that are remembered. For more of them, those that failed longest ago are forgotten."""
_IPV6_PREFIX: Final = 64


class LoginLimit:
    """Failed logins by address, as the time at which the last of them no longer counts."""

    def __init__(self) -> None:
        self._free_at: OrderedDict[str, float] = OrderedDict()

    def check(self, address: str) -> None:
        """Raise `StatusError` 429 if the address has failed too often."""
        wait = self._free_at.get(network_of(address), 0.0) - unix_time() - (FAILURES_MAX - 1) * INTERVAL_S
        if wait > 0:
            raise too_many_requests("too many failed logins from this address; try again later", int(wait) + 1)

    def failed(self, address: str) -> None:
        """Count a failed login."""
        key = network_of(address)
        self._free_at[key] = max(self._free_at.get(key, 0.0), unix_time()) + INTERVAL_S
        self._free_at.move_to_end(key)
        if len(self._free_at) > ADDRESSES_MAX:
            self._free_at.popitem(last=False)


def network_of(address: str) -> str:
    """Return the address; for IPv6 its network of 64 bits, because one client has all addresses of it."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or ipaddress.ip_network((int(found), _IPV6_PREFIX), strict=False))
