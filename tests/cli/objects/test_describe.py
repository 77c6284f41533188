"""`sampan describe`, `sampan api-resources`, `sampan completion`, and tables."""

import datetime as dt
import json

import pytest
from click.testing import CliRunner

from sampan.cli.main import cli
from sampan.cli.objects.describers import DESCRIBERS, DescribedObject, description
from sampan.cli.objects.describers.generic import in_words
from sampan.cli.objects.describers.tabular import align
from sampan.cli.objects.table import TablePrinter
from tests.cli.objects.conftest import Run
from tests.cli.objects.manifests import config_map

NODE_AND_READER = """
apiVersion: v1
kind: Node
metadata: {name: partly}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: node-reader}
rules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: node-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: node-reader}
subjects: [{kind: User, name: node-reader}]
"""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("creationTimestamp", "Creation Timestamp"),
        ("apiVersion", "API Version"),
        ("podIPs", "Pod IPs"),
        ("networkID", "Network ID"),
        ("x.example.com/y", "x.example.com/y"),
        ("openAPIV3Schema", "openAPIV3Schema"),
    ],
)
def test_names_of_fields_in_words(name: str, words: str) -> None:
    assert in_words(name) == words


def test_fields_are_indented_below_their_names() -> None:
    obj = {
        "apiVersion": "g/v1",
        "kind": "K",
        "metadata": {"name": "a", "labels": {"x": "1", "y": "2"}, "uid": "u"},
        "spec": {"size": 3, "parts": [{"name": "p"}, {"name": "q"}], "on": True},
    }
    assert "\n".join(description(DescribedObject(obj), [])) == "\n".join(
        [
            "Name:         a",
            "Labels:       x=1",
            "              y=2",
            "Annotations:  <none>",
            "API Version:  g/v1",
            "Kind:         K",
            "Metadata:",
            "  UID:  u",
            "Spec:",
            "  On:  true",
            "  Parts:",
            "    Name:  p",
            "    Name:  q",
            "  Size:    3",
            "Events:    <none>",
        ]
    )


def test_values_of_secrets_are_not_shown_but_their_sizes() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"dbPassword": "Z2VoZWlt"}}
    lines = description(DescribedObject(secret), None)
    assert "dbPassword:  6 bytes" in lines
    assert "Z2VoZWlt" not in "".join(lines)


def test_keys_that_users_gave_are_shown_as_they_are() -> None:
    obj = {
        "apiVersion": "g/v1",
        "kind": "K",
        "metadata": {"name": "a"},
        "data": {"logLevel": "debug"},
        "spec": {"selector": {"matchLabels": {"myApp": "x"}}, "nodeSelector": {"diskType": "ssd"}},
    }
    lines = description(DescribedObject(obj), None)
    assert {"  logLevel:  debug", "      myApp:  x", "    diskType:  ssd"} <= set(lines)


def test_the_manifest_that_was_applied_last_is_not_repeated() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "note": "x"}
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "annotations": annotations}}
    assert [line for line in description(DescribedObject(obj), None) if line.startswith("Annotations")] == [
        "Annotations:  note: x"
    ]


def test_columns_are_shared_by_neighbouring_lines_only() -> None:
    assert align(["a:\t1", "long:\t2", "title", "b:\t3\tx", "c:\t44\ty"]) == [
        "a:     1",
        "long:  2",
        "title",
        "b:  3   x",
        "c:  44  y",
    ]


def test_escape_sequences_of_objects_do_not_reach_the_terminal() -> None:
    obj = {"apiVersion": "g/v1", "kind": "K", "metadata": {"name": "a"}, "spec": {"text": "\x1b[31mred\r"}}
    assert "  Text:  ^[[31mred\\r" in description(DescribedObject(obj), None)


def test_a_row_reports_that_other_objects_cannot_be_read() -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
    lines = [" ".join(line.split()) for line in description(DescribedObject(node, {"pods": None, "lease": None}), None)]
    assert {"Pods: not authorized", "Lease: Failed to get lease"} <= set(lines)


@pytest.mark.parametrize(("api_version", "kind"), DESCRIBERS)
def test_objects_without_fields_have_a_description(api_version: str, kind: str) -> None:
    obj = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a", "namespace": "b"}}
    assert description(DescribedObject(obj), [])[0].split() == ["Name:", "a"]


@pytest.mark.parametrize(("api_version", "kind"), [*DESCRIBERS, ("g/v1", "Other")])
def test_the_description_of_every_kind_ends_with_its_events(api_version: str, kind: str) -> None:
    obj = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a", "namespace": "b"}}
    event = {"type": "Normal", "reason": "Seen", "message": "It was seen.", "source": {"component": "tests"}}
    assert (
        " ".join(description(DescribedObject(obj), [event])[-1].split()) == "Normal Seen <unknown> tests It was seen."
    )


