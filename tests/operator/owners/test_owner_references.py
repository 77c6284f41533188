"""Owners of an object."""

from typing import Any

import pytest

from sampan.operator.owners.references import (
    AlreadyOwned,
    DisallowedOwner,
    controller_of,
    has_owner_reference,
    is_controlled_by,
    remove_owner_reference,
    set_controller_reference,
    set_owner_reference,
)
from sampan.resource import CustomResource, Object, ObjectMeta, resource


@resource(group="net.example.com", version="v1")
class Router(CustomResource):
    """A declared kind."""


def obj(name: str = "o", *, namespace: str = "default", uid: str = "u", api_version: str = "v1") -> Object:
    metadata = {"name": name, "namespace": namespace, "uid": uid}
    return {
        "apiVersion": api_version,
        "kind": "ConfigMap",
        "metadata": {key: value for key, value in metadata.items() if value},
    }


def router(name: str = "r", **metadata: Any) -> Router:
    return Router(metadata=ObjectMeta(name=name, namespace="default", uid="ru", **metadata))


def test_the_controller_is_written_as_kubernetes_does() -> None:
    controlled = obj("child")
    set_controller_reference(router(), controlled)
    assert controlled["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "net.example.com/v1",
            "kind": "Router",
            "name": "r",
            "uid": "ru",
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def test_a_declared_object_may_be_owned() -> None:
    owned = router("child")
    set_controller_reference(obj("owner"), owned, block_owner_deletion=False)
    [reference] = owned.metadata.owner_references
    assert (reference.kind, reference.controller, reference.block_owner_deletion) == ("ConfigMap", True, False)


def test_a_second_controller_is_refused() -> None:
    controlled = obj("child")
    set_controller_reference(router("first"), controlled)
    with pytest.raises(
        AlreadyOwned, match="default/child is already owned by another Router controller first"
    ) as error:
        set_controller_reference(router("second"), controlled)
    assert error.value.owner.name == "first"


def test_the_same_controller_may_be_set_again_with_a_new_uid_and_version() -> None:
    controlled = obj("child")
    set_controller_reference(obj("owner", uid="1", api_version="g/v1"), controlled)
    set_controller_reference(obj("owner", uid="2", api_version="g/v2"), controlled)
    reference = controller_of(controlled)
    assert reference is not None
    assert (reference.uid, reference.api_version) == ("2", "g/v2")
    assert len(controlled["metadata"]["ownerReferences"]) == 1


def test_there_may_be_many_owners_and_one_controller() -> None:
    controlled = obj("child")
    for name in ("a", "b"):
        set_owner_reference(obj(name), controlled)
    set_controller_reference(router(), controlled)
    assert [each["name"] for each in controlled["metadata"]["ownerReferences"]] == ["a", "b", "r"]
    assert is_controlled_by(controlled, router())
    assert not is_controlled_by(controlled, obj("a"))


@pytest.mark.parametrize(
    ("owner_namespace", "namespace", "message"),
    [
        ("one", "two", "cross-namespace owner references are disallowed, owner's namespace one, obj's namespace two"),
        ("one", "", "has no metadata.namespace, its owner is in namespace 'one': set the namespace before the owner"),
    ],
)
def test_an_owner_of_a_namespace_owns_only_there(owner_namespace: str, namespace: str, message: str) -> None:
    with pytest.raises(DisallowedOwner, match=message):
        set_controller_reference(obj(namespace=owner_namespace), obj("child", namespace=namespace))


def test_an_owner_of_the_cluster_owns_everywhere() -> None:
    controlled = obj("child", namespace="any")
    set_owner_reference(obj("owner", namespace=""), controlled)
    assert has_owner_reference(obj("owner", namespace=""), controlled)


def test_an_owner_that_was_never_read_from_the_server_is_refused() -> None:
    with pytest.raises(DisallowedOwner, match="has no uid"):
        set_controller_reference(obj(uid=""), obj("child"))


def test_an_owner_that_reports_no_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="has no apiVersion and kind"):
        set_owner_reference({"metadata": {"name": "x", "uid": "u"}}, obj("child"))


def test_an_owner_can_be_removed() -> None:
    owned = obj("child")
    set_owner_reference(router(), owned)
    assert remove_owner_reference(router(), owned)
    assert not remove_owner_reference(router(), owned)
    assert "ownerReferences" not in owned["metadata"]
    assert controller_of(owned) is None
