"""Usage of quotas by objects, and scopes of quotas."""

import datetime as dt

import pytest

from sampan.core.gvk import GroupResource
from sampan.core.object import Object
from sampan.core.quota import evaluator_for, object_count_name, scope_selectors
from sampan.core.quota.scopes import claim_is_in_scope, pod_is_in_scope

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
PODS, SERVICES = GroupResource("", "pods"), GroupResource("", "services")
CLAIMS = GroupResource("", "persistentvolumeclaims")


def container(requests: Object | None = None, limits: Object | None = None, **more: object) -> Object:
    """Return a container."""
    return {"name": "c", "resources": {"requests": requests or {}, "limits": limits or {}}, **more}


def pod(*containers: Object, status: Object | None = None, metadata: Object | None = None, **spec: object) -> Object:
    """Return a Pod."""
    return {"metadata": metadata or {}, "spec": {"containers": list(containers), **spec}, "status": status or {}}


def usage(resource: GroupResource, obj: Object) -> dict[str, str]:
    """Return the usage of an object as strings."""
    return {name: str(amount) for name, amount in evaluator_for(resource).usage(obj, NOW).items()}


def test_pod_usage_is_the_sum_of_its_containers() -> None:
    requests = {"cpu": "500m", "memory": "1Gi", "hugepages-2Mi": "2Mi", "example.com/gpu": "1"}
    assert usage(PODS, pod(container(requests, {"cpu": "1"}), container({"cpu": "1"}))) == {
        "count/pods": "1",
        "pods": "1",
        "cpu": "1500m",
        "requests.cpu": "1500m",
        "memory": "1Gi",
        "requests.memory": "1Gi",
        "limits.cpu": "1",
        "hugepages-2Mi": "2Mi",
        "requests.hugepages-2Mi": "2Mi",
        "requests.example.com/gpu": "1",
    }


@pytest.mark.parametrize(
    ("init", "cpu"),
    [
        ([container({"cpu": "3"})], "3"),
        ([container({"cpu": "500m"})], "1"),
        ([container({"cpu": "2"}, restartPolicy="Always")], "3"),
        ([container({"cpu": "2"}, restartPolicy="Always"), container({"cpu": "4"})], "6"),
    ],
    ids=["init more", "init less", "sidecar", "init beside a sidecar"],
)
def test_init_containers_count_by_their_peak(init: list[Object], cpu: str) -> None:
    assert usage(PODS, pod(container({"cpu": "1"}), initContainers=init))["cpu"] == cpu


def test_overhead_and_pod_level_resources_count() -> None:
    taken = usage(PODS, pod(container({"cpu": "1"}, {"cpu": "2"}), overhead={"cpu": "100m", "memory": "1Mi"}))
    assert (taken["cpu"], taken["limits.cpu"], taken["memory"]) == ("1100m", "2100m", "1Mi")
    assert "limits.memory" not in taken
    assert usage(PODS, pod(container({"cpu": "1"}), resources={"requests": {"cpu": "5"}}))["cpu"] == "5"


@pytest.mark.parametrize(
    "ended",
    [
        pod(container({"cpu": "1"}), status={"phase": "Succeeded"}),
        pod(
            container({"cpu": "1"}),
            metadata={"deletionTimestamp": "2025-12-31T23:00:00Z", "deletionGracePeriodSeconds": 30},
        ),
    ],
    ids=["ended", "overdue"],
)
def test_pod_that_has_ended_or_is_overdue_counts_only_as_an_object(ended: Object) -> None:
    assert usage(PODS, ended) == {"count/pods": "1"}


@pytest.mark.parametrize(
    ("spec", "node_ports", "balancers"),
    [
        ({"type": "ClusterIP"}, "0", "0"),
        ({"type": "NodePort"}, "2", "0"),
        ({"type": "LoadBalancer"}, "2", "1"),
        ({"type": "LoadBalancer", "allocateLoadBalancerNodePorts": False}, "1", "1"),
    ],
)
def test_services_use_node_ports_and_load_balancers(spec: Object, node_ports: str, balancers: str) -> None:
    taken = usage(SERVICES, {"metadata": {}, "spec": {"ports": [{"nodePort": 30000}, {}], **spec}})
    assert (taken["services.nodeports"], taken["services.loadbalancers"], taken["services"]) == (
        node_ports,
        balancers,
        "1",
    )


