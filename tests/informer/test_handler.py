"""Handlers made of functions, and handlers of selected objects."""

import pytest

from sampan.informer import DeletedFinalStateUnknown, EventHandlerFuncs, FilteringEventHandler, Ref
from sampan.resource import Object
from tests.informer.refs import ref
from tests.informer.server import Recorder


def is_red(obj: Ref[Object]) -> bool:
    return obj.labels.get("colour") == "red"


RED, OTHER_RED = ref("a", 1, labels={"colour": "red"}), ref("a", 2, labels={"colour": "red"})
BLUE, OTHER_BLUE = ref("a", 3), ref("a", 4)


@pytest.mark.parametrize(
    ("old", "new", "notifications"),
    [
        (RED, OTHER_RED, ["add ns/a@1", "update ns/a@1>2"]),
        (BLUE, RED, ["add ns/a@1"]),
        (RED, BLUE, ["add ns/a@1", "delete ns/a@1"]),
        (BLUE, OTHER_BLUE, []),
    ],
    ids=["stays", "comes", "goes", "never"],
)
def test_an_update_is_reported_as_what_it_means_for_the_filter(
    old: Ref[Object], new: Ref[Object], notifications: list[str]
) -> None:
    recorder = Recorder()
    handler = FilteringEventHandler(is_red, recorder)
    handler.on_add(old, False)
    handler.on_update(old, new)
    assert recorder.notifications == notifications


def test_deletions_are_reported_by_the_last_known_state() -> None:
    recorder = Recorder()
    handler = FilteringEventHandler(is_red, recorder)
    handler.on_add(RED, True)
    handler.on_delete(DeletedFinalStateUnknown(RED.key, RED))
    handler.on_delete(BLUE)
    assert recorder.notifications == ["add! ns/a@1", "lost ns/a@1"]


def test_functions_that_are_not_given_are_not_called() -> None:
    handler: EventHandlerFuncs[Object] = EventHandlerFuncs()
    assert handler.on_add(RED, True) is handler.on_update(RED, BLUE) is handler.on_delete(BLUE) is None


def test_each_function_is_called_for_its_events() -> None:
    notifications: list[str] = []
    handler: EventHandlerFuncs[Object] = EventHandlerFuncs(
        add=lambda obj: notifications.append(f"add {obj.name}"),
        update=lambda old, new: notifications.append(f"update {new.resource_version}"),
        delete=lambda obj: notifications.append(f"delete {obj.key}"),
    )
    handler.on_add(RED, True)
    handler.on_update(RED, OTHER_RED)
    handler.on_delete(BLUE)
    assert notifications == ["add a", "update 2", "delete ns/a"]
