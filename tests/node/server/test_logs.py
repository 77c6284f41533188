"""Logs of containers, and files of the node."""

import asyncio
import datetime as dt
from pathlib import Path

import pytest

from sampan.node.runtime import LogOptions
from sampan.node.server.logs import InvalidQuery, UndecodableQuery, log_options
from tests.node.server.served import node

LOGS = "/containerLogs/default/web/main"


async def test_log_is_sent_whole() -> None:
    async with node() as served:
        assert await served.get(LOGS) == (200, b"one\ntwo\n")


async def test_followed_log_arrives_as_it_grows_and_ends_with_its_client() -> None:
    async with node() as served:
        go_on = asyncio.Event()
        served.runtime.log = [b"one\n", go_on, b"two\n", asyncio.Event()]
        reader, writer = await served.open(f"GET {LOGS}?follow=true HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        await reader.readuntil(b"one\n")
        go_on.set()
        await reader.readuntil(b"two\n")
        writer.transport.abort()
        await served.runtime.log_closed.wait()


async def test_head_of_a_silent_log_is_sent_at_once() -> None:
    async with node() as served:
        served.runtime.log = [asyncio.Event()]
        reader, writer = await served.open(f"GET {LOGS}?follow=true HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 OK\r\n")
        writer.transport.abort()


@pytest.mark.parametrize(
    ("target", "code", "text"),
    [
        ("/containerLogs/default/none/main", 404, b'pod "none" does not exist'),
        ("/containerLogs/default/web/none", 404, b'container "none" not found in pod "web"'),
        (f"{LOGS}?previous=true", 400, b'previous terminated container "main" in pod "web" not found'),
        (
            "/containerLogs/default/web/waiting",
            400,
            b'container "waiting" in pod "web" is waiting to start: trying and failing to pull image',
        ),
        (f"{LOGS}?tailLines=x", 400, b'{"message": "Unable to decode query."}'),
        (f"{LOGS}?tailLines=-1", 422, b'{"message": "Invalid request."}'),
    ],
    ids=["pod", "container", "previous", "waiting", "undecodable", "invalid"],
)
async def test_missing_log_is_refused_with_its_reason(target: str, code: int, text: bytes) -> None:
    async with node() as served:
        assert await served.get(target) == (code, text)


def query(**values: str) -> dict[str, list[str]]:
    return {name: [value] for name, value in values.items()}


def test_all_options_are_parsed() -> None:
    found = log_options(
        query(follow="", previous="1", timestamps="true", limitBytes="9", sinceTime="2026-01-02T03:04:05Z", tail="5")
    )
    since = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    assert found == LogOptions(True, True, True, 5, 9, None, since)


def test_tail_lines_all_means_no_limit() -> None:
    assert log_options(query(tail="all", follow="false", sinceSeconds="7")) == LogOptions(since_seconds=7)


@pytest.mark.parametrize("name", ["tailLines", "limitBytes", "sinceSeconds", "sinceTime"])
def test_values_of_the_wrong_type_are_refused(name: str) -> None:
    for text in ("x", "1" * 5000):
        with pytest.raises(UndecodableQuery):
            log_options(query(**{name: text}))


@pytest.mark.parametrize(
    "values",
    [
        {"limitBytes": "0"},
        {"sinceSeconds": "0"},
        {"sinceSeconds": "1", "sinceTime": "2026-01-02T03:04:05Z"},
        {"stream": "stdout"},
        {"stream": "Stdout", "tailLines": "1"},
    ],
    ids=["limit", "seconds", "both", "stream", "tail of a stream"],
)
def test_values_out_of_range_are_invalid(values: dict[str, str]) -> None:
    with pytest.raises(InvalidQuery):
        log_options(query(**values))


async def test_files_of_the_node_are_served_only_with_a_log_directory(tmp_path: Path) -> None:
    async with node() as served:
        assert await served.get("/logs/") == (403, b"logs endpoint is disabled.\n")
    (tmp_path / "pods").mkdir()
    (tmp_path / "node.log").write_bytes(b"line\n" * 50_000)
    async with node(log_directory=tmp_path) as served:
        assert await served.get("/logs/node.log") == (200, b"line\n" * 50_000)
        code, body = await served.get("/logs/")
        assert (code, b'<a href="pods/">pods/</a>' in body) == (200, True)


async def test_files_outside_of_the_directory_are_not_found(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "secret").write_text("x")
    (tmp_path / "inside" / "link").symlink_to(tmp_path / "secret")
    async with node(log_directory=tmp_path / "inside") as served:
        for name in ("../secret", "%2e%2e/secret", "link", "none", "%00"):
            assert (await served.get(f"/logs/{name}"))[0] == 404, name
