"""Priority."""

from typing import Any

import pytest

from tests.server.admission.objects import PODS, pod, refused
from tests.server.cluster import Api

_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


async def _class(api: Api, name: str, value: int, **more: Any) -> None:
    await api.create(_CLASSES, {"metadata": {"name": name}, "value": value, **more})


def _priority_of(obj: Any) -> tuple[Any, Any, Any]:
    spec = obj["spec"]
    return spec.get("priorityClassName"), spec["priority"], spec.get("preemptionPolicy")


async def test_without_a_class_it_is_zero(api: Api) -> None:
    assert _priority_of(await api.create(PODS, pod())) == (None, 0, "PreemptLowerPriority")


async def test_a_class_gives_its_value_and_policy(api: Api) -> None:
    await _class(api, "high", 1000, preemptionPolicy="Never")
    assert _priority_of(await api.create(PODS, pod(priorityClassName="high"))) == ("high", 1000, "Never")


async def test_the_lowest_default_class_is_taken(api: Api) -> None:
    await _class(api, "usual", 10, globalDefault=True)
    assert _priority_of(await api.create(PODS, pod())) == ("usual", 10, "PreemptLowerPriority")
    await api.delete(f"{_CLASSES}/usual")
    assert _priority_of(await api.create(PODS, pod("q"))) == (None, 0, "PreemptLowerPriority")


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"priorityClassName": "x"}, "no PriorityClass with name x was found"),
        (
            {"priority": 7},
            "the integer value of priority (7) must not be provided in pod spec; priority admission controller "
            "computed 0 from the given PriorityClass name",
        ),
        (
            {"preemptionPolicy": "Never"},
            "the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission "
            "controller computed PreemptLowerPriority from the given PriorityClass name",
        ),
    ],
)
async def test_a_pod_does_not_know_better(api: Api, spec: dict[str, Any], text: str) -> None:
    assert await refused(api, PODS, pod(**spec)) == f'pods "p" is forbidden: {text}'


async def test_there_is_one_default(api: Api) -> None:
    await _class(api, "one", 1, globalDefault=True)
    obj = {"metadata": {"name": "two"}, "value": 2, "globalDefault": True}
    assert await refused(api, _CLASSES, obj) == (
        'priorityclasses.scheduling.k8s.io "two" is forbidden: PriorityClass one is already marked as default. Only '
        "one default can exist"
    )
    assert (await api.patch(f"{_CLASSES}/one", {"description": "mine"})).code == 200


async def test_an_update_keeps_what_was_computed(api: Api) -> None:
    made = await api.create(PODS, pod())
    for field in ("priority", "preemptionPolicy"):
        del made["spec"][field]
    response = await api.put(f"{PODS}/p", made)
    assert response.code == 200, response.body
    assert _priority_of(response.body) == (None, 0, "PreemptLowerPriority")


@pytest.mark.parametrize(
    ("name", "value"), [("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)]
)
async def test_the_system_classes_are_there_from_the_start(api: Api, name: str, value: int) -> None:
    response = await api.get(f"{_CLASSES}/{name}")
    assert (response.code, response.body["value"]) == (200, value)


async def test_a_system_class_stays(api: Api) -> None:
    response = await api.delete(f"{_CLASSES}/system-node-critical")
    text = 'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: '
    assert (response.code, response.message) == (403, f"{text}this is a system priority class and cannot be deleted")
