"""Lists that take long to be written."""

import asyncio
import threading

import pytest

from sampan.server.media import written
from sampan.server.request import Response
from sampan.server.verbs import list as list_verb
from sampan.wire.negotiation import MediaType
from tests.server.cluster import served

TARGET = "/api/v1/namespaces/default/configmaps"


async def test_a_large_list_in_yaml_holds_up_no_client(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slowly(media: MediaType, body: bytes) -> Response:
        begun.set()
        assert go_on.wait(60)
        return written(media, body)

    monkeypatch.setattr(list_verb, "written", slowly)
    async with served() as api:
        await api.create(TARGET, {"metadata": {"name": "a"}, "data": {"k": "x" * list_verb.LARGE_BYTES}})
        listing = asyncio.create_task(api.client.get(TARGET, accept="application/yaml"))
        assert await asyncio.to_thread(begun.wait, 60)
        assert (await api.get("/version")).code == 200
        go_on.set()
        assert (await listing).body.startswith(b"apiVersion: v1")
