"""Which list bodies are kept."""

from sampan.server.verbs.bodies import ENTRY_BYTES, ListBodies, ListTail


def test_many_small_lists_are_kept_no_more_than_there_is_room_for_what_each_takes() -> None:
    bodies = ListBodies(10 * (ENTRY_BYTES + 2))
    for number in range(1000):
        bodies.put(number, ListTail(1, b"[]", "", more=False, remaining=None))
    assert [number for number in range(1000) if bodies.get(number, 1, 0.0)] == list(range(990, 1000))
