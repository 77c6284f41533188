"""The amount of Python that a write runs: bounds for one server-side apply, from filters to response.

`python -m benchmarks.write_calls` shows the calls by function, and the processor time.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import orjson
import pytest
from benchmarks.write_calls import crossing

import sampan
from tests.server.cluster import CONTENT_TYPES, served
from tests.server.verbs.objects import DEPLOYMENTS, deployment

CALLS_MAX = {"changed": 560, "unchanged": 400}
FILES_MAX = 122
WRITE_FILES_MAX = 50
"""Files without the filters, admission, basic types, and the schema and rules of the kind."""
CROSSINGS_MAX = 12
"""Calls between `server` and `registry`."""
CLIMBS_MAX = 6
"""Calls from `registry` to `server`."""
SPINE_FRAMES_MAX = 13
"""Frames from the outermost filter to the store."""
_ROOT = str(Path(sampan.__file__).parent)
_PATH = f"{DEPLOYMENTS}/d?fieldManager=tests"
_NOT_OF_THE_WRITE = ("/registry/kinds/", "/registry/rules/", "/schema/", "/core/")


@pytest.mark.parametrize(("kind", "replicas"), [("changed", 9), ("unchanged", 4)], ids=["changed", "unchanged"])
async def test_a_warm_apply_stays_within_its_calls(kind: str, replicas: int) -> None:
    calls: Counter[str] = Counter()

    def count(frame: FrameType) -> None:
        calls[frame.f_code.co_filename.removeprefix(_ROOT)] += 1

    await watch_apply(replicas, count)
    write = {name for name in calls if _is_of_the_write(name)}
    assert (calls.total() <= CALLS_MAX[kind], len(calls) <= FILES_MAX, len(write) <= WRITE_FILES_MAX) == (
        True,
        True,
        True,
    ), f"{calls.total()} calls in {len(calls)} files, {len(write)} of them of the write"


async def test_a_warm_apply_seldom_crosses_between_server_and_registry() -> None:
    entered: Counter[str] = Counter()

    def count(frame: FrameType) -> None:
        entered[crossing(frame)] += 1

    await watch_apply(9, count)
    assert entered["server"] in range(1, CLIMBS_MAX + 1)
    assert entered["server"] + entered["registry"] <= CROSSINGS_MAX


async def test_the_store_is_a_few_frames_below_the_filters() -> None:
    spines: list[list[str]] = []

    def look(frame: FrameType) -> None:
        if frame.f_code.co_qualname == "MemoryStore.update":
            spines.append(list(_spine(frame)))

    await watch_apply(9, look)
    assert [len(spine) <= SPINE_FRAMES_MAX for spine in spines] == [True], spines


async def watch_apply(replicas: int, called: Callable[[FrameType], None]) -> None:
    """Call `called` for each function of the package that a warm apply calls. The object has 4 replicas before."""
    async with served() as api:
        for before in (1, 2, 3, 4, 4, 4):
            assert (await api.apply(f"{DEPLOYMENTS}/d", deployment(replicas=before))).code in (200, 201)
        body, headers = orjson.dumps(deployment(replicas=replicas)), {"content-type": CONTENT_TYPES["apply"]}

        def profile(frame: FrameType, event: str, argument: Any) -> None:
            if event == "call" and frame.f_code.co_filename.startswith(_ROOT):
                called(frame)

        sys.setprofile(profile)
        try:
            response = await api.client.request("PATCH", _PATH, body, headers)
        finally:
            sys.setprofile(None)
        assert response.status == 200


def _spine(frame: FrameType | None) -> Iterator[str]:
    while frame is not None:
        if frame.f_code.co_filename.startswith(_ROOT):
            yield frame.f_code.co_qualname
        frame = frame.f_back


def _is_of_the_write(name: str) -> bool:
    if name.startswith("/server/"):
        return name.startswith("/server/verbs/")
    return not name.startswith(_NOT_OF_THE_WRITE)
