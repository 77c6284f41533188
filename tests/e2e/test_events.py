"""`kubectl events`."""

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import POD
from tests.e2e.test_describe import EVENT

pytestmark = pytest.mark.e2e


@pytest.fixture
def seen(kubectl: Kubectl, namespace: str) -> Kubectl:
    """A pod with one event, and an event of another object."""
    kubectl("create", "-f", "-", stdin=POD)
    uid = kubectl.get("pod", "web")["metadata"]["uid"]
    kubectl("create", "-f", "-", stdin=EVENT.format(name="web", namespace=namespace, kind="Pod", uid=uid))
    warning = EVENT.format(name="other", namespace=namespace, kind="Service", uid="u").replace("Normal", "Warning")
    kubectl("create", "-f", "-", stdin=warning.replace("Seen", "Failed"))
    return kubectl


def test_events_are_listed(seen: Kubectl) -> None:
    header, *lines = seen("events").splitlines()
    assert header.split() == ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert sorted(line.split("somebody looked")[0].split()[-3:] for line in lines) == [
        ["Normal", "Seen", "Pod/web"],
        ["Warning", "Failed", "Service/other"],
    ]


def test_events_of_an_object(seen: Kubectl) -> None:
    (line,) = seen("events", "--for=pod/web", "--no-headers").splitlines()
    assert "Pod/web" in line
    assert "(x3 over" in line


def test_events_of_a_type(seen: Kubectl) -> None:
    (line,) = seen("events", "--types=Warning", "--no-headers").splitlines()
    assert "Service/other" in line


def test_events_are_watched(seen: Kubectl, namespace: str) -> None:
    with seen.started("events", "--for=pod/web", "-w", "--no-headers") as watch:
        assert "Pod/web" in watch.line()
        uid = seen.get("pod", "web")["metadata"]["uid"]
        more = EVENT.format(name="web", namespace=namespace, kind="Pod", uid=uid).replace("Seen", "Again")
        seen("create", "-f", "-", stdin=more)
        assert "Again" in watch.line()


def test_get_shows_the_columns_of_events(seen: Kubectl) -> None:
    header, *lines = seen("get", "events", "--field-selector", "involvedObject.kind=Pod").splitlines()
    assert header.split() == ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert len(lines) == 1
    assert lines[0].split()[1:4] == ["Normal", "Seen", "pod/web"]
    assert seen("get", "events", "--field-selector", "type=Warning", "-o", "jsonpath={.items[*].reason}") == "Failed"
