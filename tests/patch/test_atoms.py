"""Compare, merge, remove and own values by schema. Spec rows E21, E22, E28.

The scenarios are those of structured-merge-diff typed/*_test.go.
"""

from typing import Any

import orjson
import pytest
from hypothesis import given

from sampan.core.json.values import same_by_number
from sampan.patch.atoms.atom import Atom, ElementError
from sampan.patch.atoms.atom_schema import atom_of, root_atom
from sampan.patch.copying import copy_json
from sampan.patch.field_sets.fieldset import LEAF, FieldSet, leaves, parse, paths
from sampan.schema.structural import MapType, Schema
from tests.patch.schemas import (
    APP,
    BOOLEAN,
    INTEGER,
    PORT,
    STRING,
    atomic_map_of,
    keyed_list_of,
    list_of,
    map_of,
    set_of,
    struct,
)
from tests.patch.values import apps, json_objects, without_empties

BAG = struct(
    text=STRING,
    number=INTEGER,
    flag=BOOLEAN,
    set=set_of(STRING),
    numbers=set_of(INTEGER),
    flags=set_of(BOOLEAN),
    args=list_of(STRING),
    labels=map_of(STRING),
    color=atomic_map_of(INTEGER),
    inner=struct(value=STRING),
    keyed=keyed_list_of(struct(key=STRING, id=INTEGER, value=map_of(STRING), n=INTEGER), "key", "id"),
    any=Schema(),
    nodes=Schema(type="object"),
)
ATOM = atom_of(BAG)


def item(key: str, id_: int, **more: Any) -> dict[str, Any]:
    return {"key": key, "id": id_, **more}


def element(key: str, id_: int) -> str:
    return f'k:{{"id":{id_},"key":"{key}"}}'


def sets(change: tuple[FieldSet | None, FieldSet | None]) -> tuple[FieldSet, FieldSet]:
    return change[0] or {}, change[1] or {}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({"text": "a", "number": 0}, {"f:number": {}, "f:text": {}}, id="scalars"),
        pytest.param({"set": ["b", "a", "a"]}, {"f:set": {'v:"a"': {}, 'v:"b"': {}}}, id="set with a duplicate"),
        pytest.param({"flags": [True, False]}, {"f:flags": {"v:false": {}, "v:true": {}}}, id="set of booleans"),
        pytest.param({"numbers": [10, 9]}, {"f:numbers": {"v:9": {}, "v:10": {}}}, id="set of numbers"),
        pytest.param({"set": []}, {}, id="an empty set is not owned"),
        pytest.param({"keyed": []}, {}, id="an empty keyed list is not owned"),
        pytest.param({"args": []}, {"f:args": {}}, id="an empty atomic list is owned"),
        pytest.param({"args": ["x"]}, {"f:args": {}}, id="atomic list"),
        pytest.param({"color": {"r": 1}}, {"f:color": {}}, id="atomic map"),
        pytest.param({"color": {}}, {"f:color": {}}, id="empty atomic map"),
        pytest.param({"labels": {"a": "b"}}, {"f:labels": {"f:a": {}}}, id="map"),
        pytest.param({"labels": {}}, {"f:labels": {}}, id="empty map"),
        pytest.param({"inner": {}}, {"f:inner": {}}, id="empty struct"),
        pytest.param({"text": None, "set": None}, {"f:set": {}, "f:text": {}}, id="nulls"),
        pytest.param(
            {"keyed": [item("a", 1, value={"x": "y"})]},
            {"f:keyed": {element("a", 1): {".": {}, "f:id": {}, "f:key": {}, "f:value": {"f:x": {}}}}},
            id="keyed item",
        ),
        pytest.param(
            {"keyed": [item("a", 1, n=1), item("a", 1, n=2)]},
            {"f:keyed": {element("a", 1): {}}},
            id="items of one key are owned together",
        ),
        pytest.param({"any": {"a": {"b": 1}}}, {"f:any": {"f:a": {".": {}, "f:b": {}}}}, id="deduced map"),
        pytest.param({"any": [{"a": 1}]}, {"f:any": {}}, id="deduced list"),
        pytest.param({"nodes": {"a": {}}}, {"f:nodes": {"f:a": {}}}, id="object without properties"),
    ],
)
def test_fields_of_a_value(value: Any, expected: FieldSet) -> None:
    assert orjson.dumps(ATOM.fields(value) or {}) == orjson.dumps(expected)


