"""A raw HTTP/1.1 client over TLS: it sends any target, method, header and body, also those that no library sends."""

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

READ_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Address:
    """Address of the server."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Reply:
    """A response. `body` is empty for a stream, which is not read."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def message(self) -> str:
        """Return the message of a Status, or the text of the body."""
        try:
            return str(json.loads(self.body)["message"])
        except (ValueError, KeyError, TypeError):
            return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """Return the decoded body."""
        return json.loads(self.body)


def context(*protocols: str) -> ssl.SSLContext:
    """Return a context that accepts any certificate."""
    found = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    found.check_hostname, found.verify_mode = False, ssl.CERT_NONE
    if protocols:
        found.set_alpn_protocols(list(protocols))
    return found


class Client:
    """One user's connection. It reconnects when the server or a stream has ended the last one."""

    def __init__(self, address: Address, token: str = "", tls: ssl.SSLContext | None = None) -> None:
        self.address, self.token, self._tls = address, token, tls or context()
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop the connection."""
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None

    async def request(
        self,
        method: str,
        target: str,
        body: bytes | Mapping[str, Any] | list[Any] = b"",
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        token: str | None = None,
    ) -> Reply:
        """Send a request and return its response; of a watch or an upgrade, only the head."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        token = self.token if token is None else token
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self.address.host}:{self.address.port}"]
        lines += [f"Authorization: Bearer {token}"] if token else []
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        if content:
            lines += [f"Content-Type: {content_type}", f"Content-Length: {len(content)}"]
        elif method in ("POST", "PUT", "PATCH"):
            lines.append("Content-Length: 0")
        return await self.send("\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + content, method)

    async def send(self, raw: bytes, method: str = "GET") -> Reply:
        """Send bytes and return one response. Status 0: the server closed the connection instead."""
        for attempt in range(2):
            fresh = self._streams is None
            reader, writer = self._streams or await self._connect()
            try:
                writer.write(raw)
                async with asyncio.timeout(READ_TIMEOUT_S):
                    return await self._read(reader, method)
            except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
                self.close()
                if fresh or attempt:
                    return Reply(0)
            except BaseException:
                self.close()
                raise
        return Reply(0)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self._streams = await asyncio.open_connection(self.address.host, self.address.port, ssl=self._tls)
        return self._streams

    async def _read(self, reader: asyncio.StreamReader, method: str) -> Reply:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(head[0].split(" ")[1])
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        if status == 101:
            self.close()
            return Reply(status, headers)
        if method == "HEAD" or status in (204, 304):
            return Reply(status, headers)
        if "content-length" in headers:
            body = await reader.readexactly(int(headers["content-length"]))
        elif status == 200 and headers.get("transfer-encoding") == "chunked" and "content-encoding" not in headers:
            body = await _first_chunks(reader)
            self.close()
        else:
            body = b""
            self.close()
        if headers.get("connection", "") == "close":
            self.close()
        return Reply(status, headers, body)


async def _first_chunks(reader: asyncio.StreamReader) -> bytes:
    """Return what a stream sends at once."""
    found = b""
    try:
        async with asyncio.timeout(0.05):
            while piece := await reader.read(1 << 16):
                found += piece
                if found.endswith(b"0\r\n\r\n"):
                    break
    except TimeoutError:
        pass
    return found
