"""PUT: of objects, of their status, of subresources.

Source: apiserver pkg/endpoints/handlers/update.go, pkg/registry/rest/update.go (1.36).
"""

import asyncio
import base64
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from sampan.storage.memory import MemoryStore
from sampan.storage.store import Revision
from tests.server.cluster import Api, served
from tests.server.verbs.objects import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    PODS,
    WIDGETS,
    config_map,
    deployment,
    pod,
    some_config_maps,
    widget,
    with_widgets,
)

LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
LOST = (
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; '
    "please apply your changes to the latest version and try again"
)
MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


async def test_an_update_replaces(api: Api) -> None:
    created = await api.create(CONFIG_MAPS, config_map(labels={"a": "b"}))
    response = await api.put(f"{CONFIG_MAPS}/a", config_map() | {"data": {"x": "y"}})
    assert (response.code, response.body["data"]) == (200, {"x": "y"})
    assert "labels" not in response.metadata
    assert response.metadata["uid"] == created["metadata"]["uid"]
    assert int(response.metadata["resourceVersion"]) > int(created["metadata"]["resourceVersion"])


async def test_a_stale_update_conflicts(api: Api) -> None:
    created = await api.create(DEPLOYMENTS, deployment())
    await api.patch(f"{DEPLOYMENTS}/d", {"spec": {"replicas": 2}})
    response = await api.put(f"{DEPLOYMENTS}/d", created)
    assert (response.code, response.reason) == (409, "Conflict")
    assert response.message == f'Operation cannot be fulfilled on deployments.apps "d": {MODIFIED}'
    assert response.body["details"] == {"name": "d", "group": "apps", "kind": "deployments"}


class SlowStore(MemoryStore):
    """A commit takes its time, so that updates overlap."""

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0, frees: bool = False) -> Revision:
        await asyncio.sleep(0)
        return await super().update(key, value, expected, ttl_s=ttl_s)


@pytest.mark.parametrize(("revision", "codes"), [("same", [200, 409, 409]), ("0", [200] * 3), ("", [200] * 3)])
async def test_of_updates_at_the_same_time_one_wins_unless_they_are_unconditional(
    revision: str, codes: list[int]
) -> None:
    async with served(SlowStore()) as api:
        created = await api.create(CONFIG_MAPS, config_map())
        sent = created["metadata"]["resourceVersion"] if revision == "same" else revision
        metadata = {**created["metadata"], "resourceVersion": sent}
        wishes = [created | {"metadata": metadata, "data": {"by": str(number)}} for number in range(3)]
        responses = await asyncio.gather(*(api.put(f"{CONFIG_MAPS}/a", wish) for wish in wishes))
    assert sorted(response.code for response in responses) == codes
    assert {response.message for response in responses if response.code == 409} <= {LOST}


@pytest.mark.parametrize("revision", [None, "", "0"])
async def test_an_unconditional_update(api: Api, revision: str | None) -> None:
    await api.create(CONFIG_MAPS, config_map())
    body = config_map() if revision is None else config_map(resourceVersion=revision)
    assert (await api.put(f"{CONFIG_MAPS}/a", body)).code == 200


async def test_no_unconditional_update_of_custom_resources(api: Api) -> None:
    await with_widgets(api)
    await api.create(WIDGETS, widget())
    response = await api.put(f"{WIDGETS}/w", widget())
    assert (response.code, response.reason) == (422, "Invalid")
    assert response.message == (
        'widgets.example.com "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an '
        "update"
    )


async def test_another_uid_conflicts(api: Api) -> None:
    created = await api.create(CONFIG_MAPS, config_map())
    response = await api.put(f"{CONFIG_MAPS}/a", config_map(uid="other"))
    assert (response.code, response.reason) == (409, "Conflict")
    assert response.message == (
        'Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, '
        "Key: /configmaps/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        f"UID in precondition: other, UID in object meta: {created['metadata']['uid']}"
    )


