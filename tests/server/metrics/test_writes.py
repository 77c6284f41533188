"""Metrics of the steps of writes."""

from sampan.registry.write.steps import PLANS
from sampan.registry.write.write import WriteKind
from tests.server.cluster import Api, served

TARGET = "/api/v1/namespaces/default/configmaps"
METRIC = "sampan_write_step_duration_seconds"


async def timed(api: Api, part: str) -> dict[str, float]:
    """The samples of all steps."""
    text = (await api.client.get("/metrics")).body.decode()
    start = f'{METRIC}_{part}{{step="'
    found = (line.removeprefix(start).split('"} ') for line in text.splitlines() if line.startswith(start))
    return {step: float(value) for step, value in found}


async def test_each_step_of_a_write_has_its_durations() -> None:
    async with served() as api:
        for number in range(32):
            await api.create(TARGET, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{number}"}})
        counts = await timed(api, "count")
        assert all(counts[step.name] >= 2 for step in PLANS[WriteKind.CREATE].once)
        assert all(counts[step.name] >= 2 for step in PLANS[WriteKind.CREATE].absent)
        assert (await timed(api, "sum"))["store"] > 0
