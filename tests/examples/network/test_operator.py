"""Both operators as processes, with a real server and a real Neutron; the tests kill operator and Neutron."""

import asyncio
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from network_operator.neutron import NeutronBackend
from network_operator.plan import ActualNetwork, identity_of
from network_operator.types import Network, NetworkSpec
from neutron_server.launch import Neutron, running
from sampan.client import Client, MergePatch, NotFound, condition_is, connect, deleted, wait_for
from sampan.resource import ObjectMeta
from sampan.resource.crd import crd_of
from tests.cli.server import Server
from tests.cli.server import running as serving
from tests.user_environment import user_environment

EXAMPLE = Path(__file__).parents[3] / "examples" / "01-network"
STYLES = ["operator", "controller_lowlevel"]
WAIT_S = 60.0

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore::openstack.warnings._RemovedInSDKWarning"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run an API server."""
    with serving(tmp_path_factory.mktemp("operator") / "data") as found:
        yield found


@pytest.fixture(scope="module")
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neutron]:
    """Run a Neutron that the test can kill."""
    with running(tmp_path_factory.mktemp("mortal")) as found:
        yield found


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    """Return a client of the server, after the CRD is established."""
    async with connect(server.data / "kubeconfig", field_manager="tests") as found:
        definitions = await found.resource_for("customresourcedefinitions")
        await definitions.apply(crd_of(Network))
        await wait_for(definitions, "networks.samplecrd.k8s.io", condition_is("Established"), timeout_s=60)
        yield found


class Operator:
    """Process of the operator. It can be killed and started again."""

    def __init__(self, style: str, server: Server, neutron: Neutron, log: Path) -> None:
        options = ["--neutron", neutron.url, "--recheck", "1", "--lease", "3"]
        self._command = [sys.executable, "-W", "ignore", "-m", f"network_operator.{style}", *options]
        self._environment = user_environment(KUBECONFIG=str(server.data / "kubeconfig"))
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, cwd=EXAMPLE, env=self._environment, stdout=log, stderr=subprocess.STDOUT
            )

    def kill(self) -> None:
        """Send SIGKILL."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def end(self) -> int:
        """Send SIGTERM, and return the exit code."""
        assert self._process is not None
        self._process.terminate()
        return self._process.wait(30)


@contextmanager
def operating(style: str, server: Server, neutron: Neutron, log: Path) -> Iterator[Operator]:
    """Run an operator during the block."""
    made = Operator(style, server, neutron, log)
    made.start()
    try:
        yield made
    finally:
        made.kill()


def _network(name: str, number: int) -> Network:
    spec = NetworkSpec(cidr=f"10.{number}.0.0/16", gateway=f"10.{number}.0.1")
    return Network(metadata=ObjectMeta(name=name, namespace="default"), spec=spec)


async def _until(backend: NeutronBackend, identity: str, holds: Callable[[list[ActualNetwork]], bool]) -> None:
    """Poll Neutron, because it sends no events."""
    async with asyncio.timeout(WAIT_S):
        while not holds(await backend.find(identity)):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("style", STYLES)
async def test_network_is_created_updated_repaired_and_deleted(
    style: str, server: Server, client: Client, neutron: Neutron, tmp_path: Path
) -> None:
    name = f"life-{style.replace('_', '-')}"
    networks, backend = client.resource(Network), NeutronBackend(neutron.url)
    with operating(style, server, neutron, tmp_path / "log") as operator:
        identity = identity_of(await networks.create(_network(name, 1)))
        await wait_for(networks, name, condition_is("Ready"), timeout_s=WAIT_S)
        [made] = await backend.find(identity)
        await backend.delete_network(made.id)
        await _until(backend, identity, lambda found: len(found) == 1 and len(found[0].subnets) == 1)
        await networks.patch(name, MergePatch({"spec": {"cidr": "10.9.0.0/16", "gateway": "10.9.0.9"}}))
        await _until(backend, identity, lambda found: [s.gateway for s in found[0].subnets] == ["10.9.0.9"])
        await networks.delete(name)
        await wait_for(networks, name, deleted(), timeout_s=WAIT_S)
        assert await backend.find(identity) == []
        assert operator.end() == 0
    await backend.aclose()


@pytest.mark.parametrize("style", STYLES)
async def test_kills_at_any_time_lead_to_one_network_and_after_deletion_to_none(
    style: str, server: Server, client: Client, mortal: Neutron, tmp_path: Path
) -> None:
    chance = random.Random(style)
    names = [f"kill-{style.replace('_', '-')}-{number}" for number in range(6)]
    networks, backend = client.resource(Network), NeutronBackend(mortal.url)
    with operating(style, server, mortal, tmp_path / "log") as operator:
        made = [await networks.create(_network(name, number)) for number, name in enumerate(names)]
        await _killing(operator, mortal, chance)
        for obj in made:
            await _until_ready(networks_of=client, name=obj.metadata.name)
            [found] = await backend.find(identity_of(obj))
            assert len(found.subnets) == 1
        for name in names:
            await networks.delete(name)
        await _killing(operator, mortal, chance)
        for obj in made:
            await wait_for(networks, obj.metadata.name, deleted(), timeout_s=WAIT_S)
            assert await backend.find(identity_of(obj)) == []
    await backend.aclose()


async def _killing(operator: Operator, neutron: Neutron, chance: random.Random) -> None:
    """Kill operator and Neutron a few times while they work."""
    for victim in ("operator", "neutron", "operator"):
        await asyncio.sleep(chance.uniform(0.3, 1.5))
        if victim == "neutron":
            neutron.kill()
            await asyncio.sleep(chance.uniform(0.1, 0.5))
            await asyncio.to_thread(neutron.start)
        else:
            operator.kill()
            operator.start()


async def _until_ready(*, networks_of: Client, name: str) -> None:
    """Wait until the object is ready."""
    try:
        await wait_for(networks_of.resource(Network), name, condition_is("Ready"), timeout_s=WAIT_S)
    except NotFound:
        pytest.fail(f"{name} is gone")
