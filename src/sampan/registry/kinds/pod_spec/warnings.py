"""Warnings for pods and pod templates: valid but probably unintended settings.

Source: pkg/api/pod/warnings.go (1.36).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, TypeAlias

from sampan.core.field import Path, quote
from sampan.core.object import Object
from sampan.kinds import core_v1, meta_v1
from sampan.registry.kinds.pod_spec.annotations import (
    APPARMOR_CONTAINER,
    SECCOMP_CONTAINER,
    SECCOMP_POD,
    apparmor_profile,
)
from sampan.registry.kinds.pod_spec.options import containers_with_path
from sampan.registry.rules.ip_addresses import ip_warnings
from sampan.registry.rules.node_labels import DEPRECATED, term_warnings
from sampan.registry.rules.quantities import is_whole

WARNINGS_MAX = 1000
"""Maximum number of warnings. It is far above the number that fits into the headers of a response."""
_Port: TypeAlias = "tuple[core_v1.ContainerPort, str, int, int]"
"""Port with its location: the name of the container list, the index of the container, the index of the port."""
_ROOT = Path("spec")
_METADATA = Path("metadata")
_TEMPLATE = Path("template")
_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
_VOLUMES = {
    "photonPersistentDisk": ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    "gitRepo": ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    "scaleIO": ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    "flocker": ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    "storageos": ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    "quobyte": ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}
_BYTES = ("memory", "ephemeral-storage")
_NULL_SELECTOR = "a null labelSelector results in matching no pod"


def pod_warnings(pod: Object) -> list[str]:
    """Return warnings for a new Pod."""
    spec: core_v1.PodSpec = pod.get("spec") or {"containers": []}
    return _warnings(spec, pod.get("metadata") or {}, _ROOT, _METADATA, template=False)


def template_warnings(template: core_v1.PodTemplateSpec, path: Path = _TEMPLATE) -> list[str]:
    """Return warnings for a pod template. `path` is the path of the template."""
    spec: core_v1.PodSpec = template.get("spec") or {"containers": []}
    metadata = template.get("metadata") or {}
    return _warnings(spec, metadata, path.child("spec"), path.child("metadata"), template=True)


def _warnings(
    spec: core_v1.PodSpec, metadata: meta_v1.ObjectMeta, path: Path, metadata_path: Path, *, template: bool
) -> list[str]:
    found: list[str] = []
    annotations = metadata.get("annotations")
    _placement(spec, path, found)
    if annotations:
        for key, text in _ANNOTATIONS.items():
            if key in annotations:
                found.append(f"{metadata_path.child('annotations').key(key)}: {text}")
    if "volumes" in spec:
        _volumes(spec["volumes"], path.child("volumes"), found)
    _duplicates(spec, path, found)
    if "overhead" in spec:
        _fractions(spec["overhead"], path.child("overhead"), found)
    if annotations:
        _profiles(spec, annotations, path, metadata_path.child("annotations"), found, template)
    _containers(spec, path, found)
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        text = "must be >= 0; negative values are invalid and will be treated as 1"
        found.append(f"{path.child('terminationGracePeriodSeconds')}: {text}")
    if "affinity" in spec:
        _pod_affinity(spec["affinity"], path.child("affinity"), found)
    for i, server in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
        found.extend(ip_warnings(path.child("dnsConfig", "nameservers").index(i), server))
    for i, alias in enumerate(spec.get("hostAliases", ())):
        found.extend(ip_warnings(path.child("hostAliases").index(i).child("ip"), alias.get("ip", "")))
    return found


def _placement(spec: core_v1.PodSpec, path: Path, found: list[str]) -> None:
    selector = spec.get("nodeSelector") or ()
    found.extend(f"{path.child('nodeSelector').key(k)}: {DEPRECATED[k]}" for k in selector if k in DEPRECATED)
    node = (spec.get("affinity") or {}).get("nodeAffinity")
    if node:
        at = path.child("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
        required = node.get("requiredDuringSchedulingIgnoredDuringExecution")
        terms = (required.get("nodeSelectorTerms") if required else None) or ()
        for i, term in enumerate(terms):
            found.extend(term_warnings(term, at.child("nodeSelectorTerms").index(i), check_values=False))
        at = path.child("affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution")
        for i, preferred in enumerate(node.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
            where = at.index(i).child("preference")
            if preferred.get("preference"):
                found.extend(term_warnings(preferred["preference"], where, check_values=True))
    for i, constraint in enumerate(spec.get("topologySpreadConstraints", ())):
        at, key = path.child("topologySpreadConstraints").index(i), constraint.get("topologyKey", "")
        if key in DEPRECATED:
            found.append(f"{at.child('topologyKey')}: {key} is {DEPRECATED[key]}")
        if constraint.get("labelSelector") is None:
            found.append(f"{at.child('labelSelector')}: {_NULL_SELECTOR}")


def claim_spec_warnings(spec: core_v1.PersistentVolumeClaimSpec, path: Path) -> list[str]:
    """Return warnings for fractional amounts of bytes in the spec of a claim."""
    found: list[str] = []
    for kind in ("limits", "requests"):
        text = ((spec.get("resources") or {}).get(kind) or {}).get("storage")
        if text is not None and not is_whole(text):
            at = path.child("resources", kind).key("storage")
            found.append(f'{at}: fractional byte value "{text}" is invalid, must be an integer')
    return found


def _volumes(volumes: list[core_v1.Volume], path: Path, found: list[str]) -> None:
    overlapping = False
    for i, volume in enumerate(volumes):
        source: Any  # each kind has another type
        for kind, source in volume.items():
            if kind in _VOLUMES:
                name, text = _VOLUMES[kind]
                found.append(f"{path.index(i).child(name)}: {text}")
            elif kind == "ephemeral" and source.get("volumeClaimTemplate"):
                spec: Any = source["volumeClaimTemplate"].get("spec") or {}
                at = path.index(i).child("ephemeral", "volumeClaimTemplate", "spec")
                found.extend(claim_spec_warnings(spec, at))
            elif kind == "projected" or (kind in ("configMap", "secret", "downwardAPI") and source.get("items")):
                overlapping = True
    if overlapping:
        for volume in volumes:
            _overlaps(volume, found)


def _overlaps(volume: core_v1.Volume, found: list[str]) -> None:
    """Warn about files of one volume whose paths overlap."""
    name = volume.get("name", "")
    for kind, title in (("configMap", "ConfigMap"), ("secret", "Secret"), ("downwardAPI", "DownwardAPI")):
        source: Any = volume.get(kind)  # each kind has another type
        if source and source.get("items"):
            own = source.get("secretName" if kind == "secret" else "name", "")
            shown = title if kind == "downwardAPI" else f"{title} {quote(own)}"
            _report_overlaps(name, shown, [(item.get("path", ""), "") for item in source["items"]], found)
    projected = volume.get("projected")
    if projected is None:
        return
    files: list[tuple[str, str]] = []
    for projection in projected.get("sources") or ():
        if not projection:
            found.append(f"volume {quote(name)} (Projected) has no sources provided")
        files.extend(_projected_files(projection))
    _report_overlaps(name, "Projected", files, found)


def _projected_files(source: core_v1.VolumeProjection) -> Iterator[tuple[str, str]]:
    for kind, title in (("configMap", "ConfigMap"), ("secret", "Secret"), ("downwardAPI", "DownwardAPI")):
        part: Any = source.get(kind)  # each kind has another type
        if part and part.get("items"):
            shown = title if kind == "downwardAPI" else f"{title} {quote(part.get('name', ''))}"
            yield from ((item.get("path", ""), shown) for item in part["items"])
            return
    if source.get("serviceAccountToken"):
        yield source["serviceAccountToken"].get("path", ""), "ServiceAccountToken"
    elif source.get("clusterTrustBundle"):
        bundle = source["clusterTrustBundle"]
        name = bundle.get("name", bundle.get("signerName", ""))
        yield bundle.get("path", ""), f"ClusterTrustBundle {quote(name)}"
    elif source.get("podCertificate"):
        titles = {"certificateChainPath": "chain", "keyPath": "key", "credentialBundlePath": "credential bundle"}
        certificate: Mapping[str, Any] = source["podCertificate"]
        for field, title in titles.items():
            if certificate.get(field):
                yield certificate[field], f"PodCertificate {title}"


def _report_overlaps(volume: str, title: str, files: list[tuple[str, str]], found: list[str]) -> None:
    own = [(path.rstrip("/"), source) for path, source in files]
    for later, earlier in sorted(islice(_overlapping([path for path, _ in own]), WARNINGS_MAX)):
        body = f"{_file(own[later])} with {_file(own[earlier])}"
        found.append(f"volume {quote(volume)} ({title}): overlapping paths: {body}")


def _overlapping(paths: list[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of indexes, the later one first, of paths that are equal or of which one contains the other.

    In sorted order a path directly follows the paths that contain it, so those paths are kept on a stack.
    """
    holders: list[tuple[str, int]] = []
    for path, index in sorted((f"{path}/", index) for index, path in enumerate(paths) if path):
        while holders and not path.startswith(holders[-1][0]):
            holders.pop()
        for _, other in holders:
            yield max(index, other), min(index, other)
        holders.append((path, index))