@pytest.mark.parametrize(
    ("old", "new", "changed", "removed"),
    [
        pytest.param({"text": "a"}, {"text": "a"}, {}, {}, id="same"),
        pytest.param({"text": "a"}, {"text": "b"}, {"f:text": {}}, {}, id="modified"),
        pytest.param({"text": "a"}, {"number": 1}, {"f:number": {}}, {"f:text": {}}, id="added and removed"),
        pytest.param({}, {"labels": {"a": "b"}}, {"f:labels": {".": {}, "f:a": {}}}, {}, id="added map"),
        pytest.param({"labels": {"a": "b"}}, {}, {}, {"f:labels": {".": {}, "f:a": {}}}, id="removed map"),
        pytest.param({"labels": {"a": "b"}}, {"labels": {}}, {}, {"f:labels": {"f:a": {}}}, id="emptied map"),
        pytest.param({"labels": {}}, {"labels": {"a": "b"}}, {"f:labels": {"f:a": {}}}, {}, id="filled map"),
        pytest.param({}, {"inner": {}}, {"f:inner": {}}, {}, id="empty struct appears"),
        pytest.param({}, {"inner": None}, {"f:inner": {}}, {}, id="null appears"),
        pytest.param({"inner": None}, {"inner": {}}, {"f:inner": {}}, {}, id="null becomes an empty struct"),
        pytest.param({"inner": {}}, {"inner": None}, {"f:inner": {}}, {}, id="empty struct becomes null"),
        pytest.param({"set": None}, {"set": []}, {"f:set": {}}, {}, id="null becomes an empty set"),
        pytest.param({"set": None}, {"set": ["a"]}, {"f:set": {'v:"a"': {}}}, {}, id="null becomes a set"),
        pytest.param(
            {"set": ["a", "b"]}, {"set": ["b", "c"]}, {"f:set": {'v:"c"': {}}}, {"f:set": {'v:"a"': {}}}, id="set"
        ),
        pytest.param({"set": ["a", "b"]}, {"set": ["b", "a"]}, {}, {}, id="order of a set does not matter"),
        pytest.param({"args": ["a", "b"]}, {"args": ["b", "a"]}, {"f:args": {}}, {}, id="order of an atomic list does"),
        pytest.param({"color": {"r": 1}}, {"color": {"r": 2}}, {"f:color": {}}, {}, id="atomic map"),
        pytest.param({"any": 1}, {"any": True}, {"f:any": {}}, {}, id="true is not 1"),
        pytest.param({"any": 1}, {"any": 1.0}, {}, {}, id="1.0 is 1"),
        pytest.param({"any": 1}, {"any": {"a": 1}}, {"f:any": {".": {}, "f:a": {}}}, {}, id="scalar becomes a map"),
        pytest.param({"any": {"a": 1}}, {"any": 1}, {"f:any": {}}, {"f:any": {"f:a": {}}}, id="map becomes a scalar"),
        pytest.param({"any": 1}, {"any": {}}, {"f:any": {}}, {}, id="scalar becomes an empty map"),
        pytest.param({"any": [1]}, {"any": {"a": 1}}, {"f:any": {".": {}, "f:a": {}}}, {}, id="list becomes a map"),
        pytest.param({"any": None}, {"any": {"a": 1}}, {"f:any": {"f:a": {}}}, {}, id="null becomes a map"),
        pytest.param({"any": {"a": 1}}, {"any": None}, {}, {"f:any": {"f:a": {}}}, id="map becomes null"),
        pytest.param({"any": None}, {"any": 1}, {"f:any": {}}, {}, id="null becomes a scalar"),
        pytest.param(
            {"keyed": [item("a", 1)]},
            {"keyed": [item("a", 1, n=1), item("b", 1)]},
            {"f:keyed": {element("a", 1): {"f:n": {}}, element("b", 1): {".": {}, "f:id": {}, "f:key": {}}}},
            {},
            id="keyed items",
        ),
        pytest.param(
            {"keyed": [item("a", 1)]},
            {"keyed": [item("a", 1), item("a", 1)]},
            {"f:keyed": {element("a", 1): {}}},
            {"f:keyed": {element("a", 1): {".": {}, "f:id": {}, "f:key": {}}}},
            id="an item is doubled",
        ),
        pytest.param(
            {"keyed": [item("a", 1), item("a", 1)]},
            {"keyed": [item("a", 1)]},
            {"f:keyed": {element("a", 1): {".": {}, "f:id": {}, "f:key": {}}}},
            {"f:keyed": {element("a", 1): {}}},
            id="a double goes",
        ),
        pytest.param(
            {"keyed": [item("a", 1), item("a", 1)]},
            {"keyed": [item("a", 1), item("a", 1, n=1)]},
            {"f:keyed": {element("a", 1): {}}},
            {},
            id="doubles are compared as one value",
        ),
        pytest.param(
            {"keyed": [item("a", 1), item("a", 1)]},
            {"keyed": [item("a", 1), item("a", 1)]},
            {},
            {},
            id="same doubles",
        ),
        pytest.param({"set": ["a", "a"]}, {}, {}, {"f:set": {".": {}, 'v:"a"': {}}}, id="a set with doubles goes"),
    ],
)
def test_compare(old: Any, new: Any, changed: FieldSet, removed: FieldSet) -> None:
    assert orjson.dumps(sets(ATOM.compare(old, new))) == orjson.dumps((changed, removed))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("abc", "ab", "abc"),
        ("ab", "abc", "abc"),
        ("abc", "", "abc"),
        ("", "abc", "abc"),
        ("ab", "ba", "ba"),
        ("abc", "def", "abcdef"),
        ("abc", "cdef", "abcdef"),
        ("abcgf", "cdef", "abcgdef"),
        ("cdef", "ace", "acdef"),
        ("abcxyz", "def", "abcxyzdef"),
        ("abcxyz", "defxyz", "abcdefxyz"),
        ("cagf", "cfag", "cfag"),
        ("abcd", "defa", "bcdefa"),
        ("cdefghij", "2h3e4kl", "cdfg2hij3e4kl"),
        ("abcdefghij", "1b2h3e4kl", "a1bcdfg2hij3e4kl"),
        ("abb", "c", "abbc"),
        ("abb", "b", "ab"),
        ("abb", "a", "abb"),
        ("abcdec", "1b2ed", "a1bc2ecd"),
        ("abcdec", "1b2ced", "a1b2ced"),
        ("aabb", "bcd", "aabcd"),
        ("aabb", "", "aabb"),
        ("cagfca", "cfag", "cfag"),
    ],
)
def test_merged_sets_keep_the_order_of_the_applied_one(old: str, new: str, expected: str) -> None:
    merged = ATOM.merge({"set": list(old)}, {"set": list(new)})
    assert "".join(merged["set"]) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param({"text": "a"}, {"flag": True}, {"text": "a", "flag": True}, id="fields add up"),
        pytest.param({"text": "a"}, {"text": None}, {"text": None}, id="null replaces a scalar"),
        pytest.param({"args": ["a"]}, {"args": None}, {"args": None}, id="null replaces an atomic list"),
        pytest.param({"args": ["a", "b"]}, {"args": []}, {"args": []}, id="atomic lists are replaced"),
        pytest.param({"set": ["a"]}, {"set": None}, {"set": ["a"]}, id="null leaves items of a set"),
        pytest.param(
            {"labels": {"a": "b"}}, {"labels": None}, {"labels": {"a": "b"}}, id="null leaves a map's entries"
        ),
        pytest.param({"inner": {}}, {"inner": None}, {"inner": None}, id="null replaces an empty struct"),
        pytest.param({"inner": None}, {"inner": {}}, {"inner": {}}, id="an empty struct replaces null"),
        pytest.param({"any": {"a": 1}}, {"any": {"b": 2}}, {"any": {"a": 1, "b": 2}}, id="deduced maps merge"),
        pytest.param({"any": {"a": 1}}, {"any": [1]}, {"any": [1]}, id="another type replaces"),
        pytest.param({"any": [1]}, {"any": {"a": 1}}, {"any": {"a": 1}}, id="a map replaces a list"),
        pytest.param({"color": {"r": 1}}, {"color": {"g": 1}}, {"color": {"g": 1}}, id="atomic maps are replaced"),
        pytest.param(
            {"keyed": [item("a", 1), item("b", 1)]},
            {"keyed": [item("a", 1, n=1), item("a", 2)]},
            {"keyed": [item("a", 1, n=1), item("b", 1), item("a", 2)]},
            id="keyed items merge",
        ),
        pytest.param(
            {"keyed": [item("a", 1, n=1), item("b", 2), item("a", 1, n=2)]},
            {"keyed": [item("a", 1, n=3), item("c", 3), item("b", 2)]},
            {"keyed": [item("a", 1, n=3), item("c", 3), item("b", 2)]},
            id="live doubles are replaced by the applied item",
        ),
    ],
)
def test_merge(old: Any, new: Any, expected: Any) -> None:
    assert ATOM.merge(copy_json(old), new) == expected


