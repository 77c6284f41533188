"""Addresses from objects: checked before they are dialled."""

import asyncio
import re
import socket
from pathlib import Path
from typing import Any

import pytest

import sampan
from sampan.core.addresses.dial import AddressNotAllowed, check_address, create_connection, open_connection, resolve
from tests.dialling import FORBIDDEN, SIMULATED, SPELLINGS, loopback_only

__all__ = ["loopback_only"]
pytestmark = pytest.mark.usefixtures("loopback_only")


def resolving(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Let each name resolve to these addresses."""

    async def getaddrinfo(host: str, port: Any, **_: Any) -> Any:
        return [(None, None, 0, "", (address, 0)) for address in addresses]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)


async def listening(host: str = "127.0.0.1") -> asyncio.Server:
    async def handle(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    return await asyncio.start_server(handle, host, 0)


@pytest.mark.parametrize("host", FORBIDDEN + SPELLINGS)
async def test_forbidden_address_is_rejected_in_every_spelling(host: str) -> None:
    with pytest.raises(AddressNotAllowed, match=r"^address not allowed$"):
        await open_connection(host, 80)
    with pytest.raises(AddressNotAllowed, match=r"^address not allowed$"):
        await create_connection(asyncio.Protocol, host, 80)


@pytest.mark.parametrize("host", SIMULATED)
async def test_address_of_a_simulated_pod_is_rejected_with_what_to_do(host: str) -> None:
    reason = r"^the pod at .* is simulated and has no network: .*--node-runtime process or cri$"
    with pytest.raises(AddressNotAllowed, match=reason):
        await open_connection(host, 80)
    with pytest.raises(AddressNotAllowed, match=reason):
        await create_connection(asyncio.Protocol, host, 80)
    with pytest.raises(AddressNotAllowed, match=reason):
        await resolve(host)


@pytest.mark.parametrize("address", FORBIDDEN)
async def test_name_that_resolves_to_a_forbidden_address_is_rejected(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, address)
    with pytest.raises(AddressNotAllowed):
        await open_connection("metadata.example.com", 80)


@pytest.mark.parametrize("addresses", [("127.0.0.1", "169.254.169.254"), ("fe80::1", "127.0.0.1")])
async def test_name_with_one_forbidden_address_is_rejected(
    addresses: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, *addresses)
    with pytest.raises(AddressNotAllowed):
        await open_connection("half.example.com", 80)


async def test_the_checked_address_is_dialled_even_if_dns_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    async with await listening() as server:
        port = server.sockets[0].getsockname()[1]
        responses = [("127.0.0.1", 0), ("169.254.169.254", 0)]

        async def getaddrinfo(host: str, port: Any, **_: Any) -> Any:
            return [(None, None, 0, "", responses.pop(0))]

        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
        _, writer = await open_connection("changes.example.com", port)
        assert writer.get_extra_info("peername")[0] == "127.0.0.1"
        writer.transport.abort()


async def test_next_address_is_tried_if_the_first_refuses_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    async with await listening() as server:
        port = server.sockets[0].getsockname()[1]
        resolving(monkeypatch, "127.99.99.99", "127.0.0.1")
        _, writer = await open_connection("two.example.com", port)
        assert writer.get_extra_info("peername")[0] == "127.0.0.1"
        writer.transport.abort()


async def test_a_name_without_addresses_cannot_be_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch)
    with pytest.raises(socket.gaierror):
        await open_connection("none.example.com", 80)


async def test_invalid_name_cannot_be_resolved() -> None:
    with pytest.raises(socket.gaierror):
        await resolve("a" * 64 + ".example.com")


@pytest.mark.parametrize("address", ["10.0.0.1", "192.0.2.1", "2001:db8::1", "fd00::1", "127.0.0.1", "::1"])
def test_other_addresses_are_allowed(address: str) -> None:
    assert check_address(address) == address


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1", "2002:7f00:1::"])
def test_loopback_is_rejected_where_it_is_not_allowed(address: str) -> None:
    with pytest.raises(AddressNotAllowed):
        check_address(address, allow_loopback=False)


DIALS = re.compile(r'\.open_connection\((?!sock=)|\.create_connection\((?!\("(127\.0\.0\.1|::1)")|sock_connect\(')
"""Calls that connect to an address, except a constant one of loopback. One with `sock` takes an open connection."""


@pytest.mark.parametrize("layer", ["registry", "server", "node"])
def test_no_other_module_dials_addresses_from_objects(layer: str) -> None:
    sources = Path(sampan.__file__).parent
    found = {
        str(file.relative_to(sources)) for file in (sources / layer).rglob("*.py") if DIALS.search(file.read_text())
    }
    assert found == set()


@pytest.mark.parametrize("any_address", [False, True])
@pytest.mark.parametrize("port", [-1, 65_536, 2**31 - 1])
async def test_number_that_is_no_port_is_an_error_of_the_connection(port: int, any_address: bool) -> None:
    with pytest.raises(OSError, match=f"^dial tcp: address {port}: invalid port$"):
        await create_connection(asyncio.Protocol, "127.0.0.1", port, any_address=any_address)
    with pytest.raises(OSError, match=f"^dial tcp: address {port}: invalid port$"):
        await open_connection("127.0.0.1", port, any_address=any_address)
