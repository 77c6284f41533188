"""`kubectl diff`: what an apply would change, by dry run."""

from pathlib import Path

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP, DEPLOYMENT, SERVICE

pytestmark = pytest.mark.e2e


def changes(output: str) -> list[str]:
    """The lines of a unified diff that come or go."""
    lines = output.splitlines()
    return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def test_no_difference_is_no_output(kubectl: Kubectl) -> None:
    kubectl.apply(DEPLOYMENT)
    done = kubectl.run("diff", "-f", "-", stdin=DEPLOYMENT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_change_is_shown(kubectl: Kubectl) -> None:
    kubectl.apply(CONFIG_MAP)
    done = kubectl.run("diff", "-f", "-", stdin=CONFIG_MAP.replace("blue", "green"))
    assert done.returncode == 1
    assert changes(done.stdout) == ["-  colour: blue", "+  colour: green"]
    assert kubectl.get("cm", "settings")["data"]["colour"] == "blue"


def test_a_change_of_the_spec_moves_the_generation(kubectl: Kubectl) -> None:
    kubectl.apply(DEPLOYMENT)
    done = kubectl.run("diff", "-f", "-", stdin=DEPLOYMENT.replace("replicas: 2", "replicas: 4"))
    assert done.returncode == 1
    assert changes(done.stdout) == ["-  generation: 1", "+  generation: 2", "-  replicas: 2", "+  replicas: 4"]


def test_a_new_object_is_shown_with_its_defaults(kubectl: Kubectl) -> None:
    done = kubectl.run("diff", "-f", "-", stdin=SERVICE)
    assert done.returncode == 1
    assert "+  sessionAffinity: None" in changes(done.stdout)
    assert kubectl.names("svc") == []


def test_server_side_diff(kubectl: Kubectl) -> None:
    kubectl.apply(CONFIG_MAP, "--server-side")
    done = kubectl.run("diff", "--server-side", "-f", "-", stdin=CONFIG_MAP.replace("  size: large\n", ""))
    assert done.returncode == 1
    assert changes(done.stdout) == ["-  size: large"]


def test_the_program_for_differences_can_be_chosen(kubectl: Kubectl, tmp_path: Path) -> None:
    program = tmp_path / "compare"
    program.write_text('#!/bin/sh\nls "$1" "$2"\n')
    program.chmod(0o755)
    kubectl.apply(CONFIG_MAP)
    external = kubectl.with_environment(KUBECTL_EXTERNAL_DIFF=str(program))
    done = external.run("diff", "-f", "-", stdin=CONFIG_MAP.replace("blue", "green"))
    assert done.stdout.count(f"v1.ConfigMap.{kubectl.namespace}.settings") == 2


def test_secrets_are_masked(kubectl: Kubectl) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\nstringData: {token: %s}\n"
    kubectl.apply(secret % "one")
    done = kubectl.run("diff", "-f", "-", stdin=secret % "two")
    assert done.returncode == 1
    assert any("***" in line for line in changes(done.stdout))
