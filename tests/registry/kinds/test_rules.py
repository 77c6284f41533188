"""Rules of all kinds except workloads: a valid object of each, and changes that break its rules."""

import pytest

from sampan.core.object import Object
from tests.registry.kinds.cases import (
    CTX,
    DROP,
    Change,
    changed,
    check_idempotent,
    created,
    faults,
    strategy,
    update_faults,
)

RBAC = "rbac.authorization.k8s.io"
NETWORKING = "networking.k8s.io"
STORAGE = "storage.k8s.io"
ADMISSION = "admissionregistration.k8s.io"
FLOW_CONTROL = "flowcontrol.apiserver.k8s.io"
RESOURCE = "resource.k8s.io"

RULE = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
WEBHOOK = {
    "name": "a.b.example",
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "clientConfig": {"service": {"name": "s", "namespace": "d"}},
    "rules": [RULE],
}
INGRESS_RULE = {
    "host": "a.example",
    "http": {
        "paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]
    },
}
INGRESS_PATH = "spec/rules/0/http/paths/0"
SUBJECT = {"kind": "User", "name": "u"}

VALID: dict[tuple[str, str], Object] = {
    ("autoscaling", "horizontalpodautoscalers"): {
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 3}
    },
    ("policy", "poddisruptionbudgets"): {"spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}},
    (RBAC, "roles"): {"rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]},
    (RBAC, "clusterroles"): {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/healthz"]}]},
    (RBAC, "rolebindings"): {"roleRef": {"kind": "Role", "name": "r"}, "subjects": [SUBJECT]},
    (RBAC, "clusterrolebindings"): {"roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": [SUBJECT]},
    ("coordination.k8s.io", "leases"): {"spec": {"holderIdentity": "h", "leaseDurationSeconds": 15}},
    ("scheduling.k8s.io", "priorityclasses"): {"value": 1000},
    (NETWORKING, "ingresses"): {"spec": {"rules": [INGRESS_RULE]}},
    (NETWORKING, "ingressclasses"): {"spec": {"controller": "example.com/c"}},
    (NETWORKING, "networkpolicies"): {"spec": {"ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]}},
    (NETWORKING, "ipaddresses"): {"spec": {"parentRef": {"resource": "services", "name": "s", "namespace": "d"}}},
    (NETWORKING, "servicecidrs"): {"spec": {"cidrs": ["10.0.0.0/16"]}},
    ("discovery.k8s.io", "endpointslices"): {
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.0.0.1"]}],
        "ports": [{"port": 80}],
    },
    (STORAGE, "storageclasses"): {"provisioner": "example.com/p"},
    (STORAGE, "volumeattributesclasses"): {"driverName": "example.com", "parameters": {"a": "b"}},
    (STORAGE, "volumeattachments"): {
        "spec": {"attacher": "a.example", "nodeName": "n", "source": {"persistentVolumeName": "pv"}}
    },
    (STORAGE, "csidrivers"): {"spec": {}},
    (STORAGE, "csinodes"): {"spec": {"drivers": [{"name": "a.example", "nodeID": "n"}]}},
    (STORAGE, "csistoragecapacities"): {"storageClassName": "fast", "capacity": "1Gi"},
    ("node.k8s.io", "runtimeclasses"): {"handler": "runc"},
    (FLOW_CONTROL, "flowschemas"): {
        "spec": {
            "priorityLevelConfiguration": {"name": "l"},
            "rules": [
                {
                    "subjects": [{"kind": "User", "user": {"name": "u"}}],
                    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["/healthz"]}],
                }
            ],
        }
    },
    (FLOW_CONTROL, "prioritylevelconfigurations"): {
        "spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": {}}}}
    },
    (ADMISSION, "validatingwebhookconfigurations"): {"webhooks": [WEBHOOK]},
    (ADMISSION, "mutatingwebhookconfigurations"): {"webhooks": [WEBHOOK]},
    (ADMISSION, "validatingadmissionpolicies"): {
        "spec": {"matchConstraints": {"resourceRules": [RULE]}, "validations": [{"expression": "true"}]}
    },
    (ADMISSION, "mutatingadmissionpolicies"): {
        "spec": {
            "matchConstraints": {"resourceRules": [RULE]},
            "reinvocationPolicy": "Never",
            "mutations": [
                {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/a'}]"}}
            ],
        }
    },
    (ADMISSION, "validatingadmissionpolicybindings"): {"spec": {"policyName": "p", "validationActions": ["Deny"]}},
    (ADMISSION, "mutatingadmissionpolicybindings"): {"spec": {"policyName": "p"}},
    (RESOURCE, "deviceclasses"): {"spec": {"selectors": [{"cel": {"expression": "true"}}]}},
    (RESOURCE, "resourceclaims"): {
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}}
    },
    (RESOURCE, "resourceclaimtemplates"): {
        "spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}}}
    },
    (RESOURCE, "resourceslices"): {
        "spec": {
            "driver": "a.example",
            "nodeName": "n",
            "pool": {"name": "p", "resourceSliceCount": 1},
            "devices": [{"name": "d"}],
        }
    },
}
KEYS = sorted(VALID)


