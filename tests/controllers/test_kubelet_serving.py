"""Approval of the serving certificates of nodes, from an attacker's side."""

import ipaddress
from typing import Any

import pytest
from cryptography import x509

from sampan.controllers.certificate_signing.serving import refusal


def dns(name: str) -> x509.GeneralName:
    return x509.DNSName(name)


def ip(address: str) -> x509.GeneralName:
    return x509.IPAddress(ipaddress.ip_address(address))


def node(name: str, *addresses: str) -> Any:
    found = [{"type": "InternalIP", "address": each} for each in addresses]
    return {"metadata": {"name": name}, "status": {"addresses": [*found, {"type": "Hostname", "address": name}]}}


NODES_OF_CLUSTER = [
    node("n", "192.0.2.7", "2001:db8::7", "192.0.2.9", "192.0.2.1", "127.0.0.1", "10.96.0.1", "0.0.0.0"),
    node("victim", "192.0.2.9"),
    node("kubernetes.default.svc"),
    node("api.example.com"),
    node("localhost"),
]
API_SERVER = ["192.0.2.1", "api.example.com"]
SERVICES = ["10.96.0.0/12", "fd00:96::/112"]


@pytest.mark.parametrize(
    ("name", "desired", "part"),
    [
        ("n", [dns("n"), ip("192.0.2.7"), ip("2001:db8::7")], ""),
        ("n", [dns("n")], ""),
        ("n", [dns("victim")], "is not the node's name n"),
        ("n", [dns("*")], "is not the node's name n"),
        ("n", [dns("n"), ip("192.0.2.8")], "the Node n does not have the address 192.0.2.8"),
        ("n", [ip("192.0.2.9")], "more than one Node has the address"),
        ("n", [ip("192.0.2.1")], "may be one of the API server"),
        ("n", [ip("127.0.0.1")], "may be one of the API server"),
        ("n", [ip("0.0.0.0")], "may be one of the API server"),
        ("n", [ip("10.96.0.1")], "is in the range of cluster IPs"),
        ("n", [x509.RFC822Name("a@b.c")], "only DNS names and addresses"),
        ("absent", [dns("absent"), ip("192.0.2.7")], "the Node absent does not have the address"),
        ("kubernetes.default.svc", [dns("kubernetes.default.svc")], "may be one of the API server"),
        ("api.example.com", [dns("api.example.com")], "may be one of the API server"),
        ("localhost", [dns("localhost")], "may be one of the API server"),
    ],
)
def test_a_node_gets_a_certificate_only_for_itself(name: str, desired: list[x509.GeneralName], part: str) -> None:
    found = refusal(name, desired, NODES_OF_CLUSTER, API_SERVER, SERVICES)
    assert part in found
    assert bool(part) is bool(found)
