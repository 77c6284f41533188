"""Work that grows with the product of schema and object is bounded."""

from typing import Any

import pytest

from sampan.core.errors import StatusError
from sampan.core.field import Path
from sampan.schema import work
from sampan.schema.compile import SchemaCompiler
from sampan.schema.definition.openapi import parse
from sampan.schema.definition.structural_validation import validate_structural

Json = dict[str, Any]
MAP_LIST = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}


def spec_of(node: Json) -> Json:
    return {"type": "object", "properties": {"spec": node}}


def validate(node: Json, value: Any, **old: Any) -> list[str]:
    compiled = SchemaCompiler().compile(parse(spec_of(node)))
    return [str(error) for error in compiled.validate({"spec": value}, **old)]


def cube(word: str, pattern: str) -> Json:
    """Return a schema of 8,000 patterns for each value."""
    return {"type": "string", word: [{word: [{word: [{"pattern": pattern}] * 20}] * 20}] * 20}


def items(node: Json, **more: Any) -> Json:
    return {"type": "array", "items": node, **more}


@pytest.mark.parametrize("pattern", ["^a*$", "^b*$"], ids=["valid", "invalid"])
@pytest.mark.parametrize("word", ["allOf", "anyOf", "oneOf"])
def test_many_alternatives_for_many_items_are_refused(word: str, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "STEPS_MAX", 200_000)
    schema = items(cube(word, pattern))
    if word == "anyOf" and pattern == "^a*$":
        assert not validate(schema, ["a"] * 500)  # the first alternative is valid: few steps
        return
    with pytest.raises(StatusError, match="takes more than 200000 steps") as refused:
        validate(schema, ["a"] * 500)
    assert refused.value.code == 413


def test_branches_over_a_large_list_are_refused() -> None:
    branch = {"items": {"maxLength": 5}}
    with pytest.raises(StatusError, match="takes more than 2000000 steps"):
        validate(items({"type": "string"}, allOf=[branch] * 5000), ["a"] * 5000)


def test_branches_over_an_object_of_many_fields_are_refused() -> None:
    node = {"type": "object", "additionalProperties": {"type": "string"}}
    branch = {"properties": {"a": {"maxLength": 5}}}
    with pytest.raises(StatusError, match="steps"):
        validate({**node, "allOf": [branch] * 5000}, {f"k{number}": "" for number in range(5000)})


def test_an_enum_of_many_booleans_is_refused() -> None:
    with pytest.raises(StatusError, match="steps"):
        validate(items({"type": "boolean", "enum": [*[False] * 5000, True]}), [True] * 5000)


def test_a_few_alternatives_for_many_items_are_accepted() -> None:
    node = {"type": "string", "oneOf": [{"pattern": "^a"}, {"pattern": "^b"}, {"pattern": "^c"}]}
    assert not validate(items(node), ["a"] * 100_000)


def test_the_largest_list_is_accepted() -> None:
    assert not validate(items({"type": "integer", "maximum": 5}), [1] * 700_000)


def test_a_default_with_many_alternatives_is_refused() -> None:
    node = items(cube("allOf", "^a*$"), default=["a"] * 5000)
    with pytest.raises(StatusError, match="steps"):
        validate_structural(spec_of(node), Path("schema"))


def test_an_update_of_a_large_map_list_compares_each_item_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "STEPS_MAX", 500_000)
    item = {"type": "object", "properties": {"k": {"type": "string"}, "n": {"type": "integer", "maximum": 1}}}
    node = items({**item, "required": ["k"]}, **MAP_LIST)
    old = [{"k": str(number), "n": 2} for number in range(10_000)]
    new = [*old[:-1], {"k": "9999", "n": 3}]
    assert len(validate(node, new, old={"spec": old})) == 1
