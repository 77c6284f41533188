"""`sampan deploy` and `sampan undeploy` as commands: consent, errors, and the program on process nodes."""

import sys
from pathlib import Path
from typing import Any

import click
import pytest

from sampan.client import Client
from sampan.project.deploying import processes, session
from sampan.project.deploying.nodes import NodeKind, runtime_of
from sampan.project.deploying.plan import DeployPlan
from sampan.project.deploying.session import DeployOptions, deploy_project, inventory_of
from sampan.project.errors import ProjectError
from sampan.project.pyproject import project_at
from sampan.testing import Cluster
from tests.project.conftest import Sampan
from tests.project.deploying.objects import deployment, get

DEAD = """
apiVersion: v1
kind: Config
current-context: dead
clusters: [{name: dead, cluster: {server: "https://127.0.0.1:1", insecure-skip-tls-verify: true}}]
users: [{name: dead, user: {}}]
contexts: [{name: dead, context: {cluster: dead, user: dead}}]
"""


@pytest.fixture
def fleet(boats: Path, sampan: Sampan, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with a kind, whose package is imported by nothing yet."""
    sampan("create", "api", "--kind", "Boat", "--field", "length:int>0", folder=boats)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in [each for each in sys.modules if each.split(".")[0] == "boats"]:
        monkeypatch.delitem(sys.modules, name)
    return boats


@pytest.mark.parametrize("command", ["deploy", "undeploy"])
def test_an_absent_cluster_is_one_clear_error(
    fleet: Path, sampan: Sampan, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(fleet / "absent"))
    done = sampan(command, "--yes", folder=fleet)
    assert isinstance(done.exception, click.ClickException)
    assert "no kubeconfig" in done.exception.message


def test_outside_of_a_project_the_error_suggests_sampan_init(tmp_path: Path, sampan: Sampan) -> None:
    done = sampan("deploy", folder=tmp_path)
    assert isinstance(done.exception, click.ClickException)
    assert "begin one with sampan init" in done.exception.message


@pytest.mark.cluster(loops="chain")
async def test_a_project_is_deployed_once_and_the_second_time_nothing_changes(fleet: Path, cluster: Cluster) -> None:
    lines, shown = list[str](), list[str]()

    def consent(plan: DeployPlan) -> bool:
        shown.append(plan.text())
        return True

    options = DeployOptions(fleet / "cache", consent, timeout_s=60)
    client = cluster.admin()
    await (await client.resource_for("deployments", namespace="")).list()
    await until_a_node(client)
    assert await deploy_project(client, project_at(fleet), options, lines.append)
    assert lines[0] == "warning: all nodes are simulated: Pods become ready, but no operator runs"
    assert lines[-1] == "deployed: boats in boats-system"
    assert "create   Deployment boats in boats-system\n" in shown[0]
    client.mapper.invalidate()
    assert await deploy_project(client, project_at(fleet), options, lines.append)
    assert lines[-1] == "nothing to change: boats in boats-system"
    assert len(shown) == 1, "nothing to accept"
    assert await inventory_of(project_at(fleet)).read(client) is not None


async def until_a_node(client: Client) -> None:
    """Create a Deployment, with which the nodes of the test start."""
    await (await client.resource_for("deployments", namespace="default")).create(
        {**deployment("x", 1), "metadata": {"name": "x"}}
    )
    nodes = await client.resource_for("nodes")
    async for event in nodes.follow():
        if (event.object.get("status") or {}).get("nodeInfo"):
            return


@pytest.mark.cluster(loops="chain")
async def test_without_consent_nothing_is_written(fleet: Path, cluster: Cluster) -> None:
    options = DeployOptions(fleet / "cache", lambda plan: False, image="registry.test/boats:1")
    assert not await deploy_project(cluster.admin(), project_at(fleet), options, lambda line: None)
    assert not [each for each in cluster.journal.writes if "boats" in each.key]


@pytest.mark.cluster(loops="none")
async def test_a_project_without_a_registry_is_refused_before_anything_is_built(fleet: Path, cluster: Cluster) -> None:
    options = DeployOptions(fleet / "cache", lambda plan: True)
    with pytest.raises(ProjectError, match="the cluster has no node yet"):
        await deploy_project(cluster.admin(), project_at(fleet), options, lambda line: None)
    await (await cluster.admin().resource_for("nodes")).create(node("one", "containerd://2.0"))
    with pytest.raises(ProjectError, match=r"add name = .* to \[tool\.sampan\.image\]"):
        await deploy_project(cluster.admin(), project_at(fleet), options, lambda line: None)
    assert not (fleet / "cache").exists()


def node(name: str, runtime: str) -> Any:
    """Return a Node."""
    status = {"nodeInfo": {"containerRuntimeVersion": runtime}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


@pytest.mark.parametrize(
    ("runtimes", "expected"),
    [
        ((), NodeKind.ABSENT),
        (("process://1.0.0",), NodeKind.PROCESSES),
        (("simulated://1.0.0",), NodeKind.SIMULATED),
        (("containerd://2.0", "process://1.0.0"), NodeKind.CONTAINERS),
        (("simulated://1.0.0", "process://1.0.0"), NodeKind.PROCESSES),
        (("",), NodeKind.CONTAINERS),
    ],
)
@pytest.mark.cluster(loops="none")
async def test_the_nodes_decide_how_the_program_gets_there(
    cluster: Cluster, runtimes: tuple[str, ...], expected: NodeKind
) -> None:
    nodes = await cluster.admin().resource_for("nodes")
    for number, each in enumerate(runtimes):
        await nodes.create(node(f"node-{number}", each))
        await nodes.update_status({**await nodes.get(f"node-{number}"), "status": node("", each)["status"]})
    assert await runtime_of(cluster.admin()) is expected


def copied(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the copy of a project's package, as if no folder were hidden from Pods."""
    monkeypatch.setattr(processes, "_HIDDEN", Path("/hidden"))
    return processes.copy_package(project_at(fleet), fleet / "cache")


def test_a_changed_file_gives_another_copy_and_an_equal_package_the_same(
    fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = copied(fleet, monkeypatch)
    assert (first / "boats/boat/v1.py").read_text() == (fleet / "src/boats/boat/v1.py").read_text()
    assert copied(fleet, monkeypatch) == first
    (fleet / "src/boats/boat/v1.py").write_text("# changed\n")
    assert copied(fleet, monkeypatch) != first
    assert (first / "boats/boat/v1.py").read_text() != "# changed\n"


def test_a_folder_that_pods_do_not_see_is_refused(fleet: Path) -> None:
    with pytest.raises(ProjectError, match="Pods of process nodes do not see"):
        processes.copy_package(project_at(fleet), Path("/tmp/cache"))
    assert not Path("/tmp/cache").exists()


@pytest.mark.parametrize(("uid", "is_limited"), [(1000, True), (0, False)])
def test_processes_run_as_the_present_user(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, uid: int, is_limited: bool
) -> None:
    monkeypatch.setattr("os.getuid", lambda: uid)
    monkeypatch.setattr("os.getgid", lambda: uid)
    enforce = {"pod-security.kubernetes.io/enforce": "restricted"}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "harbour", "labels": enforce}}
    made = deployment("boats:1", 3)
    made["spec"]["template"]["spec"]["securityContext"] = {"runAsNonRoot": True}
    made["spec"]["template"]["spec"]["containers"][0]["command"] = ["python3", "-m", "boats"]
    changed, described = processes.as_processes([made, namespace], tmp_path)
    pod = changed["spec"]["template"]["spec"]
    assert (pod["securityContext"].get("runAsUser") == uid) is is_limited
    assert bool(pod["securityContext"].get("runAsNonRoot")) is is_limited
    assert bool(described["metadata"]["labels"]) is is_limited
    assert pod["containers"][0]["command"] == [sys.executable, "-m", "boats"]
    assert changed["spec"]["strategy"] == {"type": "Recreate"}
    assert changed["spec"]["replicas"] == 1
    assert made["spec"]["replicas"] == 3, "the objects of the bundle stay as they are"


