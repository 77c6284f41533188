"""The official client `kubernetes`: every kind of patch, and what it raises when the server refuses."""

from collections.abc import Iterator

import pytest
from kubernetes import config
from kubernetes.client import ApiClient, AppsV1Api, Configuration, CoreV1Api
from kubernetes.client.exceptions import (
    ConflictException,
    NotFoundException,
    UnauthorizedException,
    UnprocessableEntityException,
)
from kubernetes.utils.retry import retry_on_conflict

from tests.e2e.python.objects import Json, config_map, deployment


@pytest.fixture(scope="module")
def connection(kubeconfig: str) -> Iterator[ApiClient]:
    """A client with the server's kubeconfig."""
    with config.new_client_from_config(config_file=kubeconfig) as connection:
        yield connection


@pytest.fixture(scope="module")
def core(connection: ApiClient) -> CoreV1Api:
    """The core group."""
    return CoreV1Api(connection)


@pytest.fixture(scope="module")
def apps(connection: ApiClient) -> AppsV1Api:
    """The group `apps`."""
    return AppsV1Api(connection)


@pytest.fixture
def settings(core: CoreV1Api, namespace: str) -> Json:
    """A ConfigMap that exists."""
    body = config_map("settings", {"colour": "blue", "size": "large"})
    core.create_namespaced_config_map(namespace, body)
    return body


@pytest.mark.parametrize(
    ("content_type", "patch"),
    [
        pytest.param(
            "application/json-patch+json",
            [{"op": "replace", "path": "/data/colour", "value": "red"}, {"op": "remove", "path": "/data/size"}],
            id="json",
        ),
        pytest.param("application/merge-patch+json", {"data": {"colour": "red", "size": None}}, id="merge"),
        pytest.param(
            "application/strategic-merge-patch+json", {"data": {"colour": "red", "size": None}}, id="strategic"
        ),
        pytest.param(None, {"data": {"colour": "red", "size": None}}, id="default"),
    ],
)
@pytest.mark.usefixtures("settings")
def test_a_patch_changes_what_it_names(
    core: CoreV1Api, namespace: str, content_type: str | None, patch: Json | list[Json]
) -> None:
    changed = core.patch_namespaced_config_map("settings", namespace, patch, _content_type=content_type)
    assert changed.data == {"colour": "red"}


def test_a_strategic_patch_merges_containers_by_name(apps: AppsV1Api, namespace: str) -> None:
    apps.create_namespaced_deployment(namespace, deployment("web"))
    added = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "busybox:1.36"}]}}}}
    changed = apps.patch_namespaced_deployment("web", namespace, added)
    assert [container.name for container in changed.spec.template.spec.containers] == ["side", "main"]


def apply(core: CoreV1Api, namespace: str, body: Json, manager: str, *, force: bool | None = None) -> dict[str, str]:
    """Server-side apply of a ConfigMap; gives its data."""
    applied = core.patch_namespaced_config_map(
        body["metadata"]["name"],
        namespace,
        body,
        field_manager=manager,
        force=force,
        _content_type="application/apply-patch+yaml",
    )
    data: dict[str, str] = applied.data
    return data


def test_apply_creates_and_removes_what_is_no_longer_applied(core: CoreV1Api, namespace: str) -> None:
    assert apply(core, namespace, config_map("new", {"a": "1", "b": "2"}), "one") == {"a": "1", "b": "2"}
    assert apply(core, namespace, config_map("new", {"a": "1"}), "one") == {"a": "1"}


@pytest.mark.usefixtures("settings")
def test_apply_conflicts_until_it_is_forced(core: CoreV1Api, namespace: str) -> None:
    apply(core, namespace, config_map("settings", {"colour": "blue"}), "one")
    with pytest.raises(ConflictException) as raised:
        apply(core, namespace, config_map("settings", {"colour": "red"}), "two")
    assert '"message":"conflict with \\"one\\"","field":".data.colour"' in raised.value.body
    assert apply(core, namespace, config_map("settings", {"colour": "red"}), "two", force=True)["colour"] == "red"


def test_a_missing_object_raises_not_found(core: CoreV1Api, namespace: str) -> None:
    with pytest.raises(NotFoundException) as raised:
        core.read_namespaced_config_map("nothing", namespace)
    assert (raised.value.status, raised.value.reason) == (404, "Not Found")
    assert '"message":"configmaps \\"nothing\\" not found"' in raised.value.body


@pytest.mark.usefixtures("settings")
def test_a_second_object_of_the_name_already_exists(core: CoreV1Api, namespace: str) -> None:
    with pytest.raises(ConflictException) as raised:
        core.create_namespaced_config_map(namespace, config_map("settings"))
    assert '"reason":"AlreadyExists"' in raised.value.body


@pytest.mark.usefixtures("settings")
def test_an_old_version_conflicts_and_is_tried_again(core: CoreV1Api, namespace: str) -> None:
    stale = core.read_namespaced_config_map("settings", namespace)
    core.patch_namespaced_config_map("settings", namespace, {"data": {"by": "another"}})
    with pytest.raises(ConflictException) as raised:
        core.replace_namespaced_config_map("settings", namespace, stale)
    assert '"reason":"Conflict"' in raised.value.body
    tried = [stale]

    def change() -> Json:
        found = tried.pop() if tried else core.read_namespaced_config_map("settings", namespace)
        found.data["mine"] = "too"
        data: Json = core.replace_namespaced_config_map("settings", namespace, found).data
        return data

    assert retry_on_conflict(change, sleep_func=lambda _: None)["by"] == "another"


def test_an_invalid_object_is_refused_with_its_field(apps: AppsV1Api, namespace: str) -> None:
    with pytest.raises(UnprocessableEntityException) as raised:
        apps.create_namespaced_deployment(namespace, deployment("web", replicas=-1))
    assert (raised.value.status, raised.value.reason) == (422, "Unprocessable Entity")
    assert '"field":"spec.replicas"' in raised.value.body


@pytest.mark.usefixtures("settings")
def test_an_unknown_field_is_refused_when_validation_is_strict(core: CoreV1Api, namespace: str) -> None:
    with pytest.raises(UnprocessableEntityException) as raised:
        core.patch_namespaced_config_map("settings", namespace, {"colour": "blue"}, field_validation="Strict")
    assert 'unknown field \\"colour\\"' in raised.value.body


def test_no_client_is_let_in_with_a_wrong_token(connection: ApiClient, namespace: str) -> None:
    configuration = Configuration(host=connection.configuration.host, api_key={"authorization": "Bearer wrong"})
    configuration.ssl_ca_cert = connection.configuration.ssl_ca_cert
    with ApiClient(configuration) as outsider, pytest.raises(UnauthorizedException) as raised:
        CoreV1Api(outsider).list_namespaced_pod(namespace)
    assert (raised.value.status, raised.value.reason) == (401, "Unauthorized")