async def test_an_update_by_uid_of_what_is_not_there_conflicts(api: Api) -> None:
    lease = {"metadata": {"name": "l", "uid": "other"}}
    response = await api.put("/apis/coordination.k8s.io/v1/namespaces/default/leases/l", lease)
    assert (response.code, response.reason) == (409, "Conflict")
    assert response.message == (
        'Operation cannot be fulfilled on leases.coordination.k8s.io "l": StorageError: invalid object, Code: 4, '
        "Key: /leases/default/l, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        "UID in precondition: other, UID in object meta: "
    )


async def test_the_name_must_fit_the_path(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map())
    response = await api.put(f"{CONFIG_MAPS}/a", config_map("b"))
    assert (response.code, response.message) == (
        400,
        "the name of the object (b) does not match the name on the URL (a)",
    )
    response = await api.put(f"{CONFIG_MAPS}/a", {"data": {}})
    assert response.code == 400


async def test_the_namespace_must_fit_the_path(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map())
    assert (await api.put(f"{CONFIG_MAPS}/a", config_map(namespace="other"))).code == 400


async def test_update_of_nothing(api: Api) -> None:
    response = await api.put(f"{CONFIG_MAPS}/a", config_map())
    assert (response.code, response.message) == (404, 'configmaps "a" not found')


async def test_leases_are_made_by_put(api: Api) -> None:
    body = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me"}}
    assert (await api.put(f"{LEASES}/l", body)).code == 201
    assert (await api.put(f"{LEASES}/l", body)).code == 422


@pytest.mark.parametrize("how", ["put", "merge", "strategic", "json", "apply"])
async def test_a_write_that_changes_nothing_is_none(api: Api, how: str) -> None:
    await api.create(DEPLOYMENTS, deployment())
    applied = await api.apply(f"{DEPLOYMENTS}/d", deployment(), "fieldManager=tests&force=true")
    before = applied.body
    async with api.watch(f"{DEPLOYMENTS}?watch=1&resourceVersion={before['metadata']['resourceVersion']}") as watch:
        if how == "put":
            response = await api.put(f"{DEPLOYMENTS}/d", before)
        elif how == "apply":
            response = await api.apply(f"{DEPLOYMENTS}/d", deployment(), "fieldManager=tests&force=true")
        else:
            body: Any = [{"op": "replace", "path": "/spec/replicas", "value": 1}]
            response = await api.patch(f"{DEPLOYMENTS}/d", body if how == "json" else {"spec": {"replicas": 1}}, how)
        assert (response.code, response.body) == (200, before)
        await api.patch(f"{DEPLOYMENTS}/d", {"spec": {"replicas": 3}})
        event = await watch.event()
    assert event["object"]["spec"]["replicas"] == 3


async def test_generation_follows_the_spec_alone(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment())
    labelled = await api.patch(f"{DEPLOYMENTS}/d", {"metadata": {"labels": {"a": "b"}}})
    scaled = await api.patch(f"{DEPLOYMENTS}/d", {"spec": {"replicas": 2}})
    observed = await api.patch(f"{DEPLOYMENTS}/d/status", {"status": {"observedGeneration": 2}})
    fixed = await api.patch(f"{DEPLOYMENTS}/d", {"metadata": {"generation": 9}})
    assert [a.metadata["generation"] for a in (labelled, scaled, observed, fixed)] == [1, 2, 2, 2]


async def test_generation_of_custom_resources(api: Api) -> None:
    await with_widgets(api)
    made = await api.create(WIDGETS, widget())
    sized = await api.patch(f"{WIDGETS}/w", {"spec": {"size": 2}})
    status = await api.patch(f"{WIDGETS}/w/status", {"status": {"size": 2}})
    labelled = await api.patch(f"{WIDGETS}/w", {"metadata": {"labels": {"a": "b"}}})
    assert made["metadata"]["generation"] == 1
    assert [a.metadata["generation"] for a in (sized, status, labelled)] == [2, 2, 2]


