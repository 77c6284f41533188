"""Runs control loops on the event loop of a server, with a client that needs no connection."""

from typing import Final

from sampan.client import Client
from sampan.component_base.field_managers import LOOPS_MANAGER
from sampan.operator.manager import Manager, ManagerOptions
from sampan.server.apiserver import ApiServer
from sampan.testing.control_loops.set_up import quiet_informers, set_up_loops
from sampan.testing.control_loops.sets import chosen_loops
from sampan.testing.servers.in_process import InProcessTransport

GRACE_S: Final = 0.2
NODES: Final = 1


async def run_beside(api: ApiServer, token: str, names: str) -> None:
    """Run loops until cancelled."""
    chosen = chosen_loops(names)
    headers = {"authorization": f"Bearer {token}", "user-agent": "sampan-test-loops"}
    async with Client(InProcessTransport(api.handler, headers=headers), field_manager=LOOPS_MANAGER) as client:
        options = ManagerOptions(
            graceful_shutdown_timeout_s=GRACE_S, informer_settings=quiet_informers(), pausable=False
        )
        manager = Manager(client, options)
        set_up_loops(manager, (*chosen.lazy, *chosen.eager), NODES)
        await manager.run()
