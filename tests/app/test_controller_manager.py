"""Selection of the control loops that a process starts, by its settings."""

import pytest

from sampan.app.controller_manager import run
from sampan.app.controller_manager.cidr_settings import NodeCidrSettings
from sampan.app.controller_manager.settings import LoopSettings
from sampan.controllers import catalogue
from sampan.controllers.names import NAMES
from tests.client.connected import connected
from tests.controllers.cluster import working


@pytest.mark.parametrize("allocate", [False, True])
async def test_the_node_ipam_controller_runs_only_with_allocate_node_cidrs(
    monkeypatch: pytest.MonkeyPatch, allocate: bool
) -> None:
    started: list[str] = []
    loops = {name: lambda context, name=name: started.append(name) for name in NAMES}
    monkeypatch.setattr(catalogue, "CONTROLLERS", loops)
    async with connected() as (client, _):
        settings = LoopSettings(controllers=NAMES, node_cidrs=NodeCidrSettings(allocate))
        async with working(client, lambda context: run.set_up(context, settings)):
            assert set(NAMES) - set(started) == (set() if allocate else {"node-ipam-controller"})


@pytest.mark.parametrize(("next_to_it", "shortest_s"), [(True, 1800), (False, 300)], ids=["next to it", "elsewhere"])
def test_watches_of_loops_next_to_the_server_last_longer(next_to_it: bool, shortest_s: float) -> None:
    settings = run.informers_of(LoopSettings(scheduler=True, ends_with_stdin=next_to_it))
    assert settings is not None
    assert (settings.reflector.newest, settings.reflector.watch_s_min) == (True, shortest_s)
