"""The amount of Python that a write runs: a bound for the calls of one server-side apply, from filters to response.

`python -m benchmarks.write_calls` shows the calls by function, and the processor time.
"""

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import orjson
import pytest

import sampan
from tests.server.cluster import CONTENT_TYPES, served
from tests.server.verbs.objects import DEPLOYMENTS, deployment

CALLS_MAX = {"changed": 560, "unchanged": 400}
FILES_MAX = 122
WRITE_FILES_MAX = 51
"""Files without the filters, admission, basic types, and the schema and rules of the kind."""
_ROOT = str(Path(sampan.__file__).parent)
_PATH = f"{DEPLOYMENTS}/d?fieldManager=tests"
_NOT_OF_THE_WRITE = ("/registry/kinds/", "/schema/", "/core/")


@pytest.mark.parametrize(("kind", "replicas"), [("changed", 9), ("unchanged", 4)], ids=["changed", "unchanged"])
async def test_a_warm_apply_stays_within_its_calls(kind: str, replicas: int) -> None:
    async with served() as api:
        for before in (1, 2, 3, 4, 4, 4):
            assert (await api.apply(f"{DEPLOYMENTS}/d", deployment(replicas=before))).code in (200, 201)
        body, headers = orjson.dumps(deployment(replicas=replicas)), {"content-type": CONTENT_TYPES["apply"]}
        calls: Counter[str] = Counter()

        def count(frame: FrameType, event: str, argument: Any) -> None:
            if event == "call" and frame.f_code.co_filename.startswith(_ROOT):
                calls[frame.f_code.co_filename.removeprefix(_ROOT)] += 1

        sys.setprofile(count)
        try:
            response = await api.client.request("PATCH", _PATH, body, headers)
        finally:
            sys.setprofile(None)
        assert response.status == 200
    write = {name for name in calls if _is_of_the_write(name)}
    assert (calls.total() <= CALLS_MAX[kind], len(calls) <= FILES_MAX, len(write) <= WRITE_FILES_MAX) == (
        True,
        True,
        True,
    ), f"{calls.total()} calls in {len(calls)} files, {len(write)} of them of the write"


def _is_of_the_write(name: str) -> bool:
    if name.startswith("/server/"):
        return name.startswith("/server/verbs/")
    return not name.startswith(_NOT_OF_THE_WRITE)
