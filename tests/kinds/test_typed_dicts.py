"""The modules of `sampan.kinds`: each type is that of the sources, and the client takes the classes of kinds."""

import ast
import typing
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("hatchling")

from scripts.kinds import files, typed_dicts
from scripts.kinds.sources import Sources

from sampan.kinds import apps_v1, core_v1, meta_v1, networking_v1
from sampan.resource import ResourceInfo, object_type
from sampan.testing import Cluster
from tests.kinds.excerpt import unpack


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return typed(unpack(tmp_path_factory.mktemp("kubernetes")))


def typed(sources: Sources) -> dict[str, bytes]:
    return {name: text for name, text in files.generate(sources).items() if name.startswith(typed_dicts.FOLDER)}


def fields_of(text: bytes) -> dict[str, dict[str, str]]:
    """Return the types of fields by class."""
    classes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    return {
        each.name: {
            ast.unparse(field.target): ast.unparse(field.annotation)
            for field in each.body
            if isinstance(field, ast.AnnAssign)
        }
        for each in classes
    }


def test_types_of_the_excerpt_equal_the_packaged_ones(made: dict[str, bytes]) -> None:
    assert "class ContainerPort" in made[f"{typed_dicts.FOLDER}/core_v1.py"].decode()
    for name, text in made.items():
        known = fields_of((files.ROOT / name).read_bytes())
        assert {each: fields for each, fields in fields_of(text).items() if fields != known.get(each)} == {}, name


def test_no_module_of_the_package_lacks_its_sources() -> None:
    modules = [path.name for path in (files.ROOT / typed_dicts.FOLDER).glob("*.py")]
    first_lines = [(files.ROOT / typed_dicts.FOLDER / name).read_text().splitlines()[0] for name in modules]
    assert [name for name, line in zip(modules, first_lines, strict=True) if "`make kinds`" not in line] == [
        "__init__.py"
    ]


@pytest.mark.parametrize(
    ("cls", "field", "required"),
    [
        (apps_v1.Deployment, "apiVersion", True),
        (apps_v1.Deployment, "spec", True),
        (apps_v1.Deployment, "status", False),
        (apps_v1.ReplicaSet, "status", False),
        (core_v1.Namespace, "spec", False),
        (core_v1.PersistentVolumeClaim, "kind", False),
        (core_v1.Container, "name", True),
        (core_v1.PodTemplateSpec, "metadata", False),
    ],
)
def test_a_field_is_required_if_no_object_can_be_without_it(cls: type, field: str, required: bool) -> None:
    hints = typing.get_type_hints(cls, include_extras=True)
    assert (typing.get_origin(hints[field]) is typing.Required) is required


def test_names_that_are_no_identifiers_are_fields() -> None:
    assert list(typing.get_type_hints(networking_v1.NetworkPolicyIngressRule)) == ["from", "ports"]


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('"hostIP": {"type": "string"},', '"hostIP": {"type": "string"}, "quay": {"type": "boolean"},', "quay: bool"),
        ('"required": ["key"]', '"required": ["key", "name"]', "name: Required[str]"),
    ],
    ids=["new", "required now"],
)
def test_a_changed_field_changes_the_type(old: str, new: str, field: str, tmp_path: Path) -> None:
    text = typed(unpack(tmp_path, (old, new)))[f"{typed_dicts.FOLDER}/core_v1.py"].decode()
    assert f"    {field}\n" in text


def test_a_type_of_a_beta_version_has_no_module(tmp_path: Path) -> None:
    changes = ("io.k8s.api.coordination.v1.Lease", "io.k8s.api.coordination.v1beta1.Lease")
    assert f"{typed_dicts.FOLDER}/coordination_v1.py" in typed(unpack(tmp_path / "stable"))
    assert not [name for name in typed(unpack(tmp_path / "beta", changes)) if "coordination" in name]


def test_the_class_of_a_kind_is_the_kind_of_its_resource() -> None:
    info = object_type(core_v1.Node).info
    assert (info.gvr.resource, info.kind, info.namespaced) == ("nodes", "Node", False)


@pytest.mark.parametrize("cls", [core_v1.PodSpec, meta_v1.ObjectMeta, core_v1.PodList])
def test_a_class_without_a_resource_is_no_kind(cls: type) -> None:
    with pytest.raises(TypeError):
        object_type(cls)


async def test_the_client_reads_and_writes_dicts_of_a_class(cluster: Cluster) -> None:
    config_maps = cluster.client().resource(core_v1.ConfigMap, namespace="default")
    made: core_v1.ConfigMap = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "tides"},
        "data": {"high": "6"},
    }
    await config_maps.create(made)
    assert (await config_maps.get("tides"))["data"] == {"high": "6"}


def test_msgspec_decodes_and_checks_a_class() -> None:
    port = msgspec.json.decode(b'{"containerPort":80}', type=core_v1.ContainerPort)
    assert port == {"containerPort": 80}
    with pytest.raises(msgspec.ValidationError, match="containerPort"):
        msgspec.json.decode(b"{}", type=core_v1.ContainerPort)


def test_an_unknown_module_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="apps_v0"):
        exec("from sampan.kinds import apps_v0")


def test_a_resource_keeps_its_plain_form() -> None:
    assert type(object_type(core_v1.Pod).info) is ResourceInfo
