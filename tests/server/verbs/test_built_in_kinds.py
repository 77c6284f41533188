"""Answers of kube-apiserver 1.36.3 to faults and to omitted fields, kind by kind."""

from typing import Any

import pytest

from tests.server.cluster import Api

_HPAS = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
_JOBS = "/apis/batch/v1/namespaces/default/jobs"
_SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
_FLOW_SCHEMAS = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
_HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_INGRESSES = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
_PODS = "/api/v1/namespaces/default/pods"


def _autoscaler(**behavior: Any) -> dict[str, Any]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    return {"metadata": {"name": "h"}, "spec": {"maxReplicas": 3, "scaleTargetRef": target, "behavior": behavior}}


@pytest.mark.parametrize("direction", ["scaleUp", "scaleDown"])
async def test_rules_of_scaling_without_policies_are_refused(api: Api, direction: str) -> None:
    response = await api.post(_HPAS, _autoscaler(**{direction: {"policies": []}}))
    assert (response.code, response.reason) == (422, "Invalid")
    assert response.message.endswith(
        f"spec.behavior.{direction}.policies: Required value: must specify at least one Policy"
    )


async def test_rules_of_scaling_whose_policies_are_null_get_the_default(api: Api) -> None:
    made = await api.create(_HPAS, _autoscaler(scaleUp={"policies": None}))
    assert len(made["spec"]["behavior"]["scaleUp"]["policies"]) == 2


async def test_a_job_without_labels_has_all_of_its_template(api: Api) -> None:
    spec = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    made = await api.create(_JOBS, {"metadata": {"name": "j"}, "spec": {"template": template}})
    assert made["metadata"]["labels"] == made["spec"]["template"]["metadata"]["labels"]
    assert made["metadata"]["labels"]["job-name"] == "j"


async def test_the_rules_of_a_pod_failure_policy_are_always_shown(api: Api) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    made = await api.create(_JOBS, {"metadata": {"name": "j"}, "spec": {"template": template, "podFailurePolicy": {}}})
    assert made["spec"]["podFailurePolicy"] == {"rules": None}


async def test_endpoints_and_ports_of_a_slice_are_always_shown(api: Api) -> None:
    made = await api.create(_SLICES, {"metadata": {"name": "s"}, "addressType": "IPv4"})
    assert (made["endpoints"], made["ports"]) == (None, None)


async def test_the_namespaces_of_a_flow_rule_are_always_shown(api: Api) -> None:
    subjects = [{"kind": "Group", "group": {"name": "g"}}]
    rule = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True}
    spec = {
        "priorityLevelConfiguration": {"name": "exempt"},
        "rules": [{"subjects": subjects, "resourceRules": [rule]}],
    }
    made = await api.create(_FLOW_SCHEMAS, {"metadata": {"name": "f"}, "spec": spec})
    assert made["spec"]["rules"][0]["resourceRules"][0]["namespaces"] is None


async def test_the_sources_of_a_projected_volume_are_always_shown(api: Api) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}], "volumes": [{"name": "v", "projected": {}}]}
    made = await api.create(_PODS, {"metadata": {"name": "p"}, "spec": spec})
    assert made["spec"]["volumes"][0]["projected"] == {"defaultMode": 420, "sources": None}


@pytest.mark.parametrize(
    ("kind", "source", "shown"),
    [
        ("azureFile", {"shareName": "a", "secretName": "b"}, "secretNamespace"),
        ("scaleIO", {"gateway": "a", "system": "b", "volumeName": "c"}, "secretRef"),
    ],
)
async def test_where_the_secret_of_a_volume_is_is_always_shown(api: Api, kind: str, source: Any, shown: str) -> None:
    spec = {"capacity": {"storage": "1"}, "accessModes": ["ReadWriteOnce"], kind: source}
    made = await api.create("/api/v1/persistentvolumes", {"metadata": {"name": "v"}, "spec": spec})
    assert made["spec"][kind][shown] is None


@pytest.mark.parametrize(("missing", "reported"), [("name", "namespace"), ("namespace", "name")])
async def test_of_a_webhooks_service_the_other_name_is_reported(api: Api, missing: str, reported: str) -> None:
    service = {"name": "s", "namespace": "n"}
    del service[missing]
    hook = {
        "name": "a.b.c",
        "clientConfig": {"service": service},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    response = await api.post(_HOOKS, {"metadata": {"name": "h"}, "webhooks": [hook]})
    assert response.message.endswith(f"webhooks[0].clientConfig.service.{reported}: Required value")


async def test_with_a_status_subresource_the_root_of_a_schema_is_an_object(api: Api) -> None:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "string"}},
    }
    names = {"plural": "foos", "kind": "Foo"}
    spec = {"group": "x.io", "scope": "Namespaced", "names": names, "versions": [version]}
    response = await api.post(_CRDS, {"metadata": {"name": "foos.x.io"}, "spec": spec})
    assert (
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        in response.message
    )


