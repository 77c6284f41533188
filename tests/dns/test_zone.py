"""Records of the cluster's domain: kubernetes/dns docs/specification.md (1.1.0)."""

import ipaddress
import struct

import pytest

from sampan.dns.message import Rcode, ResourceRecord, ResponseSections, Type
from sampan.dns.names import format_name, parse_name, read_name
from sampan.dns.zone import ClusterZone
from tests.dns.objects import service, slice_of, zone

WEB = service("web", "10.96.0.20")
DUAL = service("dual", "10.96.0.21", "fd00::21")
DB = service("db")
DB_SLICE = slice_of("db", ("10.244.2.9", "db-0", True), ("10.244.2.10", "", True), ("10.244.2.11", "db-2", False))
EAGER = service("eager", publishNotReadyAddresses=True)
EAGER_SLICE = slice_of("eager", ("10.244.3.1", "eager-0", False))
EXTERNAL = service("external", type="ExternalName", externalName="www.example.com", clusterIP="", clusterIPs=[])
SIX = slice_of("db", ("fd00:0::9", "", True), family="IPv6")


@pytest.fixture(scope="module")
def cluster() -> ClusterZone:
    return zone(WEB, DUAL, DB, DB_SLICE, SIX, EAGER, EAGER_SLICE, EXTERNAL, service("empty"))


def text(record: ResourceRecord) -> str:
    """Return the data of a record as a person would write it."""
    if record.type in (Type.A, Type.AAAA):
        return str(ipaddress.ip_address(record.data))
    if record.type == Type.SRV:
        _, weight, port = struct.unpack_from("!HHH", record.data)
        return f"{weight} {port} {format_name(read_name(record.data, 6)[0])}"
    if record.type == Type.TXT:
        return record.data[1:].decode()
    return format_name(read_name(record.data, 0)[0])


def texts(response: ResponseSections) -> list[str]:
    return sorted(text(record) for record in response.answers)


@pytest.mark.parametrize(
    ("name", "type", "expected"),
    [
        ("dns-version", Type.TXT, ["1.1.0"]),
        ("web.default.svc", Type.A, ["10.96.0.20"]),
        ("web.default.svc", Type.AAAA, []),
        ("dual.default.svc", Type.AAAA, ["fd00::21"]),
        ("_http._tcp.web.default.svc", Type.SRV, ["100 80 web.default.svc.cluster.local."]),
        ("_tcp.web.default.svc", Type.A, []),
        ("db.default.svc", Type.A, ["10.244.2.10", "10.244.2.9"]),
        ("db.default.svc", Type.AAAA, ["fd00::9"]),
        ("db-0.db.default.svc", Type.A, ["10.244.2.9"]),
        ("10-244-2-10.db.default.svc", Type.A, ["10.244.2.10"]),
        ("fd00-0--9.db.default.svc", Type.AAAA, ["fd00::9"]),
        ("eager-0.eager.default.svc", Type.A, ["10.244.3.1"]),
        ("external.default.svc", Type.A, ["www.example.com."]),
        ("10-244-1-9.default.pod", Type.A, ["10.244.1.9"]),
        ("fd00--1.default.pod", Type.AAAA, ["fd00::1"]),
        ("ns.dns", Type.A, ["10.96.0.10"]),
        ("default.svc", Type.A, []),
        ("svc", Type.A, []),
    ],
)
def test_a_name_of_the_specification_has_its_records(
    cluster: ClusterZone, name: str, type: Type, expected: list[str]
) -> None:
    response = cluster.respond(parse_name(f"{name}.cluster.local"), type)
    assert (response.rcode, texts(response)) == (Rcode.NOERROR, expected)
    assert response.authoritative


@pytest.mark.parametrize(
    "name",
    [
        "nope.default.svc",
        "web.other.svc",
        "other.svc",
        "empty.default.svc",
        "db-2.db.default.svc",
        "db-0.web.default.svc",
        "_ftp._tcp.web.default.svc",
        "_http._udp.web.default.svc",
        "http.tcp.web.default.svc",
        "__._udp.web.default.svc",
        "_._udp.web.default.svc",
        "a.b.c.web.default.svc",
        "x.default.pod",
        "10-244-1-9.other.pod",
        "elsewhere",
    ],
)
def test_an_unknown_name_of_the_domain_does_not_exist(cluster: ClusterZone, name: str) -> None:
    response = cluster.respond(parse_name(f"{name}.cluster.local"), Type.A)
    assert (response.rcode, [record.type for record in response.authority]) == (Rcode.NXDOMAIN, [Type.SOA])


def test_a_negative_response_limits_how_long_it_is_cached(cluster: ClusterZone) -> None:
    [soa] = cluster.respond(parse_name("nope.default.svc.cluster.local"), Type.A).authority
    assert (soa.ttl, struct.unpack_from("!I", soa.data, len(soa.data) - 4)) == (30, (30,))


def test_a_headless_service_has_one_srv_record_for_each_endpoint_with_its_address(cluster: ClusterZone) -> None:
    response = cluster.respond(parse_name("_http._tcp.db.default.svc.cluster.local"), Type.SRV)
    assert texts(response) == [
        "33 8080 10-244-2-10.db.default.svc.cluster.local.",
        "33 8080 db-0.db.default.svc.cluster.local.",
        "33 8080 fd00-0--9.db.default.svc.cluster.local.",
    ]
    assert sorted(map(text, response.additional)) == ["10.244.2.10", "10.244.2.9", "fd00::9"]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("10.96.0.20", ["web.default.svc.cluster.local."]),
        ("fd00::21", ["dual.default.svc.cluster.local."]),
        ("10.244.2.9", ["db-0.db.default.svc.cluster.local."]),
        ("fd00::9", ["fd00-0--9.db.default.svc.cluster.local."]),
    ],
)
def test_an_address_has_the_name_of_its_service_or_endpoint(
    cluster: ClusterZone, address: str, expected: list[str]
) -> None:
    response = cluster.reverse(ipaddress.ip_address(address))
    assert response is not None
    assert texts(response) == expected


@pytest.mark.parametrize("address", ["192.0.2.1", "10.244.2.11"])
def test_an_address_outside_the_cluster_or_not_ready_has_no_name(cluster: ClusterZone, address: str) -> None:
    assert cluster.reverse(ipaddress.ip_address(address)) is None


@pytest.mark.parametrize("port", [-5, 0, 65_536, 2**31 - 1])
def test_number_of_a_slice_that_is_no_port_has_no_record(port: int) -> None:
    """The API accepts any number."""
    wrong = slice_of("db", ("10.244.2.9", "db-0", True))
    assert wrong.ports is not None
    for each in wrong.ports:
        each.port = port
    response = zone(DB, wrong).respond(parse_name("_http._tcp.db.default.svc.cluster.local"), Type.SRV)
    assert list(response.answers) == []