async def test_system_metadata_stays(api: Api) -> None:
    created = await api.create(CONFIG_MAPS, config_map())
    response = await api.patch(
        f"{CONFIG_MAPS}/a", {"metadata": {"creationTimestamp": "2001-01-01T00:00:00Z", "deletionTimestamp": None}}
    )
    assert response.code == 200
    assert response.metadata["creationTimestamp"] == created["metadata"]["creationTimestamp"]


async def test_the_object_keeps_its_status(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment())
    await api.patch(f"{DEPLOYMENTS}/d/status", {"status": {"replicas": 4}})
    response = await api.put(f"{DEPLOYMENTS}/d", deployment("d", 2) | {"status": {"replicas": 9}})
    assert response.body["status"]["replicas"] == 4


async def test_the_status_keeps_the_spec(api: Api) -> None:
    created = await api.create(DEPLOYMENTS, deployment())
    created["spec"]["replicas"], created["status"] = 7, {"replicas": 3}
    created["metadata"]["annotations"] = {"a": "b"}
    response = await api.put(f"{DEPLOYMENTS}/d/status", created)
    assert (response.body["spec"]["replicas"], response.body["status"]["replicas"]) == (1, 3)
    assert response.metadata["annotations"] == {"a": "b"}
    assert [e.get("subresource") for e in response.metadata["managedFields"]] == [None, "status"]


async def test_the_status_of_a_custom_resource_takes_nothing_else(api: Api) -> None:
    await with_widgets(api)
    created = await api.create(WIDGETS, widget(status={"size": 5}))
    assert "status" not in created
    created |= {"spec": {"size": 9}, "status": {"size": 2}}
    created["metadata"]["labels"] = {"a": "b"}
    response = await api.put(f"{WIDGETS}/w/status", created)
    assert (response.body["spec"], response.body["status"]) == ({"size": 1}, {"size": 2})
    assert "labels" not in response.metadata


async def test_no_status_where_there_is_none(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map())
    assert (await api.put(f"{CONFIG_MAPS}/a/status", config_map())).code == 404


async def test_a_stale_status_conflicts(api: Api) -> None:
    created = await api.create(DEPLOYMENTS, deployment())
    await api.patch(f"{DEPLOYMENTS}/d", {"spec": {"replicas": 2}})
    assert (await api.put(f"{DEPLOYMENTS}/d/status", created)).code == 409


async def test_scale(api: Api) -> None:
    created = await api.create(DEPLOYMENTS, deployment())
    scale = (await api.get(f"{DEPLOYMENTS}/d/scale")).body
    assert scale == {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {
            name: created["metadata"][name]
            for name in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        },
        "spec": {"replicas": 1},
        "status": {"replicas": 0, "selector": "app=d"},
    }
    scale["spec"]["replicas"] = 5
    scaled = await api.put(f"{DEPLOYMENTS}/d/scale", scale)
    assert (scaled.code, scaled.body["spec"]) == (200, {"replicas": 5})
    assert (await api.get(f"{DEPLOYMENTS}/d")).body["spec"]["replicas"] == 5
    assert (await api.put(f"{DEPLOYMENTS}/d/scale", scale)).code == 409


@pytest.mark.parametrize("kind", ["merge", "strategic", "json"])
async def test_patch_of_scale(api: Api, kind: str) -> None:
    await api.create(DEPLOYMENTS, deployment())
    body: Any = {"spec": {"replicas": 0}}
    if kind == "json":
        body = [{"op": "replace", "path": "/spec/replicas", "value": 0}]
    response = await api.patch(f"{DEPLOYMENTS}/d/scale", body, kind)
    assert (response.code, response.body["spec"]) == (200, {})
    entries = (await api.get(f"{DEPLOYMENTS}/d")).metadata["managedFields"]
    assert [e["subresource"] for e in entries if "subresource" in e] == ["scale"]


async def test_scale_has_rules(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment())
    response = await api.patch(f"{DEPLOYMENTS}/d/scale", {"spec": {"replicas": -1}})
    assert (response.code, response.reason) == (422, "Invalid")
    assert response.causes[0]["field"] == "spec.replicas"
    assert (await api.put(f"{DEPLOYMENTS}/d/scale", {"spec": {"replicas": "x"}})).code == 400


