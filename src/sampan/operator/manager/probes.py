"""`Probes`: /healthz, /readyz and /metrics on a small listener of their own. It answers GET and HEAD, without TLS.

Concurrency: `run` owns the listener; each connection is a task of asyncio's server and serves one request within
`_TIMEOUT_S`. At most `_CONNECTIONS_MAX` are served at once, further ones are closed.
Source: controller-runtime pkg/healthz/healthz.go (0.24).
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import parse_qs, urlsplit

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

_log = logging.getLogger("sampan.manager")

_TIMEOUT_S: Final = 10.0
_HEAD_BYTES_MAX: Final = 16_384
_CONNECTIONS_MAX: Final = 64
_TEXT: Final = "text/plain; charset=utf-8"
_REASONS: Final = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 500: "Internal Error"}

Check = Callable[[], Awaitable[None] | None]
"""Returns when all is well, raises when not. It must not take long."""

_Answer = tuple[int, str, bytes]


class Probes:
    """Serves health, readiness and metrics. Every path of a check is also there alone: `/healthz/ping`."""

    needs_leader_election = False

    def __init__(self, registry: CollectorRegistry, address: str) -> None:
        self._registry = registry
        host, _, port = address.rpartition(":")
        self._host, self._port = host.strip("[]"), int(port)
        self._checks: dict[str, dict[str, Check]] = {
            "healthz": {"ping": lambda: None},
            "readyz": {"ping": lambda: None},
        }
        self._listening = asyncio.Event()
        self._connections = 0

    def __str__(self) -> str:
        return "probes"

    @property
    def port(self) -> int:
        """Where it listens, once it is ready."""
        return self._port

    def add_healthz_check(self, name: str, check: Check) -> None:
        """When it fails the process should be started anew. Raises `ValueError` for a name that is taken."""
        self._add("healthz", name, check)

    def add_readyz_check(self, name: str, check: Check) -> None:
        """When it fails the process should get no requests. Raises `ValueError` for a name that is taken."""
        self._add("readyz", name, check)

    async def ready(self) -> None:
        """Wait until it listens."""
        await self._listening.wait()

    async def run(self) -> None:
        """Serve until cancelled. Raises `OSError` when it cannot listen."""
        server = await asyncio.start_server(self._connected, self._host, self._port, limit=_HEAD_BYTES_MAX)
        async with server:
            self._port = server.sockets[0].getsockname()[1]
            self._listening.set()
            _log.info("probes at http://%s:%d", self._host, self._port)
            await server.serve_forever()

    async def answer(self, method: str, target: str) -> _Answer:
        """Code, media type and body."""
        if method not in ("GET", "HEAD"):
            return 405, _TEXT, b"only GET\n"
        parts = urlsplit(target)
        query = parse_qs(parts.query, keep_blank_values=True)
        kind, _, name = parts.path.strip("/").partition("/")
        if kind == "metrics" and not name:
            return 200, CONTENT_TYPE_LATEST, generate_latest(self._registry)
        checks = self._checks.get(kind)
        if checks is None or (name and name not in checks):
            return 404, _TEXT, b"404 page not found\n"
        asked = {name: checks[name]} if name else checks
        left = {each: check for each, check in asked.items() if each not in query.get("exclude", [])}
        return await self._report(kind, left, verbose="verbose" in query)

    def _add(self, kind: str, name: str, check: Check) -> None:
        if name in self._checks[kind]:
            raise ValueError(f"there is a {kind} check {name!r} already")
        self._checks[kind][name] = check

    async def _report(self, kind: str, checks: dict[str, Check], *, verbose: bool) -> _Answer:
        lines, failed = [], False
        for name, check in checks.items():
            try:
                outcome = check()
                if inspect.isawaitable(outcome):
                    await outcome
            except Exception as error:
                failed = True
                _log.warning("%s check %s failed: %s", kind, name, error)
                lines.append(f"[-]{name} failed: reason withheld")
            else:
                lines.append(f"[+]{name} ok")
        if not failed and not verbose:
            return 200, _TEXT, b"ok"
        lines.append(f"{kind} check {'failed' if failed else 'passed'}\n")
        return (500 if failed else 200), _TEXT, "\n".join(lines).encode()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        try:
            if self._connections <= _CONNECTIONS_MAX:
                async with asyncio.timeout(_TIMEOUT_S):
                    await self._serve(reader, writer)
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        except Exception:
            _log.exception("a probe could not be answered")
        finally:
            self._connections -= 1
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        words = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            code, media_type, body = 400, _TEXT, b"no HTTP/1\n"
            words = ["GET", "", ""]
        else:
            code, media_type, body = await self.answer(words[0], words[1])
        lines = (
            f"HTTP/1.1 {code} {_REASONS[code]}\r\ncontent-type: {media_type}\r\ncontent-length: {len(body)}\r\n"
            "x-content-type-options: nosniff\r\nconnection: close\r\n\r\n"
        )
        writer.write(lines.encode("latin-1") + (b"" if words[0] == "HEAD" else body))
        await writer.drain()
