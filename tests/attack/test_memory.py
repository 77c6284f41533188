"""Refused requests leave no memory that only a look at all objects would free."""

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.attack.memory import Refused, refused_requests
from tests.server.cluster import Api, served

SIZE_BYTES = 300_000
LARGE_BYTES = 9_000


def large_values(garbage: list[object]) -> list[object]:
    """Return the large values that unreachable objects keep."""
    found: dict[int, object] = {}
    for holder in garbage:
        for value in [holder, *gc.get_referents(holder)]:
            if isinstance(value, bytes | str | list | dict) and len(value) >= LARGE_BYTES:
                found[id(value)] = value
    return list(found.values())


@contextmanager
def collected_by_hand() -> Iterator[list[object]]:
    """Keep unreachable objects in a list, which is filled by `gc.collect()`."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield gc.garbage
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


async def send(api: Api, request: Refused) -> int:
    headers = {name.lower().replace("-", "_"): value.format(1) for name, value in request.headers.items()}
    if request.token is not None:
        headers["authorization"] = f"Bearer {request.token}" if request.token else ""
    reply = await api.fetch(
        request.method, request.target.replace("{}", "1"), request.body, content_type=request.content_type, **headers
    )
    return reply.code


@pytest.mark.parametrize("request_", refused_requests(SIZE_BYTES), ids=lambda request: request.name)
async def test_a_refused_request_leaves_nothing_that_keeps_its_body(request_: Refused) -> None:
    async with served() as api:
        await send(api, request_)  # fills caches
        with collected_by_hand() as garbage:
            await send(api, request_)
            await asyncio.sleep(0)
            gc.collect()
            retained = [f"{type(value).__name__} of {len(value)}" for value in large_values(garbage)]  # type: ignore[arg-type]
            shown = sorted({type(each).__name__ for each in garbage})
    assert retained == [], shown
