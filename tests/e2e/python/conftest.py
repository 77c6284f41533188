"""One server in memory for the clients that other people wrote in Python, a namespace for each test."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.server import Server, running
from tests.e2e.conftest import Api, new_namespace
from tests.e2e.python.forgetful import Forgetful, forgetting
from tests.e2e.python.objects import CRDS, WIDGET_SCHEMA, Json, custom_resource_definition
from tests.e2e.python.observe import until
from tests.e2e.python.relay import Relay, relaying


@pytest.fixture(scope="package", autouse=True)
def no_proxy() -> Iterator[None]:
    """Bypass the proxy of the machine: some clients would use it even for a server on loopback."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "*")
        patch.setenv("no_proxy", "*")
        yield


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of this package; unlike that of the other end-to-end tests it needs no kubectl."""
    with running(tmp_path_factory.mktemp("clients") / "data", "--storage", "memory") as started:
        yield started


@pytest.fixture(scope="package")
def api(server: Server) -> Iterator[Api]:
    """A connection of the administrator, for what tests prepare and look at."""
    api = Api(server)
    yield api
    api.close()


@pytest.fixture(scope="package")
def numbers() -> Iterator[int]:
    """Counts through the package, to make unique names."""
    return itertools.count(1)


@pytest.fixture
def namespace(api: Api, numbers: Iterator[int]) -> str:
    """A namespace of the test's own."""
    return new_namespace(api, numbers)


@pytest.fixture(scope="package")
def kubeconfig(server: Server) -> str:
    """The path of the configuration that the server wrote."""
    return str(server.data / "kubeconfig")


@pytest.fixture(scope="package")
def forgetful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forgetful]:
    """A server whose history the test can make unreadable."""
    with forgetting(tmp_path_factory.mktemp("forgetful") / "data") as started:
        yield started


@pytest.fixture
def relay(server: Server) -> Iterator[Relay]:
    """A relay of the test's own in front of the server."""
    with relaying(server.port) as relay:
        yield relay


@pytest.fixture
def relayed_kubeconfig(server: Server, relay: Relay, tmp_path: Path) -> str:
    """The path of a configuration that leads to the server through the relay."""
    return through(relay, server, tmp_path)


@pytest.fixture
def forgetful_relay(forgetful: Forgetful) -> Iterator[Relay]:
    """A relay in front of the forgetful server."""
    with relaying(forgetful.server.port) as relay:
        yield relay


@pytest.fixture
def forgetful_kubeconfig(forgetful: Forgetful, forgetful_relay: Relay, tmp_path: Path) -> str:
    """The path of a configuration that leads to the forgetful server through its relay."""
    return through(forgetful_relay, forgetful.server, tmp_path)


def through(relay: Relay, server: Server, folder: Path) -> str:
    """Write a kubeconfig that leads to a server through a relay; gives its path."""
    path = folder / "kubeconfig"
    text = (server.data / "kubeconfig").read_text()
    path.write_text(text.replace(f"127.0.0.1:{server.port}", f"127.0.0.1:{relay.port}"))
    return str(path)


@pytest.fixture(scope="package")
def widgets(server: Server, api: Api) -> Json:
    """The CRD of widgets, served."""
    return define(server, api, custom_resource_definition("widgets", "Widget", WIDGET_SCHEMA))


def define(server: Server, api: Api, definition: Json) -> Json:
    """Create a CRD; gives it when it is served."""
    api.create(CRDS, definition)
    established = until(server, CRDS, definition["metadata"]["name"], is_established)
    assert established is not None
    return established


def is_established(definition: Json | None) -> bool:
    """Return whether the status of a CRD has the condition that its resource is served."""
    status = (definition or {}).get("status", {})
    return any(c["type"] == "Established" and c["status"] == "True" for c in status.get("conditions", []))
