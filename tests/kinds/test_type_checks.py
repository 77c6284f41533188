"""mypy finds misspelt fields of built-in kinds; a running program does not load the types."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTROLLER = """
from __future__ import annotations

from sampan.kinds import apps_v1, core_v1


def ready(deployment: apps_v1.Deployment) -> bool:
    return deployment.get("status", {}).get("readyReplicas", 0) >= deployment["spec"].get("replicas", 1)


def container(image: str) -> core_v1.Container:
    return {"name": "boat", "image": image}
"""


def checked(tmp_path: Path, text: str) -> str:
    """Return the output of mypy for a module."""
    (tmp_path / "controller.py").write_text(text)
    (tmp_path / "mypy.ini").write_text("[mypy]\nplugins = sampan.mypy_plugin\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "controller.py"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout


def test_a_correct_module_passes(tmp_path: Path) -> None:
    assert checked(tmp_path, CONTROLLER).startswith("Success")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("readyReplicas", "readyReplcas", 'TypedDict "DeploymentStatus" has no key "readyReplcas"'),
        ('["spec"]', '["spek"]', 'TypedDict "Deployment" has no key "spek"'),
        ('"image"', '"imige"', 'Extra key "imige" for TypedDict "Container"'),
        ('"name": "boat", ', "", 'Missing key "name" for TypedDict "Container"'),
        ('"boat"', "7", 'Incompatible types (expression has type "int", TypedDict item "name" has type "str")'),
        ("apps_v1.Deployment", "apps_v1.Deploiment", 'Name "apps_v1.Deploiment" is not defined'),
    ],
    ids=["a field that is read", "a required field", "a field that is written", "absent", "another type", "a class"],
)
def test_a_mistake_is_an_error(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert message in checked(tmp_path, CONTROLLER.replace(old, new))


SCHEDULER = """
from __future__ import annotations

from sampan.kinds import core_v1
from sampan.scheduler.views import PodSpec


def reason(pod: PodSpec) -> core_v1.PodCondition:
    return {"type": "PodScheduled", "status": "False", "message": pod.scheduler_name}
"""
NODE = """
from __future__ import annotations

from sampan.node.views.pod import Pod


def start(pod: Pod) -> str | None:
    return pod.reported.get("startTime")
"""
STRATEGY = """
from __future__ import annotations

from sampan.kinds import apps_v1
from sampan.registry.rules.fields import Errors
from sampan.registry.strategy import Context, Strategy


class DeploymentStrategy(Strategy):
    def check(self, ctx: Context, obj: apps_v1.Deployment, errors: Errors) -> None:
        for name in ("replicas", "minReadySeconds"):
            assert obj["spec"].get(name, 0) >= 0
"""


@pytest.mark.parametrize(
    ("module", "old", "new", "message"),
    [
        (SCHEDULER, '"message"', '"mesage"', 'Extra key "mesage" for TypedDict "PodCondition"'),
        (SCHEDULER, "pod.scheduler_name", "pod.schedular_name", '"PodSpec" has no attribute "schedular_name"'),
        (NODE, "startTime", "startedTime", 'TypedDict "PodStatus" has no key "startedTime"'),
        (STRATEGY, '"replicas"', '"replcas"', 'TypedDict "DeploymentSpec" has no key "replcas"'),
    ],
    ids=["a status that the scheduler writes", "a view of the scheduler", "a status that a node reads", "a strategy"],
)
def test_a_mistake_next_to_the_code_of_sampan_is_an_error(
    tmp_path: Path, module: str, old: str, new: str, message: str
) -> None:
    assert checked(tmp_path, module).startswith("Success")
    assert message in checked(tmp_path, module.replace(old, new))


def test_a_program_does_not_load_the_types_that_it_only_annotates(tmp_path: Path) -> None:
    (tmp_path / "controller.py").write_text(CONTROLLER)
    code = "import sys, controller, sampan.kinds; print('sampan.kinds.core_v1' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"


UNLOADED = """
import sys
from sampan.kinds import apps_v1
for module in sys.modules.values():
    getattr(module, "__file__", None)
assert "sampan.kinds.apps_v1" not in sys.modules
apps_v1.Deployment
import sampan.kinds.apps_v1 as loaded
assert apps_v1.Deployment is loaded.Deployment
assert "Deployment" in dir(apps_v1)
"""


def test_a_module_is_loaded_by_the_use_of_a_name_and_not_by_a_look_at_all_modules() -> None:
    done = subprocess.run([sys.executable, "-c", UNLOADED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
