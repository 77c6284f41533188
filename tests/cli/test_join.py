"""`sampan token` and `sampan join`, and the rights of a token and of a joined node from an attacker's side."""

import datetime as dt
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from cryptography import x509

from sampan.app.errors import StartError
from sampan.app.nodes.join import node_name, server_url
from sampan.cli.tokens.command import token_command
from sampan.client import ApiError, Client, Config, Forbidden, ListOptions, MergePatch, WriteOptions, load_config
from sampan.component_base.pod_networks import CONFIG_MAP, NAMESPACE
from sampan.component_base.resources import (
    CERTIFICATE_SIGNING_REQUESTS,
    CONFIG_MAPS,
    LEASES,
    NAMESPACES,
    NETWORK_POLICIES,
    NODES,
    PODS,
    SECRETS,
)
from sampan.core.clock import utc_now
from sampan.core.tls.certificates import KeyPair, make_authority, make_client_certificate, make_server_certificate
from sampan.core.tokens.bootstrap import parse_token
from sampan.http.client.tls import TlsOptions
from sampan.node.joining.certificate import request_certificate, request_serving_certificate
from sampan.node.joining.credentials import NodeCredentials
from sampan.node.joining.discovery import Trust, discover
from sampan.node.joining.errors import JoinError
from sampan.node.joining.rotation import CertificateRotation, renewal_time
from sampan.node.joining.serving import ServingCertificate
from sampan.resource import ResourceInfo
from tests.cli.server import Server, running
from tests.controllers.clock import SetClock

CONTROLLERS = (
    "bootstrap-signer-controller",
    "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-signing-controller",
    "kubelet-serving-approving-controller",
)
WAIT_S = 30.0
ROOT = "joined"
POLICY: Any = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "mine"}}


@dataclass(frozen=True, slots=True)
class Joinable:
    """A server, and the join command of a token."""

    server: Server
    url: str
    token: str
    ca_hash: str

    @property
    def ca_pem(self) -> bytes:
        return (self.server.data / "pki" / "ca.crt").read_bytes()

    def with_token(self) -> Client:
        """Return a client with the token's rights."""
        return Client.from_config(Config(self.url, tls=TlsOptions(ca_data=self.ca_pem), token=self.token))

    def admin(self) -> Client:
        return Client.from_config(load_config(self.server.data / "kubeconfig"))


def token(server: Server, *arguments: str, code: int = 0) -> str:
    """Run `sampan token`, and return its output."""
    command = [*arguments, f"--kubeconfig={server.data / 'kubeconfig'}"]
    result = CliRunner().invoke(token_command, command, standalone_mode=False)
    assert (result.return_value or 0) == code, result.output
    return result.output


@pytest.fixture(scope="module")
def joinable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Joinable]:
    data = tmp_path_factory.mktemp("join") / "data"
    with running(data, f"--controllers={','.join(CONTROLLERS)}", "--no-scheduler", "--nodes=0", loops=True) as server:
        words = token(server, "create", "--print-join-command").split()
        yield Joinable(server, words[2], words[4], words[6])


