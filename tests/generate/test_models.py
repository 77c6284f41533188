"""Tests of `sampan generate models`."""

import asyncio
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from sampan.generate.declared import declared_in
from sampan.generate.emit import docstring
from sampan.generate.files import write
from sampan.generate.models import ModelError, crd_model_files, openapi_model_files
from sampan.generate.names import camel_case, singular, snake_case
from sampan.resource import ObjectMeta, declaration, object_type
from sampan.resource.crd import crd_of
from tests.client.connected import connected
from tests.resource.kinds import Boat, BoatSpec, Buoy, OldBoat
from tests.server.custom_resources import CRDS


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _without_order(value: Any) -> Any:
    """`required` is a set."""
    if isinstance(value, dict):
        return {
            key: sorted(v) if key == "required" and isinstance(v, list) else _without_order(v)
            for key, v in value.items()
        }
    return [_without_order(item) for item in value] if isinstance(value, list) else value


WILD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "wilds.models.example.com"},
    "spec": {
        "group": "models.example.com",
        "names": {"kind": "Wild", "plural": "wilds", "singular": "wild", "listKind": "WildList"},
        "scope": "Cluster",
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "apiVersion": {"type": "string"},
                            "kind": {"type": "string"},
                            "metadata": {"type": "object"},
                            "int": {"type": "integer", "format": "int64"},
                            "from": {"type": "string", "pattern": "(?<bad", "description": 'Says "where" \\ from.'},
                            "podCIDRs": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                            "small": {"type": "integer", "format": "int32", "maximum": 5, "default": 0},
                            "share": {"type": "number", "format": "double", "exclusiveMinimum": True, "minimum": 0},
                            "data": {"type": "string", "format": "byte"},
                            "on": {"type": "boolean", "default": True},
                            "when": {"type": "string", "format": "date-time"},
                            "port": {"x-kubernetes-int-or-string": True},
                            "any": {"x-kubernetes-preserve-unknown-fields": True},
                            "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                            "limits": {"type": "object", "additionalProperties": {"x-kubernetes-int-or-string": True}},
                            "mode": {"type": "string", "enum": ["A", "B"], "default": "A"},
                            "policies": {
                                "type": "array",
                                "items": {
                                    "type": "object",
                                    "required": ["name"],
                                    "properties": {
                                        "name": {"type": "string"},
                                        "inner": {
                                            "type": "object",
                                            "properties": {"x-y": {"type": "string"}, "1st": {"type": "string"}},
                                        },
                                    },
                                },
                            },
                            "either": {
                                "type": "object",
                                "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
                                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                            },
                            "tags": {"type": "array", "items": {"type": "string"}, "default": ["x"]},
                        },
                    }
                },
            }
        ],
    },
}


@pytest.mark.parametrize(
    ("crd", "classes"),
    [
        (crd_of(Boat, OldBoat), [("harbour_v1", "Boat"), ("harbour_v1beta1", "Boat")]),
        (crd_of(Buoy), [("harbour_v1", "Buoy")]),
        (WILD, [("models_v1alpha1", "Wild")]),
    ],
    ids=["boat", "buoy", "wild"],
)
def test_the_crd_of_a_model_equals_its_source(
    crd: dict[str, Any], classes: list[tuple[str, str]], tmp_path: Path
) -> None:
    write(crd_model_files([crd], tmp_path))
    models = [getattr(_load(tmp_path / f"{module}.py"), name) for module, name in classes]
    assert _without_order(crd_of(*models)) == _without_order(crd)


