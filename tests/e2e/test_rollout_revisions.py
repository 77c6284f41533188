"""`kubectl rollout` of StatefulSets and DaemonSets, whose ControllerRevisions the loops have made."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sampan.client import connect
from sampan.component_base.resources import DAEMON_SETS, NODES, PODS, STATEFUL_SETS
from sampan.controllers import daemon_set, stateful_set
from sampan.resource import Object, ResourceInfo, meta
from tests.controllers.cluster import Working, working
from tests.e2e.kubectl import Kubectl

pytestmark = pytest.mark.e2e

KINDS = [pytest.param(STATEFUL_SETS, id="statefulset"), pytest.param(DAEMON_SETS, id="daemonset")]


@pytest_asyncio.fixture
async def c(kubectl: Kubectl) -> AsyncIterator[Working]:
    """The loops at work, and a Node."""
    client = connect(kubectl.environment["KUBECONFIG"], namespace=kubectl.namespace)
    async with client, working(client, stateful_set.set_up, daemon_set.set_up) as found:
        # Other tests leave Nodes behind: this one has a unique label.
        await found.create(NODES, {"metadata": {"name": kubectl.namespace, "labels": {"for": kubectl.namespace}}})
        # A new Node has a taint until its kubelet is ready: here there is no kubelet.
        await found.patch(NODES, kubectl.namespace, {"spec": {"taints": None}})
        yield found
        await found.delete(NODES, kubectl.namespace)


async def run(kubectl: Kubectl, *arguments: str, stdin: str | None = None) -> str:
    """Run a command while the loops go on, and return its output."""
    return await asyncio.to_thread(kubectl, *arguments, stdin=stdin)


async def rolled(c: Working, kubectl: Kubectl, kind: ResourceInfo, *images: str) -> str:
    """A set that has had some images; gives how kubectl calls it."""
    labels = {"app": "a"}
    pod = {"containers": [{"name": "c", "image": images[0]}], "nodeSelector": {"for": kubectl.namespace}}
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    annotations = {"kubernetes.io/change-cause": f"to {images[0]}"}
    await c.create(kind, {"metadata": {"name": "a", "annotations": annotations}, "spec": spec})
    name = f"{kind.gvr.resource}/a"
    await is_observed(c, kind)
    for image in images[1:]:
        change = {
            "metadata": {"annotations": {"kubernetes.io/change-cause": f"to {image}"}},
            "spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}},
        }
        await run(kubectl, "patch", name, "-p", json.dumps(change))
        await is_observed(c, kind)
    return name


async def is_observed(c: Working, kind: ResourceInfo) -> Object:
    """Wait until the loop has seen the present generation."""
    return await c.until(
        kind, "a", lambda each: each["status"].get("observedGeneration") == each["metadata"]["generation"]
    )


@pytest.mark.parametrize("kind", KINDS)
async def test_history_reports_the_revisions_and_their_templates(
    c: Working, kubectl: Kubectl, kind: ResourceInfo
) -> None:
    name = await rolled(c, kubectl, kind, "one", "two")
    lines = (await run(kubectl, "rollout", "history", name)).splitlines()
    assert [line.split(maxsplit=1) for line in lines[2:]] == [["1", "to one"], ["2", "to two"]]
    assert "one" in await run(kubectl, "rollout", "history", name, "--revision=1")


@pytest.mark.parametrize("kind", KINDS)
async def test_undo_goes_back_to_the_template_before(c: Working, kubectl: Kubectl, kind: ResourceInfo) -> None:
    name = await rolled(c, kubectl, kind, "one", "two")
    assert "rolled back" in await run(kubectl, "rollout", "undo", name)
    observed = await is_observed(c, kind)
    assert observed["spec"]["template"]["spec"]["containers"][0]["image"] == "one"
    lines = (await run(kubectl, "rollout", "history", name)).splitlines()
    assert [line.split(maxsplit=1)[0] for line in lines[2:]] == ["2", "3"]


@pytest.mark.parametrize("kind", KINDS)
async def test_status_waits_until_all_pods_are_updated_and_ready(
    c: Working, kubectl: Kubectl, kind: ResourceInfo
) -> None:
    name = await rolled(c, kubectl, kind, "one")
    [pod] = await c.pods(1)
    waits = asyncio.create_task(run(kubectl, "rollout", "status", name))
    await c.make_ready(pod)
    assert "complete" in await waits or "successfully rolled out" in await waits
    await run(kubectl, "patch", name, "-p", '{"spec":{"template":{"metadata":{"labels":{"new":"yes"}}}}}')
    new = await c.until_all(PODS, lambda pods: [each for each in pods if meta(each).labels.get("new")])
    await c.make_ready(new[0])
    await run(kubectl, "rollout", "status", name)
