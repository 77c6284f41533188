"""Expectations of a test, and the texts of their failures."""

import asyncio
from collections.abc import Callable

import pytest

from sampan.client import MergePatch
from sampan.operator import Builder, Manager, Request, Result
from sampan.testing import (
    Cluster,
    Leak,
    NotMet,
    Predicate,
    exists,
    field,
    has_condition,
    has_status,
    is_gone,
    matches,
    owned_by,
)
from tests.operator.cluster import CONFIG_MAPS, SECRETS

BOX = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "box"}, "data": {"colour": "blue"}}
ADA = {"kind": "Boat", "metadata": {"name": "ada", "uid": "1"}}
READY = {"type": "Ready", "status": "False", "reason": "NoCrew", "message": "nobody is on board"}


def operator(reconcile: Callable[[Manager, Request], object]) -> Callable[[Manager], None]:
    """Return the set-up of a controller of ConfigMaps."""

    def set_up(manager: Manager) -> None:
        async def run(request: Request) -> Result | None:
            result = reconcile(manager, request)
            assert asyncio.iscoroutine(result)
            await result
            return None

        Builder(manager).for_(CONFIG_MAPS).complete(run)

    return set_up


async def make_secret(manager: Manager, request: Request) -> None:
    """Keep a Secret that the ConfigMap owns."""
    box = await manager.client.resource(CONFIG_MAPS).get(request.name)
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": request.name, "uid": box["metadata"]["uid"]}
    head = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "ownerReferences": [owner]}}
    await manager.client.resource(SECRETS).apply({**head, "stringData": {"password": "hunter2"}})


async def mark(manager: Manager, request: Request) -> None:
    """Write a label in each reconcile, whether it is there or not."""
    change = MergePatch({"metadata": {"labels": {"seen": "yes"}}})
    await manager.client.resource(CONFIG_MAPS).patch(request.name, change)


@pytest.mark.parametrize(
    ("predicate", "differences"),
    [
        (has_condition("Ready"), ["condition Ready: False (NoCrew: nobody is on board), expected True"]),
        (has_condition("Done"), ["condition Done: missing, expected True"]),
        (has_status(ready_replicas=3), [".status.readyReplicas: 1, expected 3"]),
        (field(".spec.replicas") == 3, [".spec.replicas: 2, expected to equal 3"]),
        (field(".spec.paused").is_set(), [".spec.paused: missing, expected to be 'set'"]),
        (matches({"spec": {"replicas": 3}}), [".spec.replicas: 2, expected 3"]),
        (is_gone(), ["it exists, and nothing has requested its deletion"]),
        (~exists(), ["it does exist"]),
        (
            owned_by({"kind": "Boat", "metadata": {"name": "ada", "uid": "1"}}),
            ["owned by nothing, expected Boat/ada with uid 1"],
        ),
        ((field(".spec.replicas") > 1) & has_condition("Ready", "False"), []),
        (has_condition("Ready") | (field(".spec.replicas") < 3), []),
    ],
    ids=str,
)
def test_predicates_explain_what_differs(predicate: Predicate, differences: list[str]) -> None:
    obj = {"metadata": {"name": "web"}, "spec": {"replicas": 2}, "status": {"conditions": [READY], "readyReplicas": 1}}
    assert predicate.explain(obj) == differences


async def test_eventually_returns_the_object_in_its_expected_state(cluster: Cluster) -> None:
    cluster.run(operator(mark))
    await cluster.apply(BOX)
    found = await cluster.eventually("cm/box", field(".metadata.labels.seen") == "yes")
    assert found["data"] == {"colour": "blue"}
    assert await cluster.eventually(lambda: cluster.requests.by("operator").writes)


async def test_a_failure_shows_the_nearest_state_and_the_timeline(cluster: Cluster) -> None:
    cluster.run(operator(make_secret))
    await cluster.apply(BOX)
    await cluster.eventually("secret/s")
    with pytest.raises(NotMet) as failure:
        await cluster.eventually("cm/box", has_condition("Ready"), within=30)
    lines = str(failure.value).splitlines()
    assert lines[:2] == [
        "cm/box has to have condition Ready=True within 30 s",
        "  last state: condition Ready: missing, expected True",
    ]
    assert lines[2].startswith("timeline of cm/box and what it owns, until 00:00:30")
    assert "configmaps/box created by test: .metadata.name='box'" in lines[3]
    assert any("secrets/s created by operator" in line for line in lines)
    assert any("reconcile by configmap: done" in line for line in lines)
    assert "hunter2" not in str(failure.value)
    assert len(lines) <= 60


