"""Waits for what others do to an object, by list and watch."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from tests.cli.server import Server
from tests.e2e.python.objects import Json

WITHIN_S = 60.0


def until(server: Server, collection: str, name: str, desired: Callable[[Json | None], Any]) -> Json | None:
    """Wait until an object is as wanted; gives it. `None` stands for an object that does not exist.

    Raises `AssertionError`, with the object as it was last, when it is not so in time.
    """
    return until_one(server, collection, f"metadata.name={name}", desired)


def until_one(server: Server, collection: str, selector: str, desired: Callable[[Json | None], Any]) -> Json | None:
    """Like `until`, for the one object that a field selector takes."""
    last: Json | None = None
    for last in _states(server, collection, selector):
        if desired(last):
            return last
    raise AssertionError(f"{collection}, {selector}, after {WITHIN_S} s: {json.dumps(last)}")


def _states(server: Server, collection: str, field_selector: str) -> Iterator[Json | None]:
    """The object as it is, then after each change."""
    selector = f"fieldSelector={quote(field_selector)}"
    authorization = {"Authorization": f"Bearer {server.token}"}
    connection = server.connect()
    try:
        connection.request("GET", f"{collection}?{selector}", headers=authorization)
        found = json.loads(connection.getresponse().read())
        yield next(iter(found["items"]), None)
        since = found["metadata"]["resourceVersion"]
        query = f"{selector}&watch=true&resourceVersion={since}&timeoutSeconds={WITHIN_S:.0f}"
        connection.request("GET", f"{collection}?{query}", headers=authorization)
        with connection.getresponse() as events:
            for line in events:
                event = json.loads(line)
                yield None if event["type"] == "DELETED" else event["object"]
    finally:
        connection.close()
