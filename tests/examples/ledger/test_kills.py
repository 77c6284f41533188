"""The operator of the example as a process, with a real API server and Pods that are processes. It is killed often."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from ledgers.backup.v1 import Backup, BackupSpec
from ledgers.backup_schedule.v1 import BackupSchedule
from ledgers.ledger.v1 import Ledger, LedgerSpec
from ledgers.objects import CLAIMS, STATEFUL_SETS
from ledgers.restore.v1 import Restore, RestoreSpec
from sampan.client import Client, MergePatch, condition_is, connect, deleted, exists, json_path, wait_for
from sampan.operator import JOBS
from sampan.resource import ObjectMeta, ResourceInfo
from sampan.resource.crd import crd_of
from tests.cli.server import Server
from tests.cli.server import running as serving
from tests.examples.operator_process import OperatorProcess, operating

WAIT_S = 120.0
APPLICATION = """import signal, sqlite3, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
ledger = sqlite3.connect("/data/ledger.db")
ledger.execute("CREATE TABLE IF NOT EXISTS entries (at)")
signal.pause()"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    options = ("--storage=memory", "--node-runtime=process", "--local-path=true")
    with serving(tmp_path_factory.mktemp("ledger") / "data", *options, loops=True) as found:
        yield found


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    """Return a client of the server, after the CRDs are established."""
    async with connect(server.data / "kubeconfig", field_manager="tests") as found:
        definitions = await found.resource_for("customresourcedefinitions")
        for kind in (Ledger, Backup, Restore, BackupSchedule):
            await definitions.apply(crd_of(kind))
            await wait_for(definitions, crd_of(kind)["metadata"]["name"], condition_is("Established"), timeout_s=60)
        yield found


async def kill_after(client: Client, operator: OperatorProcess, kind: ResourceInfo, name: str) -> None:
    """Kill the operator as soon as an object exists."""
    await wait_for(client.resource(kind), name, exists(), timeout_s=WAIT_S)
    operator.kill()
    operator.start()


async def jobs_in_events(client: Client, name: str) -> set[str]:
    """Return the uids of the Jobs with a name that had a Pod."""
    events = (await (await client.resource_for("events")).list()).items
    involved = [each["involvedObject"] for each in events]
    return {each["uid"] for each in involved if (each["kind"], each["name"]) == ("Job", name)}


async def test_a_kill_after_each_object_neither_repeats_a_job_nor_loses_a_volume(
    server: Server, client: Client, tmp_path: Path
) -> None:
    settings = {"KUBECONFIG": str(server.data / "kubeconfig")}
    ledgers, backups, restores = client.resource(Ledger), client.resource(Backup), client.resource(Restore)
    claims = client.resource(CLAIMS)
    with operating("11-backup-restore", "ledgers", settings, tmp_path / "log") as operator:
        spec = LedgerSpec(image="host", command=["python3", "-c", APPLICATION])
        await ledgers.create(Ledger(metadata=ObjectMeta(name="tea"), spec=spec))
        await kill_after(client, operator, CLAIMS, "ledger-tea")
        await kill_after(client, operator, STATEFUL_SETS, "tea")
        await wait_for(ledgers, "tea", condition_is("Ready"), timeout_s=WAIT_S)

        await backups.create(Backup(metadata=ObjectMeta(name="one"), spec=BackupSpec(ledger_ref="tea")))
        await kill_after(client, operator, CLAIMS, "backup-one")
        await kill_after(client, operator, JOBS, "backup-one")
        await wait_for(backups, "one", condition_is("Ready"), timeout_s=WAIT_S)
        assert len(await jobs_in_events(client, "backup-one")) == 1

        await restores.create(Restore(metadata=ObjectMeta(name="again"), spec=RestoreSpec(backup_ref="one")))
        await kill_after(client, operator, CLAIMS, "restore-again")
        await kill_after(client, operator, JOBS, "restore-again")
        await wait_for(ledgers, "tea", json_path(".status.volume", "restore-again"), timeout_s=WAIT_S)
        operator.kill()
        operator.start()
        await wait_for(restores, "again", condition_is("Ready"), timeout_s=WAIT_S)
        assert await claims.get("ledger-tea")
        await restores.patch("again", MergePatch({"spec": {"confirmed": True}}))
        operator.kill()
        operator.start()
        await wait_for(claims, "ledger-tea", deleted(), timeout_s=WAIT_S)
        await wait_for(ledgers, "tea", condition_is("Ready"), timeout_s=WAIT_S)
        [volume] = (await client.resource(STATEFUL_SETS).get("tea"))["spec"]["template"]["spec"]["volumes"]
        assert volume["persistentVolumeClaim"]["claimName"] == "restore-again"
