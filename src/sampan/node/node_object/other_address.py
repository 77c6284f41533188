"""`second_address`: the node's address of the other IP family, from the interface that has the first one."""

import ipaddress
import json
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, Final

_UNFIT: Final = ("deprecated", "temporary", "tentative", "dadfailed")


def second_address(first: str) -> str:
    """Return a global address of the other family on the same interface; empty if there is none."""
    command = ["ip", "-j", "address", "show"]
    try:
        listed = subprocess.run(command, capture_output=True, timeout=10, check=True).stdout
        return address_next_to(first, json.loads(listed or b"[]"))
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""


def address_next_to(first: str, interfaces: Sequence[Mapping[str, Any]]) -> str:
    """Return the address from the output of `ip -j address`.

    A loopback address has no such address: the result is empty. Raises `ValueError`.
    """
    if ipaddress.ip_address(first).is_loopback:
        return ""
    desired = "inet" if ":" in first else "inet6"
    for interface in interfaces:
        addresses = interface.get("addr_info") or ()
        if not any(each.get("local") == first for each in addresses):
            continue
        for each in addresses:
            fits = each.get("scope") == "global" and not any(each.get(name) for name in _UNFIT)
            if each.get("family") == desired and fits:
                return str(each["local"])
    return ""
