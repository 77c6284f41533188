"""`kubectl edit` with an editor that is a script."""

from pathlib import Path

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP, DEPLOYMENT

pytestmark = pytest.mark.e2e


def editor(folder: Path, *scripts: str) -> str:
    """An editor that runs one sed script for each time it is opened, and keeps what it was shown as `shown-<n>`."""
    lines = ["#!/bin/sh", f'cd "{folder}"', "n=$(ls shown-* 2>/dev/null | wc -l)", 'cp "$1" "shown-$n"', "case $n in"]
    lines += [f"{n}) sed -i '{script}' \"$1\" ;;" for n, script in enumerate(scripts)]
    program = folder / "editor"
    program.write_text("\n".join([*lines, "esac", ""]))
    program.chmod(0o755)
    return str(program)


def test_edit_patches_what_the_editor_changed(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("create", "-f", "-", stdin=DEPLOYMENT)
    edited = kubectl.with_environment(EDITOR=editor(tmp_path, "s/replicas: 2/replicas: 6/"))
    assert edited("edit", "deployment/web") == "deployment.apps/web edited"
    assert kubectl.get("deployment", "web")["spec"]["replicas"] == 6
    assert "progressDeadlineSeconds: 600" in (tmp_path / "shown-0").read_text()


def test_nothing_edited_is_reported(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    done = kubectl.with_environment(EDITOR=editor(tmp_path, "s/a/a/")).run("edit", "cm/settings")
    assert (done.returncode, done.stderr.strip()) == (0, "Edit cancelled, no changes made.")


def test_an_invalid_edit_opens_the_editor_again(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("create", "-f", "-", stdin=DEPLOYMENT)
    scripts = ("s/replicas: 2/replicas: -6/", "s/replicas: -6/replicas: 6/")
    done = kubectl.with_environment(EDITOR=editor(tmp_path, *scripts)).run("edit", "deployment/web")
    assert (done.returncode, done.stdout) == (0, "deployment.apps/web edited\n")
    shown = (tmp_path / "shown-1").read_text()
    assert '# deployments.apps "web" was not valid:' in shown
    assert "# * spec.replicas: Invalid value: -6: must be greater than or equal to 0" in shown
    assert kubectl.get("deployment", "web")["spec"]["replicas"] == 6


def test_an_edit_with_an_unknown_field_opens_the_editor_again(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("create", "-f", "-", stdin=DEPLOYMENT)
    scripts = ("s/replicas: 2/replica: 6/", "s/replica: 6/replicas: 6/")
    done = kubectl.with_environment(EDITOR=editor(tmp_path, *scripts)).run("edit", "deployment/web")
    assert (done.returncode, done.stdout) == (0, "deployment.apps/web edited\n")
    assert 'unknown field "spec.replica"' in (tmp_path / "shown-1").read_text()


def test_an_edit_that_stays_invalid_is_kept_in_a_file(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("create", "-f", "-", stdin=DEPLOYMENT)
    done = kubectl.with_environment(EDITOR=editor(tmp_path, "s/replicas: 2/replicas: -6/")).run("edit", "deploy/web")
    assert done.returncode == 1
    assert "A copy of your changes has been stored to" in done.stderr
    assert kubectl.get("deployment", "web")["spec"]["replicas"] == 2


def test_edit_in_json(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    edited = kubectl.with_environment(EDITOR=editor(tmp_path, "s/blue/green/"))
    edited("edit", "cm/settings", "-o", "json")
    assert kubectl.get("cm", "settings")["data"]["colour"] == "green"


def test_edit_of_a_subresource(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("create", "-f", "-", stdin=DEPLOYMENT)
    kubectl("patch", "deploy", "web", "--subresource=status", "-p", '{"status":{"replicas":1}}')
    edited = kubectl.with_environment(EDITOR=editor(tmp_path, "s/replicas: 1/replicas: 2/"))
    assert edited("edit", "deploy/web", "--subresource=status") == "deployment.apps/web edited"
    assert kubectl.get("deploy", "web")["status"]["replicas"] == 2


def test_several_objects_are_edited_together(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    kubectl("create", "cm", "other", "--from-literal=colour=blue")
    edited = kubectl.with_environment(EDITOR=editor(tmp_path, "s/colour: blue/colour: grey/"))
    done = edited("edit", "cm/settings", "cm/other")
    assert sorted(done.splitlines()) == ["configmap/other edited", "configmap/settings edited"]
    assert kubectl.get("cm", "other")["data"]["colour"] == "grey"
