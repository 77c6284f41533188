"""Both examples with real processes as Pods; the operators are killed with SIGKILL."""

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.server import Server, running
from tests.e2e.conftest import kubectl_environment
from tests.e2e.kubectl import Kubectl
from tests.examples.storm_and_captain import stories
from tests.examples.storm_and_captain.operators import FOLDERS, operating


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run a server with a node for processes."""
    data = tmp_path_factory.mktemp("processes") / "data"
    with running(data, "--storage=memory", "--node-runtime=process", loops=True) as started:
        yield started


@pytest.fixture(scope="module")
def kubectl(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    program = shutil.which("kubectl")
    if program is None:
        pytest.skip("kubectl is not on PATH")
    found = Kubectl(program, kubectl_environment(server, tmp_path_factory.mktemp("home")), "default")
    found("wait", "--for=create", "serviceaccount/default", "--timeout=60s")
    return found


@pytest.fixture
def store(tmp_path: Path) -> Iterator[str]:
    """Run the store of the application, and return its URL. It writes to the file `writes` in `tmp_path`."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    script = FOLDERS["captains"] / "app" / "harbour.py"
    process = subprocess.Popen([sys.executable, str(script), "store", str(port), str(tmp_path)])
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def test_processes_follow_their_leader(server: Server, kubectl: Kubectl, store: str, tmp_path: Path) -> None:
    with operating("captains", server.data / "kubeconfig", tmp_path / "log") as operator:
        writes = tmp_path / "writes"
        stories.an_application_follows_its_leader(kubectl, operator, "host", store, lambda: stories.read_lines(writes))


def test_processes_are_killed_within_the_budget(server: Server, kubectl: Kubectl, tmp_path: Path) -> None:
    with operating("storms", server.data / "kubeconfig", tmp_path / "log") as operator:
        stories.a_storm_kills_within_its_budget(kubectl, operator, "host")
