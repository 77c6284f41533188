"""Tests of CRDs from declared classes, also on an API server."""

from typing import Any

import msgspec
import pytest

from sampan.resource import CustomResource, resource
from sampan.resource.crd import crd_of
from sampan.resource.schema import SchemaError, schema_of
from tests.resource.kinds import Boat, BoatSpec, Buoy, OldBoat
from tests.server.cluster import served

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def _version(cls: type[Any]) -> dict[str, Any]:
    version: dict[str, Any] = crd_of(cls)["spec"]["versions"][0]
    return version


def test_names_and_scope() -> None:
    crd = crd_of(Boat)
    assert crd["metadata"] == {"name": "boats.harbour.example.com"}
    assert crd["spec"]["names"] == {
        "categories": ["all"],
        "kind": "Boat",
        "listKind": "BoatList",
        "plural": "boats",
        "shortNames": ["bo"],
        "singular": "boat",
    }
    assert (crd["spec"]["scope"], crd_of(Buoy)["spec"]["scope"]) == ("Namespaced", "Cluster")


def test_subresources_columns_and_selectable_fields() -> None:
    version = _version(Boat)
    assert version["subresources"] == {
        "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
        "status": {},
    }
    assert version["additionalPrinterColumns"][1] == {
        "name": "Mode",
        "type": "string",
        "jsonPath": ".spec.mode",
        "priority": 1,
    }
    assert version["selectableFields"] == [{"jsonPath": ".spec.mode"}]


@pytest.mark.parametrize(
    ("field", "schema"),
    [
        (
            "length",
            {"description": "Length in feet.", "type": "integer", "format": "int64", "maximum": 400, "minimum": 1},
        ),
        (
            "namePlate",
            {
                "type": "string",
                "default": "Sampan",
                "maxLength": 20,
                "minLength": 1,
                "pattern": "^[A-Z]",
                "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "field is immutable"}],
            },
        ),
        ("mode", {"type": "string", "default": "Slow", "enum": ["Fast", "Slow"]}),
        ("ports", {"type": "array", "items": {"type": "integer", "format": "int64"}, "maxItems": 5}),
        ("speed", {"description": "Knots, or a share of what is possible.", "x-kubernetes-int-or-string": True}),
        ("cargo", {"type": "object", "additionalProperties": {"type": "integer", "format": "int64"}}),
        ("extra", {"x-kubernetes-preserve-unknown-fields": True}),
        ("ownerID", {"type": "string"}),
    ],
)
def test_schemas_of_fields(field: str, schema: dict[str, Any]) -> None:
    assert schema_of(BoatSpec)["properties"][field] == schema


def test_fields_without_default_are_required() -> None:
    assert schema_of(BoatSpec)["required"] == ["length"]


def test_several_versions_are_one_crd() -> None:
    versions = crd_of(Boat, OldBoat)["spec"]["versions"]
    assert [(each["name"], each["storage"], each.get("deprecated")) for each in versions] == [
        ("v1", True, None),
        ("v1beta1", False, True),
    ]


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ((), "at least one"),
        ((Boat, Buoy), "not versions of one kind"),
        ((Boat, Boat), "the same version"),
        ((OldBoat,), "exactly one version must be stored, not 0"),
    ],
    ids=["none", "two kinds", "same version", "none stored"],
)
def test_classes_that_are_not_versions_of_one_kind(classes: tuple[type[Any], ...], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        crd_of(*classes)


class Node(msgspec.Struct):
    """A node."""

    below: "list[Node]" = msgspec.field(default_factory=list)


class Either(msgspec.Struct):
    """One or the other."""

    value: int | bool | None = None


class Keys(msgspec.Struct):
    """A map with integer keys."""

    value: dict[int, str] = msgspec.field(default_factory=dict)


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (Node, r"Node.below\[\]: Node contains itself"),
        (Either, "Either.value: a union"),
        (Keys, "Keys.value: the keys"),
    ],
)
def test_types_without_structural_schema_are_rejected(cls: type[Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        schema_of(cls)


@pytest.mark.parametrize("classes", [(Boat, OldBoat), (Buoy,)], ids=["boat", "buoy"])
async def test_the_server_accepts_the_crd_and_serves_the_kind(classes: tuple[type[Any], ...]) -> None:
    async with served() as api:
        crd = crd_of(*classes)
        created = await api.create(CRDS, crd)
        assert created["spec"]["versions"][0]["schema"] == crd["spec"]["versions"][0]["schema"]
        info = classes[0].__object_type__.info
        assert (await api.get(info.path("default"))).code == 200


def test_the_output_for_a_class_is_deterministic() -> None:
    @resource(group="g.example.com", version="v1")
    class Raft(CustomResource):
        """A raft."""

        planks: int = 3

    assert str(crd_of(Raft)) == str(crd_of(Raft))
