"""No request keeps the event loop from other clients: the loop's steps stay short, whatever the request.

The figure is the processor time of the loop's thread between two turns of the loop: what threads compute, and what else
the machine does, does not count. The bound is many times what is needed, and far below what each of these took.
"""

from collections.abc import AsyncIterator

import pytest
from benchmarks.loop_fuzz import cases
from benchmarks.loop_fuzz.bodies import kind_cases, metadata_cases, patch_cases, pod_cases
from benchmarks.loop_fuzz.cases import Call, Case

from tests.server.cluster import Api, served
from tests.server.loop_time import longest_step_time_s

STEP_S_MAX = 0.5
ITEMS_BYTES = 600_000
"""Size of the lists in the bodies: a fifth of what may be sent."""
CASES = {
    case.name: case
    for case in [*metadata_cases(), *pod_cases(), *kind_cases(), *patch_cases()]
    if case.name
    in {
        "ConfigMap, 180,000 invalid data keys",
        "ConfigMap, 150,000 bad finalizers",
        "ConfigMap, equal owners",
        "ConfigMap, managedFields",
        "ConfigMap, unknown fields",
        "Pod, 100,000 empty containers",
        "Pod, ports of one number",
        "Service, externalIPs",
        "SubjectAccessReview, label selector",
        "TokenReview, JWT",
        "apply, 100,000 fields",
        "JSON patch, copies that double",
        "strategic, env on env",
    }
}


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with served() as api:
        yield api


async def send(api: Api, fetch: Call) -> int:
    return (await api.fetch(fetch.method, fetch.path, fetch.body, content_type=fetch.content_type)).code


@pytest.fixture(autouse=True)
def smaller_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "ITEMS_BYTES_MAX", ITEMS_BYTES)


async def longest_step_s(api: Api, case: Case) -> float:
    """Processor time of the longest turn of the loop while the case is answered."""
    for fetch in case.before():
        await send(api, fetch)

    async def request() -> None:
        assert await send(api, case.make()) < 500

    return await longest_step_time_s(request(), 0.002)


@pytest.mark.parametrize("name", CASES)
async def test_one_large_request_takes_only_short_steps(api: Api, name: str) -> None:
    assert await longest_step_s(api, CASES[name]) < STEP_S_MAX


def test_all_cases_were_found() -> None:
    assert len(CASES) == 13
