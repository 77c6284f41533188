"""`sampan get`."""

import json
from collections.abc import Callable

import pytest

from sampan.client import Discovered, discover
from sampan.client.rest_client import RESTClient
from sampan.wire import yaml
from tests.cli.objects.conftest import Run
from tests.cli.objects.manifests import CRD, boat, config_map


@pytest.fixture
def two(run: Run, namespace: str) -> str:
    """A namespace with two ConfigMaps."""
    run("apply", "-n", namespace, "-f", "-", stdin=f"{config_map('a', x='1')}---\n{config_map('b')}")
    return namespace


def test_the_servers_columns_are_shown(run: Run, two: str) -> None:
    lines = run("get", "configmaps", "-n", two).lines
    assert [line.split()[:2] for line in lines] == [["NAME", "DATA"], ["a", "1"], ["b", "0"]]
    assert lines[1].index("1") == lines[0].index("DATA")


def test_columns_of_a_definition_are_shown(run: Run, namespace: str) -> None:
    run("apply", "-n", namespace, "-f", "-", stdin=f"{CRD}---\n{boat('a', 7)}")
    assert [line.split()[:2] for line in run("get", "boats", "-n", namespace).lines] == [["NAME", "LENGTH"], ["a", "7"]]


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_one_object_is_printed_whole_without_managed_fields(run: Run, two: str, form: str) -> None:
    text = run("get", "cm", "a", "-n", two, "-o", form).out
    obj = json.loads(text) if form == "json" else yaml.decode(text.encode())
    assert (obj["kind"], obj["data"]) == ("ConfigMap", {"x": "1"})
    assert "managedFields" not in obj["metadata"]


def test_managed_fields_are_shown_on_request(run: Run, two: str) -> None:
    assert "managedFields" in run("get", "cm", "a", "-n", two, "-o", "yaml", "--show-managed-fields").out


def test_several_objects_are_a_list_that_can_be_applied(run: Run, two: str) -> None:
    text = run("get", "cm", "-n", two, "-o", "yaml").out
    found = yaml.decode(text.encode())
    assert (found["kind"], [item["kind"] for item in found["items"]]) == ("List", ["ConfigMap", "ConfigMap"])


def test_names(run: Run, two: str) -> None:
    assert run("get", "cm", "-n", two, "-o", "name").lines == ["configmap/a", "configmap/b"]


def test_several_types_are_prefixed(run: Run, two: str) -> None:
    out = run("get", "cm,svc,sa", "-n", two).out
    assert "configmap/a" in out


def test_selectors_and_pages(run: Run, two: str) -> None:
    assert run("get", "cm", "-n", two, "-l", "named=b", "-o", "name").lines == ["configmap/b"]
    assert run("get", "cm", "-n", two, "--field-selector", "metadata.name=a", "-o", "name").lines == ["configmap/a"]
    assert run("get", "cm", "-n", two, "--chunk-size", "1", "-o", "name").lines == ["configmap/a", "configmap/b"]


def test_labels_get_columns(run: Run, two: str) -> None:
    first = run("get", "cm", "a", "-n", two, "-L", "of", "--show-labels", "--no-headers").lines[0]
    assert first.split()[-2:] == ["tests", "named=a,of=tests"]


def test_all_namespaces_get_a_column(run: Run, two: str) -> None:
    lines = run("get", "cm", "-A", "-l", "named=a").lines
    assert lines[0].split()[0] == "NAMESPACE"
    assert two in [line.split()[0] for line in lines[1:]]


def test_nothing_is_reported_on_stderr(run: Run, namespace: str) -> None:
    done = run("get", "pods", "-n", namespace)
    assert (done.code, done.out, done.err) == (0, "", f"No resources found in {namespace} namespace.\n")


def test_a_missing_object_is_an_error_and_the_rest_is_shown(run: Run, two: str) -> None:
    done = run("get", "cm/a", "cm/z", "-n", two, "--no-headers")
    assert done.code == 1
    assert done.err == 'Error from server (NotFound): configmaps "z" not found\n'
    assert done.lines[0].startswith("a ")


def test_get_ignores_a_missing_object_on_request(run: Run, namespace: str) -> None:
    done = run("get", "cm", "z", "-n", namespace, "--ignore-not-found")
    assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch"], 'the server doesn\'t have a resource type "nosuch"'),
        (["deploment"], 'have a resource type "deploment" (did you mean deployment?)'),
        ([], "missing resource type"),
        (["cm", "a", "-A"], "a resource cannot be retrieved by name across all namespaces"),
        (["cm/a", "b"], "expected TYPE/NAME"),
        (["cm", "-l", "=="], "Error from server (BadRequest)"),
        (["cm,svc", "-w"], "you may only watch a single resource"),
        (["cm", "--context", "nowhere"], 'context "nowhere"'),
    ],
    ids=[
        "unknown type",
        "mistyped type",
        "nothing",
        "name everywhere",
        "mixed forms",
        "bad selector",
        "two watched",
        "no context",
    ],
)
def test_mistakes_are_explained(run: Run, arguments: list[str], message: str) -> None:
    done = run("get", *arguments)
    assert done.code == 1
    assert message in done.err


def test_a_server_that_is_not_there_is_reported(run: Run, manifest: Callable[..., str]) -> None:
    where = {"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}
    context = {"name": "c", "context": {"cluster": "c"}}
    config = json.dumps({"current-context": "c", "clusters": [where], "contexts": [context]})
    done = run("get", "ns", "--kubeconfig", manifest(config, "config"))
    assert done.code == 1
    assert done.err.startswith("Unable to connect to the server: ")


def test_a_command_discovers_once(run: Run, two: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    async def counted(rest: RESTClient) -> Discovered:
        calls.append(rest)
        return await discover(rest)

    monkeypatch.setattr("sampan.client.client.discover", counted)
    run("get", "cm,svc,sa", "-n", two)
    assert len(calls) == 1
