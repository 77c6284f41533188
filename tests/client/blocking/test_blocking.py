"""The client for scripts."""

import inspect
import threading

import pytest

from sampan.client import (
    BlockingClient,
    BlockingResourceClient,
    Client,
    ClientError,
    Conflict,
    NotFound,
    ResourceClient,
    SubresourceClient,
    api_error,
)
from sampan.client.blocking.resource_client import BlockingSubresourceClient
from sampan.core.gvk import GroupVersionResource
from sampan.resource import ResourceInfo
from tests.client.scripted_transport import ScriptedResponse, ScriptedTransport, body, event, lines, list_body, reply

CONFIG_MAPS = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", True)
STATUS_404 = {"kind": "Status", "code": 404, "reason": "NotFound", "message": "not found"}


def blocking(*responses: ScriptedResponse | Exception) -> tuple[BlockingClient, ScriptedTransport]:
    transport = ScriptedTransport(list(responses))
    return BlockingClient(lambda: Client(transport)), transport


def test_a_call_gives_the_object() -> None:
    client, transport = blocking(reply(body("a", 1)))
    with client:
        assert client.resource(CONFIG_MAPS).get("a")["metadata"]["name"] == "a"
    assert transport.closed


def test_errors_arrive_in_the_calling_thread() -> None:
    client, _ = blocking(reply(STATUS_404, 404))
    with client, pytest.raises(NotFound):
        client.resource(CONFIG_MAPS).get("a")


def test_items_and_events_are_iterated() -> None:
    events = lines(event("ADDED", "a", 1), event("DELETED", "a", 2))
    client, _ = blocking(reply(list_body(body("a", 1))), reply(events))
    with client:
        config_maps = client.resource(CONFIG_MAPS)
        assert [item["metadata"]["name"] for item in config_maps.items()] == ["a"]
        assert [each.type for each in config_maps.watch()] == ["ADDED", "DELETED"]


def test_an_iterator_that_is_left_gives_its_connection_up() -> None:
    response = ScriptedResponse(parts=[lines(event("ADDED", "a", 1)), 1000.0])
    client, _ = blocking(response)
    with client:
        for each in client.resource(CONFIG_MAPS).watch():
            assert each.type == "ADDED"
            break
        assert response.closed


def test_an_iterator_may_outlive_the_client() -> None:
    client, _ = blocking(ScriptedResponse(parts=[lines(event("ADDED", "a", 1)), 1000.0]))
    with client:
        events = client.resource(CONFIG_MAPS).watch()
        next(events)
    with pytest.raises(ClientError):
        next(events)


def test_a_conflict_is_tried_again_in_the_calling_thread() -> None:
    client, _ = blocking()
    attempts: list[threading.Thread] = []

    def attempt() -> int:
        attempts.append(threading.current_thread())
        if len(attempts) < 3:
            raise api_error({"code": 409, "reason": "Conflict"})
        return 7

    with client:
        assert client.retry_on_conflict(attempt) == 7
    assert attempts == [threading.current_thread()] * 3


def test_the_last_conflict_is_raised() -> None:
    client, _ = blocking()

    def attempt() -> None:
        raise api_error({"code": 409, "reason": "Conflict"})

    with client, pytest.raises(Conflict):
        client.retry_on_conflict(attempt)


def test_a_client_that_cannot_be_made_leaves_no_thread() -> None:
    def make() -> Client:
        raise ClientError("no")

    before = threading.active_count()
    with pytest.raises(ClientError, match="no"), BlockingClient(make):
        pass
    assert threading.active_count() == before


def test_a_client_outside_of_its_block_is_closed() -> None:
    client, _ = blocking()
    with client:
        config_maps = client.resource(CONFIG_MAPS)
    with pytest.raises(ClientError, match="closed"):
        config_maps.get("a")


TWINS: list[tuple[type, type, set[str]]] = [
    (
        ResourceClient,
        BlockingResourceClient,
        {"decode", "follow_batches", "list_watch", "list_watch_of", "pages", "to_dict", "watch_batches"},
    ),
    (SubresourceClient, BlockingSubresourceClient, set()),
    (Client, BlockingClient, {"aclose", "through", "with_defaults"}),
]


@pytest.mark.parametrize(("awaited", "blocking_twin", "without"), TWINS, ids=[twin.__name__ for twin, _, _ in TWINS])
def test_it_has_the_same_names(awaited: type, blocking_twin: type, without: set[str]) -> None:
    names = {name for name in vars(awaited) if not name.startswith("_")}
    assert names - set(vars(blocking_twin)) == without


CALLS = [name for name, each in vars(ResourceClient).items() if inspect.isfunction(each) and not name.startswith("_")]


@pytest.mark.parametrize("name", [name for name in CALLS if name in vars(BlockingResourceClient)])
def test_its_calls_take_the_same(name: str) -> None:
    assert parameters(BlockingResourceClient, name) == parameters(ResourceClient, name)


def parameters(cls: type, name: str) -> list[tuple[str, object]]:
    found = inspect.signature(vars(cls)[name]).parameters.values()
    return [(each.name, each.default) for each in found]
