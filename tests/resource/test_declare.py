"""Tests of `@resource`: declared kinds, and their conversion to and from JSON."""

import msgspec
import orjson
import pytest

from sampan.resource import CustomResource, ObjectMeta, declaration, object_type, plural_of, resource
from tests.resource.kinds import Boat, BoatSpec, Buoy, BuoySpec, Mode, OldBoat


def test_names_come_from_the_class() -> None:
    info = declaration(Boat).info
    assert (str(info.gvk), info.gvr.resource, info.singular) == ("harbour.example.com/v1, Kind=Boat", "boats", "boat")


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("Network", "networks"),
        ("Policy", "policies"),
        ("Gateway", "gateways"),
        ("Ingress", "ingresses"),
        ("Box", "boxes"),
        ("Switch", "switches"),
    ],
)
def test_plurals(kind: str, plural: str) -> None:
    assert plural_of(kind) == plural


def test_a_status_field_gives_the_status_subresource() -> None:
    assert declaration(Boat).info.subresources == {"status", "scale"}
    assert declaration(Buoy).info.subresources == frozenset()


def test_no_status_disables_the_status_subresource() -> None:
    @resource(group="g.example.com", version="v1", no_status=True)
    class Raft(CustomResource):
        """A raft."""

        status: str = ""

    assert not declaration(Raft).status


def test_a_written_object_has_api_version_and_kind() -> None:
    written = orjson.loads(object_type(Boat).encode(Boat(metadata=ObjectMeta(name="a"), spec=BoatSpec(length=3))))
    assert written == {
        "apiVersion": "harbour.example.com/v1",
        "kind": "Boat",
        "metadata": {"name": "a"},
        "spec": {"length": 3},
    }


def test_an_object_with_only_defaults_is_valid_json() -> None:
    written = orjson.loads(object_type(OldBoat).encode(OldBoat()))
    assert written == {"apiVersion": "harbour.example.com/v1beta1", "kind": "Boat", "metadata": {}}


@pytest.mark.parametrize(
    "obj",
    [
        Boat(metadata=ObjectMeta(name="a", labels={"x": "y"}), spec=BoatSpec(length=3, mode=Mode.FAST, owner_id="o")),
        Boat(spec=BoatSpec(length=400, cargo={"rice": 3}, ports=[1, 2], extra={"a": [1]}, speed="5%")),
    ],
)
def test_objects_round_trip(obj: Boat) -> None:
    kind = object_type(Boat)
    assert kind.decode(kind.encode(obj)) == obj


def test_dataclasses_can_be_kinds_and_omit_absent_fields() -> None:
    kind = object_type(Buoy)
    body = kind.encode(Buoy(BuoySpec("red"), ObjectMeta(name="b")))
    assert orjson.loads(body)["spec"] == {"colour": "red"}
    assert kind.decode(body) == Buoy(BuoySpec("red"), ObjectMeta(name="b"))


def test_unknown_fields_are_ignored() -> None:
    read = object_type(Boat).decode(b'{"kind":"Boat","spec":{"length":1,"sails":2},"other":[]}')
    assert read.spec.length == 1


def test_a_wrong_type_is_a_value_error_that_names_the_field() -> None:
    with pytest.raises(ValueError, match=r"spec\.length"):
        object_type(Boat).decode(b'{"spec":{"length":"long"}}')


def test_a_class_without_metadata_is_not_a_kind() -> None:
    with pytest.raises(TypeError, match="needs a field metadata"):

        @resource(group="g", version="v1")
        class Nothing(msgspec.Struct):
            """Nothing."""


def test_a_plain_class_is_not_a_kind() -> None:
    with pytest.raises(TypeError, match="neither a msgspec Struct nor a dataclass"):
        resource(group="g", version="v1")(int)


def test_an_undeclared_class_is_an_error() -> None:
    with pytest.raises(TypeError, match="decorate it with @resource"):
        declaration(BoatSpec)
