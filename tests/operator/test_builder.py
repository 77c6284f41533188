"""Names, predicates and errors of a builder."""

from typing import Any

import pytest

from sampan.operator.builder import Builder, BuildError
from sampan.operator.handlers import for_object
from sampan.operator.manager import Manager
from sampan.operator.predicates import PredicateFuncs
from sampan.operator.request import Request
from sampan.operator.source import PeriodicSource
from sampan.testing import Cluster
from tests.operator.cluster import CONFIG_MAPS, SECRETS
from tests.operator.manager.frame import manager
from tests.operator.refs import NETWORKS, PODS


async def reconcile(request: Request) -> None:
    """Does nothing."""


async def test_the_name_is_the_kinds_unless_it_is_given() -> None:
    made = manager()
    assert Builder(made).for_(NETWORKS).complete(reconcile).name == "network"
    assert Builder(made).for_(NETWORKS).named("other").complete(reconcile).name == "other"


async def test_two_controllers_for_one_kind_need_two_names() -> None:
    made = manager()
    Builder(made).for_(NETWORKS).complete(reconcile)
    with pytest.raises(ValueError, match="called 'network' already: give this one another name"):
        Builder(made).for_(NETWORKS).complete(reconcile)


async def test_a_controller_reconciles_one_kind() -> None:
    with pytest.raises(BuildError, match="for_ may be called only once"):
        Builder(manager()).for_(NETWORKS).for_(PODS)


@pytest.mark.parametrize(
    ("describe", "message"),
    [
        (lambda builder: builder, "nothing is watched"),
        (lambda builder: builder.named("x"), "nothing is watched"),
        (lambda builder: builder.owns(PODS), "owns needs for_"),
        (lambda builder: builder.watches(PODS, for_object), "needs a name"),
        (lambda builder: builder.watches(PODS, for_object).named("x").recheck_every(5), "recheck_every needs for_"),
        (lambda builder: builder.for_(NETWORKS).recheck_every(0), "must be positive"),
    ],
    ids=["nothing", "a name", "owns", "no name", "recheck", "period"],
)
async def test_an_invalid_controller_is_refused(describe: object, message: str) -> None:
    with pytest.raises(BuildError, match=message):
        describe(Builder(manager())).complete(reconcile)  # type: ignore[operator]


async def test_an_undeclared_class_is_refused_where_it_is_named() -> None:
    with pytest.raises(TypeError, match="int is not a declared kind"):
        Builder(manager()).for_(int)


async def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match="max_concurrent_reconciles"):
        Builder(manager()).with_options(max_concurrent_reconciles=0)
    with pytest.raises(TypeError, match="workers"):
        Builder(manager()).with_options(workers=5)  # type: ignore[call-arg]


async def test_a_controller_may_live_from_other_sources_alone() -> None:
    source = PeriodicSource(lambda: [Request("", "a")], 60)
    assert Builder(manager()).watches_source(source).named("clock").complete(reconcile).name == "clock"


async def test_one_informer_serves_all_controllers_of_a_kind() -> None:
    made = manager()
    Builder(made).for_(NETWORKS).owns(PODS).complete(reconcile)
    Builder(made).for_(PODS).watches(NETWORKS, for_object).complete(reconcile)
    assert len(made.informers.informers) == 2
    assert made.client.is_cached(PODS)


async def test_metadata_alone_is_no_cache_to_read_from() -> None:
    made = manager()
    Builder(made).for_(NETWORKS).owns(PODS, metadata_only=True).complete(reconcile)
    assert not made.client.is_cached(PODS)


async def test_predicates_of_the_builder_hold_for_each_watched_kind(cluster: Cluster) -> None:
    reconciled: list[str] = []

    async def record(request: Request) -> None:
        reconciled.append(request.name)

    def watch(made: Manager) -> None:
        in_port = PredicateFuncs[Any](on_create=lambda obj: obj.labels.get("at") == "port")
        Builder(made).for_(CONFIG_MAPS).watches(SECRETS, for_object).with_predicates(in_port).complete(record)

    cluster.run(watch)
    for kind, name, at in (("ConfigMap", "box", "port"), ("ConfigMap", "crate", "sea"), ("Secret", "note", "sea")):
        await cluster.apply({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "labels": {"at": at}}})
    await cluster.settled()
    assert set(reconciled) == {"box"}
