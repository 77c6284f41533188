"""Reconciler of a Network, with an API server in this process and a backend in memory."""

import datetime as dt
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from network_operator.backend import Refused, Unavailable
from network_operator.plan import Subnet, identity_of
from network_operator.reconcile import NetworkReconciler
from network_operator.types import FINALIZER, Network, NetworkSpec
from sampan.client import Client, Invalid, MergePatch, NotFound, ResourceClient
from sampan.operator.conditions import find_condition
from sampan.operator.request import Request, Result
from sampan.resource import ObjectMeta
from sampan.resource.crd import crd_of
from tests.client.connected import connected
from tests.examples.network.backend import MemoryBackend
from tests.properties import examples
from tests.server.custom_resources import CRDS

REQUEST = Request("default", "net")
NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


class FixedClock:
    """Clock that always shows noon."""

    def now(self) -> dt.datetime:
        """Return noon."""
        return NOON


@dataclass(slots=True)
class Events:
    """Recorder that keeps the reasons of Events."""

    reasons: list[str] = field(default_factory=list)

    def normal(self, obj: Network, reason: str, note: str) -> None:
        """Record the reason."""
        assert note
        self.reasons.append(reason)

    warning = normal


@dataclass(slots=True)
class Setting:
    """API, backend and reconciler of a test."""

    client: Client
    networks: ResourceClient[Network]
    backend: MemoryBackend
    events: Events
    reconciler: NetworkReconciler

    async def create(self, cidr: str = "10.0.0.0/16", gateway: str = "10.0.0.1") -> Network:
        """Create the object."""
        metadata = ObjectMeta(name="net", namespace="default")
        return await self.networks.create(Network(metadata=metadata, spec=NetworkSpec(cidr=cidr, gateway=gateway)))

    async def change(self, **spec: str) -> None:
        """Patch the spec."""
        await self.networks.in_namespace("default").patch("net", MergePatch({"spec": spec}))

    async def get(self) -> Network:
        """Return the object."""
        return await self.networks.in_namespace("default").get("net")

    async def delete(self) -> None:
        """Delete the object."""
        await self.networks.in_namespace("default").delete("net")

    async def reconcile(self) -> Result | None:
        """Reconcile once."""
        return await self.reconciler.reconcile(REQUEST)

    async def subnets(self) -> list[tuple[str, str]]:
        """Return CIDR and gateway of each subnet in the backend."""
        return [(s.cidr, s.gateway) for retained in self.backend.networks.values() for s in retained.subnets.values()]


@asynccontextmanager
async def setting() -> AsyncIterator[Setting]:
    """Run a server with the CRD, and a reconciler that reads from it without a cache."""
    async with connected() as (client, api):
        await api.create(CRDS, crd_of(Network))
        networks = client.resource(Network, namespace="")
        backend, events = MemoryBackend(), Events()

        async def read(request: Request) -> Network | None:
            try:
                return await networks.in_namespace(request.namespace).get(request.name)
            except NotFound:
                return None

        reconciler = NetworkReconciler(networks, read, read, backend, events, recheck_s=60, clock=FixedClock())
        yield Setting(client, networks, backend, events, reconciler)


async def test_network_is_created_and_reported() -> None:
    async with setting() as here:
        await here.create()
        assert await here.reconcile() == Result(60)
        network = await here.get()
        assert await here.subnets() == [("10.0.0.0/16", "10.0.0.1")]
        assert network.status is not None
        assert (network.status.network_id, network.status.subnet_id) == ("net-0", "sub-1")
        ready = find_condition(network.status.conditions, "Ready")
        assert ready is not None
        assert (ready.status, ready.observed_generation, ready.last_transition_time) == (
            "True",
            1,
            "2026-01-01T12:00:00Z",
        )
        assert network.metadata.finalizers == [FINALIZER]
        assert here.events.reasons == ["Created"]


async def test_second_reconcile_changes_nothing() -> None:
    async with setting() as here:
        await here.create()
        await here.reconcile()
        before = await here.get()
        await here.reconcile()
        assert await here.get() == before
        assert len(here.backend.creates) == 1
        assert here.events.reasons == ["Created"]


async def test_gateway_is_updated_in_place() -> None:
    async with setting() as here:
        await here.create()
        await here.reconcile()
        await here.change(gateway="10.0.0.9")
        await here.reconcile()
        network = await here.get()
        assert await here.subnets() == [("10.0.0.0/16", "10.0.0.9")]
        assert network.status is not None
        assert (network.status.subnet_id, network.status.observed_generation) == ("sub-1", 2)
        assert here.events.reasons == ["Created", "Updated"]


