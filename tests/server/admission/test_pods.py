"""The small plug-ins for Pods."""

from typing import Any

import pytest

from sampan.core.object import Object
from sampan.server.admission.settings import AdmissionSettings
from tests.server.admission.objects import PODS, container, pod, refused, with_resources
from tests.server.cluster import Api, served

_NODES = "/api/v1/nodes"


def _with(*names: str, **configurations: Object) -> AdmissionSettings:
    return AdmissionSettings(enabled=frozenset(names), configurations=configurations)


def _for(key: str, effect: str = "NoExecute", seconds: int | None = 300) -> Object:
    toleration: Object = {"key": key, "operator": "Exists", "effect": effect}
    return toleration if seconds is None else {**toleration, "tolerationSeconds": seconds}


_NOT_READY = _for("node.kubernetes.io/not-ready")
_UNREACHABLE = _for("node.kubernetes.io/unreachable")


@pytest.mark.parametrize(
    ("own", "after"),
    [
        ([], [_NOT_READY, _UNREACHABLE]),
        ([{"operator": "Exists"}], [{"operator": "Exists"}]),
        (
            [_for("node.kubernetes.io/not-ready", seconds=5)],
            [_for("node.kubernetes.io/not-ready", seconds=5), _UNREACHABLE],
        ),
        (
            [_for("node.kubernetes.io/not-ready", "NoSchedule", None)],
            [_for("node.kubernetes.io/not-ready", "NoSchedule", None), _NOT_READY, _UNREACHABLE],
        ),
    ],
    ids=["none", "all", "one", "another effect"],
)
async def test_pods_stay_five_minutes_on_a_lost_node(api: Api, own: list[Object], after: list[Object]) -> None:
    assert (await api.create(PODS, pod(tolerations=own)))["spec"]["tolerations"] == after


async def test_a_new_node_is_tainted(api: Api) -> None:
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    for name, taints in (("one", []), ("two", [taint])):
        node = await api.create(_NODES, {"metadata": {"name": name}, "spec": {"taints": taints}})
        assert node["spec"]["taints"] == [taint]


async def test_images_are_always_pulled() -> None:
    async with served(admission=_with("AlwaysPullImages")) as api:
        spec = (await api.create(PODS, pod(initContainers=[container("i", imagePullPolicy="Never")])))["spec"]
        policies = [each["imagePullPolicy"] for each in (*spec["containers"], *spec["initContainers"])]
        assert policies == ["Always", "Always"]


async def test_anti_affinity_may_only_be_by_node() -> None:
    term = {"topologyKey": "zone", "labelSelector": {}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    async with served(admission=_with("LimitPodHardAntiAffinityTopology")) as api:
        assert await refused(api, PODS, pod(affinity=affinity)) == (
            'pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only '
            "key kubernetes.io/hostname is allowed"
        )
        term["topologyKey"] = "kubernetes.io/hostname"
        await api.create(PODS, pod(affinity=affinity))


async def test_devices_bring_their_tolerations() -> None:
    resources = {"b.io/gpu": "1", "a.io/gpu": "1", "cpu": "1"}
    async with served(admission=_with("ExtendedResourceToleration")) as api:
        made = await api.create(PODS, pod(containers=[with_resources(resources, resources)]))
        keys = [each["key"] for each in made["spec"]["tolerations"]]
        assert [key for key in keys if "gpu" in key] == ["a.io/gpu", "b.io/gpu"]


async def test_a_namespace_states_on_which_nodes_its_pods_run() -> None:
    configuration = {"podNodeSelectorPluginConfig": {"clusterDefaultNodeSelector": "a=b", "kube-public": "c=d"}}
    async with served(admission=_with("PodNodeSelector", PodNodeSelector=configuration)) as api:
        assert (await api.create(PODS, pod(nodeSelector={"x": "y"})))["spec"]["nodeSelector"] == {"a": "b", "x": "y"}
        assert await refused(api, PODS, pod("q", nodeSelector={"a": "c"})) == (
            'pods "q" is forbidden: pod node label selector conflicts with its namespace node label selector'
        )
        public = "/api/v1/namespaces/kube-public"
        annotations = {"scheduler.alpha.kubernetes.io/node-selector": "c=d"}
        await api.patch(public, {"metadata": {"annotations": annotations}})
        assert (await api.create(f"{public}/pods", pod()))["spec"]["nodeSelector"] == {"c": "d"}
        assert await refused(api, f"{public}/pods", pod("q", nodeSelector={"x": "y"})) == (
            'pods "q" is forbidden: pod node label selector labels conflict with its namespace whitelist'
        )


@pytest.mark.parametrize(("annotation", "text"), [("a in (b", "[a in (b]"), ("a=b=c", "[a b c]"), ("a=b,", "[]")])
async def test_a_selector_of_nodes_that_cannot_be_read_is_reported(annotation: str, text: str) -> None:
    async with served(admission=_with("PodNodeSelector")) as api:
        annotations = {"scheduler.alpha.kubernetes.io/node-selector": annotation}
        await api.patch("/api/v1/namespaces/default", {"metadata": {"annotations": annotations}})
        response = await api.post(PODS, pod())
        assert (response.code, response.message) == (500, f"invalid selector: {text}")


async def test_tolerations_are_merged_and_held_against_the_whitelist() -> None:
    annotation = '[{"key": "a", "operator": "Exists"}]'
    configuration = {
        "apiVersion": "podtolerationrestriction.admission.k8s.io/v1alpha1",
        "kind": "Configuration",
        "whitelist": [{"operator": "Exists", "effect": "NoExecute"}, {"key": "a", "operator": "Exists"}],
    }
    async with served(admission=_with("PodTolerationRestriction", PodTolerationRestriction=configuration)) as api:
        annotations = {"scheduler.alpha.kubernetes.io/defaultTolerations": annotation}
        await api.patch("/api/v1/namespaces/default", {"metadata": {"annotations": annotations}})
        made = await api.create(PODS, pod())
        assert {"key": "a", "operator": "Exists"} in made["spec"]["tolerations"]
        response = await api.post(PODS, pod("q", tolerations=[{"key": "b", "operator": "Exists"}]))
        assert (response.code, response.message) == (
            500,
            "pod tolerations (possibly merged with namespace default tolerations) conflict with its cluster whitelist",
        )


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        ("[", "unexpected end of JSON input"),
        ("{x", "invalid character 'x' looking for beginning of object key string"),
        (f'[{{"x":{"[" * 10_000}', "exceeded max depth"),
        ("{}", "json: cannot unmarshal object into Go value of type []v1.Toleration"),
        ('["x"]', "json: cannot unmarshal string into Go value of type v1.Toleration"),
        ('[{"key": 1}]', "json: cannot unmarshal number into Go struct field Toleration.key of type string"),
    ],
    ids=["end", "syntax", "deep", "list", "toleration", "key"],
)
async def test_default_tolerations_that_cannot_be_read_are_reported(annotation: str, text: str) -> None:
    async with served(admission=_with("PodTolerationRestriction")) as api:
        annotations = {"scheduler.alpha.kubernetes.io/defaultTolerations": annotation}
        await api.patch("/api/v1/namespaces/default", {"metadata": {"annotations": annotations}})
        response = await api.post(PODS, pod())
        assert response.code == 500
        assert text in response.message


