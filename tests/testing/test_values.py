"""Values of objects in a form in which runs can be compared."""

from typing import Any

import pytest

from sampan.storage.store import StoreEvent
from sampan.testing.explore.outcome import _plain_names
from sampan.testing.journal import JournalEntry
from sampan.testing.observations.values import lines_of, masked, without_uids

TRIGGER = {"endpoints.kubernetes.io/last-change-trigger-time": "2030-01-01T00:00:00Z"}


@pytest.mark.parametrize("annotations", [{}, {"note": "dry goods"}], ids=["alone", "beside another"])
def test_the_trigger_time_of_endpoints_is_no_difference(annotations: dict[str, str]) -> None:
    first = {"metadata": {"name": "web", "annotations": {**annotations, **TRIGGER}}}
    second = {"metadata": {"name": "web", **({"annotations": annotations} if annotations else {})}}
    assert list(lines_of("/registry/endpointslices/default/web", masked(first), masked(second))) == []


def test_another_annotation_is_a_difference() -> None:
    first: dict[str, object] = {"metadata": {"annotations": {"note": "dry goods"}}}
    second: dict[str, object] = {"metadata": {}}
    assert list(lines_of("/registry/x", masked(first), masked(second))) == ["x.metadata.annotations: missing"]


def test_a_uid_in_a_name_is_no_difference() -> None:
    first, second = ({"spec": {"volumeName": f"pvc-{number}0000000-0000-4000-8000-000000000000"}} for number in "12")
    assert list(lines_of("/registry/x", without_uids(first), without_uids(second))) == []
    assert list(lines_of("/registry/x", masked(first), masked(second))) != [], "in one run, a uid is an object"


def test_keys_with_a_uid_have_a_number_in_its_place() -> None:
    keys = [f"/registry/persistentvolumes/pvc-{number}0000000-0000-4000-8000-000000000000" for number in "12"]
    objects: dict[str, dict[str, Any]] = {key: {"metadata": {}} for key in keys}
    events = [StoreEvent(9 - place, key, b"{}", None) for place, key in enumerate(keys)]
    writes = [JournalEntry(0.0, event) for event in reversed(events)]
    names = _plain_names(objects, writes)
    assert [names[key] for key in keys] == [f"/registry/persistentvolumes/pvc-#{n}" for n in (2, 1)]
