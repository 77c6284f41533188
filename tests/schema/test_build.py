"""Build hook: removes changes that the source made to the types, and adds the missing Go declarations."""

import importlib.metadata
from pathlib import Path

import pytest

pytest.importorskip("hatchling")

import hatch_build

from sampan.schema.builtin import DATA


def test_null_types_and_added_enums_are_removed() -> None:
    node = {"type": ["object", "null"], "properties": {"kind": {"type": ["string", "null"], "enum": ["Pod"]}}}
    assert hatch_build._schema(node) == {"type": "object", "properties": {"kind": {"type": "string"}}}


def test_property_may_have_the_name_of_a_keyword() -> None:
    node = {"properties": {"enum": {"type": "array", "items": {"$ref": "#/$defs/a.B"}}}}
    assert hatch_build._schema(node) == {"properties": {"enum": {"type": "array", "items": {"$ref": "a.B"}}}}


@pytest.mark.parametrize(
    ("node", "fact", "zero"),
    [
        ({"type": "string"}, " string", ""),
        ({"type": "integer"}, " int32", 0),
        ({"type": "boolean"}, " bool", False),
        ({"type": "string"}, "o string", None),
        ({"type": "string"}, "p string", None),
        ({"type": "array"}, " []string", None),
        ({"$ref": "struct"}, "o v1.Struct", {}),
        ({"$ref": "struct"}, "po v1.Struct", None),
        ({"$ref": "scalar"}, "o v1.Time", None),
    ],
    ids=str,
)
def test_go_declarations_determine_the_published_zero_defaults(node: dict[str, str], fact: str, zero: object) -> None:
    struct: hatch_build.Json = {"type": "object", "properties": {}}
    definitions = {"struct": struct, "scalar": {"type": "string"}}
    assert hatch_build.zero(node, fact, definitions) == zero


def test_packed_file_equals_the_output_of_the_build(tmp_path: Path) -> None:
    try:
        importlib.metadata.distribution("kubernetes-validate")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("kubernetes-validate is needed to build the definitions")
    data = tmp_path / "src/sampan/registry/data"
    data.mkdir(parents=True)
    for name in ("fields.json", "defaults.json"):
        (data / name).write_bytes((DATA.parent / name).read_bytes())
    version_file = tmp_path / hatch_build.VERSION_FILE
    version_file.parent.mkdir()
    version_file.write_bytes((Path(hatch_build.__file__).parent / hatch_build.VERSION_FILE).read_bytes())
    hatch_build.build(tmp_path)
    assert (tmp_path / hatch_build.TARGET).read_bytes() == DATA.read_bytes()
