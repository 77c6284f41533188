"""`wait_for`: until an object is as it should be.

    await wait_for(networks, "net", condition_is("Ready"), timeout_s=30)

Source: client-go tools/watch/until.go `UntilWithSync` (1.36).
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Protocol, TypeVar

from sampan.client.conditions import Condition
from sampan.client.errors import Expired, WaitTimeout
from sampan.client.follow import RESTART_INTERVAL_S, Retries, follow, list_patiently
from sampan.client.list_watch import ListWatch
from sampan.client.object_head import object_head
from sampan.client.options import ListOptions
from sampan.resource import Object, ResourceInfo
from sampan.wire import json

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Watchable(Protocol[T_co]):
    """What `wait_for` needs of a `ResourceClient`."""

    @property
    def info(self) -> ResourceInfo:
        """The resource."""
        ...

    def list_watch_of(self, name: str) -> ListWatch:
        """Raw lists and watches of a single object."""
        ...

    def decode(self, body: bytes) -> T_co:
        """An object from its JSON. Raises `Undecodable`."""
        ...


async def wait_for(
    client: Watchable[T], name: str, condition: Condition | Callable[[T | None], bool], *, timeout_s: float
) -> T | None:
    """The object as soon as the condition holds; None if it holds because there is none.

    `condition` may also be a function of the object (None: there is none). It sees the present state first, then each
    change; after an outage it may miss states in between. It watches one object: lists and watches must be allowed.
    Lost connections, 429 and 5xx are waited out.
    Raises `WaitTimeout` after `timeout_s` seconds, `ApiError` of 4xx, and what the condition raises.
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
        raise WaitTimeout(f"waited {timeout_s:g} s for {what} {text}; {_seen(last)}") from None
    return None if last is None else client.decode(last)


async def _states(source: ListWatch) -> AsyncGenerator[bytes | None, None]:
    """The object's states as far as they can be seen, from the present one on; None when there is none. No end."""
    retries = Retries(source)
    while True:
        listed = await list_patiently(source, ListOptions(), retries)
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


def _seen(state: bytes | None) -> str:
    """The end of an error's text: what somebody who waits in vain wants to know."""
    if state is None:
        return "there is no such object"
    status = (json.decode(state) or {}).get("status") or {}
    conditions = [f"{each.get('type')}={each.get('status')}" for each in status.get("conditions") or ()]
    version = object_head(state).metadata.resource_version
    return f"last seen at resourceVersion {version}" + (f" with {', '.join(conditions)}" if conditions else "")
