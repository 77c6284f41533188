"""List bodies that are kept."""

from sampan.server.verbs.representations.bodies import ENTRY_BYTES, KEPT_S, ListBodies, ListTail


def test_small_lists_are_cached_within_the_limit_of_memory() -> None:
    bodies = ListBodies(10 * (ENTRY_BYTES + 2))
    for number in range(1000):
        bodies.put(number, ListTail(1, b"[]", "", more=False, remaining=None), 0.0)
    assert [number for number in range(1000) if bodies.get(number, 1, 0.0)] == list(range(990, 1000))


def test_a_list_that_no_client_requests_any_more_is_dropped() -> None:
    bodies = ListBodies()
    for number in range(100):
        bodies.put(number, ListTail(1, b"[]", "", more=False, remaining=None), 0.0)
    assert bodies.get(7, 1, KEPT_S)
    bodies.forget_unused(KEPT_S + 1)
    assert [key for key in range(100) if bodies.get(key, 1, KEPT_S + 1)] == [7]