@pytest.mark.cluster(allow_errors=True)
async def test_a_failure_shows_refused_requests_and_failed_reconciles(cluster: Cluster) -> None:
    await cluster.apply({**_role(["get", "list", "watch"]), "metadata": {"name": "reader"}})
    await cluster.apply(_binding("reader", "op"))
    cluster.run(operator(make_secret), user="op")
    await cluster.apply(BOX)
    with pytest.raises(NotMet, match="refused: operator: patch secrets default/s -> 403"):
        await cluster.eventually("secret/s", within=5)
    with pytest.raises(NotMet, match=r"reconcile by configmap: failed, again in 5.12 s: Forbidden: "):
        await cluster.eventually("cm/box", has_condition("Ready"), within=5)
    assert cluster.privileges().refused == {("", "secrets", "patch")}


async def make_typo(manager: Manager, request: Request) -> None:
    """Create a Secret with a field that does not exist."""
    if request.name == "box":
        head = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
        await manager.client.resource(SECRETS).create({**head, "stringDate": {}})


@pytest.mark.filterwarnings("ignore::sampan.testing.ServerWarning")
async def test_warnings_of_the_server_are_part_of_the_requests(cluster: Cluster) -> None:
    cluster.run(operator(make_typo))
    await cluster.apply(BOX)
    await cluster.eventually("secret/s")
    assert [each.verb for each in cluster.requests.by("operator").warned] == ["create"]
    assert cluster.requests.by("operator").warnings == ['unknown field "stringDate"']
    assert cluster.requests.by("test").warnings == []
    with pytest.raises(NotMet, match=r'warned: operator: create secrets default -> 201, warning: unknown field "str'):
        await cluster.eventually("secret/s", has_condition("Ready"), within=5)


async def test_never_and_consistently_fail_at_the_first_state_that_differs(cluster: Cluster) -> None:
    await cluster.apply(BOX)
    await cluster.consistently("cm/box", field(".data.colour") == "blue")
    await cluster.never("cm/box", field(".data.colour") == "red")

    async def paint() -> None:
        await asyncio.sleep(10)
        await cluster.patch("cm/box", {"data": {"colour": "red"}})
        await cluster.patch("cm/box", {"data": {"colour": "blue"}})

    cluster.run(paint)
    with pytest.raises(NotMet, match="red"):
        await cluster.never("cm/box", field(".data.colour") == "red")


async def test_the_error_of_an_operator_fails_the_test(cluster: Cluster) -> None:
    async def broken() -> None:
        raise ValueError("no crew")

    cluster.run(broken)
    with pytest.raises(ValueError, match="no crew"):
        await cluster.eventually("cm/box")


async def test_an_operator_that_writes_in_each_reconcile_fails_no_writes(cluster: Cluster) -> None:
    cluster.run(operator(mark))
    await cluster.apply(BOX)
    await cluster.settled()
    async with cluster.no_writes():
        pass
    with pytest.raises(NotMet, match="operator: patch configmaps default/box"):
        async with cluster.no_writes():
            await cluster.patch("cm/box", {"data": {"colour": "red"}})


async def test_an_expectation_about_operators_needs_an_operator(cluster: Cluster) -> None:
    with pytest.raises(RuntimeError, match="no operator runs"):
        await cluster.assert_idempotent()
    with pytest.raises(RuntimeError, match="no operator runs"):
        async with cluster.no_writes():
            pass


async def test_a_restart_must_change_nothing(cluster: Cluster) -> None:
    cluster.run(operator(mark))
    await cluster.apply(BOX)
    await cluster.assert_idempotent()

    starts = []

    def count(manager: Manager) -> None:
        starts.append(manager)

        async def number(manager: Manager, request: Request) -> None:
            await manager.client.resource(CONFIG_MAPS).patch(
                request.name, MergePatch({"data": {"n": str(len(starts))}})
            )

        operator(number)(manager)

    cluster.run(count, name="counter")
    with pytest.raises(NotMet, match=r"configmaps/box changed by counter: \.data\.n='2'"):
        await cluster.assert_idempotent()


async def test_the_role_of_an_operator_has_the_rights_that_it_used(cluster: Cluster) -> None:
    cluster.run(operator(make_secret))
    await cluster.apply(BOX)
    await cluster.settled()
    role = cluster.privileges().role("boxes")
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]},
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create", "patch"]},
    ]
    assert cluster.privileges().unused(_role(["delete"])) == ["delete configmaps"]


@pytest.mark.cluster(loops="none", allow_errors=True)
async def test_orphans_are_leaks(cluster: Cluster) -> None:
    cluster.run(operator(make_secret))
    await cluster.apply(BOX)
    await cluster.eventually("secret/s")
    await cluster.delete("cm/box")
    with pytest.raises(Leak, match="secrets/s is an orphan: its owner ConfigMap/box does not exist"):
        await cluster.check_leaks()
    await cluster.delete("secret/s")