@pytest.mark.parametrize("key", KEYS, ids="/".join)
def test_a_valid_object_has_no_faults(key: tuple[str, str]) -> None:
    assert faults(strategy(*key), VALID[key]) == []
    assert update_faults(strategy(*key), VALID[key], {}) == []


@pytest.mark.parametrize("key", KEYS, ids="/".join)
def test_defaults_are_idempotent(key: tuple[str, str]) -> None:
    check_idempotent(strategy(*key).default, VALID[key])


@pytest.mark.parametrize("key", KEYS, ids="/".join)
def test_an_empty_object_is_validated_without_a_crash(key: tuple[str, str]) -> None:
    each = strategy(*key)
    obj = created(each, {})
    each.validate(CTX, obj)
    each.warnings_on_create(CTX, obj)
    each.validate_update(CTX, obj, created(each, {}))
    each.selectable_fields(obj)


LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)

CREATE: list[tuple[str, Change, list[str]]] = [
    (
        "horizontalpodautoscalers",
        {"spec/maxReplicas": 0},
        [
            "spec.maxReplicas: Required value: must be set and greater than 0",
            "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
        ],
    ),
    (
        "horizontalpodautoscalers",
        {"spec/minReplicas": 0},
        [
            "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
            "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero "
            "replicas",
        ],
    ),
    (
        "horizontalpodautoscalers",
        {"spec/scaleTargetRef/apiVersion": "v1"},
        ['spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group'],
    ),
    (
        "horizontalpodautoscalers",
        {"spec/metrics": [{"type": "Pods"}]},
        ["spec.metrics[0].pods: Required value: must populate information for the given metric source"],
    ),
    (
        "horizontalpodautoscalers",
        {"spec/behavior": {"scaleUp": {"policies": [{"type": "Pods", "value": 0, "periodSeconds": 1801}]}}},
        [
            "spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero",
            "spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800",
        ],
    ),
    (
        "poddisruptionbudgets",
        {"spec/maxUnavailable": "x"},
        [
            'spec: Invalid value: {"maxUnavailable":"x","minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}: '
            "minAvailable and maxUnavailable cannot be both set",
            'spec.maxUnavailable: Invalid value: "x": a valid percent string must be a numeric string followed by an '
            "ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
        ],
    ),
    ("roles", {"rules/0/verbs": []}, ["rules[0].verbs: Required value: verbs must contain at least one value"]),
    (
        "roles",
        {"rules/0": {"verbs": ["get"], "nonResourceURLs": ["/"]}},
        ['rules[0].nonResourceURLs: Invalid value: ["/"]: namespaced rules cannot apply to non-resource URLs'],
    ),
    (
        "clusterroles",
        {"aggregationRule": {}},
        [
            "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if "
            "aggregationRule is non-nil"
        ],
    ),
    (
        "rolebindings",
        {"roleRef/kind": "Group"},
        ['roleRef.kind: Unsupported value: "Group": supported values: "Role", "ClusterRole"'],
    ),
    (
        "clusterrolebindings",
        {"subjects": [{"kind": "ServiceAccount", "name": "s"}]},
        ["subjects[0].namespace: Required value"],
    ),
    (
        "leases",
        {"spec/leaseDurationSeconds": 0},
        ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"],
    ),
    (
        "priorityclasses",
        {"value": 1000000001},
        ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
    ),
    (
        "priorityclasses",
        {"metadata/name": "system-x"},
        [
            "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. "
            "error: system-x is not a known system priority class"
        ],
    ),
    ("ingresses", {"spec": {}}, ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"]),
    (
        "ingresses",
        {"spec/rules/0/host": "1.2.3.4"},
        ['spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address'],
    ),
    (
        "ingresses",
        {f"{INGRESS_PATH}/pathType": DROP},
        ["spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified"],
    ),
    (
        "ingresses",
        {f"{INGRESS_PATH}/path": "/a//b"},
        ["spec.rules[0].http.paths[0].path: Invalid value: \"/a//b\": must not contain '//'"],
    ),
    (
        "ingresses",
        {f"{INGRESS_PATH}/backend": {}},
        ['spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required'],
    ),
    (
        "ingresses",
        {f"{INGRESS_PATH}/backend/service/port": {}},
        ["spec.rules[0].http.paths[0].backend: Required value: port name or number is required"],
    ),
    (
        "ingressclasses",
        {"spec/controller": "c"},
        ['spec.controller: Invalid value: "c": must be a domain-prefixed path (such as "acme.io/foo")'],
    ),
    (
        "ingressclasses",
        {"spec/parameters": {"kind": "K", "name": "n", "scope": "Namespace"}},
        ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
    ),
    (
        "networkpolicies",
        {"spec/ingress/0/from/0": {}},
        ["spec.ingress[0].from[0]: Required value: must specify a peer"],
    ),
    (
        "networkpolicies",
        {"spec/ingress/0/from/0/ipBlock/except": ["11.0.0.0/9"]},
        ['spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/9": must be a strict subset of `cidr`'],
    ),
    (
        "networkpolicies",
        {"spec/ingress/0/ports": [{"port": 90, "endPort": 80}]},
        ["spec.ingress[0].ports[0].endPort: Invalid value: 90: must be greater than or equal to `port`"],
    ),
    ("ipaddresses", {"spec": {}}, ["spec.parentRef: Required value"]),
    (
        "servicecidrs",
        {"spec/cidrs": ["10.0.0.0/16", "10.1.0.0/16"]},
        [
            'spec.cidrs: Invalid value: ["10.0.0.0/16","10.1.0.0/16"]: may specify no more than one IP for each IP '
            "family, i.e 192.168.0.0/24 and 2001:db8::/64"
        ],
    ),
    (
        "endpointslices",
        {"addressType": "Other"},
        ['addressType: Unsupported value: "Other": supported values: "FQDN", "IPv4", "IPv6"'],
    ),
    (
        "endpointslices",
        {"endpoints/0/addresses": ["127.0.0.1"]},
        [
            'endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, '
            "::1/128)"
        ],
    ),
    (
        "endpointslices",
        {"endpoints/0/addresses": ["::2"]},
        ['endpoints[0].addresses: Invalid value: "::2": must be an IPv4 address'],
    ),
    ("endpointslices", {"ports": [{"name": "a"}, {"name": "a"}]}, ['ports[1].name: Duplicate value: "a"']),
    ("storageclasses", {"provisioner": ""}, ["provisioner: Required value"]),
    (
        "storageclasses",
        {"volumeBindingMode": "Later"},
        ['volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"'],
    ),
    (
        "volumeattributesclasses",
        {"parameters": {}},
        ["parameters: Required value: must contain at least one key/value pair"],
    ),
    (
        "volumeattachments",
        {"spec/source": {}},
        ["spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"],
    ),
    (
        "csidrivers",
        {"spec/tokenRequests": [{"audience": "a"}, {"audience": "a"}]},
        ['spec.tokenRequests[1].audience: Duplicate value: "a"'],
    ),
    (
        "csidrivers",
        {"spec/serviceAccountTokenInSecrets": True},
        [
            "spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no "
            "tokenRequests are specified"
        ],
    ),
    ("csinodes", {"spec/drivers/0/nodeID": ""}, ["spec.drivers[0].nodeID: Required value"]),
    ("csistoragecapacities", {"capacity": "-1"}, ['capacity: Invalid value: "-1": must be greater than or equal to 0']),
    ("runtimeclasses", {"handler": "Not_a_label"}, [f'handler: Invalid value: "Not_a_label": {LABEL_TEXT}']),
    (
        "flowschemas",
        {"spec/matchingPrecedence": 1},
        ["spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"],
    ),
    (
        "flowschemas",
        {"spec/rules/0/nonResourceRules/0/nonResourceURLs": ["/a*b"]},
        [
            'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "/a*b": wildcard can only do suffix '
            "matching"
        ],
    ),
    (
        "prioritylevelconfigurations",
        {"spec/type": "Exempt"},
        [
            "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'",
            "spec.limited: Forbidden: must be nil if the type is not Limited",
        ],
    ),
    (
        "prioritylevelconfigurations",
        {"spec/limited/limitResponse/queuing": {"queues": 1000, "handSize": 10}},
        [
            "spec.limited.limitResponse.queuing.handSize: Invalid value: 10: required entropy bits of deckSize 1000 "
            "and handSize 10 should not be greater than 60"
        ],
    ),
    (
        "validatingwebhookconfigurations",
        {"webhooks/0/sideEffects": DROP},
        ["webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun"],
    ),
    (
        "validatingwebhookconfigurations",
        {"webhooks/0/clientConfig": {"url": "http://u@a/b?c#d"}},
        [
            "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired "
            "format: https://host[/path]",
            'webhooks[0].clientConfig.url: Invalid value: "u": user information is not permitted in the URL',
            'webhooks[0].clientConfig.url: Invalid value: "d": fragments are not permitted in the URL',
            'webhooks[0].clientConfig.url: Invalid value: "c": query parameters are not permitted in the URL',
        ],
    ),
    (
        "validatingwebhookconfigurations",
        {"webhooks/0/clientConfig": {"url": "https://fe80::1/b"}},
        [
            'webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "https://fe80::1/b": '
            'invalid port "::1" after host; desired format: https://host[/path]'
        ],
    ),
    (
        "validatingwebhookconfigurations",
        {"webhooks/0/clientConfig": {"url": "https://a/b\r\nX-Injected: 1"}},
        [
            "webhooks[0].clientConfig.url: Required value: url must be a valid URL: "
            r'parse "https://a/b\r\nX-Injected: 1": net/url: invalid control character in URL'
            "; desired format: https://host[/path]"
        ],
    ),
    (
        "mutatingwebhookconfigurations",
        {"webhooks/0/rules/0/resources": ["*/*", "pods"]},
        [
            'webhooks[0].rules[0].resources: Invalid value: ["*/*","pods"]: if \'*/*\' is present, must not specify '
            "other resources"
        ],
    ),
    (
        "mutatingwebhookconfigurations",
        {"webhooks/0/name": "a"},
        ['webhooks[0].name: Invalid value: "a": should be a domain with at least three segments separated by dots'],
    ),
    (
        "mutatingwebhookconfigurations",
        {"webhooks/0/timeoutSeconds": 31},
        ["webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"],
    ),
    (
        "validatingadmissionpolicies",
        {"spec/validations": []},
        [
            "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
            "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
        ],
    ),
    (
        "validatingadmissionpolicies",
        {"spec/variables": [{"name": "in", "expression": "1"}]},
        ['spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier'],
    ),
    (
        "mutatingadmissionpolicies",
        {"spec/matchConstraints/resourceRules/0/operations": ["DELETE"]},
        [
            'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", '
            '"CONNECT", "CREATE", "UPDATE"'
        ],
    ),
    (
        "validatingadmissionpolicybindings",
        {"spec/validationActions": []},
        ["spec.validationActions: Required value: at least one validation action is required"],
    ),
    (
        "mutatingadmissionpolicybindings",
        {"spec/paramRef": {"name": "a", "selector": {}}},
        [
            "spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
            "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
            "spec.paramRef.parameterNotFoundAction: Required value",
        ],
    ),
    (
        "resourceclaims",
        {"spec/devices/requests/0/exactly": DROP},
        ["spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"],
    ),
    (
        "resourceclaims",
        {"spec/devices/constraints": [{"matchAttribute": "c"}, {"distinctAttribute": "d"}]},
        [
            'spec.devices.constraints[0].matchAttribute: Invalid value: "c": a fully qualified name must be a domain '
            "and a name separated by a slash",
            'spec.devices.constraints[1].distinctAttribute: Invalid value: "d": a fully qualified name must be a '
            "domain and a name separated by a slash",
        ],
    ),
    (
        "resourceclaims",
        {"spec/devices/constraints": [{"requests": ["x"], "matchAttribute": "a.b/c"}]},
        [
            'spec.devices.constraints[0].requests[0]: Invalid value: "x": must be the name of a request in the claim '
            "or the name of a request and a subrequest separated by '/'"
        ],
    ),
    (
        "resourceslices",
        {"spec/allNodes": True},
        [
            'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, '
            "`perDeviceNodeSelection` is required, but multiple fields are set"
        ],
    ),
]

UPDATE: list[tuple[str, Change, list[str]]] = [
    (
        "rolebindings",
        {"roleRef/name": "other"},
        [
            'roleRef: Invalid value: {"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"other"}: '
            "cannot change roleRef"
        ],
    ),
    ("priorityclasses", {"value": 5}, ["value: Forbidden: may not be changed in an update."]),
    ("priorityclasses", {"description": "new", "globalDefault": True}, []),
    ("storageclasses", {"provisioner": "other"}, ['provisioner: Invalid value: "other": field is immutable']),
    ("storageclasses", {"allowVolumeExpansion": True}, []),
    ("ingressclasses", {"spec/controller": "a.b/c"}, ['spec.controller: Invalid value: "a.b/c": field is immutable']),
    (
        "volumeattachments",
        {"spec/nodeName": "other"},
        [
            'spec: Invalid value: {"attacher":"a.example","nodeName":"other","source":{"persistentVolumeName":"pv"}}: '
            "field is immutable"
        ],
    ),
    ("volumeattributesclasses", {"parameters/a": "c"}, ["parameters: Forbidden: updates to parameters are forbidden."]),
    ("csidrivers", {"spec/attachRequired": False}, ["spec.attachedRequired: Invalid value: false: field is immutable"]),
    ("runtimeclasses", {"handler": "other"}, ['handler: Invalid value: "other": field is immutable']),
    (
        "endpointslices",
        {"addressType": "FQDN", "endpoints": []},
        ['addressType: Invalid value: "FQDN": field is immutable'],
    ),
    ("servicecidrs", {"spec/cidrs": ["10.0.0.0/16", "fd00::/64"]}, []),
    (
        "servicecidrs",
        {"spec/cidrs": ["10.1.0.0/16"]},
        ['spec.cidrs[0]: Invalid value: "10.1.0.0/16": field is immutable'],
    ),
    ("horizontalpodautoscalers", {"spec/maxReplicas": 9}, []),
]


def key_of(resource: str) -> tuple[str, str]:
    return next(key for key in KEYS if key[1] == resource)


@pytest.mark.parametrize(
    ("resource", "change", "texts"), CREATE, ids=[f"{resource}-{change}"[:70] for resource, change, _ in CREATE]
)
def test_a_broken_rule_is_reported(resource: str, change: Change, texts: list[str]) -> None:
    key = key_of(resource)
    assert faults(strategy(*key), changed(VALID[key], change)) == texts


@pytest.mark.parametrize(
    ("resource", "change", "texts"), UPDATE, ids=[f"{resource}-{change}"[:70] for resource, change, _ in UPDATE]
)
def test_a_change_of_an_immutable_field_is_reported(resource: str, change: Change, texts: list[str]) -> None:
    key = key_of(resource)
    assert update_faults(strategy(*key), VALID[key], change) == texts


DEFAULTS: list[tuple[str, Change, Change]] = [
    ("horizontalpodautoscalers", {}, {"spec/minReplicas": 1}),
    (
        "horizontalpodautoscalers",
        {"spec/behavior": {"scaleDown": {"selectPolicy": "Min"}}},
        {
            "spec/behavior/scaleDown": {
                "selectPolicy": "Min",
                "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
            },
            "spec/behavior/scaleUp/stabilizationWindowSeconds": 0,
        },
    ),
    ("rolebindings", {}, {"roleRef/apiGroup": RBAC, "subjects/0/apiGroup": RBAC}),
    (
        "ingresses",
        {"spec/defaultBackend": {"resource": {"kind": "K", "name": "n"}}},
        {"spec/defaultBackend/resource/apiGroup": None},
    ),
    (
        "ingresses",
        {f"{INGRESS_PATH}/backend": {"resource": {"kind": "K", "name": "n"}}},
        {f"{INGRESS_PATH}/backend/resource/apiGroup": None},
    ),
    ("priorityclasses", {}, {"preemptionPolicy": "PreemptLowerPriority"}),
    ("networkpolicies", {}, {"spec/policyTypes": ["Ingress"], "spec/podSelector": {}}),
    (
        "networkpolicies",
        {"spec/egress": [{"ports": [{"port": 1}]}]},
        {
            "spec/policyTypes": ["Ingress", "Egress"],
            "spec/egress/0/ports/0/protocol": "TCP",
        },
    ),
    ("ingressclasses", {"spec/parameters": {"kind": "K", "name": "n"}}, {"spec/parameters/scope": "Cluster"}),
    ("endpointslices", {}, {"ports/0/name": "", "ports/0/protocol": "TCP"}),
    ("storageclasses", {}, {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"}),
    (
        "csidrivers",
        {},
        {
            "spec/attachRequired": True,
            "spec/fsGroupPolicy": "ReadWriteOnceWithFSType",
            "spec/volumeLifecycleModes": ["Persistent"],
            "spec/seLinuxMount": False,
        },
    ),
    ("flowschemas", {}, {"spec/matchingPrecedence": 1000}),
    (
        "prioritylevelconfigurations",
        {},
        {
            "spec/limited/nominalConcurrencyShares": 30,
            "spec/limited/limitResponse/queuing": {"handSize": 8, "queues": 64, "queueLengthLimit": 50},
        },
    ),
    (
        "mutatingwebhookconfigurations",
        {},
        {
            "webhooks/0/failurePolicy": "Fail",
            "webhooks/0/matchPolicy": "Equivalent",
            "webhooks/0/namespaceSelector": {},
            "webhooks/0/timeoutSeconds": 10,
            "webhooks/0/reinvocationPolicy": "Never",
            "webhooks/0/rules/0/scope": "*",
            "webhooks/0/clientConfig/service/port": 443,
        },
    ),
    (
        "validatingadmissionpolicies",
        {},
        {
            "spec/failurePolicy": "Fail",
            "spec/matchConstraints/objectSelector": {},
            "spec/matchConstraints/resourceRules/0/scope": "*",
        },
    ),
    (
        "resourceclaims",
        {},
        {
            "spec/devices/requests/0/exactly/allocationMode": "ExactCount",
            "spec/devices/requests/0/exactly/count": 1,
        },
    ),
]


@pytest.mark.parametrize(
    ("resource", "change", "expected"), DEFAULTS, ids=[f"{resource}-{change}"[:70] for resource, change, _ in DEFAULTS]
)
def test_absent_fields_get_defaults(resource: str, change: Change, expected: Change) -> None:
    key = key_of(resource)
    obj = created(strategy(*key), changed(VALID[key], change))
    assert changed(obj, expected) == obj


def test_validating_webhooks_have_no_reinvocation() -> None:
    key = key_of("validatingwebhookconfigurations")
    assert "reinvocationPolicy" not in created(strategy(*key), VALID[key])["webhooks"][0]


WITHOUT_GENERATION = {
    "horizontalpodautoscalers",
    "roles",
    "clusterroles",
    "rolebindings",
    "clusterrolebindings",
    "leases",
    "ipaddresses",
    "servicecidrs",
    "storageclasses",
    "volumeattributesclasses",
    "volumeattachments",
    "csinodes",
    "csistoragecapacities",
    "runtimeclasses",
    "resourceclaims",
    "resourceclaimtemplates",
}


@pytest.mark.parametrize("key", KEYS, ids="/".join)
def test_some_kinds_have_no_generation(key: tuple[str, str]) -> None:
    assert strategy(*key).has_generation == (key[1] not in WITHOUT_GENERATION)


@pytest.mark.parametrize("key", KEYS, ids="/".join)
def test_leases_roles_bindings_and_runtime_classes_may_be_created_by_put(key: tuple[str, str]) -> None:
    assert strategy(*key).allow_create_on_update == (key[0] == RBAC or key[1] in ("leases", "runtimeclasses"))


def test_leases_do_not_get_fields_that_are_off() -> None:
    key = key_of("leases")
    lease = created(strategy(*key), changed(VALID[key], {"spec/strategy": "OldestEmulationVersion"}))
    assert "strategy" not in lease["spec"]


def test_an_ingress_class_annotation_draws_a_warning() -> None:
    key = key_of("ingresses")
    ingress = changed(VALID[key], {"metadata/annotations": {"kubernetes.io/ingress.class": "nginx"}})
    assert strategy(*key).warnings_on_create(CTX, ingress) == [
        "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"
    ]


def test_rbac_names_may_hold_colons() -> None:
    assert strategy(RBAC, "clusterroles").name_errors("system:node", prefix=False) == []


def test_budgets_are_named_by_any_segment_of_a_path() -> None:
    budgets = strategy("policy", "poddisruptionbudgets")
    assert budgets.name_errors("A b") == []
    assert budgets.name_errors("a/b") == ["may not contain '/'"]


@pytest.mark.parametrize(
    ("key", "path"),
    [
        (("", "limitranges"), ("spec", "limits")),
        ((STORAGE, "csinodes"), ("spec", "drivers")),
        (("autoscaling", "horizontalpodautoscalers"), ("status", "currentMetrics")),
    ],
    ids=lambda value: value[1],
)
def test_some_lists_are_shown_as_null(key: tuple[str, str], path: tuple[str, str]) -> None:
    obj: Object = {"metadata": {"name": "a"}}
    strategy(*key).default(obj)
    assert obj[path[0]][path[1]] is None


def test_the_type_of_a_priority_level_is_required() -> None:
    levels = strategy(FLOW_CONTROL, "prioritylevelconfigurations")
    assert faults(levels, {"metadata": {"name": "a"}, "spec": {}}) == ["spec.type: Required value"]
    assert faults(levels, {"metadata": {"name": "a"}, "spec": {"type": "Limited", "limited": {}}}) == [
        "spec.limited.limitResponse.type: Required value"
    ]


def test_ip_addresses_are_named_after_themselves() -> None:
    rule = strategy(NETWORKING, "ipaddresses").name_errors
    assert rule("10.0.0.1", prefix=False) == []
    assert rule("FD00::1", prefix=False) == ['must be in canonical form ("fd00::1")']


def test_only_labels_and_endpoints_make_a_generation_of_a_slice() -> None:
    key = key_of("endpointslices")
    old = created(strategy(*key), VALID[key])
    assert strategy(*key).spec_changed(changed(old, {"metadata/labels": {"a": "b"}}), old)
    assert not strategy(*key).spec_changed(changed(old, {"metadata/annotations": {"a": "b"}}), old)


@pytest.mark.parametrize(
    "resource", ["volumeattachments", "servicecidrs", "resourceclaims", "flowschemas", "validatingadmissionpolicies"]
)
def test_some_statuses_bring_no_metadata(resource: str) -> None:
    key = key_of(resource)
    old = created(strategy(*key), changed(VALID[key], {"metadata/labels": {"a": "b"}}))
    new = changed(old, {"metadata/labels": {"a": "c"}, "metadata/annotations": {"a": "c"}, "spec/x": 1})
    strategy(*key).keep_for_status_update(new, old)
    assert new == old


def test_inline_volumes_of_attachments_are_of_csi() -> None:
    key = key_of("volumeattachments")
    inline = {"inlineVolumeSpec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}}
    assert faults(strategy(*key), changed(VALID[key], {"spec/source": inline})) == [
        "spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes",
        "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes",
    ]