async def test_new_cidr_replaces_the_subnet_and_keeps_the_network() -> None:
    async with setting() as here:
        await here.create()
        await here.reconcile()
        await here.change(cidr="10.7.0.0/16", gateway="10.7.0.1")
        await here.reconcile()
        network = await here.get()
        assert await here.subnets() == [("10.7.0.0/16", "10.7.0.1")]
        assert network.status is not None
        assert (network.status.network_id, network.status.subnet_id) == ("net-0", "sub-2")


@pytest.mark.parametrize("drift", ["network deleted", "subnet deleted", "gateway edited", "renamed", "doubled"])
async def test_drift_is_repaired(drift: str) -> None:
    async with setting() as here:
        network = await here.create()
        await here.reconcile()
        [retained] = here.backend.networks.values()
        match drift:
            case "network deleted":
                here.backend.networks.clear()
            case "subnet deleted":
                retained.subnets.clear()
            case "gateway edited":
                retained.subnets["sub-1"] = Subnet("sub-1", "10.0.0.0/16", "10.0.0.77")
            case "renamed":
                retained.name = "mine"
            case "doubled":
                here.backend.networks["zz"] = type(retained)("zz", retained.name, retained.identity)
        await here.reconcile()
        assert await here.subnets() == [("10.0.0.0/16", "10.0.0.1")]
        assert [each.name for each in here.backend.networks.values()] == ["default/net"]
        assert here.events.reasons == ["Created", "DriftRepaired"]
        assert identity_of(network) == next(iter(here.backend.networks.values())).identity


async def test_network_of_an_earlier_run_is_adopted() -> None:
    async with setting() as here:
        await here.create()
        # The network was made, and then everything was lost but Neutron's database.
        here.backend.failures = [(Unavailable("killed"), True)]
        with pytest.raises(Unavailable):
            await here.reconcile()
        await here.reconcile()
        assert len(here.backend.creates) == 1
        assert here.events.reasons == ["NeutronUnavailable", "Adopted"]


async def test_deletion_deletes_the_network_before_the_object() -> None:
    async with setting() as here:
        await here.create()
        await here.reconcile()
        await here.delete()
        assert (await here.get()).metadata.deletion_timestamp
        await here.reconcile()
        assert here.backend.networks == {}
        with pytest.raises(NotFound):
            await here.get()
        assert await here.reconcile() is None


async def test_object_stays_while_neutron_is_unavailable() -> None:
    async with setting() as here:
        await here.create()
        await here.reconcile()
        await here.delete()
        here.backend.failures = [(Unavailable("away"), False)]
        with pytest.raises(Unavailable):
            await here.reconcile()
        assert (await here.get()).metadata.finalizers == [FINALIZER]


async def test_refusal_is_reported_and_not_retried_at_once() -> None:
    async with setting() as here:
        await here.create()
        here.backend.failures = [(Refused("quota exceeded"), False)]
        assert await here.reconcile() == Result(60)
        status = (await here.get()).status
        assert status is not None
        ready = find_condition(status.conditions, "Ready")
        assert ready is not None
        assert (ready.status, ready.reason, ready.message) == ("False", "Refused", "quota exceeded")


async def test_outage_is_reported_once() -> None:
    async with setting() as here:
        await here.create()
        here.backend.failures = [(Unavailable("away"), False)] * 2
        for _ in range(2):
            with pytest.raises(Unavailable):
                await here.reconcile()
        assert here.events.reasons == ["NeutronUnavailable"]


@pytest.mark.parametrize(
    ("cidr", "gateway", "message"),
    [
        ("10.0.0.0", "10.0.0.1", "must be a CIDR"),
        ("10.0.0.0/16", "gate", "must be an IP address"),
        ("10.0.0.0/16", "10.1.0.1", "gateway 10.1.0.1 is not in 10.0.0.0/16"),
    ],
    ids=["cidr", "gateway", "outside"],
)
async def test_server_refuses_invalid_addresses(cidr: str, gateway: str, message: str) -> None:
    async with setting() as here:
        with pytest.raises(Invalid, match=message):
            await here.create(cidr, gateway)


faults = st.lists(st.tuples(st.sampled_from([Unavailable("lost"), Unavailable("killed")]), st.booleans()), max_size=6)


@given(faults, faults)
@settings(max_examples=examples(20))
async def test_any_failure_leads_to_one_network_and_after_deletion_to_none(
    while_making: list[tuple[Exception, bool]], while_deleting: list[tuple[Exception, bool]]
) -> None:
    async with setting() as here:
        network = await here.create()
        here.backend.failures = list(while_making)
        await _until_it_goes_well(here)
        assert await here.subnets() == [("10.0.0.0/16", "10.0.0.1")]
        assert here.backend.creates == [identity_of(network)]
        here.backend.failures = list(while_deleting)
        await here.delete()
        await _until_it_goes_well(here)
        assert here.backend.networks == {}


async def _until_it_goes_well(here: Setting) -> None:
    for _ in range(10):
        try:
            await here.reconcile()
        except Unavailable:
            continue
        return
    raise AssertionError("it never went well")
