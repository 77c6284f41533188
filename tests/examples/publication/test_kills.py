"""The operator as a process, with a real API server, BIND, HAProxy and a hosts file. Any of them may be killed."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from publications.publication.reconcile import FINALIZER, SLICES
from publications.publication.v1 import Publication, PublicationSpec, ServiceRef
from publications.targets.configured import configured
from sampan.client import Client, condition_is, connect, deleted, wait_for
from sampan.operator import has_finalizer
from sampan.resource import Object, ObjectMeta
from sampan.resource.crd import crd_of
from tests.cli.server import Server
from tests.cli.server import running as serving
from tests.examples.operator_process import operating
from tests.examples.publication.servers import KEY, ServerProcess, haproxy, named
from tests.machines import require_package, require_program

WAIT_S = 120.0
NAMES = {"dns": "shop.example.org", "haproxy": "shop", "file": "shop.example.org"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("publication") / "data") as found:
        yield found


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    """Return a client of the server, after the CRD is established."""
    async with connect(server.data / "kubeconfig", field_manager="tests") as found:
        definitions = await found.resource_for("customresourcedefinitions")
        await definitions.apply(crd_of(Publication))
        await wait_for(definitions, crd_of(Publication)["metadata"]["name"], condition_is("Established"), timeout_s=60)
        yield found


@pytest.fixture(scope="module")
def bind() -> Iterator[ServerProcess]:
    require_package("bind9", Path("/usr/sbin/named").exists)
    with named() as found:
        yield found


@pytest.fixture(scope="module")
def balancer() -> Iterator[ServerProcess]:
    require_program("haproxy")
    with haproxy() as found:
        yield found


def environment(server: Server, bind: ServerProcess, balancer: ServerProcess, hosts: Path) -> dict[str, str]:
    """Return the settings of the operator."""
    return {
        "KUBECONFIG": str(server.data / "kubeconfig"),
        "PUBLISH_DNS": f"127.0.0.1:{bind.port}/example.org",
        "PUBLISH_DNS_KEY": KEY,
        "PUBLISH_HAPROXY": str(balancer.folder / "haproxy.sock"),
        "PUBLISH_FILE": str(hosts),
    }


def slice_of(*addresses: str) -> Object:
    """Return the EndpointSlice of the Service `shop`."""
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "shop-1", "labels": {"kubernetes.io/service-name": "shop"}},
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": 8080}],
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}} for address in addresses],
    }


def _is_claimed(obj: Publication | None) -> bool:
    return obj is not None and has_finalizer(obj, FINALIZER)


async def test_kills_lead_to_what_the_publications_describe_and_later_to_nothing(
    server: Server, client: Client, bind: ServerProcess, balancer: ServerProcess, tmp_path: Path
) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 localhost\n")
    settings = environment(server, bind, balancer, hosts)
    targets, publications = configured(settings), client.resource(Publication)
    await client.resource(SLICES).apply(slice_of("10.0.0.1", "10.0.0.2"))
    owners = {}
    with operating("13-publish", "publications", settings, tmp_path / "log") as operator:
        for kind, name in NAMES.items():
            spec = PublicationSpec(service_ref=ServiceRef(name="shop"), target=kind, name=name)  # type: ignore[arg-type]  # a str of the three
            made = await publications.create(Publication(metadata=ObjectMeta(name=kind), spec=spec))
            owners[kind] = made.metadata.uid
            await wait_for(
                publications, kind, lambda obj: obj is not None and has_finalizer(obj, FINALIZER), timeout_s=WAIT_S
            )
            operator.kill()  # Around its first change in the target.
            operator.start()
        for kind, name in NAMES.items():
            await wait_for(publications, kind, condition_is("Ready"), timeout_s=WAIT_S)
            found = await targets[kind].read(name, owners[kind])
            assert {each.partition(":")[0] for each in found.addresses} == {"10.0.0.1", "10.0.0.2"}

        operator.kill()
        bind.kill()
        for kind in NAMES:
            await publications.delete(kind)
        operator.start()
        await wait_for(publications, "haproxy", deleted(), timeout_s=WAIT_S)
        await wait_for(publications, "file", deleted(), timeout_s=WAIT_S)
        assert hosts.read_text() == "127.0.0.1 localhost\n"
        bind.start()
        await wait_for(publications, "dns", deleted(), timeout_s=WAIT_S)
    assert (await targets["dns"].read(NAMES["dns"], owners["dns"])).is_free
    assert (await targets["dns"].read("mail.example.org", "")).addresses == {"192.0.2.25"}
    assert not (await targets["haproxy"].read(NAMES["haproxy"], owners["haproxy"])).addresses