def _file(file: tuple[str, str]) -> str:
    path, source = file
    return f"{quote(path)} ({source})" if source else quote(path)


def _duplicates(spec: core_v1.PodSpec, path: Path, found: list[str]) -> None:
    for field, key, word in (("hostAliases", "ip", "ip"), ("imagePullSecrets", "name", "name")):
        seen: set[str] = set()
        items: Any = spec.get(field, ())  # each field has another type
        for i, item in enumerate(items):
            value = item.get(key, "")
            if value in seen:
                found.append(f"{path.child(field).index(i).child(key)}: duplicate {word} {quote(value)}")
            seen.add(value)
    for i, item in enumerate(spec.get("imagePullSecrets", ())):
        if not item.get("name"):
            found.append(f'{path.child("imagePullSecrets").index(i).child("name")}: invalid empty name ""')


def _fractions(amounts: Mapping[str, Any], path: Path, found: list[str]) -> None:
    for name in _BYTES:
        text = amounts.get(name)
        if text is not None and not is_whole(text):
            found.append(f'{path.key(name)}: fractional byte value "{text}" is invalid, must be an integer')


def _profiles(
    spec: core_v1.PodSpec, annotations: dict[str, str], path: Path, at: Path, found: list[str], template: bool
) -> None:
    """Warn about annotations that fields replaced."""
    of_pod = spec.get("securityContext") or {}
    seccomp = 'non-functional in v1.27+; use the "seccompProfile" field instead'
    if "seccompProfile" not in of_pod and SECCOMP_POD in annotations:
        found.append(f"{at.key(SECCOMP_POD)}: {seccomp}")
    for container, _ in containers_with_path(spec, path):
        context, name = container.get("securityContext") or {}, container.get("name", "")
        key = f"{SECCOMP_CONTAINER}{name}"
        if "seccompProfile" not in context and key in annotations:
            found.append(f"{at.key(key)}: {seccomp}")
        key = f"{APPARMOR_CONTAINER}{name}"
        if template and "appArmorProfile" not in context and key in annotations:
            profile = of_pod.get("appArmorProfile")
            if profile is None or profile != apparmor_profile(annotations[key]):
                text = 'deprecated since v1.30; use the "appArmorProfile" field instead'
                found.append(f"{at.key(key)}: {text}")


