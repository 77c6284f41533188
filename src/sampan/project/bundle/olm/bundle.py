"""`olm_files`: a bundle of the format registry+v1, and `olm_warnings`: what OLM does differently from the manifests.

OLM makes the Deployment, the service account, the roles, and what webhooks need. The operator therefore gets other
flags: the certificate that OLM mounts, and no webhook configurations. The namespaces come from the OperatorGroup.
"""

from collections.abc import Collection, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from sampan.project.bundle.loaded import load_operator
from sampan.project.bundle.objects import OperatorObjects, objects_from
from sampan.project.bundle.olm.csv import cluster_service_version
from sampan.project.bundle.olm.settings import olm_settings
from sampan.project.bundle.olm.webhooks import CERTIFICATES, converts, webhook_definitions, webhook_warnings
from sampan.project.bundle.rule_scopes import split_rules
from sampan.project.errors import ProjectError
from sampan.resource import Object
from sampan.wire import yaml

_RETAINED: Final = ("ClusterRole", "PodDisruptionBudget", "Service", "ServiceMonitor")
"""Kinds that OLM installs as they are. Source: operator-registry pkg/lib/bundle/supported_resources.go (1.55)."""
_MEDIA: Final = "operators.operatorframework.io.bundle"
_TARGETS: Final = "metadata.annotations['olm.targetNamespaces']"
_SAMPLES: Final = "samples"
_SAMPLE_BYTES_MAX: Final = 1 << 20
_SEPARATOR: Final = "\n---\n"


def olm_files(found: OperatorObjects) -> dict[str, str]:
    """Return the files of the bundle by path. Raises `ProjectError`."""
    settings = found.settings
    olm = olm_settings(settings.project, settings.name)
    inside = _objects_under_olm(found)
    crds = [each for each in found.objects if each["kind"] == "CustomResourceDefinition"]
    (deployment,) = (each for each in inside if each["kind"] == "Deployment")
    server = found.operator.webhooks
    port = server.options.port if server is not None else 0
    csv = cluster_service_version(
        settings.name,
        olm,
        namespace=settings.namespace,
        image=deployment["spec"]["template"]["spec"]["containers"][0]["image"],
        crds=crds,
        samples=_samples_of(settings.project.root, _owned(crds)),
        strategy=_strategy(settings.name, deployment, inside, crds),
        webhooks=webhook_definitions(found.objects, settings.name, port),
        everywhere=any(map(converts, crds)) or any(each["spec"]["scope"] == "Cluster" for each in crds),
    )
    objects = {f"{settings.name}.clusterserviceversion.yaml": csv}
    for crd in crds:
        objects[f"{crd['metadata']['name']}.crd.yaml"] = _without_conversion(crd)
    for obj in inside:
        if _is_installed(obj, inside):
            objects[f"{obj['metadata']['name']}.{obj['kind'].lower()}.yaml"] = _without_namespace(obj)
    labels = _labels(settings.name, olm.channels, olm.default_channel)
    return {
        **{f"manifests/{path}": yaml.encode(obj).decode() for path, obj in sorted(objects.items())},
        "metadata/annotations.yaml": yaml.encode({"annotations": labels}).decode(),
        "bundle.Dockerfile": _dockerfile(labels),
    }


def olm_warnings(found: OperatorObjects) -> list[str]:
    """Return what a user of the bundle should know."""
    warnings = webhook_warnings(found.objects)
    if any(each["kind"] == "NetworkPolicy" for each in found.objects):
        warnings.append("OLM does not install a NetworkPolicy: apply that of the manifests")
    crds = [each for each in found.objects if each["kind"] == "CustomResourceDefinition"]
    owned = _owned(crds)
    examples = {(each["apiVersion"], each["kind"]) for each in _samples_of(found.settings.project.root, owned)}
    without = [f"{kind} of {version}" for version, kind in owned if (version, kind) not in examples]
    return warnings + [f"there is no example of the kind {each}: add one to samples/" for each in without]


def _owned(crds: Sequence[Object]) -> Collection[tuple[str, str]]:
    """Return apiVersion and kind of each version of the CRDs."""
    return dict.fromkeys(
        (f"{crd['spec']['group']}/{each['name']}", crd["spec"]["names"]["kind"])
        for crd in crds
        for each in crd["spec"]["versions"]
    )


