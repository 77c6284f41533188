"""Errors of the commands about objects for mistakes that newcomers make: what is wrong, where, and what to do."""

from pathlib import Path

import pytest

from tests.cli.objects.conftest import Run

HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n"


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (f"{HEAD}  name: a\n data:\n  x: '1'\n", "yaml: line 4: did not find expected key"),
        (f"{HEAD}\tname: a\n", "line 4: found character that cannot start any token (YAML is indented with spaces"),
        ("kind: ConfigMap\nmetadata: {name: a}\n", "apiVersion is missing in"),
        (f"{HEAD}  name: a\ndatum: {{}}\n", ".datum: field not declared in schema"),
        ("", "no objects passed"),
        ("apiVersion: v1\nkind: Configmap\nmetadata: {name: a}\n", 'no matches for kind "Configmap" in version "v1"'),
        (f"{HEAD}  name: a\n  namespace: nope\n", 'namespaces "nope" not found'),
    ],
    ids=["indentation", "tab", "no-api-version", "unknown-field", "empty", "kind", "namespace"],
)
def test_a_mistake_in_a_manifest_is_named(run: Run, tmp_path: Path, manifest: str, message: str) -> None:
    file = tmp_path / "manifest.yaml"
    file.write_text(manifest)
    done = run("apply", "-f", str(file))
    assert (done.code, done.out) == (1, "")
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_a_refused_connection_is_reported_with_a_hint(run: Run) -> None:
    done = run("get", "cm", "-s", "https://127.0.0.1:1")
    assert done.code == 1
    assert "cannot connect to https://127.0.0.1:1: connection refused (is it running there?" in done.err


def test_without_a_kubeconfig_the_error_reports_where_there_is_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/absent")
    monkeypatch.setattr("sampan.client.config.load.kubeconfig_paths", lambda _: [Path("/absent")])
    done = run("get", "cm")
    assert done.code == 1
    assert "Set KUBECONFIG, for `sampan up` to the kubeconfig in its data directory" in done.err
