"""Tests of reading objects that do not fit their class, as Go clients do."""

from typing import Any, Literal

import msgspec
import pytest

from sampan.resource import CustomResource, IntOrString, object_type, resource
from sampan.resource.lenient import LenientReader


class Item(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """An element."""

    name: str
    port_number: int = 7


class Spec(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """One field of each type."""

    text: str
    number: int
    part: float
    flag: bool
    data: bytes
    names: list[str]
    labels: dict[str, str]
    item: Item
    mode: Literal["fast", "slow"]
    port: IntOrString
    anything: Any
    perhaps: str | None = None
    items: list[Item] = msgspec.field(default_factory=list)
    by_name: dict[str, Item] = msgspec.field(default_factory=dict)
    replicas: int = 3


@resource(group="g.example.com", version="v1", lenient=True)
class Thing(CustomResource):
    """A kind generated from a schema."""

    spec: Spec


@resource(group="g.example.com", version="v1", kind="Thing")
class StrictThing(CustomResource):
    """Hand-written form of the kind."""

    spec: Spec


ZERO = Spec(
    text="",
    number=0,
    part=0.0,
    flag=False,
    data=b"",
    names=[],
    labels={},
    item=Item(name=""),
    mode="",  # type: ignore[arg-type]  # what a server may hold
    port=0,
    anything=None,
)
FIELDS = Spec.__struct_encode_fields__


@pytest.mark.parametrize("spec", [None, {}, dict.fromkeys(FIELDS)], ids=["null", "empty", "all null"])
def test_missing_and_null_fields_have_zero_values_or_their_defaults(spec: Any) -> None:
    read = object_type(Thing).decode(msgspec.json.encode({"spec": spec}))
    assert read.spec == ZERO
    assert read.spec.replicas == 3


def test_an_object_without_its_required_part_is_read() -> None:
    assert object_type(Thing).decode(b'{"metadata":{"name":"a"}}').spec == ZERO


@pytest.mark.parametrize(
    ("field", "data", "value"),
    [
        pytest.param("number", 2.0, 2, id="integer with a fraction of nothing"),
        pytest.param("part", 2, 2, id="number without a fraction"),
        pytest.param("mode", "sideways", "sideways", id="value outside of an enumeration"),
        pytest.param("port", "80%", "80%", id="text of int-or-string"),
        pytest.param("port", 80, 80, id="number of int-or-string"),
        pytest.param("names", [None, "a"], ["", "a"], id="null in a list of texts"),
        pytest.param("items", [None, {"portNumber": None}], [Item(name=""), Item(name="")], id="null in a list"),
        pytest.param("byName", {"a": None}, {"a": Item(name="")}, id="null in a map"),
        pytest.param("labels", {"a": None}, {"a": ""}, id="null in a map of texts"),
        pytest.param("data", "YQ==", b"a", id="base64"),
        pytest.param("perhaps", "x", "x", id="optional"),
        pytest.param("anything", {"a": [None]}, {"a": [None]}, id="anything"),
    ],
)
def test_values_that_a_server_may_hold_are_read(field: str, data: Any, value: Any) -> None:
    names = dict(zip(FIELDS, Spec.__struct_fields__, strict=True))
    body = msgspec.json.encode({"spec": {field: data}})  # other required fields are missing
    assert getattr(object_type(Thing).decode(body).spec, names[field]) == value


@pytest.mark.parametrize(
    ("field", "data", "message"),
    [
        ("text", 1, r"Expected `str`, got `int` - at `\$.spec.text`"),
        ("number", 1.5, r"Expected `int`, got `float` - at `\$.spec.number`"),
        ("number", True, r"Expected `int`, got `bool` - at `\$.spec.number`"),
        ("flag", 1, r"Expected `bool`, got `int` - at `\$.spec.flag`"),
        ("names", {}, r"Expected `array`, got `object` - at `\$.spec.names`"),
        ("names", ["a", 1], r"Expected `str`, got `int` - at `\$.spec.names\[1\]`"),
        ("labels", [], r"Expected `object`, got `array` - at `\$.spec.labels`"),
        ("byName", {"a": 1}, r"Expected `object`, got `int` - at `\$.spec.byName.a`"),
        ("data", "?", r"Invalid base64 - at `\$.spec.data`"),
        ("port", [], r"at `\$.spec.port`"),
    ],
)
def test_a_value_of_another_type_is_an_error_that_names_the_field(field: str, data: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        object_type(Thing).decode(msgspec.json.encode({"spec": {field: data}}))


def test_a_strict_class_reports_missing_fields() -> None:
    with pytest.raises(ValueError, match="missing required field"):
        object_type(StrictThing).decode(b'{"spec":{}}')


def test_valid_objects_are_read_the_same_way() -> None:
    spec = {**msgspec.to_builtins(ZERO), "mode": "fast", "byName": {"a": {"name": "b"}}}
    assert LenientReader(Spec).read(spec) == msgspec.convert(spec, Spec)