def _containers(spec: core_v1.PodSpec, path: Path, found: list[str]) -> None:
    ports: list[_Port] = []
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for i, container in enumerate(spec.get(kind, ())):
            resources = container.get("resources")
            if resources:
                for amounts in ("limits", "requests"):
                    if resources.get(amounts):
                        _fractions(resources[amounts], path.child(kind).index(i).child("resources", amounts), found)
            env = container.get("env", ())
            if len(env) > 1 and len({variable.get("name") for variable in env}) < len(env):
                _hidden_variables(env, path.child(kind).index(i).child("env"), found)
            for j, port in enumerate(container.get("ports", ())):
                ports.append((port, kind, i, j))
    if ports:
        _ports(ports, path, found)


def _hidden_variables(env: list[core_v1.EnvVar], path: Path, found: list[str]) -> None:
    seen: set[str] = set()
    for i, variable in enumerate(env):
        name, value = variable.get("name", ""), variable.get("value", "")
        if name in seen:
            reference = f"$({name})"
            if variable.get("valueFrom") is not None or value == reference or reference not in value:
                text = f"hides previous definition of {quote(name)}, which may be dropped when using apply"
                found.append(f"{path.index(i)}: {text}")
        seen.add(name)


def _go_port(port: core_v1.ContainerPort) -> str:
    return (
        f"{{Name:{port.get('name', '')} HostPort:{port.get('hostPort', 0)} "
        f"ContainerPort:{port.get('containerPort', 0)} "
        f"Protocol:{port.get('protocol', '')} HostIP:{port.get('hostIP', '')}}}"
    )