def _role(verbs: list[str]) -> dict[str, object]:
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": [rule]}


def _binding(role: str, user: str) -> dict[str, object]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": role},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}],
    }


async def refuse(manager: Manager, request: Request) -> None:
    """Fail in each reconcile, with a text that is longer than a line of the timeline."""
    raise ValueError(f"no harbour for {request.name}: {'it is too long, ' * 12}and that is the end")


@pytest.mark.cluster(allow_errors=True)
async def test_a_failure_shows_the_errors_of_reconciles_also_if_the_object_does_not_exist(cluster: Cluster) -> None:
    cluster.run(operator(refuse))
    await cluster.apply(BOX)
    with pytest.raises(NotMet) as caught:
        await cluster.eventually("secret/box", within=60)
    lines = str(caught.value).splitlines()
    at = lines.index("reconciles that fail:")
    assert lines[at + 1].startswith("  default/box by configmap, 14 times: ValueError: no harbour for box: it is too")
    assert lines[at + 1].endswith("and that is the end")


@pytest.mark.cluster(allow_errors=True)
async def test_equal_failures_are_one_line_of_the_timeline(cluster: Cluster) -> None:
    cluster.run(operator(refuse))
    await cluster.apply(BOX)
    with pytest.raises(NotMet) as caught:
        await cluster.eventually("cm/box", field(".data.colour") == "red", within=60)
    reconciles = [line for line in str(caught.value).splitlines() if " reconcile by configmap" in line]
    assert len(reconciles) == 1
    assert " 14 times: reconcile by configmap: failed, again in 41 s: ValueError" in reconciles[0]


@pytest.mark.parametrize(
    ("kind", "resource"), [("Deployment", "deployments"), ("Job", "jobs"), ("Pod", "pods")], ids=str
)
async def test_a_failure_names_the_loop_that_does_not_run(cluster: Cluster, kind: str, resource: str) -> None:
    await cluster.create(cluster.build(kind, "web"))
    with pytest.raises(NotMet, match=f'no loop acts on {resource}: @pytest.mark.cluster\\(loops="chain"\\) runs it'):
        await cluster.eventually(f"{kind}/web", has_condition("Ready"), within=1)


@pytest.mark.cluster(loops="chain")
async def test_a_failure_names_no_loop_that_runs(cluster: Cluster) -> None:
    await cluster.create(cluster.build("Deployment", "web"))
    with pytest.raises(NotMet) as caught:
        await cluster.eventually("deploy/web", has_condition("Sunk"), within=1)
    assert "no loop acts" not in str(caught.value)


@pytest.mark.cluster(loops="chain")
async def test_the_chain_deletes_claims(cluster: Cluster) -> None:
    await cluster.create(cluster.build("PersistentVolumeClaim", "data"))
    await cluster.delete("pvc/data")
    await cluster.eventually("pvc/data", is_gone())


async def test_a_claim_that_stays_is_a_leak_with_the_loop_that_deletes_it(cluster: Cluster) -> None:
    cluster.run(operator(make_secret))
    await cluster.create(cluster.build("PersistentVolumeClaim", "data"))
    await cluster.delete("pvc/data")
    with pytest.raises(Leak, match='pvc-protection; loops="persistentvolumeclaim-protection-controller" does'):
        await cluster.check_leaks()
    await cluster.patch("pvc/data", MergePatch({"metadata": {"finalizers": None}}))


async def test_a_failure_shows_the_requests_for_which_the_operator_has_no_right(cluster: Cluster) -> None:
    cluster.run(operator(make_secret), user="op")
    await cluster.apply(BOX)
    with pytest.raises(NotMet) as caught:
        await cluster.eventually("secret/s", within=5)
    lines = str(caught.value).splitlines()
    assert lines[lines.index("requests without a right:") + 1].startswith("  operator: watch configmaps (")


async def test_the_timeline_names_the_manager_of_each_of_two_writes_in_one_second(cluster: Cluster) -> None:
    maps = cluster.client(actor="painter").resource(CONFIG_MAPS)
    await cluster.apply(BOX)
    colours = ("red", "green", "blue")
    for colour in colours:
        await maps.patch("box", MergePatch({"data": {"colour": colour}}))
    with pytest.raises(NotMet) as caught:
        await cluster.eventually("cm/box", is_gone(), within=1)
    assert [line.split()[3:] for line in str(caught.value).splitlines() if "changed by" in line] == [
        ["configmaps/box", "changed", "by", "painter:", f".data.colour='{colour}'"]
        for colour in ("red", "green", "blue")
    ]