@pytest.mark.parametrize(
    ("path", "obj", "place"),
    [
        (
            _INGRESSES,
            {"spec": {"rules": [{"http": 1}]}},
            "IngressRule.spec.rules.IngressRuleValue.http of type v1.HTTPIngressRuleValue",
        ),
        (
            "/apis/resource.k8s.io/v1/deviceclasses",
            {"spec": {"config": [{"opaque": 1}]}},
            "DeviceClassConfiguration.spec.config.DeviceConfiguration.opaque of type v1.OpaqueDeviceConfiguration",
        ),
        (
            "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
            {"spec": {"matchConstraints": {"resourceRules": [{"operations": 1}]}}},
            "NamedRuleWithOperations.spec.matchConstraints.resourceRules.RuleWithOperations.operations"
            " of type []v1.OperationType",
        ),
    ],
    ids=["ingress", "device class", "policy"],
)
async def test_a_wrong_type_names_the_embedded_structs(api: Api, path: str, obj: dict[str, Any], place: str) -> None:
    response = await api.post(path, {"metadata": {"name": "x"}, **obj})
    assert (response.code, response.reason) == (400, "BadRequest")
    assert response.message.endswith(f"json: cannot unmarshal number into Go struct field {place}")


async def test_a_sleeping_hook_is_measured_by_a_grace_period_below_zero(api: Api) -> None:
    container = {"name": "c", "image": "i", "lifecycle": {"preStop": {"sleep": {"seconds": 1}}}}
    pod = {"containers": [container], "terminationGracePeriodSeconds": -1}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    response = await api.post("/apis/apps/v1/namespaces/default/deployments", {"metadata": {"name": "d"}, "spec": spec})
    assert response.message.endswith("must be non-negative and less than terminationGracePeriodSeconds (-1)")


async def test_a_pods_grace_period_below_zero_becomes_a_second(api: Api) -> None:
    container = {"name": "c", "image": "i", "lifecycle": {"preStop": {"sleep": {"seconds": 1}}}}
    spec = {"containers": [container], "terminationGracePeriodSeconds": -1}
    made = await api.create(_PODS, {"metadata": {"name": "p"}, "spec": spec})
    assert made["spec"]["terminationGracePeriodSeconds"] == 1


async def test_an_immutable_reference_of_an_event_is_shown_by_its_field_in_the_hub(api: Api) -> None:
    path = "/apis/events.k8s.io/v1/namespaces/default/events"
    event = {
        "metadata": {"name": "e"},
        "eventTime": "2024-01-01T00:00:00.000000Z",
        "reportingController": "a/b",
        "reportingInstance": "c",
        "action": "d",
        "reason": "r",
        "type": "Normal",
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
    }
    await api.create(path, event)
    response = await api.put(f"{path}/e", {**event, "regarding": {"kind": "Pod", "name": "q", "namespace": "default"}})
    shown = '{"kind":"Pod","name":"q","namespace":"default"}'
    assert response.message.endswith(f"involvedObject: Invalid value: {shown}: field is immutable")


async def test_a_faulty_taint_is_reported_twice_when_a_node_is_updated(api: Api) -> None:
    node = {"metadata": {"name": "n"}, "spec": {"taints": [{"key": "k", "effect": "x"}]}}
    response = await api.post("/api/v1/nodes", node)
    assert len(response.causes) == 1
    await api.create("/api/v1/nodes", {"metadata": {"name": "n"}})
    response = await api.put("/api/v1/nodes/n", node)
    assert len(response.causes) == 2
    assert response.message.count("metadata.taints[0].effect") == 1


async def test_the_first_of_a_nodes_cidrs_that_is_none_is_reported_again(api: Api) -> None:
    response = await api.post("/api/v1/nodes", {"metadata": {"name": "n"}, "spec": {"podCIDRs": ["10.0.0.0/24", "x"]}})
    text = "invalid CIDR[1]: invalid CIDR address: x"
    assert f"Internal error: invalid PodCIDRs. failed to check with dual stack with error:{text}" in response.message


async def test_empty_labels_are_shown_as_absent(api: Api) -> None:
    template = {"metadata": {"labels": {}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    response = await api.post("/apis/apps/v1/namespaces/default/deployments", {"metadata": {"name": "d"}, "spec": spec})
    shown = "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`"
    assert response.message == f'Deployment.apps "d" is invalid: {shown}'


async def test_parameters_that_become_empty_are_shown_as_absent(api: Api) -> None:
    classes = "/apis/storage.k8s.io/v1/storageclasses"
    made = await api.create(classes, {"metadata": {"name": "s"}, "provisioner": "a.b", "parameters": {"a": "b"}})
    response = await api.put(f"{classes}/s", {**made, "parameters": {}})
    assert response.message.endswith("parameters: Invalid value: null: field is immutable")


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        ("merge", {"parameters": {"a": None}}),
        ("strategic", {"parameters": {"a": None}}),
        ("json", [{"op": "remove", "path": "/parameters/a"}]),
    ],
    ids=["merge", "strategic", "json"],
)
async def test_parameters_that_a_patch_empties_are_shown_as_absent(api: Api, kind: str, patch: Any) -> None:
    classes = "/apis/storage.k8s.io/v1/storageclasses"
    await api.create(classes, {"metadata": {"name": "s"}, "provisioner": "a.b", "parameters": {"a": "b"}})
    response = await api.patch(f"{classes}/s", patch, kind)
    assert response.message.endswith("parameters: Invalid value: null: field is immutable")
