"""Client of Sampan's history: many past writes in one request. Other servers do not have it."""

from collections.abc import AsyncGenerator, Iterator
from typing import Any, Final

from sampan.cli.objects.targets import ObjectTarget, TargetError
from sampan.client import Client, Forbidden, NotAcceptable
from sampan.wire import json

_PARAMETER: Final = "sampan.dev/history"
_BEFORE: Final = "sampan.dev/before"
_LINES: Final = "application/x-ndjson"
_PAGE: Final = 100

Line = dict[str, Any]
"""One write, or the end; see docs/running.md."""


class NoHistory(Exception):
    """The server does not have this API, or the user may not use it."""


async def history_lines(
    client: Client, target: ObjectTarget, mode: str, *, limit: int | None = None
) -> AsyncGenerator[Line, None]:
    """Yield the lines of a history, newest first, then its end. Reads further pages as needed.

    Raises `NoHistory` before the first line; `NotFound`.
    """
    path = target.path(client, target.names[0] if mode == "revisions" else "")
    query = {_PARAMETER: mode}
    if mode != "revisions" and target.names:
        query["fieldSelector"] = f"metadata.name={target.names[0]}"
    left = limit
    while True:
        size = _PAGE if left is None else min(_PAGE, left)
        *writes, end = await _page(client, path, query | {"limit": str(size)})
        for write in writes:
            yield write
        if left is not None:
            left -= len(writes)
        if end["type"] != "END":
            raise TargetError(f"the server cannot read its history: {end['object'].get('message', '')}")
        if end["reason"] != "Limit" or left == 0:
            yield end
            return
        query[_BEFORE] = end["continue"]


async def _page(client: Client, path: str, query: dict[str, str]) -> list[Line]:
    try:
        response = await client.rest.stream(path, query=query, accept=f"{_LINES}, application/json")
    except (Forbidden, NotAcceptable) as error:
        raise NoHistory from error
    try:
        if not response.headers.get("content-type", "").startswith(_LINES):
            raise NoHistory
        return list(_lines(await response.read()))
    finally:
        await response.aclose()


def _lines(body: bytes) -> Iterator[Line]:
    for line in body.splitlines():
        yield json.decode(line)
