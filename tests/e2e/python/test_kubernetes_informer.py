"""The official client `kubernetes`: its SharedInformer, also after it has lost its connection or its place.

Concurrency: an informer is a thread that the fixture stops; its events come to the test through a queue, every wait is
bounded. An informer can be stopped only when its watch has begun: between its list and its watch, `stop` would wait for
ever. So every test ends with an event that a watch has brought.
"""

from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

import pytest
from kubernetes import config
from kubernetes.client import ApiClient, CoreV1Api
from kubernetes.informer import ADDED, BOOKMARK, DELETED, ERROR, MODIFIED, SharedInformer

from tests.e2e.conftest import Api
from tests.e2e.python.forgetful import Forgetful
from tests.e2e.python.objects import config_map
from tests.e2e.python.relay import Relay

WITHIN_S = 60.0

Start = Callable[..., "Informed"]


class Informed:
    """An informer and the events that it has reported."""

    def __init__(self, list_func: Callable[..., Any], namespace: str, options: dict[str, Any]) -> None:
        self.informer = SharedInformer(list_func, namespace=namespace, **options)
        self._events: SimpleQueue[tuple[str, str]] = SimpleQueue()
        for kind in (ADDED, MODIFIED, DELETED):
            self.informer.add_event_handler(kind, lambda obj, kind=kind: self._events.put((kind, obj.metadata.name)))
        self.informer.add_event_handler(ERROR, lambda error: self._events.put((ERROR, type(error).__name__)))
        self.informer.add_event_handler(BOOKMARK, lambda _: self._events.put((BOOKMARK, "")))

    def event(self) -> tuple[str, str]:
        """The next event: its kind, and the name of the object or of the error."""
        return self._events.get(timeout=WITHIN_S)

    def keys(self) -> list[str]:
        """Return the sorted keys in the cache."""
        return sorted(self.informer.cache.list_keys())


@pytest.fixture
def connection(relayed_kubeconfig: str) -> Iterator[ApiClient]:
    """A client behind the relay, with no added retries."""
    with config.new_client_from_config(config_file=relayed_kubeconfig) as connection:
        yield connection


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts informers of ConfigMaps, which end with the test."""
    started: list[Informed] = []

    def start(connection: ApiClient, namespace: str, **options: Any) -> Informed:
        informed = Informed(CoreV1Api(connection).list_namespaced_config_map, namespace, options)
        started.append(informed)
        informed.informer.start()
        return informed

    yield start
    for informed in started:
        informed.informer.stop()


@pytest.fixture
def maps(namespace: str) -> str:
    """Path of the test's ConfigMaps."""
    return f"/api/v1/namespaces/{namespace}/configmaps"


def test_an_informer_reports_what_comes_changes_and_goes(
    start: Start, connection: ApiClient, api: Api, namespace: str, maps: str
) -> None:
    api.create(maps, config_map("present"))
    informed = start(connection, namespace)
    assert informed.event() == (ADDED, "present")
    api.create(maps, config_map("new"))
    assert informed.event() == (ADDED, "new")
    api.patch(f"{maps}/new", {"data": {"a": "b"}})
    assert informed.event() == (MODIFIED, "new")
    assert informed.informer.cache.get_by_key(f"{namespace}/new").data == {"a": "b"}
    api.request("DELETE", f"{maps}/present")
    assert informed.event() == (DELETED, "present")
    assert informed.keys() == [f"{namespace}/new"]


def test_an_informer_sees_only_what_its_selectors_take(
    start: Start, connection: ApiClient, api: Api, namespace: str, maps: str
) -> None:
    for name, app in (("one", "web"), ("two", "db"), ("three", "web")):
        api.create(maps, config_map(name, app=app))
    informed = start(connection, namespace, label_selector="app=web", field_selector="metadata.name!=three")
    assert informed.event() == (ADDED, "one")
    api.patch(f"{maps}/one", {"metadata": {"labels": {"app": "db"}}})
    assert informed.event() == (DELETED, "one")
    assert informed.keys() == []


def test_a_cut_connection_loses_no_event(
    start: Start, connection: ApiClient, api: Api, namespace: str, maps: str, relay: Relay
) -> None:
    api.create(maps, config_map("present"))
    informed = start(connection, namespace)
    assert informed.event() == (ADDED, "present")
    api.create(maps, config_map("watched"))
    assert informed.event() == (ADDED, "watched")
    with relay.cut():
        api.create(maps, config_map("meanwhile"))
        api.request("DELETE", f"{maps}/present")
    assert informed.event() == (ERROR, "ProtocolError")
    assert [informed.event(), informed.event()] == [(ADDED, "meanwhile"), (DELETED, "present")]
    assert informed.keys() == [f"{namespace}/meanwhile", f"{namespace}/watched"]


def test_an_informer_that_lost_its_place_lists_again(
    start: Start, forgetful: Forgetful, forgetful_kubeconfig: str, forgetful_relay: Relay, numbers: Iterator[int]
) -> None:
    namespace = f"forgotten-{next(numbers)}"
    api, maps = forgetful.api, f"/api/v1/namespaces/{namespace}/configmaps"
    api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    api.create(maps, config_map("present"))
    with config.new_client_from_config(config_file=forgetful_kubeconfig) as connection:
        informed = start(connection, namespace)
        assert informed.event() == (ADDED, "present")
        api.create(maps, config_map("watched"))
        assert informed.event() == (ADDED, "watched")
        with forgetful_relay.cut():
            api.request("DELETE", f"{maps}/present")
            forgetful.forget()
        assert informed.event() == (ERROR, "ProtocolError")
        assert [informed.event() for _ in range(3)] == [
            (ERROR, "ApiException"),
            (DELETED, "present"),
            (MODIFIED, "watched"),
        ]
        api.create(maps, config_map("later"))
        assert informed.event() == (ADDED, "later")
        informed.informer.stop()


def test_a_resync_lists_again(start: Start, connection: ApiClient, api: Api, namespace: str, maps: str) -> None:
    api.create(maps, config_map("present"))
    informed = start(connection, namespace, resync_period=1)
    assert [informed.event(), informed.event()] == [(ADDED, "present"), (MODIFIED, "present")]