async def test_scale_of_nothing(api: Api) -> None:
    assert (await api.get(f"{DEPLOYMENTS}/d/scale")).code == 404
    assert (await api.patch(f"{DEPLOYMENTS}/d/scale", {"spec": {"replicas": 1}})).code == 404


async def test_scale_of_a_custom_resource(api: Api) -> None:
    await with_widgets(api)
    await api.create(WIDGETS, widget())
    response = await api.patch(f"{WIDGETS}/w/scale", {"spec": {"replicas": 3}})
    assert (response.code, response.body["spec"]) == (200, {"replicas": 3})
    assert (await api.get(f"{WIDGETS}/w")).body["spec"]["size"] == 3


async def test_binding(api: Api) -> None:
    await api.create(PODS, pod())
    body = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    response = await api.post(f"{PODS}/p/binding", body)
    assert (response.code, response.body["status"]) == (201, "Success")
    bound = (await api.get(f"{PODS}/p")).body
    assert bound["spec"]["nodeName"] == "n"
    assert [(c["type"], c["status"]) for c in bound["status"]["conditions"]] == [("PodScheduled", "True")]
    assert [entry.get("subresource") for entry in bound["metadata"]["managedFields"]] == [None]
    again = await api.post(f"{PODS}/p/binding", body)
    assert (again.code, again.reason) == (409, "Conflict")
    assert again.message == ('Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"')


async def test_binding_has_rules(api: Api) -> None:
    await api.create(PODS, pod())
    response = await api.post(f"{PODS}/p/binding", {"metadata": {"name": "p"}, "target": {}})
    assert (response.code, response.reason, response.message) == (500, "", "target.name: Required value")
    unknown = {"metadata": {"name": "p"}, "target": {"name": "n"}, "x": 1}
    strict = await api.post(f"{PODS}/p/binding?fieldValidation=Strict", unknown)
    assert (strict.code, 'strict decoding error: unknown field "x"' in strict.message) == (400, True)
    other = await api.post(f"{PODS}/p/binding", {"metadata": {"name": "q"}, "target": {"name": "n"}})
    assert (other.code, other.message) == (400, "name in URL does not match name in Binding object")
    nothing = await api.post(f"{PODS}/q/binding", {"metadata": {"name": "q"}, "target": {"name": "n"}})
    assert nothing.code == 404


async def test_ephemeral_containers(api: Api) -> None:
    await api.create(PODS, pod())
    response = await api.patch(
        f"{PODS}/p/ephemeralcontainers",
        {"spec": {"ephemeralContainers": [{"name": "debug", "image": "i"}]}, "metadata": {"labels": {"a": "b"}}},
        "strategic",
    )
    assert response.code == 200
    assert [c["name"] for c in response.body["spec"]["ephemeralContainers"]] == ["debug"]
    refused = await api.patch(
        f"{PODS}/p", {"spec": {"ephemeralContainers": [{"name": "x", "image": "i"}]}}, "strategic"
    )
    assert refused.code == 422


