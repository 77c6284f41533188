"""Clients of the servers: some write and read the same few keys, some watch them.

Concurrency: each client is one task; it ends when `stopping` is set, and never fails.
"""

import asyncio
import json
import random
from contextlib import suppress
from typing import Any

import httpx

from sampan.storage.signal import Signal
from tests.robustness.history import Call, Kind, Outcome, ReceivedEvent, Watched
from tests.robustness.machines import NAMESPACE, ApiServer

KEYS = tuple(f"k{number}" for number in range(6))
TIMEOUT_S = 20.0
PATH = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
_OUTCOMES = {
    200: Outcome.DONE,
    201: Outcome.DONE,
    404: Outcome.MISSING,
    429: Outcome.NOT_DONE,
    503: Outcome.NOT_DONE,
}
_READS = {Kind.GET: 5, Kind.LIST: 2}
_KINDS = {**_READS, Kind.CREATE: 3, Kind.UPDATE: 4, Kind.PATCH: 2, Kind.DELETE: 2}
_LULL_S = 0.3
"""Part of each second in which clients only read: no event then shows a server how far etcd is."""


def now() -> float:
    """The time of the history."""
    return asyncio.get_running_loop().time()


class Clients:
    """The shared state of all clients of a run, and everything that they recorded."""

    def __init__(self, servers: list[ApiServer], seed: int) -> None:
        self.servers = servers
        self.calls: list[Call] = []
        self.watches: list[Watched] = []
        self.faults: list[str] = []
        """Answers that no server may give."""
        self.stopping = False
        self.random = random.Random(seed)
        self._https = {server.name: _https(server) for server in servers}

    async def request(self, server: ApiServer, method: str, path: str, body: Any = None) -> httpx.Response:
        """Send a request and return the response. Raises `httpx.HTTPError`."""
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        content = None if body is None else json.dumps(body)
        return await self._https[server.name].request(method, path, content=content, headers={"Content-Type": kind})

    def stream(self, server: ApiServer, path: str) -> Any:
        """The lines of a watch, as a context."""
        return self._https[server.name].stream("GET", path, timeout=httpx.Timeout(5.0, read=None))

    async def close(self) -> None:
        for https in self._https.values():
            await https.aclose()


def _https(server: ApiServer) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {server.token}"}
    limits = httpx.Limits(max_connections=None, keepalive_expiry=60)
    return httpx.AsyncClient(
        base_url=server.url, headers=headers, verify=server.tls(), timeout=TIMEOUT_S, limits=limits, trust_env=False
    )


class Writer:
    """Writes and reads, on one server."""

    def __init__(self, clients: Clients, server: ApiServer, name: str) -> None:
        self._clients = clients
        self._server = server
        self._name = name
        self._random = random.Random(f"{clients.random.random()} {name}")
        self._known = dict.fromkeys(KEYS, 0)
        self._number = 0

    async def run(self) -> None:
        while not self._clients.stopping:
            kinds = _READS if now() % 1 < _LULL_S else _KINDS
            kind = self._random.choices(list(kinds), list(kinds.values()))[0]
            await self._call(kind, self._random.choice(KEYS))
            await asyncio.sleep(self._random.random() * 0.02)

    async def _call(self, kind: Kind, key: str) -> None:
        self._number += 1
        call = Call(kind, key, now(), server=self._server.name)
        if call.writes and kind is not Kind.DELETE:
            call.value = f"{self._name}-{self._number}"
        if kind in (Kind.UPDATE, Kind.DELETE):
            call.expected = self._known[key]
            if not call.expected:
                call.kind, call.value = Kind.GET, ""
        self._clients.calls.append(call)
        method, path, body = _request_of(call)
        try:
            response = await self._clients.request(self._server, method, path, body)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            call.outcome, call.end = Outcome.NOT_DONE, now()
            await asyncio.sleep(0.1)
        except httpx.HTTPError:
            await asyncio.sleep(0.1)
        else:
            self._record_response(call, response)
            if response.status_code in (429, 503):
                await asyncio.sleep(0.1)

    def _record_response(self, call: Call, response: httpx.Response) -> None:
        code = response.status_code
        # A server that shuts down answers as kube-apiserver does, in plain text.
        reply = {} if code == 429 else response.json()
        call.outcome = Outcome.NOT_DONE if _is_full(code, reply) else _OUTCOMES.get(code, Outcome.UNKNOWN)
        if code == 409:
            call.outcome = {"AlreadyExists": Outcome.EXISTS}.get(reply["reason"], Outcome.CONFLICT)
            if call.kind is Kind.PATCH:
                call.outcome = Outcome.NOT_DONE
        if call.outcome is not Outcome.UNKNOWN or not call.writes:
            call.end = now()
        self._check(call, response, reply)
        if call.outcome is Outcome.DONE:
            _take(call, reply)
            if call.kind is not Kind.LIST:
                self._known[call.key] = call.revision
            for key, (revision, _) in call.items.items():
                self._known[key] = revision
        elif call.outcome is Outcome.MISSING:
            self._known[call.key] = 0

    def _check(self, call: Call, response: httpx.Response, reply: Any) -> None:
        code = response.status_code
        known = code in (200, 201, 404, 409, 429, 503, 504) or _is_full(code, reply)
        if not known:
            self._clients.faults.append(f"{code} {reply}: {call}")
        elif code in (429, 503) and "Retry-After" not in response.headers:
            self._clients.faults.append(f"{code} without Retry-After: {reply}")


