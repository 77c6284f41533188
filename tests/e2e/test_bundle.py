"""The manifests of `sampan bundle` and the real kubectl: kustomize, apply, diff, delete."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from sampan.cli.main import cli
from tests.e2e.kubectl import Kubectl

pytestmark = pytest.mark.e2e

NAMESPACE = "ferries-system"
COMMANDS = (
    ("create", "api", "--kind", "Ferry", "--field", "length:int>0"),
    ("create", "webhook", "--kind", "Ferry"),
    ("create", "conversion", "--kind", "Ferry", "--from", "v1", "--to", "v2"),
    ("bundle", "--format", "manifests", "--format", "kustomize", "--image", "registry.invalid/ferries"),
)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `sampan bundle` writes."""
    folder, before = tmp_path_factory.mktemp("project"), Path.cwd()
    try:
        os.chdir(folder)
        CliRunner().invoke(cli, ["init", "ferries"], standalone_mode=False)
        os.chdir(folder / "ferries")
        for command in COMMANDS:
            done = CliRunner().invoke(cli, list(command), standalone_mode=False)
            assert not done.exception, done.output
    finally:
        os.chdir(before)
    return folder / "ferries" / "dist"


@pytest.fixture
def installing(kubectl: Kubectl) -> Kubectl:
    """Return kubectl in the namespace of the operator, which the manifests create."""
    return replace(kubectl, namespace=NAMESPACE)


def by_name(text: str) -> dict[tuple[str, str], Any]:
    """Return the objects of a YAML text, as JSON texts with sorted keys."""
    objects = [each for each in yaml.safe_load_all(text) if each]
    found = {(each["kind"], each["metadata"]["name"]): json.dumps(each, sort_keys=True) for each in objects}
    assert len(found) >= len(objects) - 1  # the Role and the ClusterRole have different kinds
    return found


def test_kustomize_builds_the_plain_manifests(kubectl: Kubectl, dist: Path) -> None:
    built = by_name(kubectl("kustomize", str(dist / "kustomize")))
    plain = by_name((dist / "install.yaml").read_text())
    assert len(plain) > 15
    assert built == plain


def test_the_component_adds_the_service_monitor(kubectl: Kubectl, dist: Path, tmp_path: Path) -> None:
    base = os.path.relpath(dist / "kustomize", tmp_path)
    component = f"{base}/components/service-monitor"
    (tmp_path / "kustomization.yaml").write_text(f"resources: [{base}]\ncomponents: [{component}]\n")
    built = by_name(kubectl("kustomize", str(tmp_path)))
    assert set(built) - set(by_name((dist / "install.yaml").read_text())) == {("ServiceMonitor", "ferries")}


def test_kubectl_applies_the_folder_and_finds_no_change_after_that(installing: Kubectl, dist: Path) -> None:
    try:
        first = installing("apply", "-f", str(dist))
        assert all(line.endswith(" created") for line in first.splitlines())
        for arguments in (("-f", str(dist)), ("-k", str(dist / "kustomize"))):
            again = installing("apply", *arguments)
            assert [line for line in again.splitlines() if not line.endswith(" unchanged")] == []
        assert installing("diff", "-f", str(dist)) == ""
    finally:
        installing("delete", "-f", str(dist), "--ignore-not-found", "--wait=false")
