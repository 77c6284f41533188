"""`chart_files`: the Helm chart of an operator.

Its templates come from the objects of the manifests, so both have the same content. They are written again by each
`sampan bundle`; what users change is in values, in the patches of pyproject.toml, or in a parent chart.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from sampan.project.bundle.helm.monitoring import monitoring_files
from sampan.project.bundle.helm.object_templates import ObjectTemplates
from sampan.project.bundle.helm.references import ReferenceRewriter
from sampan.project.bundle.helm.rights import SCOPED
from sampan.project.bundle.helm.template import depends
from sampan.project.bundle.helm.texts import helpers, notes, values_file
from sampan.project.bundle.helm.values import chart_values, values_schema
from sampan.project.bundle.helm.workload import CONTAINER_FIELDS, POD_FIELDS, ImageName, operator_container
from sampan.project.bundle.loaded import load_operator
from sampan.project.bundle.objects import OperatorObjects, objects_from
from sampan.project.bundle.own_metrics import Measured, measured
from sampan.project.bundle.settings import BundleSettings
from sampan.project.errors import ProjectError
from sampan.project.versions import semantic_version
from sampan.resource import Object
from sampan.wire.yaml import encode

_SERVED: Final = ">=1.28.0-0"
"""Versions of Kubernetes; the end admits those of vendors, such as 1.30.2-gke.1."""


def chart_files(found: OperatorObjects) -> dict[str, str]:
    """Return the files of the chart by path. Raises `ProjectError`."""
    return _files(found.settings, found.objects, _all_objects(found), _lease(found), measured(found.operator))


def _all_objects(found: OperatorObjects) -> Sequence[Object]:
    """Return the objects of the project with everything that values can switch on."""
    settings = found.settings
    full = replace(
        settings, replicas=max(settings.replicas, 2), watch_namespaces=(), network_policy=True, service_monitor=True
    )
    operator = load_operator(full) if settings.watch_namespaces else found.operator
    return objects_from(full, operator).objects


def _lease(found: OperatorObjects) -> str:
    return found.operator.process.leader_election_id or found.operator.program


def _files(
    settings: BundleSettings, present: Sequence[Object], objects: Sequence[Object], lease: str, parts: Measured
) -> dict[str, str]:
    """Return the files. `present`: the objects of the manifests; `objects`: also those that values switch on."""
    objects = [each for each in objects if each["kind"] != "Namespace"]
    hooks = next((each["metadata"]["name"] for each in objects if each["kind"].endswith("WebhookConfiguration")), "")
    converts = any(each["spec"].get("conversion") for each in objects if _is_crd(each))
    names = ReferenceRewriter(settings.name, settings.namespace, lease, hooks, converts)
    deployment = _deployment(names, objects)
    defaults = _defaults(settings, deployment, present, objects)
    values = chart_values(defaults)
    schema = json.dumps(values_schema(values, f"Values of the chart {names.base}"), indent=2, ensure_ascii=False)
    ends = [each["metadata"]["name"].removeprefix(names.base) for each in objects]
    longest = max(len(each) for each in [SCOPED, *ends] if each.startswith("-"))
    return {
        "Chart.yaml": encode(_about(settings)).decode(),
        "values.yaml": values_file(values),
        "values.schema.json": schema + "\n",
        "templates/_helpers.tpl": helpers(names, longest, tagged=not defaults["image.tag"]),
        "templates/NOTES.txt": notes(names.base, [each for each in objects if _is_crd(each)]),
        **ObjectTemplates(names, objects).files(),
        **monitoring_files(names, deployment["metadata"].get("labels", {}), parts),
    }


def _about(settings: BundleSettings) -> Object:
    return {
        "apiVersion": "v2",
        "name": settings.name,
        "description": settings.description or f"The operator {settings.name}",
        "type": "application",
        "version": semantic_version(settings.version),
        "appVersion": settings.version,
        "kubeVersion": _SERVED,
    }


def _deployment(names: ReferenceRewriter, objects: Sequence[Object]) -> Object:
    found = [each for each in objects if each["kind"] == "Deployment"]
    if len(found) != 1:
        raise ProjectError(f"a chart needs one Deployment of the operator, but there are {len(found)}")
    return names.rewritten(found[0])


def _defaults(
    settings: BundleSettings, deployment: Object, present: Sequence[Object], objects: Sequence[Object]
) -> dict[str, Any]:
    """Return the values that the objects have, by path."""
    pod = deployment["spec"]["template"]["spec"]
    container = operator_container(deployment)
    image = ImageName.parse(container["image"])
    kinds = {each["kind"]: each for each in present}
    found: dict[str, Any] = {
        "replicas": kinds["Deployment"]["spec"].get("replicas", 1),
        "image.repository": image.repository,
        "image.tag": "" if image.tag == settings.version else image.tag,
        "image.digest": image.digest,
        "image.pullPolicy": container.get("imagePullPolicy", ""),
        "rbac.scope": "namespaced" if settings.watch_namespaces else "cluster",
        "rbac.watchNamespaces": list(settings.watch_namespaces),
        "networkPolicy.enabled": "NetworkPolicy" in kinds,
        "metrics.serviceMonitor.enabled": "ServiceMonitor" in kinds,
    }
    for source, fields in ((pod, POD_FIELDS), (container, CONTAINER_FIELDS)):
        for field, value in fields.items():
            if field in source:
                found[value] = None if depends(source[field]) else source[field]
    return {**found, **_budget(objects), **_interval(objects)}


def _interval(objects: Sequence[Object]) -> Mapping[str, Any]:
    endpoints = [end for each in objects if each["kind"] == "ServiceMonitor" for end in each["spec"]["endpoints"]]
    found = [end["interval"] for end in endpoints if "interval" in end]
    return {"metrics.serviceMonitor.interval": found[0]} if found else {}


def _budget(objects: Sequence[Object]) -> Mapping[str, Any]:
    budgets = [each["spec"] for each in objects if each["kind"] == "PodDisruptionBudget"]
    fields = ("minAvailable", "maxUnavailable")
    return {f"podDisruptionBudget.{field}": budget[field] for budget in budgets for field in fields if field in budget}


def _is_crd(obj: Object) -> bool:
    return bool(obj["kind"] == "CustomResourceDefinition")
