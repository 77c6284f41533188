"""Many lists at once."""

import asyncio
from typing import Any

import pytest

from sampan.server.verbs import list as verb
from tests.loop_turn import counting_per_turn
from tests.server.cluster import Api
from tests.server.verbs.objects import CONFIG_MAPS, some_config_maps


@pytest.mark.parametrize("query", ["", "?labelSelector=app%21%3Dx", "?limit=5&labelSelector=app%21%3Dx"])
async def test_many_lists_of_many_objects_are_selected_one_in_each_turn_of_the_event_loop(
    api: Api, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verb, "_MANY", 10)
    monkeypatch.setattr(api.server.shared.bodies, "get", lambda *_: None)
    await some_config_maps(api, 20)
    read_page = verb.read_page
    with counting_per_turn() as (pages, count):

        async def counted(*args: Any) -> Any:
            count()
            return await read_page(*args)

        monkeypatch.setattr(verb, "read_page", counted)
        await asyncio.gather(*(api.get(f"{CONFIG_MAPS}{query}") for _ in range(20)))
    assert pages.total() == 20
    assert max(pages.values()) == 1
