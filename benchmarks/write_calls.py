"""`python -m benchmarks.write_calls`: the Python code that a warm write runs, in this process.

Counted from the request's entry into the filters to its response: calls of functions of the package `sampan`, the
functions, and their files. Calls of the standard library and of C functions are not counted. A crossing is a call
between `server` and `registry`, over other packages too; a climb is one from `registry` to `server`. Times are
processor time, the median of all requests after the first ones.
"""

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any, Final

import orjson

import sampan
from sampan.server.request import Request, UserInfo, WireRequest
from sampan.server.request_info import TargetCache
from sampan.testing.servers.logical_server import LogicalServer, template

ROOT: Final = str(Path(sampan.__file__).parent)
WARM_UP: Final = 20
_PATH: Final = "/apis/apps/v1/namespaces/default/deployments"
_CONFIG_MAPS: Final = "/api/v1/namespaces/default/configmaps"
_JSON: Final = "application/json"
_APPLY: Final = "application/apply-patch+yaml"

_LAYERS: Final = ("server", "registry")

Send = Callable[[int], Awaitable[int]]
"""Sends the request with this number; returns the status."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of one request, by file and function."""

    by_function: Counter[tuple[str, str]]
    crossings: int = 0
    climbs: int = 0

    @property
    def total(self) -> int:
        return self.by_function.total()

    @property
    def files(self) -> set[str]:
        return {file for file, _ in self.by_function}


def deployment(replicas: int) -> dict[str, Any]:
    """Return a Deployment of one container."""
    container = {
        "name": "web",
        "image": "nginx:1.27",
        "ports": [{"containerPort": 80, "name": "http"}],
        "resources": {"requests": {"cpu": "100m"}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "labels": {"app": "web"}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}},
        },
    }


def config_map(number: int) -> dict[str, Any]:
    """Return a ConfigMap with a name and content by number."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"c{number}", "labels": {"app": "web"}},
        "data": {"a": "x" * 900, "n": str(number)},
    }


class Client:
    """Sends requests to the handler of a server, without sockets."""

    def __init__(self, server: LogicalServer) -> None:
        token = server.users.token_of(UserInfo("admin", groups=("system:masters",)))
        self._headers = {"authorization": f"Bearer {token}", "accept": _JSON, "user-agent": "benchmark"}
        self._handler = server.api.handler
        self._targets = TargetCache()

    async def send(self, method: str, target: str, body: Any, media_type: str = _JSON) -> int:
        """Send a request; return the status of its response."""
        content = orjson.dumps(body)

        async def read(limit: int) -> bytes:
            return content

        found = self._targets.get(method, target.encode())
        wire = WireRequest(
            method, found.path, found.query_string, read, found.query, found.raw_path,
            received=asyncio.get_running_loop().time(),
        )  # fmt: skip
        response = await self._handler(Request(wire, {**self._headers, "content-type": media_type}, found.info))
        return response.status


def requests_of(client: Client) -> dict[str, Send]:
    """Return the requests that are measured, by name."""
    applied = f"{_PATH}/d?fieldManager=benchmark"
    return {
        "create": lambda number: client.send("POST", _CONFIG_MAPS, config_map(number)),
        "put": lambda number: client.send(
            "PUT", f"{_CONFIG_MAPS}/c0", config_map(number) | {"metadata": {"name": "c0"}}
        ),
        "apply, changed": lambda number: client.send("PATCH", applied, deployment(number % 9), _APPLY),
        "apply, unchanged": lambda number: client.send("PATCH", applied, deployment(3), _APPLY),
    }


async def count(send: Send, number: int) -> Calls:
    """Count the calls of one request."""
    found: Counter[tuple[str, str]] = Counter()
    crossed: Counter[str] = Counter()

    def called(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOT):
            found[code.co_filename.removeprefix(ROOT + "/"), code.co_qualname] += 1
            crossed[crossing(frame)] += 1

    sys.setprofile(called)
    try:
        await send(number)
    finally:
        sys.setprofile(None)
    # The target of a request is parsed by the connection, before the filters.
    calls = Counter({key: calls for key, calls in found.items() if key[0] != "server/request_info.py"})
    return Calls(calls, crossed["server"] + crossed["registry"], crossed["server"])


def crossing(frame: FrameType) -> str:
    """Return the layer that a call enters, `server` or `registry`, if its caller is in the other one; otherwise ""."""
    entered, caller = _layer(frame), frame.f_back
    while entered and caller is not None:
        left = _layer(caller)
        if left:
            return entered if left != entered else ""
        caller = caller.f_back
    return ""


def _layer(frame: FrameType) -> str:
    name = frame.f_code.co_filename
    return next((layer for layer in _LAYERS if name.startswith(f"{ROOT}/{layer}/")), "")


async def microseconds(send: Send, numbers: range) -> float:
    """Return the median processor time of the requests."""
    times = []
    for number in numbers:
        began = time.thread_time_ns()
        status = await send(number)
        times.append(time.thread_time_ns() - began)
        assert status in (200, 201), status
    return median(times) / 1000


async def measure(requests: int, shown: int) -> None:
    """Print the figures of each write; `shown` functions with the most calls."""
    made = template(virtual=False)
    server = LogicalServer(made.store.fork(), made.parts)
    await server.start()
    print(f"{'write':18}{'calls':>7}{'functions':>11}{'files':>7}{'crossings':>11}{'climbs':>8}{'µs':>8}")
    for name, send in requests_of(Client(server)).items():
        for number in range(WARM_UP):
            assert await send(number) in (200, 201)
        calls = await count(send, WARM_UP)
        took = await microseconds(send, range(WARM_UP + 1, WARM_UP + 1 + requests))
        functions = len(calls.by_function)
        print(
            f"{name:18}{calls.total:7}{functions:11}{len(calls.files):7}{calls.crossings:11}{calls.climbs:8}{took:8.0f}",
            flush=True,
        )
        for (file, function), times in calls.by_function.most_common(shown):
            print(f"    {times:4}  {file}: {function}")
    await server.stop()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.write_calls", description=__doc__)
    parser.add_argument("--requests", type=int, default=2000, help="requests of each kind whose time is taken (2000)")
    parser.add_argument("--functions", type=int, default=0, help="show so many functions with the most calls (0)")
    given = parser.parse_args(arguments)
    asyncio.run(measure(given.requests, given.functions))


if __name__ == "__main__":
    main()
