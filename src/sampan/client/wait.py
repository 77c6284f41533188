"""`wait_for`: wait for a condition on an object.

    await wait_for(networks, "net", condition_is("Ready"), timeout_s=30)

Source: client-go tools/watch/until.go `UntilWithSync` (1.36).
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Protocol, TypeVar

from sampan.client.conditions import Condition
from sampan.client.errors import Expired, WaitTimeout
from sampan.client.objects.head import object_head
from sampan.client.options import ListOptions
from sampan.client.watching.follow import RESTART_INTERVAL_S, Retries, follow, list_with_retries
from sampan.client.watching.list_watch import ListWatch
from sampan.resource import Object, ResourceInfo
from sampan.wire import json

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Watchable(Protocol[T_co]):
    """Methods of a `ResourceClient` that `wait_for` uses."""

    @property
    def info(self) -> ResourceInfo:
        """The resource."""
        ...

    def list_watch_of(self, name: str) -> ListWatch:
        """Return raw lists and watches of a single object."""
        ...

    def decode(self, body: bytes) -> T_co:
        """Decode an object from its JSON. Raises `Undecodable`."""
        ...


async def wait_for(
    client: Watchable[T], name: str, condition: Condition | Callable[[T | None], bool], *, timeout_s: float
) -> T | None:
    """Return the object as soon as the condition holds; None if the object does not exist at that time.

    `condition` may also be a function of the object (None: it does not exist). It is called with the current state,
    then with each change; after an outage, states in between may be missed. The user needs the rights to list and
    watch. Lost connections, 429 and 5xx are retried.

    Raises `WaitTimeout` after `timeout_s` seconds, `ApiError` for 4xx, and errors of the condition.
    """
    deadline = asyncio.timeout(timeout_s)
    last: bytes | None = None
    try:
        async with deadline, aclosing(_states(client.list_watch_of(name))) as states:
            async for last in states:
                if _holds(condition, last, client.decode):
                    break
    except TimeoutError:
        if not deadline.expired():
            raise
        what = f"{client.info.gvr.group_resource} {name!r}"
        text = str(condition) if isinstance(condition, Condition) else "for a function to hold"
        raise WaitTimeout(f"waited {timeout_s:g} s for {what} {text}; {_describe(last)}") from None
    return None if last is None else client.decode(last)


async def _states(source: ListWatch) -> AsyncGenerator[bytes | None, None]:
    """Yield the object's states without end, beginning with the current one; None if the object does not exist."""
    retries = Retries(source)
    while True:
        listed = await list_with_retries(source, ListOptions(), retries)
        yield listed.items[0] if listed.items else None
        try:
            async with aclosing(follow(source, ListOptions(resource_version=listed.resource_version))) as batches:
                async for batch in batches:
                    for event in batch:
                        yield None if event.type == "DELETED" else bytes(event.object)
        except Expired:
            await asyncio.sleep(RESTART_INTERVAL_S)


def _holds(
    condition: Condition | Callable[[T | None], bool], state: bytes | None, decode: Callable[[bytes], T]
) -> bool:
    if isinstance(condition, Condition):
        fields: Object | None = None if state is None else json.decode(state)
        return condition.holds(fields)
    return condition(None if state is None else decode(state))


def _describe(state: bytes | None) -> str:
    """Return a description of the last state, for the error's message."""
    if state is None:
        return "there is no such object"
    status = (json.decode(state) or {}).get("status") or {}
    conditions = [f"{each.get('type')}={each.get('status')}" for each in status.get("conditions") or ()]
    version = object_head(state).metadata.resource_version
    return f"last seen at resourceVersion {version}" + (f" with {', '.join(conditions)}" if conditions else "")