def test_claims_use_storage_and_storage_of_their_class() -> None:
    spec = {"storageClassName": "gold", "resources": {"requests": {"storage": "1500m"}}}
    assert usage(CLAIMS, {"metadata": {}, "spec": spec}) == {
        "count/persistentvolumeclaims": "1",
        "persistentvolumeclaims": "1",
        "requests.storage": "2",
        "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
        "gold.storageclass.storage.k8s.io/requests.storage": "2",
    }


def test_claim_uses_the_allocated_storage_if_that_is_more() -> None:
    claim = {
        "metadata": {},
        "spec": {"resources": {"requests": {"storage": "1Gi"}}},
        "status": {"allocatedResources": {"storage": "2Gi"}},
    }
    assert usage(CLAIMS, claim)["requests.storage"] == "2Gi"


@pytest.mark.parametrize(
    ("resource", "limit", "expected"),
    [
        (PODS, "cpu", True),
        (PODS, "requests.memory", True),
        (PODS, "limits.ephemeral-storage", True),
        (PODS, "hugepages-1Gi", True),
        (PODS, "requests.example.com/gpu", True),
        (PODS, "requests.storage", False),
        (PODS, "count/pods", True),
        (SERVICES, "services.nodeports", True),
        (CLAIMS, "requests.storage", True),
        (CLAIMS, "gold.storageclass.storage.k8s.io/requests.storage", True),
        (GroupResource("", "secrets"), "secrets", True),
        (GroupResource("apps", "deployments"), "count/deployments.apps", True),
        (GroupResource("apps", "deployments"), "deployments", False),
    ],
)
def test_limits_apply_to_their_resource(resource: GroupResource, limit: str, expected: bool) -> None:
    assert evaluator_for(resource).concerns(limit) is expected
    assert object_count_name(GroupResource("apps", "deployments")) == "count/deployments.apps"


REQUESTING = container({"cpu": "1"})
CROSSING = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"namespaces": ["x"]}]}}


@pytest.mark.parametrize(
    ("scope", "in_scope", "out_of_scope"),
    [
        ("Terminating", pod(REQUESTING, activeDeadlineSeconds=5), pod(REQUESTING)),
        ("NotTerminating", pod(REQUESTING), pod(REQUESTING, activeDeadlineSeconds=0)),
        ("BestEffort", pod(container()), pod(REQUESTING)),
        ("NotBestEffort", pod(REQUESTING), pod(container(), status={"qosClass": "BestEffort"})),
        ("PriorityClass", pod(REQUESTING, priorityClassName="high"), pod(REQUESTING)),
        ("CrossNamespacePodAffinity", pod(REQUESTING, affinity=CROSSING), pod(REQUESTING)),
    ],
)
def test_pods_are_in_scope(scope: str, in_scope: Object, out_of_scope: Object) -> None:
    [selector] = scope_selectors({"spec": {"scopes": [scope]}})
    assert (pod_is_in_scope(in_scope, selector), pod_is_in_scope(out_of_scope, selector)) == (True, False)


@pytest.mark.parametrize(
    ("operator", "values", "name", "expected"),
    [
        ("In", ["high"], "high", True),
        ("In", ["high"], "low", False),
        ("NotIn", ["high"], "low", True),
        ("NotIn", ["high"], "", True),
        ("DoesNotExist", [], "", True),
        ("DoesNotExist", [], "low", False),
    ],
)
def test_priority_classes_are_selected(operator: str, values: list[str], name: str, expected: bool) -> None:
    selector = {"scopeName": "PriorityClass", "operator": operator, "values": values}
    found = pod(REQUESTING, priorityClassName=name)
    assert pod_is_in_scope(found, selector) is expected


def test_claims_are_selected_by_their_volume_attributes_class() -> None:
    selector = {"scopeName": "VolumeAttributesClass", "operator": "In", "values": ["fast"]}
    assert claim_is_in_scope({"spec": {}, "status": {"currentVolumeAttributesClassName": "fast"}}, selector)
    assert not claim_is_in_scope({"spec": {"volumeAttributesClassName": "slow"}}, selector)
    assert not claim_is_in_scope({}, {"scopeName": "Terminating", "operator": "Exists"})


def test_resources_that_are_only_counted_are_in_no_scope() -> None:
    evaluator = evaluator_for(GroupResource("", "secrets"))
    assert set(evaluator.usage({}, NOW)) == {"secrets", "count/secrets"}
    assert not evaluator.in_scope({}, {"scopeName": "Terminating", "operator": "Exists"})