async def test_resize(api: Api) -> None:
    resources = {"requests": {"cpu": "1"}}
    await api.create(PODS, pod(containers=[{"name": "c", "image": "i", "resources": resources}]))
    body = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}}
    assert (await api.patch(f"{PODS}/p", body, "strategic")).code == 422
    response = await api.patch(f"{PODS}/p/resize", body, "strategic")
    assert response.code == 200
    assert response.body["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "2"}
    assert response.metadata["generation"] == 2


async def test_events_are_one_store_in_two_groups(api: Api) -> None:
    event = {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"},
        "reason": "Why",
        "message": "text",
    }
    made = await api.create("/api/v1/namespaces/default/events", event)
    other = (await api.get("/apis/events.k8s.io/v1/namespaces/default/events/e")).body
    assert (other["apiVersion"], other["regarding"]["name"], other["note"]) == ("events.k8s.io/v1", "p", "text")
    assert other["metadata"]["uid"] == made["metadata"]["uid"]
    async with api.watch("/apis/events.k8s.io/v1/events?watch=1") as watch:
        assert (await watch.event())["object"]["regarding"]["name"] == "p"
    await api.delete("/apis/events.k8s.io/v1/namespaces/default/events/e")
    assert (await api.get("/api/v1/namespaces/default/events/e")).code == 404


async def test_autoscalers_in_two_versions(api: Api) -> None:
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        "maxReplicas": 3,
        "targetCPUUtilizationPercentage": 60,
    }
    path = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers"
    await api.create(path.format("v1"), {"metadata": {"name": "h"}, "spec": spec})
    second = (await api.get(path.format("v2") + "/h")).body
    assert second["spec"]["metrics"][0]["resource"] == {
        "name": "cpu",
        "target": {"type": "Utilization", "averageUtilization": 60},
    }
    first = (await api.get(path.format("v1") + "/h")).body
    assert first["spec"]["targetCPUUtilizationPercentage"] == 60


async def test_an_autoscaler_counts_its_replicas_in_v1_also_when_there_are_none(api: Api) -> None:
    path = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers"
    spec = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 3}
    created = await api.create(path.format("v1"), {"metadata": {"name": "h"}, "spec": spec})
    assert created["status"] == {"currentReplicas": 0, "desiredReplicas": 0}
    status = (await api.get(path.format("v2") + "/h")).body["status"]
    assert status == {"desiredReplicas": 0, "currentMetrics": None}
    again = await api.put(path.format("v1") + "/h", created)
    assert again.metadata["resourceVersion"] == created["metadata"]["resourceVersion"]


async def test_old_cron_jobs_warn(api: Api) -> None:
    path = "/apis/batch/v1beta1/namespaces/default/cronjobs"
    template = {"spec": {"template": {"spec": pod(restartPolicy="Never")["spec"]}}}
    response = await api.post(
        path, {"metadata": {"name": "c"}, "spec": {"schedule": "* * * * *", "jobTemplate": template}}
    )
    assert (response.code, response.body["apiVersion"]) == (201, "batch/v1beta1")
    assert any("batch/v1beta1 CronJob is deprecated" in text for text in response.warnings)
    assert (await api.get("/apis/batch/v1/namespaces/default/cronjobs/c")).code == 200


async def test_the_kubernetes_service_is_there(api: Api) -> None:
    service = (await api.get("/api/v1/namespaces/default/services/kubernetes")).body
    assert service["spec"]["clusterIP"] == "10.96.0.1"
    assert service["spec"]["ports"][0]["port"] == 443


