"""Builders: the smallest object of each kind, which a server accepts."""

from typing import Any

import pytest

from sampan.client import WriteOptions
from sampan.core.gvk import GroupVersionResource
from sampan.resource import ResourceInfo
from sampan.testing import Cluster
from sampan.testing.generated import NotGenerated, UnknownKind, build_object
from sampan.testing.servers.logical_server import template
from tests.resource.kinds import Boat
from tests.testing.generated.crds import CRDS, crd, fields

SERVED = [
    (definition, version)
    for definition in template().parts.builtins
    if "create" in definition.verbs and definition.resource != "bindings"
    for version in definition.versions.values()
    if version.served
]


def name_of(part: Any) -> str:
    return getattr(part, "resource", None) or str(part.name)


@pytest.mark.parametrize(("definition", "version"), SERVED, ids=name_of)
async def test_a_server_accepts_the_built_object_of_each_kind(cluster: Cluster, definition: Any, version: Any) -> None:
    info = ResourceInfo(
        GroupVersionResource(definition.group, version.name, definition.resource),
        definition.kind,
        namespaced=definition.namespaced,
    )
    built = build_object({"apiVersion": version.api_version_of(definition.group), "kind": definition.kind})
    await cluster.admin().resource(info).create(built, WriteOptions(dry_run=True))


def test_there_are_many_kinds() -> None:
    assert len(SERVED) > 50


async def test_fields_are_merged_with_the_built_object(cluster: Cluster) -> None:
    web = cluster.build("deploy", "web", spec={"replicas": 3}, metadata={"labels": {"team": "a"}})
    (created,) = await cluster.create(web)
    assert (created["spec"]["replicas"], created["metadata"]["labels"]) == (3, {"team": "a"})
    assert created["spec"]["selector"] == {"matchLabels": {"app": "web"}}


def test_none_removes_a_field() -> None:
    assert "selector" not in build_object("Service", spec={"selector": None})["spec"]


async def test_a_declared_class_gives_an_object_of_it(cluster: Cluster) -> None:
    await cluster.crds(Boat)
    boat = cluster.build(Boat, "ada", spec={"length": 7})
    await cluster.apply(boat)
    assert (await cluster.get(Boat, "ada")).spec.length == boat.spec.length == 7


async def test_a_kind_of_the_cluster_is_built_by_its_name(cluster: Cluster) -> None:
    await cluster.crds(CRDS["lists"])
    await cluster.create(cluster.build("things", "one"))
    assert (await cluster.get("things/one"))["spec"]["ports"]


def test_a_plain_test_builds_too(cluster: Cluster) -> None:
    assert cluster.blocking.build("cm", "box")["metadata"]["name"] == "box"


@pytest.mark.parametrize("kind", ["ships", "ships.example.com", "componentstatuses"])
def test_an_unknown_kind_is_an_error_with_its_name(kind: str) -> None:
    with pytest.raises(UnknownKind, match=f"'{kind}' is no kind that can be created"):
        build_object(kind)


def test_a_kind_without_any_valid_object_is_an_error_with_the_fault() -> None:
    impossible = fields("a", a={"type": "string", "maxLength": 1, "minLength": 2})
    impossible["x-kubernetes-validations"] = [{"rule": "false", "message": "never"}]
    made = crd(impossible)
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["required"] = ["spec"]
    with pytest.raises(NotGenerated, match="Thing: found no valid object: "):
        build_object(made)
