"""`sampan describe`, `sampan api-resources`, `sampan completion`, and tables."""

import json

import pytest
from click.testing import CliRunner

from sampan.cli.main import cli
from sampan.cli.objects.describers import Subject, description
from sampan.cli.objects.describers.generic import in_words
from sampan.cli.objects.table import TablePrinter
from tests.cli.objects.conftest import Run
from tests.cli.objects.manifests import config_map


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("creationTimestamp", "Creation Timestamp"),
        ("apiVersion", "API Version"),
        ("podIPs", "Pod IPs"),
        ("networkID", "Network ID"),
        ("x.example.com/y", "x.example.com/y"),
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
    assert "\n".join(description(Subject(obj), [])) == "\n".join(
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
    lines = description(Subject(secret), None)
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
    lines = description(Subject(obj), None)
    assert {"  logLevel:  debug", "      myApp:  x", "    diskType:  ssd"} <= set(lines)


def test_the_manifest_that_was_applied_last_is_not_repeated() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "note": "x"}
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "annotations": annotations}}
    assert [line for line in description(Subject(obj), None) if line.startswith("Annotations")] == [
        "Annotations:  note: x"
    ]


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
def test_what_is_begun_is_completed(run: Run, words: str, found: str) -> None:
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
