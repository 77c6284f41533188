"""`lightkube`, the synchronous client: objects, patches, apply, selectors, errors, subresources."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from lightkube import ApiError, Client, KubeConfig, codecs, sort_objects
from lightkube.core.exceptions import ObjectDeleted
from lightkube.models.autoscaling_v1 import ScaleSpec
from lightkube.models.core_v1 import Container, PodCondition, PodSpec, PodStatus
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.operators import exists, in_, not_equal
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Namespace, Pod, Secret
from lightkube.types import CascadeType, PatchType

from tests.e2e.conftest import Api
from tests.e2e.python.objects import config_map, deployment, pod


@pytest.fixture(scope="module")
def client(kubeconfig: str) -> Iterator[Client]:
    """A client with the server's kubeconfig."""
    with Client(config=KubeConfig.from_file(kubeconfig), trust_env=False, field_manager="tests") as client:
        yield client


def settings(name: str = "settings", labels: dict[str, str] | None = None, **data: str) -> ConfigMap:
    """A ConfigMap as a model."""
    return ConfigMap(metadata=ObjectMeta(name=name, labels=labels), data=data)


def names(found: Any) -> list[str]:
    """The names of a list."""
    return [item.metadata.name for item in found]


def test_the_kubeconfig_gives_the_namespace(client: Client) -> None:
    assert client.namespace == "default"


def test_an_object_is_created_and_read_back(client: Client, namespace: str) -> None:
    created = client.create(settings(colour="blue"), namespace=namespace)
    read = client.get(ConfigMap, "settings", namespace=namespace)
    assert read == created
    assert read.metadata.managedFields[0].manager == "tests"


def test_an_object_without_a_namespace_is_created(client: Client, namespace: str) -> None:
    created = client.create(Namespace(metadata=ObjectMeta(generateName=f"{namespace}-")))
    assert created.status.phase == "Active"
    client.delete(Namespace, created.metadata.name)


def test_a_dry_run_stores_nothing(client: Client, namespace: str) -> None:
    client.create(settings(), namespace=namespace, dry_run=True)
    assert names(client.list(ConfigMap, namespace=namespace)) == []


def test_a_list_is_read_in_chunks(client: Client, namespace: str) -> None:
    for number in range(5):
        client.create(settings(f"page-{number}"), namespace=namespace)
    found = client.list(ConfigMap, namespace=namespace, chunk_size=2)
    assert names(found) == [f"page-{number}" for number in range(5)]
    assert int(found.resourceVersion) > 0


def test_selectors_are_written_with_operators(client: Client, namespace: str) -> None:
    client.create(settings("one", labels={"app": "web", "tier": "front"}), namespace=namespace)
    client.create(settings("two", labels={"app": "db"}), namespace=namespace)
    client.create(settings("three", labels={"app": "web"}), namespace=namespace)
    labels = {"app": in_(["web", "api"]), "tier": exists()}
    assert names(client.list(ConfigMap, namespace=namespace, labels=labels)) == ["one"]
    fields = {"metadata.name": not_equal("two"), "metadata.namespace": namespace}
    assert names(client.list(ConfigMap, namespace="*", fields=fields)) == ["one", "three"]


def test_replace_conflicts_with_what_another_has_written(client: Client, namespace: str) -> None:
    stale = client.create(settings(colour="blue"), namespace=namespace)
    fresh = client.get(ConfigMap, "settings", namespace=namespace)
    fresh.data = {"colour": "red"}
    assert client.replace(fresh).data == {"colour": "red"}
    with pytest.raises(ApiError) as raised:
        client.replace(stale)
    assert (raised.value.status.code, raised.value.status.reason) == (409, "Conflict")


@pytest.mark.parametrize(
    ("patch_type", "patch"),
    [
        pytest.param(PatchType.JSON, [{"op": "remove", "path": "/data/size"}], id="json"),
        pytest.param(PatchType.MERGE, {"data": {"size": None}}, id="merge"),
        pytest.param(PatchType.STRATEGIC, {"data": {"size": None}}, id="strategic"),
    ],
)
def test_a_patch_changes_what_it_names(client: Client, namespace: str, patch_type: PatchType, patch: Any) -> None:
    client.create(settings(colour="blue", size="large"), namespace=namespace)
    changed = client.patch(ConfigMap, "settings", patch, namespace=namespace, patch_type=patch_type)
    assert changed.data == {"colour": "blue"}


def test_apply_conflicts_until_it_is_forced(client: Client, namespace: str) -> None:
    assert client.apply(settings(colour="blue"), namespace=namespace, field_manager="one").data == {"colour": "blue"}
    with pytest.raises(ApiError) as raised:
        client.apply(settings(colour="red"), namespace=namespace, field_manager="two")
    causes = raised.value.status.details.causes
    assert [(cause.reason, cause.field) for cause in causes] == [("FieldManagerConflict", ".data.colour")]
    forced = client.apply(settings(colour="red"), namespace=namespace, field_manager="two", force=True)
    assert forced.data == {"colour": "red"}


