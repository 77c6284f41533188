"""Types of `request` and `namespaceObject`. Source: apiserver pkg/admission/plugin/cel/compile.go (1.36)."""

from typing import Final

from sampan.schema.cel.types import BOOL, DYN, INT, STRING, TIMESTAMP, CelType, list_of, map_of, struct

_TEXTS: Final = list_of(STRING)
_LABELS: Final = map_of(STRING, STRING)
_KIND: Final = struct("kubernetes.GroupVersionKind", dict.fromkeys(("group", "version", "kind"), STRING))
_RESOURCE: Final = struct("kubernetes.GroupVersionResource", dict.fromkeys(("group", "version", "resource"), STRING))
_USER: Final = struct(
    "kubernetes.UserInfo",
    {"username": STRING, "uid": STRING, "groups": _TEXTS, "extra": map_of(STRING, _TEXTS)},
)
REQUEST: Final[CelType] = struct(
    "kubernetes.AdmissionRequest",
    {
        "kind": _KIND,
        "resource": _RESOURCE,
        "subResource": STRING,
        "requestKind": _KIND,
        "requestResource": _RESOURCE,
        "requestSubResource": STRING,
        "name": STRING,
        "namespace": STRING,
        "operation": STRING,
        "userInfo": _USER,
        "dryRun": BOOL,
        "options": DYN,
    },
)
_CONDITION: Final = struct(
    "kubernetes.NamespaceCondition",
    {"status": STRING, "type": STRING, "lastTransitionTime": TIMESTAMP, "message": STRING, "reason": STRING},
)
NAMESPACE_METADATA: Final[CelType] = struct(
    "kubernetes.NamespaceMetadata",
    {
        "name": STRING,
        "generateName": STRING,
        "namespace": STRING,
        "labels": _LABELS,
        "annotations": _LABELS,
        "UID": STRING,
        "creationTimestamp": TIMESTAMP,
        "deletionGracePeriodSeconds": INT,
        "deletionTimestamp": TIMESTAMP,
        "generation": INT,
        "resourceVersion": STRING,
        "finalizers": _TEXTS,
    },
)
NAMESPACE: Final[CelType] = struct(
    "kubernetes.Namespace",
    {
        "metadata": NAMESPACE_METADATA,
        "spec": struct("kubernetes.NamespaceSpec", {"finalizers": _TEXTS}),
        "status": struct("kubernetes.NamespaceStatus", {"conditions": list_of(_CONDITION), "phase": STRING}),
    },
)
