"""DELETE of objects and collections.

Source: apiserver pkg/registry/rest/delete.go, pkg/registry/generic/registry/store.go (1.36).
"""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.verbs.objects import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    PODS,
    TABLE,
    WIDGETS,
    config_map,
    deployment,
    pod,
    some_config_maps,
    widget,
    with_widgets,
)

SERVICES = "/api/v1/namespaces/default/services"
ENDPOINTS = "/api/v1/namespaces/default/endpoints"
JOBS = "/apis/batch/v1/namespaces/default/jobs"


async def running(api: Api, **spec: Any) -> Any:
    """A pod on a node."""
    return await api.create(PODS, pod("p", nodeName="n", **spec))


async def test_the_response_to_a_delete_names_the_object(api: Api) -> None:
    created = (await some_config_maps(api, 1))[0]
    response = await api.delete(f"{CONFIG_MAPS}/cm-0")
    assert response.code == 200
    assert response.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "cm-0", "kind": "configmaps", "uid": created["metadata"]["uid"]},
    }
    assert (await api.get(f"{CONFIG_MAPS}/cm-0")).code == 404


async def test_the_response_to_a_delete_names_the_group(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment())
    details = (await api.delete(f"{DEPLOYMENTS}/d")).body["details"]
    assert (details["group"], details["kind"]) == ("apps", "deployments")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "x"}}),
        (
            "/apis/storage.k8s.io/v1/storageclasses",
            {"metadata": {"name": "x"}, "provisioner": "a.b/c"},
        ),
        ("/api/v1/namespaces/default/services", {"metadata": {"name": "x"}, "spec": {"ports": [{"port": 80}]}}),
    ],
    ids=["ServiceAccount", "StorageClass", "Service"],
)
async def test_the_deletion_of_some_kinds_returns_the_object(api: Api, path: str, body: Any) -> None:
    await api.create(path, body)
    response = await api.delete(f"{path}/x")
    assert (response.code, response.metadata["name"]) == (200, "x")
    assert response.body["kind"] != "Status"
    assert (await api.get(f"{path}/x")).code == 404


async def test_delete_of_nothing(api: Api) -> None:
    response = await api.delete(f"{CONFIG_MAPS}/x")
    assert (response.code, response.reason, response.message) == (404, "NotFound", 'configmaps "x" not found')


async def test_a_finalizer_holds_the_object(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map(finalizers=["example.com/f"]))
    response = await api.delete(f"{CONFIG_MAPS}/a")
    assert (response.code, response.body["kind"]) == (200, "ConfigMap")
    assert response.metadata["deletionTimestamp"]
    assert response.metadata["deletionGracePeriodSeconds"] == 0
    again = await api.delete(f"{CONFIG_MAPS}/a")
    assert again.metadata["resourceVersion"] == response.metadata["resourceVersion"]


async def test_the_last_finalizer_lets_the_object_go(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map(finalizers=["example.com/f", "example.com/g"]))
    await api.delete(f"{CONFIG_MAPS}/a")
    async with api.watch(f"{CONFIG_MAPS}?watch=1") as watch:
        await watch.event()
        first = await api.patch(f"{CONFIG_MAPS}/a", {"metadata": {"finalizers": ["example.com/g"]}})
        last = await api.patch(f"{CONFIG_MAPS}/a", {"metadata": {"finalizers": None}})
        assert (first.code, last.code) == (200, 200)
        assert [e[0] for e in await watch.events(2)] == ["MODIFIED", "DELETED"]
    assert (await api.get(f"{CONFIG_MAPS}/a")).code == 404


async def test_a_dry_run_that_removes_the_last_finalizer_deletes_nothing(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map(finalizers=["example.com/f"]))
    before = (await api.delete(f"{CONFIG_MAPS}/a")).body
    response = await api.patch(f"{CONFIG_MAPS}/a?dryRun=All", {"metadata": {"finalizers": None}})
    assert (response.code, "finalizers" in response.metadata) == (200, False)
    assert (await api.get(f"{CONFIG_MAPS}/a")).body == before


