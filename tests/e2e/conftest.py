"""One server in memory for all commands, a namespace for each test."""

import http.client
import itertools
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.server import Server, running
from tests.e2e.kubectl import Kubectl

PASSED_ON = ("PATH", "LANG", "TMPDIR")


class Api:
    """The server without kubectl: one connection as the administrator, for what tests prepare and look at."""

    def __init__(self, server: Server) -> None:
        self._connection = server.connect()
        self._authorization = f"Bearer {server.token}"

    def request(
        self, method: str, path: str, body: Any = None, media_type: str = "application/json"
    ) -> tuple[int, dict[str, Any]]:
        """Send a request with a JSON body; gives the status code and the decoded answer."""
        headers = {"Authorization": self._authorization, "Content-Type": media_type}
        content = None if body is None else json.dumps(body)
        try:
            self._connection.request(method, path, content, headers)
            response = self._connection.getresponse()
        except (http.client.HTTPException, OSError):  # The server closes idle connections.
            self._connection.close()
            self._connection.request(method, path, content, headers)
            response = self._connection.getresponse()
        document: dict[str, Any] = json.loads(response.read())
        return response.status, document

    def create(self, path: str, body: Any) -> dict[str, Any]:
        """Create an object; it has to succeed."""
        status, document = self.request("POST", path, body)
        assert status == 201, document
        return document

    def patch(self, path: str, body: Any) -> dict[str, Any]:
        """Merge-patch an object or its subresource; it has to succeed."""
        status, document = self.request("PATCH", path, body, "application/merge-patch+json")
        assert status == 200, document
        return document

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


@pytest.fixture(scope="session")
def program() -> str:
    """The path of kubectl; without it the tests that need it are skipped."""
    found = shutil.which("kubectl")
    if found is None:
        pytest.skip("kubectl is not on PATH")
    return found


@pytest.fixture(scope="session")
def server(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of the session, with its objects in memory."""
    with running(tmp_path_factory.mktemp("e2e") / "data", "--storage", "memory") as started:
        yield started


@pytest.fixture(scope="session")
def api(server: Server) -> Iterator[Api]:
    """A connection of the administrator."""
    api = Api(server)
    yield api
    api.close()


@pytest.fixture(scope="session")
def environment(server: Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """See `kubectl_environment`."""
    return kubectl_environment(server, tmp_path_factory.mktemp("home"))


def kubectl_environment(server: Server, home: Path) -> dict[str, str]:
    """Return the environment of kubectl: the configuration that the server wrote, and a home for its caches."""
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {
        **passed_on,
        "HOME": str(home),
        "KUBECONFIG": str(server.data / "kubeconfig"),
        "NO_PROXY": "*",
        "GOGC": "off",
    }


@pytest.fixture(scope="session")
def numbers() -> Iterator[int]:
    """Counts through the session, to make unique names."""
    return itertools.count(1)


@pytest.fixture
def namespace(api: Api, numbers: Iterator[int]) -> str:
    """A namespace of the test's own."""
    return new_namespace(api, numbers)


@pytest.fixture(scope="module")
def shared(program: str, environment: dict[str, str], api: Api, numbers: Iterator[int]) -> Kubectl:
    """kubectl in a namespace that the tests of a module read from."""
    return Kubectl(program, environment, new_namespace(api, numbers))


def new_namespace(api: Api, numbers: Iterator[int]) -> str:
    """Create a namespace; gives its name."""
    name = f"test-{next(numbers)}"
    api.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name


@pytest.fixture
def kubectl(program: str, environment: dict[str, str], namespace: str) -> Kubectl:
    """kubectl in a namespace of the test's own."""
    return Kubectl(program, environment, namespace)
