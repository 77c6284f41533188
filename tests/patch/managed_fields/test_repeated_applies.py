"""An apply that changed nothing is recognised when it is repeated."""

from typing import Any

import orjson

from sampan.core.object import Object
from sampan.patch.atoms.by_text import ByText
from sampan.patch.managed_fields.field_manager import FieldManager
from sampan.schema.structural import Schema
from tests.patch.schemas import INTEGER, METADATA, STRING, struct

NOW = "2030-01-01T00:00:00Z"
ROOT = struct(apiVersion=STRING, kind=STRING, metadata=METADATA, spec=struct(replicas=INTEGER, image=STRING))


class Counting:
    """A field manager, and how often it has looked at a schema."""

    def __init__(self) -> None:
        self.schemas = 0
        self._manager = FieldManager(schema_for=self._schema_for, convert=lambda obj, version: obj)

    def _schema_for(self, version: str) -> Schema:
        self.schemas += 1
        return ROOT

    def apply(self, live: Object | None, manager: str = "a", **spec: Any) -> Object:
        config = {"apiVersion": "v1", "kind": "T", "metadata": {"name": "t"}, "spec": spec}
        return self._manager.apply(live, config, manager=manager, api_version="v1", now=NOW, text=orjson.dumps(config))

    def computes(self, live: Object, manager: str = "a", **spec: Any) -> bool:
        """Report whether an apply is computed."""
        before = self.schemas
        self.apply(live, manager, **spec)
        return self.schemas > before


def stored(applied: Object, revision: str) -> Object:
    return {**applied, "metadata": {**applied["metadata"], "uid": "u", "resourceVersion": revision}}


def known() -> tuple[Counting, Object]:
    """A manager that has seen that an apply changes nothing; the live object."""
    manager = Counting()
    live = stored(manager.apply(None, replicas=1), "5")
    manager.apply(live, replicas=1)
    return manager, live


def test_a_repeated_apply_that_changed_nothing_is_not_computed_again() -> None:
    manager, live = known()
    assert not manager.computes(live, replicas=1)


def test_its_result_is_a_private_copy_of_the_live_object() -> None:
    manager, live = known()
    again = manager.apply(live, replicas=1)
    assert again == live
    again["spec"]["replicas"] = 9
    assert live["spec"]["replicas"] == 1


def test_an_apply_to_another_revision_is_computed() -> None:
    manager, live = known()
    assert manager.computes(stored(live, "6"), replicas=1)


def test_another_configuration_or_manager_is_computed() -> None:
    manager, live = known()
    assert manager.computes(live, replicas=1, image="b")
    assert manager.computes(live, "b", replicas=1)


def test_an_apply_that_changes_something_is_computed_each_time() -> None:
    manager, live = known()
    assert manager.apply(live, replicas=2)["spec"] == {"replicas": 2}
    assert manager.apply(live, replicas=2)["spec"] == {"replicas": 2}


def test_results_by_text_are_computed_once_for_equal_values_but_not_for_another_type() -> None:
    computed: list[Any] = []
    known: ByText[int] = ByText()
    for value in ([1], [1], [True], [1.0]):
        known.of(value, lambda each: computed.append(each) or len(computed))  # type: ignore[func-returns-value]
    assert computed == [[1], [True], [1.0]]


def test_results_of_large_values_are_not_cached() -> None:
    known: ByText[int] = ByText()
    assert known.text("x" * 10_000) == b""
    known.put(b"", 1)
    assert known.get(b"") is None
