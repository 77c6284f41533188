"""Built-in definitions: complete, loaded lazily, and published as in kube-apiserver."""

from pathlib import Path

import pytest

from sampan.core.gvk import GroupVersionKind
from sampan.schema.builtin import Definitions
from sampan.schema.structural import UNSET, ListType, MapType

CORE = "io.k8s.api.core.v1"
EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"


@pytest.fixture(scope="module")
def definitions() -> Definitions:
    return Definitions()


def test_every_definition_can_be_built(definitions: Definitions) -> None:
    names = definitions.names()
    assert len(names) > 700
    assert all(definitions.schema(name).name == name for name in names)


def test_missing_packed_file_gives_an_error_that_explains_the_build(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"creates it when the package is installed .*schemas\.bin"):
        Definitions(tmp_path / "schemas.bin")


def test_kind_has_its_schema(definitions: Definitions) -> None:
    schema = definitions.schema_for_kind(GroupVersionKind("apps", "v1", "Deployment"))
    assert schema is definitions.schema("io.k8s.api.apps.v1.Deployment")


def test_unknown_kind_has_no_schema(definitions: Definitions) -> None:
    assert definitions.schema_for_kind(GroupVersionKind("example.com", "v1", "Boat")) is None


def test_references_to_a_type_share_one_node(definitions: Definitions) -> None:
    spec = definitions.schema(f"{CORE}.PodSpec")
    containers, init = spec.properties["containers"], spec.properties["initContainers"]
    assert containers.items is init.items is definitions.schema(f"{CORE}.Container")


def test_types_may_be_recursive(definitions: Definitions) -> None:
    schema = definitions.schema(f"{EXTENSIONS}.JSONSchemaProps")
    assert schema.properties["not"] is schema


def test_lists_keep_their_merge_keys(definitions: Definitions) -> None:
    ports = definitions.schema(f"{CORE}.Container").properties["ports"]
    assert ports.list_type is ListType.MAP
    assert ports.list_map_keys == ("containerPort", "protocol")
    assert (ports.patch_strategy, ports.patch_merge_key) == (("merge",), "containerPort")


def test_reference_may_have_its_own_patch_settings(definitions: Definitions) -> None:
    strategy = definitions.schema("io.k8s.api.apps.v1.DeploymentSpec").properties["strategy"]
    target = definitions.schema("io.k8s.api.apps.v1.DeploymentStrategy")
    assert strategy.patch_strategy == ("retainKeys",)
    assert target.patch_strategy == ()
    assert strategy.properties is target.properties


def test_selectors_are_atomic_maps(definitions: Definitions) -> None:
    assert definitions.schema(f"{CORE}.NodeSelector").map_type is MapType.ATOMIC


@pytest.mark.parametrize(
    ("name", "scalar"),
    [
        ("io.k8s.apimachinery.pkg.api.resource.Quantity", "quantity"),
        ("io.k8s.apimachinery.pkg.util.intstr.IntOrString", "int-or-string"),
        ("io.k8s.apimachinery.pkg.apis.meta.v1.Time", "time"),
        ("io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime", "micro-time"),
        ("io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", "fields-v1"),
        ("io.k8s.apimachinery.pkg.runtime.RawExtension", "raw"),
        (f"{EXTENSIONS}.JSONSchemaPropsOrBool", "json-schema-or"),
    ],
)
def test_scalars_are_named(definitions: Definitions, name: str, scalar: str) -> None:
    assert definitions.schema(name).scalar == scalar


def test_secret_data_is_bytes(definitions: Definitions) -> None:
    data = definitions.schema(f"{CORE}.Secret").properties["data"].additional_properties
    assert not isinstance(data, bool)
    assert data is not None
    assert data.scalar == "bytes"


def test_defaults_other_than_zero_values_are_kept(definitions: Definitions) -> None:
    port = definitions.schema(f"{CORE}.ContainerPort")
    assert port.properties["protocol"].default == "TCP"
    assert port.properties["name"].default is UNSET


def test_go_declarations_distinguish_pointers_from_values(definitions: Definitions) -> None:
    fields = definitions.schema(f"{CORE}.PodSpec").fields
    assert fields["priority"] == "po int32"
    assert fields["containers"] == " []v1.Container"


def test_descriptions_are_loaded_separately(definitions: Definitions) -> None:
    assert definitions.description(f"{CORE}.Pod").startswith("Pod is a collection of containers")
    assert definitions.description(f"{CORE}.Pod", "spec").startswith("Specification of the desired behavior")
    definitions.forget_descriptions()
    assert definitions.description(f"{CORE}.Pod", "nothing") == ""


def test_openapi_v3_wraps_references_with_siblings(definitions: Definitions) -> None:
    raw = definitions.raw(f"{CORE}.Container")
    resources = raw["properties"]["resources"]
    assert resources["allOf"] == [{"$ref": f"#/components/schemas/{CORE}.ResourceRequirements"}]
    assert resources["default"] == {}
    assert raw["properties"]["name"]["default"] == ""
    assert raw["required"] == ["name"]


def test_openapi_v2_has_plain_references_and_no_defaults(definitions: Definitions) -> None:
    raw = definitions.raw(f"{CORE}.Container", version=2)
    assert raw["properties"]["resources"]["$ref"] == f"#/definitions/{CORE}.ResourceRequirements"
    assert "default" not in raw["properties"]["name"]
    quantity = definitions.raw("io.k8s.apimachinery.pkg.api.resource.Quantity", version=2)
    assert quantity["type"] == "string"


def test_internal_keys_are_not_published(definitions: Definitions) -> None:
    for name in definitions.names():
        assert "x-go" not in str(definitions.raw(name)), name


def test_api_version_and_kind_are_not_restricted(definitions: Definitions) -> None:
    pod = definitions.raw(f"{CORE}.Pod")["properties"]
    assert "enum" not in pod["kind"]
    assert pod["kind"]["type"] == "string"
