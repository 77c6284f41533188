"""Speed of the protobuf codec: `python -m benchmarks.protobuf`. Figures go to docs/adr/0007-protobuf.md."""

import timeit
from collections.abc import Callable
from typing import Any

from sampan.wire import json as wire_json
from sampan.wire import protobuf
from sampan.wire.protobuf.table import DATA, MessageTable

REPEATS = 7


def container(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "image": "registry.example.com/team/web:1.27",
        "args": ["--listen", "0.0.0.0:8080"],
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "env": [
            {"name": "A", "value": "b"},
            {"name": "P", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        ],
        "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
        "volumeMounts": [{"name": "configuration", "mountPath": "/etc/web", "readOnly": True}],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }


def pod() -> dict[str, Any]:
    """Return a Pod with two containers, as a client sends it."""
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "web-0", "namespace": "default", "labels": {"app": "web", "tier": "front"}},
        "spec": {
            "volumes": [{"name": "configuration", "configMap": {"name": "configuration", "defaultMode": 420}}],
            "containers": [container("web"), container("side")],
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "serviceAccountName": "default",
            "securityContext": {},
            "schedulerName": "default-scheduler",
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300}],
        },
        "status": {"phase": "Pending", "qosClass": "Burstable"},
    }


def report(name: str, work: Callable[[], object], number: int) -> None:
    best = min(timeit.repeat(work, number=number, repeat=REPEATS)) / number
    print(f"{name:55} {best * 1e6:10.1f} µs")


def main() -> None:
    obj = pod()
    body, json_body = protobuf.encode(obj), wire_json.encode(obj)
    print(f"a Pod of two containers: {len(json_body)} bytes of JSON, {len(body)} of protobuf")
    report("decode", lambda: protobuf.decode(body), 500)
    report("encode", lambda: protobuf.encode(obj), 500)
    report("decode JSON", lambda: wire_json.decode(json_body), 500)
    report("encode JSON", lambda: wire_json.encode(obj), 500)
    messages = [protobuf.encode_bare("v1", "Pod", obj)] * 5000
    report("join a list of 5,000 Pods that are encoded", lambda: protobuf.list_items("v1", "PodList", messages), 5)
    report("load the table", lambda: MessageTable(DATA.read_bytes()), 5)


if __name__ == "__main__":
    main()
