"""No single fault changes the end: the version that is wanted, or the old one, with its file.

`SAMPAN_PLANS=5000 pytest tests/test_faults.py` tries all of them.
"""

import os

import pytest
from sampan.client import JsonPatch
from sampan.testing import Cluster, exists, field
from sampan.testing.explore import Scenario, State, explore, scenario
from worlds import CRDS, LOOPS, ledger, migration, phase

from upgrades.app import set_up

PLANS = int(os.environ.get("SAMPAN_PLANS", "400"))


def a_version_runs_with_its_own_file(state: State) -> str | None:
    """The application never has a file of another version, and clients reach the committed version."""
    after = state.after or {}
    if after.get("kind") != "StatefulSet":
        return None
    [status] = [each.get("status", {}) for each in state.list("Ledger")] or [{}]
    container = after["spec"]["template"]["spec"]["containers"][0]
    environment = {each["name"]: each["value"] for each in container["env"]}
    pair = (environment["SCHEMA_VERSION"], environment["LEDGER_FILE"])
    committed = (str(status.get("version")), f"/data/{status.get('file')}")
    attempt = (str(status.get("target")), f"/data/ledger-{status.get('attempt')}.db")
    return None if not status or pair in (committed, attempt) else f"version and file are {pair}"


async def begin(cluster: Cluster) -> None:
    """Make the ledger in version 1."""
    cluster.pods.complete("tea-backup-*")
    cluster.pods.complete("tea-migrate-*")
    await cluster.apply(migration(1, 2))
    await cluster.apply(ledger())
    await phase(cluster, "Done")
    await cluster.settled()


async def change(cluster: Cluster, version: int, during: str = "Done") -> None:
    """Change the version in this phase only. Earlier, a new ledger would begin with it, or an upgrade never begin."""
    now = {"op": "test", "path": "/status/phase", "value": during}
    await cluster.patch("ledgers/tea", JsonPatch([now, {"op": "replace", "path": "/spec/version", "value": version}]))


@scenario(set_up, crds=CRDS, loops=LOOPS, checks=[a_version_runs_with_its_own_file])
async def upgraded(cluster: Cluster) -> None:
    """Upgrade to version 2."""
    await begin(cluster)
    await change(cluster, 2)
    await cluster.eventually("ledgers/tea", field(".status.version") == 2)


@scenario(set_up, crds=CRDS, loops=LOOPS, checks=[a_version_runs_with_its_own_file])
async def rolled_back(cluster: Cluster) -> None:
    """The migration fails."""
    await begin(cluster)
    cluster.pods.complete("tea-migrate-*", exit_code=1)
    await change(cluster, 2)
    await phase(cluster, "RolledBack")


@scenario(set_up, crds=CRDS, loops=LOOPS, checks=[a_version_runs_with_its_own_file])
async def changed_mind(cluster: Cluster) -> None:
    """The user wants version 2, and then version 1 again."""
    await begin(cluster)
    cluster.pods.complete("tea-migrate-*", after=86400)
    await change(cluster, 2)
    await cluster.eventually("jobs/tea-migrate-1", exists())
    await cluster.settled()
    await change(cluster, 1, during="Migrate")
    await phase(cluster, "Done")


@pytest.mark.parametrize("story", [upgraded, rolled_back, changed_mind], ids=lambda story: story.name)
def test_no_fault_changes_the_end(story: Scenario) -> None:
    # The loops that run Pods make a run ten times as long as others.
    report = explore(story, plans_max=PLANS // 2, seed=7)
    assert not report.findings, report