_OVERHEAD = {"podFixed": {"cpu": "100m"}}
_SCHEDULING = {"nodeSelector": {"vm": "yes"}, "tolerations": [{"key": "vm", "operator": "Exists"}]}


async def _runtime_class(api: Api, **more: Any) -> None:
    obj = {"metadata": {"name": "vm"}, "handler": "vm", **more}
    await api.create("/apis/node.k8s.io/v1/runtimeclasses", obj)


async def test_a_runtime_class_gives_overhead_and_nodes(api: Api) -> None:
    await _runtime_class(api, overhead=_OVERHEAD, scheduling=_SCHEDULING)
    spec = (await api.create(PODS, pod(runtimeClassName="vm", nodeSelector={"a": "b"})))["spec"]
    assert spec["overhead"] == {"cpu": "100m"}
    assert spec["nodeSelector"] == {"a": "b", "vm": "yes"}
    assert {"key": "vm", "operator": "Exists"} in spec["tolerations"]


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"runtimeClassName": "x"}, 'pod rejected: RuntimeClass "x" not found'),
        (
            {"runtimeClassName": "vm", "overhead": {"cpu": "1"}},
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
        ),
        (
            {"overhead": {"cpu": "1"}},
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
        (
            {"runtimeClassName": "vm", "nodeSelector": {"vm": "no"}},
            "conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no",
        ),
    ],
    ids=["absent", "other overhead", "no class", "other nodes"],
)
async def test_a_pod_does_not_contradict_its_runtime_class(api: Api, spec: dict[str, Any], text: str) -> None:
    await _runtime_class(api, overhead=_OVERHEAD, scheduling=_SCHEDULING)
    assert await refused(api, PODS, pod(**spec)) == f'pods "p" is forbidden: {text}'


async def test_pods_show_the_zone_of_their_node(api: Api) -> None:
    labels = {"topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r", "other": "o"}
    await api.create(_NODES, {"metadata": {"name": "n", "labels": labels}})
    shown = {"topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r"}
    assert (await api.create(PODS, pod(nodeName="n")))["metadata"]["labels"] == shown
    await api.create(PODS, pod("q"))
    binding = {"metadata": {"name": "q"}, "target": {"kind": "Node", "name": "n"}}
    assert (await api.post(f"{PODS}/q/binding", binding)).code == 201
    assert (await api.get(f"{PODS}/q")).metadata["labels"] == shown


async def _resized(api: Api, labels: dict[str, str], cpu: str) -> Any:
    node = await api.create(_NODES, {"metadata": {"name": "n", "labels": labels}})
    node["status"] = {"allocatable": {"cpu": "2", "memory": "1Gi"}}
    assert (await api.put(f"{_NODES}/n/status", node)).code == 200
    await api.create(PODS, pod(nodeName="n", containers=[with_resources({"cpu": "1"}, {"cpu": "4"})]))
    resources = {"requests": {"cpu": cpu}, "limits": {"cpu": "4"}}
    body = {"spec": {"containers": [{"name": "c", "resources": resources}]}}
    return await api.patch(f"{PODS}/p/resize", body, "strategic")


@pytest.mark.parametrize(
    ("labels", "cpu", "text", "reason"),
    [
        (
            {"kubernetes.io/os": "linux"},
            "3",
            "node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000",
            "NodeCapacity",
        ),
        (
            {"kubernetes.io/os": "windows"},
            "2",
            'pod resize is only supported on linux nodes, node "n" is "windows"',
            "UnsupportedPlatform",
        ),
    ],
    ids=["too large", "windows"],
)
async def test_a_pod_does_not_grow_beyond_its_node(
    api: Api, labels: dict[str, str], cpu: str, text: str, reason: str
) -> None:
    response = await _resized(api, labels, cpu)
    assert (response.code, response.message) == (403, f'pods "p" is forbidden: {text}')
    assert [cause["reason"] for cause in response.causes] == [reason]


async def test_a_pod_grows_within_its_node(api: Api) -> None:
    assert (await _resized(api, {}, "2")).code == 200
