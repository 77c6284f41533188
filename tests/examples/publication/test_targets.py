"""The targets of the example with real servers: BIND, HAProxy and a file. What other clients have made stays."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from publications.targets.dns import DnsZone
from publications.targets.haproxy import HaProxy
from publications.targets.hosts import HostsFile
from publications.targets.target import Entry, Lost, Target, Unavailable
from tests.examples.publication.servers import KEY, ServerProcess, haproxy, named
from tests.machines import require_package, require_program
from tests.ports import free_port

ONE, TWO, THREE = (frozenset({f"10.0.0.{number}"}) for number in (1, 2, 3))


@pytest.fixture(scope="module")
def bind() -> Iterator[ServerProcess]:
    """Run BIND for all tests of the module. Each has a separate name."""
    require_package("bind9", Path("/usr/sbin/named").exists)
    with named() as found:
        yield found


@pytest.fixture(scope="module")
def balancer() -> Iterator[ServerProcess]:
    """Run HAProxy for all tests of the module. Each has a separate owner."""
    require_program("haproxy")
    with haproxy() as found:
        yield found


@pytest.fixture
def zone(bind: ServerProcess) -> DnsZone:
    return DnsZone(f"127.0.0.1:{bind.port}/example.org", KEY)


@pytest.fixture
def backend(balancer: ServerProcess) -> HaProxy:
    return HaProxy(balancer.folder / "haproxy.sock")


async def publish(target: Target, name: str, owner: str, addresses: frozenset[str]) -> Entry:
    """Read, write, and return what clients find then."""
    await target.write(name, owner, await target.read(name, owner), addresses)
    return await target.read(name, owner)


async def test_a_zone_has_the_addresses_and_the_owner(zone: DnsZone) -> None:
    found = await publish(zone, "one.example.org", "me", ONE | {"fd00::1"})
    assert found == Entry("me", ONE | {"fd00::1"})


async def test_a_zone_gets_changed_records_alone(zone: DnsZone) -> None:
    await publish(zone, "change.example.org", "me", ONE | TWO)
    assert (await publish(zone, "change.example.org", "me", TWO | THREE)).addresses == TWO | THREE


async def test_a_zone_without_addresses_still_has_the_owner(zone: DnsZone) -> None:
    await publish(zone, "empty.example.org", "me", ONE)
    assert await publish(zone, "empty.example.org", "me", frozenset()) == Entry("me", frozenset())


async def test_a_zone_has_nothing_after_the_withdrawal(zone: DnsZone) -> None:
    found = await publish(zone, "gone.example.org", "me", ONE)
    await zone.write("gone.example.org", "me", found, None)
    assert (await zone.read("gone.example.org", "me")).is_free


async def test_a_name_of_another_client_is_not_free(zone: DnsZone) -> None:
    found = await zone.read("mail.example.org", "me")
    assert (found.owner, found.is_free) == ("", False)


async def test_the_server_refuses_a_name_that_another_client_took_after_the_read(zone: DnsZone) -> None:
    with pytest.raises(Lost):
        await zone.write("mail.example.org", "me", Entry("", frozenset(), is_free=True), ONE)
    assert (await zone.read("mail.example.org", "me")).addresses == {"192.0.2.25"}


async def test_the_server_refuses_a_change_of_what_another_owner_has(zone: DnsZone) -> None:
    found = await publish(zone, "other.example.org", "other", ONE)
    with pytest.raises(Lost):
        await zone.write("other.example.org", "me", found, None)
    assert await zone.read("other.example.org", "other") == found


async def test_an_update_without_the_key_is_refused(bind: ServerProcess) -> None:
    with pytest.raises(Unavailable, match="REFUSED"):
        await publish(DnsZone(f"127.0.0.1:{bind.port}/example.org"), "key.example.org", "me", ONE)


async def test_a_server_that_is_down_is_reported() -> None:
    with pytest.raises(Unavailable):
        await DnsZone(f"127.0.0.1:{free_port()}/example.org").read("one.example.org", "me")


async def test_a_backend_gets_servers_and_loses_them(backend: HaProxy) -> None:
    both = frozenset({"127.0.0.1:1001", "127.0.0.1:1002"})
    assert (await publish(backend, "shop", "first", both)).addresses == both
    after = frozenset({"127.0.0.1:1002", "127.0.0.1:1003"})
    found = await publish(backend, "shop", "first", after)
    assert found.addresses == after
    await backend.write("shop", "first", found, None)
    assert (await backend.read("shop", "first")).addresses == frozenset()


async def test_servers_of_other_owners_stay_in_a_backend(backend: HaProxy, balancer: ServerProcess) -> None:
    mine = await publish(backend, "shop", "mine", frozenset({"127.0.0.1:1001"}))
    await publish(backend, "shop", "theirs", frozenset({"127.0.0.1:1001"}))
    await backend.write("shop", "mine", mine, None)
    assert (await backend.read("shop", "theirs")).addresses == {"127.0.0.1:1001"}
    assert "spare" in command(balancer, "show servers state shop")


async def test_a_server_in_maintenance_is_drift(backend: HaProxy, balancer: ServerProcess) -> None:
    one = frozenset({"127.0.0.1:1001"})
    await publish(backend, "shop", "drift", one)
    command(balancer, "set server shop/drift_127.0.0.1_1001 state maint")
    assert (await backend.read("shop", "drift")).addresses != one
    assert (await publish(backend, "shop", "drift", one)).addresses == one


async def test_lines_of_other_owners_stay_in_a_hosts_file(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("127.0.0.1 localhost\n192.0.2.1 box # mine\n")
    hosts = HostsFile(path)
    found = await publish(hosts, "shop.example.org", "me", ONE | TWO)
    assert found == Entry("me", ONE | TWO)
    assert path.read_text().splitlines()[2] == "10.0.0.1 shop.example.org # publication me"
    await hosts.write("shop.example.org", "me", found, None)
    assert path.read_text() == "127.0.0.1 localhost\n192.0.2.1 box # mine\n"


async def test_a_name_in_a_line_of_another_is_not_free(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("192.0.2.1 shop.example.org\n")
    assert await HostsFile(tmp_path / "hosts").read("shop.example.org", "me") == Entry("", frozenset({"192.0.2.1"}))


def command(balancer: ServerProcess, line: str) -> str:
    """Send a command to HAProxy as an administrator does."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(str(balancer.folder / "haproxy.sock"))
        connection.sendall(f"{line}\n".encode())
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()
