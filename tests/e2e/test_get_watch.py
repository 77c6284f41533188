"""`kubectl get --watch`: the list first, then what changes, as rows, objects or events."""

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import config_map

pytestmark = pytest.mark.e2e


@pytest.fixture
def watched(kubectl: Kubectl) -> Kubectl:
    """A namespace with one config map, `first`."""
    kubectl.apply(config_map("first", a="1"))
    return kubectl


def test_watch_lists_and_goes_on(watched: Kubectl) -> None:
    with watched.started("get", "cm", "-w") as watch:
        assert watch.line().split() == ["NAME", "DATA", "AGE"]
        assert watch.line().split()[:2] == ["first", "1"]
        watched.apply(config_map("second"))
        assert watch.line().split()[:2] == ["second", "0"]
        watched.apply(config_map("second", a="1", b="2"))
        assert watch.line().split()[:2] == ["second", "2"]


def test_watch_only_leaves_the_list_out(watched: Kubectl) -> None:
    with watched.started("get", "cm", "--watch-only", "-o", "name", "-v", "6") as watch:
        watch.logged("watch=true")
        watched.apply(config_map("second"))
        assert watch.line() == "configmap/second"


def test_events_of_a_watch_are_named(watched: Kubectl) -> None:
    with watched.started("get", "cm", "-w", "--output-watch-events") as watch:
        assert watch.line().split() == ["EVENT", "NAME", "DATA", "AGE"]
        assert watch.line().split()[:3] == ["ADDED", "first", "1"]
        watched.apply(config_map("first", a="1", b="2"))
        assert watch.line().split()[:3] == ["MODIFIED", "first", "2"]
        watched("delete", "cm", "first", "--wait=false")
        assert watch.line().split()[:3] == ["DELETED", "first", "2"]


def test_one_object_is_watched_by_its_name(watched: Kubectl) -> None:
    with watched.started("get", "cm", "first", "-w", "-o", 'jsonpath={.metadata.name}={.data.a}{"\\n"}') as watch:
        assert watch.line() == "first=1"
        watched.apply(config_map("second", a="5"))
        watched.apply(config_map("first", a="2"))
        assert watch.line() == "first=2"


def test_a_watch_with_labels_sees_objects_enter_and_leave(watched: Kubectl) -> None:
    with watched.started("get", "cm", "-w", "-l", "on", "--no-headers", "--output-watch-events", "-v", "6") as watch:
        watch.logged("watch=true")
        watched("label", "cm", "first", "on=1")
        assert watch.line().split()[:2] == ["ADDED", "first"]
        watched("label", "cm", "first", "on-")
        assert watch.line().split()[:2] == ["DELETED", "first"]


def test_a_watch_over_all_namespaces(watched: Kubectl, namespace: str) -> None:
    with watched.started("get", "cm", "-A", "-w", "--field-selector", f"metadata.namespace={namespace}") as watch:
        assert watch.line().split() == ["NAMESPACE", "NAME", "DATA", "AGE"]
        assert watch.line().split()[:2] == [namespace, "first"]
        watched.apply(config_map("second"))
        assert watch.line().split()[:2] == [namespace, "second"]
