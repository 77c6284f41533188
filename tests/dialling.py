"""Addresses that must not be dialled, and a guard that fails a test before anything but loopback is."""

import ipaddress
import socket
from typing import Any, Final

import pytest

FORBIDDEN: Final = (
    "169.254.169.254",
    "169.254.0.1",
    "fe80::1",
    "fe80::1%lo",
    "febf::1",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "::169.254.169.254",
    "64:ff9b::169.254.169.254",
    "2002:a9fe:a9fe::1",
    "0.0.0.0",
    "::",
    "224.0.0.1",
    "ff02::1",
    "255.255.255.255",
)
SIMULATED: Final = ("250.0.0.2", "250.128.0.1", "::ffff:250.0.0.2", "64:ff9b::250.0.0.2", "2002:fa00:2::1")
"""Addresses of simulated Pods."""
SPELLINGS: Final = ("2852039166", "0xA9FEA9FE", "0251.0376.0251.0376", "169.254.43518", "0xa9.254.0251.254")
"""169.254.169.254, in forms that the C library resolves without a name server."""


@pytest.fixture
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections to other addresses fail the test; nothing is sent."""
    connect = socket.socket.connect

    def checked(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            assert ipaddress.ip_address(address[0]).is_loopback, f"{address} was dialled"
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", checked)
