"""ServiceAccount."""

import asyncio
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest

from sampan.server.admission.plugins.service_account import ServiceAccount
from sampan.server.admission.settings import SERVICE_ACCOUNT, AdmissionSettings
from tests.server.admission.objects import PODS, container, pod, refused
from tests.server.cluster import Api, served

_ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
_MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
_MIRROR = {"kubernetes.io/config.mirror": "x"}


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    """A cluster where Pods have accounts."""
    async with served(admission=AdmissionSettings(enabled=frozenset({SERVICE_ACCOUNT}))) as api:
        yield api


async def _account(api: Api, name: str = "default", annotations: Any = None, **more: Any) -> None:
    await api.create(_ACCOUNTS, {"metadata": {"name": name, "annotations": annotations or {}}, **more})


async def test_containers_get_the_token_of_the_default_account(api: Api) -> None:
    await _account(api)
    spec = (await api.create(PODS, pod(initContainers=[container("i")])))["spec"]
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("default", "default")
    (volume,) = spec["volumes"]
    assert volume["name"].startswith("kube-api-access-")
    assert len(volume["name"]) == len("kube-api-access-") + 5
    assert volume["projected"] == {
        "defaultMode": 420,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {
                "downwardAPI": {
                    "items": [
                        {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
                    ]
                }
            },
        ],
    }
    mount = {"name": volume["name"], "readOnly": True, "mountPath": _MOUNT_PATH}
    assert [each["volumeMounts"] for each in (*spec["containers"], *spec["initContainers"])] == [[mount], [mount]]


async def test_a_mount_at_the_path_of_the_token_is_not_replaced(api: Api) -> None:
    await _account(api)
    mounts = [{"name": "own", "mountPath": _MOUNT_PATH}]
    containers = [container(volumeMounts=mounts)]
    spec = (await api.create(PODS, pod(containers=containers, volumes=[{"name": "own", "emptyDir": {}}])))["spec"]
    assert [volume["name"] for volume in spec["volumes"]] == ["own"]


@pytest.mark.parametrize(
    ("of_account", "of_pod", "mounted"),
    [(None, None, True), (False, None, False), (False, True, True), (True, False, False)],
)
async def test_the_pod_then_its_account_reports_whether_to_mount(
    api: Api, of_account: bool | None, of_pod: bool | None, mounted: bool
) -> None:
    account: dict[str, Any] = {} if of_account is None else {"automountServiceAccountToken": of_account}
    await _account(api, **account)
    configuration: dict[str, Any] = {} if of_pod is None else {"automountServiceAccountToken": of_pod}
    spec = (await api.create(PODS, pod(**configuration)))["spec"]
    assert ("volumes" in spec) is mounted


async def test_pull_secrets_come_from_the_account(api: Api) -> None:
    await _account(api, "a", imagePullSecrets=[{"name": "s"}])
    spec = (await api.create(PODS, pod(serviceAccountName="a")))["spec"]
    assert spec["imagePullSecrets"] == [{"name": "s"}]
    own = [{"name": "own"}]
    spec = (await api.create(PODS, pod("q", serviceAccountName="a", imagePullSecrets=own)))["spec"]
    assert spec["imagePullSecrets"] == own


async def test_an_account_must_be_there(api: Api) -> None:
    assert await refused(api, PODS, pod(serviceAccountName="x")) == (
        'pods "p" is forbidden: error looking up service account default/x: serviceaccount "x" not found'
    )


async def test_the_default_account_is_waited_for() -> None:
    async with served() as api:
        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)
            if len(waits) == 3:
                await asyncio.create_task(_account(api))

        plugin = ServiceAccount(api.cluster.reader, random=Random(1), sleep=sleep)
        api.server.admission.plugins = (plugin,)
        assert (await api.create(PODS, pod()))["spec"]["serviceAccountName"] == "default"
        assert len(waits) == 3
        assert all(0.1 <= each <= 0.2 for each in waits)


async def test_the_default_account_is_not_waited_for_for_ever() -> None:
    async with served() as api:
        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)
            await asyncio.sleep(0)

        api.server.admission.plugins = (ServiceAccount(api.cluster.reader, random=Random(1), sleep=sleep),)
        assert "default/default" in await refused(api, PODS, pod())
        assert len(waits) == 9


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"serviceAccountName": "a"}, "a mirror pod may not reference service accounts"),
        ({"volumes": [{"name": "v", "secret": {"secretName": "s"}}]}, "a mirror pod may not reference secrets"),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]},
            "a mirror pod may not use ServiceAccountToken volume projections",
        ),
    ],
)
async def test_mirror_pods_have_no_rights(api: Api, spec: dict[str, Any], text: str) -> None:
    obj = pod(nodeName="n", **spec)
    obj["metadata"]["annotations"] = _MIRROR
    assert await refused(api, PODS, obj) == f'pods "p" is forbidden: {text}'


async def test_mirror_pods_are_left_alone(api: Api) -> None:
    obj = pod(nodeName="n")
    obj["metadata"]["annotations"] = _MIRROR
    made = await api.create(PODS, obj)
    assert not {"serviceAccountName", "volumes"} & made["spec"].keys()


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            {"volumes": [{"name": "v", "secret": {"secretName": "s"}}]},
            'volume with secret.secretName="s" is not allowed because service account a does not reference that secret',
        ),
        (
            {"containers": [container(envFrom=[{"secretRef": {"name": "s"}}])]},
            'container c with envFrom referencing secret.secretName="s" is not allowed because service account a does '
            "not reference that secret",
        ),
        (
            {"imagePullSecrets": [{"name": "s"}]},
            'imagePullSecrets[0].name="s" is not allowed because service account a does not reference that '
            "imagePullSecret",
        ),
    ],
)
async def test_an_account_may_enforce_which_secrets_are_used(api: Api, spec: dict[str, Any], text: str) -> None:
    await _account(api, "a", {"kubernetes.io/enforce-mountable-secrets": "true"}, secrets=[{"name": "other"}])
    assert await refused(api, PODS, pod(serviceAccountName="a", **spec)) == f'pods "p" is forbidden: {text}'


async def test_it_is_off_where_no_client_makes_accounts() -> None:
    async with served() as api:
        assert "serviceAccountName" not in (await api.create(PODS, pod()))["spec"]
