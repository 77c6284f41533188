"""Views of built-in kinds name fields that exist, with their types: else a view would silently have a default value."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.kinds.view_fields import differences

SOURCE = Path(__file__).parents[2] / "src" / "sampan"
_FUNCTIONS = ("view_decoder", "view_of", "_view")

KINDS = {
    "component_base.pod_networks.NetworkNode": "core_v1.Node",
    "component_base.views.Node": "core_v1.Node",
    "component_base.views.Pod": "core_v1.Pod",
    "component_base.views._WithNode": "core_v1.Pod",
    "controllers.attach_detach.indexes._Claim": "core_v1.PersistentVolumeClaim",
    "controllers.daemon_set.placement.Affinity": "core_v1.Affinity",
    "controllers.daemon_set.placement.Toleration": "core_v1.Toleration",
    "controllers.endpoint_slices.service_pods._Container": "core_v1.Container",
    "controllers.garbage_collector.identity._Object": "core_v1.ConfigMap",
    "controllers.horizontal_pod_autoscaler.controller._Read": "autoscaling_v2.HorizontalPodAutoscaler",
    "controllers.horizontal_pod_autoscaler.pods.ScaledPod": "core_v1.Pod",
    "controllers.node_ipam.controller._NodeRanges": "core_v1.Node",
    "controllers.node_lifecycle.node_health_map._Lease": "coordination_v1.Lease",
    "controllers.service_cidrs._Ranges": "networking_v1.ServiceCIDR",
    "controllers.service_load_balancer.facts.BalancerNode": "core_v1.Node",
    "controllers.service_load_balancer.host_ports.HostPortPod": "core_v1.Pod",
    "controllers.stateful_set.identity._Volume": "core_v1.Volume",
    "controllers.taint_eviction._Tolerating": "core_v1.Pod",
    "controllers.volumes.attributes_class_protection._Named": "core_v1.PersistentVolumeClaim",
    "controllers.volumes.volume_protection._PodVolumes": "core_v1.Pod",
    "csi.attachments._Attachment": "storage_v1.VolumeAttachment",
    "dns.objects.EndpointSlice": "discovery_v1.EndpointSlice",
    "dns.objects.Service": "core_v1.Service",
    "node.admission.demand._PodWithDemand": "core_v1.Pod",
    "node.environment.services.Service": "core_v1.Service",
    "node.network_policy.views.NetworkPolicy": "networking_v1.NetworkPolicy",
    "node.network_policy.views.PolicyPod": "core_v1.Pod",
    "node.network_policy.views._SmallPod": "core_v1.Pod",
    "node.node_object.extended_resources._Node": "core_v1.Node",
    "node.pods.resizing.ResourceRequirements": "core_v1.ResourceRequirements",
    "node.references.Claim": "core_v1.PersistentVolumeClaim",
    "node.references.CsiDriver": "storage_v1.CSIDriver",
    "node.references.ConfigMap": "core_v1.ConfigMap",
    "node.references.PersistentVolume": "core_v1.PersistentVolume",
    "node.references.RuntimeClass": "node_v1.RuntimeClass",
    "node.references.Secret": "core_v1.Secret",
    "node.references.VolumeAttachment": "storage_v1.VolumeAttachment",
    "node.views.pod.Pod": "core_v1.Pod",
    "scheduler.default_selectors._SelectsByLabels": "core_v1.Service",
    "scheduler.default_selectors._SelectsBySelector": "apps_v1.ReplicaSet",
    "scheduler.event_handlers._PodSummary": "core_v1.Pod",
    "scheduler.plugins.node_volume_limits._CSINode": "storage_v1.CSINode",
    "scheduler.pod_info._Placed": "core_v1.PodSpec",
    "scheduler.views.Node": "core_v1.Node",
    "scheduler.views.PodHead": "core_v1.Pod",
    "scheduler.views.PodSpec": "core_v1.PodSpec",
    "scheduler.volumes.capacity.CsiDriver": "storage_v1.CSIDriver",
    "scheduler.volumes.capacity.StorageCapacity": "storage_v1.CSIStorageCapacity",
    "scheduler.volumes.views.Claim": "core_v1.PersistentVolumeClaim",
    "scheduler.volumes.views.PersistentVolume": "core_v1.PersistentVolume",
    "scheduler.volumes.views.StorageClass": "storage_v1.StorageClass",
    "service_proxy.views.EndpointSlice": "discovery_v1.EndpointSlice",
    "service_proxy.views.Node": "core_v1.Node",
    "service_proxy.views.Service": "core_v1.Service",
    "service_proxy.views.ServiceCidr": "networking_v1.ServiceCIDR",
}
"""The kind or the part of a kind that each view reads."""
OTHER_FORMATS = {"node.cri.registries.configuration._File"}
"""Views of other documents than objects."""


def views() -> Iterator[str]:
    """Yield the classes that are passed to the functions that decode views."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text()
        if "view_decoder" not in text and "view_of" not in text:
            continue
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for call in ast.walk(ast.parse(text)):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _FUNCTIONS:
                view = call.args[-1]
                view = view.slice if isinstance(view, ast.Subscript) else view
                if isinstance(view, ast.Name) and view.id.lstrip("_")[0].isupper():
                    yield f"{module}.{view.id}"


def test_each_view_has_its_kind_in_the_table() -> None:
    assert set(views()) == KINDS.keys() | OTHER_FORMATS


@pytest.mark.parametrize("view", KINDS, ids=KINDS)
def test_a_view_has_only_fields_of_its_kind(view: str) -> None:
    module, _, name = view.rpartition(".")
    group, _, kind = KINDS[view].partition(".")
    cls = getattr(importlib.import_module(f"sampan.{module}"), name)
    assert differences(cls, getattr(importlib.import_module(f"sampan.kinds.{group}"), kind)) == []


class Misspelt(msgspec.Struct, rename="camel"):
    """A view with one field that no Pod has, and one of another type."""

    node_nam: str = ""
    priority: str = ""


def test_a_misspelt_field_of_a_view_is_found() -> None:
    core_v1 = importlib.import_module("sampan.kinds.core_v1")
    assert differences(Misspelt, core_v1.PodSpec) == [
        "Misspelt: PodSpec has no field nodeNam",
        "Misspelt: priority of PodSpec is int, not str",
    ]