async def test_no_finalizer_is_added_while_deleting(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map(finalizers=["example.com/f"]))
    await api.delete(f"{CONFIG_MAPS}/a")
    response = await api.patch(f"{CONFIG_MAPS}/a", {"metadata": {"finalizers": ["example.com/f", "example.com/g"]}})
    assert (response.code, response.reason) == (422, "Invalid")
    assert response.causes[0]["field"] == "metadata.finalizers"
    assert response.causes[0]["reason"] == "FieldValueForbidden"
    assert response.causes[0]["message"].startswith(
        "Forbidden: no new finalizers can be added if the object is being deleted"
    )


async def test_deletion_raises_the_generation_once(api: Api) -> None:
    created = await api.create(DEPLOYMENTS, deployment() | {"metadata": {"name": "d", "finalizers": ["a.b/c"]}})
    assert created["metadata"]["generation"] == 1
    for _ in range(2):
        assert (await api.delete(f"{DEPLOYMENTS}/d")).metadata["generation"] == 2


async def test_create_over_an_object_that_is_being_deleted(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map(finalizers=["example.com/f"]))
    await api.delete(f"{CONFIG_MAPS}/a")
    response = await api.post(CONFIG_MAPS, config_map())
    assert (response.code, response.reason) == (409, "AlreadyExists")
    assert response.message == 'object is being deleted: configmaps "a" already exists'


