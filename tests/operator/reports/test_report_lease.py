"""The Lease that announces the reports of a process without leader election."""

import asyncio
import datetime as dt
import itertools
import json
import logging
import uuid
from typing import Any

import pytest

from sampan.client import MergePatch, wait_for
from sampan.client.client import Client
from sampan.core.time import SystemClock, format_micro_time
from sampan.operator.leader_election.lease_lock import LEASES
from sampan.operator.reports import ANNOTATION, Place, ReportLease
from sampan.operator.reports.report_lease import DURATION_S, REFUSED_S, RENEW_S, SLOTS, lease_name
from tests.operator.cluster import cluster_client

_PIDS = itertools.count(100)


def process_on(host: str, pid: int = 0) -> Place:
    """Return the place of a new process."""
    return Place(host, holder=f"{host}_{pid or next(_PIDS)}_{uuid.uuid4()}")


def announced(client: Client, place: Place | None = None, namespace: str = "default") -> ReportLease:
    place = process_on("laptop") if place is None else place
    return ReportLease(client, "boats", namespace=namespace, place=place, port=lambda: 8443, clock=SystemClock())


async def leases(client: Client) -> dict[str, dict[str, Any]]:
    found = await client.resource(LEASES).list()
    return {each["metadata"]["name"]: each for each in found.items}


async def holders(client: Client) -> dict[str, str]:
    return {name: each["spec"].get("holderIdentity") or "" for name, each in (await leases(client)).items()}


async def test_a_process_announces_its_place_and_releases_the_lease_at_its_end() -> None:
    async with cluster_client() as client:
        place = Place("boats-1", "default", "boats-1")
        task = asyncio.create_task(announced(client, place).run())
        await wait_for(client.resource(LEASES), lease_name("boats", 0), lambda found: found is not None, timeout_s=20)
        found = (await leases(client))[lease_name("boats", 0)]
        assert found["metadata"]["labels"] == {ANNOTATION: "process"}
        where = json.loads(found["metadata"]["annotations"][ANNOTATION])
        assert (where["pod"], where["port"], where["key"]) == ("boats-1", 8443, place.key)
        assert found["spec"]["holderIdentity"] == place.holder
        assert found["spec"]["leaseDurationSeconds"] == DURATION_S
        task.cancel()
        await asyncio.wait({task})
        assert await holders(client) == {lease_name("boats", 0): ""}


async def test_a_renewal_keeps_the_lease_and_changes_its_time() -> None:
    async with cluster_client() as client:
        part = announced(client)
        assert await part.announce() == RENEW_S
        [before] = (await leases(client)).values()
        assert await part.announce() == RENEW_S
        [after] = (await leases(client)).values()
        assert before["spec"]["renewTime"] < after["spec"]["renewTime"]
        assert before["spec"]["acquireTime"] == after["spec"]["acquireTime"]


async def test_two_processes_of_an_operator_have_two_leases() -> None:
    async with cluster_client() as client:
        places = [process_on("laptop"), process_on("laptop")]
        for place in places:
            await announced(client, place).announce()
        assert await holders(client) == {lease_name("boats", i): place.holder for i, place in enumerate(places)}


async def test_a_container_that_restarts_takes_the_lease_of_its_predecessor() -> None:
    async with cluster_client() as client:
        places = [process_on("boats-1", pid=1) for _ in range(2)]
        first, second = (announced(client, place) for place in places)
        await first.announce()
        await second.announce()
        assert await holders(client) == {lease_name("boats", 0): places[1].holder}
        # If both run, in two containers, they do not take it from each other.
        await first.announce()
        await second.announce()
        assert await holders(client) == {lease_name("boats", i): places[1 - i].holder for i in range(2)}


async def test_a_lease_of_a_killed_process_is_taken_when_it_has_expired() -> None:
    async with cluster_client() as client:
        await announced(client).announce()
        old = format_micro_time(SystemClock().now() - dt.timedelta(seconds=DURATION_S + 1))
        await client.resource(LEASES).patch(lease_name("boats", 0), MergePatch({"spec": {"renewTime": old}}))
        place = process_on("laptop")
        await announced(client, place).announce()
        assert await holders(client) == {lease_name("boats", 0): place.holder}


@pytest.mark.parametrize("spec", [{"renewTime": None}, {"leaseDurationSeconds": None}, {"holderIdentity": None}])
async def test_a_lease_without_a_holder_or_an_end_is_taken(spec: dict[str, None]) -> None:
    async with cluster_client() as client:
        await announced(client).announce()
        await client.resource(LEASES).patch(lease_name("boats", 0), MergePatch({"spec": spec}))
        place = process_on("laptop")
        await announced(client, place).announce()
        assert (await holders(client))[lease_name("boats", 0)] in (place.holder, "")


async def test_a_process_whose_lease_was_taken_takes_the_next() -> None:
    async with cluster_client() as client:
        first, place = announced(client), process_on("laptop")
        await first.announce()
        taken = MergePatch({"spec": {"holderIdentity": "another"}})
        await client.resource(LEASES).patch(lease_name("boats", 0), taken)
        await first.announce()
        found = await holders(client)
        assert found[lease_name("boats", 0)] == "another"
        assert len(found) == 2
        assert place.holder not in found.values()


async def test_a_deleted_lease_is_created_again() -> None:
    async with cluster_client() as client:
        part = announced(client)
        await part.announce()
        await client.resource(LEASES).delete(lease_name("boats", 0))
        await part.announce()
        assert list(await holders(client)) == [lease_name("boats", 0)]


async def test_the_leases_of_an_operator_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with cluster_client() as client:
        for _ in range(SLOTS):
            assert await announced(client).announce() == RENEW_S
        further = announced(client)
        assert await further.announce() == REFUSED_S
        assert await further.announce() == REFUSED_S
        assert len(await holders(client)) == SLOTS
    assert [each.message for each in caplog.records if "8 processes are announced" in each.message] != []
    assert len([each for each in caplog.records if each.name == "sampan.reports"]) == 1


async def test_a_refused_process_continues_and_names_the_missing_rights(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with cluster_client() as client:
        part = announced(client, namespace="missing")
        assert await part.announce() == REFUSED_S
        assert await part.announce() == REFUSED_S
    [line] = [each for each in caplog.records if each.name == "sampan.reports"]
    assert "allow create, get and update of leases in namespace missing" in line.message