def _request_of(call: Call) -> tuple[str, str, Any]:
    one = f"{PATH}/{call.key}"
    body: dict[str, Any] = {"metadata": {"name": call.key}, "data": {"v": call.value}}
    if call.kind is Kind.CREATE:
        return "POST", PATH, body
    if call.kind is Kind.UPDATE:
        body["metadata"]["resourceVersion"] = str(call.expected)
        return "PUT", one, body
    if call.kind is Kind.PATCH:
        return "PATCH", one, {"data": body["data"]}
    if call.kind is Kind.DELETE:
        return "DELETE", one, {"preconditions": {"resourceVersion": str(call.expected)}}
    return "GET", PATH if call.kind is Kind.LIST else one, None


def _is_full(code: int, reply: Any) -> bool:
    """Return True for the refusal of a write for which etcd has no space."""
    return code == 500 and "database space exceeded" in reply["message"]


def _take(call: Call, reply: Any) -> None:
    """Note the revision and the values in the answer to a successful call."""
    if call.kind is Kind.DELETE:
        return
    call.revision = int(reply["metadata"]["resourceVersion"])
    if call.kind is Kind.LIST:
        call.items = {item["metadata"]["name"]: _state(item) for item in reply["items"]}
    elif call.kind is Kind.GET:
        call.value = _state(reply)[1]


def _state(item: Any) -> tuple[int, str]:
    return int(item["metadata"]["resourceVersion"]), item["data"]["v"]


class Watcher:
    """Watches all keys, now on this server and now on that one, each time from where it was.

    `nap_s`: how long it does nothing between two watches.
    """

    def __init__(self, clients: Clients, name: str, nap_s: float = 0.05) -> None:
        self.position = -1
        self._moved = Signal()
        self._clients = clients
        self.name = name
        self._nap_s = nap_s
        self._at = 0
        self._random = random.Random(f"{clients.random.random()} {name}")

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            self._at += 1
            server = self._clients.servers[self._at % len(self._clients.servers)]
            with suppress(httpx.HTTPError, TimeoutError):
                if self.position < 0:
                    await self._list(server)
                if self.position >= 0:
                    async with asyncio.timeout(3 + 10 * self._random.random()):
                        await self._watch(server)
            await asyncio.sleep(self._nap_s)

    async def reached(self, revision: int) -> None:
        """Return when the watcher has received this revision."""
        while self.position < revision:
            await self._moved.wait()

    async def _list(self, server: ApiServer) -> None:
        response = await self._clients.request(server, "GET", PATH)
        if response.status_code == 200:
            self.position = int(response.json()["metadata"]["resourceVersion"])
            self._moved.notify()

    async def _watch(self, server: ApiServer) -> None:
        watched = Watched(self.position, name=f"{self.name} on {server.name}")
        self._clients.watches.append(watched)
        path = f"{PATH}?watch=1&allowWatchBookmarks=true&resourceVersion={self.position}"
        async with self._clients.stream(server, path) as response:
            if response.status_code == 410:
                self.position = -1
            if response.status_code != 200:
                return
            async for line in response.aiter_lines():
                if not self._take(watched, json.loads(line)):
                    return

    def _take(self, watched: Watched, event: Any) -> bool:
        """Note an event. Return whether the watch goes on."""
        kind, shown = event["type"], event["object"]
        if kind == "ERROR":
            if shown["code"] == 410:
                self.position = -1
            return False
        metadata = shown["metadata"]
        revision = int(metadata["resourceVersion"])
        received = shown["data"]["v"] if kind != "BOOKMARK" else ""
        watched.received.append(ReceivedEvent(kind, revision, metadata.get("name", ""), received))
        self.position = revision
        self._moved.notify()
        return True