def test_duplicate_items_in_the_applied_list_cannot_be_merged() -> None:
    with pytest.raises(ElementError, match=r'duplicate entries for key \[="a"\]'):
        ATOM.merge({"set": ["b"]}, {"set": ["a", "a"]})


@pytest.mark.parametrize(
    ("value", "items", "expected"),
    [
        pytest.param({"text": "a", "number": 1}, {"f:text": {}}, {"number": 1}, id="field"),
        pytest.param({"labels": {"a": "b", "c": "d"}}, {"f:labels": {"f:a": {}}}, {"labels": {"c": "d"}}, id="entry"),
        pytest.param({"set": ["a", "b"]}, {"f:set": {'v:"a"': {}}}, {"set": ["b"]}, id="item of a set"),
        pytest.param(
            {"keyed": [item("a", 1), item("b", 1, n=2)]},
            {"f:keyed": {element("a", 1): {}, element("b", 1): {"f:n": {}}}},
            {"keyed": [item("b", 1)]},
            id="keyed item and field of one",
        ),
        pytest.param(
            {"labels": {"a": "b"}}, {"f:labels": {"f:a": {}}}, {"labels": {}}, id="last entry leaves an empty map"
        ),
        pytest.param(
            {"any": {"a": {"b": 1, "c": 2}}}, {"f:any": {"f:a": {"f:b": {}}}}, {"any": {"a": {"c": 2}}}, id="deduced"
        ),
    ],
)
def test_remove(value: Any, items: FieldSet, expected: Any) -> None:
    before = copy_json(value)
    assert ATOM.remove(value, items) == expected
    assert value == before