@contextmanager
def joining(cluster: Joinable, root: Path, *options: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run `sampan join` in the background. Its log is `<root>.log`."""
    with root.with_suffix(".log").open("ab") as log:
        command = [sys.executable, "-m", "sampan.cli", "join", cluster.url, f"--root={root}", "--node-name=worker"]
        process = subprocess.Popen([*command, *options], stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def node_is_ready(server: Server, name: str) -> bool:
    node = server.status(f"/api/v1/nodes/{name}", server.token)
    if node["kind"] != "Node":
        return False
    conditions: list[dict[str, Any]] = (node.get("status") or {}).get("conditions") or []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def until_ready(cluster: Joinable, name: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not node_is_ready(cluster.server, name):
        assert time.monotonic() < deadline, "waited for too long"
        time.sleep(0.05)


async def test_a_machine_joins_with_a_token_and_starts_again_without_it(joinable: Joinable, tmp_path: Path) -> None:
    root = tmp_path / ROOT
    with joining(joinable, root, "--token", joinable.token, "--ca-cert-hash", joinable.ca_hash):
        until_ready(joinable, "worker")
    assert (root / "pki" / "node-client.pem").stat().st_mode & 0o777 == 0o600
    async with joinable.admin() as admin:
        await admin.resource(NODES).delete("worker")
    with joining(joinable, root):
        until_ready(joinable, "worker")


@pytest.mark.parametrize(
    ("given", "ca_hash", "message"),
    [
        ("", "sha256:" + "0" * 64, "--ca-cert-hash does not match: the cluster's CA has sha256:"),
        ("zzzzzz.0123456789abcdef", "", "the cluster has no token zzzzzz: it is unknown or has expired"),
        ("{id}.0123456789abcdef", "", "the secret part of token .* is wrong"),
    ],
    ids=["wrong hash", "unknown token", "wrong secret"],
)
async def test_a_machine_does_not_trust_an_unverified_server(
    joinable: Joinable, given: str, ca_hash: str, message: str
) -> None:
    found = parse_token(given.format(id=joinable.token[:6]) or joinable.token)
    with pytest.raises(JoinError, match=message):
        await discover(joinable.url, Trust(found, (ca_hash or joinable.ca_hash,)))


async def test_an_unreachable_server_is_reported(joinable: Joinable) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"https://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(JoinError, match=f"cannot reach {url}: .*refused"):
        await discover(url, Trust(parse_token(joinable.token)))


TOKEN_MAY_NOT: list[tuple[str, ResourceInfo, str]] = [
    ("list", SECRETS, "kube-system"),
    ("list", NODES, ""),
    ("list", PODS, "default"),
    ("delete", NODES, ""),
    ("delete", CERTIFICATE_SIGNING_REQUESTS, ""),
]


@pytest.mark.parametrize(("verb", "kind", "namespace"), TOKEN_MAY_NOT)
async def test_a_token_allows_only_requests_for_certificates(
    joinable: Joinable, verb: str, kind: ResourceInfo, namespace: str
) -> None:
    async with joinable.with_token() as client:
        resource = client.resource(kind, namespace=namespace)
        with pytest.raises(ApiError) as refused:
            await (resource.list() if verb == "list" else resource.delete("x"))
        assert refused.value.code == 403


@pytest.fixture
async def node(joinable: Joinable) -> Any:
    """Client of a node that has joined."""
    async with joinable.with_token() as client:
        pair = await request_certificate(client, "mallory", timeout_s=WAIT_S)
    tls = TlsOptions(ca_data=joinable.ca_pem, certificate_data=pair.certificate_pem(), key_data=pair.key_pem())
    async with Client.from_config(Config(joinable.url, tls=tls)) as client:
        yield client


async def test_a_node_gets_no_certificate_of_another_node(node: Client) -> None:
    with pytest.raises(Forbidden, match="can only create a node CSR with CN=system:node:mallory"):
        await request_certificate(node, "victim", timeout_s=WAIT_S)
    assert await request_certificate(node, "mallory", timeout_s=WAIT_S)


async def test_a_node_may_not_touch_objects_of_another_node(joinable: Joinable, node: Client) -> None:
    async with joinable.admin() as admin:
        await admin.resource(NODES).create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "victim"}})
    nodes, leases = node.resource(NODES), node.resource(LEASES, namespace="kube-node-lease")
    lease: Any = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "victim"}}
    attempts = (
        lambda: nodes.get("victim"),
        lambda: nodes.delete("victim"),
        lambda: nodes.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "victim"}}, field_manager="m"),
        lambda: leases.create(lease, WriteOptions()),
        lambda: node.resource(SECRETS, namespace="kube-system").list(),
    )
    for attempt in attempts:
        with pytest.raises(ApiError) as refused:
            await attempt()
        assert refused.value.code == 403


async def register(joinable: Joinable, name: str, address: str) -> None:
    """Create a Node with an address."""
    status = {"addresses": [{"type": "InternalIP", "address": address}]}
    async with joinable.admin() as admin:
        await admin.resource(NODES).apply(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}, field_manager="test"
        )
        await admin.resource(NODES).status.patch(name, MergePatch({"status": status}))


async def test_a_node_gets_a_serving_certificate_for_its_own_address_only(joinable: Joinable, node: Client) -> None:
    await register(joinable, "mallory", "192.0.2.7")
    pair = await request_serving_certificate(node, "mallory", ["mallory", "192.0.2.7"], timeout_s=WAIT_S)
    names = pair.certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["mallory"]
    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["192.0.2.7"]
    with pytest.raises(JoinError, match="was not signed within 1 s"):
        await request_serving_certificate(node, "mallory", ["mallory", "192.0.2.8"], timeout_s=1)
    with pytest.raises(Forbidden, match="can only create a node CSR with CN=system:node:mallory"):
        await request_serving_certificate(node, "victim", ["victim"], timeout_s=WAIT_S)


def serving(credentials: NodeCredentials, node: Client, clock: SetClock, used: list[KeyPair]) -> ServingCertificate:
    """Return the certificate of the server of mallory, and note which ones it uses."""

    async def registered() -> None:
        pass

    hosts = ["192.0.2.7", "mallory"]
    return ServingCertificate(credentials, node, "mallory", hosts, use=used.append, registered=registered, clock=clock)


async def test_a_serving_certificate_is_stored_used_and_renewed(
    joinable: Joinable, node: Client, tmp_path: Path
) -> None:
    await register(joinable, "mallory", "192.0.2.7")
    (tmp_path / "pki").mkdir()
    credentials, clock, used = NodeCredentials(tmp_path), SetClock(utc_now()), list[KeyPair]()
    await serving(credentials, node, clock, used)._renew_once()
    first = credentials.read_serving()
    assert first is not None
    assert (tmp_path / "pki" / "node-serving.pem").stat().st_mode & 0o777 == 0o600
    clock.forward((renewal_time(first.certificate, 0.95) - utc_now()).total_seconds())
    await serving(credentials, node, clock, used)._renew_once()
    second = credentials.read_serving()
    assert second is not None
    assert [each.certificate for each in used] == [first.certificate]
    assert second.certificate != first.certificate


async def test_a_stored_certificate_of_another_address_is_not_used(
    joinable: Joinable, node: Client, tmp_path: Path
) -> None:
    await register(joinable, "mallory", "192.0.2.7")
    (tmp_path / "pki").mkdir()
    credentials, now, used = NodeCredentials(tmp_path), utc_now(), list[KeyPair]()
    day = dt.timedelta(days=1)
    old = make_server_certificate(make_authority("a", now, day), ["192.0.2.8"], now, day, common_name="mallory")
    credentials.write_serving(old)
    await serving(credentials, node, SetClock(now), used)._renew_once()
    assert used == []


async def test_a_node_reads_only_the_published_networks_of_other_nodes(joinable: Joinable, node: Client) -> None:
    obj: Any = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": CONFIG_MAP}, "data": {"victim": "{}"}}
    async with joinable.admin() as admin:
        await admin.resource(CONFIG_MAPS, namespace=NAMESPACE).create(obj)
    config_maps = node.resource(CONFIG_MAPS, namespace=NAMESPACE)
    only = ListOptions(field_selector=f"metadata.name={CONFIG_MAP}")
    assert [each["data"] for each in await config_maps.list(only)] == [obj["data"]]
    for attempt in (
        lambda: config_maps.list(),
        lambda: config_maps.get("other"),
        lambda: config_maps.patch(CONFIG_MAP, MergePatch({"data": {"victim": None}})),
        lambda: config_maps.delete(CONFIG_MAP),
    ):
        with pytest.raises(Forbidden):
            await attempt()


async def test_a_node_reads_what_network_policies_need_and_changes_none_of_it(node: Client) -> None:
    for kind in (NETWORK_POLICIES, NAMESPACES, PODS):
        resource = node.resource(kind, namespace="" if kind.namespaced else None)
        await resource.list()
    policies = node.resource(NETWORK_POLICIES, namespace="default")
    namespaces, pods = node.resource(NAMESPACES), node.resource(PODS, namespace="default")
    attempts: list[Callable[[], Awaitable[object]]] = [
        lambda: policies.create(POLICY),
        lambda: policies.delete("any"),
        lambda: policies.get("any"),
        lambda: namespaces.patch("default", MergePatch({"metadata": {"labels": {"team": "mine"}}})),
        lambda: namespaces.get("default"),
        lambda: pods.get("any"),
        lambda: pods.patch("any", MergePatch({"metadata": {"labels": {"app": "mine"}}})),
    ]
    for attempt in attempts:
        with pytest.raises(Forbidden):
            await attempt()


def test_tokens_are_listed_without_their_secrets_and_deleted(joinable: Joinable) -> None:
    token(joinable.server, "create", "aaaaaa.0123456789abcdef", "--ttl", "0", "--description", "spare")
    listed = token(joinable.server, "list")
    assert "aaaaaa.<hidden>" in listed
    assert "0123456789abcdef" not in listed
    assert "token aaaaaa deleted" in token(joinable.server, "delete", "aaaaaa")
    token(joinable.server, "delete", "aaaaaa", code=1)


async def test_a_certificate_is_renewed_before_it_expires(joinable: Joinable, node: Client, tmp_path: Path) -> None:
    credentials = NodeCredentials(tmp_path)
    now = utc_now()
    authority = make_authority("a", now, dt.timedelta(days=1))
    old = make_client_certificate(authority, "system:node:mallory", ["system:nodes"], now, dt.timedelta(hours=1))
    credentials.write(joinable.url, joinable.ca_pem, "mallory", old)
    assert now < renewal_time(old.certificate, 0.9) < old.certificate.not_valid_after_utc
    clock = SetClock(now + dt.timedelta(hours=1))
    await CertificateRotation(credentials, node, "mallory", clock)._renew_once()
    renewed = credentials.read()
    assert renewed is not None
    assert renewed.certificate.not_valid_after_utc > old.certificate.not_valid_after_utc


@pytest.mark.parametrize("text", ["http://a:1", "https://", "https://a:1/path", "https://a:99999"])
def test_a_text_that_is_no_url_of_a_server_is_refused(text: str) -> None:
    with pytest.raises(StartError, match="is not the URL of a server"):
        server_url(text)


def test_the_scheme_of_a_url_may_be_omitted_and_the_name_is_that_of_the_machine() -> None:
    assert server_url("192.0.2.1:6443") == "https://192.0.2.1:6443"
    assert node_name("") == socket.gethostname().strip().lower()
