"""Fields that a built-in kind needs although its schema does not require them.

A kind that is not listed needs no more than its schema requires.
"""

import base64
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

Fields = dict[str, Any]
Make = Callable[[str], Fields]
"""Function of the object's name."""


def _pod(name: str) -> Fields:
    return {"containers": [{"name": "main", "image": "registry.example.com/app:1"}]}


def _labelled(name: str) -> Fields:
    return {"metadata": {"labels": {"app": name}}, "spec": _pod(name)}


def _workload(name: str) -> Fields:
    return {"spec": {"selector": {"matchLabels": {"app": name}}, "template": _labelled(name)}}


def _job(name: str) -> Fields:
    return {"spec": {"template": {"spec": {**_pod(name), "restartPolicy": "Never"}}}}


def _autoscaler(name: str) -> Fields:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    return {"spec": {"maxReplicas": 1, "scaleTargetRef": target}}


def _policy(name: str) -> Fields:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    return {"matchConstraints": {"resourceRules": [rule]}}


def _mutating_policy(name: str) -> Fields:
    change = {"expression": "Object{}"}
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": change}
    return {"spec": {**_policy(name), "mutations": [mutation], "reinvocationPolicy": "Never"}}


def _custom_resource_definition(name: str) -> Fields:
    plural, _, group = name.partition(".")
    singular = plural.removesuffix("s") or plural
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    names = {"plural": plural, "singular": singular, "kind": singular.capitalize()}
    return {"spec": {"group": group, "names": names, "scope": "Namespaced", "versions": [version]}}


def _api_service(name: str) -> Fields:
    version, _, group = name.partition(".")
    minimum = {"groupPriorityMinimum": 1, "versionPriority": 1, "insecureSkipTLSVerify": True}
    return {"spec": {"group": group, "version": version, "service": {"name": "api", "namespace": "default"}, **minimum}}


@cache
def _certificate_request() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "jane")])
    request = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    return request.public_bytes(Encoding.PEM)


def _signing_request(name: str) -> Fields:
    request = base64.b64encode(_certificate_request()).decode()
    return {"spec": {"request": request, "signerName": "example.com/signer", "usages": ["client auth"]}}


def _access_review(**spec: Any) -> Make:
    return lambda name: {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods", **spec}}}


def _access_review_of_jane(**spec: Any) -> Make:
    made = _access_review(**spec)
    return lambda name: {"spec": {**made(name)["spec"], "user": "jane"}}


def _role_binding(kind: str) -> Make:
    return lambda name: {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}}


def _always(fields: Fields) -> Make:
    return lambda name: fields


FIELDS: Final[Mapping[tuple[str, str], Make]] = {
    ("", "Binding"): _always({"target": {"kind": "Node", "name": "node-0"}}),
    ("", "Pod"): lambda name: {"spec": _pod(name)},
    ("", "PodTemplate"): lambda name: {"template": _labelled(name)},
    ("", "PersistentVolume"): _always(
        {"spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/data"}}}
    ),
    ("", "PersistentVolumeClaim"): _always(
        {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    ),
    ("", "ReplicationController"): lambda name: {"spec": {"selector": {"app": name}, "template": _labelled(name)}},
    ("", "Service"): lambda name: {"spec": {"selector": {"app": name}, "ports": [{"port": 80}]}},
    ("apps", "ControllerRevision"): _always({"data": {}, "revision": 1}),
    ("apps", "DaemonSet"): _workload,
    ("apps", "Deployment"): _workload,
    ("apps", "ReplicaSet"): _workload,
    ("apps", "StatefulSet"): _workload,
    ("authorization.k8s.io", "LocalSubjectAccessReview"): _access_review_of_jane(namespace="default"),
    ("authorization.k8s.io", "SelfSubjectAccessReview"): _access_review(),
    ("authorization.k8s.io", "SelfSubjectRulesReview"): _always({"spec": {"namespace": "default"}}),
    ("authorization.k8s.io", "SubjectAccessReview"): _access_review_of_jane(),
    ("autoscaling", "HorizontalPodAutoscaler"): _autoscaler,
    ("batch", "CronJob"): lambda name: {"spec": {"schedule": "0 * * * *", "jobTemplate": _job(name)}},
    ("batch", "Job"): _job,
    ("certificates.k8s.io", "CertificateSigningRequest"): _signing_request,
    ("events.k8s.io", "Event"): _always(
        {
            "action": "Tested",
            "reason": "Tested",
            "type": "Normal",
            "eventTime": "2030-01-01T00:00:00.000000Z",
            "reportingController": "example.com/test",
            "reportingInstance": "test",
            "regarding": {"namespace": "default"},
        }
    ),
    ("", "Event"): _always({"involvedObject": {"namespace": "default"}}),
    ("networking.k8s.io", "IngressClass"): _always({"spec": {"controller": "example.com/ingress"}}),
    ("networking.k8s.io", "Ingress"): lambda name: {
        "spec": {"defaultBackend": {"service": {"name": name, "port": {"number": 80}}}}
    },
    ("networking.k8s.io", "ServiceCIDR"): _always({"spec": {"cidrs": ["10.200.0.0/24"]}}),
    ("networking.k8s.io", "IPAddress"): lambda name: {
        "spec": {"parentRef": {"resource": "services", "name": "web", "namespace": "default"}}
    },
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _role_binding("ClusterRole"),
    ("rbac.authorization.k8s.io", "RoleBinding"): _role_binding("Role"),
    ("storage.k8s.io", "VolumeAttachment"): _always(
        {"spec": {"attacher": "example.com", "nodeName": "node-0", "source": {"persistentVolumeName": "volume"}}}
    ),
    ("storage.k8s.io", "VolumeAttributesClass"): _always({"driverName": "example.com", "parameters": {"iops": "1"}}),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): _mutating_policy,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): lambda name: {"spec": {"policyName": name}},
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): lambda name: {
        "spec": {**_policy(name), "validations": [{"expression": "true"}]}
    },
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): lambda name: {
        "spec": {"policyName": name, "validationActions": ["Deny"]}
    },
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _custom_resource_definition,
    ("apiregistration.k8s.io", "APIService"): _api_service,
    ("discovery.k8s.io", "EndpointSlice"): _always({"addressType": "IPv4", "endpoints": [], "ports": []}),
    ("resource.k8s.io", "ResourceSlice"): _always(
        {
            "spec": {
                "driver": "example.com",
                "nodeName": "node-0",
                "pool": {"generation": 1, "name": "pool", "resourceSliceCount": 1},
            }
        }
    ),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): _always(
        {"spec": {"priorityLevelConfiguration": {"name": "global-default"}}}
    ),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): _always(
        {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}}
    ),
}
"""Functions that make the fields, by group and kind."""

NAMES: Final = {
    ("apiextensions.k8s.io", "CustomResourceDefinition"): "boats.example.com",
    ("apiregistration.k8s.io", "APIService"): "v1.example.com",
    ("networking.k8s.io", "IPAddress"): "10.96.0.200",
}
"""Names of built objects whose kind does not accept any name."""

NAMELESS: Final = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
"""Groups whose objects are review requests: they are not stored and have no name."""