class _SameNumber:
    """Ports of one number and protocol, indexed by host port and host address. Lookups read only conflicting ports."""

    def __init__(self) -> None:
        self._all: list[_Port] = []
        self._by_host: dict[int, dict[str, list[int]]] = {}

    def conflicting(self, port: core_v1.ContainerPort) -> list[_Port]:
        """Return the first added ports that conflict with this port. Without a host port, all added ports conflict."""
        host, address = port.get("hostPort", 0), port.get("hostIP", "")
        if not host:
            return self._all[:WARNINGS_MAX]
        found: list[int] = []
        for number in (0, host):
            of_host = self._by_host.get(number, {})
            for each in dict.fromkeys(("", address)) if number and address else of_host:
                found += islice(of_host.get(each, ()), WARNINGS_MAX)
                if len(found) > 2 * WARNINGS_MAX:
                    break
        return [self._all[index] for index in sorted(found)[:WARNINGS_MAX]]

    def add(self, entry: _Port) -> None:
        """Add a port to the index."""
        port = entry[0]
        of_host = self._by_host.setdefault(port.get("hostPort", 0), {})
        of_host.setdefault(port.get("hostIP", ""), []).append(len(self._all))
        self._all.append(entry)


def _ports(ports: list[_Port], path: Path, found: list[str]) -> None:
    by_number: dict[tuple[int, str], _SameNumber] = {}
    for entry in ports:
        port = entry[0]
        if len(found) >= WARNINGS_MAX:
            return
        if port.get("hostIP") and not port.get("hostPort"):
            found.append(f"{_port_path(entry, path)}: hostIP set without hostPort: {_go_port(port)}")
        others = by_number.setdefault((port.get("containerPort", 0), port.get("protocol", "")), _SameNumber())
        for other in others.conflicting(port):
            text = _conflict(port, other[0])
            if text:
                found.append(f"{_port_path(entry, path)}: {text} port definition with {_port_path(other, path)}")
        others.add(entry)
    names: dict[str, _Port] = {}
    for entry in ports:
        name = entry[0].get("name")
        if not name:
            continue
        first = names.setdefault(name, entry)
        if first is not entry:
            where = _port_path(first, path)
            text = f"duplicate port name {quote(name)} with {where}, services and probes that select ports by name"
            found.append(f"{_port_path(entry, path)}: {text} will use {where}")


def _port_path(entry: _Port, path: Path) -> Path:
    _, kind, i, j = entry
    return path.child(kind).index(i).child("ports").index(j)


def _conflict(one: core_v1.ContainerPort, other: core_v1.ContainerPort) -> str:
    own, its = one.get("hostPort", 0), other.get("hostPort", 0)
    own_ip, its_ip = one.get("hostIP", ""), other.get("hostIP", "")
    if own_ip == its_ip and own == its:
        return "duplicate"
    if not own or not its:
        return "overlapping"
    return "dangerously ambiguous" if own == its and (not own_ip) != (not its_ip) else ""


def _pod_affinity(affinity: core_v1.Affinity, path: Path, found: list[str]) -> None:
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        at = path.child(kind, "requiredDuringSchedulingIgnoredDuringExecution")
        for i, term in enumerate(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()):
            if term.get("labelSelector") is None:
                found.append(f"{at.index(i).child('labelSelector')}: {_NULL_SELECTOR}")
        at = path.child(kind, "preferredDuringSchedulingIgnoredDuringExecution")
        for i, weighted in enumerate(rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
            if (weighted.get("podAffinityTerm") or {}).get("labelSelector") is None:
                found.append(f"{at.index(i).child('podAffinityTerm', 'labelSelector')}: {_NULL_SELECTOR}")
