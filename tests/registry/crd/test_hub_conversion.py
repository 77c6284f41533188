"""Conversion through the hub is lossless, whatever the object (Hypothesis)."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.registry.crd.hub.conversion import FieldRule, HubConverter, HubConverterVersion
from sampan.registry.crd.hub.preserved import ANNOTATION, entries_between
from sampan.schema.cel.environment import Environment
from sampan.schema.cel.rules.schema_types import schema_type
from sampan.schema.compile import CompiledSchema, SchemaCompiler
from sampan.schema.definition.openapi import parse
from sampan.schema.structural import Schema

Json = dict[str, Any]
STRING, INTEGER = {"type": "string"}, {"type": "integer"}


def _object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties}


def _list_of(item: Json) -> Json:
    return {"type": "array", "items": item}


PORT = _object(number=INTEGER, name=STRING)
HUB = _object(
    spec=_object(cidr=STRING, mtu=INTEGER, only=STRING, ports=_list_of(PORT), size=INTEGER, box=_object(a=STRING)),
    status=_object(ready={"type": "boolean"}),
)
OLD = _object(
    spec=_object(
        network=_object(cidr=STRING, vlan=INTEGER),
        mtu={"type": "integer", "default": 1500},
        ports=_list_of(_object(port=INTEGER)),
        size=STRING,
        old=STRING,
    )
)
FLAT = _object(cidr=STRING, spec=_object(mtu=INTEGER, box=_object(b=STRING)))


def _version(openapi: Json, *rules: FieldRule) -> HubConverterVersion:
    schema = parse(openapi)
    schema.properties |= {"apiVersion": Schema(type="string"), "kind": Schema(type="string")}
    schema.properties["metadata"] = parse({"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    return HubConverterVersion(CompiledSchema(schema, SchemaCompiler()), rules)


def _conversion() -> HubConverter:
    number, text = schema_type(parse(INTEGER)), schema_type(parse(STRING))
    assert number is not None
    assert text is not None
    size = FieldRule(
        ("spec", "size"),
        ("spec", "size"),
        program_to_hub=Environment({"self": text}).compile(
            "self.matches('^[0-9]+$') && size(self) < 9 ? int(self) : 0"
        ),
        program_from_hub=Environment({"self": number}).compile("string(self)"),
    )
    cidr = FieldRule(("spec", "cidr"), ("spec", "network", "cidr"), default="10.0.0.0/8")
    port = FieldRule(("spec", "ports", "[]", "number"), ("spec", "ports", "[]", "port"), default=80)
    flat = FieldRule(("spec", "cidr"), ("cidr",))
    return HubConverter(
        "x.io", "v2", {"v2": _version(HUB), "v1": _version(OLD, cidr, size, port), "v3": _version(FLAT, flat)}
    )


CONVERSION = _conversion()


def _values(openapi: Json) -> st.SearchStrategy[Any]:
    match openapi["type"]:
        case "object":
            return st.fixed_dictionaries({}, optional={k: _values(v) for k, v in openapi["properties"].items()})
        case "array":
            return st.lists(_values(openapi["items"]), max_size=3)
        case "integer":
            return st.sampled_from([0, 1, 7, 1500, -3, 10**9])
        case "boolean":
            return st.booleans()
    return st.sampled_from(["", "a", "7", "007", "10.0.0.0/8"])


def _objects(name: str, openapi: Json) -> st.SearchStrategy[Json]:
    head = {"apiVersion": f"x.io/{name}", "kind": "Net", "metadata": {"name": "a", "annotations": {"mine": "1"}}}
    return _values(openapi).map(lambda body: {**copy.deepcopy(head), **body})


OBJECTS = st.one_of(_objects("v2", HUB), _objects("v1", OLD), _objects("v3", FLAT))


def _settled(obj: Json) -> Json:
    """With the defaults that a stored object has."""
    if obj["apiVersion"] == "x.io/v1" and "spec" in obj:
        obj["spec"].setdefault("mtu", 1500)
    return obj


@given(OBJECTS, st.sampled_from(["x.io/v1", "x.io/v2", "x.io/v3"]))
def test_an_object_comes_back_from_any_version_as_it_was(obj: Json, there: str) -> None:
    obj = _settled(obj)
    given_before = copy.deepcopy(obj)
    assert CONVERSION.convert(CONVERSION.convert(obj, there), obj["apiVersion"]) == given_before
    assert obj == given_before


@given(OBJECTS, st.lists(st.sampled_from(["x.io/v1", "x.io/v2", "x.io/v3"]), max_size=4))
def test_an_object_comes_back_after_a_journey_through_versions(obj: Json, journey: list[str]) -> None:
    obj = _settled(obj)
    made = obj
    for api_version in [*journey, "x.io/v2", obj["apiVersion"]]:
        made = CONVERSION.convert(made, api_version)
    made["metadata"]["annotations"].pop(ANNOTATION, None)
    assert made == obj


def _hub(**spec: Any) -> Json:
    return {"apiVersion": "x.io/v2", "kind": "Net", "metadata": {"name": "a"}, "spec": spec}


def test_a_change_in_the_version_wins_over_what_was_preserved() -> None:
    old = CONVERSION.convert(_hub(ports=[{"number": 1, "name": "http"}], only="x"), "x.io/v1")
    assert old["spec"]["ports"] == [{"port": 1}]
    old["spec"]["ports"] = [{"port": 2}]
    assert CONVERSION.convert(old, "x.io/v2")["spec"]["ports"] == [{"number": 2}]
    assert CONVERSION.convert(old, "x.io/v2")["spec"]["only"] == "x"


def test_a_field_next_to_a_preserved_one_may_be_added() -> None:
    old = {"apiVersion": "x.io/v1", "kind": "Net", "metadata": {"name": "a"}, "spec": {"network": {"vlan": 7}}}
    hub = CONVERSION.convert(old, "x.io/v2")
    hub["spec"]["cidr"] = "a"
    assert CONVERSION.convert(hub, "x.io/v1")["spec"]["network"] == {"cidr": "a", "vlan": 7}


def test_items_whose_fields_come_back_in_another_order_are_not_preserved() -> None:
    assert entries_between({"spec": [{"a": 1, "b": 2}]}, {"spec": [{"b": 2, "a": 1}]}) == []
    assert entries_between({"spec": [{"a": True}]}, {"spec": [{"a": 1}]}) != []


def test_the_hub_gets_the_default_of_a_field_that_the_version_lacks() -> None:
    old = {"apiVersion": "x.io/v1", "kind": "Net", "metadata": {"name": "a"}, "spec": {}}
    assert CONVERSION.convert(old, "x.io/v2")["spec"]["cidr"] == "10.0.0.0/8"


def test_each_item_of_a_list_has_its_own_default() -> None:
    old = {"apiVersion": "x.io/v1", "kind": "Net", "metadata": {"name": "a"}, "spec": {"ports": [{"port": 1}, {}]}}
    assert CONVERSION.convert(old, "x.io/v2")["spec"]["ports"] == [{"number": 1}, {"number": 80}]


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"x.io/v2":[{"path":["metadata","name"],"value":"b"}]}', '{"x.io/v2":[{"path":"a"}]}',
             '{"x.io/v2":[{"path":["spec","mtu"],"value":"text"}]}'],
    ids=["empty", "list", "broken", "metadata", "no path", "wrong type"],
)  # fmt: skip
def test_an_annotation_that_makes_no_sense_is_ignored(text: str) -> None:
    old = {"apiVersion": "x.io/v1", "kind": "Net", "metadata": {"name": "a", "annotations": {ANNOTATION: text}}}
    hub = CONVERSION.convert({**old, "spec": {"mtu": 1, "network": {"cidr": "c"}}}, "x.io/v2")
    assert hub["metadata"]["name"] == "a"
    assert hub["spec"] == {"cidr": "c", "mtu": 1}