async def test_a_scheduled_pod_goes_gracefully(api: Api) -> None:
    created = await running(api)
    response = await api.delete(f"{PODS}/p")
    assert (response.code, response.body["kind"]) == (200, "Pod")
    assert response.metadata["deletionGracePeriodSeconds"] == 30
    assert response.metadata["generation"] == created["metadata"]["generation"] + 1
    end = datetime.strptime(response.metadata["deletionTimestamp"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    assert 25 < (end - datetime.now(UTC)).total_seconds() <= 31


@pytest.mark.parametrize(("second", "left"), [(60, 30), (30, 30), (10, 10), (-1, 1)])
async def test_a_second_deletion_may_only_shorten(api: Api, second: int, left: int) -> None:
    await running(api)
    await api.delete(f"{PODS}/p")
    response = await api.delete(f"{PODS}/p", {"gracePeriodSeconds": second})
    assert response.metadata["deletionGracePeriodSeconds"] == left


async def test_no_grace_removes_at_once(api: Api) -> None:
    await running(api)
    await api.delete(f"{PODS}/p")
    response = await api.delete(f"{PODS}/p", {"gracePeriodSeconds": 0})
    assert (response.code, response.body["kind"]) == (200, "Pod")
    assert (await api.get(f"{PODS}/p")).code == 404


@pytest.mark.parametrize("query", ["?gracePeriodSeconds=7", ""], ids=["query", "body"])
async def test_grace_from_query_or_body(api: Api, query: str) -> None:
    await running(api)
    response = await api.delete(f"{PODS}/p{query}", b"" if query else {"gracePeriodSeconds": 7})
    assert response.metadata["deletionGracePeriodSeconds"] == 7


async def test_the_body_wins_over_the_query(api: Api) -> None:
    await running(api)
    response = await api.delete(f"{PODS}/p?gracePeriodSeconds=7", {"gracePeriodSeconds": 9})
    assert response.metadata["deletionGracePeriodSeconds"] == 9


async def test_the_pods_own_grace(api: Api) -> None:
    await running(api, terminationGracePeriodSeconds=3)
    assert (await api.delete(f"{PODS}/p")).metadata["deletionGracePeriodSeconds"] == 3


async def test_an_unscheduled_pod_goes_at_once(api: Api) -> None:
    await api.create(PODS, pod())
    assert (await api.delete(f"{PODS}/p")).code == 200
    assert (await api.get(f"{PODS}/p")).code == 404


@pytest.mark.parametrize("query", ["", "?dryRun=All"], ids=["deleted", "dry run"])
async def test_a_pod_that_goes_at_once_is_shown_as_marked(api: Api, query: str) -> None:
    await api.create(PODS, pod())
    metadata = (await api.delete(f"{PODS}/p{query}")).metadata
    assert metadata["deletionGracePeriodSeconds"] == 0
    assert metadata["deletionTimestamp"]
    assert metadata["resourceVersion"]
    assert metadata["generation"] == 2


async def test_a_finished_pod_goes_at_once(api: Api) -> None:
    await running(api)
    await api.patch(f"{PODS}/p/status", {"status": {"phase": "Succeeded"}})
    await api.delete(f"{PODS}/p")
    assert (await api.get(f"{PODS}/p")).code == 404


@pytest.mark.parametrize(
    ("options", "finalizers"),
    [
        ({"propagationPolicy": "Foreground"}, ["foregroundDeletion"]),
        ({"propagationPolicy": "Orphan"}, ["orphan"]),
        ({"propagationPolicy": "Background"}, None),
        ({"orphanDependents": True}, ["orphan"]),
        ({"orphanDependents": False}, None),
        ({}, None),
    ],
)
async def test_propagation(api: Api, options: Any, finalizers: list[str] | None) -> None:
    await api.create(DEPLOYMENTS, deployment())
    response = await api.delete(f"{DEPLOYMENTS}/d", options)
    assert response.code == 200
    assert response.metadata.get("finalizers") == finalizers
    assert (await api.get(f"{DEPLOYMENTS}/d")).code == (200 if finalizers else 404)


async def test_the_policy_of_a_query(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment())
    response = await api.delete(f"{DEPLOYMENTS}/d?propagationPolicy=Foreground")
    assert response.metadata["finalizers"] == ["foregroundDeletion"]


async def test_jobs_orphan_by_default(api: Api) -> None:
    body = {"metadata": {"name": "j"}, "spec": {"template": {"spec": pod(restartPolicy="Never")["spec"]}}}
    await api.create(JOBS, body)
    assert (await api.delete(f"{JOBS}/j")).metadata["finalizers"] == ["orphan"]


async def test_events_have_no_dependents(api: Api) -> None:
    event = {"metadata": {"name": "e"}, "involvedObject": {"namespace": "default"}}
    await api.create("/api/v1/namespaces/default/events", event)
    response = await api.delete("/api/v1/namespaces/default/events/e?propagationPolicy=Foreground")
    assert response.body["status"] == "Success"


async def test_accepted_only_in_the_legacy_case(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map(finalizers=["example.com/f"]))
    assert (await api.delete(f"{CONFIG_MAPS}/a", {"orphanDependents": False})).code == 202


@pytest.mark.parametrize(
    ("options", "field", "text"),
    [
        (
            {"propagationPolicy": "Orphan", "orphanDependents": True},
            "propagationPolicy",
            'Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
        ),
        (
            {"propagationPolicy": "Odd"},
            "propagationPolicy",
            'Unsupported value: "Odd": supported values: "Foreground", "Background", "Orphan", "nil"',
        ),
        ({"dryRun": ["Some"]}, "dryRun", 'Unsupported value: ["Some"]: supported values: "All"'),
    ],
)
async def test_delete_option_rules(api: Api, options: Any, field: str, text: str) -> None:
    await some_config_maps(api, 1)
    response = await api.delete(f"{CONFIG_MAPS}/cm-0", options)
    assert (response.code, response.reason) == (422, "Invalid")
    assert response.body["details"]["kind"] == "DeleteOptions"
    assert [(c["field"], c["message"]) for c in response.causes] == [(field, text)]
    assert (await api.get(f"{CONFIG_MAPS}/cm-0")).code == 200


async def test_a_uid_precondition(api: Api) -> None:
    created = (await some_config_maps(api, 1))[0]
    uid = created["metadata"]["uid"]
    response = await api.delete(f"{CONFIG_MAPS}/cm-0", {"preconditions": {"uid": "other"}})
    assert (response.code, response.reason) == (409, "Conflict")
    assert response.message == (
        'Operation cannot be fulfilled on ConfigMap "cm-0": the UID in the precondition (other) does not match the UID '
        f"in record ({uid}). The object might have been deleted and then recreated"
    )
    assert (await api.delete(f"{CONFIG_MAPS}/cm-0?uid=other")).code == 409
    assert (await api.delete(f"{CONFIG_MAPS}/cm-0", {"preconditions": {"uid": uid}})).code == 200


async def test_a_revision_precondition(api: Api) -> None:
    created = (await some_config_maps(api, 1))[0]
    revision = created["metadata"]["resourceVersion"]
    response = await api.delete(f"{CONFIG_MAPS}/cm-0", {"preconditions": {"resourceVersion": "1"}})
    assert response.code == 409
    assert f"the ResourceVersion in the precondition (1) does not match the ResourceVersion in record ({revision})" in (
        response.message
    )
    assert (await api.delete(f"{CONFIG_MAPS}/cm-0", {"preconditions": {"resourceVersion": revision}})).code == 200


@pytest.mark.parametrize("where", ["query", "body"])
async def test_a_dry_run_deletes_nothing(api: Api, where: str) -> None:
    await api.create(DEPLOYMENTS, deployment())
    before = (await api.get(f"{DEPLOYMENTS}/d")).body
    query, body = ("?dryRun=All", b"") if where == "query" else ("", {"dryRun": ["All"]})
    assert (await api.delete(f"{DEPLOYMENTS}/d{query}", body)).body["status"] == "Success"
    policy: Any = {"dryRun": ["All"], "propagationPolicy": "Foreground"}
    assert (await api.delete(f"{DEPLOYMENTS}/d", policy)).metadata["finalizers"] == ["foregroundDeletion"]
    assert (await api.get(f"{DEPLOYMENTS}/d")).body == before


@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b'"x"', b'{"kind":"ConfigMap"}', b'{"gracePeriodSeconds":"1"}', b'{"preconditions":[]}'],
)
async def test_a_bad_body_is_refused(api: Api, body: bytes) -> None:
    await some_config_maps(api, 1)
    response = await api.delete(f"{CONFIG_MAPS}/cm-0", body)
    assert (response.code, response.reason) == (400, "BadRequest")
    assert (await api.get(f"{CONFIG_MAPS}/cm-0")).code == 200