def signing_request() -> str:
    """A certificate signing request, as the API takes it."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "me")])
    key = ec.generate_private_key(ec.SECP256R1())
    request = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256())
    return base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()


async def test_approval_of_certificate_requests(api: Api) -> None:
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    spec = {"request": signing_request(), "signerName": "example.com/x", "usages": ["client auth"]}
    made = await api.create(path, {"metadata": {"name": "c"}, "spec": spec})
    assert made["spec"]["username"] == "admin"
    made["status"] = {"conditions": [{"type": "Approved", "status": "True", "reason": "R", "message": "m"}]}
    approved = await api.put(f"{path}/c/approval", made)
    assert (approved.code, approved.body["status"]["conditions"][0]["type"]) == (200, "Approved")
    approved.body["status"]["conditions"] = []
    withdrawn = await api.put(f"{path}/c/approval", approved.body)
    assert (withdrawn.code, withdrawn.causes[0]["message"]) == (
        422,
        'Forbidden: updates may not remove a condition of type "Approved"',
    )


async def test_a_dry_run_updates_nothing(api: Api) -> None:
    created = (await some_config_maps(api, 1))[0]
    for method in ("put", "patch"):
        body = config_map("cm-0") | {"data": {"k": "other"}}
        fetch = api.put if method == "put" else api.patch
        response = await fetch(f"{CONFIG_MAPS}/cm-0?dryRun=All", body)
        assert (response.code, response.body["data"]) == (200, {"k": "other"})
    assert (await api.get(f"{CONFIG_MAPS}/cm-0")).body == created


async def test_strict_fields_of_an_update(api: Api) -> None:
    await some_config_maps(api, 1)
    body = config_map("cm-0") | {"odd": 1}
    warned = await api.put(f"{CONFIG_MAPS}/cm-0", body)
    assert (warned.code, warned.warnings) == (200, ['unknown field "odd"'])
    refused = await api.put(f"{CONFIG_MAPS}/cm-0?fieldValidation=Strict", body)
    text = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "odd"'
    assert (refused.code, refused.message) == (400, text)


async def test_managed_fields_may_be_cleared(api: Api) -> None:
    await some_config_maps(api, 1)
    response = await api.patch(f"{CONFIG_MAPS}/cm-0", {"metadata": {"managedFields": [{}]}})
    assert response.code == 200
    assert "managedFields" not in response.metadata
    changed = await api.patch(f"{CONFIG_MAPS}/cm-0", {"data": {"n": "1"}})
    assert "managedFields" not in changed.metadata


async def test_an_object_outgrows_its_limit(api: Api) -> None:
    await some_config_maps(api, 1)
    response = await api.put(f"{CONFIG_MAPS}/cm-0", config_map("cm-0") | {"data": {"k": "x" * 1_040_000}})
    assert response.code == 200
    response = await api.put(f"{CONFIG_MAPS}/cm-0", config_map("cm-0") | {"data": {"k": "x" * 1_600_000}})
    assert response.code in (413, 422)


async def test_a_refused_change_shows_the_new_value(api: Api) -> None:
    path = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings"
    await api.create(path, {"metadata": {"name": "b"}, "roleRef": {"kind": "Role", "name": "a"}})
    response = await api.patch(f"{path}/b", {"roleRef": {"name": "c"}})
    assert response.message == (
        'RoleBinding.rbac.authorization.k8s.io "b" is invalid: roleRef: Invalid value: '
        '{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"c"}: cannot change roleRef'
    )


async def test_a_refused_change_of_a_pod_comes_with_the_difference(api: Api) -> None:
    await api.create(PODS, pod())
    response = await api.patch(f"{PODS}/p", {"spec": {"hostname": "other"}})
    assert response.code == 422
    _, *lines = response.causes[0]["message"].split("\n")
    assert lines[0].startswith("@@ -")
    assert [line for line in lines[1:] if line[:1] in ("-", "+")] == ['+ "hostname": "other",']


async def test_a_finalizer_that_is_added_has_a_domain_or_is_kubernetes_own(api: Api) -> None:
    stored = await api.create(DEPLOYMENTS, deployment())
    stored["metadata"]["finalizers"] = ["mine"]
    response = await api.put(f"{DEPLOYMENTS}/d", stored)
    assert response.code == 422
    assert [cause["field"] for cause in response.body["details"]["causes"]] == ["metadata.finalizers[0]"]


@pytest.mark.parametrize("address", ["None", ""], ids=["headless", "address"])
async def test_a_put_of_an_old_client_makes_a_service_an_external_name(api: Api, address: str) -> None:
    """Old clients send clusterIP, but not clusterIPs."""
    path = "/api/v1/namespaces/default/services"
    spec = {"ports": [{"port": 80}], "selector": {"a": "b"}, **({"clusterIP": address} if address else {})}
    made = await api.create(path, {"metadata": {"name": "s"}, "spec": spec})
    spec = {**spec, "clusterIP": made["spec"]["clusterIP"], "type": "ExternalName", "externalName": "test"}
    changed = await api.put(f"{path}/s", {"metadata": {"name": "s"}, "spec": spec})
    assert (changed.code, changed.body.get("spec", {}).get("type")) == (200, "ExternalName"), changed.message
    assert not changed.body["spec"].keys() & {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}
