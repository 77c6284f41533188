"""The engine of `sampan deploy`: plan, order, ownership, pruning and readiness."""

import re
from typing import Any

import pytest

from sampan.client import Forbidden, NotFound
from sampan.project.deploying.applying import apply_plan
from sampan.project.deploying.inventory import Inventory
from sampan.project.deploying.plan import make_plan
from sampan.project.deploying.readiness import NotReady
from sampan.project.errors import ProjectError
from sampan.resource import Object
from sampan.testing import Cluster
from tests.project.deploying.objects import INVENTORY, config_map, crd, deploy, deployment, get, operator, planned

pytestmark = pytest.mark.cluster(loops="chain")


def changed_since(cluster: Cluster, revision: int) -> set[str]:
    """Return the keys of objects that were written after a revision, except what control loops and nodes write."""
    return {
        each.key.removeprefix("/registry/")
        for each in cluster.journal.writes
        if each.revision > revision and not each.key.startswith(("/registry/leases/", "/registry/events/"))
    }


def revision_of(cluster: Cluster) -> int:
    """Return the revision of the last write."""
    return max(each.revision for each in cluster.journal.writes)


async def test_objects_are_applied_in_order_and_webhooks_after_the_pods_are_ready(cluster: Cluster) -> None:
    cluster.pods.ready_after("boats-*", 20)
    lines = await deploy(cluster.admin(), operator())
    steps = [line for line in lines if not line.startswith("waiting")]
    assert steps == [
        "created  Namespace harbour",
        "created  ConfigMap boats-deployment in harbour",
        "created  CustomResourceDefinition boats.boats.example.com",
        "created  ServiceAccount boats in harbour",
        "created  ClusterRole boats",
        "created  ClusterRoleBinding boats",
        "created  Deployment boats in harbour",
        "ready    Deployment boats in harbour",
        "created  ValidatingWebhookConfiguration boats",
    ]


async def test_the_second_deployment_writes_nothing(cluster: Cluster) -> None:
    await deploy(cluster.admin(), operator())
    await cluster.settled()
    before = revision_of(cluster)
    plan = await planned(cluster.admin(), operator())
    assert plan.is_empty
    assert plan.text() == ""
    assert await deploy(cluster.admin(), operator()) == ["ready    Deployment boats in harbour"]
    assert changed_since(cluster, before) == set()


async def test_a_changed_field_is_shown_and_only_its_object_is_written(cluster: Cluster) -> None:
    await deploy(cluster.admin(), operator())
    await cluster.settled()
    before = revision_of(cluster)
    changed = operator()
    changed[3]["rules"][0]["verbs"] = ["get"]
    text = (await planned(cluster.admin(), changed)).text()
    assert text.startswith("change   ClusterRole boats\n")
    assert "\n-  - watch\n" in text
    assert text.count("change   ") == 1
    await deploy(cluster.admin(), changed)
    assert changed_since(cluster, before) == {"clusterroles/boats"}


async def test_new_objects_are_lines_and_their_text_is_shown_in_full(cluster: Cluster) -> None:
    plan = await planned(cluster.admin(), operator())
    assert "create   Deployment boats in harbour\n" in plan.text()
    assert "image: boats:1" not in plan.text()
    assert "image: boats:1" in plan.text(in_full=True)


async def test_objects_that_left_the_project_are_removed_and_foreign_ones_stay(cluster: Cluster) -> None:
    client = cluster.admin()
    await deploy(client, operator(more=(config_map("settings"),)))
    await cluster.create(config_map("other"))
    assert "remove   ConfigMap settings in harbour" in (await planned(client, operator())).text()
    assert "removed  ConfigMap settings in harbour" in await deploy(client, operator())
    with pytest.raises(NotFound):
        await get(client, "configmap", "settings", "harbour")
    await get(client, "configmap", "other", "harbour")
    assert (await planned(client, operator())).is_empty


async def test_a_crd_that_left_the_project_stays_while_it_has_objects(cluster: Cluster) -> None:
    client = cluster.admin()
    await deploy(client, operator())
    without = [each for each in operator() if each["kind"] != "CustomResourceDefinition"]
    one: Object = {"apiVersion": "boats.example.com/v1", "kind": "Boat", "metadata": {"name": "one"}}
    await (await client.resource_for("boats", namespace="default")).create(one)
    plan = await planned(client, without)
    assert "keep     CustomResourceDefinition boats.boats.example.com" in plan.text()
    assert "1 objects exist" in plan.text()
    await deploy(client, without)
    await (await client.resource_for("boats", namespace="default")).delete("one")
    assert "removed  CustomResourceDefinition boats.boats.example.com" in await deploy(client, without)


async def test_an_object_of_another_owner_is_refused_by_name_and_nothing_is_written(cluster: Cluster) -> None:
    client = cluster.admin()
    resource = await client.resource_for("crd")
    await resource.apply(crd(), field_manager="helm")
    with pytest.raises(ProjectError, match=r"CustomResourceDefinition boats\.boats\.example\.com \(managed by helm\)"):
        await planned(client, operator())
    with pytest.raises(NotFound):
        await get(client, "namespace", "harbour")
    lines = await deploy(client, operator(), take_over=True)
    assert "changed  CustomResourceDefinition boats.boats.example.com" in lines
    assert (await planned(client, operator())).is_empty


