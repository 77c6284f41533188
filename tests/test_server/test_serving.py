"""Servers for tests in any language: `serving` and `sampan test`."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sampan.test_server import ServerFailed, serving
from tests.test_server.api import CONFIG_MAPS, Api, config_map, until

PLAN = """
version: 1
faults:
- name: die before the second ConfigMap
  which: {verbs: [create], resource: configmaps, occurrence: 2}
  what: {crash: {}}
"""
OPERATOR = """
import sys; from pathlib import Path; from tests.test_server.api import *
import os
api = Api(Path(os.environ["KUBECONFIG"]))
for name in ("a", "b", "started"):
    api("POST", CONFIG_MAPS, config_map(name))
import time; time.sleep(60)
"""
WAIT = """
import os; from pathlib import Path; from tests.test_server.api import *
api = Api(Path(os.environ["KUBECONFIG"]))
until(lambda: api("GET", CONFIG_MAPS + "/started")[0] == 200)
"""


def sampan_test(environment: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run `sampan test`."""
    command = [sys.executable, "-m", "sampan.cli", "test", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_a_server_collects_garbage_and_has_new_uids(environment: dict[str, str]) -> None:
    system = "/api/v1/namespaces/kube-system"
    with serving() as first, serving(loops="none") as second:
        api, other = Api(first.kubeconfig), Api(second.kubeconfig)
        owner = api("POST", CONFIG_MAPS, config_map("owner"))[1]
        api("POST", CONFIG_MAPS, config_map("child", owner))
        api("DELETE", f"{CONFIG_MAPS}/owner")
        until(lambda: api("GET", f"{CONFIG_MAPS}/child")[0] == 404)
        assert api("GET", system)[1]["metadata"]["uid"] != other("GET", system)[1]["metadata"]["uid"]
    until(lambda: not first.kubeconfig.exists())


def test_pods_become_ready_with_the_loops_of_deployments() -> None:
    pods = "/api/v1/namespaces/default/pods"
    spec = {"containers": [{"name": "main", "image": "main"}]}
    with serving(loops="chain") as endpoint:
        api = Api(endpoint.kubeconfig)
        api("POST", pods, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec})
        until(lambda: api("GET", f"{pods}/web")[1]["status"]["phase"] == "Running")


def test_the_program_gets_its_server_and_its_exit_code_is_returned(environment: dict[str, str]) -> None:
    program = (
        "import os, sys; e = os.environ; print(sorted(n for n in e if n.startswith(('KUBE', 'TEST_A')))); sys.exit(7)"
    )
    done = sampan_test(environment, "--", sys.executable, "-c", program)
    names = ["KUBEBUILDER_ASSETS", "KUBECONFIG", "TEST_ASSET_ETCD", "TEST_ASSET_KUBECTL", "TEST_ASSET_KUBE_APISERVER"]
    assert (done.returncode, done.stdout.strip()) == (7, str(names))


def test_a_crash_of_the_plan_kills_the_operator_which_starts_again(environment: dict[str, str], tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    operator = shlex.join([sys.executable, "-c", OPERATOR])
    paths = {**environment, "PYTHONPATH": os.getcwd()}
    done = sampan_test(paths, f"--plan={plan}", "--operator", operator, "--", sys.executable, "-c", WAIT)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_fault_that_does_not_occur_fails_the_run(environment: dict[str, str], tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    done = sampan_test(environment, f"--plan={plan}", "--", sys.executable, "-c", "pass")
    assert done.returncode == 1
    assert done.stderr.startswith("sampan test: this fault has not occurred: die before the second ConfigMap.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--loops=gcc", "--", "true"), "loops: 'gcc' is unknown, did you mean 'gc'; known are gc, namespace, chain, "),
        (("go", "test"), "unknown command 'go'. See sampan test --help. To run a program: sampan test -- go ..."),
        (("--", "no-such-program"), "cannot run no-such-program: No such file or directory"),
    ],
    ids=["loops", "no separator", "unknown program"],
)
def test_a_mistake_is_one_line(environment: dict[str, str], arguments: tuple[str, ...], message: str) -> None:
    done = sampan_test(environment, *arguments)
    assert done.returncode in (1, 2)
    assert done.stderr.startswith(f"sampan: error: {message}")
    assert done.stderr.count("\n") == 1


def test_a_plan_of_another_version_is_refused(environment: dict[str, str], tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN.replace("version: 1", "version: 2"))
    with pytest.raises(ServerFailed, match="has version 2, but this Sampan reads version 1"), serving(plan=plan):
        pass
