"""An in-process client: calls a `Handler` as the HTTP edge would, without sockets."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import orjson

from sampan.core.errors import request_entity_too_large
from sampan.server.request import Handler, Response
from sampan.server.request_info import parse_target
from tests.server.requests import make_request


class Client:
    """Sends requests with some headers by default, for example a token."""

    def __init__(self, handler: Handler, headers: Mapping[str, str] | None = None) -> None:
        self.handler = handler
        self.headers = dict(headers or {})

    async def request(
        self,
        method: str,
        target: str,
        body: bytes | Mapping[str, Any] = b"",
        headers: Mapping[str, str] | None = None,
        *,
        certificate: bytes | None = None,
    ) -> Response:
        """Send a request for `target` (path and query). A mapping is sent as JSON."""
        content = body if isinstance(body, bytes) else orjson.dumps(body)

        async def read_body(limit: int) -> bytes:
            if len(content) > limit:
                raise request_entity_too_large(f"limit is {limit}")
            return content

        async def stream_body() -> AsyncIterator[bytes]:
            if content:
                yield content

        parsed = parse_target(method, target.encode())
        request = make_request(
            method,
            parsed.path,
            parsed.query_string,
            {**self.headers, **{name.lower(): value for name, value in (headers or {}).items()}},
            read_body,
            parsed.query,
            parsed.info,
            client_certificate=certificate,
            client_address="192.0.2.1",
            raw_path=parsed.raw_path,
            stream_body=stream_body,
            received=asyncio.get_running_loop().time(),
            long_running=parsed.long_running,
        )
        response = await self.handler(request)
        if response.stream is None and response.takeover is None:
            written(response)
        return response

    async def get(self, target: str, **headers: str) -> Response:
        """GET; headers as keywords (`accept="..."`, `if_none_match="..."`)."""
        return await self.request("GET", target, headers={k.replace("_", "-"): v for k, v in headers.items()})

    async def get_json(self, target: str) -> Any:
        """GET and decode."""
        response = await self.get(target)
        assert response.status == 200, response.body
        return orjson.loads(response.body)


def written(response: Response) -> None:
    """Do with a response what a connection does when it has written it."""
    if response.rest and response.gzip_body is None:
        response.body, response.rest = b"".join((response.body, *response.rest)), ()
    finished, response.finished = response.finished, None
    if finished is not None:
        finished()


def header(response: Response, name: str) -> str | None:
    """The first header of that name."""
    for key, value in response.headers:
        if key.decode().lower() == name.lower():
            return value.decode()
    return None


def status_of(response: Response) -> dict[str, Any]:
    """The `Status` that an error answer holds."""
    status: dict[str, Any] = orjson.loads(response.body)
    assert status["kind"] == "Status"
    return status


async def lines(stream: AsyncIterator[bytes], count: int) -> list[bytes]:
    """The first lines of a stream."""
    found: list[bytes] = []
    async for chunk in stream:
        found += chunk.splitlines()
        if len(found) >= count:
            break
    return found[:count]
