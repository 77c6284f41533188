"""/debug/pprof: profiles that pprof can read, for users with all rights."""

import asyncio
import gzip
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sampan.http.pprof.cpu import sample_cpu
from sampan.http.pprof.profile import FRAMES_MAX, STACKS_MAX, Frame, Profile, stack_of
from sampan.registry.cluster import Cluster
from sampan.server.apiserver import ApiServer, ApiServerSettings
from sampan.server.authentication.bearer_token import BearerTokenAuthenticator
from sampan.server.authentication.static_token import StaticTokenAuthenticator
from sampan.storage.memory import MemoryStore
from sampan.wire.protobuf.varint import read_varint, scan
from tests.server.client import Client, header
from tests.server.frame import JANE, MASTER, TOKENS


def server(*, profiling: bool = True) -> ApiServer:
    authenticator = BearerTokenAuthenticator([StaticTokenAuthenticator(TOKENS)])
    return ApiServer(Cluster(MemoryStore()), [authenticator], settings=ApiServerSettings(profiling=profiling))


@pytest.fixture
async def client() -> Client:
    return Client(server().handler, MASTER)


def fields(body: bytes) -> dict[int, list[tuple[int, int]]]:
    """Return the positions of the values of each field of a message."""
    found: dict[int, list[tuple[int, int]]] = {}
    for tag, start, end in scan(body, 0, len(body)):
        found.setdefault(tag >> 3, []).append((start, end))
    return found


def strings(profile: bytes) -> list[str]:
    """The string table of an encoded profile."""
    body = gzip.decompress(profile)
    return [body[start:end].decode() for start, end in fields(body)[6]]


@contextmanager
def working() -> Iterator[None]:
    """A thread that is busy meanwhile."""
    stop = threading.Event()

    def burn_the_midnight_oil() -> None:
        while not stop.is_set():
            sum(range(1000))

    thread = threading.Thread(target=burn_the_midnight_oil)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


async def test_a_cpu_profile_contains_the_busy_function(client: Client) -> None:
    with working():
        response = await client.get("/debug/pprof/profile?seconds=0.2")
    assert (response.status, response.content_type) == (200, "application/octet-stream")
    names = strings(response.body)
    assert names[:5] == ["", "samples", "count", "cpu", "nanoseconds"]
    assert any("burn_the_midnight_oil" in name for name in names)


def test_waiting_threads_have_no_cpu_time() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait, name="sleeper")
    thread.start()
    with working():
        profile = sample_cpu(0.2, threading.Event())
    stop.set()
    thread.join()
    by_function = {frame.function: values[1] for stack, values in profile.samples.items() for frame in stack}
    assert by_function.get("Event.wait", 0) < max(by_function.values()) / 4
    assert profile.duration_ns >= 190_000_000


def test_a_profile_that_is_stopped_ends_at_once() -> None:
    stop = threading.Event()
    stop.set()
    began = time.monotonic()
    assert sample_cpu(60, stop).samples == {}
    assert time.monotonic() - began < 30


async def test_one_cpu_profile_is_taken_at_a_time(client: Client) -> None:
    first = asyncio.create_task(client.get("/debug/pprof/profile?seconds=1"))
    await asyncio.sleep(0)
    second = await client.get("/debug/pprof/profile?seconds=0.01")
    assert second.body == b"Could not enable CPU profiling: cpu profiling already in use\n"
    assert (second.status, header(second, "X-Go-Pprof")) == (500, "1")
    assert (await first).status == 200
    assert (await client.get("/debug/pprof/profile?seconds=0.01")).status == 200


async def test_a_profile_ends_when_its_client_disconnects(client: Client) -> None:
    first = asyncio.create_task(client.get("/debug/pprof/profile?seconds=50"))
    await asyncio.sleep(0.01)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert (await client.get("/debug/pprof/profile?seconds=0.01")).status == 200


async def test_too_long_a_profile_is_refused(client: Client) -> None:
    response = await client.get("/debug/pprof/profile?seconds=600")
    assert (response.status, response.body) == (400, b"profile duration exceeds server's WriteTimeout\n")


