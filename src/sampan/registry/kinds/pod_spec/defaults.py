"""Defaults of pods and of the pod templates of all workloads.

Source: pkg/apis/core/v1/defaults.go, zz_generated.defaults.go (1.36).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from sampan.core.object import Object
from sampan.kinds import core_v1
from sampan.registry.kinds.pod_spec.options import AnyContainer
from sampan.registry.kinds.pod_spec.resources import (
    aggregate_container_resources,
    is_hugepages,
    is_pod_level_resource,
)
from sampan.registry.rules.quantities import round_up_to_milli

_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_FILE_MODE = 0o644
_NO_SOURCE_KEYS = frozenset({"name"})


def default_pod_template(template: core_v1.PodTemplateSpec) -> None:
    """Set the defaults of a PodTemplateSpec, in place. Idempotent."""
    if "metadata" not in template:
        template["metadata"] = {}
    spec = template.get("spec")
    if spec is None:
        spec = template["spec"] = {}
    default_pod_spec(spec)


def default_pod_spec(spec: core_v1.PodSpec) -> None:
    """Set the defaults that pods and templates share, in place. Idempotent."""
    if not spec.get("restartPolicy"):
        spec["restartPolicy"] = "Always"
    if "terminationGracePeriodSeconds" not in spec:
        spec["terminationGracePeriodSeconds"] = 30
    if not spec.get("dnsPolicy"):
        spec["dnsPolicy"] = "ClusterFirst"
    _alias_service_account(spec)
    if "securityContext" not in spec:
        spec["securityContext"] = {}
    if not spec.get("schedulerName"):
        spec["schedulerName"] = "default-scheduler"
    for volume in spec.get("volumes", ()):
        default_volume(volume)
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(kind, ()):
            default_container(container)
    if "overhead" in spec:
        round_up_to_milli(spec["overhead"])
    if "resources" in spec:
        _round_requirements(spec["resources"])


def _alias_service_account(spec: core_v1.PodSpec) -> None:
    """Make `serviceAccount`, the deprecated name, and `serviceAccountName` equal."""
    name = spec.get("serviceAccountName")
    if name:
        if spec.get("serviceAccount") != name:
            spec["serviceAccount"] = name
    elif spec.get("serviceAccount"):
        spec["serviceAccountName"] = spec["serviceAccount"]


def default_container(container: AnyContainer) -> None:
    """Set the defaults of a container of any kind, in place."""
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(container.get("image", ""))
    if not container.get("terminationMessagePath"):
        container["terminationMessagePath"] = "/dev/termination-log"
    if not container.get("terminationMessagePolicy"):
        container["terminationMessagePolicy"] = "File"
    resources = container.get("resources")
    if resources is None:
        container["resources"] = {}
    elif resources:
        _round_requirements(resources)
    for port in container.get("ports", ()):
        if not port.get("protocol"):
            port["protocol"] = "TCP"
    for variable in container.get("env", ()):
        source = variable.get("valueFrom")
        if source:
            _default_env_source(source)
    for name in _PROBES:
        probe = container.get(name)
        if probe is not None:
            default_probe(probe)
    lifecycle = container.get("lifecycle")
    if lifecycle:
        _default_http_get(lifecycle.get("postStart"))
        _default_http_get(lifecycle.get("preStop"))


def _default_env_source(source: core_v1.EnvVarSource) -> None:
    reference = source.get("fieldRef")
    if reference is not None and not reference.get("apiVersion"):
        reference["apiVersion"] = "v1"
    file = source.get("fileKeyRef")
    if file is not None and "optional" not in file:
        file["optional"] = False


def _round_requirements(resources: core_v1.ResourceRequirements | core_v1.VolumeResourceRequirements) -> None:
    for kind in ("limits", "requests"):
        amounts = resources.get(kind)
        if amounts:
            round_up_to_milli(amounts)


def default_probe(probe: core_v1.Probe) -> None:
    """Set the defaults of a probe, in place."""
    if not probe.get("timeoutSeconds"):
        probe["timeoutSeconds"] = 1
    if not probe.get("periodSeconds"):
        probe["periodSeconds"] = 10
    if not probe.get("successThreshold"):
        probe["successThreshold"] = 1
    if not probe.get("failureThreshold"):
        probe["failureThreshold"] = 3
    _default_http_get(probe)
    grpc = probe.get("grpc")
    if grpc is not None and "service" not in grpc:
        grpc["service"] = ""


def _default_http_get(handler: core_v1.LifecycleHandler | core_v1.Probe | None) -> None:
    action = handler.get("httpGet") if handler else None
    if action is not None:
        if not action.get("path"):
            action["path"] = "/"
        if not action.get("scheme"):
            action["scheme"] = "HTTP"


_REPOSITORY_LENGTH_MAX = 255
_COMPONENT = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_DIGEST = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_reference = re.compile(
    rf"({_COMPONENT}(?:/{_COMPONENT})*)(?::(\w[\w.-]{{0,127}}))?(?:@({_DIGEST}))?", re.ASCII
).fullmatch
_label = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_host = re.compile(rf"(?:{_label}(?:\.{_label})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?").fullmatch
_identifier = re.compile("[a-f0-9]{64}").fullmatch


@lru_cache(maxsize=1024)
def pull_policy(image: str) -> str:
    """Return `Always` for an image with the tag `latest` or with neither tag nor digest, else `IfNotPresent`.

    An invalid reference (empty, upper case letters, too long) gives `IfNotPresent`.
    """
    host, slash, path = image.partition("/")
    if not slash or not ("." in host or ":" in host or host == "localhost" or host != host.lower()):
        host, path = "docker.io", image
    found = _reference(path)
    if found is None or not _host(host) or _identifier(image):
        return "IfNotPresent"
    repository, tag, digest = found.groups()
    implied = len("library/") if host == "docker.io" and "/" not in repository else 0
    if len(repository) + implied > _REPOSITORY_LENGTH_MAX:
        return "IfNotPresent"
    return "Always" if tag == "latest" or not (tag or digest) else "IfNotPresent"


def default_volume(volume: core_v1.Volume) -> None:
    """Set the defaults of a volume and of its source, in place. A volume without a source is an emptyDir."""
    if len(volume) <= 1 and not volume.keys() - _NO_SOURCE_KEYS:
        volume["emptyDir"] = {}
        return
    for kind, source in volume.items():
        fill = _VOLUME_DEFAULTS.get(kind)
        if fill is not None:
            fill(source)


def _default_mode(
    source: core_v1.ConfigMapVolumeSource
    | core_v1.SecretVolumeSource
    | core_v1.DownwardAPIVolumeSource
    | core_v1.ProjectedVolumeSource,
) -> None:
    if "defaultMode" not in source:
        source["defaultMode"] = _FILE_MODE


def _default_host_path(source: core_v1.HostPathVolumeSource) -> None:
    if "type" not in source:
        source["type"] = ""


def _default_fields(source: Any, defaults: dict[str, Any]) -> None:
    for name, value in defaults.items():
        if source.get(name) in (None, ""):
            source[name] = value


def default_iscsi(source: core_v1.ISCSIVolumeSource | core_v1.ISCSIPersistentVolumeSource) -> None:
    """Set the defaults of an iSCSI source."""
    _default_fields(source, {"iscsiInterface": "default"})


def default_rbd(source: core_v1.RBDVolumeSource | core_v1.RBDPersistentVolumeSource) -> None:
    """Set the defaults of an RBD source."""
    _default_fields(source, {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"})


def default_scale_io(source: core_v1.ScaleIOVolumeSource | core_v1.ScaleIOPersistentVolumeSource) -> None:
    """Set the defaults of a ScaleIO source. Its Secret is always present."""
    _default_fields(source, {"secretRef": None})
    _default_fields(source, {"storageMode": "ThinProvisioned", "fsType": "xfs"})


def default_azure_disk(source: Any) -> None:
    """Set the defaults of an Azure disk."""
    for name, value in (("cachingMode", "ReadWrite"), ("fsType", "ext4"), ("readOnly", False), ("kind", "Shared")):
        source.setdefault(name, value)


def _default_downward_api(source: core_v1.DownwardAPIVolumeSource) -> None:
    _default_mode(source)
    _default_downward_items(source)


def _default_downward_items(source: core_v1.DownwardAPIVolumeSource | core_v1.DownwardAPIProjection) -> None:
    for item in source.get("items", ()):
        reference = item.get("fieldRef")
        if reference is not None and not reference.get("apiVersion"):
            reference["apiVersion"] = "v1"


def _default_projected(source: core_v1.ProjectedVolumeSource) -> None:
    _default_mode(source)
    if "sources" not in source:
        source["sources"] = None  # type: ignore[typeddict-item]  # always shown
    for projection in source["sources"] or ():
        if "downwardAPI" in projection:
            _default_downward_items(projection["downwardAPI"])
        if "serviceAccountToken" in projection:
            projection["serviceAccountToken"].setdefault("expirationSeconds", 3600)


def _default_ephemeral(source: core_v1.EphemeralVolumeSource) -> None:
    template = source.get("volumeClaimTemplate")
    if template is not None:
        template.setdefault("metadata", {})
        default_claim_spec(template.setdefault("spec", {}))


def default_claim_spec(spec: core_v1.PersistentVolumeClaimSpec) -> None:
    """Set the defaults of the spec of a PersistentVolumeClaim, in place."""
    if "volumeMode" not in spec:
        spec["volumeMode"] = "Filesystem"
    for name in ("dataSource", "dataSourceRef"):
        reference: Any = spec.get(name)
        if reference is not None:
            reference.setdefault("apiGroup", None)  # always shown
    _round_requirements(spec.setdefault("resources", {}))


def _default_image(source: core_v1.ImageVolumeSource) -> None:
    if not source.get("pullPolicy"):
        source["pullPolicy"] = pull_policy(source.get("reference", ""))


_VOLUME_DEFAULTS: Final[Mapping[str, Callable[[Any], None]]] = {
    "hostPath": _default_host_path,
    "secret": _default_mode,
    "configMap": _default_mode,
    "downwardAPI": _default_downward_api,
    "projected": _default_projected,
    "ephemeral": _default_ephemeral,
    "image": _default_image,
    "iscsi": default_iscsi,
    "rbd": default_rbd,
    "scaleIO": default_scale_io,
    "azureDisk": default_azure_disk,
}


def default_pod(pod: Object) -> None:
    """Set the defaults of a Pod: the defaults of its spec, and the defaults that templates do not have."""
    if pod.get("spec") is None:
        pod["spec"] = {}
    spec: core_v1.PodSpec = pod["spec"]
    for kind in ("containers", "initContainers"):
        for container in spec.get(kind, ()):
            resources = container.get("resources")
            if resources and "limits" in resources:
                _default_requests(resources)
    if spec.get("resources"):
        _default_pod_level_limits(spec)
        _default_pod_level_requests(spec)
    if "enableServiceLinks" not in spec:
        spec["enableServiceLinks"] = True
    if spec.get("hostNetwork"):
        for containers in (spec.get("containers", ()), spec.get("initContainers", ())):
            for container in containers:
                for port in container.get("ports", ()):
                    if not port.get("hostPort"):
                        port["hostPort"] = port.get("containerPort", 0)
    default_pod_spec(spec)


def _default_requests(resources: core_v1.ResourceRequirements) -> None:
    """Set missing requests to their limits."""
    requests = resources.setdefault("requests", {})
    for name, amount in resources["limits"].items():
        if name not in requests:
            requests[name] = amount


def _default_pod_level_limits(spec: core_v1.PodSpec) -> None:
    """Set missing huge page limits of a pod to the amounts that its containers need together."""
    resources = spec["resources"]
    if not resources.get("limits") and not resources.get("requests"):
        return
    limits = resources.get("limits", {})
    requests = resources.get("requests", {})
    for name, amount in aggregate_container_resources(spec, "limits").items():
        if is_hugepages(name) and name not in requests and name not in limits:
            limits[name] = str(amount)
    if limits:
        resources["limits"] = limits


def _default_pod_level_requests(spec: core_v1.PodSpec) -> None:
    resources = spec["resources"]
    limits = resources.get("limits")
    if not limits:
        return
    requests = resources.get("requests", {})
    for name, amount in aggregate_container_resources(spec, "requests").items():
        if name in ("cpu", "memory") and name not in requests:
            requests[name] = str(amount)
    for name, text in limits.items():
        if name not in requests and is_pod_level_resource(name):
            requests[name] = text
    if requests:
        resources["requests"] = requests
