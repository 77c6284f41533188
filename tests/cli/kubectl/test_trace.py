"""`kubectl sampan trace`."""

from pathlib import Path

import pytest

from tests.cli.kubectl.conftest import Run
from tests.e2e.conftest import Api

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: main, image: "app:1"}]}
"""


@pytest.fixture
def pod(tmp_path: Path) -> str:
    """The path of a Pod's manifest."""
    path = tmp_path / "pod.yaml"
    path.write_text(POD)
    return str(path)


@pytest.fixture
def account(api: Api, namespace: str) -> str:
    """A namespace with the service account that Pods need."""
    api.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "default"}})
    return namespace


@pytest.mark.parametrize("operation", ["apply", "create"])
def test_each_step_shows_what_it_changed_and_what_it_took(run: Run, account: str, pod: str, operation: str) -> None:
    done = run("trace", "-f", pod, "-n", account, "--operation", operation)
    assert (done.code, done.err) == (0, "")
    assert done.lines[0].startswith("pod/web: ")
    assert "201 Created" in done.lines[0]
    plugin = next(index for index, line in enumerate(done.lines) if line.endswith("Priority"))
    assert done.lines[plugin].split()[:2] == ["mutating", "admission"]
    assert done.lines[plugin].split()[-2] in ("µs", "ms")
    assert "    + /spec/priority: 0" in done.lines[plugin:]
    assert done.lines[-1].endswith("dry run: encoded, not written")
    assert "/metadata/managedFields" not in done.out


def test_nothing_is_stored(run: Run, api: Api, account: str, pod: str) -> None:
    run("trace", "-f", pod, "-n", account)
    assert api.request("GET", f"/api/v1/namespaces/{account}/pods/web")[0] == 404


def test_a_refusal_shows_the_step_that_refused(run: Run, namespace: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {'a b': c}\n")
    done = run("trace", "-f", str(path), "-n", namespace)
    assert done.code == 1
    assert "422 Unprocessable Entity" in done.lines[0]
    assert done.lines[-2].split()[0] == "validation"
    assert done.lines[-1].startswith("    ! data[a b]: Invalid value")


def test_all_steps_are_shown_when_requested(run: Run, account: str, pod: str) -> None:
    done = run("trace", "-f", pod, "-n", account, "--all-steps")
    assert "LimitRanger" in done.out
    assert "/metadata/managedFields" in done.out
    assert "without a change" not in done.out


def test_the_trace_as_data(run: Run, account: str, pod: str) -> None:
    done = run("trace", "-f", pod, "-n", account, "-o", "yaml")
    assert "kind: RequestTrace" in done.out


def test_without_manifests_the_help_is_named(run: Run) -> None:
    done = run("trace")
    assert done.code == 2
    assert done.err.startswith("error: missing manifests: give -f FILE")


def test_a_name_may_be_left_to_the_server_that_creates(run: Run, account: str, tmp_path: Path) -> None:
    path = tmp_path / "nameless.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: fleet-}\n")
    done = run("trace", "-f", str(path), "-n", account, "--operation", "create")
    assert (done.code, done.err) == (0, "")
    assert done.lines[0].startswith("configmap/fleet-…: POST ")
    assert run("trace", "-f", str(path), "-n", account).err == "error: a ConfigMap has no name\n"
