"""Handwritten cases of built-in types: requests that are known to be expensive in some part of a server."""

import base64
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.loop_fuzz.cases import (
    APPLY,
    CONFIG_MAPS,
    CORE,
    JSON_PATCH,
    MERGE,
    PODS,
    STORED_BYTES_MAX,
    STRATEGIC,
    Call,
    Case,
    config_map,
    encoded,
    get,
    in_container,
    mapped,
    pod,
    post,
    repeated,
    with_metadata,
)

_NESTED = "object.metadata.labels.all(k, k == 'a' || object.metadata.annotations.exists(a, a == k))"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1"


def _fields(depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(depth):
        found = {"f:a": found}
    return found


def _entry(index: int) -> dict[str, Any]:
    return {
        "manager": f"m{index}",
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {f"f:k{index}": {}}},
    }


def metadata_cases() -> list[Case]:
    """Return the cases of metadata, which every object has."""
    makers: dict[str, Any] = {
        "180,000 invalid data keys": lambda: config_map(data=mapped(lambda i: (f"/{i}", ""))),
        "valid data keys": lambda: config_map(data=mapped(lambda i: (f"k{i}", ""))),
        "one long value": lambda: config_map(data={"a": "x" * 3_000_000}),
        "one long value with quotes": lambda: config_map(data={"a": '"' * 1_400_000}),
        "bad base64": lambda: config_map(binaryData={"a": "x" * 2_999_999}),
        "many bad base64": lambda: config_map(binaryData=mapped(lambda i: (f"k{i}", "x"))),
        "150,000 bad finalizers": lambda: with_metadata(finalizers=repeated(lambda i: f"/{i}")),
        "equal finalizers": lambda: with_metadata(finalizers=repeated("a.example.com/x")),
        "different finalizers": lambda: with_metadata(finalizers=repeated(lambda i: f"a.example.com/{i}")),
        "bad labels": lambda: with_metadata(labels=mapped(lambda i: (f"/{i}", "/"))),
        "labels": lambda: with_metadata(labels=mapped(lambda i: (f"k{i}", ""))),
        "annotations": lambda: with_metadata(annotations=mapped(lambda i: (f"k{i}", ""))),
        "empty owners": lambda: with_metadata(ownerReferences=repeated({})),
        "owners": lambda: with_metadata(
            ownerReferences=repeated(lambda i: {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": str(i)})
        ),
        "equal owners": lambda: with_metadata(
            ownerReferences=repeated({"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "u"})
        ),
        "managedFields": lambda: with_metadata(managedFields=repeated(_entry)),
        "managedFields without fields": lambda: with_metadata(managedFields=repeated({})),
        "deep managedFields": lambda: with_metadata(managedFields=[{**_entry(0), "fieldsV1": _fields(900)}] * 300),
        "wide managedFields": lambda: with_metadata(
            managedFields=[{**_entry(0), "fieldsV1": {"f:data": mapped(lambda i: (f"f:{i}", {}), 2_900_000)}}]
        ),
        "unknown fields": lambda: {**config_map(), **mapped(lambda i: (f"u{i}", 1))},
        "unknown fields in lists": lambda: in_container(env=repeated(lambda i: {"name": "a", f"u{i}": 1})),
        "duplicate fields": lambda: b'{"metadata":{"name":"a"},"data":{' + b",".join([b'"a":""'] * 400_000) + b"}}",
        "long name": lambda: with_metadata(name="/" * 2_900_000),
        "long generateName": lambda: {"metadata": {"generateName": "x" * 2_900_000}},
        "arrays in data": lambda: b'{"metadata":{"name":"a"},"data":{"a":[' + b",".join([b"[]"] * 900_000) + b"]}}",
        "deep arrays": lambda: b'{"metadata":{"name":"a"},"data":' + b"[" * 9_000 + b"]" * 9_000 + b"}",
        "escapes": lambda: b'{"metadata":{"name":"a"},"data":{"a":"' + b"\\u0041" * 480_000 + b'"}}',
        "long number": lambda: b'{"metadata":{"name":"a"},"immutable":' + b"9" * 2_900_000 + b"}",
        "long fraction": lambda: b'{"metadata":{"name":"a"},"immutable":0.' + b"9" * 2_900_000 + b"}",
        "white space": lambda: b" " * 3_000_000 + encoded(config_map("white")),
        "unclosed": lambda: b'{"a":' * 500_000,
        "not an object": lambda: b"[" + b"1," * 1_400_000 + b"1]",
    }
    made = [post(f"ConfigMap, {name}", CONFIG_MAPS, maker) for name, maker in makers.items()]
    strict = f"{CONFIG_MAPS}?fieldValidation=Strict"
    made += [
        post("ConfigMap, unknown fields, strict", strict, makers["unknown fields"]),
        post("ConfigMap, duplicate fields, strict", strict, makers["duplicate fields"]),
        post("ConfigMap, to the path of another kind", PODS, makers["valid data keys"]),
        post("ConfigMap, dry run", f"{CONFIG_MAPS}?dryRun=All", makers["different finalizers"]),
        post(
            "Namespace, finalizers",
            "/api/v1/namespaces",
            lambda: {"metadata": {"name": "fin"}, "spec": {"finalizers": repeated(lambda i: f"/{i}")}},
        ),
    ]
    return made


YAML = "application/yaml"


def format_cases() -> list[Case]:
    """Return the cases of other media types."""
    bomb = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
        b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9)) for i in range(12)
    )
    return [
        post("YAML, aliases", CONFIG_MAPS, lambda: bomb, YAML),
        post(
            "YAML, merge keys",
            CONFIG_MAPS,
            lambda: b"a: &a {x: 1}\n" + b"".join(b"k%d:\n  <<: *a\n" % i for i in range(100_000)),
            YAML,
        ),
        post(
            "YAML, many keys",
            CONFIG_MAPS,
            lambda: b"metadata: {name: y}\ndata:\n" + b"".join(b" k%d: v\n" % i for i in range(220_000)),
            YAML,
        ),
        post(
            "YAML, one long value",
            CONFIG_MAPS,
            lambda: b"metadata: {name: y2}\ndata:\n  a: |\n" + b"    x\n" * 400_000,
            YAML,
        ),
        post("YAML, deep flow", CONFIG_MAPS, lambda: b"a: " + b"[" * 1_000_000, YAML),
        post("YAML, deep blocks", CONFIG_MAPS, lambda: b"".join(b" " * i + b"a:\n" for i in range(2_000)), YAML),
        post("YAML, dashes", CONFIG_MAPS, lambda: b"- " * 1_000_000, YAML),
        post("YAML, anchors", CONFIG_MAPS, lambda: b"".join(b"k%d: &a%d x\n" % (i, i) for i in range(150_000)), YAML),
        post(
            "YAML, numbers",
            CONFIG_MAPS,
            lambda: b"data:\n" + b"".join(b" k%d: 1_0e5\n" % i for i in range(150_000)),
            YAML,
        ),
        post("YAML, long key", CONFIG_MAPS, lambda: b"? " + b"x" * 2_900_000 + b"\n: 1\n", YAML),
        post("YAML, documents", CONFIG_MAPS, lambda: b"---\n" * 700_000, YAML),
        post(
            "YAML, tags",
            CONFIG_MAPS,
            lambda: b"data:\n" + b"".join(b" k%d: !!binary eA==\n" % i for i in range(120_000)),
            YAML,
        ),
        post(
            "YAML, JSON inside",
            CONFIG_MAPS,
            lambda: encoded(config_map("y3", data=mapped(lambda i: (f"k{i}", "")))),
            YAML,
        ),
        post(
            "protobuf, zeros", CONFIG_MAPS, lambda: b"k8s\0" + b"\0" * 3_000_000, "application/vnd.kubernetes.protobuf"
        ),
        post("protobuf, empty data", CONFIG_MAPS, _protobuf_map, "application/vnd.kubernetes.protobuf"),
        post("protobuf, containers", PODS, _protobuf_pod, "application/vnd.kubernetes.protobuf"),
        post("CBOR", CONFIG_MAPS, lambda: b"\x9f" * 3_000_000, "application/cbor"),
    ]


def _field(number: int, value: bytes) -> bytes:
    size, out = len(value), bytearray()
    while size > 127:
        out.append(size & 127 | 128)
        size >>= 7
    out.append(size)
    return bytes([number << 3 | 2]) + bytes(out) + value


def _unknown(kind: bytes, raw: bytes) -> bytes:
    return b"k8s\0" + _field(1, _field(1, b"v1") + _field(2, kind)) + _field(2, raw)


def _protobuf_map() -> bytes:
    entries = b"".join(_field(2, _field(1, b"/%d" % i)) for i in range(250_000))
    return _unknown(b"ConfigMap", _field(1, _field(1, b"proto")) + entries)


def _protobuf_pod() -> bytes:
    return _unknown(b"Pod", _field(1, _field(1, b"proto")) + _field(2, _field(2, b"") * 1_400_000))


def _ports(index: int) -> dict[str, Any]:
    return {"name": f"p{index}", "containerPort": index % 65_535 + 1}


def pod_cases() -> list[Case]:
    """Return the cases of lists in Pods and in kinds with a Pod template."""
    names = ["a", "b"]
    makers: dict[str, Any] = {
        "100,000 empty containers": lambda: pod(containers=repeated({})),
        "containers of one name": lambda: pod(containers=repeated({"name": "a", "image": "i"})),
        "containers": lambda: pod(
            containers=repeated(lambda i: {"name": f"c{i}", "image": "i"}, STORED_BYTES_MAX // 5)
        ),
        "initContainers": lambda: pod(initContainers=repeated({})),
        "ephemeralContainers": lambda: pod(ephemeralContainers=repeated({})),
        "empty env": lambda: in_container(env=repeated({})),
        "env": lambda: in_container(env=repeated(lambda i: {"name": f"E{i}", "value": "v"}, STORED_BYTES_MAX)),
        "env of one name": lambda: in_container(env=repeated({"name": "a", "value": "v"}, STORED_BYTES_MAX)),
        "envFrom": lambda: in_container(envFrom=repeated({})),
        "ports of one number": lambda: in_container(ports=repeated({"containerPort": 1}, STORED_BYTES_MAX // 2)),
        "empty ports": lambda: in_container(ports=repeated({})),
        "ports": lambda: in_container(ports=repeated(_ports, STORED_BYTES_MAX // 2)),
        "host ports": lambda: in_container(ports=repeated(lambda i: {"containerPort": 1, "hostPort": i % 65_000 + 1})),
        "volumes": lambda: pod(volumes=repeated(lambda i: {"name": f"v{i}", "emptyDir": {}}, STORED_BYTES_MAX)),
        "empty volumes": lambda: pod(volumes=repeated({})),
        "volumes and mounts": lambda: pod(
            volumes=repeated(lambda i: {"name": f"v{i}", "emptyDir": {}}, 400_000),
            containers=[
                {
                    "name": "c",
                    "image": "i",
                    "volumeMounts": repeated(lambda i: {"name": f"v{i}", "mountPath": f"/m{i}"}, 500_000),
                }
            ],
        ),
        "mounts of no volume": lambda: in_container(volumeMounts=repeated({"name": "a", "mountPath": "/a"})),
        "tolerations": lambda: pod(
            tolerations=repeated(lambda i: {"key": f"k{i}", "operator": "Exists"}, STORED_BYTES_MAX)
        ),
        "bad tolerations": lambda: pod(tolerations=repeated({"operator": "x"})),
        "hostAliases": lambda: pod(hostAliases=repeated({"ip": "1", "hostnames": names})),
        "imagePullSecrets": lambda: pod(imagePullSecrets=repeated(lambda i: {"name": f"s{i}"}, STORED_BYTES_MAX)),
        "schedulingGates": lambda: pod(schedulingGates=repeated(lambda i: {"name": f"g{i}"}, STORED_BYTES_MAX)),
        "equal schedulingGates": lambda: pod(schedulingGates=repeated({"name": "g"})),
        "readinessGates": lambda: pod(readinessGates=repeated({"conditionType": "/"})),
        "resourceClaims": lambda: pod(resourceClaims=repeated(lambda i: {"name": f"g{i}", "resourceClaimName": "x"})),
        "topologySpreadConstraints": lambda: pod(
            topologySpreadConstraints=repeated({"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"})
        ),
        "empty topologySpreadConstraints": lambda: pod(topologySpreadConstraints=repeated({})),
        "limits": lambda: in_container(
            resources={"limits": mapped(lambda i: (f"example.com/r{i}", "1"), STORED_BYTES_MAX)}
        ),
        "bad limits": lambda: in_container(resources={"limits": mapped(lambda i: (f"/{i}", "1"))}),
        "hugepages": lambda: in_container(resources={"limits": mapped(lambda i: (f"hugepages-{i}", "1"))}),
        "sysctls": lambda: pod(securityContext={"sysctls": repeated(lambda i: {"name": f"a{i}", "value": ""})}),
        "supplementalGroups": lambda: pod(securityContext={"supplementalGroups": repeated(-1)}),
        "affinity": lambda: pod(
            affinity={
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": repeated({"matchExpressions": [{"key": "/", "operator": "x"}]})
                    }
                }
            }
        ),
        "pod affinity": lambda: pod(
            affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": repeated({"topologyKey": "/"})}}
        ),
        "long command": lambda: in_container(command=repeated("")),
        "capabilities": lambda: in_container(securityContext={"capabilities": {"add": repeated("")}}),
        "projected": lambda: pod(volumes=[{"name": "v", "projected": {"sources": repeated({})}}]),
        "projected items": lambda: pod(
            volumes=[
                {
                    "name": "v",
                    "projected": {
                        "sources": [
                            {"configMap": {"name": "a", "items": repeated(lambda i: {"key": "a", "path": f"p{i}"})}}
                        ]
                    },
                }
            ]
        ),
        "downward items": lambda: pod(
            volumes=[
                {
                    "name": "v",
                    "downwardAPI": {
                        "items": repeated(lambda i: {"path": f"p{i}", "fieldRef": {"fieldPath": "metadata.name"}})
                    },
                }
            ]
        ),
    }
    made = [post(f"Pod, {name}", PODS, maker) for name, maker in makers.items()]
    for name in ("100,000 empty containers", "env", "volumes and mounts"):
        path = "/apis/apps/v1/namespaces/default/deployments"
        made.append(post(f"Deployment, {name}", path, partial(_deployment, makers[name])))
    return made


def _deployment(make: Callable[[], Any]) -> Any:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": make()["spec"]}
    return {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}


def _named(index: int, make: Callable[[], Any]) -> Any:
    return {"metadata": {"name": f"k{index}"}, **make()}


def _rule(index: int) -> dict[str, Any]:
    return {"apiGroups": [""], "resources": [f"r{index}"], "verbs": ["get"]}


def _review(attributes: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"spec": {"resourceAttributes": attributes, **spec}}


def kind_cases() -> list[Case]:
    """Return the cases of other kinds, whose lists are compared with themselves or with each other."""
    expressions = {"key": "a", "operator": "In", "values": ["b"]}
    networking, apps = "/apis/networking.k8s.io/v1/namespaces/default", "/apis/apps/v1/namespaces/default"
    admission = "/apis/admissionregistration.k8s.io/v1"
    pem = base64.b64encode(
        b"-----BEGIN CERTIFICATE REQUEST-----\n" + b"QUFB\n" * 400_000 + b"-----END CERTIFICATE REQUEST-----\n"
    )
    blocks = base64.b64encode(b"-----BEGIN A-----\nQQ==\n-----END A-----\n" * 50_000).decode()
    kinds: list[tuple[str, str, Any]] = [
        (
            "Service, ports",
            f"{CORE}/services",
            lambda: {
                "spec": {"ports": repeated(lambda i: {"name": f"p{i}", "port": i % 65_000 + 1}, STORED_BYTES_MAX // 2)}
            },
        ),
        ("Service, empty ports", f"{CORE}/services", lambda: {"spec": {"ports": repeated({})}}),
        (
            "Service, externalIPs",
            f"{CORE}/services",
            lambda: {"spec": {"ports": [{"port": 1}], "externalIPs": repeated("x")}},
        ),
        (
            "Service, source ranges",
            f"{CORE}/services",
            lambda: {"spec": {"ports": [{"port": 1}], "loadBalancerSourceRanges": repeated("x")}},
        ),
        (
            "Endpoints, addresses",
            f"{CORE}/endpoints",
            lambda: {
                "subsets": [
                    {
                        "addresses": repeated(
                            lambda i: {"ip": f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}"}, STORED_BYTES_MAX
                        ),
                        "ports": [{"port": 1}],
                    }
                ]
            },
        ),
        ("Endpoints, subsets", f"{CORE}/endpoints", lambda: {"subsets": repeated({})}),
        (
            "EndpointSlice, endpoints",
            "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
            lambda: {"addressType": "IPv4", "endpoints": repeated({})},
        ),
        (
            "EndpointSlice, ports",
            "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
            lambda: {"addressType": "IPv4", "endpoints": [], "ports": repeated({})},
        ),
        ("Secret, keys", f"{CORE}/secrets", lambda: {"stringData": mapped(lambda i: (f"/{i}", ""))}),
        (
            "ServiceAccount, secrets",
            f"{CORE}/serviceaccounts",
            lambda: {"secrets": repeated(lambda i: {"name": f"s{i}"}, STORED_BYTES_MAX)},
        ),
        ("Node, images", "/api/v1/nodes", lambda: {"status": {"images": repeated({"names": ["a"]}, STORED_BYTES_MAX)}}),
        ("Node, taints", "/api/v1/nodes", lambda: {"spec": {"taints": repeated({"key": "a", "effect": "x"})}}),
        ("Node, podCIDRs", "/api/v1/nodes", lambda: {"spec": {"podCIDRs": repeated("x")}}),
        ("Event", f"{CORE}/events", lambda: {"message": "x" * 2_900_000}),
        ("LimitRange", f"{CORE}/limitranges", lambda: {"spec": {"limits": repeated({"type": "Container"})}}),
        (
            "LimitRange, max",
            f"{CORE}/limitranges",
            lambda: {
                "spec": {
                    "limits": [
                        {"type": "Container", "max": mapped(lambda i: (f"example.com/r{i}", "1"), STORED_BYTES_MAX)}
                    ]
                }
            },
        ),
        (
            "ResourceQuota",
            f"{CORE}/resourcequotas",
            lambda: {"spec": {"hard": mapped(lambda i: (f"count/r{i}.x", "1"), STORED_BYTES_MAX)}},
        ),
        (
            "ResourceQuota, scopes",
            f"{CORE}/resourcequotas",
            lambda: {"spec": {"scopes": repeated("x"), "hard": {"pods": "1"}}},
        ),
        (
            "ResourceQuota, scopeSelector",
            f"{CORE}/resourcequotas",
            lambda: {
                "spec": {
                    "scopeSelector": {"matchExpressions": repeated({"operator": "Exists", "scopeName": "BestEffort"})}
                }
            },
        ),
        (
            "PersistentVolume, nodeAffinity",
            "/api/v1/persistentvolumes",
            lambda: {
                "spec": {
                    "capacity": {"storage": "1"},
                    "accessModes": ["ReadWriteOnce"],
                    "hostPath": {"path": "/"},
                    "nodeAffinity": {"required": {"nodeSelectorTerms": repeated({"matchExpressions": [expressions]})}},
                }
            },
        ),
        (
            "PersistentVolumeClaim, accessModes",
            f"{CORE}/persistentvolumeclaims",
            lambda: {"spec": {"accessModes": repeated("x")}},
        ),
        (
            "ReplicationController, selector",
            f"{CORE}/replicationcontrollers",
            lambda: {"spec": {"selector": mapped(lambda i: (f"/{i}", "/"))}},
        ),
        (
            "Deployment, selector",
            f"{apps}/deployments",
            lambda: {
                "spec": {"selector": {"matchExpressions": repeated(expressions, STORED_BYTES_MAX)}, "template": {}}
            },
        ),
        (
            "Deployment, selector values",
            f"{apps}/deployments",
            lambda: {
                "spec": {
                    "selector": {"matchExpressions": [{"key": "a", "operator": "In", "values": repeated("/")}]},
                    "template": {},
                }
            },
        ),
        (
            "Deployment, selector labels",
            f"{apps}/deployments",
            lambda: {
                "spec": {
                    "selector": {"matchLabels": mapped(lambda i: (f"k{i}", ""), STORED_BYTES_MAX)},
                    "template": {"metadata": {"labels": mapped(lambda i: (f"k{i}", ""), STORED_BYTES_MAX)}},
                }
            },
        ),
        (
            "StatefulSet, claims",
            f"{apps}/statefulsets",
            lambda: {
                "spec": {
                    "serviceName": "a",
                    "selector": {"matchLabels": {"a": "b"}},
                    "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}},
                    "volumeClaimTemplates": repeated(lambda i: {"metadata": {"name": f"v{i}"}}),
                }
            },
        ),
        ("Ingress, rules", f"{networking}/ingresses", lambda: {"spec": {"rules": repeated({"host": "*"})}}),
        ("Ingress, paths", f"{networking}/ingresses", lambda: {"spec": {"rules": [{"http": {"paths": repeated({})}}]}}),
        ("Ingress, tls", f"{networking}/ingresses", lambda: {"spec": {"tls": repeated({"hosts": ["/"]})}}),
        (
            "NetworkPolicy, ingress",
            f"{networking}/networkpolicies",
            lambda: {"spec": {"podSelector": {}, "ingress": repeated({"from": [{}]})}},
        ),
        (
            "NetworkPolicy, ports",
            f"{networking}/networkpolicies",
            lambda: {"spec": {"podSelector": {}, "ingress": [{"ports": repeated({"port": 0})}]}},
        ),
        (
            "NetworkPolicy, except",
            f"{networking}/networkpolicies",
            lambda: {
                "spec": {
                    "podSelector": {},
                    "ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": repeated("x")}}]}],
                }
            },
        ),
        ("Role, rules", f"{RBAC}/namespaces/default/roles", lambda: {"rules": repeated(_rule, STORED_BYTES_MAX)}),
        ("Role, empty rules", f"{RBAC}/namespaces/default/roles", lambda: {"rules": repeated({})}),
        (
            "Role, resources",
            f"{RBAC}/namespaces/default/roles",
            lambda: {
                "rules": [
                    {
                        "apiGroups": repeated(lambda i: str(i), 400_000),
                        "resources": repeated(lambda i: str(i), 400_000),
                        "verbs": repeated(lambda i: str(i), 400_000),
                    }
                ]
            },
        ),
        ("ClusterRole, rules", f"{RBAC}/clusterroles", lambda: {"rules": repeated(_rule, STORED_BYTES_MAX)}),
        (
            "ClusterRole, aggregation",
            f"{RBAC}/clusterroles",
            lambda: {
                "aggregationRule": {
                    "clusterRoleSelectors": repeated({"matchExpressions": [expressions]}, STORED_BYTES_MAX)
                }
            },
        ),
        (
            "RoleBinding, subjects",
            f"{RBAC}/namespaces/default/rolebindings",
            lambda: {
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "x"},
                "subjects": repeated({}),
            },
        ),
        (
            "RoleBinding, valid subjects",
            f"{RBAC}/namespaces/default/rolebindings",
            lambda: {
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "x"},
                "subjects": repeated(
                    lambda i: {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": f"u{i}"},
                    STORED_BYTES_MAX,
                ),
            },
        ),
        (
            "ClusterRoleBinding, subjects",
            f"{RBAC}/clusterrolebindings",
            lambda: {
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "x"},
                "subjects": repeated(
                    lambda i: {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": f"u{i}"},
                    STORED_BYTES_MAX,
                ),
            },
        ),
        (
            "SubjectAccessReview, groups",
            f"{REVIEWS}/subjectaccessreviews",
            lambda: _review({"verb": "get", "resource": "pods"}, user="u", groups=repeated(lambda i: f"g{i}")),
        ),
        (
            "SubjectAccessReview, extra",
            f"{REVIEWS}/subjectaccessreviews",
            lambda: _review({"verb": "get", "resource": "pods"}, user="u", extra=mapped(lambda i: (f"k{i}", ["v"]))),
        ),
        (
            "SubjectAccessReview, field selector",
            f"{REVIEWS}/subjectaccessreviews",
            lambda: _review(
                {
                    "verb": "list",
                    "resource": "pods",
                    "fieldSelector": {"rawSelector": ",".join(repeated(lambda i: f"a{i}=b"))[:2_900_000]},
                },
                user="u",
            ),
        ),
        (
            "SubjectAccessReview, label selector",
            f"{REVIEWS}/subjectaccessreviews",
            lambda: _review(
                {"verb": "list", "resource": "pods", "labelSelector": {"requirements": repeated(expressions)}}, user="u"
            ),
        ),
        ("SelfSubjectRulesReview", f"{REVIEWS}/selfsubjectrulesreviews", lambda: {"spec": {"namespace": "default"}}),
        (
            "SelfSubjectAccessReview",
            f"{REVIEWS}/selfsubjectaccessreviews",
            lambda: _review({"verb": "get", "resource": "x" * 2_900_000}),
        ),
        ("TokenReview", "/apis/authentication.k8s.io/v1/tokenreviews", lambda: {"spec": {"token": "x" * 2_900_000}}),
        (
            "TokenReview, dots",
            "/apis/authentication.k8s.io/v1/tokenreviews",
            lambda: {"spec": {"token": "." * 2_900_000}},
        ),
        (
            "TokenReview, JWT",
            "/apis/authentication.k8s.io/v1/tokenreviews",
            lambda: {
                "spec": {
                    "token": "eyJhbGciOiJSUzI1NiJ9."
                    + base64.urlsafe_b64encode(
                        b'{"iss":"https://kubernetes.default.svc.cluster.local","aud":[' + b'"a",' * 400_000 + b'"a"]}'
                    ).decode()
                    + ".AAAA"
                }
            },
        ),
        (
            "TokenReview, audiences",
            "/apis/authentication.k8s.io/v1/tokenreviews",
            lambda: {"spec": {"token": "a", "audiences": repeated("x")}},
        ),
        (
            "TokenRequest, audiences",
            f"{CORE}/serviceaccounts/default/token",
            lambda: {"spec": {"audiences": repeated(lambda i: f"a{i}")}},
        ),
        (
            "CSR, PEM",
            "/apis/certificates.k8s.io/v1/certificatesigningrequests",
            lambda: {"spec": {"request": pem.decode(), "signerName": "a.b/c", "usages": ["client auth"]}},
        ),
        (
            "CSR, PEM blocks",
            "/apis/certificates.k8s.io/v1/certificatesigningrequests",
            lambda: {"spec": {"request": blocks, "signerName": "a.b/c", "usages": ["client auth"]}},
        ),
        (
            "CSR, usages",
            "/apis/certificates.k8s.io/v1/certificatesigningrequests",
            lambda: {"spec": {"request": "QQ==", "signerName": "a.b/c", "usages": repeated("x")}},
        ),
        (
            "PodDisruptionBudget",
            "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            lambda: {"spec": {"selector": {"matchExpressions": repeated(expressions, STORED_BYTES_MAX)}}},
        ),
        (
            "HorizontalPodAutoscaler, metrics",
            "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
            lambda: {"spec": {"maxReplicas": 1, "scaleTargetRef": {}, "metrics": repeated({})}},
        ),
        (
            "CronJob, schedule",
            "/apis/batch/v1/namespaces/default/cronjobs",
            lambda: {"spec": {"schedule": "1," * 1_400_000 + " * * * *", "jobTemplate": {}}},
        ),
        (
            "Job, podFailurePolicy",
            "/apis/batch/v1/namespaces/default/jobs",
            lambda: {"spec": {"podFailurePolicy": {"rules": repeated({})}, "template": {}}},
        ),
        (
            "Job, exit codes",
            "/apis/batch/v1/namespaces/default/jobs",
            lambda: {
                "spec": {
                    "podFailurePolicy": {
                        "rules": [
                            {
                                "action": "FailJob",
                                "onExitCodes": {"operator": "In", "values": repeated(lambda i: i % 7)},
                            }
                        ]
                    },
                    "template": {},
                }
            },
        ),
        (
            "Job, completed indexes",
            "/apis/batch/v1/namespaces/default/jobs",
            lambda: {
                "spec": {
                    "completionMode": "Indexed",
                    "completions": 100_000,
                    "parallelism": 1,
                    "backoffLimitPerIndex": 1,
                    "template": {},
                    "successPolicy": {"rules": [{"succeededIndexes": ",".join(str(i) for i in range(0, 99_000, 2))}]},
                }
            },
        ),
        (
            "FlowSchema, rules",
            "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
            lambda: {"spec": {"priorityLevelConfiguration": {"name": "x"}, "rules": repeated({})}},
        ),
        (
            "FlowSchema, valid rules",
            "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
            lambda: {
                "spec": {
                    "matchingPrecedence": 9000,
                    "priorityLevelConfiguration": {"name": "x"},
                    "rules": repeated(
                        {
                            "subjects": [{"kind": "User", "user": {"name": "u"}}],
                            "resourceRules": [
                                {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True}
                            ],
                        },
                        STORED_BYTES_MAX,
                    ),
                }
            },
        ),
        (
            "ValidatingWebhookConfiguration",
            f"{admission}/validatingwebhookconfigurations",
            lambda: {
                "webhooks": repeated(
                    lambda i: {
                        "name": f"w{i}.example.com",
                        "failurePolicy": "Ignore",
                        "admissionReviewVersions": ["v1"],
                        "sideEffects": "None",
                        "clientConfig": {"url": "https://127.0.0.1:1/"},
                        "rules": [],
                    },
                    STORED_BYTES_MAX,
                )
            },
        ),
        (
            "ValidatingWebhookConfiguration, conditions",
            f"{admission}/validatingwebhookconfigurations",
            lambda: {
                "webhooks": [
                    {
                        "name": "w.example.com",
                        "failurePolicy": "Ignore",
                        "admissionReviewVersions": ["v1"],
                        "sideEffects": "None",
                        "clientConfig": {"url": "https://127.0.0.1:1/"},
                        "matchConditions": repeated(
                            lambda i: {"name": f"c{i}", "expression": "object.a.exists(x, x == 1)"}
                        ),
                    }
                ]
            },
        ),
        (
            "ValidatingAdmissionPolicy, long",
            f"{admission}/validatingadmissionpolicies",
            lambda: {
                "spec": {
                    "matchConstraints": {"resourceRules": []},
                    "validations": [{"expression": " && ".join(["true"] * 300_000)}],
                }
            },
        ),
        (
            "ValidatingAdmissionPolicy, deep",
            f"{admission}/validatingadmissionpolicies",
            lambda: {
                "spec": {"matchConstraints": {"resourceRules": []}, "validations": [{"expression": "(" * 1_000_000}]}
            },
        ),
        (
            "ValidatingAdmissionPolicy, many",
            f"{admission}/validatingadmissionpolicies",
            lambda: {
                "spec": {
                    "matchConstraints": {"resourceRules": []},
                    "validations": repeated({"expression": _NESTED}),
                }
            },
        ),
        (
            "ValidatingAdmissionPolicy, variables",
            f"{admission}/validatingadmissionpolicies",
            lambda: {
                "spec": {
                    "matchConstraints": {"resourceRules": []},
                    "validations": [{"expression": "true"}],
                    "variables": repeated(
                        lambda i: {
                            "name": f"v{i}",
                            "expression": f"variables.v{i - 1} + variables.v{i - 1}" if i else "'a'",
                        }
                    ),
                }
            },
        ),
        (
            "ValidatingAdmissionPolicy, list literal",
            f"{admission}/validatingadmissionpolicies",
            lambda: {
                "spec": {
                    "matchConstraints": {"resourceRules": []},
                    "validations": [{"expression": "[" + "1," * 1_000_000 + "1].size() > 0"}],
                }
            },
        ),
        (
            "ValidatingAdmissionPolicy, text",
            f"{admission}/validatingadmissionpolicies",
            lambda: {
                "spec": {
                    "matchConstraints": {"resourceRules": []},
                    "validations": [{"expression": "'" + "a" * 2_800_000 + "'.matches('(a*)*b')"}],
                }
            },
        ),
        (
            "ResourceSlice",
            "/apis/resource.k8s.io/v1/resourceslices",
            lambda: {"spec": {"driver": "a", "pool": {"name": "a", "resourceSliceCount": 1}, "devices": repeated({})}},
        ),
        (
            "ResourceClaim",
            "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims",
            lambda: {"spec": {"devices": {"requests": repeated({})}}},
        ),
        (
            "StorageClass",
            "/apis/storage.k8s.io/v1/storageclasses",
            lambda: {"provisioner": "a", "parameters": mapped(lambda i: (f"k{i}", ""))},
        ),
        (
            "StorageClass, topologies",
            "/apis/storage.k8s.io/v1/storageclasses",
            lambda: {
                "provisioner": "a",
                "allowedTopologies": repeated({"matchLabelExpressions": [{"key": "a", "values": ["b"]}]}),
            },
        ),
        (
            "CSINode",
            "/apis/storage.k8s.io/v1/csinodes",
            lambda: {"spec": {"drivers": repeated(lambda i: {"name": f"d{i}", "nodeID": "a"})}},
        ),
        (
            "RuntimeClass",
            "/apis/node.k8s.io/v1/runtimeclasses",
            lambda: {
                "handler": "a",
                "scheduling": {"tolerations": repeated(lambda i: {"key": f"k{i}", "operator": "Exists"})},
            },
        ),
        (
            "Lease",
            "/apis/coordination.k8s.io/v1/namespaces/default/leases",
            lambda: {"spec": {"holderIdentity": "x" * 2_900_000}},
        ),
        ("APIService, caBundle", "/apis/apiregistration.k8s.io/v1/apiservices", lambda: {"spec": {"caBundle": blocks}}),
    ]
    return [post(name, path, partial(_named, index, make)) for index, (name, path, make) in enumerate(kinds)]