async def test_options_in_yaml(api: Api) -> None:
    await running(api)
    response = await api.delete(f"{PODS}/p", b"gracePeriodSeconds: 4\n", content_type="application/yaml")
    assert response.metadata["deletionGracePeriodSeconds"] == 4


async def test_a_deleted_collection_is_returned(api: Api) -> None:
    await some_config_maps(api, 3)
    response = await api.delete(CONFIG_MAPS)
    assert (response.code, response.body["kind"]) == (200, "ConfigMapList")
    assert [i["metadata"]["name"] for i in response.body["items"]] == ["cm-0", "cm-1", "cm-2"]
    assert (await api.get(CONFIG_MAPS)).body["items"] == []


async def test_a_collection_by_selector(api: Api) -> None:
    await some_config_maps(api, 4)
    response = await api.delete(f"{CONFIG_MAPS}?labelSelector=n=1")
    assert [i["metadata"]["name"] for i in response.body["items"]] == ["cm-1", "cm-3"]
    response = await api.delete(f"{CONFIG_MAPS}?fieldSelector=metadata.name=cm-0")
    assert [i["metadata"]["name"] for i in response.body["items"]] == ["cm-0"]
    assert [i["metadata"]["name"] for i in (await api.get(CONFIG_MAPS)).body["items"]] == ["cm-2"]


async def test_a_collection_with_a_limit(api: Api) -> None:
    await some_config_maps(api, 3)
    response = await api.delete(f"{CONFIG_MAPS}?limit=2")
    assert len(response.body["items"]) == 2
    assert response.metadata["continue"]
    assert len((await api.get(CONFIG_MAPS)).body["items"]) == 1