def _objects_under_olm(found: OperatorObjects) -> Sequence[Object]:
    """Return the objects of the operator with the flags that it has under OLM."""
    settings = found.settings
    flags = list(settings.arguments)
    if found.operator.webhooks is not None:
        flags += [f"--webhook-cert-path={CERTIFICATES}", "--webhook-configurations=0", "--webhook-conversions=false"]
    changed = replace(settings, arguments=tuple(flags), watch_namespaces=(), cert_manager=False)
    return objects_from(changed, load_operator(changed)).objects


def _strategy(name: str, deployment: Object, objects: Sequence[Object], crds: Sequence[Object]) -> Object:
    namespaced: list[Any] = []
    clusterwide: list[Any] = []
    bound = {each["roleRef"]["name"] for each in objects if each["kind"] == "ClusterRoleBinding"}
    for role in objects:
        if role["kind"] == "ClusterRole" and role["metadata"]["name"] in bound:
            within, without = split_rules(role["rules"], crds)
            namespaced += within
            clusterwide += without
        elif role["kind"] == "Role":
            namespaced += role["rules"]
    permissions = {
        key: [{"serviceAccountName": name, "rules": rules}]
        for key, rules in (("permissions", namespaced), ("clusterPermissions", clusterwide))
        if rules
    }
    return {
        **permissions,
        "deployments": [{"name": name, "label": deployment["metadata"]["labels"], "spec": _spec(deployment)}],
    }


def _spec(deployment: Object) -> Object:
    """Return the spec of the Deployment. The namespaces to watch are those of the OperatorGroup."""
    spec: dict[str, Any] = deepcopy(deployment["spec"])
    container = spec["template"]["spec"]["containers"][0]
    container["args"] = [each for each in container["args"] if not each.startswith("--webhook-service=")]
    watched = {"name": "SAMPAN_NAMESPACES", "valueFrom": {"fieldRef": {"fieldPath": _TARGETS}}}
    container["env"] = [*container.get("env", []), watched]
    return spec


def _is_installed(obj: Object, objects: Sequence[Object]) -> bool:
    """Return True for an object that is a manifest of the bundle, because OLM does not make it itself."""
    name = obj["metadata"]["name"]
    if obj["kind"] == "ClusterRole":
        return all(each.get("roleRef", {}).get("name") != name for each in objects)
    if obj["kind"] == "Service":
        return any(each.get("name") == "metrics" for each in obj["spec"]["ports"])
    return obj["kind"] in _RETAINED


def _without_conversion(crd: Object) -> Object:
    """Return a CRD whose conversion OLM writes."""
    return {**crd, "spec": {key: value for key, value in crd["spec"].items() if key != "conversion"}}


def _without_namespace(obj: Object) -> Object:
    metadata = {key: value for key, value in obj["metadata"].items() if key != "namespace"}
    return {**obj, "metadata": metadata}


def _labels(name: str, channels: Sequence[str], default: str) -> dict[str, str]:
    return {
        f"{_MEDIA}.mediatype.v1": "registry+v1",
        f"{_MEDIA}.manifests.v1": "manifests/",
        f"{_MEDIA}.metadata.v1": "metadata/",
        f"{_MEDIA}.package.v1": name,
        f"{_MEDIA}.channels.v1": ",".join(channels),
        f"{_MEDIA}.channel.default.v1": default,
    }


def _dockerfile(labels: dict[str, str]) -> str:
    lines = ["FROM scratch", *(f"LABEL {key}={value}" for key, value in labels.items())]
    return "\n".join([*lines, "COPY manifests /manifests/", "COPY metadata /metadata/"]) + "\n"


def _samples_of(root: Path, owned: Collection[tuple[str, str]]) -> list[Object]:
    """Return the samples of the kinds that the operator owns. `owned` has their apiVersions and kinds.

    Raises `ProjectError` for a broken file.
    """
    found = (each for each in _objects(root / _SAMPLES) if (each.get("apiVersion"), each.get("kind")) in owned)
    return sorted(found, key=lambda each: (each["kind"], each["apiVersion"], each["metadata"]["name"]))


def _objects(folder: Path) -> Iterator[Object]:
    for place in sorted([*folder.glob("*.yaml"), *folder.glob("*.yml"), *folder.glob("*.json")]):
        if place.stat().st_size > _SAMPLE_BYTES_MAX:
            raise ProjectError(f"{place} has more than {_SAMPLE_BYTES_MAX} bytes")
        for text in ("\n" + place.read_text()).split(_SEPARATOR):
            try:
                found = yaml.decode(text.encode())
            except ValueError as error:
                raise ProjectError(f"{place} is no valid YAML: {error}") from error
            if isinstance(found, dict) and isinstance(found.get("metadata"), dict) and "name" in found["metadata"]:
                yield found