def test_apply_of_a_model_does_not_conflict_with_itself(client: Client, namespace: str) -> None:
    body = Pod(metadata=ObjectMeta(name="web"), spec=PodSpec(containers=[Container(name="main", image="nginx:1.27")]))
    first = client.apply(body, namespace=namespace)
    again = client.apply(body, namespace=namespace)
    assert first.metadata.resourceVersion == again.metadata.resourceVersion


def test_manifests_are_loaded_sorted_and_applied(client: Client, namespace: str) -> None:
    manifests = yaml.safe_dump_all([deployment("web"), config_map("settings", {"colour": "blue"})])
    objects = sort_objects(codecs.load_all_yaml(manifests))
    assert [each.kind for each in objects] == ["ConfigMap", "Deployment"]
    for each in objects:
        client.apply(each, namespace=namespace)
    assert client.get(ConfigMap, "settings", namespace=namespace).data == {"colour": "blue"}
    assert client.get(Deployment, "web", namespace=namespace).spec.replicas == 1


def test_a_missing_object_raises_not_found(client: Client, namespace: str) -> None:
    with pytest.raises(ApiError) as raised:
        client.get(Pod, "nothing", namespace=namespace)
    status = raised.value.status
    assert (status.code, status.reason, status.message) == (404, "NotFound", 'pods "nothing" not found')
    assert (status.details.name, status.details.kind) == ("nothing", "pods")


def test_an_invalid_object_is_refused_with_its_field(client: Client, namespace: str) -> None:
    with pytest.raises(ApiError) as raised:
        client.create(Secret(metadata=ObjectMeta(name="Not A Name")), namespace=namespace)
    status = raised.value.status
    assert (status.code, status.reason, status.details.causes[0].field) == (422, "Invalid", "metadata.name")


def test_a_status_is_patched_apart(client: Client, namespace: str) -> None:
    spec = PodSpec(containers=[Container(name="main", image="nginx:1.27")])
    client.create(Pod(metadata=ObjectMeta(name="web"), spec=spec), namespace=namespace)
    status = Pod.Status(status=PodStatus(phase="Running", conditions=[PodCondition(type="Ready", status="True")]))
    client.patch(Pod.Status, "web", status, namespace=namespace)
    read = client.get(Pod.Status, "web", namespace=namespace)
    assert read.status.phase == "Running"


def test_a_deployment_is_scaled(client: Client, api: Api, namespace: str) -> None:
    api.create(f"/apis/apps/v1/namespaces/{namespace}/deployments", deployment("web"))
    scale = Deployment.Scale(metadata=ObjectMeta(name="web", namespace=namespace), spec=ScaleSpec(replicas=3))
    assert client.replace(scale, "web", namespace=namespace).spec == ScaleSpec(replicas=3)
    found = client.get(Deployment, "web", namespace=namespace)
    assert found.spec.replicas == 3


def test_an_object_and_a_collection_are_deleted(client: Client, namespace: str) -> None:
    for name in ("one", "two", "three"):
        client.create(settings(name, labels={"app": name}), namespace=namespace)
    client.delete(ConfigMap, "one", namespace=namespace, cascade=CascadeType.BACKGROUND)
    with pytest.raises(ApiError) as raised:
        client.delete(ConfigMap, "one", namespace=namespace)
    assert raised.value.status.code == 404
    client.deletecollection(ConfigMap, namespace=namespace)
    assert names(client.list(ConfigMap, namespace=namespace)) == []


def test_wait_ends_when_the_condition_is_there(client: Client, namespace: str) -> None:
    spec = PodSpec(containers=[Container(name="main", image="nginx:1.27")])
    client.create(Pod(metadata=ObjectMeta(name="web"), spec=spec), namespace=namespace)
    status = Pod.Status(status=PodStatus(conditions=[PodCondition(type="Ready", status="True")]))
    client.patch(Pod.Status, "web", status, namespace=namespace)
    found = client.wait(Pod, "web", for_conditions=["Ready"], namespace=namespace)
    assert found.metadata.name == "web"


def test_wait_reports_of_a_deletion(client: Client, api: Api, namespace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods"
    api.create(path, pod("web"))
    watch = client.watch

    def watch_and_delete(*arguments: Any, **options: Any) -> Iterator[Any]:
        for event in watch(*arguments, **options):
            yield event
            api.request("DELETE", f"{path}/web")

    monkeypatch.setattr(client, "watch", watch_and_delete)
    with pytest.raises(ObjectDeleted):
        client.wait(Pod, "web", for_conditions=["Ready"], namespace=namespace)
