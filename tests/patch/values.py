"""Hypothesis strategies: JSON values, field sets, and objects of the test schema."""

from typing import Any

from hypothesis import strategies as st

from sampan.patch.field_sets.fieldset import FieldSet, parse

NAMES = st.sampled_from(["a", "b", "c", "d"])
SCALARS = st.one_of(st.booleans(), st.integers(-3, 3), st.sampled_from(["", "x", "y"]))

json_values: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)
json_objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(NAMES, json_values, max_size=4)

_ELEMENTS = st.sampled_from(["f:a", "f:b", "f:c", 'k:{"name":"x"}', 'k:{"name":"y"}', 'v:"s"', "v:1"])
_raw_sets: st.SearchStrategy[Any] = st.recursive(
    st.just({}),
    lambda inner: st.builds(
        lambda children, member: {**({".": {}} if member and children else {}), **children},
        st.dictionaries(_ELEMENTS, inner, max_size=3),
        st.booleans(),
    ),
    max_leaves=10,
)
field_sets: st.SearchStrategy[FieldSet] = _raw_sets.map(parse)


def _keyed(key: str, **rest: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    item = st.fixed_dictionaries({key: NAMES}, optional=rest)
    return st.lists(item, max_size=3, unique_by=lambda found: found[key])


_containers = _keyed(
    "name",
    image=NAMES,
    args=st.lists(NAMES, max_size=2),
    env=_keyed("name", value=NAMES),
)
_specs = st.fixed_dictionaries(
    {},
    optional={
        "replicas": st.integers(0, 3),
        "paused": st.booleans(),
        "containers": _containers,
        "tolerations": st.lists(st.fixed_dictionaries({"key": NAMES}), max_size=2),
        "selector": st.dictionaries(NAMES, NAMES, max_size=2),
        "strategy": st.fixed_dictionaries(
            {}, optional={"type": NAMES, "maxSurge": st.one_of(NAMES, st.integers(0, 2))}
        ),
        "rollback": st.fixed_dictionaries({"revision": st.integers(0, 2)}),
        "raw": json_objects,
    },
)
_metadata = st.fixed_dictionaries(
    {"name": st.just("app")},
    optional={
        "labels": st.dictionaries(NAMES, NAMES, max_size=3),
        "finalizers": st.lists(NAMES, max_size=3, unique=True),
    },
)
apps: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"apiVersion": st.just("example.io/v1"), "kind": st.just("App"), "metadata": _metadata},
    optional={"spec": _specs},
)


def without_empties(value: Any) -> Any:
    """Remove empty maps and lists. An emptied list has no owner, and an empty map has one only until it is filled."""
    if isinstance(value, dict):
        retained = {key: without_empties(item) for key, item in value.items()}
        return {key: item for key, item in retained.items() if item not in ({}, [])}
    return [without_empties(item) for item in value] if isinstance(value, list) else value