def _stored(name: str, **fields: Any) -> list[Call]:
    return [Call("POST", CONFIG_MAPS, encoded(config_map(name, **fields)))]


def _patch(
    name: str, content_type: str, make: Any, before: Any = None, path: str = "", target: str = "patched"
) -> Case:
    def first() -> list[Call]:
        made: list[Call] = before() if before is not None else _stored(target, data={"a": "b"})
        return made

    def call() -> Call:
        body = make()
        return Call(
            "PATCH", path or f"{CONFIG_MAPS}/{target}", body if isinstance(body, bytes) else encoded(body), content_type
        )

    return Case(name, call, first)


def patch_cases() -> list[Case]:
    """Return the cases of patches, also of large objects."""

    def large(name: str = "large", size: int = 1_200_000) -> list[Call]:
        return _stored(name, data=mapped(lambda i: (f"k{i}", "v"), size))

    def pod_before() -> list[Call]:
        return [
            Call(
                "POST",
                PODS,
                encoded(
                    {
                        **in_container(env=repeated(lambda i: {"name": f"E{i}", "value": "v"}, 900_000)),
                        "metadata": {"name": "envs"},
                    }
                ),
            )
        ]

    applied = f"{CONFIG_MAPS}/applied?fieldManager=a&force=true"
    wide = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}}
    copies = [{"op": "copy", "from": "/data", "path": "/data/a"}, {"op": "copy", "from": "/data", "path": "/data/b"}]
    return [
        _patch("JSON patch, copies that double", JSON_PATCH, lambda: copies * 60),
        _patch(
            "JSON patch, copies of a long value",
            JSON_PATCH,
            lambda: [
                {"op": "add", "path": "/data/a", "value": "x" * 1_000_000},
                *[{"op": "copy", "from": "/data/a", "path": f"/data/k{i}"} for i in range(2_000)],
            ],
        ),
        _patch(
            "JSON patch, 10,000 operations",
            JSON_PATCH,
            lambda: [{"op": "add", "path": f"/data/k{i}", "value": "v"} for i in range(10_000)],
        ),
        _patch(
            "JSON patch, 10,000 on a large object",
            JSON_PATCH,
            lambda: [{"op": "add", "path": f"/data/j{i}", "value": "v"} for i in range(9_999)],
            large,
            target="large",
        ),
        _patch(
            "JSON patch, 40,000 operations",
            JSON_PATCH,
            lambda: [{"op": "test", "path": "/data/a", "value": "b"}] * 50_000,
        ),
        _patch(
            "JSON patch, tests of the whole object",
            JSON_PATCH,
            lambda: [{"op": "test", "path": "/data", "value": mapped(lambda i: (f"k{i}", "v"), 200)}] * 5_000,
            large,
            target="large",
        ),
        _patch(
            "JSON patch, inserts at the front",
            JSON_PATCH,
            lambda: [
                {"op": "add", "path": "/metadata/finalizers", "value": ["a.b/c"]},
                *[{"op": "add", "path": "/metadata/finalizers/0", "value": "a.b/d"} for _ in range(9_990)],
            ],
        ),
        _patch("JSON patch, long path", JSON_PATCH, lambda: [{"op": "add", "path": "/a" * 1_300_000, "value": 1}]),
        _patch("JSON patch, empty operations", JSON_PATCH, lambda: [{}] * 900_000),
        _patch("merge patch, many keys", MERGE, lambda: {"data": mapped(lambda i: (f"k{i}", "v"), STORED_BYTES_MAX)}),
        _patch("merge patch, small on large", MERGE, lambda: {"data": {"zz": "v"}}, large, target="large"),
        _patch(
            "merge patch, bad keys on large",
            MERGE,
            lambda: {"data": mapped(lambda i: (f"/{i}", "v"))},
            large,
            target="large",
        ),
        _patch("merge patch, nulls", MERGE, lambda: {"data": mapped(lambda i: (f"k{i}", None))}, large, target="large"),
        _patch("merge patch, deep", MERGE, lambda: b'{"a":' * 9_000 + b"1" + b"}" * 9_000),
        _patch("strategic, small on large", STRATEGIC, lambda: {"data": {"zy": "v"}}, large, target="large"),
        _patch(
            "strategic, env on env",
            STRATEGIC,
            lambda: {
                "spec": {
                    "containers": [{"name": "c", "env": repeated(lambda i: {"name": f"E{i}", "value": "w"}, 2_000_000)}]
                }
            },
            pod_before,
            f"{PODS}/envs",
        ),
        _patch(
            "strategic, deletes",
            STRATEGIC,
            lambda: {
                "spec": {
                    "containers": [
                        {"name": "c", "env": repeated(lambda i: {"name": f"E{i}", "$patch": "delete"}, 2_000_000)}
                    ]
                }
            },
            pod_before,
            f"{PODS}/envs",
        ),
        _patch(
            "strategic, order",
            STRATEGIC,
            lambda: {
                "spec": {
                    "containers": [
                        {
                            "name": "c",
                            "$setElementOrder/env": repeated(lambda i: {"name": f"E{i}"}, 1_400_000),
                            "env": repeated(lambda i: {"name": f"E{i}", "value": "w"}, 1_400_000),
                        }
                    ]
                }
            },
            pod_before,
            f"{PODS}/envs",
        ),
        _patch(
            "strategic, finalizers",
            STRATEGIC,
            lambda: {"metadata": {"finalizers": repeated(lambda i: f"a.b/{i}", STORED_BYTES_MAX)}},
            lambda: [
                Call(
                    "POST",
                    CONFIG_MAPS,
                    encoded(
                        {
                            **with_metadata(finalizers=repeated(lambda i: f"c.d/{i}", 600_000)),
                            "metadata": {"name": "final", "finalizers": repeated(lambda i: f"c.d/{i}", 600_000)},
                        }
                    ),
                )
            ],
            f"{CONFIG_MAPS}/final",
        ),
        _patch(
            "strategic, deleted finalizers",
            STRATEGIC,
            lambda: {"metadata": {"$deleteFromPrimitiveList/finalizers": repeated(lambda i: f"c.d/{i}", 600_000)}},
            list,
            f"{CONFIG_MAPS}/final",
        ),
        _patch(
            "strategic, owners",
            STRATEGIC,
            lambda: {
                "metadata": {
                    "ownerReferences": repeated(
                        lambda i: {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": str(i)}
                    )
                }
            },
        ),
        _patch(
            "apply, 100,000 fields",
            APPLY,
            lambda: {**wide, "data": mapped(lambda i: (f"k{i}", ""), 1_200_000)},
            list,
            applied,
        ),
        _patch(
            "apply, the same again",
            APPLY,
            lambda: {**wide, "data": mapped(lambda i: (f"k{i}", ""), 1_200_000)},
            list,
            applied,
        ),
        _patch(
            "apply, conflicts",
            APPLY,
            lambda: {**wide, "data": mapped(lambda i: (f"k{i}", "x"), 1_200_000)},
            list,
            applied.replace("a&force=true", "b"),
        ),
        _patch("apply, few fields again", APPLY, lambda: {**wide, "data": {"k1": ""}}, list, applied),
        _patch("apply, wrong types", APPLY, lambda: {**wide, "data": mapped(lambda i: (f"k{i}", 1))}, list, applied),
        _patch(
            "apply, containers of one name",
            APPLY,
            lambda: {**pod(containers=repeated({"name": "a"})), "metadata": {"name": "ap"}},
            list,
            f"{PODS}/ap?fieldManager=a",
        ),
        _patch(
            "apply, env",
            APPLY,
            lambda: {
                **in_container(env=repeated(lambda i: {"name": f"E{i}", "value": "v"}, 700_000)),
                "metadata": {"name": "ape"},
            },
            list,
            f"{PODS}/ape?fieldManager=a",
        ),
        _patch(
            "apply, managedFields",
            APPLY,
            lambda: {**wide, "metadata": {"name": "applied", "managedFields": repeated(_entry)}},
            list,
            applied,
        ),
        _patch(
            "apply, YAML",
            APPLY,
            lambda: (
                b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied2}\ndata:\n"
                + b"".join(b"  k%d: v\n" % i for i in range(60_000))
            ),
            list,
            f"{CONFIG_MAPS}/applied2?fieldManager=a",
        ),
        Case(
            "PUT, 1.2 MB",
            lambda: Call(
                "PUT",
                f"{CONFIG_MAPS}/large",
                encoded(config_map("large", data=mapped(lambda i: (f"k{i}", "w"), 1_200_000))),
            ),
            large,
        ),
        Case(
            "PUT, bad keys",
            lambda: Call(
                "PUT", f"{CONFIG_MAPS}/large", encoded(config_map("large", data=mapped(lambda i: (f"/{i}", "w"))))
            ),
            large,
        ),
        Case(
            "PUT, client's managedFields",
            lambda: Call(
                "PUT",
                f"{CONFIG_MAPS}/large",
                encoded(
                    {**config_map("large"), "metadata": {"name": "large", "managedFields": repeated(_entry, 2_500_000)}}
                ),
            ),
            large,
        ),
        Case(
            "PUT, the same again",
            lambda: Call(
                "PUT",
                f"{CONFIG_MAPS}/large",
                encoded(
                    {**config_map("large"), "metadata": {"name": "large", "managedFields": repeated(_entry, 1_200_000)}}
                ),
            ),
            list,
        ),
        Case(
            "DELETE with large options",
            lambda: Call("DELETE", f"{CONFIG_MAPS}/large", encoded({"kind": "DeleteOptions", "dryRun": repeated("x")})),
            list,
        ),
        Case("DELETE of a large object", lambda: Call("DELETE", f"{CONFIG_MAPS}/large"), list),
        Case(
            "eviction with large options",
            lambda: Call(
                "POST",
                f"{PODS}/envs/eviction",
                encoded(
                    {
                        "apiVersion": "policy/v1",
                        "kind": "Eviction",
                        "metadata": {"name": "envs"},
                        "deleteOptions": {"dryRun": repeated("x")},
                    }
                ),
            ),
            list,
        ),
        Case(
            "scale with a large body",
            lambda: Call(
                "PUT",
                "/apis/apps/v1/namespaces/default/deployments/d/scale",
                encoded(
                    {"spec": {"replicas": 1}, "metadata": {"name": "d", "labels": mapped(lambda i: (f"/{i}", ""))}}
                ),
            ),
            list,
        ),
    ]


