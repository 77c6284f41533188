"""`kubectl sampan history --deleted` and `kubectl sampan restore`."""

import json
from typing import Any

import pytest

from tests.cli.kubectl.conftest import Run
from tests.cli.kubectl.test_history import _apply, changed, without_history
from tests.e2e.conftest import Api

__all__ = ["changed"]


@pytest.fixture
def maps(namespace: str) -> str:
    """Return the path of the ConfigMaps of the namespace."""
    return f"/api/v1/namespaces/{namespace}/configmaps"


@pytest.fixture
def removed(api: Api, namespace: str, maps: str) -> dict[str, Any]:
    """Create and delete a ConfigMap with an owner. Return its last state."""
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "00000000-0000-0000-0000-000000000000"}
    _apply(api, maps, "one", data={"x": "1"}, metadata={"name": "a", "labels": {"of": "mine"}})
    code, obj = api.request("GET", f"{maps}/a")
    assert code == 200
    code, obj = api.request("PUT", f"{maps}/a", obj | {"metadata": obj["metadata"] | {"ownerReferences": [owner]}})
    assert code == 200
    code, _ = api.request("DELETE", f"{maps}/a")
    assert code == 200
    last: dict[str, Any] = obj
    return last


def test_deleted_objects_are_listed_with_their_user(run: Run, removed: dict[str, Any], namespace: str) -> None:
    done = run("history", "--deleted", "configmaps", "-n", namespace)
    assert (done.code, done.err) == (0, "")
    assert done.lines[0].split() == ["NAMESPACE", "NAME", "DELETED", "BY", "REVISION"]
    assert done.lines[1].split()[:2] == [namespace, "a"]
    assert done.lines[1].split()[3] == "admin"
    everywhere = run("history", "--deleted", "configmap", "-A")
    assert done.lines[1].split()[-1] in [line.split()[-1] for line in everywhere.lines]


def test_deleted_objects_are_given_to_programs(run: Run, removed: dict[str, Any], namespace: str) -> None:
    found = json.loads(run("history", "--deleted", "configmap/a", "-n", namespace, "-o", "json").out)["items"]
    assert [each["object"] for each in found] == [removed]
    assert json.loads(run("history", "--deleted", "configmap/b", "-n", namespace, "-o", "json").out)["items"] == []


def test_the_history_of_a_deleted_object_begins_with_its_deletion(
    run: Run, removed: dict[str, Any], namespace: str
) -> None:
    lines = run("history", "configmap/a", "-n", namespace).lines
    assert lines[1].startswith("  deleted by ")
    assert lines[-1] == "  created by one"


def test_a_deleted_object_is_created_again(
    run: Run, api: Api, removed: dict[str, Any], namespace: str, maps: str
) -> None:
    done = run("restore", "configmap/a", "-n", namespace)
    assert (done.code, done.out) == (0, "configmap/a created again\n")
    _, obj = api.request("GET", f"{maps}/a")
    assert (obj["data"], obj["metadata"]["labels"]) == ({"x": "1"}, {"of": "mine"})
    assert obj["metadata"]["uid"] != removed["metadata"]["uid"]
    assert "ownerReferences" not in obj["metadata"]


def test_a_dry_run_shows_the_object_and_creates_nothing(
    run: Run, api: Api, removed: dict[str, Any], namespace: str, maps: str
) -> None:
    done = run("restore", "configmap/a", "-n", namespace, "--dry-run=server")
    assert '+  x: "1"' in done.lines
    assert done.lines[-1] == "configmap/a created again (server dry run)"
    assert api.request("GET", f"{maps}/a")[0] == 404


def test_a_job_gets_a_new_selector(run: Run, api: Api, namespace: str) -> None:
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    old = api.create(path, {"metadata": {"name": "j"}, "spec": {"suspend": True, "template": template}})
    assert api.request("DELETE", f"{path}/j?propagationPolicy=Background")[0] == 200
    done = run("restore", "job/j", "-n", namespace)
    assert (done.code, done.out) == (0, "job.batch/j created again\n")
    _, new = api.request("GET", f"{path}/j")
    assert old["spec"]["selector"] != new["spec"]["selector"]
    assert new["spec"]["suspend"] is True


def test_an_object_is_rolled_back_to_a_revision(run: Run, api: Api, changed: tuple[str, ...]) -> None:
    namespace, first, *_ = changed
    done = run("restore", "configmap/a", "--revision", first, "-n", namespace)
    assert done.code == 1
    assert "conflict" in done.err
    dry = run("restore", "configmap/a", "--revision", first, "-n", namespace, "--force-conflicts", "--dry-run=server")
    assert {'-  x: "4"', '+  x: "1"'} <= set(dry.lines)
    forced = run("restore", "configmap/a", "--to-revision", first, "-n", namespace, "--force-conflicts")
    assert forced.lines == [f"configmap/a rolled back to revision {first}", "  remains: .data.z of two (Apply)"]
    _, obj = api.request("GET", f"/api/v1/namespaces/{namespace}/configmaps/a")
    assert obj["data"] == {"x": "1", "gone": "2", "z": "3"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("restore", "configmap/a"), "error: configmap/a exists: give --revision to roll it back"),
        (("restore", "configmap/a", "--revision", "x"), "error: 'x': a revision must be a number above 0"),
        (("restore", "configmap/a", "--revision", "3"), "error: configmap/a did not exist at revision 3"),
        (("restore", "configmap/never"), 'Error from server (NotFound): configmaps "never" not found'),
        (("history", "--deleted", "configmap", "a", "b"), "error: --deleted needs one TYPE"),
    ],
    ids=["exists", "no number", "too early", "never", "two names"],
)
def test_mistakes_are_explained(run: Run, changed: tuple[str, ...], arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments, "-n", changed[0])
    assert done.code == 1
    assert done.err.startswith(message)


@pytest.mark.parametrize("arguments", [("history", "--deleted", "configmaps"), ("restore", "configmap/a")])
def test_a_server_without_histories_is_named(
    run: Run, removed: dict[str, Any], namespace: str, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    without_history(monkeypatch)
    done = run(*arguments, "-n", namespace)
    assert done.code == 1
    assert "NotFound" in done.err or "only Sampan's does" in done.err
