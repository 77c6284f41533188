"""Caches forget what no client uses: the encoded forms of objects that were requested once."""

from sampan.server.verbs.representations import messages
from sampan.server.verbs.representations.bodies import KEPT_S, ListTail
from sampan.server.verbs.representations.messages import MessageCache, MessageKey
from sampan.server.verbs.representations.tables import ROW_AGE_MAX_S, RowCache
from sampan.storage.records import Record
from tests.server.cluster import served

VALUE = b'{"a": 1}'


def key(number: int) -> MessageKey:
    name = str(number)
    return "v1 Pod", Record(f"/pods/a/{name}", "a", name, VALUE, number, number, {}, {}, "")


def test_a_used_message_stays_and_an_unused_one_is_forgotten() -> None:
    cache = MessageCache()
    used, unused = key(1), key(2)
    cache.put(used, b"used")
    cache.put(unused, b"unused")
    for turn in range(1, 5):
        cache.forget_unused(turn * messages.KEPT_S)
        assert cache.get(used) == b"used"
    assert cache.get(unused) is None


def test_both_generations_of_messages_count_for_the_limit() -> None:
    size = len(VALUE) + 1
    cache, keys = MessageCache(4 * size), [key(number) for number in range(5)]
    cache.put(keys[0], b"a")
    cache.put(keys[1], b"a")
    cache.forget_unused(messages.KEPT_S)
    assert cache.get(keys[0]) == b"a"
    for one in keys[2:]:
        cache.put(one, b"a")
    assert [number for number, one in enumerate(keys) if cache.get(one)] == [0, 2, 3, 4]


def test_rows_that_are_too_old_are_forgotten() -> None:
    cache = RowCache()
    cache.put(("", "a", 1, ""), 0.0, b"old")
    cache.put(("", "b", 1, ""), 1.0, b"new")
    cache.forget_unused(ROW_AGE_MAX_S)
    assert cache.get(("", "a", 1, ""), 0.0) is None
    assert cache.get(("", "b", 1, ""), 1.0) == b"new"


async def test_every_cache_of_a_server_forgets() -> None:
    async with served() as api:
        shared, message, row = api.server.shared, key(1), ("", "a", 1, "")
        shared.bodies.put("a", ListTail(1, b"[]", "", more=False, remaining=None), 0.0)
        shared.messages.put(message, b"a")
        shared.rows.put(row, 0.0, b"a")
        for turn in (1, 2):
            shared.forget_unused(turn * (KEPT_S + 1))
        assert shared.bodies.get("a", 1, 0.0) is None
        assert shared.messages.get(message) is None
        assert shared.rows.get(row, 0.0) is None