async def test_a_dry_run_of_a_collection(api: Api) -> None:
    await some_config_maps(api, 3)
    assert len((await api.delete(f"{CONFIG_MAPS}?dryRun=All")).body["items"]) == 3
    assert len((await api.get(CONFIG_MAPS)).body["items"]) == 3


async def test_a_collection_with_propagation(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment())
    await api.delete(DEPLOYMENTS, {"propagationPolicy": "Orphan"})
    assert (await api.get(f"{DEPLOYMENTS}/d")).metadata["finalizers"] == ["orphan"]


async def test_a_collection_as_a_table(api: Api) -> None:
    await some_config_maps(api, 2)
    assert len((await api.delete(CONFIG_MAPS, accept=TABLE)).body["rows"]) == 2


async def test_namespaces_are_not_deleted_together(api: Api) -> None:
    response = await api.delete("/api/v1/namespaces")
    assert (response.code, response.reason) == (405, "MethodNotAllowed")


async def test_no_collection_over_all_namespaces(api: Api) -> None:
    await some_config_maps(api, 1)
    response = await api.delete("/api/v1/configmaps")
    assert (response.code, response.reason) == (405, "MethodNotAllowed")
    assert (await api.get(f"{CONFIG_MAPS}/cm-0")).code == 200


async def test_a_namespace_waits_for_its_finalizer(api: Api) -> None:
    await api.create("/api/v1/namespaces", {"metadata": {"name": "n"}})
    response = await api.delete("/api/v1/namespaces/n")
    assert response.body["status"]["phase"] == "Terminating"
    assert "deletionGracePeriodSeconds" not in response.metadata
    refused = await api.post("/api/v1/namespaces/n/configmaps", config_map())
    assert (refused.code, refused.reason) == (403, "Forbidden")
    assert refused.causes[0]["reason"] == "NamespaceTerminating"
    namespace = (await api.get("/api/v1/namespaces/n")).body
    namespace["spec"] = {}
    assert (await api.put("/api/v1/namespaces/n/finalize", namespace)).code == 200
    assert (await api.get("/api/v1/namespaces/n")).code == 404


async def test_a_precondition_of_a_namespace(api: Api) -> None:
    made = await api.create("/api/v1/namespaces", {"metadata": {"name": "n"}})
    response = await api.delete("/api/v1/namespaces/n", {"preconditions": {"uid": "x"}})
    assert (response.code, response.message) == (
        409,
        'Operation cannot be fulfilled on namespaces "n": Precondition failed: UID in precondition: x, '
        f"UID in object meta: {made['metadata']['uid']}",
    )


@pytest.mark.parametrize("finalizers", [[], ["example.com/hold"]], ids=["at once", "with the last finalizer"])
async def test_a_services_endpoints_go_with_it(api: Api, finalizers: list[str]) -> None:
    service = {"metadata": {"name": "s", "finalizers": finalizers}, "spec": {"ports": [{"port": 80}]}}
    await api.create(SERVICES, service)
    for name in ("s", "t"):
        await api.create(ENDPOINTS, {"metadata": {"name": name}})
    await api.delete(f"{SERVICES}/s?dryRun=All")
    assert (await api.get(f"{ENDPOINTS}/s")).code == 200
    await api.delete(f"{SERVICES}/s")
    if finalizers:
        assert (await api.get(f"{ENDPOINTS}/s")).code == 200
        await api.patch(f"{SERVICES}/s", {"metadata": {"finalizers": None}})
    assert (await api.get(f"{ENDPOINTS}/s")).code == 404
    assert (await api.get(f"{ENDPOINTS}/t")).code == 200


async def test_a_custom_resource(api: Api) -> None:
    await with_widgets(api)
    await api.create(WIDGETS, widget())
    response = await api.delete(f"{WIDGETS}/w")
    assert response.body["details"]["kind"] == "widgets"
    assert response.body["details"]["group"] == "example.com"
