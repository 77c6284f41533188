"""Requests for histories."""

from typing import Any

import orjson

from tests.server.cluster import Api

Line = dict[str, Any]


def query(mode: str, **parameters: object) -> str:
    """Return the query of a mode. `before` and `limit` are its parameters."""
    names = {"before": "sampan.dev/before"}
    return "&".join(
        f"{names.get(name, name)}={value}" for name, value in {"sampan.dev/history": mode, **parameters}.items()
    )


async def lines_of(api: Api, path: str, mode: str = "revisions", **parameters: object) -> list[Line]:
    """Return all lines of a history, the last of which is the end."""
    response = await api.get(f"{path}?{query(mode, **parameters)}")
    assert response.code == 200, response.body
    assert response.response.content_type == "application/x-ndjson"
    found = [orjson.loads(line) for line in response.body.splitlines()]
    assert [line["type"] for line in found if line["type"] in ("END", "ERROR")] == [found[-1]["type"]]
    return found


async def writes_of(api: Api, path: str, mode: str = "revisions", **parameters: object) -> list[Line]:
    """Return the writes of a whole history, page by page."""
    found: list[Line] = []
    while True:
        *writes, end = await lines_of(api, path, mode, **parameters)
        found += writes
        if end["reason"] != "Limit":
            return found
        parameters["before"] = end["continue"]
