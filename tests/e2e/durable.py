"""Clients for the durability tests: writers that note acknowledged writes, and watchers that resume.

Everything here talks HTTP to a real server that may be killed at any moment. `Gone` is raised when it was.
"""

import asyncio
import json
import random
import ssl
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from tests.cli.server import Server

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
SERVICES = "/api/v1/namespaces/default/services"
_FILLER = "x" * 600
KEYS_PER_WRITER = 4


class Gone(Exception):
    """The server has closed the connection."""


class Link:
    """One connection to a server, as its administrator."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def __aenter__(self) -> Self:
        context = ssl.create_default_context(cafile=str(self._server.data / "pki" / "ca.crt"))
        try:
            self._reader, self._writer = await asyncio.open_connection(
                "127.0.0.1", self._server.port, ssl=context, limit=1 << 22
            )
        except OSError as error:
            raise Gone from error
        return self

    async def __aexit__(self, *exception: object) -> None:
        self._writer.transport.abort()

    async def request(
        self, method: str, path: str, body: Any = None, media_type: str = "application/json"
    ) -> tuple[int, dict[str, str], Any]:
        """Status, headers and decoded body of the answer. Raises `Gone`."""
        try:
            status, headers = await self._fetch(method, path, body, media_type)
            content = await self._reader.readexactly(int(headers["content-length"]))
        except (OSError, EOFError) as error:
            raise Gone from error
        is_json = headers["content-type"].startswith("application/json")
        return status, headers, json.loads(content) if is_json else content

    async def events(self, path: str) -> AsyncIterator[dict[str, Any]]:
        """The events of a watch, until the server ends it properly. Raises `Gone` when it does not."""
        try:
            status, _ = await self._fetch("GET", path)
            assert status == 200
            rest = b""
            while size := int(await self._reader.readuntil(b"\r\n"), 16):
                *lines, rest = (rest + (await self._reader.readexactly(size + 2))[:-2]).split(b"\n")
                for line in lines:
                    yield json.loads(line)
        except (OSError, EOFError) as error:
            raise Gone from error

    async def _fetch(
        self, method: str, path: str, body: Any = None, media_type: str = "application/json"
    ) -> tuple[int, dict[str, str]]:
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self._server.token}\r\n"
            f"Content-Type: {media_type}\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        self._writer.write(head.encode() + content)
        await self._writer.drain()
        first, *lines = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        pairs = (line.partition(": ") for line in lines if line)
        return int(first.split(" ")[1]), {name.lower(): value for name, _, value in pairs}


class ReceivedEvent(NamedTuple):
    """An event, reduced to the fields that these tests compare. `number` is the count of the write at its writer."""

    type: str
    name: str
    revision: int
    number: int
    even: bool


class Acknowledged(NamedTuple):
    """A write that the server acknowledged. `revision` is 0 for a deletion, because it is not read from the answer."""

    name: str
    revision: int
    number: int
    deleted: bool


def seen(event: dict[str, Any]) -> ReceivedEvent:
    """Return the fields of a ConfigMap's event that these tests compare."""
    obj = event["object"]
    metadata = obj["metadata"]
    number, even = int(obj["data"]["n"]), metadata["labels"]["parity"] == "even"
    return ReceivedEvent(event["type"], metadata["name"], int(metadata["resourceVersion"]), number, even)


