"""Declared and actual inputs of the selectable fields of strategies."""

from typing import Any

import pytest

from sampan.registry.kinds.builtin import BUILTIN_KINDS
from sampan.registry.strategy import Strategy
from sampan.storage.encoding import encode, extractor
from sampan.storage.store import KeyValue

FULL: dict[str, Any] = {
    "kind": "Any",
    "apiVersion": "v1",
    "metadata": {"name": "a", "namespace": "b"},
    "type": "Warning",
    "reason": "Because",
    "reportingComponent": "",
    "source": {"component": "c", "host": "d"},
    "involvedObject": {"kind": "Pod", "namespace": "b", "name": "e", "uid": "f", "fieldPath": "g"},
    "spec": {
        "nodeName": "n",
        "restartPolicy": "Never",
        "schedulerName": "s",
        "serviceAccountName": "t",
        "hostNetwork": True,
        "unschedulable": True,
        "containers": [{"name": "main"}],
    },
    "status": {"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}], "nominatedNodeName": "m", "replicas": 3},
}

PARTS = {
    (kind.group, kind.resource): kind.strategy for kind in BUILTIN_KINDS if kind.strategy.selectable_part is not None
}


@pytest.mark.parametrize("strategy", PARTS.values(), ids=[resource for _, resource in PARTS])
@pytest.mark.parametrize("obj", [FULL, {"metadata": {"name": "a"}}], ids=["full", "bare"])
def test_the_part_holds_all_that_selectable_fields_read(strategy: Strategy, obj: dict[str, Any]) -> None:
    row = KeyValue("/a", encode(obj), 1, 1)
    whole = extractor(strategy.selectable_fields)(row)
    assert extractor(strategy.selectable_fields, strategy.selectable_part)(row).fields == whole.fields
    assert whole.fields