def test_named_fields_of_structs_become_members_but_not_entries_of_maps() -> None:
    fields: Any = {"f:inner": {"f:value": {}}, "f:any": {"f:a": {"f:b": {}}}, "f:keyed": {element("a", 1): {"f:n": {}}}}
    assert ATOM.named(fields) == {
        "f:inner": {".": {}, "f:value": {}},
        "f:any": {".": {}, "f:a": {"f:b": {}}},
        "f:keyed": {".": {}, element("a", 1): {"f:n": {}}},
    }


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"f:args": {'v:"a"': {}}, "f:text": {}}, {"f:args": {}, "f:text": {}}),
        ({"f:color": {".": {}, "f:r": {}}}, {"f:color": {}}),
        ({"f:keyed": {element("a", 1): {"f:n": {}}}}, {"f:keyed": {element("a", 1): {"f:n": {}}}}),
        ({"f:any": {"f:a": {"f:b": {}}}}, {"f:any": {"f:a": {"f:b": {}}}}),
    ],
)
def test_sets_written_before_something_became_atomic_are_adapted(fields: FieldSet, expected: FieldSet) -> None:
    assert ATOM.reconcile(fields) == expected


def test_reconcile_returns_a_set_that_fits_the_schema_unchanged() -> None:
    fields: Any = {"f:keyed": {element("a", 1): {"f:n": {}}}}
    assert ATOM.reconcile(fields) is fields


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([{"containerPort": 80}], 'k:{"containerPort":80,"protocol":"TCP"}'),
        ([{"containerPort": 80, "protocol": "UDP"}], 'k:{"containerPort":80,"protocol":"UDP"}'),
        ([{"name": "x"}], 'k:{"protocol":"TCP"}'),
    ],
)
def test_absent_key_fields_take_their_defaults(items: list[Any], expected: str) -> None:
    ports = struct(ports=keyed_list_of(PORT, "containerPort", "protocol"))
    assert list((atom_of(ports).fields({"ports": items}) or {})["f:ports"]) == [expected]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"keyed": [None]}, "associative list with keys may not have a null element"),
        ({"keyed": ["a"]}, "associative list with keys may not have non-map elements"),
        ({"keyed": [{}]}, 'associative list with keys has an element that omits all key fields ["key" "id"]'),
        ({"set": [None]}, "associative list without keys has an element that's an explicit null"),
        ({"set": [{}]}, "associative list without keys has an element that's a map type"),
        ({"set": [[]]}, "not supported: associative list with lists as elements"),
    ],
)
def test_items_without_identity_cannot_be_owned(value: Any, message: str) -> None:
    with pytest.raises(ElementError) as caught:
        ATOM.fields(value)
    assert str(caught.value).startswith(message)


def test_zero_value_that_go_writes_counts_as_present() -> None:
    atom = root_atom(APP)
    spec: Any = {"strategy": {"type": "x"}, "containers": [{"name": "a"}], "volumes": [{"name": "v"}]}
    spec["rollback"] = {"revision": 1}
    changed, removed = atom.compare({}, {"spec": spec})
    assert removed is None
    assert changed == {
        "f:spec": {
            "f:containers": {'k:{"name":"a"}': {".": {}, "f:name": {}}},
            "f:rollback": {".": {}, "f:revision": {}},
            "f:strategy": {"f:type": {}},
            "f:volumes": {".": {}, 'k:{"name":"v"}': {".": {}, "f:name": {}}},
        }
    }