def read_cases() -> list[Case]:
    """Return the cases of lists, watches, selectors, tables and documents."""

    def terms(form: str, limit: int = 900_000) -> str:
        return "%2C".join(repeated(lambda i: form % i, limit))

    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    partial = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    accept = {"YAML": YAML, "protobuf": "application/vnd.kubernetes.protobuf", "table": table, "partial": partial}
    made = [
        get("list, labelSelector of many terms", f"{CONFIG_MAPS}?labelSelector={terms('a%d', 500_000)}"),
        get("list, labelSelector of many equal terms", f"{CONFIG_MAPS}?labelSelector={terms('a=b%d', 500_000)}"),
        get("list, labelSelector in many", f"{CONFIG_MAPS}?labelSelector=a+in+({terms('b%d', 500_000)})"),
        get(
            "list, fieldSelector of many terms",
            f"{CONFIG_MAPS}?fieldSelector={terms('metadata.name%%21=b%d', 500_000)}",
        ),
        get("list, bad labelSelector", f"{CONFIG_MAPS}?labelSelector={'(' * 500_000}"),
        get("list, long continue", f"{CONFIG_MAPS}?continue={'x' * 900_000}"),
        get("list, many parameters", f"{CONFIG_MAPS}?" + "&".join(f"a{i}=b" for i in range(90_000))),
        get("list, long path", f"{CONFIG_MAPS}/" + "a" * 900_000),
        get("many slashes", "/" * 900_000),
        get("many segments", "/apis/" + "a/" * 400_000),
        get("percent-encoded path", "/apis/" + "%41" * 250_000),
        get("long Accept", CONFIG_MAPS, accept=",".join(["application/x"] * 60_000)),
        get("long Accept parameters", CONFIG_MAPS, accept="application/json" + ";a=b" * 200_000),
        get("many headers of one name", CONFIG_MAPS, x=",".join(["a"] * 400_000)),
        get("long Authorization", CONFIG_MAPS, authorization="Bearer " + "." * 900_000),
        get("long Impersonate", CONFIG_MAPS, impersonate_user="a" * 900_000),
        get("long User-Agent", CONFIG_MAPS, user_agent="a" * 900_000),
        get("long X-Forwarded-For", CONFIG_MAPS, x_forwarded_for="1.1.1.1," * 100_000),
        get(
            "watch, labelSelector of many terms",
            f"{CONFIG_MAPS}?watch=1&timeoutSeconds=1&labelSelector={terms('a%d', 500_000)}",
        ),
        get("watch from the start", f"{CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion=0"),
        get("watch from the start, table", f"{CONFIG_MAPS}?watch=1&timeoutSeconds=1", accept=table),
        get(
            "watch with initial events",
            f"{CONFIG_MAPS}?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
        ),
        get("list of all", CONFIG_MAPS),
        get("list of all, gzip", CONFIG_MAPS, accept_encoding="gzip"),
        get("list, pretty", f"{CONFIG_MAPS}?pretty=true"),
        get("list, limited", f"{CONFIG_MAPS}?limit=1"),
        get("list at an old revision", f"{CONFIG_MAPS}?resourceVersion=1&resourceVersionMatch=Exact"),
        get("metrics", "/metrics"),
    ]
    made += [get(f"list as {name}", CONFIG_MAPS, accept=value) for name, value in accept.items()]
    made += [get(f"Pods as {name}", PODS, accept=value) for name, value in accept.items()]
    made += [
        get(f"{path} as {form or 'JSON'}", path, accept=form or "application/json")
        for path in (
            "/api",
            "/apis",
            "/apis/apps/v1",
            "/openapi/v3",
            "/openapi/v3/apis/apps/v1",
            "/openapi/v3/api/v1",
            "/openapi/v2",
        )
        for form in (
            "",
            "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        )
    ]
    return made
