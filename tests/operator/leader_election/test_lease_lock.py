"""The Lease object, on a server."""

import pytest

from sampan.client.errors import AlreadyExists, Conflict
from sampan.client.patch import MergePatch
from sampan.core.time import SystemClock
from sampan.operator.leader_election import LeaderElectionConfig, LeaderElector, LeaseLock, LeaseNote, LeaseRecord
from sampan.operator.leader_election.lease_lock import LEASES
from tests.operator.cluster import cluster_client


async def test_records_come_back_as_they_were_written() -> None:
    async with cluster_client() as client:
        lock = LeaseLock(client, "default", "lock", SystemClock())
        assert await lock.get() is None
        record = LeaseRecord("me", 15, lock.time(), lock.time(), 3)
        await lock.create(record)
        assert await lock.get() == record
        with pytest.raises(AlreadyExists):
            await lock.create(record)


async def test_a_lease_changed_by_another_candidate_is_not_overwritten() -> None:
    async with cluster_client() as client:
        one, other = (LeaseLock(client, "default", "lock", SystemClock()) for _ in range(2))
        await one.create(LeaseRecord("one", 15))
        await other.get()
        await one.update(LeaseRecord("one", 15, renew_time=one.time()))
        with pytest.raises(Conflict):
            await other.update(LeaseRecord("other", 15))


async def test_foreign_labels_are_kept() -> None:
    async with cluster_client() as client:
        lock = LeaseLock(client, "default", "lock", SystemClock())
        await lock.create(LeaseRecord("me", 15))
        await client.resource(LEASES).patch("lock", MergePatch({"metadata": {"labels": {"a": "b"}}}))
        await lock.get()
        await lock.update(LeaseRecord("", 1))
        lease = await client.resource(LEASES).get("lock")
        assert lease["metadata"]["labels"] == {"a": "b"}
        assert (lease["spec"]["holderIdentity"], lease["spec"]["leaseDurationSeconds"]) == ("", 1)


async def test_an_elector_leads_by_a_real_lease_and_gives_it_back() -> None:
    async with cluster_client() as client:
        lock = LeaseLock(client, "default", "lock", SystemClock())
        elector = LeaderElector(LeaderElectionConfig("lock", "default", "me"), lock)

        async def lead() -> None:
            assert elector.is_leader()
            assert (await client.resource(LEASES).get("lock"))["spec"]["holderIdentity"] == "me"

        await elector.run(lead)
        assert (await client.resource(LEASES).get("lock"))["spec"]["holderIdentity"] == ""


async def test_a_note_is_added_to_the_labels_and_annotations_of_the_lease() -> None:
    async with cluster_client() as client:
        lock = LeaseLock(client, "default", "lock", SystemClock())
        lock.note = lambda: LeaseNote({"note": "true"}, {"place": "here"})
        await lock.create(LeaseRecord("me", 15))
        await client.resource(LEASES).patch("lock", MergePatch({"metadata": {"labels": {"a": "b"}}}))
        await lock.get()
        lock.note = lambda: LeaseNote({"note": "true"}, {"place": "there"})
        await lock.update(LeaseRecord("me", 15))
        metadata = (await client.resource(LEASES).get("lock"))["metadata"]
        assert metadata["labels"] == {"a": "b", "note": "true"}
        assert metadata["annotations"] == {"place": "there"}
