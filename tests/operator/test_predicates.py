"""Events that pass a predicate."""

from typing import Any

import pytest

from sampan.informer.ref import Ref
from sampan.operator.predicates import (
    AnnotationChanged,
    FieldChanged,
    GenerationChanged,
    LabelChanged,
    Predicate,
    PredicateFuncs,
    ResourceVersionChanged,
    and_,
    label_selector,
    matching,
    not_,
    or_,
)
from tests.operator.refs import ref

CHANGED = [GenerationChanged(), ResourceVersionChanged(), LabelChanged(), AnnotationChanged(), FieldChanged("spec.x")]
BEFORE = ref(generation=1, labels={"a": "1"}, annotations={"b": "1"}, spec={"x": 1, "y": {"z": 1}})
SAME = ref(version=2, generation=1, labels={"a": "1"}, annotations={"b": "1"}, spec={"x": 1, "y": {"z": 1}})
NOTHING: Predicate[Any] = PredicateFuncs(lambda _: False, lambda _, __: False, lambda _: False)
EVERYTHING: Predicate[Any] = Predicate()


def outcome(predicate: Predicate[Any]) -> tuple[bool, bool, bool]:
    """Return for a create, an update and a delete if it passes."""
    return predicate.create(BEFORE), predicate.update(BEFORE, SAME), predicate.delete(BEFORE)


def name_of(value: object) -> str | None:
    return None if isinstance(value, Ref) else type(value).__name__


@pytest.mark.parametrize("predicate", CHANGED, ids=name_of)
def test_resyncs_do_not_pass(predicate: Predicate[Any]) -> None:
    assert not predicate.update(BEFORE, BEFORE)


@pytest.mark.parametrize("predicate", CHANGED, ids=name_of)
def test_creates_and_deletes_pass(predicate: Predicate[Any]) -> None:
    assert predicate.create(BEFORE)
    assert predicate.delete(BEFORE)


@pytest.mark.parametrize("predicate", CHANGED, ids=name_of)
def test_an_object_made_again_passes(predicate: Predicate[Any]) -> None:
    recreated = ref(uid="u2", version=2, generation=1, labels={"a": "1"}, annotations={"b": "1"}, spec={"x": 1})
    assert predicate.update(BEFORE, recreated)


@pytest.mark.parametrize(
    ("predicate", "after", "passes"),
    [
        (GenerationChanged(), SAME, False),
        (GenerationChanged(), ref(version=2, generation=2), True),
        (ResourceVersionChanged(), SAME, True),
        (LabelChanged(), SAME, False),
        (LabelChanged(), ref(version=2, labels={"a": "2"}), True),
        (AnnotationChanged(), SAME, False),
        (AnnotationChanged(), ref(version=2, annotations={}), True),
    ],
    ids=name_of,
)
def test_an_update_passes_if_that_has_changed(predicate: Predicate[Any], after: Ref[Any], passes: bool) -> None:
    assert predicate.update(BEFORE, after) is passes


@pytest.mark.parametrize(
    ("paths", "spec", "passes"),
    [
        (["spec.x"], {"x": 1, "y": {"z": 2}}, False),
        (["spec.x"], {"x": 2, "y": {"z": 1}}, True),
        (["spec.y.z"], {"x": 1, "y": {"z": 2}}, True),
        (["spec.y.z"], {"x": 1}, True),
        (["spec.y.z"], {"x": 1, "y": None}, True),
        (["spec.none"], {"x": 9}, False),
        (["spec.none", "spec.x"], {"x": 9}, True),
        ([("metadata", "annotations", "a.b/c")], {}, False),
    ],
)
def test_an_update_passes_if_a_named_field_has_changed(paths: list[Any], spec: Any, passes: bool) -> None:
    assert FieldChanged(*paths).update(BEFORE, ref(version=2, generation=2, spec=spec)) is passes


def test_a_leading_dot_of_a_path_has_no_meaning() -> None:
    before, after = (ref(version=version, generation=version, spec={"x": version}) for version in (1, 2))
    assert FieldChanged(".spec.x").update(before, after)
    assert not FieldChanged(".spec.y").update(before, after)


@pytest.mark.parametrize("path", ["", ".", "spec..x", "spec.", ()])
def test_a_path_without_a_key_is_refused(path: str | tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="is no path of a field"):
        FieldChanged(path)


def test_a_path_may_name_keys_with_dots() -> None:
    before, after = (ref(version=number, annotations={"a.b/c": str(number)}) for number in (1, 2))
    assert FieldChanged(("metadata", "annotations", "a.b/c")).update(before, after)


def test_a_field_that_changes_only_its_type_has_changed() -> None:
    before, after = (ref(version=n, generation=n, spec={"x": value}) for n, value in ((1, True), (2, 1)))
    assert FieldChanged("spec.x").update(before, after)


def test_a_selector_passes_what_is_or_was_selected() -> None:
    predicate = label_selector("a in (1,2)")
    other = ref(version=2, labels={"a": "3"})
    assert predicate.create(BEFORE)
    assert not predicate.create(other)
    assert predicate.update(BEFORE, other)
    assert predicate.update(other, BEFORE)
    assert not predicate.update(other, other)
    assert not predicate.delete(other)


def test_an_invalid_selector_is_refused() -> None:
    with pytest.raises(ValueError, match="found"):
        label_selector("a in")


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (and_(EVERYTHING, NOTHING), (False, False, False)),
        (and_(EVERYTHING, GenerationChanged()), (True, False, True)),
        (or_(NOTHING, ResourceVersionChanged()), (True, True, True)),
        (or_(NOTHING, NOTHING), (False, False, False)),
        (not_(NOTHING), (True, True, True)),
        (not_(GenerationChanged()), (False, True, False)),
        (GenerationChanged() | LabelChanged() & ~NOTHING, (True, False, True)),
        (matching(lambda ref: ref.name == "b"), (False, False, False)),
        (PredicateFuncs(on_update=lambda old, new: False), (True, False, True)),
    ],
)
def test_predicates_combine(predicate: Predicate[Any], expected: tuple[bool, bool, bool]) -> None:
    assert outcome(predicate) == expected
