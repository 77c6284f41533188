"""Pods of the Deployment are restricted: the server admits them without a warning, and refuses each weaker one."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from sampan.client import ApiError
from sampan.testing import Cluster
from tests.project.bundle.installed import found_in

CONTAINER = ("spec", "containers", 0, "securityContext")
WEAKER: dict[str, tuple[Any, ...]] = {
    "privilege escalation": (*CONTAINER, "allowPrivilegeEscalation"),
    "capabilities": (*CONTAINER, "capabilities"),
    "root": ("spec", "securityContext", "runAsNonRoot"),
    "seccomp": ("spec", "securityContext", "seccompProfile"),
}


def without(pod: dict[str, Any], *path: Any) -> dict[str, Any]:
    pod = deepcopy(pod)
    place: Any = pod
    for each in path[:-1]:
        place = place[each]
    del place[path[-1]]
    return pod


async def pod_in(cluster: Cluster, root: Path) -> dict[str, Any]:
    """Apply the namespace and the account; return the Pod of the Deployment."""
    found = found_in(root)
    await cluster.apply(found.of_kind("Namespace") + found.of_kind("ServiceAccount"))
    [deployment] = found.of_kind("Deployment")
    template = deployment["spec"]["template"]
    metadata = {**template["metadata"], "name": "boats", "namespace": "boats-system"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


async def test_the_pod_is_admitted_without_a_warning(cluster: Cluster, fleet: Path) -> None:
    await cluster.apply(await pod_in(cluster, fleet))
    assert not [each.warnings for each in cluster.requests if each.warnings]


@pytest.mark.parametrize("name", WEAKER)
async def test_a_weaker_pod_is_refused(cluster: Cluster, fleet: Path, name: str) -> None:
    pod = without(await pod_in(cluster, fleet), *WEAKER[name])
    with pytest.raises(ApiError, match="violates PodSecurity"):
        await cluster.apply(pod)


async def test_the_root_file_system_is_read_only(fleet: Path) -> None:
    [deployment] = found_in(fleet).of_kind("Deployment")
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
