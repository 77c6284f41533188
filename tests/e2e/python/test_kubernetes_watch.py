"""The official client `kubernetes`: watches, and how they go on after what ends them."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest
from kubernetes import config
from kubernetes.client import ApiException, CoreV1Api
from kubernetes.watch import Watch
from urllib3.exceptions import ProtocolError

from tests.e2e.python.forgetful import Forgetful
from tests.e2e.python.objects import config_map, pod
from tests.e2e.python.relay import Relay


@pytest.fixture(scope="module")
def core(kubeconfig: str) -> Iterator[CoreV1Api]:
    """The core group."""
    with config.new_client_from_config(config_file=kubeconfig) as connection:
        yield CoreV1Api(connection)


@pytest.fixture
def now(core: CoreV1Api, namespace: str) -> str:
    """The resourceVersion before the test does anything."""
    version: str = core.list_namespaced_config_map(namespace).metadata.resource_version
    return version


def events(count: int, source: Callable[..., Any], *arguments: Any, **options: Any) -> list[tuple[str, str]]:
    """Type and name of the next events of a watch, which is then stopped."""
    watch = Watch()
    found = [(e["type"], e["object"].metadata.name) for e in islice(watch.stream(source, *arguments, **options), count)]
    watch.stop()
    return found


def test_a_watch_sees_an_object_come_change_and_go(core: CoreV1Api, namespace: str, now: str) -> None:
    core.create_namespaced_config_map(namespace, config_map("settings"))
    core.patch_namespaced_config_map("settings", namespace, {"data": {"a": "b"}})
    core.delete_namespaced_config_map("settings", namespace)
    observed = events(3, core.list_namespaced_config_map, namespace, resource_version=now)
    assert observed == [("ADDED", "settings"), ("MODIFIED", "settings"), ("DELETED", "settings")]


def test_a_watch_without_a_version_begins_with_what_there_is(core: CoreV1Api, namespace: str) -> None:
    core.create_namespaced_config_map(namespace, config_map("settings"))
    assert events(1, core.list_namespaced_config_map, namespace) == [("ADDED", "settings")]


def test_a_watch_with_a_time_limit_ends(core: CoreV1Api, namespace: str, now: str) -> None:
    core.create_namespaced_config_map(namespace, config_map("settings"))
    stream = Watch().stream(core.list_namespaced_config_map, namespace, resource_version=now, timeout_seconds=1)
    assert [event["type"] for event in stream] == ["ADDED"]


def test_a_watch_is_taken_up_again_when_its_connection_was_cut(
    core: CoreV1Api, namespace: str, now: str, relayed_kubeconfig: str, relay: Relay
) -> None:
    core.create_namespaced_config_map(namespace, config_map("before"))
    with config.new_client_from_config(config_file=relayed_kubeconfig) as connection:
        relayed, watch = CoreV1Api(connection), Watch()
        stream = watch.stream(relayed.list_namespaced_config_map, namespace, resource_version=now)
        assert next(stream)["object"].metadata.name == "before"
        with relay.cut():
            core.create_namespaced_config_map(namespace, config_map("after"))
        with pytest.raises(ProtocolError):
            next(stream)
        again = watch.stream(relayed.list_namespaced_config_map, namespace, resource_version=watch.resource_version)
        event = next(again)
        assert (event["type"], event["object"].metadata.name) == ("ADDED", "after")
        watch.stop()


def test_a_watch_goes_on_when_the_server_ends_it(core: CoreV1Api, namespace: str, now: str) -> None:
    core.create_namespaced_config_map(namespace, config_map("before"))
    watch = Watch()
    first = watch.stream(core.list_namespaced_config_map, namespace, resource_version=now, timeout_seconds=1)
    assert [event["object"].metadata.name for event in first] == ["before"]
    core.create_namespaced_config_map(namespace, config_map("after"))
    again = watch.stream(core.list_namespaced_config_map, namespace, resource_version=watch.resource_version)
    assert next(again)["object"].metadata.name == "after"
    watch.stop()


def test_a_watch_from_too_long_ago_is_gone(forgetful: Forgetful, forgetful_kubeconfig: str) -> None:
    with config.new_client_from_config(config_file=forgetful_kubeconfig) as connection:
        core = CoreV1Api(connection)
        then = core.list_namespaced_config_map("default").metadata.resource_version
        forgetful.forget()
        with pytest.raises(ApiException) as raised:
            events(1, core.list_namespaced_config_map, "default", resource_version=then)
        assert raised.value.status == 410
        assert str(raised.value.reason).startswith(f"Expired: too old resource version: {then} (")


def test_a_page_of_a_list_from_too_long_ago_is_gone(forgetful: Forgetful, forgetful_kubeconfig: str) -> None:
    with config.new_client_from_config(config_file=forgetful_kubeconfig) as connection:
        core = CoreV1Api(connection)
        forgetful.forget()
        token = core.list_namespaced_config_map("default", limit=1).metadata._continue
        forgetful.forget()
        with pytest.raises(ApiException) as raised:
            core.list_namespaced_config_map("default", limit=1, _continue=token)
        assert (raised.value.status, raised.value.reason) == (410, "Gone")
        assert '"reason":"Expired"' in raised.value.body


def test_a_label_selector_turns_changes_of_labels_into_additions_and_deletions(
    core: CoreV1Api, namespace: str, now: str
) -> None:
    core.create_namespaced_config_map(namespace, config_map("other", app="db"))
    core.create_namespaced_config_map(namespace, config_map("settings", app="db"))
    core.patch_namespaced_config_map("settings", namespace, {"metadata": {"labels": {"app": "web"}}})
    core.patch_namespaced_config_map("settings", namespace, {"metadata": {"labels": {"app": "db"}}})
    options = {"label_selector": "app in (web, api)", "resource_version": now}
    observed = events(2, core.list_namespaced_config_map, namespace, **options)
    assert observed == [("ADDED", "settings"), ("DELETED", "settings")]


def test_a_field_selector_finds_the_pods_of_a_node(core: CoreV1Api, namespace: str, now: str) -> None:
    core.create_namespaced_pod(namespace, pod("here", node="node-1"))
    core.create_namespaced_pod(namespace, pod("there", node="node-2"))
    selector = f"spec.nodeName=node-2,metadata.namespace={namespace}"
    observed = events(1, core.list_pod_for_all_namespaces, field_selector=selector, resource_version=now)
    assert observed == [("ADDED", "there")]


def test_a_streaming_list_ends_with_a_bookmark(core: CoreV1Api, namespace: str) -> None:
    core.create_namespaced_config_map(namespace, config_map("settings"))
    watch = Watch()
    stream = watch.stream(
        core.list_namespaced_config_map,
        namespace,
        send_initial_events=True,
        resource_version_match="NotOlderThan",
        allow_watch_bookmarks=True,
    )
    added, bookmark = islice(stream, 2)
    assert (added["type"], added["object"].metadata.name) == ("ADDED", "settings")
    metadata = bookmark["object"]["metadata"]
    assert (bookmark["type"], metadata["annotations"]) == ("BOOKMARK", {"k8s.io/initial-events-end": "true"})
    assert watch.resource_version == metadata["resourceVersion"]
    watch.stop()


def test_events_are_not_decoded_without_a_model(core: CoreV1Api, namespace: str, now: str) -> None:
    core.create_namespaced_config_map(namespace, config_map("settings"))
    watch = Watch()
    stream = watch.stream(core.list_namespaced_config_map, namespace, resource_version=now, deserialize=False)
    event = next(stream)
    assert (event["type"], event["object"]["kind"], event["object"]["apiVersion"]) == ("ADDED", "ConfigMap", "v1")
    watch.stop()