async def test_the_heap_profile_lists_types(client: Client) -> None:
    response = await client.get("/debug/pprof/heap")
    assert "inuse_space" in strings(response.body)
    text = (await client.get("/debug/pprof/heap?debug=1")).body.decode()
    assert "builtins.dict" in text


async def test_the_heap_profile_lists_stacks_if_allocations_are_traced(client: Client) -> None:
    tracemalloc.start(5)
    try:
        retained = [bytearray(100_000) for _ in range(3)]
        text = (await client.get("/debug/pprof/heap?debug=1")).body.decode()
    finally:
        tracemalloc.stop()
    assert Path(__file__).name in text
    assert len(retained) == 3


async def test_tasks_and_threads_are_shown_where_they_wait(client: Client) -> None:
    async def inner() -> None:
        await asyncio.Event().wait()

    async def outer() -> None:
        await inner()

    task = asyncio.create_task(outer(), name="the waiting one")
    await asyncio.sleep(0)
    text = (await client.get("/debug/pprof/goroutine?debug=2")).body.decode()
    task.cancel()
    block = text[text.index("task [the waiting one]:") :].split("\n\n")[0]
    functions = [line.rpartition(".")[2] for line in block.splitlines()[1:] if not line.startswith("\t")]
    assert functions[:3] == ["wait", "inner", "outer"]
    assert "thread " in text
    assert "goroutine" in strings((await client.get("/debug/pprof/goroutine")).body)


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("", 200, '<a href="profile">'),
        ("cmdline", 200, "python"),
        ("symbol", 200, "num_symbols: 0"),
        ("trace", 404, "Unknown profile"),
        ("block", 404, "Unknown profile"),
    ],
)
async def test_the_other_paths(client: Client, path: str, status: int, text: str) -> None:
    response = await client.get(f"/debug/pprof/{path}")
    assert response.status == status
    assert text in response.body.decode()


async def test_the_path_without_its_slash_leads_to_the_index(client: Client) -> None:
    response = await client.get("/debug/pprof")
    assert (response.status, header(response, "Location")) == (302, "/debug/pprof/")


@pytest.mark.parametrize("path", ["/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/profile?seconds=0.01"])
async def test_other_users_are_refused(path: str) -> None:
    assert (await Client(server().handler, JANE).get(path)).status == 403
    assert (await Client(server().handler, {}).get(path)).status == 403


@pytest.mark.parametrize("path", ["/debug/pprof/", "/debug/pprof/heap", "/debug/pprof", "/logs/", "/logs/kern.log"])
async def test_disabled_profiling_is_not_found(path: str) -> None:
    response = await Client(server(profiling=False).handler, MASTER).get(path)
    assert (response.status, response.body) == (404, b"404 page not found\n")


def test_stacks_beyond_the_maximum_are_combined() -> None:
    profile = Profile((("n", "count"),))
    for number in range(STACKS_MAX + 10):
        profile.add((Frame("f", "", 0, number),), 1)
    assert len(profile.samples) == STACKS_MAX + 1
    assert profile.samples[(Frame("(other)"),)] == [10]


def test_deep_stacks_are_truncated() -> None:
    def deep(depth: int) -> int:
        return deep(depth - 1) if depth else len(stack_of(sys._getframe()))

    assert deep(FRAMES_MAX + 10) == FRAMES_MAX


def test_samples_refer_to_their_locations() -> None:
    profile = Profile((("cpu", "nanoseconds"),), period_ns=5)
    a, b = Frame("a", "a.py", 1, 2), Frame("b", "b.py", 3, 4)
    profile.add((a, b), 300)
    profile.add((b,), 7)
    body = gzip.decompress(profile.encode())
    found = fields(body)
    samples = []
    for start, end in found[2]:
        inner = fields(sample := body[start:end])
        samples.append([list(sample[slice(*inner[number][0])]) for number in (1, 2)])
    assert [ids for ids, _ in samples] == [[1, 2], [2]]
    assert read_varint(bytes(samples[0][1]), 0)[0] == 300
    assert (len(found[4]), len(found[5])) == (2, 2)
