"""Values of a chart: their defaults, schema and comments, all from one table."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

_TEXT: Final = {"type": "string"}
_FLAG: Final = {"type": "boolean"}
_TEXTS: Final = {"type": "object", "additionalProperties": _TEXT}
_OBJECT: Final = {"type": "object"}
_OBJECTS: Final = {"type": "array", "items": _OBJECT}
_NAMED: Final = {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {"name": _TEXT}}}
_VARIABLE: Final = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {"name": {**_TEXT, "minLength": 1}, "value": _TEXT, "valueFrom": _OBJECT},
}
_MOUNT: Final = {
    "type": "object",
    "required": ["name", "mountPath"],
    "properties": {"name": _TEXT, "mountPath": {**_TEXT, "pattern": "^[^:]+$"}},
}
_COUNT: Final = {"type": "integer", "minimum": 0}
_LABEL: Final = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
_AMOUNT: Final = {"type": ["integer", "string", "null"]}
_EVERYTHING_ELSE: Final = {
    "global": {**_OBJECT, "description": "Values that a parent chart shares with all its charts."},
    "enabled": {**_FLAG, "description": "For the condition of a parent chart; this chart does not read it."},
}
"""Values that Helm passes to a chart in a parent chart."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a chart. `path` is its place, as in `image.tag`."""

    path: str
    schema: Mapping[str, Any]
    text: str
    """Meaning, in the file of values and in the schema."""
    default: Any = None
    """None: what the operator's object has in its place; it is in the template if it depends on the release."""