@pytest.mark.cluster(loops="chain")
async def test_stored_objects_that_the_new_crd_would_break_are_named(fleet: Path, cluster: Cluster) -> None:
    options = DeployOptions(fleet / "cache", lambda plan: True, image="registry.test/boats:1")
    client = cluster.admin()
    await deploy_project(client, project_at(fleet), options, lambda line: None)
    boat = {"apiVersion": "boats.example.com/v1", "kind": "Boat", "metadata": {"name": "one"}, "spec": {"length": 5}}
    client.mapper.invalidate()
    await (await client.resource_for("boats", namespace="default")).create(boat)
    place = fleet / "src/boats/boat/v1.py"
    place.write_text(place.read_text().replace("minimum=1", "minimum=9"))
    with pytest.raises(ProjectError, match=r"boats/one in default: spec\.length"):
        await deploy_project(client, project_at(fleet), options, lambda line: None)
    crd = await get(client, "crd", "boats.boats.example.com")
    assert "minimum': 1" in str(crd["spec"])


async def test_missing_rights_are_named_before_an_image_is_built(
    fleet: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def build_image(*given: Any) -> Any:
        raise AssertionError("built")

    monkeypatch.setattr(session, "build_image", build_image)
    place = fleet / "pyproject.toml"
    place.write_text(place.read_text() + '\n[tool.sampan.image]\nname = "registry.test/boats"\n')
    options = DeployOptions(fleet / "cache", lambda plan: True)
    with pytest.raises(ProjectError, match=r"nothing was applied: .*deployments"):
        await deploy_project(cluster.client("jane"), project_at(fleet), options, lambda line: None)


@pytest.mark.parametrize(
    "arguments",
    [
        ("deploy", "--yes"),
        ("undeploy", "--yes"),
        ("run", "--context", "dead"),
        ("delete", "api", "--kind", "Boat", "--check-cluster"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_cluster_that_does_not_run_is_named_with_the_next_step(
    fleet: Path, sampan: Sampan, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    config = fleet / "kubeconfig"
    config.write_text(DEAD)
    monkeypatch.setenv("KUBECONFIG", str(config))
    error = str(sampan(*arguments, folder=fleet).exception)
    assert "cannot connect to https://127.0.0.1:1" in error
    assert "is the cluster running?" in error
