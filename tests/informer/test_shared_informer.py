"""The contract of `SharedInformer`: what the store holds, and what handlers are told, in virtual time."""



from sampan.testing.virtual_time import settle, virtual_time
from tests.informer.server import (
    FakeServer,
    Recorder,
    informer_of,
    running,
    state_of,
    store_of,
)


@virtual_time
async def test_the_store_follows_the_server() -> None:
    server = FakeServer()
    server.put("a")
    informer = informer_of(server)
    handler = Recorder()
    registration = informer.add_handler(handler)
    async with running(informer):
        await registration.synced()
        server.put("b")
        server.put("a")
        server.delete("b")
        await settle()
    assert handler.told == ["add! ns/a@101", "add ns/b@102", "update ns/a@101>103", "delete ns/b@104"]
    assert store_of(informer) == state_of(server) == {"ns/a": "103"}
    assert informer.last_resource_version == "104"