@dataclass
class Writer:
    """Writes ConfigMaps that are its own, one write at a time, with numbers that count up."""

    number: int
    random: random.Random
    acknowledged: list[Acknowledged] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    """All answers that were no success."""
    _count: int = 0

    async def run(self, server: Server) -> None:
        """Write until the server is gone.

        First read which objects exist: the result of the last write is not known.
        """
        try:
            async with Link(server) as link:
                there = {name: (await link.request("GET", f"{CONFIG_MAPS}/{name}"))[0] == 200 for name in self._names}
                while True:
                    name = self.random.choice(list(there))
                    there[name] = await self._write(link, name, there[name])
        except Gone:
            return

    @property
    def _names(self) -> list[str]:
        return [f"cm-{self.number}-{key}" for key in range(KEYS_PER_WRITER)]

    async def _write(self, link: Link, name: str, there: bool) -> bool:
        """One write; gives whether the object is there now."""
        self._count += 1
        path, deleted = f"{CONFIG_MAPS}/{name}", False
        labels = {"parity": self.random.choice(["even", "odd"])}
        body = {"metadata": {"name": name, "labels": labels}, "data": {"n": str(self._count), "filler": _FILLER}}
        if not there:
            code, _, response = await link.request("POST", CONFIG_MAPS, body)
        elif (kind := self.random.random()) < 0.4:
            code, _, response = await link.request("PUT", path, body)
        elif kind < 0.8:
            code, _, response = await link.request("PATCH", path, body, "application/merge-patch+json")
        else:
            deleted = True
            code, _, response = await link.request("DELETE", path)
        if code >= 300:
            self.codes.append(code)
            return there
        revision = 0 if deleted else int(response["metadata"]["resourceVersion"])
        self.acknowledged.append(Acknowledged(name, revision, self._count, deleted))
        return not deleted


@dataclass
class ServiceWriter:
    """Creates Services; `ips` are the addresses in the server's answers."""

    ips: dict[str, str] = field(default_factory=dict)
    _count: int = 0

    async def run(self, server: Server) -> None:
        """Create until the server is gone."""
        try:
            async with Link(server) as link:
                while True:
                    self._count += 1
                    name = f"svc-{self._count}"
                    body = {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}}
                    code, _, response = await link.request("POST", SERVICES, body)
                    if code == 201:
                        self.ips[name] = response["spec"]["clusterIP"]
        except Gone:
            return


@dataclass
class Follower:
    """A watcher that resumes where it was. `query` is more of the request (a selector)."""

    revision: int
    query: str = ""
    seen: list[ReceivedEvent] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    ended: int = 0
    """Number of watches that ended properly."""

    async def run(self, server: Server) -> None:
        """Watch until the server is gone."""
        try:
            async with Link(server) as link:
                path = f"{CONFIG_MAPS}?watch=1&allowWatchBookmarks=true&resourceVersion={self.revision}{self.query}"
                async for event in link.events(path):
                    assert event["type"] != "ERROR", event
                    self.revision = int(event["object"]["metadata"]["resourceVersion"])
                    if event["type"] != "BOOKMARK":
                        self.seen.append(seen(event))
                    self.changed.set()
                self.ended += 1
        except Gone:
            return

    async def reach(self, revision: int) -> None:
        """Wait until an event of this revision has come."""
        while self.revision < revision:
            self.changed.clear()
            await self.changed.wait()


async def revision_of(server: Server, path: str = CONFIG_MAPS) -> int:
    """The revision of a list."""
    async with Link(server) as link:
        return int((await link.request("GET", path))[2]["metadata"]["resourceVersion"])


async def history(server: Server, after: int) -> list[ReceivedEvent]:
    """Return all events of ConfigMaps after a revision, as a new watch receives them."""
    async with Link(server) as link:
        path = f"{CONFIG_MAPS}?watch=1&resourceVersion={after}&timeoutSeconds=1"
        return [seen(event) async for event in link.events(path)]


def selected(events: Iterable[ReceivedEvent]) -> list[ReceivedEvent]:
    """Return the events as a watch of the even objects receives them.

    An object that turns odd is deleted for that watch: the event shows its last even state.
    """
    found: list[ReceivedEvent] = []
    last: dict[str, ReceivedEvent] = {}
    for event in events:
        before = last.pop(event.name, None)
        if event.even and event.type != "DELETED":
            last[event.name] = event
            found.append(event._replace(type="MODIFIED" if before else "ADDED"))
        elif before is not None:
            found.append(before._replace(type="DELETED", revision=event.revision))
    return found
