"""A `kopf` operator: handlers, finalizers, status, Events, timers and daemons, and its work after a restart.

Concurrency: the operator is a separate process; the tests wait for its writes, by list and watch.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.server import Server
from tests.e2e.conftest import Api
from tests.e2e.python.conftest import define, through
from tests.e2e.python.forgetful import Forgetful
from tests.e2e.python.objects import (
    GADGET_ANNOTATION,
    GADGET_SCHEMA,
    GROUP,
    Json,
    config_map,
    custom_resource_definition,
    gadget,
)
from tests.e2e.python.observe import until, until_one
from tests.e2e.python.operator_process import Operator
from tests.e2e.python.relay import Relay, relaying

PASSED_ON = ("PATH", "LANG", "TMPDIR", "PYTHONPATH")
FINALIZER = "kopf.zalando.org/KopfFinalizerMarker"
LAST_HANDLED = "kopf.zalando.org/last-handled-configuration"


@pytest.fixture(scope="module")
def between(server: Server) -> Iterator[Relay]:
    """A relay between the operator and the server."""
    with relaying(server.port) as relay:
        yield relay


@pytest.fixture(scope="module")
def operator(server: Server, api: Api, between: Relay, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    """The operator of the gadgets, at work."""
    define(server, api, custom_resource_definition("gadgets", "Gadget", GADGET_SCHEMA))
    folder = tmp_path_factory.mktemp("kopf")
    operator = operator_in(folder, through(between, server, folder))
    operator.start()
    yield operator
    operator.stop()


def operator_in(folder: Path, kubeconfig: str) -> Operator:
    """An operator, not yet at work, with its files in a folder."""
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return Operator({**passed_on, "HOME": str(folder), "KUBECONFIG": kubeconfig}, folder / "operator.log")


@pytest.fixture
def gadgets(operator: Operator, namespace: str) -> str:
    """Path of the test's gadgets, with the operator at work."""
    assert operator.log.exists()
    return f"/apis/{GROUP}/v1/namespaces/{namespace}/gadgets"


@pytest.fixture
def maps(namespace: str) -> str:
    """Path of the test's ConfigMaps."""
    return f"/api/v1/namespaces/{namespace}/configmaps"


def status(found: Json | None) -> Json:
    """The status of an object that may not be there."""
    result: Json = (found or {}).get("status", {})
    return result


def annotations(found: Json | None) -> Json:
    """The annotations of an object that may not be there."""
    result: Json = (found or {"metadata": {}})["metadata"].get("annotations", {})
    return result


def handled(found: Json | None) -> bool:
    """Return whether the creation of a gadget has been handled to the end."""
    return "create" in status(found) and LAST_HANDLED in annotations(found)


def exists(found: Json | None) -> bool:
    """Return whether there is an object."""
    return found is not None


def is_gone(found: Json | None) -> bool:
    """Return whether there is no object."""
    return found is None


def test_a_creation_is_handled(server: Server, api: Api, gadgets: str, maps: str) -> None:
    api.create(gadgets, gadget("one", colour="red"))
    found = until(server, gadgets, "one", handled)
    assert found is not None
    assert found["status"]["create"] == {"child": "child-of-one", "attempts": 1}
    assert found["metadata"]["finalizers"] == [FINALIZER]
    child = api.request("GET", f"{maps}/child-of-one")[1]
    assert child["data"] == {"colour": "red"}
    assert child["metadata"]["ownerReferences"][0]["uid"] == found["metadata"]["uid"]


def test_an_update_is_handled_with_what_has_changed(server: Server, api: Api, gadgets: str, maps: str) -> None:
    api.create(gadgets, gadget("one", colour="red"))
    until(server, gadgets, "one", handled)
    api.patch(f"{gadgets}/one", {"spec": {"colour": "blue"}})
    until(server, gadgets, "one", lambda found: status(found).get("updated") == [["change", "spec.colour"]])
    until(server, gadgets, "one", lambda found: status(found).get("colours") == ["red", "blue"])
    assert api.request("GET", f"{maps}/child-of-one")[1]["data"] == {"colour": "blue"}


def test_a_deletion_waits_for_its_handler(server: Server, api: Api, gadgets: str, maps: str) -> None:
    api.create(gadgets, gadget("one"))
    until(server, gadgets, "one", handled)
    code, deleted = api.request("DELETE", f"{gadgets}/one")
    assert (code, "deletionTimestamp" in deleted["metadata"]) == (200, True)
    until(server, gadgets, "one", is_gone)
    assert api.request("GET", f"{maps}/farewell-of-one")[0] == 200


def test_a_failed_attempt_is_repeated(server: Server, api: Api, gadgets: str) -> None:
    api.create(gadgets, gadget("one", fails="once"))
    found = until(server, gadgets, "one", handled)
    assert status(found)["create"] == {"child": "child-of-one", "attempts": 2}


