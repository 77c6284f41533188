"""`kubectl events`."""

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import POD
from tests.e2e.test_describe import EVENT

pytestmark = pytest.mark.e2e


@pytest.fixture
def with_events(kubectl: Kubectl, namespace: str) -> Kubectl:
    """A pod with one event, and an event of another object."""
    kubectl("create", "-f", "-", stdin=POD)
    uid = kubectl.get("pod", "web")["metadata"]["uid"]
    kubectl("create", "-f", "-", stdin=EVENT.format(name="web", namespace=namespace, kind="Pod", uid=uid))
    warning = EVENT.format(name="other", namespace=namespace, kind="Service", uid="u").replace("Normal", "Warning")
    kubectl("create", "-f", "-", stdin=warning.replace("Seen", "Failed"))
    return kubectl


def test_events_are_listed(with_events: Kubectl) -> None:
    header, *lines = with_events("events").splitlines()
    assert header.split() == ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert sorted(line.split("somebody looked")[0].split()[-3:] for line in lines) == [
        ["Normal", "Seen", "Pod/web"],
        ["Warning", "Failed", "Service/other"],
    ]


def test_events_of_an_object(with_events: Kubectl) -> None:
    (line,) = with_events("events", "--for=pod/web", "--no-headers").splitlines()
    assert "Pod/web" in line
    assert "(x3 over" in line


def test_events_of_a_type(with_events: Kubectl) -> None:
    (line,) = with_events("events", "--types=Warning", "--no-headers").splitlines()
    assert "Service/other" in line


def test_events_are_watched(with_events: Kubectl, namespace: str) -> None:
    with with_events.started("events", "--for=pod/web", "-w", "--no-headers") as watch:
        assert "Pod/web" in watch.line()
        uid = with_events.get("pod", "web")["metadata"]["uid"]
        more = EVENT.format(name="web", namespace=namespace, kind="Pod", uid=uid).replace("Seen", "Again")
        with_events("create", "-f", "-", stdin=more)
        assert "Again" in watch.line()


def test_get_shows_the_columns_of_events(with_events: Kubectl) -> None:
    header, *lines = with_events("get", "events", "--field-selector", "involvedObject.kind=Pod").splitlines()
    assert header.split() == ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert len(lines) == 1
    assert lines[0].split()[1:4] == ["Normal", "Seen", "pod/web"]
    assert (
        with_events("get", "events", "--field-selector", "type=Warning", "-o", "jsonpath={.items[*].reason}")
        == "Failed"
    )