async def test_the_server_accepts_the_wild_crd() -> None:
    """The CRD above is valid."""
    async with connected() as (_, api):
        valid = msgspec.json.decode(msgspec.json.encode(WILD))
        del valid["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["from"]["pattern"]
        await api.create(CRDS, valid)


def test_stored_objects_that_violate_a_rule_can_be_read(tmp_path: Path) -> None:
    write(crd_model_files([WILD], tmp_path))
    wild = _load(tmp_path / "models_v1alpha1.py").Wild
    assert object_type(wild).decode(b'{"small": 99, "from": "x"}').small == 99


async def test_the_kinds_of_a_server(tmp_path: Path) -> None:
    async with connected() as (client, api):
        for group_version in ("apps/v1", "apiextensions.k8s.io/v1", "v1"):
            root = "apis" if "/" in group_version else "api"
            document = (await api.get(f"/openapi/v3/{root}/{group_version}")).body
            discovered = await client.mapper.discovered()
            resources = next(found for each, found in discovered.versions.items() if str(each) == group_version)
            write(openapi_model_files(document, resources, tmp_path))
        deployment = _load(tmp_path / "apps_v1.py").Deployment
        info = declaration(deployment).info
        assert (info.gvr.resource, info.short_names, info.namespaced) == ("deployments", ("deploy",), True)
        made = await client.resource(deployment).create(_deployment(deployment))
        assert made.metadata.uid
        assert made.spec.template.spec.containers[0].image == "i"
        namespaces = await client.resource(_load(tmp_path / "core_v1.py").Namespace).list()
        assert "default" in [each.metadata.name for each in namespaces]
        definitions = _load(tmp_path / "apiextensions_v1.py").CustomResourceDefinition
        await api.create(CRDS, crd_of(Boat))
        [found] = await client.resource(definitions).list()
        assert found.spec.names.kind == "Boat"
    checked = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "apps_v1.py", "apiextensions_v1.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout


def _sparse(schema: Any, definitions: Any, value: Any, depth: int) -> Any:
    """Return an object of a schema with this value in every field, down to a depth; `...` omits it."""
    reference = schema.get("$ref") or next((each.get("$ref") for each in schema.get("allOf") or []), "")
    schema = definitions[reference.rpartition("/")[2]] if reference else schema
    if not schema.get("properties"):
        return [] if schema.get("type") == "array" else value
    fields = {
        name: _sparse(inside, definitions, value, depth - 1) if depth else value
        for name, inside in schema["properties"].items()
    }
    return {name: field for name, field in fields.items() if field is not ...}


@pytest.mark.timeout(600)
async def test_the_models_of_all_kinds_read_what_go_writes(tmp_path: Path) -> None:
    """Empty lists and times as null, and required fields that are missing, at every depth."""
    kinds = 0
    async with connected() as (client, api):
        discovered = await client.mapper.discovered()
        for group_version, resources in discovered.versions.items():
            root = "apis" if group_version.group else "api"
            document = (await api.get(f"/openapi/v3/{root}/{group_version}")).body
            files = openapi_model_files(document, resources, tmp_path)
            write(files)
            [module] = [_load(path) for path in files]
            definitions = document["components"]["schemas"]
            for cls in declared_in(module):
                info = declaration(cls).info
                names = [{"group": info.gvr.group, "kind": info.kind, "version": info.gvr.version}]
                found = (each for each in definitions.values() if each.get("x-kubernetes-group-version-kind") == names)
                schema = next(found)
                for value in (None, ...):
                    for depth in range(4):
                        sparse = _sparse(schema, definitions, value, depth) | {"metadata": {"name": "a"}}
                        assert object_type(cls).decode(msgspec.json.encode(sparse)).metadata.name == "a"
                for obj in await client.resource(cls, namespace="").list() if "list" in info.verbs else ():
                    assert obj.metadata.uid
                kinds += 1
    assert kinds > 60


def test_models_read_values_outside_of_an_enumeration(tmp_path: Path) -> None:
    write(crd_model_files([crd_of(Boat)], tmp_path))
    boat = _load(tmp_path / "harbour_v1.py").Boat
    assert object_type(boat).decode(b'{"spec":{"length":3,"mode":"Sideways"}}').spec.mode == "Sideways"


def test_groups_with_equal_short_names_have_separate_models(tmp_path: Path) -> None:
    other = crd_of(Boat)
    other["spec"]["group"] = "harbour.example.org"
    other["metadata"]["name"] = "boats.harbour.example.org"
    assert [path.name for path in crd_model_files([crd_of(Boat), other], tmp_path)] == [
        "harbour_example_com_v1.py",
        "harbour_example_org_v1.py",
    ]


async def test_an_update_of_a_model_keeps_unknown_fields(tmp_path: Path) -> None:
    """The server was upgraded after the model was generated."""
    old = crd_of(Boat)
    version = old["spec"]["versions"][0]
    version.pop("additionalPrinterColumns")
    version["schema"]["openAPIV3Schema"].pop("x-kubernetes-validations")
    for name in ("cargo", "speed"):
        del version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"][name]
    write(crd_model_files([old], tmp_path))
    cls = _load(tmp_path / "harbour_v1.py").Boat
    async with connected() as (client, api):
        await api.create(CRDS, crd_of(Boat))
        spec = BoatSpec(length=3, cargo={"rice": 2}, speed="5%")
        await client.resource(Boat).create(Boat(metadata=ObjectMeta(name="a"), spec=spec))
        boats = client.resource(cls)
        boat = await boats.get("a")
        boat.spec.length = 4
        boat = await boats.update(boat)
        found = await client.resource(Boat).get("a")
    assert (found.spec.length, found.spec.cargo, found.spec.speed) == (4, {"rice": 2}, "5%")


def _deployment(cls: Any) -> Any:
    labels = {"app": "a"}
    spec = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    }
    made = object_type(cls).decode(msgspec.json.encode({"spec": spec}))
    made.metadata = ObjectMeta(name="a", namespace="default")
    return made


def test_the_output_for_a_crd_is_deterministic(tmp_path: Path) -> None:
    assert crd_model_files([WILD], tmp_path) == crd_model_files([WILD], tmp_path)


@pytest.mark.parametrize(
    ("manifests", "message"),
    [
        ([], "no CustomResourceDefinition in the manifests"),
        ([{**WILD, "apiVersion": "apiextensions.k8s.io/v1beta1"}], "only apiextensions.k8s.io/v1 is supported"),
    ],
    ids=["none", "old"],
)
def test_unusable_manifests_are_rejected(manifests: list[dict[str, Any]], message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=message):
        crd_model_files(manifests, tmp_path)


@pytest.mark.parametrize(
    ("name", "snake"),
    [
        ("podCIDRs", "pod_cidrs"),
        ("networkID", "network_id"),
        ("from", "from_"),
        ("int", "int_"),
        ("x-y", "x_y"),
        ("1st", "field_1st"),
        ("apiVersion", "api_version"),
        ("HTTPGet", "http_get"),
    ],
)
def test_names_in_python(name: str, snake: str) -> None:
    assert snake_case(name) == snake


@pytest.mark.parametrize("name", ["spec", "match_labels", "pod_ips", "a_b_c", "from_", "field_1st"])
def test_names_in_json_equal_those_of_msgspec(name: str) -> None:
    made = msgspec.defstruct("Made", [(name, int, 0)], rename="camel")
    assert msgspec.structs.fields(made)[0].encode_name == camel_case(name)


@pytest.mark.parametrize(
    ("several", "one"),
    [("conditions", "condition"), ("policies", "policy"), ("addresses", "address"), ("status", "statu")],
)
def test_names_of_items(several: str, one: str) -> None:
    assert singular(several) == one


def test_docstrings_hold_quotes_backslashes_and_long_lines() -> None:
    text = 'Says """x""" \\ and "y"'
    space: dict[str, Any] = {}
    exec(f"class A:\n{docstring(text, '    ')}\n", space)
    assert space["A"].__doc__.strip() == text
