"""`sampan deploy` onto a node whose containers are processes: run, second run, a crash with its reasons, removal."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.cli.server import Server, running
from tests.e2e.conftest import kubectl_environment
from tests.e2e.kubectl import Kubectl
from tests.machines import wait_for
from tests.ports import free_ports
from tests.project.charts.projects import edit, make_simple_boats, require_visible_python, sampan

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

CRASH = 'import os\n\nif "KUBERNETES_SERVICE_HOST" in os.environ:\n    raise RuntimeError("no oars")\n'


@pytest.fixture(scope="module")
def server(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    require_visible_python()
    data = tmp_path_factory.mktemp("deploy-server") / "data"
    with running(data, "--storage=memory", "--node-runtime=process", loops=True) as started:
        yield started


@pytest.fixture
def environment(server: Server, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Return variables with the kubeconfig, and with a cache that Pods see: not below /tmp."""
    found = kubectl_environment(server, tmp_path)
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="sampan-test-") as cache:
        Path(cache).chmod(0o755)
        yield {**os.environ, **found, "XDG_CACHE_HOME": cache}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with a webhook, whose process listens on free ports."""
    health, metrics, port = free_ports(3)
    flags = f'["--health-probe-bind-address=:{health}", "--metrics-bind-address=:{metrics}"]'
    project = make_simple_boats(tmp_path, settings=f"\n[tool.sampan.bundle]\nargs = {flags}\n")
    sampan(project, "create", "webhook", "--kind", "Boat", "--validation")
    edit(project, "src/boats/webhooks/__init__.py", "WebhookOptions(", f"WebhookOptions(port={port}, ")
    check = '    return ["a long boat"] if new.spec.length > 100 else []'
    edit(project, "src/boats/boat/webhook.py", "    return []", check)
    return project


def run(
    project: Path, environment: Mapping[str, str], *arguments: str, code: int = 0
) -> "subprocess.CompletedProcess[str]":
    """Run `sampan` in the project. It ends with this code."""
    command = [sys.executable, "-m", "sampan", *arguments]
    done = subprocess.run(
        command,
        cwd=project,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_an_operator_runs_on_a_process_node_and_is_removed(
    program: str, project: Path, environment: dict[str, str]
) -> None:
    kubectl = Kubectl(program, environment, "default")
    wait_for(lambda: kubectl("get", "nodes", "-o", "name"), "the node")
    refused = run(project, environment, "deploy", code=1)
    assert "--yes accepts in a script" in refused.stderr
    assert "boats-system" not in kubectl("get", "namespaces", "-o", "name")

    done = run(project, environment, "deploy", "--yes", "--timeout", "180")
    assert "deployed: boats in boats-system" in done.stderr
    sample = project / "samples/boat.yaml"
    # The first requests may come before the API server has read the caBundle.
    wait_for(lambda: kubectl.run("apply", "-f", str(sample)).returncode == 0, "an admitted object", 120)
    kubectl("wait", "boat/example", "--for=condition=Ready", "--timeout=60s")
    patched = kubectl.run("patch", "boat/example", "--type=merge", "--patch", '{"spec": {"length": 400}}')
    assert "Warning: a long boat" in patched.stderr

    again = run(project, environment, "deploy", "--yes", "--timeout", "180")
    assert "nothing to change: boats in boats-system" in again.stderr
    assert not again.stdout

    main = project / "src/boats/__main__.py"
    good = main.read_text()
    main.write_text(CRASH + good)
    run(project, environment, "deploy", "--yes", "--timeout", "1", code=1)
    restarts = ("get", "pods", "-A", "-o", "jsonpath={.items[*].status.containerStatuses[*].restartCount}")
    wait_for(lambda: any(int(each) for each in kubectl(*restarts).split()), "a crash", 180)
    crashed = run(project, environment, "deploy", "--yes", "--timeout", "1", code=1)
    assert "RuntimeError: no oars" in crashed.stderr
    assert "ended with exit code 1" in crashed.stderr
    main.write_text(good)
    run(project, environment, "deploy", "--yes", "--timeout", "180")

    loss = run(project, environment, "undeploy", "--yes", code=1)
    assert "custom resources exist (1 boats.boats.example.com)" in loss.stderr
    run(project, environment, "undeploy", "--yes", "--delete-resources", "--timeout", "180")
    found = kubectl("get", "namespaces,crd,clusterroles,validatingwebhookconfigurations", "-o", "name")
    assert "boats" not in found
    assert "nothing is deployed: boats in boats-system" in run(project, environment, "undeploy", "--yes").stderr
