"""`sampan create api`."""

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from sampan.project.errors import ProjectError
from sampan.project.fields import parse_field, parse_fields
from sampan.project.names import BUILT_IN, module_of
from sampan.registry.builtins import Builtins
from sampan.resource.crd import crd_of
from sampan.resource.validation import KindValidator
from sampan.wire import yaml
from tests.project.conftest import Sampan, tree

FIELDS = ("length:int>0", "home:str=Wuhan!", "mode:enum(slow,fast)", "note:str?", "crew:list(str)", "tags:map(int)")


@pytest.fixture
def loaded(boats: Path, sampan: Sampan, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the module of a kind with many fields."""
    fields = [part for field in FIELDS for part in ("--field", field)]
    result = sampan("create", "api", "--kind", "Boat", *fields, folder=boats)
    assert result.exception is None
    monkeypatch.syspath_prepend(boats / "src")
    for name in [each for each in sys.modules if each.split(".")[0] == "boats"]:
        monkeypatch.delitem(sys.modules, name)
    return importlib.import_module("boats.boat.v1")


def without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


def test_fields_become_a_schema(loaded: Any) -> None:
    schema = crd_of(loaded.Boat)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    properties = {name: without(each, "description") for name, each in schema["properties"].items()}
    fixed = [{"rule": "self == oldSelf", "message": "field is immutable"}]
    assert properties == {
        "length": {"type": "integer", "format": "int64", "minimum": 1},
        "home": {"type": "string", "default": "Wuhan", "x-kubernetes-validations": fixed},
        "mode": {"type": "string", "enum": ["fast", "slow"]},
        "note": {"type": "string"},
        "crew": {"type": "array", "items": {"type": "string"}},
        "tags": {"type": "object", "additionalProperties": {"type": "integer", "format": "int64"}},
    }
    assert sorted(schema["required"]) == ["crew", "length", "mode", "tags"]
    assert all(each["description"] for each in schema["properties"].values())


def test_the_sample_is_valid(loaded: Any, boats: Path) -> None:
    sample = yaml.decode((boats / "samples/boat.yaml").read_bytes())
    assert KindValidator(loaded.Boat).faults(sample) == []


def test_the_second_run_prints_identical(boats: Path, sampan: Sampan) -> None:
    sampan("create", "api", "--kind", "Boat", folder=boats)
    before = tree(boats)
    lines = sampan("create", "api", "--kind", "Boat", folder=boats).output.splitlines()
    assert {line.split()[0] for line in lines} == {"identical"}
    assert tree(boats) == before


def test_a_new_kind_edits_no_file_that_exists(boats: Path, sampan: Sampan) -> None:
    before = tree(boats)
    sampan("create", "api", "--kind", "Boat", folder=boats)
    after = tree(boats)
    assert {path: after[path] for path in before} == before
    assert not any("+" + "sampan" in text or "scaffold:" in text for text in after.values())


def test_a_kind_that_exists_with_other_options_is_refused(boats: Path, sampan: Sampan) -> None:
    sampan("create", "api", "--kind", "Boat", folder=boats)
    before = tree(boats)
    result = sampan("create", "api", "--kind", "Boat", "--field", "a:int", folder=boats)
    assert "has api Boat already" in str(result.exception)
    assert tree(boats) == before


@pytest.mark.parametrize("kind", ["boat", "Bo-at", "Böat", "None", "True", "Column", "B" * 70, "2Boat"])
def test_a_name_that_is_no_kind_is_refused(boats: Path, sampan: Sampan, kind: str) -> None:
    before = tree(boats)
    assert "cannot be a kind" in str(sampan("create", "api", "--kind", kind, folder=boats).exception)
    assert tree(boats) == before


@pytest.mark.parametrize("version", ["1", "v0", "v1beta", "v1rc1", "V1"])
def test_a_version_of_another_form_is_refused(boats: Path, sampan: Sampan, version: str) -> None:
    result = sampan("create", "api", "--kind", "Boat", "--version", version, folder=boats)
    assert "cannot be an API version" in str(result.exception)


def test_the_list_of_resources_of_kubernetes_is_complete() -> None:
    assert {each.resource for each in Builtins().definitions} == BUILT_IN


def test_a_directory_outside_a_project_is_one_error(tmp_path: Path, sampan: Sampan) -> None:
    assert "is in no project" in str(sampan("create", "api", "--kind", "Boat").exception)
    (tmp_path / "pyproject.toml").write_text("[tool\n")
    assert "no valid TOML" in str(sampan("create", "api", "--kind", "Boat").exception)
    assert len(tree(tmp_path)) == 1


@pytest.mark.parametrize(
    "text",
    ["length", "length:", ":int", "length:integer", "a-b:int", "a:int>", "a:int>x", "a:int>1.5", "a:bool>1", "a:int=x",
     "a:int>5=3", "a:str<=2=abc", "a:enum()", "a:enum(x,x)", "a:enum(x)=y", "a:list(list)", "a:list(int)=1", "a:int?=1",
     "a:bool=yes", "a:int>5<3", "a:str'=x", 'a:str=a"b'],
)  # fmt: skip
def test_a_field_that_is_not_in_the_short_form_is_refused(text: str) -> None:
    with pytest.raises(ProjectError, match="--field"):
        parse_field(text)


def test_two_fields_of_one_name_are_refused() -> None:
    with pytest.raises(ProjectError, match="two fields aB"):
        parse_fields(["aB:int", "a_b:str"])


@pytest.mark.parametrize(
    ("text", "type", "default"),
    [
        ("a:int>=1<=9", "Annotated[int, schema_part(minimum=1, maximum=9)]", ""),
        ("a:int<9", "Annotated[int, schema_part(maximum=8)]", ""),
        ("a:float>0", "Annotated[float, schema_part(minimum=0.0, exclusiveMinimum=True)]", ""),
        ("a:str<=63=x", "Annotated[str, schema_part(maxLength=63)]", "'x'"),
        ("a:int=0", "Annotated[int, schema_part(default=0)]", "0"),
        ("a:bool=true", "bool", "True"),
        ("a:quantity", "Quantity", ""),
        ("a:int?", "int | None", "None"),
    ],
)
def test_the_short_form_as_a_type(text: str, type: str, default: str) -> None:
    field = parse_field(text)
    assert (field.type, field.default) == (type, default)


def test_other_words_after_create_are_for_kubectl(sampan: Sampan) -> None:
    result = sampan("create", "deployment", "web")
    assert "To create objects: kubectl create" in str(result.exception)


def test_a_kind_hides_no_module_of_the_project(boats: Path, sampan: Sampan) -> None:
    sampan("create", "api", "--kind", "Boat", folder=boats)
    sampan("create", "webhook", "--kind", "Boat", folder=boats)
    parts = {each.stem for each in (boats / "src/boats").iterdir() if each.suffix != ".typed"} - {"boat"}
    tests = [each.stem.removeprefix("test_") for each in (boats / "tests").glob("test_*.py")]
    parts |= {each for each in tests if "boat" not in each}
    for part in sorted(each for each in parts if each.isalpha()):
        assert module_of(part.capitalize()) != part


def test_no_two_columns_have_one_heading(boats: Path, sampan: Sampan) -> None:
    fields = [part for name in ("name", "ready", "age", "length") for part in ("--field", f"{name}:str")]
    sampan("create", "api", "--kind", "Boat", *fields, folder=boats)
    headings = re.findall(r'Column\("(\w+)"', (boats / "src/boats/boat/v1.py").read_text())
    assert headings == ["Length", "Ready", "Age"]