def test_a_pod_that_is_deleted_is_terminating() -> None:
    deleted = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", **deleted}, "status": {"phase": "Running"}}
    now = dt.datetime(2026, 1, 1, 0, 0, 20, tzinfo=dt.UTC)
    words = [line.split(maxsplit=1) for line in description(DescribedObject(pod, now=now), None)]
    assert ["Status:", "Terminating (lasts 20s)"] in words


def test_the_beginning_of_a_name_selects_every_object_with_it(run: Run, namespace: str) -> None:
    run("apply", "-n", namespace, "-f", "-", stdin=f"{config_map('web-1')}---\n{config_map('web-2')}")
    shown = [line.split()[1] for line in run("describe", "cm", "web", "-n", namespace).lines if line[:5] == "Name:"]
    assert shown == ["web-1", "web-2"]


def test_a_missing_name_does_not_hide_the_objects_that_exist(run: Run, namespace: str) -> None:
    run("apply", "-n", namespace, "-f", "-", stdin=config_map("web"))
    done = run("describe", "cm", "absent", "web", "-n", namespace)
    assert (done.code, done.lines[0].split()) == (1, ["Name:", "web"])
    assert done.err == 'Error from server (NotFound): configmaps "absent" not found\n'


def test_a_client_that_may_not_read_pods_sees_the_rest_of_a_node(run: Run) -> None:
    run("apply", "-f", "-", stdin=NODE_AND_READER)
    done = run("describe", "node", "partly", "--as", "node-reader")
    assert (done.code, "Pods: not authorized" in " ".join(done.out.split())) == (0, True)


def test_events_are_shown(run: Run, namespace: str) -> None:
    run("apply", "-n", namespace, "-f", "-", stdin=config_map("a"))
    uid = json.loads(run("get", "cm", "a", "-n", namespace, "-o", "json").out)["metadata"]["uid"]
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "ConfigMap", "name": "a", "namespace": namespace, "uid": uid},
        "reason": "Seen",
        "message": "It was seen.",
        "type": "Normal",
        "count": 3,
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:10Z",
        "source": {"component": "tests"},
    }
    run("apply", "-n", namespace, "-f", "-", stdin=json.dumps(event))
    last = run("describe", "cm", "a", "-n", namespace).lines[-1]
    assert last.split()[:2] == ["Normal", "Seen"]
    assert "(x3 over" in last
    assert last.endswith("tests  It was seen.")


def test_types_are_listed(run: Run) -> None:
    lines = run("api-resources", "--api-group", "apps").lines
    assert lines[0].split() == ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"]
    assert ["deployments", "deploy", "apps/v1", "true", "Deployment"] in [line.split() for line in lines]


def test_types_are_chosen_by_scope_verbs_and_category(run: Run) -> None:
    assert "nodes" in run("api-resources", "--namespaced=false", "-o", "name").lines
    assert run("api-resources", "--verbs=list,fly", "-o", "name").lines == []
    assert "deployments.apps" in run("api-resources", "--categories=all", "-o", "name").lines


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_their_script(run: Run, shell: str) -> None:
    assert "_SAMPAN_COMPLETE" in run("completion", shell).out


@pytest.mark.parametrize(
    ("words", "found"),
    [("get confi", "configmaps"), ("get ns def", "default"), ("get ns/def", "ns/default"), ("ap", "apply")],
    ids=["type", "name", "type and name", "command"],
)
def test_a_partial_word_is_completed(run: Run, words: str, found: str) -> None:
    count = len(words.split())
    environment = {"_SAMPAN_COMPLETE": "bash_complete", "COMP_WORDS": f"sampan {words}", "COMP_CWORD": str(count)}
    assert f"plain,{found}" in CliRunner().invoke(cli, env=environment, prog_name="sampan").output


def test_rows_that_come_later_stay_in_their_columns(capsys: pytest.CaptureFixture[str]) -> None:
    printer = TablePrinter()
    printer.print(["NAME", "AGE"], [["long-name", "1s"]])
    printer.print(["NAME", "AGE"], [["a", "2s"]])
    assert capsys.readouterr().out.splitlines() == ["NAME        AGE", "long-name   1s", "a           2s"]


def test_breaks_in_cells_do_not_break_lines(capsys: pytest.CaptureFixture[str]) -> None:
    TablePrinter(headers=False).print(["NAME"], [["a\nb"]])
    assert capsys.readouterr().out == "a\\nb\n"


def test_a_person_sees_colours(capsys: pytest.CaptureFixture[str]) -> None:
    TablePrinter(colours=True).print(["NAME", "STATUS"], [["a", "Failed"]])
    assert "\x1b[31mFailed" in capsys.readouterr().out
