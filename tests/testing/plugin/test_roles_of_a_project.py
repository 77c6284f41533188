"""`sampan test privileges`: roles from the tests of a project."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from sampan.cli.main import cli

OPERATOR = """
from sampan.core.gvk import GroupVersionResource
from sampan.operator import Builder
from sampan.resource import ResourceInfo

MAPS = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True)
SECRETS = ResourceInfo(GroupVersionResource("", "v1", "secrets"), "Secret", namespaced=True)
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "box"}}


def set_up(manager):
    async def reconcile(request):
        if request.name == "box":
            await manager.client.resource(SECRETS).apply(SECRET)
        if request.name == "old":
            await manager.client.resource(SECRETS).delete("old")

    Builder(manager).for_(MAPS).complete(reconcile)
"""
TESTS = """
from boxes import set_up


async def test_a_box_has_a_secret(cluster):
    cluster.run(set_up)
    await cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "box"}})
    await cluster.eventually("secret/box")


def test_an_old_secret_is_deleted(cluster):
    blocking = cluster.blocking
    blocking.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "old"}})
    blocking.run(set_up)
    blocking.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "old"}})
    blocking.settled()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "boxes.py").write_text(OPERATOR)
    (tmp_path / "test_boxes.py").write_text(TESTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def privileges(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["test", "privileges", "-o", "role.yaml", *arguments, "-p", "no:cacheprovider"])


def test_the_role_has_the_rights_of_all_tests_and_a_check_finds_drift(project: Path) -> None:
    written = privileges("--prove", "--name", "boxes")
    assert written.exit_code == 0, written.output
    role = yaml.safe_load((project / "role.yaml").read_text())
    assert (role["kind"], role["metadata"]["name"]) == ("ClusterRole", "boxes")
    assert {rule["resources"][0]: rule["verbs"] for rule in role["rules"]} == {
        "configmaps": ["list", "watch"],
        "secrets": ["create", "delete", "patch"],
    }
    assert privileges("--check", "--name", "boxes").exit_code == 0
    only_one = privileges("--check", "--name", "boxes", "-k", "has_a_secret")
    assert (only_one.exit_code, only_one.stdout) == (1, "- ClusterRole boxes: delete secrets\n")
    assert yaml.safe_load((project / "role.yaml").read_text()) == role


def test_failed_tests_and_tests_without_an_operator_write_no_role(project: Path) -> None:
    (project / "test_boxes.py").write_text("def test_nothing(): pass\n")
    without_operator = privileges()
    (project / "test_boxes.py").write_text("def test_it(): raise ValueError\n")
    failed = privileges()
    assert "no test ran an operator: start it with cluster.run(...)" in without_operator.output
    assert "the tests failed (exit code 1 of pytest)" in failed.output
    assert (without_operator.exit_code, failed.exit_code, (project / "role.yaml").exists()) == (1, 1, False)
