"""An operator that makes an object with a generated name if its cache has none."""

import pytest

from sampan.client import ListOptions
from sampan.operator import Builder, Manager, Request
from sampan.testing import Cluster
from sampan.testing.explore import Report, Scenario, explore, scenario
from tests.operator.cluster import CONFIG_MAPS, SECRETS

BOX = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "box"}}


def case(*, live: bool) -> Scenario:
    """Return a scenario of the operator; `live`: it reads from the server before it creates."""

    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> None:
            client = manager.client.direct if live else manager.client
            found = await client.resource(SECRETS, namespace="default").list(ListOptions(label_selector="of=box"))
            if request.name == "box" and not found.items:
                head = {"generateName": "key-", "namespace": "default", "labels": {"of": "box"}}
                await manager.client.resource(SECRETS).create({"apiVersion": "v1", "kind": "Secret", "metadata": head})

        Builder(manager).for_(CONFIG_MAPS).owns(SECRETS).complete(reconcile)

    @scenario(set_up)
    async def one_key(cluster: Cluster) -> None:
        await cluster.apply(BOX)

    return one_key


def test_a_restart_with_an_old_view_makes_a_second_object() -> None:
    found = {str(each.plan) for each in explore(case(live=False)).findings}
    assert found == {
        "the operator restarts, with its view from before create secrets key- by operator, "
        "when create secrets key- by operator is done"
    }


def test_a_live_read_prevents_it() -> None:
    assert not explore(case(live=True)).findings


@pytest.mark.parametrize(("count", "lines"), [(1, 0), (3, 2)], ids=str)
def test_findings_with_equal_differences_are_shown_once(count: int, lines: int) -> None:
    finding = explore(case(live=False)).findings[0]
    text = str(Report("one_key", findings=[finding] * count))
    assert text.count("without the fault") == 1
    assert text.count(f"    {finding.plan}") == lines
    assert (f"the same differences with {lines} more:" in text) == bool(lines)
