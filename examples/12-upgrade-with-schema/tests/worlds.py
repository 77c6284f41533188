"""Objects of the tests, whose Pods run on a simulated node."""

from typing import Any

from sampan.resource import ObjectMeta
from sampan.resource.crd import crd_of
from sampan.testing import Cluster, field

from upgrades.app import set_up
from upgrades.ledger import v1alpha1
from upgrades.ledger.v1 import Ledger, LedgerSpec
from upgrades.migration.v1 import Migration, MigrationSpec

CRDS = (crd_of(Ledger, v1alpha1.Ledger), crd_of(Migration))
LOOPS = "chain,local-path"


def ledger(version: int = 1, **fields: Any) -> Ledger:
    spec = LedgerSpec(**{"version": version, "image": "tea:{version}", "verify_seconds": 30, **fields})
    return Ledger(metadata=ObjectMeta(name="tea"), spec=spec)


def migration(start: int, end: int, sql: str = "SELECT 1") -> Migration:
    spec = MigrationSpec(ledger_ref="tea", from_version=start, to_version=end, sql=sql)
    return Migration(metadata=ObjectMeta(name=f"tea-{start}-{end}"), spec=spec)


async def operate(cluster: Cluster) -> None:
    """Run the operator, with steps to the versions 2 and 3."""
    await cluster.crds(*CRDS)
    cluster.pods.complete("tea-backup-*")
    cluster.pods.complete("tea-migrate-*")
    cluster.run(set_up)
    for each in (migration(1, 2), migration(2, 3), migration(2, 1)):
        await cluster.apply(each)


async def start(cluster: Cluster) -> None:
    """Run the operator with the ledger `tea` in version 1."""
    await operate(cluster)
    await cluster.apply(ledger())
    await phase(cluster, "Done")
    await cluster.eventually("statefulsets/tea", field(".status.availableReplicas") == 1)
    await cluster.settled()


async def phase(cluster: Cluster, expected: str) -> dict[str, Any]:
    """Wait for a phase, and return the status."""
    found = await cluster.eventually("ledgers/tea", field(".status.phase") == expected)
    return dict(found["status"])


async def want(cluster: Cluster, version: int) -> None:
    await cluster.patch("ledgers/tea", {"spec": {"version": version}})


async def serving(cluster: Cluster) -> tuple[str, str, str]:
    """Return version and file of the Pods, and the version that clients reach."""
    found = await cluster.get("statefulsets/tea")
    environment = {each["name"]: each["value"] for each in found["spec"]["template"]["spec"]["containers"][0]["env"]}
    service = await cluster.get("services/tea")
    reached = service["spec"]["selector"]["upgrades.example.com/version"]
    return environment["SCHEMA_VERSION"], environment["LEDGER_FILE"], reached