def test_zero_values_stay_when_the_object_leaves_them_out() -> None:
    changed, removed = root_atom(APP).compare({"spec": {"strategy": {"type": "x"}}}, {})
    assert (changed, removed) == (None, {"f:spec": {"f:strategy": {"f:type": {}}}})


def test_metadata_of_custom_resources_is_known() -> None:
    atom = root_atom(Schema(type="object", properties={"spec": Schema(type="object", preserve_unknown_fields=True)}))
    owner = {"uid": "u", "name": "n"}
    fields = atom.fields({"metadata": {"finalizers": ["x"], "ownerReferences": [owner]}, "spec": {"a": [1]}})
    assert fields == {
        "f:metadata": {"f:finalizers": {'v:"x"': {}}, "f:ownerReferences": {'k:{"uid":"u"}': {}}},
        "f:spec": {"f:a": {}},
    }


def test_lists_without_list_type_are_atomic_unless_they_have_a_merge_strategy() -> None:
    plain = Schema(type="array", items=STRING)
    merging = Schema(type="array", items=STRING, patch_strategy=("merge",))
    atom = atom_of(struct(plain=plain, merging=merging))
    assert atom.fields({"plain": ["a"], "merging": ["a"]}) == {"f:merging": {'v:"a"': {}}, "f:plain": {}}


def test_recursive_schemas_are_walked_as_deep_as_the_value() -> None:
    node = struct(value=STRING)
    node.properties["child"] = node
    value: Any = {"value": "x"}
    for _ in range(5):
        value = {"child": value}
    assert len(list(paths(atom_of(node).fields(value) or {}))) == 1


def test_atomic_struct_is_owned_as_a_whole() -> None:
    schema = Schema(type="object", properties={"name": STRING}, map_type=MapType.ATOMIC)
    assert atom_of(struct(ref=schema)).fields({"ref": {"name": "x"}}) == {"f:ref": {}}


def leaf_paths(atom: Atom, value: Any) -> set[tuple[str, ...]]:
    return set(paths(leaves(atom.fields(value) or {})))


ROOT = root_atom(APP)


@given(apps)
def test_an_object_compared_with_itself_has_no_change(app: Any) -> None:
    assert ROOT.compare(app, copy_json(app)) == (None, None)


@given(apps, apps)
def test_compare_is_symmetric(old: Any, new: Any) -> None:
    changed, removed = sets(ROOT.compare(old, new))
    back_changed, back_removed = sets(ROOT.compare(new, old))
    assert set(paths(removed)) <= set(paths(back_changed))
    assert set(paths(back_removed)) <= set(paths(changed))


@given(apps)
def test_fields_of_an_object_cover_every_leaf(app: Any) -> None:
    fields = ROOT.fields(app) or LEAF
    rest = ROOT.remove(app, ROOT.named(fields))
    assert not leaf_paths(ROOT, rest)


@given(apps, apps)
def test_merged_object_contains_the_applied_value_and_no_other_change(app: Any, config: Any) -> None:
    app, config = without_empties(app), without_empties(config)
    merged = ROOT.merge(copy_json(app), config)
    assert leaf_paths(ROOT, config) <= set(paths(ROOT.fields(merged) or {}))
    changed, removed = sets(ROOT.compare(app, merged))
    assert set(paths(leaves(changed))) <= set(paths(ROOT.fields(config) or {}))
    assert all(path[:2] == ("f:spec", "f:raw") for path in paths(removed))


@given(apps, apps)
def test_merge_is_idempotent_and_does_not_change_the_applied_value(app: Any, config: Any) -> None:
    before = copy_json(config)
    once = ROOT.merge(copy_json(app), config)
    assert ROOT.merge(copy_json(once), config) == once
    assert config == before


@given(apps)
def test_merge_with_an_empty_object_returns_the_object(app: Any) -> None:
    assert ROOT.merge({}, app) == app
    assert ROOT.merge(copy_json(app), {}) == app


@given(apps, apps)
def test_computed_sets_are_canonical(old: Any, new: Any) -> None:
    for fields in (*sets(ROOT.compare(old, new)), ROOT.fields(new) or {}, ROOT.named(ROOT.fields(new) or {})):
        assert orjson.dumps(fields) == orjson.dumps(parse(fields))


@given(json_objects, json_objects)
def test_values_without_a_schema_differ_only_if_a_change_is_found(old: Any, new: Any) -> None:
    changed, removed = root_atom(None).compare(old, new)
    assert (changed is None and removed is None) == same_by_number(old, new)