def test_a_permanent_failure_is_reported_in_an_event(server: Server, api: Api, gadgets: str, namespace: str) -> None:
    uid = api.create(gadgets, gadget("one", fails="always"))["metadata"]["uid"]
    selector = f"involvedObject.uid={uid},type=Error"
    event = until_one(server, f"/api/v1/namespaces/{namespace}/events", selector, exists)
    assert event is not None
    assert (event["reason"], event["message"]) == ("Logging", "Handler 'create' failed permanently: never")


def test_events_are_posted(server: Server, api: Api, gadgets: str, namespace: str) -> None:
    uid = api.create(gadgets, gadget("one"))["metadata"]["uid"]
    selector = f"involvedObject.uid={uid},reason=ChildCreated"
    event = until_one(server, f"/api/v1/namespaces/{namespace}/events", selector, exists)
    assert event is not None
    assert (event["message"], event["reportingComponent"]) == ("made child-of-one", "kopf")
    assert (event["involvedObject"]["kind"], event["type"]) == ("Gadget", "Normal")


def test_a_timer_ticks_until_it_need_not(server: Server, api: Api, gadgets: str) -> None:
    api.create(gadgets, gadget("one", labels={"timed": "yes"}))
    found = until(server, gadgets, "one", lambda found: status(found).get("ticks") == 3)
    assert status(found)["ticks"] == 3


def test_a_daemon_stays_until_the_object_goes(server: Server, api: Api, gadgets: str, maps: str) -> None:
    api.create(gadgets, gadget("one", labels={"guarded": "yes"}))
    until(server, maps, "guard-of-one", exists)
    until(server, gadgets, "one", handled)
    api.request("DELETE", f"{gadgets}/one")
    until(server, gadgets, "one", is_gone)
    assert api.request("GET", f"{maps}/guard-of-one")[0] == 404


@pytest.mark.usefixtures("gadgets")
def test_events_of_a_built_in_resource_are_handled(server: Server, api: Api, maps: str) -> None:
    api.create(maps, config_map("settings", observed="yes"))
    found = until(
        server, maps, "settings", lambda found: GADGET_ANNOTATION in (found or {})["metadata"].get("annotations", {})
    )
    assert found is not None
    assert found["metadata"]["annotations"] == {GADGET_ANNOTATION: "yes"}


def test_nothing_went_wrong_that_was_not_to(operator: Operator) -> None:
    log = operator.log.read_text()
    assert "Traceback" not in log
    assert "Request attempt" not in log


def test_a_restarted_operator_catches_up(server: Server, api: Api, operator: Operator, gadgets: str, maps: str) -> None:
    for name in ("changed", "deleted", "same"):
        api.create(gadgets, gadget(name, colour="red"))
    for name in ("changed", "deleted", "same"):
        until(server, gadgets, name, handled)
    operator.stop()
    api.patch(f"{gadgets}/changed", {"spec": {"colour": "blue"}})
    api.request("DELETE", f"{gadgets}/deleted")
    api.create(gadgets, gadget("new"))
    operator.start()
    until(server, gadgets, "same", lambda found: status(found).get("resumed"))
    until(server, gadgets, "changed", lambda found: status(found).get("colours") == ["red", "blue"])
    until(server, maps, "child-of-changed", lambda found: (found or {})["data"] == {"colour": "blue"})
    until(server, gadgets, "deleted", is_gone)
    until(server, gadgets, "new", handled)
    assert api.request("GET", f"{maps}/farewell-of-deleted")[0] == 200


def test_an_operator_whose_connections_were_cut_goes_on(server: Server, api: Api, between: Relay, gadgets: str) -> None:
    api.create(gadgets, gadget("before"))
    until(server, gadgets, "before", handled)
    with between.cut():
        api.create(gadgets, gadget("after"))
    until(server, gadgets, "after", handled)


def test_an_operator_that_lost_its_place_begins_again_with_a_streaming_list(
    forgetful: Forgetful, forgetful_relay: Relay, forgetful_kubeconfig: str, tmp_path: Path
) -> None:
    server, api = forgetful.server, forgetful.api
    gadgets = f"/apis/{GROUP}/v1/namespaces/default/gadgets"
    define(server, api, custom_resource_definition("gadgets", "Gadget", GADGET_SCHEMA))
    api.create(gadgets, gadget("before"))
    operator = operator_in(tmp_path, forgetful_kubeconfig)
    operator.start(STREAMING="yes")
    try:
        until(server, gadgets, "before", handled)
        with forgetful_relay.cut():
            for name in ("one", "two"):
                api.create(gadgets, gadget(name))
            forgetful.forget()
        for name in ("one", "two"):
            until(server, gadgets, name, handled)
    finally:
        operator.stop()
    assert "Restarting the watch-stream for gadgets" in operator.log.read_text()
