"""Test of all sidecars with failing calls, killed drivers and restarts: nothing is left at the end."""

import random
import signal

import pytest

pytest.importorskip("grpc", reason="needs the extra cri")

from sampan.client import DeleteOptions
from sampan.component_base.resources import (
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    VOLUME_ATTACHMENTS,
)
from tests.client.connected import connected
from tests.controllers.attach_detach.volumes import lists_none
from tests.csi.storage import (
    NODE,
    bound,
    claim,
    controllers,
    node,
    pod,
    running_driver,
    sidecars,
    storage_class,
    volumes_of,
)
from tests.e2e.csi.driver import Driver

METHODS = ("CreateVolume", "DeleteVolume", "ControllerPublishVolume", "ControllerUnpublishVolume")
CODES = ("INTERNAL", "UNAVAILABLE", "DEADLINE_EXCEEDED", "ABORTED", "UNKNOWN", "FAILED_PRECONDITION")
CLAIMS = 8


def break_calls(running: Driver, chance: random.Random) -> None:
    """Let some calls of each method fail, before or after their work."""
    running.fail(
        **{
            method: {
                "code": chance.choice(CODES),
                "message": "broken",
                "times": chance.randrange(1, 8),
                "after": chance.random() < 0.6,
            }
            for method in METHODS
        }
    )


@pytest.mark.parametrize("seed", [1, 2])
async def test_faults_leave_nothing_behind(seed: int) -> None:
    chance, names = random.Random(seed), [f"c-{number}" for number in range(CLAIMS)]
    with running_driver() as running:
        async with connected() as (client, _), controllers(client) as c:
            await node(c)
            await storage_class(c)
            break_calls(running, chance)
            async with sidecars(client, running):
                for name in names:
                    await claim(c, name)
                    await pod(c, f"p-{name}", name)
            running.stop(signal.SIGKILL)
            running.start()
            async with sidecars(client, running):
                for name in names:
                    await bound(c, name)
                for name in names:
                    await c.client.resource(PODS).delete(f"p-{name}", DeleteOptions(grace_period_seconds=0))
                    await c.delete(PERSISTENT_VOLUME_CLAIMS, name)
                running.stop(signal.SIGKILL)
                running.start()
            async with sidecars(client, running):
                await c.until_all(PERSISTENT_VOLUMES, lambda found: not found)
                await c.until_all(VOLUME_ATTACHMENTS, lambda found: not found)
                await c.until(NODES, NODE, lists_none)
            assert volumes_of(running) == []
