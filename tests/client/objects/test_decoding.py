"""Objects that their type cannot take."""

import asyncio
import gc

import pytest

from sampan.client import Client, ListOptions, ResourceClient, Undecodable, Undecoded, guarded
from sampan.client.objects.decoding import SLICE_SIZE, decoded_all
from sampan.resource import CustomResource, object_type, resource
from tests.client.scripted_transport import ScriptedTransport, body, event, lines, list_body, reply
from tests.unreadable import DEEP, NO_TEXT


@resource(group="example.com", version="v1")
class Shirt(CustomResource):
    """A shirt."""

    size: int


GOOD, BAD = body("good", 1, size=3), body("bad", 2, size="large")


def shirts(*responses: bytes) -> ResourceClient[Shirt]:
    return Client(ScriptedTransport([reply(each) for each in responses])).resource(Shirt)


def guarded_shirts(*responses: bytes) -> ResourceClient[Shirt | Undecoded]:
    return Client(ScriptedTransport([reply(each) for each in responses])).resource(guarded(object_type(Shirt)))


async def test_the_error_reports_which_object_it_is() -> None:
    with pytest.raises(
        Undecodable, match=r"cannot decode shirts\.example\.com 'default/bad': Expected `int`"
    ) as raised:
        await shirts(list_body(GOOD, BAD)).list()
    assert raised.value.body == BAD


BROKEN = [b'{"metadata":{"name":' + NO_TEXT + b"}}", b'{"x":' + DEEP + b"}"]


@pytest.mark.parametrize("broken", BROKEN, ids=["no text", "deep"])
async def test_a_body_that_is_not_json_is_undecodable(broken: bytes) -> None:
    with pytest.raises(Undecodable, match=r"cannot decode shirts\.example\.com ''"):
        await shirts(broken).get("bad")
    assert isinstance(guarded(object_type(Shirt)).decode(broken), Undecoded)
    with pytest.raises(Undecodable, match="cannot decode response to delete"):
        await shirts(broken).delete("bad")


async def test_guarded_one_bad_object_does_not_fail_a_list() -> None:
    good, bad = (await guarded_shirts(list_body(GOOD, BAD)).list()).items
    assert isinstance(good, Shirt)
    assert isinstance(bad, Undecoded)
    assert (bad.metadata.namespace, bad.metadata.name, bad.body) == ("default", "bad", BAD)
    assert "Expected `int`" in bad.error


async def test_guarded_one_bad_object_does_not_end_a_watch() -> None:
    events = lines(event("ADDED", "a", 1, size="x"), event("ADDED", "b", 2, size=1))
    found = [each.object async for each in guarded_shirts(events).watch(ListOptions())]
    assert [isinstance(each, Undecoded) for each in found] == [True, False]


async def test_an_object_that_could_not_be_decoded_is_not_written() -> None:
    [bad] = (await guarded_shirts(list_body(BAD)).list()).items
    with pytest.raises(ValueError, match="cannot write 'bad'"):
        await guarded_shirts().update(bad)


async def test_garbage_is_undecodable_too() -> None:
    with pytest.raises(Undecodable, match="shirts"):
        await shirts(b"<html>").get("a")


async def test_a_long_list_lets_other_tasks_have_their_turn() -> None:
    iterations = 0

    async def other() -> None:
        nonlocal iterations
        while True:
            iterations += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    found = await decoded_all(object_type(Shirt), [body("a", 1, size=1, note="x" * 1000)] * 2000)
    task.cancel()
    assert len(found) == 2000
    assert iterations >= 2000 * 1000 // SLICE_SIZE


@pytest.mark.parametrize("count", [0, 1, 400, 1000])
async def test_a_long_list_is_decoded_in_order_whatever_its_slices(count: int) -> None:
    found = await decoded_all(object_type(Shirt), [body("a", 1, size=n, note="x" * 1000) for n in range(count)])
    assert [each.size for each in found] == list(range(count))


async def test_the_cycle_collector_is_left_as_it_was() -> None:
    with pytest.raises(Undecodable):
        await decoded_all(object_type(Shirt), [BAD])
    assert gc.isenabled()
    gc.disable()
    try:
        await decoded_all(object_type(Shirt), [GOOD])
        assert not gc.isenabled()
    finally:
        gc.enable()