async def test_what_sampan_run_has_applied_is_taken_over(cluster: Cluster) -> None:
    client = cluster.admin()
    await (await client.resource_for("crd")).apply(crd(), field_manager="sampan-run")
    assert "changed  CustomResourceDefinition boats.boats.example.com" in await deploy(client, operator())


async def test_an_object_of_another_deployment_names_that_deployment(cluster: Cluster) -> None:
    client = cluster.admin()
    await deploy(client, operator())
    from_elsewhere = [*operator()]
    from_elsewhere[0] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}
    with pytest.raises(ProjectError, match="ConfigMap boats-deployment in harbour"):
        await make_plan(client, Inventory("boats", "other"), from_elsewhere)


async def test_a_conflict_names_the_object_the_field_and_its_owner(cluster: Cluster) -> None:
    client = cluster.admin()
    await deploy(client, operator())
    scaled = {**deployment("boats:1", 1), "spec": {"replicas": 3}}
    resource = await client.resource_for("deployments", namespace="harbour")
    await resource.apply(scaled, field_manager="autoscaler", force=True)
    with pytest.raises(ProjectError, match=r'Deployment boats in harbour: \.spec\.replicas .*"autoscaler"'):
        await planned(client, operator())
    await deploy(client, operator(), take_over=True)
    assert (await get(client, "deployments", "boats", "harbour"))["spec"]["replicas"] == 1


async def test_a_namespace_that_exists_is_used_but_not_changed(cluster: Cluster) -> None:
    client = cluster.admin()
    await cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "harbour"}})
    before = await get(client, "namespace", "harbour")
    assert "keep     Namespace harbour: it exists already" in (await planned(client, operator())).text()
    await deploy(client, operator())
    assert (await get(client, "namespace", "harbour"))["metadata"]["resourceVersion"] == before["metadata"][
        "resourceVersion"
    ]


async def test_missing_rights_are_named_before_anything_is_written(cluster: Cluster) -> None:
    with pytest.raises(ProjectError, match=r"your user may not .*create, patch clusterroles"):
        await planned(cluster.client("guest", groups=("system:authenticated",)), operator())
    with pytest.raises(NotFound):
        await get(cluster.admin(), "namespace", "harbour")


async def test_a_right_that_the_operator_gets_but_the_user_lacks_is_refused_before_anything_is_written(
    cluster: Cluster,
) -> None:
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "create", "patch"]}]
    await cluster.apply(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "most"},
            "rules": rules,
        },
    )
    await cluster.apply(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "most"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "most"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "guest"}],
        },
    )
    guest = cluster.client("guest", groups=("system:authenticated",))
    with pytest.raises(Forbidden, match="attempting to grant RBAC permissions"):
        await planned(guest, operator())
    with pytest.raises(NotFound):
        await get(cluster.admin(), "namespace", "harbour")


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("image_pull_fails", r"Pod boats-.*, container operator: waits: (ErrImagePull|ImagePullBackOff)"),
        ("crash", r"Pod boats-.*, container operator: .*ended with exit code 1 .*restarts"),
        ("never_ready", r"Pod boats-.*, container operator: runs, but its readiness probe has not succeeded"),
    ],
)
async def test_reasons_are_reported_if_the_pods_do_not_become_ready(
    cluster: Cluster, fault: str, expected: str
) -> None:
    getattr(cluster.pods, fault)("boats-*")
    lines = list[str]()
    plan = await planned(cluster.admin(), operator())
    with pytest.raises(NotReady, match="0 of 1 replicas are available"):
        await apply_plan(cluster.admin(), plan, lines.append, timeout_s=60)
    assert [line for line in lines if re.search(expected, line)], lines
    assert not [line for line in lines if "WebhookConfiguration" in line], "webhooks come after the Pods"
    await deploy_again(cluster)


async def deploy_again(cluster: Cluster) -> None:
    """Check that a corrected image ends the failed state."""
    cluster.pods.ready_after("boats-*", 0)
    lines = await deploy(cluster.admin(), operator(image="boats:2"))
    assert "created  ValidatingWebhookConfiguration boats" in lines


async def test_a_pod_that_admission_refuses_is_explained_by_its_replica_set(cluster: Cluster) -> None:
    client = cluster.admin()
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    objects: list[Any] = operator()
    objects[0] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "harbour", "labels": labels}}
    plan = await planned(client, objects)
    lines = list[str]()
    with pytest.raises(NotReady):
        await apply_plan(client, plan, lines.append, timeout_s=20)
    assert [line for line in lines if "ReplicaFailure" in line and "violates PodSecurity" in line], lines


async def test_an_interrupted_deployment_is_continued(cluster: Cluster) -> None:
    client = cluster.admin()
    half = await planned(client, operator())
    await client.resource(half.changes[0].info).apply(half.changes[0].desired, field_manager="sampan-deploy")
    lines = await deploy(client, operator())
    assert "created  Namespace harbour" not in lines
    assert (await planned(client, operator())).is_empty
    assert (await get(client, "configmap", INVENTORY.parent, "harbour"))["metadata"]["labels"]