VALUES: Final = (
    Value("nameOverride", _TEXT, "Replaces the chart's name in the names of objects.", ""),
    Value(
        "fullnameOverride",
        _TEXT,
        "First part of the names of all objects. Default: the release, with the chart.",
        "",
    ),
    Value("replicas", _COUNT, "Number of Pods. One of them leads; the others take over."),
    Value("image.repository", {**_TEXT, "minLength": 1}, "Image without its tag."),
    Value("image.tag", _TEXT, "Tag of the image. Default: the version of the application."),
    Value(
        "image.digest",
        {**_TEXT, "pattern": "^(sha256:[0-9a-f]{64})?$"},
        "Digest of the image; it prevails over the tag.",
    ),
    Value(
        "image.pullPolicy",
        {"enum": ["", "Always", "IfNotPresent", "Never"]},
        "Pull policy. Default: that of Kubernetes.",
        "",
    ),
    Value("imagePullSecrets", _NAMED, "Secrets for the registry: [{name: my-registry}].", []),
    Value("commonLabels", _TEXTS, "Labels of all objects.", {}),
    Value("commonAnnotations", _TEXTS, "Annotations of all objects.", {}),
    Value("podLabels", _TEXTS, "Labels of the Pods.", {}),
    Value("podAnnotations", _TEXTS, "Annotations of the Pods.", {}),
    Value(
        "args",
        {"type": "array", "items": _TEXT},
        "More flags. They prevail over those of the chart: [--log-level=debug].",
        [],
    ),
    Value(
        "env",
        {"type": "array", "items": _VARIABLE},
        "More variables, or others for those of the chart: [{name: A, value: b}].",
        [],
    ),
    Value("envFrom", _OBJECTS, "Variables from ConfigMaps and Secrets.", []),
    Value("volumes", _NAMED, "More volumes of the Pods.", []),
    Value(
        "volumeMounts",
        {"type": "array", "items": _MOUNT},
        "Mount paths of the volumes in the container: [{name: a, mountPath: /a}].",
        [],
    ),
    Value("resources", _OBJECT, "Requests and limits of the container.", {}),
    Value("nodeSelector", _TEXTS, "Labels of the nodes on which the Pods run.", {}),
    Value("tolerations", _OBJECTS, "Tolerated taints of nodes.", []),
    Value("affinity", _OBJECT, "Affinity of the Pods.", {}),
    Value("topologySpreadConstraints", _OBJECTS, "Rules to spread the Pods over zones and nodes.", []),
    Value("priorityClassName", _TEXT, "Priority class of the Pods.", ""),
    Value("podSecurityContext", _OBJECT, "Security context of the Pods.", {}),
    Value("securityContext", _OBJECT, "Security context of the container.", {}),
    Value("serviceAccount.create", _FLAG, "Create the service account.", True),
    Value("serviceAccount.name", _TEXT, "Its name. Default: that of the release. Without create: one that exists.", ""),
    Value("serviceAccount.annotations", _TEXTS, "Its annotations, for example for the identity of a cloud.", {}),
    Value("rbac.create", _FLAG, "Create roles and bindings. Without them, an administrator creates them.", True),
    Value(
        "rbac.scope",
        {"enum": ["cluster", "namespaced"]},
        "cluster: objects of all namespaces. namespaced: those of watchNamespaces.",
        "cluster",
    ),
    Value(
        "rbac.watchNamespaces",
        {"type": "array", "items": {**_TEXT, "pattern": _LABEL}},
        "Namespaces with scope namespaced. Default: that of the release.",
        [],
    ),
    Value("crds.enabled", _FLAG, "Install and upgrade the CRDs. Only one release of a cluster may do this.", True),
    Value("crds.keep", _FLAG, "Keep the CRDs, and so all their objects, when the release is uninstalled.", True),
    Value(
        "webhooks.enabled",
        _FLAG,
        "Check and complete objects by webhooks. Conversions between versions always work.",
        True,
    ),
    Value("networkPolicy.enabled", _FLAG, "Limit the connections of the Pods.", True),
    Value("podDisruptionBudget.enabled", _FLAG, "Limit evictions, with two replicas or more.", True),
    Value("podDisruptionBudget.minAvailable", _AMOUNT, "Number or share of Pods that remain; replaces maxUnavailable."),
    Value("podDisruptionBudget.maxUnavailable", _AMOUNT, "Number or share of Pods that may be absent."),
    Value("metrics.enabled", _FLAG, "Serve metrics.", True),
    Value("metrics.serviceMonitor.enabled", _FLAG, "Create a ServiceMonitor of the Prometheus operator.", False),
    Value("metrics.serviceMonitor.labels", _TEXTS, "Its labels, by which Prometheus selects it.", {}),
    Value(
        "metrics.serviceMonitor.interval",
        {**_TEXT, "pattern": "^([0-9]+(ms|[smhd]))*$"},
        "Time between two scrapes. Default: that of Prometheus.",
        "",
    ),
    Value("metrics.rules.enabled", _FLAG, "Create a PrometheusRule with alerts.", False),
    Value("metrics.rules.labels", _TEXTS, "Its labels, by which Prometheus selects it.", {}),
    Value("metrics.dashboard.enabled", _FLAG, "Create a ConfigMap with a dashboard for Grafana's sidecar.", False),
    Value(
        "metrics.dashboard.labels",
        _TEXTS,
        "Its labels, by which the sidecar selects it.",
        {"grafana_dashboard": "1"},
    ),
)
"""All values, in the order of the file."""


def chart_values(defaults: Mapping[str, Any]) -> list[Value]:
    """Return the values with the defaults of one operator, by path: what its objects have."""
    return [_with_default(each, defaults.get(each.path, each.default)) for each in VALUES]


def _with_default(value: Value, default: Any) -> Value:
    kinds = value.schema.get("type", "null")
    if default is not None or "null" in kinds:
        return replace(value, default=default)
    nullable = [*(kinds if isinstance(kinds, list) else [kinds]), "null"]
    return replace(value, default=None, schema={**value.schema, "type": nullable})


def values_schema(values: list[Value], title: str) -> dict[str, Any]:
    """Return the JSON schema (draft 7). A value that is not in the table is an error."""
    root: dict[str, Any] = {"$schema": "http://json-schema.org/draft-07/schema#", "title": title, **_closed()}
    root["properties"] |= _EVERYTHING_ELSE
    for value in values:
        *folders, name = value.path.split(".")
        inner = root
        for folder in folders:
            inner = inner["properties"].setdefault(folder, _closed())
        inner["properties"][name] = {**value.schema, "description": value.text, "default": value.default}
    return root


def _closed() -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": {}}
