"""The official client `kubernetes`: leader election on a Lease.

Concurrency: the elected leader runs in the test's own thread; it stops leading because its work fails.
"""

from collections.abc import Iterator

import pytest
from kubernetes import config
from kubernetes.client import Configuration, CoordinationV1Api
from kubernetes.leaderelection.electionconfig import Config
from kubernetes.leaderelection.leaderelection import LeaderElection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

LEASE_S, DEADLINE_S, RETRY_S = 17, 15, 1


@pytest.fixture(autouse=True)
def default_configuration(kubeconfig: str) -> Iterator[None]:
    """Make this server the default of the client until the end of the test, because the lock uses the default."""
    config.load_kube_config(config_file=kubeconfig)
    yield
    Configuration.set_default(None)


def candidate(namespace: str, identity: str, reported: list[str]) -> LeaderElection:
    """A candidate for the Lease `lock`; it notes in `reported` that it leads and that it has stopped."""

    def lead() -> None:
        reported.append(f"{identity} leads")
        raise ValueError("the work failed")

    lock = LeaseLock("lock", namespace, identity)
    return LeaderElection(
        Config(lock, LEASE_S, DEADLINE_S, RETRY_S, lead, lambda: reported.append(f"{identity} stopped leading"))
    )


def test_the_first_leads_until_its_work_fails(namespace: str) -> None:
    reported: list[str] = []
    candidate(namespace, "one", reported).run()
    assert reported == ["one leads", "one stopped leading"]
    spec = CoordinationV1Api().read_namespaced_lease("lock", namespace).spec
    assert (spec.holder_identity, spec.lease_duration_seconds) == ("one", LEASE_S)
    assert spec.acquire_time <= spec.renew_time


def test_the_second_waits_until_the_lease_has_run_out(namespace: str) -> None:
    first, second = (candidate(namespace, identity, []) for identity in ("one", "two"))
    assert first.try_acquire_or_renew()
    assert not second.try_acquire_or_renew()
    second.observed_time_milliseconds -= LEASE_S * 1000  # as if it had watched for so long
    assert second.try_acquire_or_renew()
    assert CoordinationV1Api().read_namespaced_lease("lock", namespace).spec.holder_identity == "two"


def test_one_of_two_concurrent_renewals_is_refused(namespace: str) -> None:
    first, second = (candidate(namespace, identity, []) for identity in ("one", "two"))
    assert first.try_acquire_or_renew()
    second.election_config.lock.get("lock", namespace)
    assert first.try_acquire_or_renew()
    record = first.observed_record
    assert not second.election_config.lock.update("lock", namespace, record)
