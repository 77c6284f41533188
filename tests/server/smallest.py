"""The smallest objects that the server accepts, one of each resource it serves.

The HubConversion is that of shirts (`tests.server.custom_resources`), if they have a version v2.
"""

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.server.cluster import Api
from tests.server.custom_resources import NAME as SHIRT_CRD

Json = dict[str, Any]

ABSENT = "absent"


def certificate_request() -> str:
    """A request for a client certificate, as the field of a CertificateSigningRequest has it."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "u")])
    key = ec.generate_private_key(ec.SECP256R1())
    request = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256())
    return base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()


_LABELS = {"app": "a"}
_SELECTOR = {"matchLabels": _LABELS}
_POD_SPEC = {"containers": [{"name": "c", "image": "i"}]}
_TEMPLATE = {"metadata": {"labels": _LABELS}, "spec": _POD_SPEC}
_JOB = {"template": {"spec": {**_POD_SPEC, "restartPolicy": "Never"}}}
_SIZE = {"storage": "1Gi"}
_RBAC = "rbac.authorization.k8s.io"
_RULES = [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]
_ROLE_REF = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "view"}
_APPLY_CONFIGURATION = {"expression": "Object{}"}

NAMES = {
    "apiregistration.k8s.io/apiservices": "v1.example.org",
    "apiextensions.k8s.io/customresourcedefinitions": "hats.example.org",
    "networking.k8s.io/ipaddresses": "10.96.0.77",
    "conversion.sampan.dev/hubconversions": SHIRT_CRD,
}
"""Names of kinds that do not accept every name."""

FIELDS: dict[str, Json] = {
    "persistentvolumeclaims": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": _SIZE}}},
    "persistentvolumes": {
        "spec": {"accessModes": ["ReadWriteOnce"], "capacity": _SIZE, "nfs": {"server": "s", "path": "/"}}
    },
    "pods": {"spec": _POD_SPEC},
    "podtemplates": {"template": _TEMPLATE},
    "replicationcontrollers": {"spec": {"selector": _LABELS, "template": _TEMPLATE}},
    "services": {"spec": {"ports": [{"port": 80}]}},
    "apiregistration.k8s.io/apiservices": {
        "spec": {
            "group": "example.org",
            "version": "v1",
            "groupPriorityMinimum": 1,
            "versionPriority": 1,
            "service": {"name": "s", "namespace": "default"},
            "insecureSkipTLSVerify": True,
        }
    },
    "apps/controllerrevisions": {"data": {}, "revision": 1},
    "apps/daemonsets": {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}},
    "apps/deployments": {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}},
    "apps/replicasets": {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}},
    "apps/statefulsets": {"spec": {"serviceName": "s", "selector": _SELECTOR, "template": _TEMPLATE}},
    "autoscaling/horizontalpodautoscalers": {
        "spec": {"maxReplicas": 1, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}
    },
    "batch/cronjobs": {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": _JOB}}},
    "batch/jobs": {"spec": _JOB},
    "certificates.k8s.io/certificatesigningrequests": {
        "spec": {"request": certificate_request(), "signerName": "example.org/signer", "usages": ["client auth"]}
    },
    "networking.k8s.io/ingressclasses": {"spec": {"controller": "example.org/c"}},
    "networking.k8s.io/ingresses": {"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}},
    "networking.k8s.io/ipaddresses": {
        "metadata": {
            "labels": {
                "ipaddress.kubernetes.io/ip-family": "IPv4",
                "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
            }
        },
        "spec": {"parentRef": {"resource": "services", "name": "s", "namespace": "default"}},
    },
    "networking.k8s.io/servicecidrs": {"spec": {"cidrs": ["192.168.200.0/24"]}},
    f"{_RBAC}/clusterrolebindings": {"roleRef": _ROLE_REF},
    f"{_RBAC}/rolebindings": {"roleRef": _ROLE_REF},
    "storage.k8s.io/csistoragecapacities": {"storageClassName": "c"},
    "storage.k8s.io/storageclasses": {"provisioner": "example.org/p"},
    "storage.k8s.io/volumeattachments": {
        "spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}
    },
    "storage.k8s.io/volumeattributesclasses": {"driverName": "example.org", "parameters": {"a": "b"}},
    "admissionregistration.k8s.io/mutatingadmissionpolicies": {
        "spec": {
            "reinvocationPolicy": "Never",
            "matchConstraints": {"resourceRules": _RULES},
            "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": _APPLY_CONFIGURATION}],
        }
    },
    "admissionregistration.k8s.io/mutatingadmissionpolicybindings": {"spec": {"policyName": "p"}},
    "admissionregistration.k8s.io/validatingadmissionpolicies": {
        "spec": {"matchConstraints": {"resourceRules": _RULES}, "validations": [{"expression": "true"}]}
    },
    "admissionregistration.k8s.io/validatingadmissionpolicybindings": {
        "spec": {"policyName": "p", "validationActions": ["Deny"]}
    },
    "apiextensions.k8s.io/customresourcedefinitions": {
        "spec": {
            "group": "example.org",
            "scope": "Namespaced",
            "names": {"plural": "hats", "kind": "Hat"},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
            ],
        }
    },
    "node.k8s.io/runtimeclasses": {"handler": "h"},
    "discovery.k8s.io/endpointslices": {"addressType": "IPv4"},
    "resource.k8s.io/resourceslices": {
        "spec": {"driver": "example.org", "nodeName": "n", "pool": {"name": "p", "resourceSliceCount": 1}}
    },
    "conversion.sampan.dev/hubconversions": {
        "spec": {"versions": [{"name": "v2", "fields": [{"hub": ".spec.size", "toHub": "self", "fromHub": "self"}]}]}
    },
    "events.k8s.io/events": {
        "type": "Normal",
        "reason": "r",
        "action": "a",
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "example.org/c",
        "reportingInstance": "i",
        "regarding": {"kind": "Pod", "namespace": "default", "name": "p"},
    },
    "flowcontrol.apiserver.k8s.io/flowschemas": {"spec": {"priorityLevelConfiguration": {"name": "exempt"}}},
    "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": {
        "spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}
    },
}
"""Fields that a kind requires besides its metadata."""


@dataclass(frozen=True, slots=True)
class Served:
    """A resource or subresource as discovery lists it."""

    root: str
    """`/api/v1`, `/apis/GROUP/VERSION`."""
    group: str
    api_version: str
    resource: str
    subresource: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...]

    @property
    def key(self) -> str:
        """The key of the resource in `FIELDS`."""
        return f"{self.group}/{self.resource}" if self.group else self.resource

    @property
    def collection(self) -> str:
        """The path of all objects, in the namespace `default`."""
        return f"{self.root}{'/namespaces/default' if self.namespaced else ''}/{self.resource}"

    @property
    def path(self) -> str:
        """The path of the smallest object, or of its subresource."""
        name = NAMES.get(self.key, ABSENT)
        return "/".join(filter(None, (self.collection, name, self.subresource)))

    def smallest(self) -> Json:
        """The smallest object. Raises `KeyError` if the resource is not a built-in one and needs more than a name."""
        fields = FIELDS.get(self.key, {})
        metadata = {**fields.get("metadata", {}), "name": NAMES.get(self.key, ABSENT)}
        return {**fields, "kind": self.kind, "apiVersion": self.api_version, "metadata": metadata}


async def served_resources(api: Api) -> AsyncIterator[Served]:
    """All resources and subresources that discovery lists."""
    documents = [("/api/v1", "", "v1")]
    for group in (await api.get("/apis")).body["groups"]:
        for version in group["versions"]:
            text = version["groupVersion"]
            documents.append((f"/apis/{text}", group["name"], text))
    for root, group_name, api_version in documents:
        for found in (await api.get(root)).body["resources"]:
            resource, _, subresource = found["name"].partition("/")
            yield Served(
                root,
                group_name,
                api_version,
                resource,
                subresource,
                found["kind"],
                found["namespaced"],
                tuple(found["verbs"]),
            )
